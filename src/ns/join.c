#include "join.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"

static int enter (const struct ns_fds *f, int kind, struct err *e)
{
    if (setns (f->fd[kind], (int)ns_clone_flags[kind]) == 0)
        return 0;
    if (kind == NS_USER && errno == EINVAL)
        return err_set (e, EINVAL, "join the user namespace: it is the one this process is in");
    return err_sys (e, "join the %s namespace", ns_names[kind]);
}

int ns_join_fds (const struct ns_fds *f, struct err *e)
{
    bool again[NS_COUNT] = { false };
    int r = 0;

    for (int kind = 0; kind < NS_COUNT; kind++) {
        if (f->fd[kind] < 0 || kind == NS_USER)
            continue;
        r = enter (f, kind, e);
        again[kind] = r == -EPERM && f->fd[NS_USER] >= 0;
        if (r < 0 && !again[kind])
            return r;
    }
    if (f->fd[NS_USER] >= 0)
        r = enter (f, NS_USER, e);
    for (int kind = 0; kind < NS_COUNT && r == 0; kind++)
        if (again[kind])
            r = enter (f, kind, e);
    return r;
}

int ns_stat (int procfs, pid_t pid, int kind, struct stat *ret, struct err *e)
{
    char path[64];

    if (pid == 0)
        (void)snprintf (path, sizeof path, "self/ns/%s", ns_proc_names[kind]);
    else
        (void)snprintf (path, sizeof path, "%d/ns/%s", pid, ns_proc_names[kind]);
    /* A magic link of a procfs of our own: what is asked for is what it leads to. */
    if (fstatat (procfs, path, ret, 0) < 0)
        return err_sys (e, "look at the %s namespace", ns_names[kind]);
    return 0;
}

bool ns_is_same (const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* ---- exec: the namespaces of a process ---- */

/* The caller's own. Of its pid namespaces it is the one that its children get, which is what setns
 * changes. */
static int stat_own (int procfs, int kind, struct stat *ret, struct err *e)
{
    if (kind != NS_PID)
        return ns_stat (procfs, 0, kind, ret, e);
    if (fstatat (procfs, "self/ns/pid_for_children", ret, 0) < 0)
        return err_sys (e, "look at the pid namespace for children");
    return 0;
}

/* Kinds in which PID and the caller differ. */
static int differing (pid_t pid, int procfs, uint64_t *ret, struct err *e)
{
    uint64_t flags = 0;

    for (int kind = 0; kind < NS_COUNT; kind++) {
        struct stat mine, its;
        int r = stat_own (procfs, kind, &mine, e);

        if (r == -ENOENT) /* a kernel built without this kind: nobody has one */
            continue;
        if (r == 0)
            r = ns_stat (procfs, pid, kind, &its, e);
        if (r < 0)
            return r;
        if (!ns_is_same (&mine, &its))
            flags |= ns_clone_flags[kind];
    }
    *ret = flags;
    return 0;
}

int ns_prepare_process (int pidfd, pid_t pid, int procfs, uint64_t *ret_flags, struct err *e)
{
    uint64_t flags;
    int r = differing (pid, procfs, &flags, e);

    /* Alive after the look: the number belonged to this process during it. */
    if (syscall (SYS_pidfd_send_signal, pidfd, 0, NULL, 0) < 0 && errno == ESRCH)
        return err_set (e, ESRCH, "container not running");
    if (r < 0)
        return r;
    *ret_flags = flags;
    return 0;
}

/* All at once: the kernel judges each by the caller's rights over its owner, so the order in which
 * a user namespace and what is outside it are joined is no matter here. */
int ns_join_process (int pidfd, uint64_t flags, struct err *e)
{
    if (flags && setns (pidfd, (int)flags) < 0)
        return err_sys (e, "join the container's namespaces (%#llx)", (unsigned long long)flags);
    return 0;
}

int ns_join_process_check (int pidfd, pid_t pid, int procfs, struct err *e)
{
    uint64_t flags;
    int r = ns_prepare_process (pidfd, pid, procfs, &flags, e);

    if (r == 0 && flags)
        return err_set (e, EPERM,
                        "this process is not in all of the container's namespaces (%#llx)",
                        (unsigned long long)flags);
    return r;
}
