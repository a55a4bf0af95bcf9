/*
 * The systemd unit of a container: its name, slice and properties, from linux.cgroupsPath and the
 * annotations.
 */
#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/str.h"
#include "plan/build.h"

#define SLICE_SUFFIX ".slice"
#define SCOPE_SUFFIX ".scope"
#define SUBGROUP_KEY "run.oci.systemd.subgroup"

/* systemd's UNIT_NAME_MAX. */
#define UNIT_NAME_MAX 255

static const char unit_chars[] =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789:_.\\-@";

static bool has_suffix (const char *s, const char *suffix)
{
    size_t n = strlen (s), k = strlen (suffix);

    return n > k && strcmp (s + n - k, suffix) == 0;
}

/* ---- slices ---- */
static int bad_slice (const char *slice, struct err *e)
{
    return err_set (e, EINVAL,
                    "/linux/cgroupsPath: '%.200s' is no name of a slice: words with '-' between "
                    "them, then '" SLICE_SUFFIX "'; or '-' for the root",
                    slice);
}

/* "a-b.slice" lies in "a.slice" (systemd.slice(5)): "/a.slice/a-b.slice"; "-.slice" is "". */
static int expand_slice (const char *slice, struct arena *a, const char **ret, struct err *e)
{
    AUTO_STRBUF path = { 0 };
    size_t len = strlen (slice) - strlen (SLICE_SUFFIX);

    for (size_t i = 0; i <= len && strcmp (slice, "-" SLICE_SUFFIX) != 0; i++) {
        if (i < len && slice[i] != '-')
            continue;
        if (i == 0 || slice[i - 1] == '-')
            return bad_slice (slice, e);
        strbuf_addf (&path, "/%.*s" SLICE_SUFFIX, (int)i, slice);
    }
    *ret = path.failed ? NULL : arena_strdup (a, path.s ?: "");
    return *ret ? 0 : err_oom (e);
}

/* TEXT is the part of cgroupsPath, which may be empty. */
static int build_slice (const char *text, struct arena *a, struct plan_unit *u, struct err *e)
{
    if (!*text)
        text = u->of_user ? "user" SLICE_SUFFIX : "system" SLICE_SUFFIX;
    if (strcmp (text, "-") == 0)
        text = "-" SLICE_SUFFIX;
    if (!has_suffix (text, SLICE_SUFFIX) || strlen (text) > UNIT_NAME_MAX ||
        text[strspn (text, unit_chars)])
        return bad_slice (text, e);
    u->slice = text;
    return expand_slice (text, a, &u->slice_path, e);
}

/* ---- the name ---- */
static int build_name (const char *prefix, const char *name, struct arena *a, struct plan_unit *u,
                       struct err *e)
{
    if (has_suffix (name, SLICE_SUFFIX))
        return err_set (e, EINVAL,
                        "/linux/cgroupsPath: '%.200s' is a slice, which can hold no process", name);
    u->name = arena_printf (a, "%s%s%s" SCOPE_SUFFIX, prefix, *prefix ? "-" : "", name);
    if (!u->name)
        return err_oom (e);
    if (!*name || strlen (u->name) > UNIT_NAME_MAX || u->name[strspn (u->name, unit_chars)])
        return err_set (e, EINVAL,
                        "/linux/cgroupsPath: '%.260s' is no name of a unit: at most %d of letters, "
                        "digits and ':_.\\-@'",
                        u->name, UNIT_NAME_MAX);
    return 0;
}

/* '+' may be in a container's id; systemd writes it so. */
static const char *escape_id (const char *id, struct arena *a)
{
    AUTO_STRBUF out = { 0 };

    for (; *id; id++)
        if (*id == '+')
            strbuf_adds (&out, "\\x2b");
        else
            strbuf_addf (&out, "%c", *id);
    return out.failed ? NULL : arena_strdup (a, out.s);
}

static int build_default_name (const char *id, struct arena *a, struct plan_unit *u, struct err *e)
{
    const char *name = escape_id (id, a);

    return name ? build_name ("agentrt", name, a, u, e) : err_oom (e);
}

/* "SLICE:PREFIX:NAME" */
static int split (const char *path, struct arena *a, struct plan_unit *u, struct err *e)
{
    char *slice = arena_strdup (a, path);
    char *prefix = slice ? strchr (slice, ':') : NULL;
    char *name = prefix ? strchr (prefix + 1, ':') : NULL;

    if (!slice)
        return err_oom (e);
    if (!name || strchr (name + 1, ':') || strchr (path, '/'))
        return err_set (e, EINVAL,
                        "/linux/cgroupsPath: with the systemd cgroup manager it must be "
                        "'SLICE:PREFIX:NAME', not '%.200s' (an engine that does not use that "
                        "manager must not ask for it)",
                        path);
    *prefix++ = *name++ = '\0';
    if (build_slice (slice, a, u, e) < 0)
        return -e->code;
    return build_name (prefix, name, a, u, e);
}

/* ---- annotations ---- */
static int build_subgroup (const char *value, struct plan_unit *u, struct err *e)
{
    if (*value && !str_is_id (value))
        return err_set (e, EINVAL,
                        "/annotations/" SUBGROUP_KEY ": '%.100s' is no name of a cgroup: letters, "
                        "digits, '_', '+', '.', '-'; or nothing, for none",
                        value);
    u->subgroup = value;
    return 0;
}

static int build_properties (const struct oci_config *c, struct arena *a, struct plan_unit *u,
                             struct err *e)
{
    struct unitprop *props = arena_calloc (a, c->n_annotations, sizeof *props);
    int result = props ? 0 : err_oom (e);

    for (size_t i = 0; result == 0 && i < c->n_annotations; i++) {
        const struct oci_kv *kv = &c->annotations[i];

        if (strcmp (kv->key, SUBGROUP_KEY) == 0)
            result = build_subgroup (kv->value, u, e);
        else if (str_has_prefix (kv->key, UNITPROP_PREFIX))
            result = unitprop_parse (kv->key, kv->value, a, &props[u->n_props++], e);
    }
    u->props = props;
    return result;
}

int plan_build_unit (const struct plan_input *in, struct arena *a, struct plan *ret, struct err *e)
{
    struct plan_unit *u = arena_alloc (a, sizeof *u);
    const struct oci_config *c = in->config;
    int result;

    if (!u)
        return err_oom (e);
    *u = (struct plan_unit){ .of_user = in->host.has_user_bus };
    if (ret->cgroup.given) {
        result = split (ret->cgroup.path, a, u, e);
    } else {
        result = build_slice ("", a, u, e);
        if (result == 0)
            result = build_default_name (in->id, a, u, e);
    }
    if (result == 0)
        result = build_properties (c, a, u, e);
    ret->cgroup.unit = u;
    return result;
}
