#include "ns.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/nsfs.h>
#include <sched.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "join.h"

#ifndef CLONE_NEWTIME
#define CLONE_NEWTIME 0x00000080 /* in linux/sched.h, which clashes with sched.h */
#endif

const char *const ns_names[NS_COUNT] = {
    [NS_USER] = "user", [NS_MOUNT] = "mount", [NS_PID] = "pid",       [NS_NET] = "network",
    [NS_IPC] = "ipc",   [NS_UTS] = "uts",     [NS_CGROUP] = "cgroup", [NS_TIME] = "time",
};

const char *const ns_proc_names[NS_COUNT] = {
    [NS_USER] = "user", [NS_MOUNT] = "mnt", [NS_PID] = "pid",       [NS_NET] = "net",
    [NS_IPC] = "ipc",   [NS_UTS] = "uts",   [NS_CGROUP] = "cgroup", [NS_TIME] = "time",
};

const uint64_t ns_clone_flags[NS_COUNT] = {
    [NS_USER] = CLONE_NEWUSER, [NS_MOUNT] = CLONE_NEWNS,      [NS_PID] = CLONE_NEWPID,
    [NS_NET] = CLONE_NEWNET,   [NS_IPC] = CLONE_NEWIPC,       [NS_UTS] = CLONE_NEWUTS,
    [NS_TIME] = CLONE_NEWTIME, [NS_CGROUP] = CLONE_NEWCGROUP,
};

/* ---- the files of joined namespaces ---- */

/* NS_GET_NSTYPE gives the type of namespace files only; any other file may take the number for a
 * command of its own, so the file system is asked first. */
static bool is_of_kind (int fd, int kind)
{
    struct statfs fs;

    return fstatfs (fd, &fs) == 0 && fs.f_type == NSFS_MAGIC &&
           ioctl (fd, NS_GET_NSTYPE) == (int)ns_clone_flags[kind];
}

static int open_one (const char *path, int kind, struct err *e)
{
    /* O_NONBLOCK: a FIFO must not hold us. */
    AUTO_FD fd = fd_open (AT_FDCWD, path, O_RDONLY | O_NONBLOCK | O_NOCTTY, FD_HOST, e);

    if (fd == -ENOENT)
        return err_set (e, ENOENT, "/linux/namespaces[%s]/path '%s' does not exist", ns_names[kind],
                        path);
    if (fd < 0) {
        errno = -fd;
        return err_sys (e, "/linux/namespaces[%s]/path: open '%s'", ns_names[kind], path);
    }
    if (!is_of_kind (fd, kind))
        return err_set (e, EINVAL, "/linux/namespaces[%s]/path '%s' is no %s namespace",
                        ns_names[kind], path, ns_names[kind]);
    return TAKE_FD (fd);
}

int ns_prepare (const struct plan *p, struct ns_fds *ret, struct err *e)
{
    struct ns_fds f;

    for (int kind = 0; kind < NS_COUNT; kind++)
        f.fd[kind] = -1;
    for (int kind = 0; kind < NS_COUNT; kind++) {
        if (p->ns[kind].mode != NS_JOIN)
            continue;
        f.fd[kind] = open_one (p->ns[kind].path, kind, e);
        if (f.fd[kind] < 0) {
            ns_fds_close (&f);
            return -e->code;
        }
    }
    *ret = f;
    return 0;
}

void ns_fds_close (struct ns_fds *f)
{
    for (int kind = 0; kind < NS_COUNT; kind++) {
        cleanup_fd (&f->fd[kind]);
        f->fd[kind] = -1;
    }
}

/* ---- what is made and joined where ---- */

uint64_t ns_clone3_flags (const struct plan *p)
{
    uint64_t flags = 0;

    for (int kind = 0; kind < NS_COUNT; kind++)
        if (p->ns[kind].mode == NS_MAKE && kind != NS_CGROUP && kind != NS_TIME)
            flags |= ns_clone_flags[kind];
    return flags;
}

static bool joins_any (const struct plan *p)
{
    for (int kind = 0; kind < NS_COUNT; kind++)
        if (p->ns[kind].mode == NS_JOIN)
            return true;
    return false;
}

bool ns_needs_trampoline (const struct plan *p)
{
    return p->ns[NS_PID].mode == NS_JOIN || p->ns[NS_USER].mode == NS_JOIN ||
           (p->ns[NS_USER].mode == NS_MAKE && joins_any (p));
}

/* setns to a time namespace wants an address space that no other task uses. */
static bool joins_early (const struct plan *p, int kind)
{
    return p->ns[kind].mode == NS_JOIN && kind != NS_TIME && ns_needs_trampoline (p);
}

int ns_join_early (const struct plan *p, const struct ns_fds *f, struct err *e)
{
    struct ns_fds early;

    for (int kind = 0; kind < NS_COUNT; kind++)
        early.fd[kind] = joins_early (p, kind) ? f->fd[kind] : -1;
    return ns_join_fds (&early, e);
}

int ns_join (const struct plan *p, const struct ns_fds *f, struct err *e)
{
    struct ns_fds late;

    for (int kind = 0; kind < NS_COUNT; kind++)
        late.fd[kind] = joins_early (p, kind) ? -1 : f->fd[kind];
    return ns_join_fds (&late, e);
}

int ns_join_check (const struct plan *p, const struct ns_fds *f, int procfs, struct err *e)
{
    for (int kind = 0; kind < NS_COUNT; kind++) {
        struct stat want, have;
        int r;

        if (p->ns[kind].mode != NS_JOIN)
            continue;
        r = ns_stat (procfs, 0, kind, &have, e);
        if (r < 0)
            return r;
        if (fstat (f->fd[kind], &want) < 0)
            return err_sys (e, "stat the %s namespace", ns_names[kind]);
        if (!ns_is_same (&have, &want))
            return err_set (e, EPERM, "/linux/namespaces[%s]: this process is not in it",
                            ns_names[kind]);
    }
    return 0;
}
