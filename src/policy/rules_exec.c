/*
 * Rules of exec: its process gets no more than the container's own process has.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/cleanup.h"
#include "policy/rules.h"

/* The container's own process; NULL: the policy lets exec have what it asks for. */
static const struct oci_process *container_of (const struct draft *d)
{
    return d->doc.exec == OCI_EXEC_CONTAINER ? d->in->config->process : NULL;
}

static uint32_t uid_of (const struct oci_process *p)
{
    return p->user ? p->user->uid : 0;
}

static bool is_in_root_group (const struct oci_user *u)
{
    for (size_t i = 0; i < u->n_additional_gids; i++)
        if (u->additional_gids[i] == 0)
            return true;
    return u->gid == 0;
}

/* "1000:1000,4,24" */
static const char *user_text (struct arena *a, const struct oci_user *u)
{
    AUTO_STRBUF b = { 0 };

    strbuf_addf (&b, "%" PRIu32 ":%" PRIu32, u->uid, u->gid);
    for (size_t i = 0; i < u->n_additional_gids; i++)
        strbuf_addf (&b, ",%" PRIu32, u->additional_gids[i]);
    return b.failed ? NULL : arena_strdup (a, b.s);
}

/* ASKED without the root group: the container's own takes its place. */
static const struct oci_user *without_root_group (struct arena *a, const struct oci_user *asked,
                                                  const struct oci_user *own)
{
    struct oci_user *u = arena_alloc (a, sizeof *u);
    uint32_t *gids = arena_calloc (a, asked->n_additional_gids + 1, sizeof *gids);

    if (!u || !gids)
        return NULL;
    *u = *asked;
    u->gid = asked->gid ?: own->gid;
    u->additional_gids = gids;
    u->n_additional_gids = 0;
    for (size_t i = 0; i < asked->n_additional_gids; i++)
        if (asked->additional_gids[i] != 0)
            gids[u->n_additional_gids++] = asked->additional_gids[i];
    return u;
}

/* Neither root nor of its group, where the container is not. */
int rule_exec_user (struct draft *d)
{
    static const struct oci_user root = { 0 };
    const struct oci_process *own = container_of (d);
    const struct oci_user *asked = d->process.user ?: &root;
    struct policy_decision x = { .path = "/process/user", .action = POLICY_TIGHTENED };

    if (!own || uid_of (own) == 0 ||
        (asked->uid != 0 && (!is_in_root_group (asked) || is_in_root_group (own->user))))
        return 0;
    d->process.user = asked->uid == 0 ? own->user : without_root_group (d->a, asked, own->user);
    if (!d->process.user)
        return err_oom (d->e);
    x.before = user_text (d->a, asked);
    x.after = user_text (d->a, d->process.user);
    return x.before && x.after ? draft_note (d, &x) : err_oom (d->e);
}

/* ---- capabilities ---- */
static int cap_set (struct draft *d, const char *path, const struct draft_list *asked,
                    const struct draft_list *own)
{
    const struct draft_list l = { path, asked->list, asked->n };

    return draft_keep_strings (d, &l, *own->list, *own->n);
}

#define SET(c, m)                                                                                  \
    {                                                                                              \
        NULL, &(c).m, &(c).n_##m                                                                   \
    }
#define SETS(c)                                                                                    \
    {                                                                                              \
        SET (c, bounding), SET (c, effective), SET (c, inheritable), SET (c, permitted),           \
            SET (c, ambient)                                                                       \
    }

int rule_exec_capabilities (struct draft *d)
{
    static const char *const paths[] = {
        "/process/capabilities/bounding",    "/process/capabilities/effective",
        "/process/capabilities/inheritable", "/process/capabilities/permitted",
        "/process/capabilities/ambient",
    };
    const struct oci_process *own = container_of (d);
    struct oci_capabilities has = { 0 };
    const struct draft_list asked[] = SETS (d->caps);
    const struct draft_list limits[] = SETS (has);

    if (!own || !d->process.capabilities)
        return 0;
    if (own->capabilities)
        has = *own->capabilities;
    for (size_t i = 0; i < ARRAY_LEN (asked); i++)
        if (cap_set (d, paths[i], &asked[i], &limits[i]) < 0)
            return -d->e->code;
    return 0;
}

int rule_exec_no_new_privileges (struct draft *d)
{
    const struct oci_process *own = container_of (d);

    if (!own || !own->no_new_privileges)
        return 0;
    return draft_set_bool (d, "/process/noNewPrivileges", &d->process.has_no_new_privileges,
                           &d->process.no_new_privileges, true);
}

/* ---- resource limits ---- */
static struct oci_rlimit *find_limit (struct draft *d, const char *type)
{
    for (size_t i = 0; i < d->process.n_rlimits; i++)
        if (strcmp (d->rlimits[i].type, type) == 0)
            return &d->rlimits[i];
    return NULL;
}

static const char *limit_text (struct arena *a, const struct oci_rlimit *r)
{
    return arena_printf (a, "%s %" PRIu64 ":%" PRIu64, r->type, r->soft, r->hard);
}

static int cap_limit (struct draft *d, const struct oci_rlimit *own)
{
    struct oci_rlimit *r = find_limit (d, own->type);
    struct policy_decision x = { .path = "/process/rlimits",
                                 .action = r ? POLICY_TIGHTENED : POLICY_ADDED };

    if (r && r->hard <= own->hard && r->soft <= own->hard)
        return 0;
    x.before = r ? limit_text (d->a, r) : NULL;
    if (!r) {
        r = &d->rlimits[d->process.n_rlimits++];
        *r = *own;
    }
    r->hard = r->hard < own->hard ? r->hard : own->hard;
    r->soft = r->soft < own->hard ? r->soft : own->hard;
    d->process.rlimits = d->rlimits;
    x.after = limit_text (d->a, r);
    return x.after ? draft_note (d, &x) : err_oom (d->e);
}

int rule_exec_rlimits (struct draft *d)
{
    const struct oci_process *own = container_of (d);

    for (size_t i = 0; own && i < own->n_rlimits; i++)
        if (cap_limit (d, &own->rlimits[i]) < 0)
            return -d->e->code;
    return 0;
}

/* ---- labels ---- */
static int keep_label (struct draft *d, const char *path, const char *own, const char **label)
{
    const struct policy_decision x = { .path = path,
                                       .action = *label ? POLICY_TIGHTENED : POLICY_ADDED,
                                       .before = *label,
                                       .after = own };

    if (!own || !own[0] || (*label && strcmp (*label, own) == 0))
        return 0;
    *label = own;
    return draft_note (d, &x);
}

int rule_exec_labels (struct draft *d)
{
    const struct oci_process *own = container_of (d);
    struct oci_process *p = &d->process;

    if (!own)
        return 0;
    if (keep_label (d, "/process/apparmorProfile", own->apparmor_profile, &p->apparmor_profile) < 0)
        return -d->e->code;
    return keep_label (d, "/process/selinuxLabel", own->selinux_label, &p->selinux_label);
}
