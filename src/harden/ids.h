#pragma once
/*
 * User, groups and umask of the calling process. Numbers only: nothing is looked up
 * (CVE-2016-3697). Allocates nothing.
 */
#include "plan/plan.h"

/* Sets exactly the plan's supplementary groups (also none: CVE-2022-36109), then the gid, then the
 * uid, then the umask. SETGROUPS_DENIED: the user namespace forbids setgroups; that is fine only
 * when no group is asked for. */
int ids_set (const struct plan_process *p, bool setgroups_denied, struct err *e);

/* All three uids, all three gids, the groups and the umask are those of the plan. With
 * SETGROUPS_DENIED groups of the caller that the user namespace does not map stay and cannot be
 * told apart. */
int ids_check (const struct plan_process *p, bool setgroups_denied, struct err *e);
