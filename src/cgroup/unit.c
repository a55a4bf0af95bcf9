#include "cgroup/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "cgroup/bus.h"
#include "cgroup/internal.h"

/* On cgroup2 the container gets a cgroup of its own below the unit's, as with crun: systemd leaves
 * alone what is in there, also at a reload (runc#3551, #4568: device rules that are gone). */
#define DEFAULT_SUBGROUP "container"

/* Those that every unit gets, at most. */
#define FIXED_MAX 12

static int need_bus (struct cgroup *cg, struct err *e)
{
    return cg->unit.bus ? 0 : bus_open (cg->unit.address, &cg->unit.bus, e);
}

bool unit_makes (const struct cgroup *cg, const struct cgroup_hierarchy *h)
{
    return cg->unit.name && (cgroup_is_v2 (h) || strcmp (h->controllers, "name=systemd") == 0);
}

int unit_locate (const struct plan_cgroup *pc, struct arena *a, struct cgroup *cg,
                 const char **ret_path, struct err *e)
{
    const struct plan_unit *u = pc->unit;
    const char *sub = u->subgroup ?: cg->layout == CGROUP_V2 ? DEFAULT_SUBGROUP : "";
    const char *root, *path;
    size_t n;

    if (cg->n == 0)
        return err_set (e, ENOTSUP, "--systemd-cgroup: no cgroup hierarchy is mounted");
    cg->unit = (struct cgroup_unit){ .name = u->name, .is_awaited = true };
    if (bus_address (u->of_user, a, &cg->unit.address, e) < 0 || need_bus (cg, e) < 0 ||
        bus_control_group (cg->unit.bus, a, &root, e) < 0)
        return -e->code;
    n = strcmp (root, "/") == 0 ? 0 : strlen (root);
    path = arena_printf (a, "%.*s%s/%s%s%s", (int)n, root, u->slice_path, u->name, *sub ? "/" : "",
                         sub);
    cg->unit.path_len = n + strlen (u->slice_path) + 1 + strlen (u->name);
    *ret_path = path;
    return path ? 0 : err_oom (e);
}

/* A unit of that name is somebody else's: it must neither be entered nor, from a state that names
 * it, be stopped. */
int unit_refuse_used (const struct cgroup *cg, struct arena *a, struct err *e)
{
    for (size_t i = 0; i < cg->n; i++) {
        const struct cgroup_hierarchy *h = &cg->h[i];
        AUTO_FD mount = unit_makes (cg, h) ? cgfile_mount (h, e) : -1;
        const char *path = arena_strndup (a, h->path + 1, cg->unit.path_len - 1);
        AUTO_FD dir = -1;

        if (!unit_makes (cg, h))
            continue;
        if (mount < 0 || !path)
            return mount < 0 ? mount : err_oom (e);
        dir = cgfile_open (mount, path, O_PATH | O_DIRECTORY, e);
        if (dir >= 0)
            return err_set (
                e, EEXIST, "/linux/cgroupsPath: there is a unit '%s' already, of another container",
                cg->unit.name);
        if (dir != -ENOENT)
            return dir;
    }
    return 0;
}

/* ---- start ---- */
static size_t fixed_properties (const struct plan_unit *u, const struct cgroup *cg, struct arena *a,
                                struct unitprop *to)
{
    const struct unitprop fixed[] = {
        { .name = "Description",
          .type = UNITPROP_STRING,
          .text = arena_printf (a, "container (agentrt) %s", u->name) },
        { .name = "Slice", .type = UNITPROP_STRING, .text = u->slice },
        { .name = "PIDs", .type = UNITPROP_PIDS, .number = (uint64_t)cg->unit.pid },
        { .name = "Delegate", .number = true },
        { .name = "CPUAccounting", .number = true },
        { .name = "MemoryAccounting", .number = true },
        { .name = cg->layout == CGROUP_V2 ? "IOAccounting" : "BlockIOAccounting", .number = true },
        { .name = "TasksAccounting", .number = true },
        { .name = "DefaultDependencies", .number = false },
        /* a unit that has failed does not stay */
        { .name = "CollectMode", .type = UNITPROP_STRING, .text = "inactive-or-failed" },
    };

    _Static_assert(ARRAY_LEN (fixed) <= FIXED_MAX, "room");
    memcpy (to, fixed, sizeof fixed);
    return ARRAY_LEN (fixed);
}

int cgroup_unit_start (struct cgroup *cg, const struct plan_cgroup *pc, pid_t pid, struct err *e)
{
    AUTO_ARENA a = { 0 };
    const struct plan_unit *u = pc->unit;
    const struct unit_asked asked = { .resources = pc->resources,
                                      .v2 = cg->layout == CGROUP_V2,
                                      .devices = true };
    struct unitprop *props =
        arena_calloc (&a, FIXED_MAX + UNIT_LIMITS_MAX + u->n_props, sizeof *props);
    size_t n, more;
    int r;

    if (!props)
        return err_oom (e);
    cg->unit.pid = pid;
    n = fixed_properties (u, cg, &a, props);
    if (unit_limits (&asked, &a, props + n, &more, e) < 0)
        return -e->code;
    n += more;
    if (u->n_props > 0) /* last: what is said twice holds as said last */
        memcpy (props + n, u->props, u->n_props * sizeof *props);
    n += u->n_props;
    r = need_bus (cg, e);
    if (r == 0)
        r = bus_start_unit (cg->unit.bus, u->name, props, n, e);
    if (r == -EEXIST)
        cg->unit.name = NULL; /* not ours to stop */
    return r < 0 ? err_add (e, "start unit '%s'", u->name) : 0;
}

