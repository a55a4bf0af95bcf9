#pragma once
/*
 * The session keyring: the container gets one of its own, and exec joins it by its name.
 */
#include "plan/plan.h"

/* Joins the session keyring "_ses.ID" (made if it is not there; labelled SELINUX unless NULL) and
 * lets the container's users search it. A kernel without keyrings (ENOSYS, also from an outer
 * seccomp filter) has none to leak: *RET_NONE is true then. Any other failure is an error. */
int keyring_join (const struct plan *p, int procfs, bool *ret_none, struct err *e);
/* The session keyring's description names "_ses.ID". */
int keyring_check (const struct plan *p, struct err *e);
