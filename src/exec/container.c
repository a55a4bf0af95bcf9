/*
 * create, run, start, delete.
 */
#include <errno.h>
#include <signal.h>
#include <sys/wait.h>

#include "base/log.h"
#include "base/str.h"
#include "exec/criu.h"
#include "exec/run.h"
#include "exec/sync.h"
#include "hook/hook.h"

static int create (struct run *r, const struct container_create_options *o, struct err *e)
{
    int result;

    r->create = o;
    if (!str_is_id (o->id))
        return err_set (e, EINVAL,
                        "'%s' is no container id: letters, digits, '_', '+', '.', '-', not "
                        "starting with '.' or '-', at most 1024",
                        o->id);
    result = run_block_signals (r, e);
    return result < 0 ? result : run_parent (r, e);
}

int container_create (const struct container_env *env, const struct container_create_options *o,
                      struct err *e)
{
    AUTO_ARENA a = { 0 };
    struct run r;
    int result;

    run_init (&r, env, &a);
    result = create (&r, o, e);
    if (result == 0)
        decide_note (&r);
    run_close (&r);
    return result;
}

/* ---- run ---- */
/* Lets init go on to execve, and runs the poststart hooks. */
static int start_at_once (struct run *r, struct err *e)
{
    int result = sync_send (r->sync, SYNC_GO, e);

    if (result == 0)
        result = run_await_exec (r, e);
    return result < 0 ? result : run_hooks (r, HOOK_POSTSTART, STATUS_RUNNING, r->pid, e);
}

/* The container goes with the command that made it; the first error is the one to tell. */
static int give_up (struct run *r, struct err *e)
{
    struct err left = { 0 };
    siginfo_t info;

    if (run_destroy (r, &left) < 0)
        r->left = left;
    (void)waitid (P_PIDFD, (id_t)r->pidfd, &info, WEXITED | WNOHANG);
    run_tell_left (r, e);
    return -e->code;
}

/* Its process has ended and something that is left of it is named: whoever runs it must know. */
static int not_removed (const struct run *r, struct err *e)
{
    const struct err first = *e;

    return err_set (e, first.code, "%.400s; not removed (delete --force %.40s does it)", first.msg,
                    r->create->id);
}

/* kill, exec and delete --force work meanwhile; a delete may be faster than we are at the end. */
static int run_foreground (struct run *r, int *ret_status, struct err *e)
{
    struct err lock = { 0 };
    int result;

    state_unlock (&r->state);
    result = run_wait (r, ret_status, e);
    if (state_lock (&r->state, &lock) < 0) {
        if (lock.code == ENOENT)
            return result;
        if (result == 0)
            *e = lock;
        return not_removed (r, e);
    }
    if (result < 0)
        return give_up (r, e);
    if (r->create->keep || run_destroy (r, e) == 0)
        return 0;
    return not_removed (r, e);
}

int container_run (const struct container_env *env, const struct container_create_options *o,
                   int *ret_status, struct err *e)
{
    AUTO_ARENA a = { 0 };
    struct run r;
    int result;

    run_init (&r, env, &a);
    r.starts_at_once = true;
    result = create (&r, o, e);
    if (result == 0 && start_at_once (&r, e) < 0)
        result = give_up (&r, e);
    else if (result == 0)
        decide_note (&r);
    if (result == 0 && !o->detach)
        result = run_foreground (&r, ret_status, e);
    run_close (&r);
    return result;
}

int container_restore (const struct container_env *env, const struct container_criu_options *o,
                       int *ret_status, struct err *e)
{
    AUTO_ARENA a = { 0 };
    struct run r;
    int result;

    run_init (&r, env, &a);
    result = run_block_signals (&r, e);
    if (result == 0)
        result = restore_container (&r, o, e);
    if (result == 0 && !o->create->detach)
        result = run_foreground (&r, ret_status, e);
    run_close (&r);
    return result;
}

/* ---- start ---- */
#define PAUSED "cannot start a container in the paused state: its cgroup is frozen"

static int require_created (struct run *r, struct err *e)
{
    static const char *const why_not[] = {
        [STATUS_CREATING] = "cannot start a container whose create has not finished",
        [STATUS_RUNNING] = "cannot start an already running container",
        [STATUS_PAUSED] = PAUSED,
        [STATUS_STOPPED] = "cannot start a container that has stopped",
    };
    enum state_status status;
    int result = run_status (r, &status, e);

    if (result < 0 || status == STATUS_CREATED)
        return result;
    return err_set (e, EINVAL, "%s", why_not[status]);
}

