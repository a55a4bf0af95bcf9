#include "hook/tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"

#define PATIENCE_S 5
#define PAUSE_NS   2000000L

/* The parent of the process PID, 0 when it is gone: the second field after the name's ')'. */
static pid_t parent_of (int procfs, const char *pid)
{
    char path[64];
    char text[512];
    const char *after;
    ssize_t n;

    (void)snprintf (path, sizeof path, "%.16s/stat", pid);
    AUTO_FD fd = openat (procfs, path, O_RDONLY | O_CLOEXEC);

    n = fd < 0 ? -1 : read (fd, text, sizeof text - 1);
    if (n <= 0)
        return 0;
    text[n] = '\0';
    after = strrchr (text, ')');
    return after && strlen (after) > 4 ? (pid_t)strtol (after + 4, NULL, 10) : 0;
}

/* How many children there were, each killed; those that have ended are reaped. */
static int kill_children (int procfs, pid_t others)
{
    int list = openat (procfs, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    AUTO_DIR *dir = list >= 0 ? fdopendir (list) : NULL;
    const struct dirent *d;
    int n = 0;

    if (!dir) {
        cleanup_fd (&list);
        return -errno;
    }
    while ((d = readdir (dir))) {
        pid_t pid = (pid_t)strtol (d->d_name, NULL, 10);

        if (pid <= 0 || pid == others || parent_of (procfs, d->d_name) != getpid ())
            continue;
        (void)kill (pid, SIGKILL); /* a child of ours, not reaped: the number is its */
        (void)waitpid (pid, NULL, WNOHANG | __WALL);
        n++;
    }
    return n;
}

int tree_kill (pid_t others)
{
    const struct timespec pause = { .tv_nsec = PAUSE_NS };
    struct timespec now, until;
    struct err ignored;
    AUTO_FD procfs = fd_procfs (&ignored);
    int n = procfs < 0 ? procfs : 1;

    (void)clock_gettime (CLOCK_MONOTONIC, &until);
    until.tv_sec += PATIENCE_S;
    while (n > 0) {
        n = kill_children (procfs, others);
        (void)clock_gettime (CLOCK_MONOTONIC, &now);
        if (n > 0 && now.tv_sec > until.tv_sec)
            return -ETIMEDOUT;
        if (n > 0)
            (void)nanosleep (&pause, NULL);
    }
    return n;
}
