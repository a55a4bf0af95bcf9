#include "check.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "spec.h"

/* ---- shared ---- */

const struct oci_namespace *spec_ns (const struct oci_linux *l, int kind)
{
    for (size_t i = 0; i < l->n_namespaces; i++)
        if (l->namespaces[i].type == kind)
            return &l->namespaces[i];
    return NULL;
}

bool spec_has_ns (const struct oci_linux *l, int kind)
{
    return spec_ns (l, kind) != NULL;
}

bool spec_makes_ns (const struct oci_linux *l, int kind)
{
    const struct oci_namespace *ns = spec_ns (l, kind);

    return ns && (!ns->path || !ns->path[0]);
}

bool spec_is_absolute (const char *path)
{
    return path[0] == '/';
}

bool spec_is_list (const char *s)
{
    return s[strspn (s, "0123456789,- ")] == '\0';
}

/* The kernel's limit (UID_GID_MAP_MAX_EXTENTS); it also keeps the comparison below short. */
#define MAX_ID_MAPS 340

static bool overlap (uint32_t a, uint32_t n_a, uint32_t b, uint32_t n_b)
{
    return a < (uint64_t)b + n_b && b < (uint64_t)a + n_a;
}

static int check_id_map (const struct oci_id_mapping *maps, size_t i, const char *at, struct err *e)
{
    const struct oci_id_mapping *m = &maps[i];

    if (m->size == 0)
        return err_set (e, EINVAL, "%s[%zu]/size: must be at least 1", at, i);
    /* 2^32-1 is no id: it means "none" to the kernel. */
    if ((uint64_t)m->container_id + m->size > UINT32_MAX)
        return err_set (e, EINVAL, "%s[%zu]/size: goes past the last container id", at, i);
    if ((uint64_t)m->host_id + m->size > UINT32_MAX)
        return err_set (e, EINVAL, "%s[%zu]/size: goes past the last host id", at, i);
    for (size_t k = 0; k < i; k++) {
        if (overlap (m->container_id, m->size, maps[k].container_id, maps[k].size))
            return err_set (e, EINVAL, "%s[%zu]/containerID: overlaps with %s[%zu]", at, i, at, k);
        if (overlap (m->host_id, m->size, maps[k].host_id, maps[k].size))
            return err_set (e, EINVAL, "%s[%zu]/hostID: overlaps with %s[%zu]", at, i, at, k);
    }
    return 0;
}

int spec_check_id_maps (const struct oci_id_mapping *maps, size_t n, const char *at, struct err *e)
{
    if (n > MAX_ID_MAPS)
        return err_set (e, EINVAL, "%s: more than %d ranges", at, MAX_ID_MAPS);
    for (size_t i = 0; i < n; i++)
        if (check_id_map (maps, i, at, e) < 0)
            return -e->code;
    return 0;
}

/* ---- ociVersion ---- */

static const char *skip_number (const char *s)
{
    size_t n = strspn (s, "0123456789");

    return n == 0 || (n > 1 && *s == '0') ? NULL : s + n;
}

/* Dot-separated identifiers behind MARK, if it is there. */
static const char *skip_identifiers (const char *s, char mark)
{
    const char *allowed = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-";

    if (*s != mark)
        return s;
    do {
        size_t n = strspn (++s, allowed);

        if (n == 0)
            return NULL;
        s += n;
    } while (*s == '.');
    return s;
}

/* SemVer 2.0.0: MAJOR.MINOR.PATCH[-pre][+build]. */
static bool is_version (const char *s)
{
    for (int part = 0; part < 3; part++) {
        s = skip_number (s);
        if (!s || (part < 2 && *s++ != '.'))
            return false;
    }
    s = skip_identifiers (s, '-');
    s = s ? skip_identifiers (s, '+') : NULL;
    return s && !*s;
}

