#pragma once
/*
 * Hardening of the process that will become the workload: one mechanism a file, in the order of the
 * child's step list. Each function acts on the calling process only, allocates nothing and reads what
 * it needs from the plan; what has to be compiled or opened first is made by the *_prepare functions in
 * the parent. The *_check functions ask the kernel. Never decides, never warns and goes on.
 */
#include <sys/types.h>

#include "plan/plan.h"

/* caps.c (libcap's only home) */
const char *caps_name (unsigned int cap); /* "CAP_SYS_ADMIN"; NULL if unknown */
int caps_from_name (const char *name,
                    unsigned int *ret);            /* "CAP_X", any case is not accepted; -ENOENT */
unsigned int caps_last (void);                     /* highest number this kernel knows */
int caps_permitted (uint64_t *ret, struct err *e); /* of the calling process */
int caps_drop_bounding (const struct plan_process *p, struct err *e);
int caps_keep (struct err *e); /* PR_SET_KEEPCAPS, before the uid changes */
int caps_set (const struct plan_process *p,
              struct err *e); /* capset, then ambient cleared and raised */
int caps_check (const struct plan_process *p, int procfs,
                struct err *e); /* all five sets in status */

/* ids.c */
int ids_set (const struct plan_process *p, bool setgroups_denied,
             struct err *e); /* groups, gid, uid, umask */
int ids_check (const struct plan_process *p, bool setgroups_denied, struct err *e);

/* nnp.c */
int nnp_set (struct err *e);
int nnp_check (struct err *e);

/* rlimit.c: from the parent, into PID (prlimit), so that they cannot starve the runtime itself. */
int rlimit_set (const struct plan_process *p, pid_t pid, struct err *e);
int rlimit_check (const struct plan_process *p, pid_t pid, struct err *e);

/* oom.c, sched.c: scheduler, I/O priority (the process group, as the spec says), CPU affinity,
 * personality, NUMA memory policy. */
int oom_set (const struct plan_process *p, int procfs, struct err *e);
int oom_check (const struct plan_process *p, int procfs, struct err *e);
int sched_set (const struct plan_process *p, struct err *e);
int sched_check (const struct plan_process *p, struct err *e);
int sched_reset_affinity (
    struct err *e); /* all CPUs the cpuset allows: the runtime's own mask is not passed on */
int sched_set_affinity (const char *cpus, struct err *e);
int personality_set (unsigned long domain, struct err *e);
int mempolicy_set (const struct oci_memory_policy *mp, struct err *e);

/* seccomp.c, seccomp_cache.c (libseccomp's only home) */
struct seccomp_filter {
    void *insns; /* struct sock_filter[], mapped or in the arena; NULL: none */
    unsigned short count;
    unsigned int flags; /* SECCOMP_FILTER_FLAG_* */
    bool from_cache;
};
/* Compiles SECCOMP (or takes it from the cache below CACHE_DIR, -1: no cache). The cache compares every
 * byte that matters (kernel, library version, profile with per-rule errno and string lengths), so two
 * profiles never share an entry. Syscalls newer than any the profile knows give ENOSYS (runc's rule).
 * Errors name "linux.seccomp...". */
int seccomp_prepare (const struct oci_linux_seccomp *seccomp, int cache_dir, struct arena *a,
                     struct seccomp_filter *ret, struct err *e);
int seccomp_load (const struct seccomp_filter *f, struct err *e);
int seccomp_check (const struct seccomp_filter *f, int procfs,
                   struct err *e);         /* Seccomp: 2, one filter more */
const char *const *seccomp_actions (void); /* for `features`, NULL-terminated */
const char *const *seccomp_operators (void);
const char *const *seccomp_archs (void);
const char *const *seccomp_known_flags (void);
const char *const *seccomp_supported_flags (void);

/* lsm.c (libselinux's only home): labels are written through PROCFS and read back. */
bool lsm_selinux_is_enabled (void);
bool lsm_apparmor_is_enabled (void);
int lsm_prepare (const struct plan_process *p,
                 struct err *e); /* a label with its LSM off is an error */
int lsm_set_exec (const struct plan_process *p, int procfs, struct err *e);
int lsm_check (const struct plan_process *p, int procfs, struct err *e);

/* keyring.c */
int keyring_new (const char *id, const char *selinux, int procfs, struct err *e);

/* fds.c: everything from FIRST on becomes close-on-exec; the list of KEEP stays open. */
int fds_cloexec_from (unsigned int first, struct err *e);
int fds_check (unsigned int first, int procfs, struct err *e);

/* self.c: CVE-2019-5736. True when the running binary cannot be written through /proc/self/exe (a
 * sealed memfd, or on a read-only mount). */
bool self_is_sealed (void);
/* Runs the same command again from a read-only detached mount (else a sealed memfd) of the binary.
 * Returns only on failure. */
int self_seal (char *const argv[], struct err *e);
/* PR_SET_DUMPABLE 0: /proc/PID of the set-up process is root's (CVE-2016-9962). */
int self_hide (struct err *e);
int self_hide_check (struct err *e);
