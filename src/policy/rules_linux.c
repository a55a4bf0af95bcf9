/*
 * Rules of isolation: namespaces, network, sysctls, paths, the filter.
 */
#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "policy/rules.h"
#include "spec/spec.h"
#include "spec/sysctl.h"

/* ---- namespaces ---- */
struct oci_namespace *rules_namespace (struct draft *d, int kind)
{
    for (size_t i = 0; i < d->linux_.n_namespaces; i++)
        if (d->namespaces[i].type == kind)
            return &d->namespaces[i];
    return NULL;
}

bool rules_is_joined (const struct oci_namespace *ns)
{
    return ns && ns->path && ns->path[0];
}

bool rules_owns (const struct draft *d, int kind)
{
    if (kind == OCI_NS_NETWORK && d->doc.network == OCI_NETWORK_NONE)
        return true;
    for (size_t i = 0; i < d->doc.namespaces->n_own; i++)
        if (d->doc.namespaces->own[i] == kind)
            return true;
    return false;
}

static const char *namespace_path (const struct draft *d, const struct oci_namespace *ns)
{
    return arena_printf (d->a, "/linux/namespaces[%td]", ns - d->namespaces);
}

/* A kind that is not listed is the host's, so saying nothing is asking for it; only for cgroup
 * namespaces engines do not know better (cgroup v1). */
int rules_add_namespace (struct draft *d, int kind)
{
    struct oci_namespace *ns = rules_namespace (d, kind);
    struct oci_linux *l = draft_linux (d);
    struct policy_decision x = { .action = kind == OCI_NS_CGROUP && !ns ? POLICY_ADDED
                                                                        : POLICY_TIGHTENED };

    if (ns && !rules_is_joined (ns))
        return 0;
    x.before = arena_printf (d->a, "%s: %s", oci_enum_name (&oci_namespace_enum, kind),
                             ns ? ns->path : "the host's");
    x.after = arena_printf (d->a, "%s: a new one", oci_enum_name (&oci_namespace_enum, kind));
    if (!ns) {
        ns = &d->namespaces[l->n_namespaces++];
        ns->type = kind;
    }
    ns->path = NULL;
    l->namespaces = d->namespaces;
    x.path = namespace_path (d, ns);
    return x.before && x.after ? draft_note (d, &x) : err_oom (d->e);
}

/* Not the host's; what is joined is up to rule_namespace_join. */
static int own_namespace (struct draft *d, int kind)
{
    return rules_owns (d, kind) && !rules_namespace (d, kind) ? rules_add_namespace (d, kind) : 0;
}

#define NAMESPACE_RULE(name, kind)                                                                 \
    int rule_namespace_##name (struct draft *d)                                                    \
    {                                                                                              \
        return own_namespace (d, kind);                                                            \
    }
NAMESPACE_RULE (pid, OCI_NS_PID)
NAMESPACE_RULE (mount, OCI_NS_MOUNT)
NAMESPACE_RULE (ipc, OCI_NS_IPC)
NAMESPACE_RULE (uts, OCI_NS_UTS)
NAMESPACE_RULE (cgroup, OCI_NS_CGROUP)
NAMESPACE_RULE (network, OCI_NS_NETWORK)

/* ---- joining ---- */
static int join_unknown (struct draft *d, const struct oci_namespace *ns)
{
    return draft_note (d, &(struct policy_decision){
                              .path = namespace_path (d, ns),
                              .action = POLICY_KEPT,
                              .before = ns->path,
                              .reason = "the host was not looked at: a start joins it if it is of "
                                        "a container of the same pod, else the container gets "
                                        "one of its own" });
}

/* The namespace that the container of the pod is really in: an own network may have taken the place
 * of the one that the engine knows. */
static int join_pod (struct draft *d, struct oci_namespace *ns, const struct policy_join *j)
{
    struct policy_decision x = { .path = namespace_path (d, ns),
                                 .action = POLICY_TIGHTENED,
                                 .before = ns->path,
                                 .after = j->path };

    if (!j->path || strcmp (j->path, ns->path) == 0)
        return 0;
    x.reason = arena_printf (d->a, "where container '%s' of the pod is", j->container);
    ns->path = j->path;
    draft_linux (d)->namespaces = d->namespaces;
    return x.reason ? draft_note (d, &x) : err_oom (d->e);
}

