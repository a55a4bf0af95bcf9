#pragma once
/*
 * Descriptors that survive execve: only those that were asked for (CVE-2024-21626).
 */
#include "libocispec/err.h"

/* Parent, before it opens anything: descriptors 3 to 3+N-1, which the caller wants handed on, are
 * open. */
int fds_check_preserved (unsigned int n, struct err *e);

/* Every descriptor from FIRST on becomes close-on-exec. */
int fds_cloexec_from (unsigned int first, struct err *e);
/* Reads self/fd of PROCFS: each descriptor from FIRST on is close-on-exec. */
int fds_check (unsigned int first, int procfs, struct err *e);
