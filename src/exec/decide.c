/*
 * The policy of a container: loaded, given the facts that it needs, applied, told.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "base/str.h"
#include "exec/facts.h"
#include "exec/run.h"
#include "exec/subid.h"
#include "spec/spec.h"

/* ---- facts ---- */

/* C with its root as one more bind behind its mounts: the guard looks at that as well. */
static const struct oci_config *with_root (const struct oci_config *c, struct arena *a)
{
    static const char *const options[] = { "rbind", NULL };
    struct oci_config *out = arena_alloc (a, sizeof *out);
    struct oci_mount *mounts = arena_calloc (a, c->n_mounts + 1, sizeof *mounts);

    if (!out || !mounts || !c->root)
        return c->root ? NULL : c;
    if (c->n_mounts > 0)
        memcpy (mounts, c->mounts, c->n_mounts * sizeof *mounts);
    mounts[c->n_mounts] = (struct oci_mount){ .destination = "/root-of-the-container",
                                              .source = c->root->path,
                                              .options = options,
                                              .n_options = ARRAY_LEN (options) - 1 };
    *out = *c;
    out->mounts = mounts;
    out->n_mounts = c->n_mounts + 1;
    return out;
}

int facts_guard (const struct policy *policy, const char *bundle, const char *state_root,
                 struct policy_input *in, struct arena *a, struct err *e)
{
    const char **own = arena_calloc (a, 3, sizeof *own);
    struct guard_findings *found = arena_alloc (a, sizeof *found);
    struct guard_request rq = { .config = with_root (in->config, a),
                                .bundle = bundle,
                                .accept = policy->doc->mounts->accept,
                                .own = own };
    size_t n = 0;

    if (!policy->doc->mounts->guard)
        return 0;
    if (!own || !found || !rq.config)
        return err_oom (e);
    if (state_root)
        own[n++] = state_root;
    if (policy->file)
        own[n++] = policy->file;
    if (guard_look (&rq, a, found, e) < 0)
        return -e->code;
    in->facts.guard = found;
    return 0;
}

/* Whose the namespaces are that the config joins. The root may not be there yet. */
static int look_at_pod (struct run *r, struct policy_input *in, struct err *e)
{
    const struct oci_policy *doc = r->given_policy.doc;
    AUTO_FD root = -1;
    struct pod_query q = { .config = r->config,
                           .policy = &r->given_policy,
                           .without_network = doc->network == OCI_NETWORK_NONE };

    if (doc->namespaces->join != OCI_JOIN_POD)
        return 0;
    if (state_open_root (r->env->root, false, &root, e) < 0)
        return -e->code;
    q.root = root;
    if (pod_look (&q, r->arena, &r->pod, e) < 0)
        return -e->code;
    in->facts.joins = r->pod.joins;
    return 0;
}

static bool maps_host_root (const struct oci_id_mapping *maps, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (maps[i].host_id == 0)
            return true;
    return false;
}

/* The engine has made a user namespace of its own, whose ids stay. */
static bool has_userns (const struct oci_linux *l)
{
    for (size_t i = 0; l && i < l->n_namespaces; i++)
        if (l->namespaces[i].type == OCI_NS_USER)
            return !maps_host_root (l->uid_mappings, l->n_uid_mappings) &&
                   !maps_host_root (l->gid_mappings, l->n_gid_mappings);
    return false;
}

static int look_for_ids (struct run *r, struct policy_input *in, struct err *e)
{
    struct oci_id_mapping *maps = arena_calloc (r->arena, 2, sizeof *maps);
    struct subid ids;
    const char *state = arena_printf (r->arena, "%s/%s", r->env->root, r->create->id);

    if (r->given_policy.doc->identity != OCI_IDENTITY_USERNS || has_userns (r->config->linux_))
        return 0;
    if (!maps || !state)
        return err_oom (e);
    if (subid_choose (state, r->arena, &ids, &r->ids_lock, e) < 0)
        return -e->code;
    maps[0] = (struct oci_id_mapping){ .host_id = ids.uid, .size = SUBID_SIZE };
    maps[1] = (struct oci_id_mapping){ .host_id = ids.gid, .size = SUBID_SIZE };
    in->facts.uid_map = &maps[0];
    in->facts.gid_map = &maps[1];
    in->facts.n_uid_map = in->facts.n_gid_map = 1;
    return 0;
}

