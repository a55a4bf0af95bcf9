#pragma once
/*
 * AppArmor profile and SELinux label of the workload: the only home of libselinux, which is asked
 * whether SELinux is on and a label is valid. Labels are written through a procfs of our own and
 * read back (CVE-2019-16884, CVE-2025-52881).
 */
#include "plan/plan.h"

bool lsm_selinux_is_enabled (void);
bool lsm_apparmor_is_enabled (void);

/* Parent: a label whose LSM is off, or that the loaded SELinux policy does not know, is an
 * error. */
int lsm_prepare (const struct plan_process *p, struct err *e);

/* Child: the label of the next execve. Allocates nothing. Errors quote the file,
 * `thread-self/attr/exec`, by which podman knows them. */
int lsm_set_exec (const struct plan_process *p, int procfs, struct err *e);
int lsm_check (const struct plan_process *p, int procfs, struct err *e);

/* Keys that this thread makes from now on get LABEL (NULL: the default again). */
int lsm_set_keycreate (const char *label, int procfs, struct err *e);
