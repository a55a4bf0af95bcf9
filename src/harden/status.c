#include "status.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"

/* Reads to the end of the file, of which at least the last half of SIZE stays. */
static ssize_t read_end (int fd, char *buf, size_t size)
{
    size_t len = 0;
    ssize_t n;

    while ((n = read (fd, buf + len, size - len)) > 0) {
        len += (size_t)n;
        if (len == size) {
            len = size / 2;
            memmove (buf, buf + size - len, len);
        }
    }
    return n < 0 ? n : (ssize_t)len;
}

int status_read (int procfs, pid_t pid, struct status *ret, struct err *e)
{
    char path[64] = "thread-self/status";
    AUTO_FD fd = -1;
    ssize_t n;

    if (pid > 0)
        (void)snprintf (path, sizeof path, "%d/status", pid);
    fd = fd_open_proc (procfs, path, O_RDONLY, e);
    if (fd < 0)
        return fd;
    n = read_end (fd, ret->text, sizeof ret->text - 1);
    if (n < 0)
        return err_sys (e, "read '%s'", path);
    ret->text[n] = '\0';
    return 0;
}

int status_number (const struct status *s, const char *name, int base, uint64_t *ret, struct err *e)
{
    char key[32];
    const char *at;

    (void)snprintf (key, sizeof key, "\n%s:\t", name);
    at = strstr (s->text, key);
    if (!at)
        return err_set (e, ENOTSUP, "this kernel's process status shows no %s", name);
    *ret = strtoull (at + strlen (key), NULL, base);
    return 0;
}