int facts_ids (const struct policy *policy, struct policy_input *in, struct arena *a, struct err *e)
{
    static const struct oci_id_mapping any = { .host_id = 1, .size = SUBID_SIZE };
    struct err none = { 0 };
    struct policy_facts *f = &in->facts;

    if (policy->doc->identity != OCI_IDENTITY_USERNS)
        return 0;
    f->uid_map = f->gid_map = &any;
    f->n_uid_map = f->n_gid_map = 1;
    f->ids_note =
        subid_look (a, &none) == 0
            ? "a start takes a range that no other container has"
            : arena_printf (a, "this host has no range for it, so a start fails: %s", none.msg);
    return f->ids_note ? 0 : err_oom (e);
}

/* A path that cannot be located is no reason here: the start itself says why. A unit lies in slices
 * alone, which hold no process. */
static int look_at_cgroup (const struct run *r, struct policy_input *in, struct err *e)
{
    const struct oci_linux *l = r->config->linux_;
    const struct plan_cgroup pc = { .path = l ? l->cgroups_path : NULL, .given = true };
    struct cgroup cg = { 0 };

    if (r->given_policy.doc->cgroup == OCI_CGROUP_ENGINE || r->env->no_cgroup ||
        r->env->systemd_cgroup || !pc.path || !pc.path[0] ||
        cgroup_locate (&pc, r->arena, &cg, e) < 0)
        return 0;
    return cgroup_outer (&cg, r->procfs, r->arena, &in->facts.outer_cgroup, e);
}

static int look (struct run *r, struct policy_input *in, struct err *e)
{
    struct rlimit nofile;
    const char *bundle;

    in->facts.known = true;
    if (getrlimit (RLIMIT_NOFILE, &nofile) < 0)
        return err_sys (e, "read the limit of open files");
    in->facts.nofile_hard = nofile.rlim_max;
    if (run_need_procfs (r, e) < 0 || oom_own (r->procfs, &in->facts.oom_score_adj, e) < 0)
        return -e->code;
    if (r->exec || r->update) /* its mounts were judged when they were made */
        return 0;
    if (look_at_pod (r, in, e) < 0 || look_for_ids (r, in, e) < 0 ||
        look_at_cgroup (r, in, e) < 0 || facts_path (r->bundle_dir, r->arena, &bundle, e) < 0)
        return -e->code;
    return facts_guard (&r->given_policy, bundle, r->env->root, in, r->arena, e);
}

/* Without a cgroup there are no limits, so nothing may be limited. */
static int require_cgroup (const struct run *r, struct err *e)
{
    const char *rule = policy_rule_under (&r->policy, "/linux/resources");

    if (!rule)
        return 0;
    return err_set (e, ENOTSUP,
                    "control '%s' of policy '%s' cannot be enforced on this host: there are no "
                    "cgroups with --cgroup-manager disabled (podman: --cgroups=disabled)",
                    rule, r->policy.policy->name);
}

static struct policy_input given (const struct run *r)
{
    return (struct policy_input){ .config = r->config,
                                  .process = r->exec ? r->process : NULL,
                                  .update = r->update };
}

/* exec and update obey the policy that the container was made under. */
int run_decide (struct run *r, struct err *e)
{
    struct policy_input in = given (r);
    int result = run_given_policy (r, e);

    if (result == 0)
        result = look (r, &in, e);
    r->guard = in.facts.guard;
    if (result == 0)
        result = policy_apply (&r->given_policy, &in, r->arena, &r->policy, e);
    if (result == 0)
        result = policy_refusal (&r->policy, e);
    return result == 0 && r->create && r->env->no_cgroup ? require_cgroup (r, e) : result;
}

int run_decide_mounts (struct run *r, const struct oci_mount *mounts, size_t n, struct err *e)
{
    struct oci_config *c = arena_alloc (r->arena, sizeof *c);
    struct policy_input in = { .config = c, .adds_mounts = true, .facts.known = true };
    int result = c ? run_given_policy (r, e) : err_oom (e);

    if (result < 0)
        return result;
    *c = *r->config;
    c->mounts = mounts;
    c->n_mounts = n;
    result = spec_check (c, e);
    if (result == 0)
        result = facts_guard (&r->given_policy, r->saved.bundle, r->env->root, &in, r->arena, e);
    r->guard = in.facts.guard;
    if (result == 0)
        result = policy_apply (&r->given_policy, &in, r->arena, &r->policy, e);
    if (result == 0)
        result = policy_refusal (&r->policy, e);
    return result < 0 ? result : policy_check (&in, &r->policy, e);
}

