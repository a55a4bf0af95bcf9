#pragma once
/*
 * Ownership in the declaration: what a scope owns is released when the scope ends.
 *
 * AUTO_FD, AUTO_FREE and AUTO_DIR release; TAKE_FD and TAKE_PTR hand over. Nothing here retries
 * close().
 */
#include <dirent.h>
#include <stdlib.h>
#include <unistd.h>

static inline void cleanup_fd (const int *fd)
{
    if (*fd >= 0)
        (void)close (*fd); /* never retried: the descriptor is gone either way on Linux */
}

static inline void cleanup_free (void *p)
{
    free (*(void **)p);
}

static inline void cleanup_dir (DIR **d)
{
    if (*d)
        (void)closedir (*d);
}

#define AUTO_FD   __attribute__ ((cleanup (cleanup_fd))) int
#define AUTO_FREE __attribute__ ((cleanup (cleanup_free)))
#define AUTO_DIR  __attribute__ ((cleanup (cleanup_dir))) DIR

/* Moves the descriptor out of its AUTO_FD: the variable is -1 afterwards. */
#define TAKE_FD(fd)                                                                                \
    (__extension__({                                                                               \
        int taken_ = (fd);                                                                         \
        (fd) = -1;                                                                                 \
        taken_;                                                                                    \
    }))

#define TAKE_PTR(p)                                                                                \
    (__extension__({                                                                               \
        __auto_type taken_ = (p);                                                                  \
        (p) = NULL;                                                                                \
        taken_;                                                                                    \
    }))

#define ARRAY_LEN(a) (sizeof (a) / sizeof ((a)[0]))
