#pragma once
/*
 * Descriptors that survive execve: only those that were asked for (CVE-2024-21626).
 */
#include <stddef.h>

#include "libocispec/err.h"

/* Parent: descriptors 3 to 3+N-1, which the caller wants handed on, were open when it started us.
 * One that is close-on-exec cannot have come from there: it is our own (the log), in a gap. */
int fds_check_preserved (unsigned int n, struct err *e);

/* Every descriptor from FIRST on becomes close-on-exec. PROCFS, here and below, is read where a
 * seccomp filter denies close_range. */
int fds_cloexec_from (unsigned int first, int procfs, struct err *e);
/* Reads self/fd of PROCFS: each descriptor from FIRST on is close-on-exec. */
int fds_check (unsigned int first, int procfs, struct err *e);

/* Descriptors, -1 for one that there is not. */
struct fds_kept {
    const int *fd;
    size_t n;
};

/* Every descriptor from FIRST on is closed but those in KEPT. */
int fds_close_from (unsigned int first, const struct fds_kept *kept, int procfs, struct err *e);
/* Reads self/fd of PROCFS: from FIRST on there are only those in KEPT. */
int fds_close_check (unsigned int first, const struct fds_kept *kept, int procfs, struct err *e);
