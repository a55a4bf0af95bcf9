/*
 * update: other limits for a container that is there, in the bounds of its policy.
 */
#include <errno.h>

#include "exec/run.h"
#include "spec/resources.h"

/* The options on top of the document. */
static int read_asked (const struct container_update_options *o, struct arena *a,
                       const struct oci_linux_resources **ret, struct err *e)
{
    const struct oci_linux_resources *document = NULL;
    const void *both;

    *ret = o->resources;
    if (!o->file)
        return 0;
    if (spec_load_resources (o->file, a, &document, e) < 0 ||
        oci_merge (&oci_linux_resources_type, document, o->resources, a, &both, e) < 0)
        return -e->code;
    *ret = both;
    return 0;
}

static int require_limits (struct run *r, struct err *e)
{
    enum state_status status;
    int result = run_status (r, &status, e);

    if (result == 0 && (status == STATUS_STOPPED || status == STATUS_CREATING))
        result = err_set (e, ESRCH, "container not running");
    if (result == 0 && r->plan.cgroup.disabled)
        result = err_set (e, ENOTSUP, "the container has no cgroup, and so no limits to update");
    return result;
}

static int save (void *data, struct err *e)
{
    struct run *r = data;

    return state_write_config (&r->state, r->policy.config, e);
}

/* The config is replaced last: a command that is killed meanwhile leaves limits which the policy
 * gives, but nobody remembers. */
static int apply (struct run *r, const struct oci_linux *kept, struct err *e)
{
    const struct cgroup_update u = { .kept = kept ? kept->resources : NULL,
                                     .asked = r->update,
                                     .wanted = r->policy.config->linux_->resources,
                                     .commit = save,
                                     .data = r };
    int result = spec_check_limits (u.wanted, e);

    if (result == 0)
        result = cgroup_update (&r->cgroup, &u, e);
    return decide_limit_error (r, result, e);
}

static int update (struct run *r, const struct oci_linux_resources *asked, struct err *e)
{
    struct spec_update u;
    const struct oci_linux *kept;
    int result = require_limits (r, e);

    if (result == 0)
        result = run_read_config (r, e);
    if (result < 0)
        return result;
    kept = r->config->linux_;
    result = spec_update_make (r->config, asked, r->arena, &u, e);
    if (result < 0)
        return result;
    r->config = u.config;
    r->update = u.asked;
    if (run_decide (r, e) < 0 || run_decide_check (r, e) < 0)
        return -e->code;
    return apply (r, kept, e);
}

int container_update (const struct container_env *env, const struct container_update_options *o,
                      struct err *e)
{
    AUTO_ARENA a = { 0 };
    const struct oci_linux_resources *asked;
    struct run r;
    int result;

    run_init (&r, env, &a);
    result = read_asked (o, &a, &asked, e);
    if (result == 0)
        result = run_reopen (&r, o->id, STATE_LOCK, e);
    if (result == 0)
        result = update (&r, asked, e);
    if (result == 0)
        decide_note (&r);
    run_close (&r);
    return result;
}
