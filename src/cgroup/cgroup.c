#include "cgroup/cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "cgroup/bus.h"
#include "cgroup/internal.h"

static const char *const layout_names[] = {
    [CGROUP_NONE] = "none",
    [CGROUP_V1] = "v1",
    [CGROUP_HYBRID] = "hybrid",
    [CGROUP_V2] = "v2",
};

/* A cgroup that is gone (or its whole hierarchy) leaves dir at -1. */
int hierarchy_reopen (struct cgroup_hierarchy *h, struct err *e)
{
    AUTO_FD mount = cgfile_mount (h, e);

    if (mount == -ENOENT || mount == -ENOTSUP)
        return 0;
    if (mount < 0)
        return mount;
    h->dir = cgfile_open (mount, h->path + 1, O_RDONLY | O_DIRECTORY, e);
    if (h->dir >= 0 || h->dir == -ENOENT)
        return 0;
    return err_add (e, "cgroup '%s%s'", h->mountpoint, h->path);
}

int cgroup_reopen (const struct oci_saved_cgroup *saved, struct arena *a, struct cgroup *ret,
                   struct err *e)
{
    struct cgroup cg = { .unit = { .name = saved->unit, .address = saved->bus } };
    int r = 0;

    if (saved->n_paths > CGROUP_MAX_HIERARCHIES)
        return err_set (e, EINVAL, "the saved state names %zu cgroups", saved->n_paths);
    while (cg.layout < ARRAY_LEN (layout_names) - 1 &&
           strcmp (layout_names[cg.layout], saved->layout) != 0)
        cg.layout++;
    for (; r >= 0 && cg.n < saved->n_paths; cg.n++) {
        const struct oci_saved_hierarchy *s = &saved->paths[cg.n];
        struct cgroup_hierarchy *h = &cg.h[cg.n];

        *h = (struct cgroup_hierarchy){ .controllers = s->controllers,
                                        .mountpoint = s->mountpoint,
                                        .made = s->made,
                                        .dir = -1,
                                        .tasks = -1 };
        r = cgroup_clean_path (s->path, a, &h->path, e);
        if (r >= 0)
            r = hierarchy_reopen (h, e);
    }
    if (r < 0) {
        cgroup_close (&cg);
        return r;
    }
    *ret = cg;
    return 0;
}

int cgroup_save (const struct cgroup *cg, struct arena *a, struct oci_saved_cgroup *ret,
                 struct err *e)
{
    struct oci_saved_hierarchy *paths = arena_calloc (a, cg->n + 1, sizeof *paths);

    if (!paths)
        return err_oom (e);
    for (size_t i = 0; i < cg->n; i++)
        paths[i] = (struct oci_saved_hierarchy){ .controllers = cg->h[i].controllers,
                                                 .mountpoint = cg->h[i].mountpoint,
                                                 .path = cg->h[i].path,
                                                 .made = cg->h[i].made };
    *ret = (struct oci_saved_cgroup){ .layout = layout_names[cg->layout],
                                      .unit = cg->unit.name,
                                      .bus = cg->unit.address,
                                      .paths = paths,
                                      .n_paths = cg->n };
    return 0;
}

int cgroup_clone_fd (const struct cgroup *cg)
{
    const struct cgroup_hierarchy *h = cgroup_v2_home (cg);

    return h && !cg->no_clone_into ? h->dir : -1;
}

int cgroup_enter_prepare (struct cgroup *cg, struct err *e)
{
    if (cg->unit.is_awaited)
        return 0; /* systemd and cgroup_create put it in */
    for (size_t i = 0; i < cg->n; i++) {
        struct cgroup_hierarchy *h = &cg->h[i];
        bool v2 = cgroup_is_v2 (h);

        if ((v2 && !cg->no_clone_into) || h->tasks >= 0)
            continue;
        if (h->dir < 0)
            return err_set (e, ESRCH, "cgroup '%s%s' is gone", h->mountpoint, h->path);
        h->tasks = cgfile_open (h->dir, v2 ? "cgroup.procs" : "tasks", O_WRONLY, e);
        if (h->tasks < 0)
            return err_add (e, "cgroup '%s%s'", h->mountpoint, h->path);
    }
    return 0;
}

int cgroup_enter (const struct cgroup *cg, struct err *e)
{
    for (size_t i = 0; i < cg->n; i++) {
        const struct cgroup_hierarchy *h = &cg->h[i];

        if (h->tasks >= 0 && write (h->tasks, "0", 1) != 1)
            return err_sys (e, "enter cgroup '%s%s'", h->mountpoint, h->path);
    }
    return 0;
}

static bool is_listed (const char *text, const struct cgroup_hierarchy *h)
{
    size_t len = 0;
    const char *path = proc_cgroup_path (text, h, &len);

    return path && len == strlen (h->path) && memcmp (path, h->path, len) == 0;
}

/* Slower, but true as well where /proc/PID/cgroup tells paths from another root than the mount's:
 * in a cgroup namespace of its own, or with a part of the host's hierarchy mounted. */
static int has_process (const struct cgroup_hierarchy *h, pid_t pid, struct err *e)
{
    AUTO_ARENA a = { 0 };
    char *text;
    char number[16];
    int r = cgfile_read (h->dir, "cgroup.procs", &a, &text, e);

    if (r < 0)
        return r;
    (void)snprintf (number, sizeof number, "%d", (int)(pid ? pid : getpid ()));
    return has_word (text, "\n", number);
}

int cgroup_enter_check (const struct cgroup *cg, int procfs, pid_t pid, struct err *e)
{
    AUTO_ARENA a = { 0 };
    char path[32] = "self/cgroup";
    char *text;
    int r;

    if (pid)
        (void)snprintf (path, sizeof path, "%d/cgroup", (int)pid);
    r = fd_read_file (procfs, path, 65536, FD_PROC, &a, &text, NULL, e);
    if (r < 0)
        return r;
    for (size_t i = 0; i < cg->n; i++) {
        const struct cgroup_hierarchy *h = &cg->h[i];

        r = is_listed (text, h) ? 1 : has_process (h, pid, e);
        if (r == 0)
            r = err_set (e, ESRCH, "the process did not get into it");
        if (r < 0)
            return err_add (e, "cgroup '%s%s'", h->mountpoint, h->path);
    }
    return 0;
}

int cgroup_oom_kills (const struct cgroup *cg, uint64_t *ret, struct err *e)
{
    const struct cgroup_hierarchy *h = cgroup_v1_home (cg, "memory");
    const char *file = h ? "memory.oom_control" : "memory.events";

    if (!h)
        h = cgroup_v2_home (cg);
    if (!h || h->dir < 0)
        return err_set (e, ESRCH, "there is no memory cgroup to count OOM kills");
    return cgfile_number (h->dir, file, "oom_kill", ret, e);
}

void cgroup_close (struct cgroup *cg)
{
    bus_close (cg->unit.bus);
    cg->unit.bus = NULL;
    for (size_t i = 0; i < cg->n; i++) {
        cleanup_fd (&cg->h[i].dir);
        cleanup_fd (&cg->h[i].tasks);
        cg->h[i].dir = cg->h[i].tasks = -1;
    }
}