/* PATH (LEN) is the unit's own cgroup in H. */
static bool is_unit_path (const struct cgroup *cg, const struct cgroup_hierarchy *h,
                          const char *path, size_t len)
{
    return path && len == cg->unit.path_len && memcmp (path, h->path, len) == 0;
}

int cgroup_unit_check (const struct cgroup *cg, int procfs, pid_t pid, struct err *e)
{
    AUTO_ARENA a = { 0 };
    char file[32];
    char *text;

    (void)snprintf (file, sizeof file, "%d/cgroup", (int)pid);
    if (fd_read_file (procfs, file, 65536, FD_PROC, &a, &text, NULL, e) < 0)
        return -e->code;
    for (size_t i = 0; i < cg->n; i++) {
        const struct cgroup_hierarchy *h = &cg->h[i];
        size_t len = 0;
        const char *path = proc_cgroup_path (text, h, &len);

        if (unit_makes (cg, h) && !is_unit_path (cg, h, path, len))
            return err_set (e, ESRCH, "systemd put the process into '%.*s', not into '%.*s'",
                            (int)len, path ?: "", (int)cg->unit.path_len, h->path);
    }
    return 0;
}

/* ---- exec ---- */
int cgroup_unit_attach (struct cgroup *cg, pid_t pid, struct err *e)
{
    AUTO_ARENA a = { 0 };
    const struct cgroup_hierarchy *h = cgroup_v2_home (cg) ?: &cg->h[0];
    const char *name = arena_printf (&a, "/%s", cg->unit.name);
    const char *at = name ? strstr (h->path, name) : NULL;
    const char *below = at ? at + strlen (name) : "";

    if (!name)
        return err_oom (e);
    if (need_bus (cg, e) < 0 || bus_attach (cg->unit.bus, cg->unit.name, below, pid, e) < 0)
        return err_add (e, "attach a process to unit '%s'", cg->unit.name);
    cg->unit.is_awaited = false;
    return 0;
}

/* ---- update, stop ---- */

/* The kernel's own words: an update of the quota alone keeps the period. */
static const char *read_cpu_max (const struct cgroup *cg, struct arena *a)
{
    const struct cgroup_hierarchy *h = cgroup_v2_home (cg);
    struct err ignored;
    char *text, *period;

    if (cg->layout == CGROUP_V2)
        return cgfile_read (h->dir, "cpu.max", a, &text, &ignored) < 0 ? NULL : text;
    h = cgroup_v1_home (cg, "cpu");
    if (!h || cgfile_read (h->dir, "cpu.cfs_quota_us", a, &text, &ignored) < 0 ||
        cgfile_read (h->dir, "cpu.cfs_period_us", a, &period, &ignored) < 0)
        return NULL;
    return arena_printf (a, "%.*s %s", (int)strcspn (text, "\n"), text, period);
}

int unit_update (struct cgroup *cg, const struct oci_linux_resources *res, struct err *e)
{
    AUTO_ARENA a = { 0 };
    const struct unit_asked asked = { .resources = res,
                                      .v2 = cg->layout == CGROUP_V2,
                                      .cpu_max = read_cpu_max (cg, &a) };
    struct unitprop *props = arena_calloc (&a, UNIT_LIMITS_MAX, sizeof *props);
    size_t n;

    if (!props)
        return err_oom (e);
    if (unit_limits (&asked, &a, props, &n, e) < 0 || n == 0)
        return n == 0 ? 0 : -e->code;
    if (need_bus (cg, e) < 0 || bus_set_unit (cg->unit.bus, cg->unit.name, props, n, e) < 0)
        return err_add (e, "update unit '%s'", cg->unit.name);
    return 0;
}

/* Its cgroup goes with a unit, and neither without the other. */
static bool is_gone (const struct cgroup *cg)
{
    for (size_t i = 0; i < cg->n; i++)
        if (unit_makes (cg, &cg->h[i]) && cg->h[i].dir >= 0)
            return false;
    return true;
}

int unit_stop (struct cgroup *cg, struct err *e)
{
    struct err first;
    int r = need_bus (cg, &first);

    if (r == 0)
        r = bus_stop_unit (cg->unit.bus, cg->unit.name, &first);
    if (r == 0 || (r == -ENOTCONN && is_gone (cg)))
        return 0;
    *e = first;
    return err_add (e, "stop unit '%s'", cg->unit.name);
}
