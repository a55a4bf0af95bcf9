#pragma once
/*
 * How the kernel schedules the workload: scheduling policy, I/O priority, CPU affinity, NUMA memory
 * policy, personality.
 */
#include <sys/types.h>

#include "libocispec/strbuf.h"
#include "plan/plan.h"

/* process.scheduler of PID (0: the caller): sched_setattr(2). */
int sched_set (const struct plan_process *p, pid_t pid, struct err *e);
int sched_check (const struct plan_process *p, pid_t pid, struct err *e);

/* process.ioPriority of the caller's process group (the spec's scope; runc and crun set the process
 * only). */
int sched_set_io (const struct plan_process *p, struct err *e);
int sched_check_io (const struct plan_process *p, struct err *e);

/* All CPUs that the cpuset allows: the runtime's own mask is not handed on (runc#4041). */
int sched_reset_affinity (pid_t pid, struct err *e);
/* Parent: CPUS is a list such as "0-3,7". PID 0 is the caller. Errors name
 * "/process/execCPUAffinity". */
int sched_set_affinity (pid_t pid, const char *cpus, struct err *e);

/* CPUS as the kernel's mask in hexadecimal, "0x6" for "1-2", for a log. */
void sched_mask_text (const char *cpus, struct strbuf *out);

int personality_set (unsigned long domain, struct err *e);
int personality_check (unsigned long domain, struct err *e);

#define MEMPOLICY_MAX_NODES 1024 /* MAX_NUMNODES of every distribution's kernel */

struct mempolicy {
    int mode; /* MPOL_* | MPOL_F_* */
    unsigned long nodes[MEMPOLICY_MAX_NODES / (8 * sizeof (unsigned long))];
};

/* Parent: MP as set_mempolicy(2) wants it. Errors name "/linux/memoryPolicy". */
int mempolicy_prepare (const struct oci_memory_policy *mp, struct mempolicy *ret, struct err *e);
int mempolicy_set (const struct mempolicy *mp, struct err *e);
int mempolicy_check (const struct mempolicy *mp, struct err *e);
