#include "cgroup/limits.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/sysinfo.h>

#include "base/cleanup.h"
#include "cgroup/internal.h"

/* ---- which cgroup ---- */

/* v2's io is v1's blkio; all others have one name. */
static const struct cgroup_hierarchy *v1_home (const struct cgroup *cg, const char *controller)
{
    return cgroup_v1_home (cg, strcmp (controller, "io") == 0 ? "blkio" : controller);
}

static bool v2_has (const char *v2_controllers, const char *controller)
{
    return v2_controllers &&
           has_word (v2_controllers, " \n", strcmp (controller, "blkio") == 0 ? "io" : controller);
}

static int no_controller (const struct limit *m, struct err *e)
{
    return err_set (e, EOPNOTSUPP,
                    "/linux/resources/%s: this host has no cgroup controller '%s' for it: mount or "
                    "delegate it, or boot with cgroup_enable=%s",
                    m->key, m->controller, m->controller);
}

static void append (struct limits *to, struct limit *m, const struct cgroup_hierarchy *h)
{
    m->h = h;
    m->next = NULL;
    *(to->last ? &to->last->next : &to->first) = m;
    to->last = m;
}

/* v1 limits whose controller is on a v1 hierarchy. On a hybrid host the others may be on
 * cgroup2. */
static int collect_v1 (struct limits *l, const struct cgroup *cg, const char *v2_controllers,
                       const struct oci_linux_resources *res, struct err *e)
{
    struct limits all = { .a = l->a };
    struct limit *next;

    limits_v1 (&all, res);
    for (struct limit *m = all.first; m; m = next) {
        const struct cgroup_hierarchy *h = v1_home (cg, m->controller);

        next = m->next;
        if (!h && v2_has (v2_controllers, m->controller))
            continue;
        if (!h && !m->problem)
            return no_controller (m, e);
        append (l, m, h);
    }
    l->failed = all.failed;
    return 0;
}

/* v2 limits: all of them, or those that a hybrid host has on cgroup2 alone. */
static void collect_v2 (struct limits *l, const struct cgroup *cg, const char *v2_controllers,
                        const struct oci_linux_resources *res)
{
    struct limits all = { .a = l->a };
    struct limit *next;

    limits_v2 (&all, res);
    for (struct limit *m = all.first; m; m = next) {
        next = m->next;
        if (cg->layout == CGROUP_V2 ||
            (!v1_home (cg, m->controller) && v2_has (v2_controllers, m->controller)))
            append (l, m, cgroup_v2_home (cg));
    }
    l->failed = l->failed || all.failed;
}

int limits_collect (struct limits *l, const struct cgroup *cg,
                    const struct oci_linux_resources *res, struct err *e)
{
    const struct cgroup_hierarchy *v2 = cgroup_v2_home (cg);
    char *v2_controllers = NULL;
    int r = 0;

    if (cg->layout == CGROUP_HYBRID && v2->dir >= 0)
        r = cgfile_read (v2->dir, "cgroup.controllers", l->a, &v2_controllers, e);
    if (r >= 0 && cg->layout != CGROUP_V2)
        r = collect_v1 (l, cg, v2_controllers, res, e);
    if (r < 0)
        return r;
    if (v2)
        collect_v2 (l, cg, v2_controllers, res);
    if (l->failed)
        return err_oom (e);
    for (const struct limit *m = l->first; m; m = m->next) {
        if (m->problem)
            return err_set (e, EINVAL, "/linux/resources/%s: %s", m->key, m->problem);
        if (m->h->dir < 0)
            return err_set (e, ESRCH, "cgroup '%s%s' is gone", m->h->mountpoint, m->h->path);
    }
    return 0;
}

/* The first of RES's limits whose controller H has; on v2 any, as H is then all there is. */
static const struct limit *limit_of (const struct cgroup_hierarchy *h, const struct limits *l)
{
    for (const struct limit *m = l->first; m; m = m->next)
        if (cgroup_is_v2 (h) ||
            has_word (h->controllers, ",",
                      strcmp (m->controller, "io") == 0 ? "blkio" : m->controller))
            return m;
    return NULL;
}

int limits_do_without (const struct cgroup *cg, const struct cgroup_hierarchy *h,
                       const struct oci_linux_resources *res, struct err *e)
{
    AUTO_ARENA a = { 0 };
    struct limits l = { .a = &a };
    const struct limit *m;

    if (!res || (cg->layout == CGROUP_HYBRID && cgroup_is_v2 (h)))
        return 0; /* of a hybrid host's v2, collect_v1 sees that it is missing */
    if (cgroup_is_v2 (h))
        limits_v2 (&l, res);
    else
        limits_v1 (&l, res);
    if (l.failed)
        return err_oom (e);
    m = limit_of (h, &l);
    if (!m)
        return 0;
    return err_add (e,
                    "/linux/resources/%s: needs a cgroup: leave it out, or run where one with the "
                    "controller '%s' is delegated to this user (systemd-run --user --scope -p "
                    "Delegate=yes)",
                    m->key, m->controller);
}

bool limits_need_v2 (const struct cgroup *cg, const struct oci_linux_resources *res,
                     const char *controller)
{
    AUTO_ARENA a = { 0 };
    struct limits l = { .a = &a };

    if (!res || v1_home (cg, controller))
        return false;
    limits_v2 (&l, res);
    for (const struct limit *m = l.first; m; m = m->next)
        if (strcmp (m->controller, controller) == 0)
            return true;
    return false;
}

/* ---- writing ---- */

