#include "plan/explain.h"

#include <errno.h>

#include "plan/steps.h"

struct list {
    const char *name, *title;
    const struct step_text *steps;
    size_t n;
};

/* ---- for people ---- */
static void text_decision (const struct policy_decision *d, struct strbuf *out)
{
    bool has_change = d->action == POLICY_TIGHTENED || d->action == POLICY_ADDED;

    strbuf_addf (out, "  %-9s %-26s %s", policy_action_names[d->action], d->path,
                 d->before ?: "(absent)");
    if (has_change)
        strbuf_addf (out, " -> %s", d->after ?: "(absent)");
    strbuf_addf (out, "\n");
    if (d->rule)
        strbuf_addf (out, "            %s: %s\n", d->rule, d->reason);
}

static void text_list (const struct list *l, const struct plan *p, struct strbuf *out)
{
    size_t left_out = 0;
    size_t number = 0;

    strbuf_addf (out, "\n%s\n", l->title);
    for (size_t i = 0; i < l->n; i++) {
        const struct step_text *s = &l->steps[i];

        if (!s->wanted (p)) {
            left_out++;
            continue;
        }
        strbuf_addf (out, "  %2zu. %-17s %s\n", ++number, s->name, s->why);
        strbuf_addf (out, "      check: %s; undo: %s", s->check, s->undo);
        strbuf_addf (out, s->after[0] ? "; after: %s\n" : "%s\n", s->after);
    }
    strbuf_addf (out, "  (%zu rows are not needed for this bundle)\n", left_out);
}

static void text_all (const struct plan *p, const struct policy_result *d, const struct list *lists,
                      struct strbuf *out)
{
    strbuf_addf (out, "policy %s (%s), %s\n", d->policy->name, d->policy->file ?: "built in",
                 d->policy->digest ?: "without a digest");
    for (size_t i = 0; i < d->n_decisions; i++)
        text_decision (&d->decisions[i], out);
    if (!p) {
        strbuf_addf (out, "\nrefused: nothing is started\n");
        return;
    }
    text_list (&lists[0], p, out);
    text_list (&lists[1], p, out);
}

/* ---- for programs ---- */
static void json_field (struct strbuf *out, const char *name, const char *value, const char *end)
{
    strbuf_addf (out, "\"%s\": ", name);
    if (value)
        strbuf_add_json (out, value);
    else
        strbuf_adds (out, "null");
    strbuf_adds (out, end);
}

static void json_decisions (const struct policy_result *d, struct strbuf *out)
{
    for (size_t i = 0; i < d->n_decisions; i++) {
        const struct policy_decision *x = &d->decisions[i];

        strbuf_adds (out, i ? ",\n    { " : "\n    { ");
        json_field (out, "path", x->path, ", ");
        json_field (out, "action", policy_action_names[x->action], ", ");
        json_field (out, "before", x->before, ", ");
        json_field (out, "after", x->after, ", ");
        json_field (out, "rule", x->rule, ", ");
        json_field (out, "reason", x->reason, " }");
    }
}

static void json_list (const struct list *l, const struct plan *p, struct strbuf *out)
{
    strbuf_addf (out, ",\n  \"%s\": [", l->name);
    for (size_t i = 0; i < l->n; i++) {
        const struct step_text *s = &l->steps[i];

        strbuf_adds (out, i ? ",\n    { " : "\n    { ");
        json_field (out, "name", s->name, ", ");
        strbuf_addf (out, "\"wanted\": %s, ", s->wanted (p) ? "true" : "false");
        json_field (out, "after", s->after[0] ? s->after : NULL, ", ");
        json_field (out, "check", s->check, ", ");
        json_field (out, "undo", s->undo, ", ");
        json_field (out, "why", s->why, " }");
    }
    strbuf_adds (out, "\n  ]");
}

/* The policy as an object; its name, file and digest. */
static void json_policy (const struct policy *p, struct strbuf *out)
{
    strbuf_adds (out, "\"policy\": { ");
    json_field (out, "name", p->name, ", ");
    json_field (out, "file", p->file, ", ");
    json_field (out, "digest", p->digest, " },\n  ");
}

static void json_all (const struct plan *p, const struct policy_result *d, const struct list *lists,
                      struct strbuf *out)
{
    strbuf_adds (out, "{\n  \"version\": 2,\n  ");
    json_policy (d->policy, out);
    strbuf_addf (out, "\"refused\": %s,\n  \"decisions\": [", p ? "false" : "true");
    json_decisions (d, out);
    strbuf_adds (out, "\n  ]");
    for (size_t i = 0; p && i < 2; i++)
        json_list (&lists[i], p, out);
    strbuf_adds (out, "\n}\n");
}

int explain_print (const struct plan *p, const struct policy_result *d, bool json,
                   struct strbuf *out, struct err *e)
{
    const struct list lists[] = {
        { "parent", "runtime, in the host's namespaces:", parent_step_texts, n_parent_steps },
        { "child", "container, from clone3 to execve:", child_step_texts, n_child_steps },
    };

    if (json)
        json_all (p, d, lists, out);
    else
        text_all (p, d, lists, out);
    return out->failed ? err_oom (e) : 0;
}