/* What keeps init from answering. Only ever looked at: a cgroup that is gone keeps nobody. */
static int init_is_held (const void *data, struct err *e)
{
    const struct run *r = data;
    struct err ignored = { 0 };
    bool frozen = false;

    if (!r->plan.cgroup.disabled)
        (void)cgroup_is_held (&r->cgroup, &frozen, &ignored);
    if (frozen)
        return err_set (e, EBUSY, PAUSED);
    if (state_is_halted (&r->saved))
        return err_set (e, EBUSY,
                        "cannot start a container whose init (pid %d) is stopped by a signal: it "
                        "needs SIGCONT first",
                        r->saved.pid);
    return 0;
}

static int hand_over (const void *data, int fd, struct err *e)
{
    return agent_hand_over (data, fd, e);
}

static int start (struct run *r, struct err *e)
{
    const struct state_gate_watch watch = { init_is_held, hand_over, r };
    int result = require_created (r, e);

    if (result == 0)
        result = run_read_config (r, e);
    if (result == 0)
        result = state_gate_open (&r->state, &watch, e);
    if (result < 0)
        return result;
    result = run_hooks (r, HOOK_POSTSTART, STATUS_RUNNING, r->saved.pid, e);
    if (result < 0) {
        struct err ignored = { 0 };

        (void)run_signal (r, SIGKILL, &ignored); /* the hook's error is the one to tell */
    }
    return result;
}

int container_start (const struct container_env *env, const char *id, struct err *e)
{
    AUTO_ARENA a = { 0 };
    struct run r;
    int result;

    run_init (&r, env, &a);
    result = run_reopen (&r, id, STATE_LOCK, e);
    if (result == 0)
        result = start (&r, e);
    run_close (&r);
    return result;
}

/* ---- delete ---- */
static int require_stopped (struct run *r, struct err *e)
{
    enum state_status status;
    int result = run_status (r, &status, e);

    /* A created one has not run anything yet: as runc and crun, delete takes it (containerd relies
     * on it). */
    if (result < 0 || status == STATUS_STOPPED || status == STATUS_CREATED)
        return result;
    return err_set (e, EBUSY, "cannot delete container %s that is not stopped: %s", r->saved.id,
                    state_status_names[status]);
}

/* The config names the poststop hooks. A container must not stay for ever because its copy of it is
 * broken: by force it goes without them. */
static int read_hooks (struct run *r, bool force, struct err *e)
{
    int result = run_poststop_is_due (r) ? run_read_config (r, e) : 0;

    if (result == 0 || !force || result == -ENOMEM)
        return result;
    (void)err_add (e, "poststop hooks are left out");
    if (r->env->note)
        r->env->note (LOG_WARN, e->msg);
    return 0;
}

/* A lock that somebody holds must not keep a container alive: a create or a start that waits for
 * init lets go when that one is dead. */
static int reopen_by_force (struct run *r, const char *id, struct err *e)
{
    const struct run unused = *r;
    int result = run_reopen (r, id, STATE_LOCK_NOW | STATE_ALLOW_BROKEN, e);

    if (result != -ETIMEDOUT)
        return result;
    run_close (r);
    *r = unused;
    result = run_reopen (r, id, STATE_ALLOW_BROKEN, e);
    if (result == 0)
        result = run_kill_all (r, e);
    run_close (r);
    *r = unused;
    return result < 0 ? result : run_reopen (r, id, STATE_LOCK_SHORT | STATE_ALLOW_BROKEN, e);
}

static int delete_by_force (struct run *r, const char *id, struct err *e)
{
    int result = reopen_by_force (r, id, e);

    if (result == -ENOENT && r->state.dir < 0)
        return 0; /* the engines' clean-up calls come twice */
    if (result < 0)
        return result;
    if (r->state.recovered && r->env->note)
        r->env->note (LOG_WARN, "state.json cannot be used; its copy can");
    result = read_hooks (r, true, e);
    return result < 0 ? result : run_destroy (r, e);
}

static int delete_stopped (struct run *r, const char *id, struct err *e)
{
    int result = run_reopen (r, id, STATE_LOCK, e);

    if (result == 0)
        result = require_stopped (r, e);
    if (result == 0)
        result = read_hooks (r, false, e);
    return result < 0 ? result : run_destroy (r, e);
}

int container_delete (const struct container_env *env, const char *id, bool force, struct err *e)
{
    AUTO_ARENA a = { 0 };
    struct run r;
    int result;

    run_init (&r, env, &a);
    result = force ? delete_by_force (&r, id, e) : delete_stopped (&r, id, e);
    run_close (&r);
    return result;
}
