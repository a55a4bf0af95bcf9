/*
 * Rules of the process: of the container's own, and of those that exec adds.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/cleanup.h"
#include "policy/rules.h"

#define NICE_LIMIT_OF_0 20 /* RLIMIT_NICE 20 - N lets nice go down to N (setrlimit(2)) */

/* ---- identity ---- */
static uint32_t uid_of (const struct draft *d)
{
    return d->process.user ? d->process.user->uid : 0;
}

static int refuse_root (struct draft *d)
{
    if (uid_of (d) != 0)
        return 0;
    return draft_refuse (d, "/process/user/uid", d->process.user ? "0" : NULL,
                         "uid 0 is refused: name a user (docker: --user; an image: USER)");
}

static bool maps_host_root (const struct oci_id_mapping *maps, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (maps[i].host_id == 0)
            return true;
    return n == 0;
}

/* A new one, or one that the rules of joining have passed, in which host's root has no id. */
static bool has_own_userns (struct draft *d)
{
    const struct oci_linux *l = &d->linux_;
    const struct oci_namespace *ns = rules_namespace (d, OCI_NS_USER);

    if (!ns)
        return false;
    return rules_is_joined (ns) || (!maps_host_root (l->uid_mappings, l->n_uid_mappings) &&
                                    !maps_host_root (l->gid_mappings, l->n_gid_mappings));
}

static const char *maps_text (struct arena *a, const struct oci_id_mapping *maps, size_t n)
{
    AUTO_STRBUF b = { 0 };

    for (size_t i = 0; i < n; i++)
        strbuf_addf (&b, "%s%" PRIu32 " to %" PRIu32 " (%" PRIu32 ")", i ? ", " : "",
                     maps[i].container_id, maps[i].host_id, maps[i].size);
    return b.failed ? NULL : arena_strdup (a, b.len ? b.s : "(none)");
}

static int note_maps (struct draft *d, const char *path, const struct oci_id_mapping *before,
                      size_t n_before)
{
    bool is_uid = strcmp (path, "/linux/uidMappings") == 0;
    const struct policy_facts *f = d->facts;
    struct policy_decision x = { .path = path, .action = before ? POLICY_TIGHTENED : POLICY_ADDED };

    x.before = before ? maps_text (d->a, before, n_before) : NULL;
    x.reason = f->ids_note;
    if (f->ids_note)
        x.after = "0 to a range of the container's own (65536)";
    else
        x.after = is_uid ? maps_text (d->a, f->uid_map, f->n_uid_map)
                         : maps_text (d->a, f->gid_map, f->n_gid_map);
    return x.after && (!before || x.before) ? draft_note (d, &x) : err_oom (d->e);
}

static int own_range (struct draft *d)
{
    const struct oci_linux before = d->linux_;
    const struct policy_facts *f = d->facts;
    struct oci_linux *l = draft_linux (d);

    if (f->n_uid_map == 0 || f->n_gid_map == 0)
        return draft_refuse (d, "/linux/uidMappings", NULL,
                             "there is no range of ids for a user namespace of its own: add one "
                             "to /etc/subuid and /etc/subgid");
    if (rules_add_namespace (d, OCI_NS_USER) < 0)
        return -d->e->code;
    l->uid_mappings = f->uid_map;
    l->n_uid_mappings = f->n_uid_map;
    l->gid_mappings = f->gid_map;
    l->n_gid_mappings = f->n_gid_map;
    d->controls.idmap_root = true;
    if (note_maps (d, "/linux/uidMappings", before.uid_mappings, before.n_uid_mappings) < 0)
        return -d->e->code;
    return note_maps (d, "/linux/gidMappings", before.gid_mappings, before.n_gid_mappings);
}

int rule_identity (struct draft *d)
{
    if (d->doc.identity == OCI_IDENTITY_UNPRIVILEGED)
        return refuse_root (d);
    if (d->doc.identity != OCI_IDENTITY_USERNS || d->in->process || has_own_userns (d))
        return 0;
    return own_range (d);
}

/* With a range of its own the container's ids are nobody's on disk. Binds are seen through them;
 * the root too, which only a control can say. */
int rule_identity_mounts (struct draft *d)
{
    for (size_t i = 0; d->controls.idmap_root && i < d->config.n_mounts; i++) {
        const struct oci_mount *m = &d->mounts[i];
        bool all = draft_has (m->options, m->n_options, "rbind");
        bool bind = all || draft_has (m->options, m->n_options, "bind");

        if (!bind || draft_has (m->options, m->n_options, "remount") || m->n_uid_mappings > 0 ||
            draft_has (m->options, m->n_options, "idmap") ||
            draft_has (m->options, m->n_options, "ridmap"))
            continue;
        if (draft_mount_add (d, i, all ? "ridmap" : "idmap") < 0)
            return -d->e->code;
    }
    return 0;
}

/* ---- groups ---- */
static bool keeps_groups (const char *key)
{
    return strcmp (key, "run.oci.keep_original_groups") == 0;
}

/* crun's way to keep them. What they open is what the guard is about, by another door. */
int rule_keep_groups (struct draft *d)
{
    return d->doc.mounts->guard ? draft_drop_annotations (d, keeps_groups, NULL) : 0;
}

/* ---- capabilities ---- */
static int cap_caps (struct draft *d, const char *path, const char *const **list, size_t *n)
{
    const struct draft_list l = { path, list, n };
    const char *const *ceiling = d->doc.capabilities;

    if (!d->process.capabilities || draft_has (ceiling, d->doc.n_capabilities, "ALL"))
        return 0;
    return draft_keep_strings (d, &l, ceiling, d->doc.n_capabilities);
}

