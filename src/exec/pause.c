/*
 * pause, resume: the freezer tells whether a container is paused, nothing is written down.
 */
#include <errno.h>

#include "exec/run.h"

/* runc's texts, which engines show. No lock is taken: whoever resumes must not wait for a command
 * that itself waits for a frozen process. */
static int require (enum state_status status, bool pause, struct err *e)
{
    if (!pause)
        return status == STATUS_PAUSED ? 0 : err_set (e, EINVAL, "container not paused");
    if (status == STATUS_RUNNING || status == STATUS_CREATED)
        return 0;
    return err_set (e, EINVAL,
                    status == STATUS_PAUSED ? "container not running: it is paused already"
                                            : "container not running");
}

static int change (struct run *r, bool pause, struct err *e)
{
    enum state_status status;
    int result = run_status (r, &status, e);

    if (result == 0)
        result = require (status, pause, e);
    if (result == 0 && r->plan.cgroup.disabled)
        return err_set (e, ENOTSUP, "cannot pause a container without a cgroup of its own");
    return result < 0 ? result : cgroup_freeze (&r->cgroup, pause, e);
}

static int reopen_and_change (const struct container_env *env, const char *id, bool pause,
                              struct err *e)
{
    AUTO_ARENA a = { 0 };
    struct run r;
    int result;

    run_init (&r, env, &a);
    result = run_reopen (&r, id, 0, e);
    if (result == 0)
        result = change (&r, pause, e);
    run_close (&r);
    return result;
}

int container_pause (const struct container_env *env, const char *id, struct err *e)
{
    return reopen_and_change (env, id, true, e);
}

int container_resume (const struct container_env *env, const char *id, struct err *e)
{
    return reopen_and_change (env, id, false, e);
}
