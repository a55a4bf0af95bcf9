#pragma once
/*
 * Runs a piece of a test in a process of its own, because what it does to itself cannot be undone.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libocispec/err.h"

typedef int child_fn (const void *arg, struct err *e);

/* F's error; code 0 when it returned 0, ECHILD when it did not return at all. */
static inline struct err in_child (child_fn *f, const void *arg)
{
    struct err e = { .code = ECHILD, .msg = "the child died" };
    int fds[2];
    pid_t pid;

    if (pipe2 (fds, O_CLOEXEC) < 0 || (pid = fork ()) < 0)
        return e;
    if (pid == 0) {
        int out = fcntl (fds[1], F_DUPFD_CLOEXEC, 100); /* out of the way of tests of descriptors */
        struct err mine = { 0 };
        int r;

        (void)close (fds[0]);
        (void)close (fds[1]);
        r = f (arg, &mine);

        if (r == 0)
            mine.code = 0;
        if (mine.code != -r)
            (void)err_set (&mine, EPROTO, "returned %d with code %d", r, mine.code);
        _exit (write (out, &mine, sizeof mine) != sizeof mine);
    }
    (void)close (fds[1]);
    if (read (fds[0], &e, sizeof e) != sizeof e)
        (void)err_set (&e, ECHILD, "the child died");
    (void)close (fds[0]);
    (void)waitpid (pid, NULL, 0);
    return e;
}