int run_decide_check (struct run *r, struct err *e)
{
    const struct policy_input in = given (r);

    return policy_check (&in, &r->policy, e);
}

/* ---- what was done ---- */
#define RESULT_POLICY    "io.agentrt.policy"
#define RESULT_DIGEST    "io.agentrt.policy.digest"
#define RESULT_TIGHTENED "io.agentrt.tightened"
#define TIGHTENED_MAX    480 /* engines carry annotations about */

static bool is_change (const struct policy_decision *x)
{
    return x->action == POLICY_TIGHTENED || x->action == POLICY_ADDED;
}

static bool is_told (const struct policy_result *p, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (is_change (&p->decisions[k]) &&
            strcmp (p->decisions[k].rule, p->decisions[i].rule) == 0)
            return true;
    return false;
}

/* The rules that changed something, each once; cut off with "..." when they are many. */
static void list_rules (const struct policy_result *p, struct strbuf *out)
{
    for (size_t i = 0; i < p->n_decisions && out->len <= TIGHTENED_MAX; i++) {
        if (!is_change (&p->decisions[i]) || is_told (p, i))
            continue;
        strbuf_addf (out, "%s%s", out->len ? " " : "",
                     out->len < TIGHTENED_MAX ? p->decisions[i].rule : "...");
    }
}

/* The config's own, but for those that only we may say. */
static size_t copy_annotations (const struct oci_config *c, struct oci_kv *to)
{
    static const char *const results[] = { RESULT_POLICY, RESULT_DIGEST, RESULT_TIGHTENED, NULL };
    size_t n = 0;

    for (size_t i = 0; i < c->n_annotations; i++)
        if (!str_is_in (c->annotations[i].key, results))
            to[n++] = c->annotations[i];
    return n;
}

int facts_annotations (const struct run *r, struct oci_saved_state *ret, struct err *e)
{
    const struct oci_config *c = r->policy.config;
    struct oci_kv *kv = arena_calloc (r->arena, c->n_annotations + 3, sizeof *kv);
    AUTO_STRBUF rules = { 0 };
    size_t n;

    if (!kv)
        return err_oom (e);
    n = copy_annotations (c, kv);
    kv[n++] = (struct oci_kv){ RESULT_POLICY, r->given_policy.name };
    kv[n++] = (struct oci_kv){ RESULT_DIGEST, r->given_policy.digest };
    list_rules (&r->policy, &rules);
    if (rules.len > 0)
        kv[n++] = (struct oci_kv){ RESULT_TIGHTENED, arena_strdup (r->arena, rules.s) };
    ret->annotations = kv;
    ret->n_annotations = n;
    return rules.failed || !kv[n - 1].value ? err_oom (e) : 0;
}

void decide_note (const struct run *r)
{
    AUTO_STRBUF text = { 0 };
    AUTO_STRBUF rules = { 0 };

    list_rules (&r->policy, &rules);
    if (!rules.len || !r->env->record)
        return;
    strbuf_addf (&text, "policy '%s' (%s) changed what the %s asks for: %s%s",
                 r->policy.policy->name, r->policy.policy->file ?: "built in",
                 r->update ? "update" : "config", rules.s, r->update ? "" : " (see explain)");
    if (!rules.failed && !text.failed)
        r->env->record (text.s);
}

/* ---- what the host cannot do ---- */

int decide_limit_error (const struct run *r, int result, struct err *e)
{
    char path[128];
    const char *rule;

    if (result == 0)
        return 0;
    (void)snprintf (path, sizeof path, "%.*s", (int)strcspn (e->msg, ": "), e->msg);
    rule = policy_rule_of (&r->policy, path);
    if (!rule)
        return result;
    return err_add (e, "control '%s' of policy '%s' cannot be enforced on this host", rule,
                    r->policy.policy->name);
}