/* A later 1.x may bring properties that are ignored here, but changes none (SemVer). */
static int check_version (const struct oci_config *c, struct err *e)
{
    if (!is_version (c->oci_version))
        return err_set (e, EINVAL, "/ociVersion: '%.32s' is not a SemVer version", c->oci_version);
    if (strncmp (c->oci_version, "1.", 2) != 0)
        return err_set (e, EINVAL, "/ociVersion: %.32s is not supported, 1.x is", c->oci_version);
    return 0;
}

/* ---- root, names, annotations ---- */

static int check_root (const struct oci_config *c, struct err *e)
{
    if (!c->root)
        return err_set (e, EINVAL, "/root: required, but missing");
    if (!*c->root->path)
        return err_set (e, EINVAL, "/root/path: must not be empty");
    return 0;
}

/* Without a uts namespace the host would be renamed. 64: __NEW_UTS_LEN. */
static int check_uts_name (const struct oci_config *c, const char *name, const char *at,
                           struct err *e)
{
    if (!name)
        return 0;
    if (!c->linux_ || !spec_has_ns (c->linux_, OCI_NS_UTS))
        return err_set (e, EINVAL, "%s: needs a uts namespace of its own", at);
    if (strlen (name) > 64)
        return err_set (e, EINVAL, "%s: longer than 64 bytes", at);
    return 0;
}

static int check_hostname (const struct oci_config *c, struct err *e)
{
    return check_uts_name (c, c->hostname, "/hostname", e);
}

static int check_domainname (const struct oci_config *c, struct err *e)
{
    return check_uts_name (c, c->domainname, "/domainname", e);
}

static int check_annotations (const struct oci_config *c, struct err *e)
{
    for (size_t i = 0; i < c->n_annotations; i++)
        if (!*c->annotations[i].key)
            return err_set (e, EINVAL, "/annotations: a key is empty");
    return 0;
}

/* ---- mounts ---- */

static bool has_option (const struct oci_mount *m, const char *option)
{
    for (size_t i = 0; i < m->n_options; i++)
        if (strcmp (m->options[i], option) == 0)
            return true;
    return false;
}

static int check_mount_idmap (const struct oci_config *c, size_t i, struct err *e)
{
    const struct oci_mount *m = &c->mounts[i];
    bool asked = has_option (m, "idmap") || has_option (m, "ridmap");
    char at[64];

    if (!m->n_uid_mappings != !m->n_gid_mappings)
        return err_set (e, EINVAL, "/mounts[%zu]/%s: required together with %s", i,
                        m->n_uid_mappings ? "gidMappings" : "uidMappings",
                        m->n_uid_mappings ? "uidMappings" : "gidMappings");
    if (asked && !m->n_uid_mappings && !(c->linux_ && spec_has_ns (c->linux_, OCI_NS_USER)))
        return err_set (e, EINVAL, "/mounts[%zu]: idmap without mappings needs a user namespace",
                        i);
    (void)snprintf (at, sizeof at, "/mounts[%zu]/uidMappings", i);
    if (spec_check_id_maps (m->uid_mappings, m->n_uid_mappings, at, e) < 0)
        return -e->code;
    (void)snprintf (at, sizeof at, "/mounts[%zu]/gidMappings", i);
    return spec_check_id_maps (m->gid_mappings, m->n_gid_mappings, at, e);
}

static int check_mounts (const struct oci_config *c, struct err *e)
{
    for (size_t i = 0; i < c->n_mounts; i++) {
        if (!*c->mounts[i].destination)
            return err_set (e, EINVAL, "/mounts[%zu]/destination: must not be empty", i);
        if (check_mount_idmap (c, i, e) < 0)
            return -e->code;
    }
    return 0;
}

/* ---- hooks ---- */

struct hook_list {
    const char *name;
    const struct oci_hook *hooks;
    size_t n;
};

static int check_hook_list (const struct hook_list *l, struct err *e)
{
    for (size_t i = 0; i < l->n; i++)
        if (!spec_is_absolute (l->hooks[i].path))
            return err_set (e, EINVAL, "/hooks/%s[%zu]/path: must be absolute", l->name, i);
    return 0;
}

