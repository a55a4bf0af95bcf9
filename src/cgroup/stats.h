#pragma once
/*
 * What a container uses, as the events of runc tell it (types/events.go; go-runc reads them).
 */
#include "cgroup/cgroup.h"
#include "libocispec/strbuf.h"

/* Appends one JSON object: cpu, memory, pids, blkio, hugetlb, intel_rdt, network_interfaces. What a
 * hierarchy does not count is 0 or left out; times are nanoseconds, sizes bytes. */
int cgroup_stats (const struct cgroup *cg, struct strbuf *out, struct err *e);

/* A descriptor that poll(2) wakes up on for EVENTS when memory is out in the cgroup; *RET_EVENTS is
 * what to poll for. -ESRCH: nothing counts its memory. */
int cgroup_oom_watch (const struct cgroup *cg, short *ret_events, struct err *e);