#define CAPS_RULE(set)                                                                             \
    int rule_caps_##set (struct draft *d)                                                          \
    {                                                                                              \
        return cap_caps (d, "/process/capabilities/" #set, &d->caps.set, &d->caps.n_##set);        \
    }
CAPS_RULE (bounding)
CAPS_RULE (effective)
CAPS_RULE (inheritable)
CAPS_RULE (permitted)
CAPS_RULE (ambient)

int rule_no_new_privileges (struct draft *d)
{
    if (!d->doc.no_new_privileges || !d->config.process)
        return 0;
    return draft_set_bool (d, "/process/noNewPrivileges", &d->process.has_no_new_privileges,
                           &d->process.no_new_privileges, true);
}

/* ---- resource limits ---- */
static const char *limit_text (struct arena *a, const struct oci_rlimit *r)
{
    return arena_printf (a, "%s %" PRIu64 ":%" PRIu64, r->type, r->soft, r->hard);
}

static struct oci_rlimit *find_limit (struct draft *d, const char *type)
{
    for (size_t i = 0; i < d->process.n_rlimits; i++)
        if (strcmp (d->rlimits[i].type, type) == 0)
            return &d->rlimits[i];
    return NULL;
}

static uint64_t lower (uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Both limits of TYPE at or below CEILING; what is absent is the caller's. */
static int cap_limit (struct draft *d, const char *type, uint64_t ceiling)
{
    struct oci_rlimit *r = find_limit (d, type);
    struct policy_decision x = { .path = "/process/rlimits",
                                 .action = r ? POLICY_TIGHTENED : POLICY_ADDED };

    if (r && r->hard <= ceiling && r->soft <= ceiling)
        return 0;
    x.before = r ? limit_text (d->a, r) : NULL;
    if (!r) {
        r = &d->rlimits[d->process.n_rlimits++];
        *r = (struct oci_rlimit){ .type = type, .soft = ceiling, .hard = ceiling };
    }
    r->soft = lower (r->soft, ceiling);
    r->hard = lower (r->hard, ceiling);
    d->process.rlimits = d->rlimits;
    x.after = limit_text (d->a, r);
    return x.after ? draft_note (d, &x) : err_oom (d->e);
}

/* What the caller has is within the ceiling already, and might not be raised to it. */
int rule_limit_nofile (struct draft *d)
{
    int64_t ceiling = d->doc.limits->nofile;
    uint64_t own = d->facts->nofile_hard;

    if (ceiling < 0 || !d->config.process ||
        (own > 0 && own <= (uint64_t)ceiling && !find_limit (d, "RLIMIT_NOFILE")))
        return 0;
    return cap_limit (d, "RLIMIT_NOFILE", (uint64_t)ceiling);
}

int rule_limit_core (struct draft *d)
{
    int64_t ceiling = d->doc.limits->core;

    return ceiling < 0 || !d->config.process ? 0 : cap_limit (d, "RLIMIT_CORE", (uint64_t)ceiling);
}

/* ---- scheduling ---- */
static bool is_realtime (int policy)
{
    return policy == OCI_SCHED_FIFO || policy == OCI_SCHED_RR || policy == OCI_SCHED_DEADLINE;
}

static int cap_scheduler (struct draft *d)
{
    struct policy_decision x = { .path = "/process/scheduler", .action = POLICY_TIGHTENED };
    struct oci_scheduler *s = &d->scheduler;

    if (!d->process.scheduler)
        return 0;
    if (is_realtime (s->policy)) {
        x.before = oci_enum_name (&oci_scheduler_enum, s->policy);
        d->process.scheduler = NULL;
        return draft_note (d, &x);
    }
    if (!s->has_nice || s->nice >= 0)
        return 0;
    x.path = "/process/scheduler/nice";
    x.before = draft_number (d->a, s->nice);
    x.after = "0";
    s->nice = 0;
    return x.before ? draft_note (d, &x) : err_oom (d->e);
}

/* Limits that let a process raise itself later count as well. */
int rule_scheduling (struct draft *d)
{
    int r = d->doc.limits->milli_cpus < 0 ? 0 : cap_scheduler (d);

    if (r < 0 || d->doc.limits->milli_cpus < 0)
        return r;
    if (find_limit (d, "RLIMIT_RTPRIO"))
        r = cap_limit (d, "RLIMIT_RTPRIO", 0);
    if (r == 0 && find_limit (d, "RLIMIT_NICE"))
        r = cap_limit (d, "RLIMIT_NICE", NICE_LIMIT_OF_0);
    return r;
}

int rule_io_priority (struct draft *d)
{
    struct policy_decision x = { .path = "/process/ioPriority", .action = POLICY_TIGHTENED };

    if (d->doc.limits->milli_cpus < 0 || !d->process.io_priority ||
        d->process.io_priority->class_ != OCI_IOPRIO_RT)
        return 0;
    x.before = oci_enum_name (&oci_io_class_enum, OCI_IOPRIO_RT);
    d->process.io_priority = NULL;
    return draft_note (d, &x);
}

int rule_oom_score (struct draft *d)
{
    struct policy_decision x = { .path = "/process/oomScoreAdj", .action = POLICY_TIGHTENED };
    int floor = d->facts->oom_score_adj;

    if (d->doc.limits->memory < 0 || !d->process.has_oom_score_adj ||
        d->process.oom_score_adj >= floor)
        return 0;
    x.before = draft_number (d->a, d->process.oom_score_adj);
    x.after = draft_number (d->a, floor);
    d->process.oom_score_adj = floor;
    return x.before && x.after ? draft_note (d, &x) : err_oom (d->e);
}