static int check_hooks (const struct oci_config *c, struct err *e)
{
    static const struct oci_hooks none = { 0 };
    const struct oci_hooks *h = c->hooks ?: &none;
    const struct hook_list lists[] = {
        { "prestart", h->prestart, h->n_prestart },
        { "createRuntime", h->create_runtime, h->n_create_runtime },
        { "createContainer", h->create_container, h->n_create_container },
        { "startContainer", h->start_container, h->n_start_container },
        { "poststart", h->poststart, h->n_poststart },
        { "poststop", h->poststop, h->n_poststop },
    };

    for (size_t i = 0; i < ARRAY_LEN (lists); i++)
        if (check_hook_list (&lists[i], e) < 0)
            return -e->code;
    return 0;
}

/* ---- process and linux ---- */

static int check_process (const struct oci_config *c, struct err *e)
{
    return c->process ? spec_check_process (c->process, "/process", e) : 0;
}

static bool is_mapped (const struct oci_id_mapping *maps, size_t n, uint32_t id)
{
    for (size_t i = 0; i < n; i++)
        if (id >= maps[i].container_id && id - maps[i].container_id < maps[i].size)
            return true;
    return false;
}

/* In a new user namespace an id that has no mapping cannot be taken. */
static int check_user_is_mapped (const struct oci_config *c, struct err *e)
{
    const struct oci_linux *l = c->linux_;
    const struct oci_user *u = c->process ? c->process->user : NULL;

    if (!u || !l || !spec_makes_ns (l, OCI_NS_USER))
        return 0;
    if (!is_mapped (l->uid_mappings, l->n_uid_mappings, u->uid))
        return err_set (e, EINVAL, "/process/user/uid: %u is not in /linux/uidMappings", u->uid);
    if (!is_mapped (l->gid_mappings, l->n_gid_mappings, u->gid))
        return err_set (e, EINVAL, "/process/user/gid: %u is not in /linux/gidMappings", u->gid);
    for (size_t i = 0; i < u->n_additional_gids; i++)
        if (!is_mapped (l->gid_mappings, l->n_gid_mappings, u->additional_gids[i]))
            return err_set (e, EINVAL,
                            "/process/user/additionalGids[%zu]: %u is not in /linux/gidMappings", i,
                            u->additional_gids[i]);
    return 0;
}

static int check_linux (const struct oci_config *c, struct err *e)
{
    static const struct oci_linux none = { 0 };

    for (size_t i = 0; spec_linux_rules[i]; i++)
        if (spec_linux_rules[i](c->linux_ ?: &none, e) < 0)
            return -e->code;
    return 0;
}

/* ---- what this version cannot do ---- */

static bool has_intel_rdt (const struct oci_linux *l)
{
    return l->intel_rdt != NULL;
}

/* config.md: a runtime MUST generate an error for what it does not support. */
static const struct {
    const char *at;
    bool (*is_asked) (const struct oci_linux *l);
} unsupported[] = {
    { "/linux/intelRdt", has_intel_rdt },
};

static int check_supported (const struct oci_config *c, struct err *e)
{
    for (size_t i = 0; c->linux_ && i < ARRAY_LEN (unsupported); i++)
        if (unsupported[i].is_asked (c->linux_))
            return err_set (e, EINVAL, "%s: not supported by this version", unsupported[i].at);
    return 0;
}

/* ---- the whole ---- */

static int (*const rules[]) (const struct oci_config *c, struct err *e) = {
    check_version,     check_root,           check_hostname,  check_domainname,
    check_annotations, check_mounts,         check_hooks,     check_process,
    check_linux,       check_user_is_mapped, check_supported,
};

int spec_check (const struct oci_config *c, struct err *e)
{
    for (size_t i = 0; i < ARRAY_LEN (rules); i++)
        if (rules[i](c, e) < 0)
            return -e->code;
    return 0;
}
