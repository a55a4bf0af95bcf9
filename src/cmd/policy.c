/* policy: shows a policy, or holds a file against all that a policy file must be. */
#include <errno.h>
#include <string.h>

#include "cmd/cmd.h"
#include "policy/builtin.h"
#include "policy/compare.h"
#include "policy/load.h"

/* ---- show ---- */
static int print_policy (const struct policy *p, struct err *e)
{
    const struct oci_policy_shown shown = { .source = p->file ?: "built in",
                                            .digest = p->digest,
                                            .policy = p->doc };
    AUTO_STRBUF out = {};

    if (oci_emit (&oci_policy_shown_type, &shown, OCI_PRETTY, &out, e) < 0)
        return -e->code;
    return print_text (&out, e);
}

static int show (const struct call *c, struct err *e)
{
    const char *wanted = c->n_operands > 1 ? c->operands[1] : c->global->policy;
    struct policy p;
    int r = policy_load (wanted, c->arena, &p, e);

    return r < 0 ? r : print_policy (&p, e);
}

/* ---- check ---- */

/* As much of a value as a line has room for; `show` has all of it. */
#define VALUE_MAX 40

static void add_value (const char *value, struct strbuf *out)
{
    const char *text = value ?: "nothing";

    strbuf_addf (out, "%.*s%s", VALUE_MAX, text, strlen (text) > VALUE_MAX ? "..." : "");
}

static void add_change (const struct policy_change *x, struct strbuf *out)
{
    strbuf_addf (out, "  %-8s %-24s ", policy_direction_names[x->direction], x->path);
    add_value (x->before, out);
    strbuf_adds (out, " -> ");
    add_value (x->after, out);
    strbuf_adds (out, "\n");
}

static int text_changes (const struct policy *p, struct arena *a, struct strbuf *out, struct err *e)
{
    const struct policy_change *changes;
    struct policy strict;
    size_t n;

    if (policy_from_builtin ("strict", a, &strict, e) < 0 ||
        policy_compare (strict.doc, p->doc, a, &changes, &n, e) < 0)
        return -e->code;
    strbuf_addf (out, "policy %s, from %s\n%s\n", p->name, p->file ?: "agentrt", p->digest);
    if (n == 0)
        strbuf_adds (out, "the same as strict\n");
    for (const struct policy_change *x = changes; x < changes + n; x++)
        add_change (x, out);
    return 0;
}

/* A name without a '/' is a file of the current folder here: nothing else can be meant. */
static int check (const struct call *c, struct err *e)
{
    const char *file = c->n_operands > 1 ? c->operands[1] : POLICY_FILE;
    AUTO_STRBUF out = {};
    struct policy p;

    if (policy_load_file (file, c->arena, &p, e) < 0 || text_changes (&p, c->arena, &out, e) < 0)
        return -e->code;
    return print_text (&out, e);
}

static int run_policy (const struct call *c, struct err *e)
{
    static const struct {
        const char *name;
        int (*run) (const struct call *c, struct err *e);
    } acts[] = { { "show", show }, { "check", check } };

    for (size_t i = 0; i < sizeof acts / sizeof acts[0]; i++)
        if (strcmp (c->operands[0], acts[i].name) == 0)
            return acts[i].run (c, e);
    return err_set (e, EINVAL, "policy: '%s' is neither show nor check (see policy --help)",
                    c->operands[0]);
}

const struct command cmd_policy = {
    .name = "policy",
    .summary = "Shows a policy, or checks a policy file",
    .rule = { .usage = "show [NAME|FILE] | check [FILE]", .min = 1, .max = 2 },
    .run = run_policy,
};
