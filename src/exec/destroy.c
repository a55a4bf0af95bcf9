/*
 * The end of a container: nothing of it stays.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "exec/run.h"
#include "hook/hook.h"

#define INIT_EXIT_TIMEOUT_MS 10000

/* Kills init and waits for its end, whoever its parent is. */
static int kill_init (struct run *r, struct err *e)
{
    struct err gone = { 0 };
    struct pollfd pfd = { .events = POLLIN };
    /* Who made init has it open: another descriptor may not be had. */
    AUTO_FD opened = r->pidfd < 0 ? state_pidfd (&r->saved, &gone) : -1;
    int pidfd = r->pidfd < 0 ? opened : r->pidfd;

    if (pidfd == -ESRCH || r->saved.pid == 0)
        return 0;
    if (pidfd < 0) {
        *e = gone;
        return pidfd;
    }
    pfd.fd = pidfd;
    if (poll (&pfd, 1, 0) > 0)
        return 0; /* has ended already, and may have been waited for */
    if (syscall (SYS_pidfd_send_signal, pidfd, SIGKILL, NULL, 0) < 0 && errno != ESRCH)
        return err_sys (e, "kill init");
    if (poll (&pfd, 1, INIT_EXIT_TIMEOUT_MS) == 0)
        return err_set (e, ETIMEDOUT, "init (pid %d) does not end after SIGKILL", r->saved.pid);
    return 0;
}

int run_kill_all (struct run *r, struct err *e)
{
    int result = 0;

    if (!r->state.saved)
        return 0;
    if (!r->plan.cgroup.disabled)
        result = cgroup_signal (&r->cgroup, SIGKILL, e);
    return result < 0 ? result : kill_init (r, e);
}

bool run_poststop_is_due (const struct run *r)
{
    return r->state.saved && (!r->saved.creating || r->saved.pid != 0);
}

/* A failure of these hooks is told and does not keep the container (runtime-spec, lifecycle). */
static void poststop (struct run *r)
{
    struct err e = { 0 };

    if (!run_poststop_is_due (r) || run_hooks (r, HOOK_POSTSTOP, STATUS_STOPPED, 0, &e) == 0)
        return;
    if (r->env->note)
        r->env->note (LOG_WARN, e.msg);
}

int run_destroy (struct run *r, struct err *e)
{
    int result = run_kill_all (r, e);

    if (result == 0 && r->state.saved && !r->plan.cgroup.disabled)
        result = cgroup_remove (&r->cgroup, e);
    if (result < 0)
        return result;
    poststop (r);
    return state_remove (&r->state, e);
}
