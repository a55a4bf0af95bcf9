/*
 * The process that holds a user namespace for id mappings: gone with its runtime, whenever that is
 * killed.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "mnt/idmap.h"
#include "tap.h"

#define ROUNDS    150
#define STEP_NS   20000
#define WAIT_MS   5000
#define HOST_BASE 100000
#define ALARM_S   60 /* who waits for a process that stays is killed: the test has failed */

static const struct plan_idmap map = { .inside = 0, .outside = HOST_BASE, .count = 10 };
static const struct plan_idmaps maps = { .uid = &map, .n_uid = 1, .gid = &map, .n_gid = 1 };

/* As a runtime that is killed in the midst of it: until then, one namespace after the other. */
static _Noreturn void make_namespaces (int procfs)
{
    struct err e = { 0 };
    int fd;

    while ((fd = idmap_userns (&maps, procfs, &e)) >= 0)
        (void)close (fd);
    _exit (1);
}

/* True once no process has the other end of the pipe open. */
static bool all_ended (int end)
{
    struct pollfd p = { .fd = end };

    return poll (&p, 1, WAIT_MS) == 1;
}

static bool kill_after (long ns, int procfs)
{
    const struct timespec pause = { .tv_nsec = ns };
    int ends[2];
    pid_t pid;
    bool ended;

    if (pipe (ends) < 0 || (pid = fork ()) < 0)
        return false;
    if (pid == 0)
        make_namespaces (procfs);
    (void)close (ends[1]);
    (void)nanosleep (&pause, NULL);
    (void)kill (pid, SIGKILL);
    (void)waitpid (pid, NULL, 0);
    ended = all_ended (ends[0]);
    (void)close (ends[0]);
    return ended;
}

/* What was left behind came to us. Waits for its end, which the alarm bounds. */
static bool no_orphan (void)
{
    while (waitpid (-1, NULL, __WALL) > 0)
        ;
    return errno == ECHILD;
}

int main (void)
{
    struct err e = { 0 };
    AUTO_FD procfs = fd_procfs (&e);
    int bad = 0;

    if (geteuid () != 0 || procfs < 0) {
        (void)printf ("1..0 # SKIP needs root\n");
        return EXIT_SUCCESS;
    }
    (void)prctl (PR_SET_CHILD_SUBREAPER, 1);
    (void)alarm (ALARM_S);
    {
        AUTO_FD fd = idmap_userns (&maps, procfs, &e);

        ok (fd >= 0 && no_orphan (), "a namespace without a process: %s", e.msg);
    }
    for (long i = 0; i < ROUNDS; i++)
        bad += !kill_after (i * STEP_NS, procfs);
    ok (bad == 0, "killed at %d moments: no process holds our descriptors (%d do)", ROUNDS, bad);
    ok (no_orphan (), "and none is left at all");
    return tap_done ();
}