/* A user namespace cannot be replaced by a new one: what ids mean would change. A network that the
 * engine made is rule_network's. */
static int join_stranger (struct draft *d, struct oci_namespace *ns)
{
    if (ns->type == OCI_NS_NETWORK)
        return 0;
    if (ns->type == OCI_NS_USER)
        return draft_refuse (d, namespace_path (d, ns), ns->path,
                             "a user namespace that is no container's of the same pod");
    return rules_add_namespace (d, ns->type);
}

static bool is_of_pod (const struct draft *d, size_t i)
{
    return d->doc.namespaces->join == OCI_JOIN_POD && d->facts->joins &&
           i < d->in->config->linux_->n_namespaces && d->facts->joins[i].whose == JOIN_POD;
}

static int join_one (struct draft *d, size_t i)
{
    struct oci_namespace *ns = &d->namespaces[i];

    if (!rules_is_joined (ns))
        return 0;
    if (d->doc.namespaces->join == OCI_JOIN_POD && !d->facts->joins && !d->facts->known)
        return join_unknown (d, ns);
    return is_of_pod (d, i) ? join_pod (d, ns, &d->facts->joins[i]) : join_stranger (d, ns);
}

int rule_namespace_join (struct draft *d)
{
    if (d->doc.namespaces->join == OCI_JOIN_ANY)
        return 0;
    for (size_t i = 0; i < d->linux_.n_namespaces; i++)
        if (join_one (d, i) < 0)
            return -d->e->code;
    return 0;
}

/* ---- network ---- */

/* The config keeps the namespace that the engine prepared or will fill by its hooks: they must find
 * it. A new one takes its place before anything of the container runs. */
int rule_network (struct draft *d)
{
    const struct oci_namespace *ns = rules_namespace (d, OCI_NS_NETWORK);
    struct policy_decision x = { .action = POLICY_TIGHTENED, .after = "only lo" };

    if (d->doc.network != OCI_NETWORK_NONE || !ns || is_of_pod (d, (size_t)(ns - d->namespaces)) ||
        !draft_had_namespace (d, OCI_NS_NETWORK))
        return 0;
    x.path = namespace_path (d, ns);
    x.before = rules_is_joined (ns) ? ns->path : "a new one, for the engine to fill";
    x.action = rules_is_joined (ns) ? POLICY_TIGHTENED : POLICY_ADDED;
    d->controls.own_network = true;
    return draft_note (d, &x);
}

static const char *device_names (const struct draft *d)
{
    AUTO_STRBUF b = { 0 };

    for (size_t i = 0; i < d->linux_.n_net_devices; i++)
        strbuf_addf (&b, i ? " %s" : "%s", d->linux_.net_devices[i].key);
    return b.failed ? NULL : arena_strdup (d->a, b.len ? b.s : "(none)");
}

int rule_net_devices (struct draft *d)
{
    struct policy_decision x = { .path = "/linux/netDevices", .action = POLICY_TIGHTENED };

    if (d->doc.network != OCI_NETWORK_NONE || !d->linux_.net_devices)
        return 0;
    x.before = device_names (d);
    d->linux_.net_devices = NULL;
    d->linux_.n_net_devices = 0;
    return x.before ? draft_note (d, &x) : err_oom (d->e);
}

/* ---- sysctl ---- */
static bool is_own (struct draft *d, int kind)
{
    const struct oci_namespace *ns = rules_namespace (d, kind);

    return ns && (!rules_is_joined (ns) || (kind == OCI_NS_NETWORK && d->controls.own_network));
}

