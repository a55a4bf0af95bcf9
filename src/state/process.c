/* Whether a saved process is still there, and what its container's status is. */
#include "state/state.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/pidfd.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "state/gate.h"

#define STAT_MAX 4096

const char *const state_status_names[] = {
    [STATUS_CREATING] = "creating", [STATUS_CREATED] = "created", [STATUS_RUNNING] = "running",
    [STATUS_PAUSED] = "paused",     [STATUS_STOPPED] = "stopped",
};

struct process_stat {
    char state;          /* field 3 of /proc/PID/stat: 'Z' is a zombie */
    unsigned long flags; /* field 9: PF_* of the kernel */
    uint64_t start_time;
};

/* "forked but didn't exec": what process accounting reads, so Linux keeps the number. */
#define PF_FORKNOEXEC 0x40UL

/* Field 2, the name, can hold anything, also ") Z 1": the last ')' ends it. */
static bool parse_stat (const char *text, struct process_stat *ret)
{
    const char *p = strrchr (text, ')');
    char state = '\0';
    unsigned long long start = 0;
    unsigned long flags = 0;

    if (!p || sscanf (p,
                      ") %c %*s %*s %*s %*s %*s %lu %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s "
                      "%*s %llu",
                      &state, &flags, &start) != 3)
        return false;
    ret->state = state;
    ret->flags = flags;
    ret->start_time = start;
    return true;
}

static int read_stat (pid_t pid, struct process_stat *ret, struct err *e)
{
    AUTO_ARENA a = { 0 };
    char path[64];
    char *text = NULL;
    int r;

    (void)snprintf (path, sizeof path, "/proc/%d/stat", (int)pid);
    r = fd_read_file (AT_FDCWD, path, STAT_MAX, FD_HOST, &a, &text, NULL, e);
    if (r == -ENOENT || r == -ESRCH)
        return err_set (e, ESRCH, "process %d is gone", (int)pid);
    if (r < 0)
        return r;
    if (!parse_stat (text, ret))
        return err_set (e, EPROTO, "%s has an unknown form", path);
    return 0;
}

bool state_has_not_executed (pid_t pid)
{
    struct process_stat st;
    struct err ignored;

    return read_stat (pid, &st, &ignored) == 0 && st.flags & PF_FORKNOEXEC;
}

int state_start_time (pid_t pid, uint64_t *ret, struct err *e)
{
    struct process_stat st;
    int r = read_stat (pid, &st, e);

    if (r < 0)
        return r;
    *ret = st.start_time;
    return 0;
}

bool state_is_halted (const struct oci_saved_state *saved)
{
    struct process_stat st;
    struct err ignored; /* one that is gone is not halted */

    return saved->pid > 0 && read_stat (saved->pid, &st, &ignored) == 0 &&
           st.start_time == saved->pid_start_time && st.state == 'T';
}

static bool has_exited (int pidfd)
{
    struct pollfd p = { .fd = pidfd, .events = POLLIN };

    return poll (&p, 1, 0) != 0;
}

/* The pidfd comes first and is asked last: if its process still lives after stat was read, the
 * pid was its own all the time, so the start time read is that process's. */
int state_pidfd (const struct oci_saved_state *saved, struct err *e)
{
    struct process_stat st;
    AUTO_FD fd = -1;
    int r;

    if (saved->pid == 0)
        return err_set (e, ESRCH, "container not running");
    fd = pidfd_open (saved->pid, 0);
    if (fd < 0 && errno == ESRCH)
        return err_set (e, ESRCH, "container not running");
    if (fd < 0)
        return err_sys (e, "pidfd_open %d", (int)saved->pid);
    r = read_stat (saved->pid, &st, e);
    if (r < 0 && r != -ESRCH)
        return r;
    if (r < 0 || st.start_time != saved->pid_start_time || st.state == 'Z' || st.state == 'X' ||
        has_exited (fd))
        return err_set (e, ESRCH, "container not running");
    return TAKE_FD (fd);
}

/* A creator holds the lock from its claim to its end. A lock of our own means that it is gone. */
static bool creator_is_at_work (const struct state *s)
{
    AUTO_FD dir = -1;

    if (s->locked)
        return false;
    dir = openat (s->dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return dir >= 0 && flock (dir, LOCK_SH | LOCK_NB) < 0 && errno == EWOULDBLOCK;
}

int state_status (const struct state *s, enum state_status *ret, struct err *e)
{
    AUTO_FD pidfd = s->saved ? state_pidfd (s->saved, e) : -ESRCH;

    if (pidfd < 0 && pidfd != -ESRCH)
        return pidfd;
    if (!s->saved || s->saved->creating)
        *ret = pidfd >= 0 || creator_is_at_work (s) ? STATUS_CREATING : STATUS_STOPPED;
    else if (pidfd < 0)
        *ret = STATUS_STOPPED;
    else
        *ret = state_gate_is_locked (s) ? STATUS_CREATED : STATUS_RUNNING;
    return 0;
}
