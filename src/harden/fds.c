#include "fds.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
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

static int check_entry (const struct entry *d, unsigned int first, struct err *e)
{
    unsigned long fd = strtoul (d->name, NULL, 10);
    int flags;

    if (d->name[0] == '.' || fd < first)
        return 0;
    flags = fcntl ((int)fd, F_GETFD);
    if (flags >= 0 && flags & FD_CLOEXEC)
        return 0;
    return err_set (e, EBADF, "descriptor %lu would survive execve", fd);
}

static int check_entries (const char *buf, long len, unsigned int first, struct err *e)
{
    int r = 0;

    for (long at = 0; at < len && r == 0;) {
        const struct entry *d = (const struct entry *)(const void *)(buf + at);

        r = check_entry (d, first, e);
        at += d->len;
    }
    return r;
}

int fds_check (unsigned int first, int procfs, struct err *e)
{
    AUTO_FD dir = fd_open (procfs, "self/fd", O_RDONLY | O_DIRECTORY, FD_PROC, e);
    _Alignas(struct entry) char buf[4096];
    long n = 0;
    int r = 0;

    if (dir < 0)
        return dir;
    while (r == 0 && (n = syscall (SYS_getdents64, dir, buf, sizeof buf)) > 0)
        r = check_entries (buf, n, first, e);
    return n < 0 ? err_sys (e, "list the descriptors") : r;
}