static bool host_has_swap (void)
{
    struct sysinfo info;

    return sysinfo (&info) < 0 || info.totalswap > 0;
}

bool limit_can_miss (const struct limit *m)
{
    return m->optional || (m->is_swap && !host_has_swap ());
}

/* VALUE with the file's first word put before it, where that word stays. */
static int full_value (const struct limit *m, struct arena *a, const char **ret, struct err *e)
{
    char *text;
    int r;

    *ret = m->value;
    if (!m->keep_first)
        return 0;
    r = cgfile_read (m->h->dir, m->file, a, &text, e);
    if (r < 0)
        return r;
    *ret = arena_printf (a, "%.*s %s", (int)strcspn (text, " \n"), text, m->value);
    return *ret ? 0 : err_oom (e);
}

static int write_limit (const struct limit *m, struct err *e)
{
    AUTO_ARENA a = { 0 };
    const char *value;
    int r = full_value (m, &a, &value, e);

    if (r >= 0)
        r = cgfile_write (m->h->dir, m->file, value, e);
    if (r == -ENOENT && m->alt_file)
        r = cgfile_write (m->h->dir, m->alt_file, m->alt_value ? m->alt_value : value, e);
    return r == -ENOENT && limit_can_miss (m) ? 0 : r;
}

/* A limit below what is in use: the numbers are what helps. */
static int explain_busy (const struct limit *m, struct err *e)
{
    uint64_t usage = 0;
    struct err ignored;

    if (cgfile_number (m->h->dir, "memory.usage_in_bytes", NULL, &usage, &ignored) < 0)
        return err_add (e, "/linux/resources/%s", m->key);
    return err_set (e, EBUSY,
                    "/linux/resources/%s: the kernel refuses %s bytes while %" PRIu64
                    " bytes are in use",
                    m->key, m->value, usage);
}

static int explain (const struct limit *m, int r, struct err *e)
{
    const struct cgroup_hierarchy *h = m->h;

    if (r == -EBUSY && strcmp (m->controller, "memory") == 0)
        return explain_busy (m, e);
    if (r == -ENOENT && cgroup_is_v2 (h))
        return err_set (
            e, EOPNOTSUPP,
            "/linux/resources/%s: '%s%s' has no '%s': is controller '%s' enabled in the "
            "cgroups above (the kernel allows that only where those hold no process, "
            "and systemd only where it delegates)?",
            m->key, h->mountpoint, h->path, m->file, m->controller);
    if (r == -ENOENT)
        return err_set (e, EOPNOTSUPP, "/linux/resources/%s: this kernel has no '%s'", m->key,
                        m->file);
    return err_add (e, "/linux/resources/%s: cgroup '%s%s'", m->key, h->mountpoint, h->path);
}

/* Some values bound each other (memory and memory+swap, quota and period and burst), so the right
 * order depends on what is there: whatever is refused gets a second chance when the others are
 * written. */
int limits_write (const struct limits *l, struct err *e)
{
    int r = 0;

    for (struct limit *m = l->first; r >= 0 && m; m = m->next) {
        r = write_limit (m, e);
        m->pending = r == -EINVAL || r == -EBUSY;
        if (m->pending)
            r = 0;
        else if (r < 0)
            return explain (m, r, e);
    }
    for (struct limit *m = l->first; m; m = m->next) {
        r = m->pending ? write_limit (m, e) : 0;
        if (r < 0)
            return explain (m, r, e);
    }
    return 0;
}

static int limit (struct cgroup *cg, const struct oci_linux_resources *res, struct err *e)
{
    AUTO_ARENA a = { 0 };
    struct limits l = { .a = &a };
    int r = limits_collect (&l, cg, res, e);

    return r < 0 ? r : limits_write (&l, e);
}

int cgroup_limit (struct cgroup *cg, const struct oci_linux_resources *res, struct err *e)
{
    int r = res ? limit (cg, res, e) : 0;

    return r >= 0 && cg->fresh ? devices_apply (cg, res, e) : r;
}

/* ---- reading back ---- */

static int check_limit (const struct limit *m, struct err *e)
{
    AUTO_ARENA a = { 0 };
    const char *value = m->value;
    char *text;
    int r = cgfile_read (m->h->dir, m->file, &a, &text, e);

    if (r == -ENOENT && m->alt_file) {
        r = cgfile_read (m->h->dir, m->alt_file, &a, &text, e);
        value = m->alt_value ? m->alt_value : value;
    }
    if (r == -ENOENT && limit_can_miss (m))
        return 0;
    if (r < 0)
        return explain (m, r, e);
    if (limit_is_kept (m, value, text))
        return 0;
    return err_set (e, EINVAL,
                    "/linux/resources/%s: the kernel keeps '%.*s' in '%s' instead of '%s'", m->key,
                    (int)strcspn (text, "\n"), text, m->file, value);
}

int limits_check (const struct limits *l, struct err *e)
{
    int r = 0;

    for (const struct limit *m = l->first; r >= 0 && m; m = m->next)
        if (m->check != CHECK_NONE)
            r = check_limit (m, e);
    return r;
}

int cgroup_limit_check (const struct cgroup *cg, const struct oci_linux_resources *res,
                        struct err *e)
{
    AUTO_ARENA a = { 0 };
    struct limits l = { .a = &a };
    int r = res ? limits_collect (&l, cg, res, e) : 0;

    if (r >= 0)
        r = limits_check (&l, e);
    return r >= 0 && cg->fresh ? devices_check (cg, res, e) : r;
}
