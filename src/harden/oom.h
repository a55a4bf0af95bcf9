#pragma once
/*
 * oom_score_adj of a process. Only acts when the plan says so: unset is left alone (the spec).
 */
#include <sys/types.h>

#include "plan/plan.h"

/* Writes PID/oom_score_adj below PROCFS; PID 0 is the caller. Going below the lowest value that a
 * privileged process set before needs CAP_SYS_RESOURCE in the host's user namespace, and the file
 * is root's once a process is not dumpable: with a user namespace it is the parent who can do
 * this. */
int oom_set (const struct plan_process *p, int procfs, pid_t pid, struct err *e);
/* The caller's own value. */
int oom_own (int procfs, int *ret, struct err *e);
int oom_check (const struct plan_process *p, int procfs, pid_t pid, struct err *e);
