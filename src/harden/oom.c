#include "oom.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"

#define OOM_PATH_MAX 32

static const char *oom_path (char *buf, pid_t pid)
{
    if (pid == 0)
        return "self/oom_score_adj";
    (void)snprintf (buf, OOM_PATH_MAX, "%d/oom_score_adj", pid);
    return buf;
}

int oom_set (const struct plan_process *p, int procfs, pid_t pid, struct err *e)
{
    char path[OOM_PATH_MAX];
    char text[16];
    AUTO_FD fd = -1;

    if (!p->has_oom_score_adj)
        return 0;
    fd = fd_open (procfs, oom_path (path, pid), O_WRONLY, FD_PROC, e);
    if (fd < 0)
        return err_add (e, "/process/oomScoreAdj");
    (void)snprintf (text, sizeof text, "%d", p->oom_score_adj);
    errno = -fd_write_all (fd, text, strlen (text));
    if (errno == 0)
        return 0;
    if (errno == EACCES)
        return err_set (
            e, EACCES, "/process/oomScoreAdj: lowering it to %d needs CAP_SYS_RESOURCE on the host",
            p->oom_score_adj);
    return err_sys (e, "/process/oomScoreAdj: write %d", p->oom_score_adj);
}

static int read_value (int procfs, pid_t pid, long *ret, struct err *e)
{
    char path[OOM_PATH_MAX];
    char text[16];
    AUTO_FD fd = fd_open (procfs, oom_path (path, pid), O_RDONLY, FD_PROC, e);
    ssize_t n;

    if (fd < 0)
        return err_add (e, "/process/oomScoreAdj");
    n = read (fd, text, sizeof text - 1);
    if (n < 0)
        return err_sys (e, "/process/oomScoreAdj: read");
    text[n] = '\0';
    *ret = strtol (text, NULL, 10);
    return 0;
}

int oom_own (int procfs, int *ret, struct err *e)
{
    long value = 0;
    int r = read_value (procfs, 0, &value, e);

    if (r == 0)
        *ret = (int)value;
    return r;
}

int oom_check (const struct plan_process *p, int procfs, pid_t pid, struct err *e)
{
    long value;

    if (!p->has_oom_score_adj)
        return 0;
    if (read_value (procfs, pid, &value, e) < 0)
        return -e->code;
    if (value != p->oom_score_adj)
        return err_set (e, EPERM, "/process/oomScoreAdj: it is %ld, wanted %d", value,
                        p->oom_score_adj);
    return 0;
}
