#include "fds.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"

int fds_check_preserved (unsigned int n, struct err *e)
{
    for (unsigned int fd = 3; fd - 3 < n; fd++) {
        int flags = fcntl ((int)fd, F_GETFD);

        if (flags < 0 || (flags & FD_CLOEXEC))
            return err_set (e, EBADF,
                            "descriptor %u is to be handed on (%u from 3 on) but not open", fd, n);
    }
    return 0;
}

/* What getdents64(2) fills in; glibc's readdir would allocate. */
struct entry {
    uint64_t ino;
    int64_t next;
    uint16_t len;
    uint8_t type;
    char name[];
};

struct rule {
    unsigned int first;
    const struct fds_kept *kept; /* those that may be open; NULL: any, while close-on-exec */
    int dir;                     /* what the list is read from */
    int (*act) (int fd, const struct rule *rule, struct err *e);
};

static bool is_kept (const struct fds_kept *kept, int fd)
{
    for (size_t i = 0; i < kept->n; i++)
        if (kept->fd[i] == fd)
            return true;
    return false;
}

static int check_number (int fd, const struct rule *rule, struct err *e)
{
    int flags = fcntl (fd, F_GETFD);

    if (rule->kept && fd != rule->dir && !is_kept (rule->kept, fd))
        return err_set (e, EBADF, "descriptor %d is still open", fd);
    if (flags >= 0 && flags & FD_CLOEXEC)
        return 0;
    return err_set (e, EBADF, "descriptor %d would survive execve", fd);
}

static int close_number (int fd, const struct rule *rule, struct err *e)
{
    (void)e;
    if (fd != rule->dir && !is_kept (rule->kept, fd))
        (void)close (fd); /* the check finds one that is left */
    return 0;
}

static int cloexec_number (int fd, const struct rule *rule, struct err *e)
{
    (void)rule;
    return fcntl (fd, F_SETFD, FD_CLOEXEC) < 0 ? err_sys (e, "close descriptor %d", fd) : 0;
}

static int act_on_entries (const char *buf, long len, const struct rule *rule, struct err *e)
{
    int r = 0;

    for (long at = 0; at < len && r == 0;) {
        const struct entry *d = (const struct entry *)(const void *)(buf + at);
        unsigned long fd = strtoul (d->name, NULL, 10);

        if (d->name[0] != '.' && fd >= rule->first)
            r = rule->act ((int)fd, rule, e);
        at += d->len;
    }
    return r;
}

static int act_on_all (struct rule rule, int procfs, struct err *e)
{
    AUTO_FD dir = fd_open_proc (procfs, "self/fd", O_RDONLY | O_DIRECTORY, e);
    _Alignas(struct entry) char buf[4096];
    long n = 0;
    int r = 0;

    if (dir < 0)
        return dir;
    rule.dir = dir;
    while (r == 0 && (n = syscall (SYS_getdents64, dir, buf, sizeof buf)) > 0)
        r = act_on_entries (buf, n, &rule, e);
    return n < 0 ? err_sys (e, "list the descriptors") : r;
}

int fds_check (unsigned int first, int procfs, struct err *e)
{
    return act_on_all ((struct rule){ .first = first, .act = check_number }, procfs, e);
}

/* A filter of the container that is in force already may not know close_range (5.9). */
static bool is_filtered (void)
{
    return errno == ENOSYS || errno == EPERM;
}

int fds_cloexec_from (unsigned int first, int procfs, struct err *e)
{
    if (syscall (SYS_close_range, first, ~0U, CLOSE_RANGE_CLOEXEC) == 0)
        return 0;
    if (is_filtered ())
        return act_on_all ((struct rule){ .first = first, .act = cloexec_number }, procfs, e);
    return err_sys (e, "close the descriptors from %u on", first);
}

/* The lowest one to be kept from FIRST on, ~0U: none. */
static unsigned int next_kept (const struct fds_kept *kept, unsigned int first)
{
    unsigned int next = ~0U;

    for (size_t i = 0; i < kept->n; i++)
        if (kept->fd[i] >= 0 && (unsigned int)kept->fd[i] >= first &&
            (unsigned int)kept->fd[i] < next)
            next = (unsigned int)kept->fd[i];
    return next;
}

/* Returns -1 with errno. */
static int close_between (unsigned int first, const struct fds_kept *kept)
{
    unsigned int next = next_kept (kept, first);
    long r = 0;

    for (; r == 0 && next != ~0U; next = next_kept (kept, first)) {
        r = first < next ? syscall (SYS_close_range, first, next - 1, 0) : 0;
        first = next + 1;
    }
    return r < 0 ? -1 : (int)syscall (SYS_close_range, first, ~0U, 0);
}

int fds_close_from (unsigned int first, const struct fds_kept *kept, int procfs, struct err *e)
{
    if (close_between (first, kept) == 0)
        return 0;
    if (is_filtered ())
        return act_on_all ((struct rule){ .first = first, .kept = kept, .act = close_number },
                           procfs, e);
    return err_sys (e, "close the descriptors from %u on", first);
}

int fds_close_check (unsigned int first, const struct fds_kept *kept, int procfs, struct err *e)
{
    return act_on_all ((struct rule){ .first = first, .kept = kept, .act = check_number }, procfs,
                       e);
}
