#pragma once
/*
 * How namespace files are joined and namespaces compared. Internal to ns/.
 */
#include <stdbool.h>
#include <sys/stat.h>

#include "ns.h"

/* Joins the namespace of each kind whose descriptor is not -1. First all but the user namespace, as
 * long as the caller is privileged where they belong to; then that one; then those that said EPERM,
 * because they belong to it. */
int ns_join_fds (const struct ns_fds *f, struct err *e);

/* The identity of PID's namespace of KIND; PID 0 is the caller. -ENOENT where the kernel lacks the
 * kind. */
int ns_stat (int procfs, pid_t pid, int kind, struct stat *ret, struct err *e);
bool ns_is_same (const struct stat *a, const struct stat *b);