static int check_sysctl (struct draft *d, const struct oci_kv *kv)
{
    int kind = sysctl_namespace (kv->key);
    const char *path = arena_printf (d->a, "/linux/sysctl/%s", kv->key);

    if (kind >= 0 && is_own (d, kind))
        return 0;
    if (kind < 0)
        return draft_refuse (d, path, kv->value, "it belongs to no namespace");
    return draft_refuse (d, path, kv->value,
                         arena_printf (d->a, "the %s namespace is not the container's own",
                                       oci_enum_name (&oci_namespace_enum, kind)));
}

int rule_sysctls (struct draft *d)
{
    if (d->doc.sysctl != OCI_SYSCTL_OWN)
        return 0;
    for (size_t i = 0; i < d->linux_.n_sysctl; i++)
        if (check_sysctl (d, &d->linux_.sysctl[i]) < 0)
            return -d->e->code;
    return 0;
}

/* ---- seccomp ---- */
static const char *filter_text (const struct draft *d)
{
    const struct oci_linux_seccomp *s = d->linux_.seccomp;

    if (!s)
        return NULL;
    return arena_printf (d->a, "default %s, %zu rules",
                         oci_enum_name (&oci_seccomp_action_enum, s->default_action),
                         s->n_syscalls);
}

int rule_seccomp (struct draft *d)
{
    struct policy_decision x = { .path = "/linux/seccomp", .action = POLICY_ADDED };

    if (d->doc.seccomp != OCI_SECCOMP_STRICT)
        return 0;
    x.before = filter_text (d);
    x.after =
        x.before ? arena_printf (d->a, "%s, and agentrt's filter", x.before) : "agentrt's filter";
    d->controls.seccomp_floor = true;
    return (x.before || !d->linux_.seccomp) && x.after ? draft_note (d, &x) : err_oom (d->e);
}

/* A socket of the host's, and more: its answer to a call can be a descriptor, or an effect of its
 * own. Without it the calls would fail, which is not what the profile means: so neither. */
int rule_seccomp_listener (struct draft *d)
{
    const struct oci_linux_seccomp *s = d->linux_.seccomp;

    if (d->doc.seccomp != OCI_SECCOMP_STRICT || !s || !spec_seccomp_notifies (s))
        return 0;
    return draft_refuse (d, "/linux/seccomp/listenerPath", s->listener_path,
                         "its rules with SCMP_ACT_NOTIFY let someone outside act for the "
                         "container");
}

int rule_seccomp_flags (struct draft *d)
{
    struct policy_decision x = { .path = "/linux/seccomp/flags", .action = POLICY_TIGHTENED };
    struct oci_linux_seccomp *s = &d->seccomp;
    int *flags = arena_calloc (d->a, s->n_flags + 1, sizeof *flags);
    size_t n = 0;

    if (!flags)
        return err_oom (d->e);
    for (size_t i = 0; i < s->n_flags; i++)
        if (s->flags[i] != OCI_SECCOMP_SPEC_ALLOW)
            flags[n++] = s->flags[i];
    if (d->doc.seccomp != OCI_SECCOMP_STRICT || n == s->n_flags)
        return 0;
    x.before = oci_enum_name (&oci_seccomp_flag_enum, OCI_SECCOMP_SPEC_ALLOW);
    s->flags = flags;
    s->n_flags = n;
    return draft_note (d, &x);
}

/* ---- paths ---- */
int rule_masked_paths (struct draft *d)
{
    struct oci_linux *l = &d->linux_;
    const struct draft_list list = { "/linux/maskedPaths", &l->masked_paths, &l->n_masked_paths };

    if (d->doc.paths->n_masked == 0)
        return 0;
    (void)draft_linux (d);
    return draft_add_strings (d, &list, d->doc.paths->masked, d->doc.paths->n_masked);
}

int rule_readonly_paths (struct draft *d)
{
    struct oci_linux *l = &d->linux_;
    const struct draft_list list = { "/linux/readonlyPaths", &l->readonly_paths,
                                     &l->n_readonly_paths };

    if (d->doc.paths->n_readonly == 0)
        return 0;
    (void)draft_linux (d);
    return draft_add_strings (d, &list, d->doc.paths->readonly, d->doc.paths->n_readonly);
}
