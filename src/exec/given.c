/*
 * The policy that a command goes by.
 */
#include "exec/run.h"
#include "policy/kept.h"
#include "policy/load.h"

int run_given_policy (struct run *r, struct err *e)
{
    const struct oci_policy *kept;

    if (r->create)
        return policy_load (r->env->policy, r->arena, &r->given_policy, e);
    if (state_read_policy (&r->state, r->arena, &kept, e) < 0)
        return -e->code;
    if (policy_from_kept (kept, r->saved.policy_digest, r->arena, &r->given_policy, e) < 0)
        return err_add (e, "container '%s'", r->saved.id);
    r->given_policy.file = r->saved.policy_file;
    return 0;
}
