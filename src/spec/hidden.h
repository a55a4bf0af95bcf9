#pragma once
/*
 * What a container does not see of /proc and /sys: the one list of each, for the config that
 * `spec` makes and for policies. Text only.
 *
 * What Docker masks, and what gives away or reaches the host beside that (CVE-2017-16539,
 * CVE-2018-10892, GHSA-7ww5-4wqc-m92c; security.md A42). A path that is not there is skipped.
 */
#define SPEC_MASKED_PATHS                                                                          \
    "/proc/acpi", "/proc/asound", "/proc/config.gz", "/proc/interrupts", "/proc/kallsyms",         \
        "/proc/kcore", "/proc/key-users", "/proc/keys", "/proc/kmsg", "/proc/kpagecgroup",         \
        "/proc/kpagecount", "/proc/kpageflags", "/proc/latency_stats", "/proc/mtrr",               \
        "/proc/sched_debug", "/proc/scsi", "/proc/sysrq-trigger", "/proc/timer_list",              \
        "/proc/timer_stats", "/sys/devices/virtual/powercap", "/sys/firmware", "/sys/fs/bpf",      \
        "/sys/fs/fuse/connections", "/sys/kernel/debug", "/sys/kernel/security",                   \
        "/sys/kernel/tracing", "/sys/module"

#define SPEC_READONLY_PATHS "/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys"
