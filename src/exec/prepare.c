/*
 * The `prepare` row: everything that can be opened, compiled or connected before clone3.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "base/log.h"
#include "exec/run.h"
#include "exec/sync.h"
#include "tty/tty.h"

int run_need_procfs (struct run *r, struct err *e)
{
    if (r->procfs < 0)
        r->procfs = fd_procfs (e);
    return r->procfs < 0 ? r->procfs : 0;
}

/* ROOT/.cache, ours alone. Not there (a read-only root, say) only means that filters are compiled
 * anew. */
static int open_cache (int root_dir)
{
    struct err ignored = { 0 };

    if (mkdirat (root_dir, ".cache", 0700) < 0 && errno != EEXIST)
        return -1;
    return fd_open (root_dir, ".cache", O_RDONLY | O_DIRECTORY | O_NOFOLLOW, FD_BENEATH, &ignored);
}

static int prepare_filter (struct run *r, struct err *e)
{
    AUTO_FD cache = -1;
    char text[64];
    int result;

    if (!r->plan.seccomp)
        return 0;
    if (r->plan.seccomp_names && seccomp_check_names (r->plan.seccomp, e) < 0)
        return -e->code;
    cache = open_cache (r->root_dir);
    result = seccomp_prepare (r->plan.seccomp, cache, r->arena, &r->filter, e);
    if (result < 0)
        return result;
    (void)snprintf (text, sizeof text, "seccomp filter flags: %u", r->filter.flags);
    if (r->env->note)
        r->env->note (LOG_DEBUG, text);
    return 0;
}

/* Who gets the terminal: an engine's socket, or this command when it stays in the foreground. */
static int prepare_console (struct run *r, const char *socket_path, bool detached, struct err *e)
{
    if (!r->plan.process.terminal) {
        if (socket_path)
            return err_set (e, EINVAL, "--console-socket is of no use without /process/terminal");
        return 0;
    }
    if (socket_path) {
        r->console = fd_connect_unix (socket_path, e);
        return r->console < 0 ? err_add (e, "--console-socket") : 0;
    }
    if (detached)
        return err_set (e, EINVAL,
                        "/process/terminal is true: a detached container needs --console-socket");
    tty_caller_size (&r->plan.process.rows, &r->plan.process.cols);
    return sync_console_pair (&r->tty_parent, &r->console, e);
}

static int prepare_common (struct run *r, struct err *e)
{
    int result = run_need_procfs (r, e);

    if (result == 0)
        result = lsm_prepare (&r->plan.process, e);
    if (result == 0)
        result = prepare_filter (r, e);
    if (result == 0 && r->plan.memory_policy)
        result = mempolicy_prepare (r->plan.memory_policy, &r->mempolicy, e);
    return result < 0 ? result : sync_pair (&r->sync, &r->sync_child, e);
}

int prepare_create (struct run *r, struct err *e)
{
    bool detached = r->create->detach || !r->starts_at_once;
    int result = prepare_common (r, e);

    if (result == 0)
        result = ns_prepare (&r->plan, &r->ns, e);
    if (result == 0)
        result = pod_check (&r->pod, &r->plan, &r->ns, e);
    pod_close (&r->pod);
    if (result == 0)
        result = mnt_prepare (&r->plan, r->arena, &r->sources, e);
    if (result == 0)
        result = prepare_console (r, r->create->console_socket, detached, e);
    if (result == 0 && !r->starts_at_once)
        result = state_gate_make (&r->state, &r->gate, e);
    return result;
}

static int prepare_cgroup (struct run *r, struct err *e)
{
    const char *const *cgroups = r->exec->cgroups;

    if (r->plan.cgroup.disabled)
        return cgroups ? err_set (e, ENOTSUP, "--cgroup: the container has no cgroup") : 0;
    if (cgroups && cgroup_choose (&r->cgroup, cgroups, r->arena, e) < 0)
        return err_add (e, "--cgroup");
    if (!cgroups && cgroup_follow (&r->cgroup, r->procfs, r->saved.pid, r->arena, e) < 0)
        return -e->code;
    return cgroup_enter_prepare (&r->cgroup, e);
}

int prepare_exec (struct run *r, struct err *e)
{
    int result = prepare_common (r, e);

    if (result == 0)
        result = ns_prepare_process (r->init_pidfd, r->saved.pid, r->procfs, &r->join_flags, e);
    if (result == 0)
        result = prepare_cgroup (r, e);
    if (result == 0)
        result = prepare_console (r, r->exec->console_socket, r->exec->detach, e);
    return result;
}
