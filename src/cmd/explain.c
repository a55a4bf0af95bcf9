/* explain: what a start of this bundle would do and why; needs no privilege and changes nothing. */
#include <fcntl.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "cmd/cmd.h"
#include "exec/facts.h"
#include "plan/build.h"
#include "plan/explain.h"
#include "policy/load.h"
#include "spec/spec.h"

struct explain_options {
    const char *bundle, *config;
    bool json;
};

#define AT(member) offsetof (struct explain_options, member)

static const struct opt explain_table[] = {
    { "bundle", 'b', OPT_TEXT, AT (bundle), "DIR", "the bundle (default: the current directory)" },
    { "config", 'f', OPT_TEXT, AT (config), "FILE", "read FILE instead of config.json" },
    { "json", 0, OPT_FLAG, AT (json), NULL, "one JSON document" },
    {},
};

/* The plan of a start by root without options on a host that lacks nothing: everywhere the same. */
static int make_plan (const struct call *c, const struct policy_result *policy, const char *bundle,
                      struct plan *ret, struct err *e)
{
    const struct plan_input in = {
        .id = "ID",
        .bundle = bundle,
        .config = policy->config,
        .controls = policy->controls,
        .no_cgroup = c->env.no_cgroup,
        .systemd_cgroup = c->env.systemd_cgroup,
        .new_keyring = true,
        .host = { .permitted = UINT64_MAX },
    };

    return plan_build (&in, c->arena, ret, e);
}

/* The config, and what GIVEN makes of it. The mount guard looks at the host as far as it can. */
static int decide (const struct call *c, int dir, const struct policy *given, const char *bundle,
                   struct policy_result *ret, struct err *e)
{
    const struct explain_options *o = c->options;
    struct policy_input in = { 0 };
    struct err ignored = { 0 };

    if (spec_load (o->config ? AT_FDCWD : dir, o->config ?: "config.json", c->arena, &in.config,
                   NULL, e) < 0)
        return -e->code;
    if (spec_check (in.config, e) < 0)
        return err_add (e, "config.json");
    if (facts_ids (given, &in, c->arena, e) < 0)
        return -e->code;
    (void)facts_guard (given, bundle, NULL, &in, c->arena, &ignored); /* explain says so, then */
    return policy_apply (given, &in, c->arena, ret, e);
}

static int explain (const struct call *c, const struct policy_result *policy, const char *bundle,
                    struct err *e)
{
    const struct explain_options *o = c->options;
    struct err refusal = { 0 };
    bool refused = policy_refusal (policy, &refusal) < 0;
    AUTO_STRBUF out = {};
    struct plan plan = {};

    if (!refused && make_plan (c, policy, bundle, &plan, e) < 0)
        return -e->code;
    if (explain_print (refused ? NULL : &plan, policy, o->json, &out, e) < 0 ||
        print_text (&out, e) < 0)
        return -e->code;
    if (refused)
        *e = refusal;
    return refused ? -e->code : 0;
}

static int run_explain (const struct call *c, struct err *e)
{
    const struct explain_options *o = c->options;
    struct policy_result policy;
    struct policy given;
    const char *bundle;
    AUTO_FD dir = fd_open (AT_FDCWD, o->bundle ?: ".", O_PATH | O_DIRECTORY, FD_HOST, e);

    if (dir < 0)
        return err_add (e, "bundle");
    if (policy_load (c->global->policy, c->arena, &given, e) < 0 ||
        facts_path (dir, c->arena, &bundle, e) < 0 ||
        decide (c, dir, &given, bundle, &policy, e) < 0)
        return -e->code;
    return explain (c, &policy, bundle, e);
}

const struct command cmd_explain = {
    .name = "explain",
    .summary = "Shows what a start of a bundle would do and why",
    .rule = { .tables = { explain_table }, .usage = "" },
    .options_size = sizeof (struct explain_options),
    .run = run_explain,
};
