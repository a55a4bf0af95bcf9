#pragma once
/*
 * The strict system call filter: the floor that no engine's profile can lower. Made from strict.def
 * when agentrt is built, so that nothing is compiled at a start. The OCI profile, when there is
 * one, is stacked upon it by seccomp.h; the kernel takes the stricter answer of the two.
 */
#include <stddef.h>

#include "libocispec/err.h"

/* The filter of this architecture: struct sock_filter[]. */
const void *strict_filter (size_t *ret_n);

/* Needs no_new_privs or CAP_SYS_ADMIN. Lets seccomp(2), execve and what comes before it pass. */
int strict_install (struct err *e);

/* The calling thread is in filter mode, and a harmless call that only the strict filter denies
 * (unshare of nothing) is denied. PROCFS -1: a process that has nothing of the host any more asks
 * prctl. */
int strict_check (int procfs, struct err *e);
