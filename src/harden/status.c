#include "status.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"

int status_read (int procfs, pid_t pid, struct status *ret, struct err *e)
{
    char path[64] = "thread-self/status";
    AUTO_FD fd = -1;
    ssize_t n;

    if (pid > 0)
        (void)snprintf (path, sizeof path, "%d/status", pid);
    fd = fd_open (procfs, path, O_RDONLY, FD_PROC, e);
    if (fd < 0)
        return fd;
    n = read (fd, ret->text, sizeof ret->text - 1);
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
