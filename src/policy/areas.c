/*
 * The areas of a config that a policy is asked about, and what it says where no rule had to act.
 */
#include <string.h>

#include "base/cleanup.h"
#include "policy/draft.h"

/* ---- what the config has of each area, as text ---- */
static const char *yes_no (bool value)
{
    return value ? "true" : "false";
}

static const char *number (struct arena *a, size_t n, const char *what)
{
    return arena_printf (a, "%zu %s", n, what);
}

static const char *show_readonly (const struct oci_config *c, struct arena *a)
{
    (void)a;
    return yes_no (c->root && c->root->readonly);
}

static const char *show_no_new_privs (const struct oci_config *c, struct arena *a)
{
    (void)a;
    return yes_no (c->process && c->process->no_new_privileges);
}

static const char *show_caps (const struct oci_config *c, struct arena *a)
{
    const struct oci_capabilities *caps = c->process ? c->process->capabilities : NULL;

    return number (a, caps ? caps->n_bounding : 0, "in the bounding set");
}

static const char *show_user (const struct oci_config *c, struct arena *a)
{
    const struct oci_user *u = c->process ? c->process->user : NULL;

    return arena_printf (a, "%u:%u", u ? u->uid : 0, u ? u->gid : 0);
}

static const char *show_mounts (const struct oci_config *c, struct arena *a)
{
    return number (a, c->n_mounts, "mounts");
}

static const char *show_namespaces (const struct oci_config *c, struct arena *a)
{
    AUTO_STRBUF b = { 0 };

    for (size_t i = 0; c->linux_ && i < c->linux_->n_namespaces; i++) {
        const struct oci_namespace *ns = &c->linux_->namespaces[i];

        strbuf_addf (&b, "%s%s%s", i ? " " : "", oci_enum_name (&oci_namespace_enum, ns->type),
                     ns->path && ns->path[0] ? "(joined)" : "");
    }
    return b.failed ? NULL : arena_strdup (a, b.len ? b.s : "none of its own");
}

static const char *show_seccomp (const struct oci_config *c, struct arena *a)
{
    const struct oci_linux_seccomp *s = c->linux_ ? c->linux_->seccomp : NULL;

    if (!s)
        return "no filter";
    return arena_printf (a, "default %s, %zu rules",
                         oci_enum_name (&oci_seccomp_action_enum, s->default_action),
                         s->n_syscalls);
}

static const char *show_devices (const struct oci_config *c, struct arena *a)
{
    return number (a, c->linux_ ? c->linux_->n_devices : 0, "beside the default ones");
}

static const char *show_limits (const struct oci_config *c, struct arena *a)
{
    const struct oci_linux_resources *r = c->linux_ ? c->linux_->resources : NULL;
    AUTO_STRBUF b = { 0 };

    if (r && r->memory && r->memory->has_limit)
        strbuf_addf (&b, "memory %lld ", (long long)r->memory->limit);
    if (r && r->pids && r->pids->has_limit)
        strbuf_addf (&b, "pids %lld ", (long long)r->pids->limit);
    if (r && r->cpu && r->cpu->has_quota)
        strbuf_addf (&b, "cpu quota %lld ", (long long)r->cpu->quota);
    if (r && r->n_devices)
        strbuf_addf (&b, "%zu device rules ", r->n_devices);
    if (b.failed)
        return NULL;
    return b.len ? arena_strndup (a, b.s, b.len - 1) : "nothing that is counted here";
}

static const char *show_masks (const struct oci_config *c, struct arena *a)
{
    const struct oci_linux *l = c->linux_;

    return arena_printf (a, "%zu masked, %zu read-only", l ? l->n_masked_paths : 0,
                         l ? l->n_readonly_paths : 0);
}

static const struct {
    const char *path;
    const char *(*show) (const struct oci_config *c, struct arena *a);
} areas[] = {
    { "/root/readonly", show_readonly },
    { "/mounts", show_mounts },
    { "/process/user", show_user },
    { "/process/capabilities", show_caps },
    { "/process/noNewPrivileges", show_no_new_privs },
    { "/linux/namespaces", show_namespaces },
    { "/linux/seccomp", show_seccomp },
    { "/linux/devices", show_devices },
    { "/linux/resources", show_limits },
    { "/linux/maskedPaths", show_masks },
};

/* One of the two is the other, or lies above it. */
static bool touches (const char *a, const char *b)
{
    size_t n = strlen (a) < strlen (b) ? strlen (a) : strlen (b);

    return strncmp (a, b, n) == 0 && (a[n] == '\0' || a[n] == '/' || a[n] == '[') &&
           (b[n] == '\0' || b[n] == '/' || b[n] == '[');
}

static bool is_decided (const struct draft *d, const char *path)
{
    for (size_t i = 0; i < d->n_decisions; i++)
        if (touches (d->decisions[i].path, path))
            return true;
    return false;
}

int draft_note_kept (struct draft *d)
{
    for (size_t i = 0; i < ARRAY_LEN (areas); i++) {
        const char *text = areas[i].show (&d->config, d->a);

        if (!text)
            return err_oom (d->e);
        if (is_decided (d, areas[i].path))
            continue;
        if (draft_note (d, &(struct policy_decision){ .path = areas[i].path,
                                                      .action = POLICY_KEPT,
                                                      .before = text,
                                                      .after = text,
                                                      .reason = "within the policy" }) < 0)
            return -d->e->code;
    }
    return 0;
}
