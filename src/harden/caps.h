#pragma once
/*
 * Capabilities of the calling process: the only home of libcap. Exact: what the plan asks for is
 * set or it is an error; what may be asked for is decided in plan/ from caps_permitted. Allocates
 * nothing.
 */
#include "plan/plan.h"

/* The capabilities that this process could hand on: its permitted set without what is gone from its
 * bounding set. (A user namespace made by the plan starts with all of them.) */
int caps_permitted (uint64_t *ret, struct err *e);

/* Drops from the bounding set all that the plan does not list, up to the last one this kernel
 * knows. Needs CAP_SETPCAP for each that is still there. */
int caps_drop_bounding (const struct plan_process *p, struct err *e);
int caps_drop_bounding_check (const struct plan_process *p, int procfs, struct err *e);

/* PR_SET_KEEPCAPS: the permitted set survives the change of the uid. execve clears it. */
int caps_keep (struct err *e);

/* Sets effective, permitted and inheritable, clears the ambient set and raises what is asked for.
 * Empty sets clear inheritable and ambient too (CVE-2022-29162). "can't raise ambient capability
 * CAP_X: ..." */
int caps_set (const struct plan_process *p, struct err *e);

/* All five sets, as /proc/thread-self/status shows them, are those of the plan. */
int caps_check (const struct plan_process *p, int procfs, struct err *e);
