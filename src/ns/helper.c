#include "helper.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"

#define HELPER_TIMEOUT_MS 10000

/* stdin is /dev/null, stdout and stderr are OUT, nothing else is open. */
static int fill_actions (posix_spawn_file_actions_t *fa, int out)
{
    int r = posix_spawn_file_actions_addopen (fa, 0, "/dev/null", O_RDONLY, 0);

    if (r == 0)
        r = posix_spawn_file_actions_adddup2 (fa, out, 1);
    if (r == 0)
        r = posix_spawn_file_actions_adddup2 (fa, out, 2);
    return r ? r : posix_spawn_file_actions_addclosefrom_np (fa, 3);
}

static int fill_attr (posix_spawnattr_t *attr)
{
    sigset_t none, all;
    int r;

    (void)sigemptyset (&none);
    (void)sigfillset (&all);
    r = posix_spawnattr_setsigmask (attr, &none);
    if (r == 0)
        r = posix_spawnattr_setsigdefault (attr, &all);
    return r ? r : posix_spawnattr_setflags (attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
}

/* Returns 0 or a positive errno, as posix_spawn does. */
static int spawn (char *const argv[], int out, pid_t *ret)
{
    char path[] = "PATH=/usr/sbin:/usr/bin:/sbin:/bin";
    char *const env[] = { path, NULL };
    posix_spawn_file_actions_t fa;
    posix_spawnattr_t attr;
    int r = posix_spawn_file_actions_init (&fa);

    if (r)
        return r;
    r = posix_spawnattr_init (&attr);
    if (r == 0)
        r = fill_actions (&fa, out);
    if (r == 0)
        r = fill_attr (&attr);
    if (r == 0)
        r = posix_spawn (ret, argv[0], &fa, &attr, argv, env);
    (void)posix_spawnattr_destroy (&attr);
    (void)posix_spawn_file_actions_destroy (&fa);
    return r;
}

/* The start of what comes through FD, in one line; the rest is read and dropped. False when it
 * takes too long. */
static bool collect (int fd, char *buf, size_t size)
{
    struct pollfd pfd = { .fd = fd, .events = POLLIN };
    char rest[256];
    size_t len = 0;
    ssize_t n = 1;

    while (n > 0) {
        if (poll (&pfd, 1, HELPER_TIMEOUT_MS) <= 0)
            break;
        n = len < size - 1 ? read (fd, buf + len, size - 1 - len) : read (fd, rest, sizeof rest);
        if (n > 0 && len < size - 1)
            len += (size_t)n;
    }
    while (len > 0 && buf[len - 1] == '\n')
        len--;
    buf[len] = '\0';
    return n <= 0;
}

static int reap (pid_t pid)
{
    int status;

    while (waitpid (pid, &status, 0) < 0)
        if (errno != EINTR)
            return -1;
    return status;
}

int helper_run (char *const argv[], struct err *e)
{
    int fds[2];
    char output[256];
    pid_t pid;
    int r;

    if (pipe2 (fds, O_CLOEXEC) < 0)
        return err_sys (e, "pipe");
    r = spawn (argv, fds[1], &pid);
    (void)close (fds[1]);
    AUTO_FD out = fds[0];
    if (r)
        return err_set (e, r, "%s cannot be run (%s): install the package uidmap", argv[0],
                        strerrorname_np (r));
    if (!collect (out, output, sizeof output)) {
        (void)kill (pid, SIGKILL);
        (void)reap (pid);
        return err_set (e, ETIMEDOUT, "%s did not end in time", argv[0]);
    }
    if (reap (pid) != 0)
        return err_set (e, EPERM, "%s failed: %s", argv[0], output);
    return 0;
}
