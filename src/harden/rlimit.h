#pragma once
/*
 * Resource limits of a process (PID, 0: the caller), by prlimit(2): 64-bit exact. Errors name
 * "/process/rlimits[N]".
 */
#include <sys/types.h>

#include "plan/plan.h"

/* Parent: lifts each hard limit of PID that is below the plan's, and no soft limit, so that the
 * set-up is not starved. Needs CAP_SYS_RESOURCE in the host's user namespace. */
int rlimit_raise (const struct plan_process *p, pid_t pid, struct err *e);

/* Soft and hard limits, in the plan's order. */
int rlimit_set (const struct plan_process *p, pid_t pid, struct err *e);
int rlimit_check (const struct plan_process *p, pid_t pid, struct err *e);
