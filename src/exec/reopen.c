/*
 * A container that exists, from its state directory.
 */
#include <errno.h>

#include "base/str.h"
#include "exec/run.h"

/* The text that engines look for, then what helps a person who is in another state root. */
static int not_there (const struct run *r, const char *id, struct err *e)
{
    return err_set (e, ENOENT, "container does not exist: '%s' (in the state root '%.200s')", id,
                    r->env->root);
}

int run_reopen (struct run *r, const char *id, int state_flags, struct err *e)
{
    int result;

    if (!str_is_id (id))
        return err_set (e, EINVAL, "'%s' is no container id", id);
    result = state_open_root (r->env->root, false, &r->root_dir, e);
    if (result < 0)
        return result;
    if (r->root_dir < 0)
        return not_there (r, id, e);
    result = state_open (r->root_dir, id, state_flags, r->arena, &r->state, e);
    if (result == -ENOENT)
        return not_there (r, id, e);
    if (result < 0 || !r->state.saved)
        return result;
    r->saved = *r->state.saved;
    r->plan.id = r->saved.id;
    /* An ordinary user's may have been made in no hierarchy. */
    r->plan.cgroup.disabled = !r->saved.cgroup || r->saved.cgroup->n_paths == 0;
    if (r->saved.cgroup)
        result = cgroup_reopen (r->saved.cgroup, r->arena, &r->cgroup, e);
    r->cgroup.no_clone_into = r->no_clone_into;
    return result;
}

int run_read_config (struct run *r, struct err *e)
{
    int result = state_read_config (&r->state, r->arena, &r->config, e);

    if (result < 0)
        return result;
    r->plan.config = r->config;
    r->plan.hooks = r->config->hooks;
    r->plan.seccomp = r->config->linux_ ? r->config->linux_->seccomp : NULL;
    return 0;
}

int run_status (struct run *r, enum state_status *ret, struct err *e)
{
    bool frozen = false;
    int result = state_status (&r->state, ret, e);

    if (result < 0 || (*ret != STATUS_RUNNING && *ret != STATUS_CREATED) || r->plan.cgroup.disabled)
        return result;
    result = cgroup_is_frozen (&r->cgroup, &frozen, e);
    if (result == 0 && frozen)
        *ret = STATUS_PAUSED;
    return result;
}
