#include "policy/compare.h"

#include <string.h>

#include "base/str.h"

const char *const policy_direction_names[] = {
    [POLICY_TIGHTER] = "tighter",
    [POLICY_LOOSER] = "looser",
};

static const char *const not_compared[] = { "/name", "/description", "/extend", NULL };

/* Of everything else more is looser: enumerators come strictest first. */
static const char *const more_is_tighter[] = {
    "/rootfs/readonly",
    "/rootfs/tmp/private",
    "/rootfs/shm/private",
    "/mounts/nosuid",
    "/mounts/nodev",
    "/mounts/guard",
    "/noNewPrivileges",
    "/namespaces/own",
    "/paths/masked",
    "/paths/readonly",
    NULL,
};

static bool is_no_ceiling (const char *text)
{
    return text && strcmp (text, "-1") == 0;
}

/* 1: more, -1: less. Lists of which neither holds the other are 0. What is not said on one side may
 * not be asked for (`allow`), so that side is less. */
static int order_of (const struct oci_difference *d)
{
    if (is_no_ceiling (d->before) || is_no_ceiling (d->after))
        return is_no_ceiling (d->before) ? -1 : 1;
    if (!d->before || !d->after)
        return d->before ? -1 : 1;
    return d->order;
}

static enum policy_direction direction_of (const struct oci_difference *d)
{
    int order = order_of (d);

    if (str_is_in (d->path, more_is_tighter))
        order = -order;
    return order < 0 ? POLICY_TIGHTER : POLICY_LOOSER;
}

/* Requests that are allowed up to nothing are not allowed. */
static bool counts (const struct oci_difference *d)
{
    static const char *const nothing[] = { "[]", "false", "\"none\"", NULL };
    const char *only = !d->before ? d->after : !d->after ? d->before : NULL;

    return !str_is_in (d->path, not_compared) && !(only && str_is_in (only, nothing));
}

int policy_compare (const struct oci_policy *base, const struct oci_policy *doc, struct arena *a,
                    const struct policy_change **ret, size_t *ret_n, struct err *e)
{
    const struct oci_difference *d;
    struct policy_change *changes;
    size_t n = 0;
    size_t n_differences;

    if (oci_diff (&oci_policy_type, base, doc, a, &d, &n_differences, e) < 0)
        return -e->code;
    changes = arena_calloc (a, n_differences + 1, sizeof *changes);
    if (!changes)
        return err_oom (e);
    for (size_t i = 0; i < n_differences; i++)
        if (counts (&d[i]))
            changes[n++] = (struct policy_change){ .path = d[i].path,
                                                   .before = d[i].before,
                                                   .after = d[i].after,
                                                   .direction = direction_of (&d[i]) };
    *ret = changes;
    *ret_n = n;
    return 0;
}
