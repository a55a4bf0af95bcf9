#include "policy/apply.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "policy/draft.h"
#include "policy/rules.h"

const char *const policy_action_names[] = {
    [POLICY_KEPT] = "kept",
    [POLICY_TIGHTENED] = "tightened",
    [POLICY_ADDED] = "added",
    [POLICY_REFUSED] = "refused",
};

#define POLICY_RULE(name, scope, governs, function, why)                                           \
    { name, POLICY_##scope, governs, rule_##function, why },
const struct policy_rule policy_rules[] = {
#include "policy/rules.def"
};
#undef POLICY_RULE
const size_t n_policy_rules = ARRAY_LEN (policy_rules);

bool policy_is_in_scope (enum policy_scope scope, const struct policy_input *in)
{
    if (in->update)
        return scope == POLICY_LIMITS;
    if (in->adds_mounts)
        return scope == POLICY_MOUNTS;
    if (in->process)
        return scope == POLICY_PROCESS || scope == POLICY_EXEC;
    return scope != POLICY_EXEC;
}

static int run_rules (struct draft *d, const struct policy_rule *rules, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        d->rule = &rules[i];
        if (policy_is_in_scope (rules[i].scope, d->in) && rules[i].apply (d) < 0)
            return -d->e->code;
    }
    d->rule = NULL;
    return draft_note_kept (d);
}

/* What rules left as it was is the given config itself: nobody has to compare it. */
static bool is_changed (const struct draft *d)
{
    for (size_t i = 0; i < d->n_decisions; i++)
        if (d->decisions[i].action != POLICY_KEPT)
            return true;
    return false;
}

int policy_apply_rules (const struct policy *policy, const struct policy_input *in,
                        const struct policy_rule *rules, size_t n, struct arena *a,
                        struct policy_result *ret, struct err *e)
{
    struct draft *d = arena_alloc (a, sizeof *d);
    bool changed;

    if (!d)
        return err_oom (e);
    *d = (struct draft){ .a = a, .policy = policy, .facts = &in->facts, .in = in, .e = e };
    if (draft_begin (d) < 0 || draft_take_requests (d) < 0 || run_rules (d, rules, n) < 0)
        return -e->code;
    changed = is_changed (d);
    *ret = (struct policy_result){ .policy = policy,
                                   .config = changed && !in->process ? &d->config : in->config,
                                   .process = in->process ? &d->process : d->config.process,
                                   .controls = d->controls,
                                   .decisions = d->decisions,
                                   .n_decisions = d->n_decisions };
    return 0;
}

int policy_apply (const struct policy *policy, const struct policy_input *in, struct arena *a,
                  struct policy_result *ret, struct err *e)
{
    return policy_apply_rules (policy, in, policy_rules, n_policy_rules, a, ret, e);
}

/* ---- what came of it ---- */
static int refuse (const struct policy *p, const struct policy_decision *x, struct err *e)
{
    const char *file = p->file ?: "built in";

    if (x->after)
        return err_set (e, EPERM,
                        "%s: refused by rule '%s' of policy '%s' (%s): '%.120s' is asked for where "
                        "it gives '%.120s'",
                        x->path, x->rule, p->name, file, x->before ?: "(nothing)", x->after);
    return err_set (e, EPERM, "%s%s%.120s%s: refused by rule '%s' of policy '%s' (%s): %s", x->path,
                    x->before ? " (" : "", x->before ?: "", x->before ? ")" : "", x->rule, p->name,
                    file, x->reason);
}

int policy_refusal (const struct policy_result *result, struct err *e)
{
    for (size_t i = 0; i < result->n_decisions; i++)
        if (result->decisions[i].action == POLICY_REFUSED)
            return refuse (result->policy, &result->decisions[i], e);
    return 0;
}

/* PATH is TOP, or below it. */
static bool is_below (const char *path, const char *top)
{
    size_t n = strlen (top);

    return strncmp (path, top, n) == 0 && (path[n] == '\0' || path[n] == '/' || path[n] == '[');
}

/* Arrays differ as a whole, decisions are about their elements. */
static bool is_decided (const struct policy_result *result, const char *path)
{
    for (size_t i = 0; i < result->n_decisions; i++) {
        const struct policy_decision *x = &result->decisions[i];

        if (x->action != POLICY_KEPT && (is_below (path, x->path) || is_below (x->path, path)))
            return true;
    }
    return false;
}

static int check_differences (const struct policy_result *result, const char *above,
                              const struct oci_difference *found, size_t n, struct err *e)
{
    char path[512];

    for (size_t i = 0; i < n; i++) {
        (void)snprintf (path, sizeof path, "%s%s", above, found[i].path);
        if (!is_decided (result, path))
            return err_set (e, EINVAL, "%s: policy '%s' changed it without a reason", path,
                            result->policy->name);
    }
    return 0;
}

int policy_check (const struct policy_input *in, const struct policy_result *result, struct err *e)
{
    AUTO_ARENA a = { 0 };
    const struct oci_difference *found;
    size_t n;
    int r = in->process
                ? oci_diff (&oci_process_type, in->process, result->process, &a, &found, &n, e)
                : oci_diff (&oci_config_type, in->config, result->config, &a, &found, &n, e);

    return r < 0 ? r : check_differences (result, in->process ? "/process" : "", found, n, e);
}

const char *policy_rule_of (const struct policy_result *result, const char *path)
{
    for (size_t i = 0; i < result->n_decisions; i++)
        if (result->decisions[i].rule && is_below (path, result->decisions[i].path))
            return result->decisions[i].rule;
    return NULL;
}

const char *policy_rule_under (const struct policy_result *result, const char *path)
{
    for (size_t i = 0; i < result->n_decisions; i++)
        if (result->decisions[i].action != POLICY_KEPT &&
            is_below (result->decisions[i].path, path))
            return result->decisions[i].rule;
    return NULL;
}
