#pragma once
/*
 * /proc/PID/status, read without allocating: what the checks of this folder ask the kernel.
 */
#include <stdint.h>
#include <sys/types.h>

#include "libocispec/err.h"

/* The end of the file; what comes before the groups may be missing, for they can be many. */
struct status {
    char text[16384];
};

/* PID 0 is the calling thread. */
int status_read (int procfs, pid_t pid, struct status *ret, struct err *e);

/* The number after "NAME:", in BASE. */
int status_number (const struct status *s, const char *name, int base, uint64_t *ret,
                   struct err *e);
