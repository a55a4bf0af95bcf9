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

int fds_cloexec_from (unsigned int first, struct err *e)
{
    if (syscall (SYS_close_range, first, ~0U, CLOSE_RANGE_CLOEXEC) < 0)
        return err_sys (e, "close the descriptors from %u on", first);
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

static int check_entries (const char *buf, long len, const struct rule *rule, struct err *e)
{
    int r = 0;

    for (long at = 0; at < len && r == 0;) {
        const struct entry *d = (const struct entry *)(const void *)(buf + at);
        unsigned long fd = strtoul (d->name, NULL, 10);

        if (d->name[0] != '.' && fd >= rule->first)
            r = check_number ((int)fd, rule, e);
        at += d->len;
    }
    return r;
}

static int check_all (unsigned int first, const struct fds_kept *kept, int procfs, struct err *e)
{
    AUTO_FD dir = fd_open (procfs, "self/fd", O_RDONLY | O_DIRECTORY, FD_PROC, e);
    _Alignas(struct entry) char buf[4096];
    const struct rule rule = { first, kept, dir };
    long n = 0;
    int r = 0;

    if (dir < 0)
        return dir;
    while (r == 0 && (n = syscall (SYS_getdents64, dir, buf, sizeof buf)) > 0)
        r = check_entries (buf, n, &rule, e);
    return n < 0 ? err_sys (e, "list the descriptors") : r;
}

int fds_check (unsigned int first, int procfs, struct err *e)
{
    return check_all (first, NULL, procfs, e);
}

static int close_range_of (unsigned int first, unsigned int last, struct err *e)
{
    if (syscall (SYS_close_range, first, last, 0) < 0)
        return err_sys (e, "close the descriptors from %u to %u", first, last);
    return 0;
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

int fds_close_from (unsigned int first, const struct fds_kept *kept, struct err *e)
{
    unsigned int next = next_kept (kept, first);
    int r = 0;

    for (; r == 0 && next != ~0U; next = next_kept (kept, first)) {
        r = first < next ? close_range_of (first, next - 1, e) : 0;
        first = next + 1;
    }
    return r < 0 ? r : close_range_of (first, ~0U, e);
}

int fds_close_check (unsigned int first, const struct fds_kept *kept, int procfs, struct err *e)
{
    return check_all (first, kept, procfs, e);
}
