#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "cgroup/internal.h"
#include "cgroup/unit.h"

/* A v1 cpuset starts empty, and a process cannot enter an empty one (ENOSPC). */
static int inherit_cpuset (int parent, int child, const char *names[2], const char *want,
                           struct err *e)
{
    AUTO_ARENA a = { 0 };
    const char *file = names[0];
    char *text;
    int r = cgfile_read (child, file, &a, &text, e);

    if (r == -ENOENT) { /* mounted with noprefix, as Android does */
        file = names[1];
        r = cgfile_read (child, file, &a, &text, e);
    }
    if (r < 0 || text[strspn (text, "\n")] != '\0')
        return r; /* set already: by an earlier create, or by cgroup.clone_children */
    if (!want) {
        r = cgfile_read (parent, file, &a, &text, e);
        want = text;
    }
    return r < 0 ? r : cgfile_write (child, file, want, e);
}

static int inherit_cpusets (int parent, int child, const struct oci_cpu *cpu, struct err *e)
{
    static const char *const files[][2] = { { "cpuset.cpus", "cpus" }, { "cpuset.mems", "mems" } };
    const char *want[] = { cpu ? cpu->cpus : NULL, cpu ? cpu->mems : NULL };
    int r = 0;

    for (size_t i = 0; r >= 0 && i < ARRAY_LEN (files); i++)
        r = inherit_cpuset (parent, child, (const char *[2]){ files[i][0], files[i][1] },
                            want[i] && *want[i] ? want[i] : NULL, e);
    return r;
}

/* runc's texts: engines and their users search for them. A frozen cgroup would stop the first
 * process for ever, a non-empty one would let others share (and be killed with) the container. */
int refuse_used (const struct cgroup_hierarchy *h, pid_t own, struct err *e)
{
    AUTO_ARENA a = { 0 };
    bool frozen = false;
    pid_t *pids;
    size_t n = 0;
    int r = h->made ? 0 : pids_below (h->dir, &a, &pids, &n, e);

    if (r >= 0 && n > 0 && (n > 1 || pids[0] != own))
        return err_set (e, EBUSY,
                        "container's cgroup is not empty: %zu process(es) found in '%s%s'", n,
                        h->mountpoint, h->path);
    if (r >= 0)
        r = freeze_look (h, false, &frozen, e);
    if (r >= 0 && frozen)
        return err_set (e, EBUSY, "container's cgroup unexpectedly frozen: '%s%s'", h->mountpoint,
                        h->path);
    return r;
}

/* A cgroup2 below a threaded one can hold no process. */
static int refuse_invalid (const struct cgroup_hierarchy *h, struct err *e)
{
    AUTO_ARENA a = { 0 };
    char *type;
    int r = cgfile_read (h->dir, "cgroup.type", &a, &type, e);

    if (r < 0 || strcmp (type, "domain invalid\n") != 0)
        return r;
    return err_set (e, EOPNOTSUPP,
                    "cgroup '%s%s' lies below a threaded cgroup, where no container can be: choose "
                    "another /linux/cgroupsPath",
                    h->mountpoint, h->path);
}

struct making {
    const struct cgroup *cg;
    struct cgroup_hierarchy *h;
    const struct oci_linux_resources *res;
};

/* A path of our own choice that is there already is what a container of this id left: its limits
 * are not ours. */
static int make_anew (const struct making *m, int dir, const char *name, struct err *e)
{
    struct cgroup_hierarchy old = *m->h;
    int r = old.dir = cgfile_open (dir, name, O_RDONLY | O_DIRECTORY, e);

    if (r >= 0 && cgroup_is_foreign (old.dir))
        r = err_set (e, EACCES, "it is another user's");
    if (r >= 0)
        r = refuse_used (&old, 0, e);
    if (r >= 0)
        r = remove_tree (&old, e);
    cleanup_fd (&old.dir);
    if (r > 0)
        r = err_set (e, EBUSY, "what an earlier container of this id left cannot be removed");
    if (r >= 0 && mkdirat (dir, name, 0755) < 0)
        r = err_sys (e, "make it anew");
    m->h->made = r >= 0;
    return r;
}

/* The next folder on the way, which is systemd's to make and to equip. */
static int open_level (int *dir, const char *name, struct err *e)
{
    int child = cgfile_open (*dir, name, O_RDONLY | O_DIRECTORY, e);

    if (child < 0)
        return child;
    (void)close (*dir);
    *dir = child;
    return 0;
}

/* Makes NAME below *DIR, which becomes the new one. */
static int make_level (const struct making *m, int *dir, const char *name, bool is_last,
                       struct err *e)
{
    AUTO_FD child = -1;
    int r = 0;

    if (cgroup_is_v2 (m->h) && !m->cg->unit.name)
        v2_enable (m->cg, m->res, *dir);
    m->h->made = mkdirat (*dir, name, 0755) == 0;
    if (!m->h->made && errno != EEXIST)
        return err_sys (e, "make it");
    if (!m->h->made && is_last && !m->cg->given)
        r = make_anew (m, *dir, name, e);
    if (r < 0)
        return r;
    child = cgfile_open (*dir, name, (is_last ? O_RDONLY : O_PATH) | O_DIRECTORY, e);
    if (child < 0 && m->h->made)
        m->h->made = unlinkat (*dir, name, AT_REMOVEDIR) < 0; /* out of descriptors, say */
    if (child < 0)
        return child;
    if (!cgroup_is_v2 (m->h) && has_word (m->h->controllers, ",", "cpuset"))
        r = inherit_cpusets (*dir, child, is_last && m->res ? m->res->cpu : NULL, e);
    if (r < 0 && is_last && m->h->made)
        (void)unlinkat (*dir, name, AT_REMOVEDIR); /* nobody was in it yet */
    if (r < 0)
        return r;
    (void)close (*dir);
    *dir = TAKE_FD (child);
    return 0;
}

/* The folders on the way stay when the container goes: other containers share them. */
static int make_path (const struct making *m, struct err *e)
{
    AUTO_FD dir = cgfile_mount (m->h, e);
    const char *rest = m->h->path;
    int r = dir;

    while (r >= 0 && *rest) {
        char name[NAME_MAX + 1];
        size_t len = strcspn (++rest, "/");

        if (len > NAME_MAX)
            return err_set (e, ENAMETOOLONG, "a name of %zu bytes is too long", len);
        memcpy (name, rest, len);
        name[len] = '\0';
        rest += len;
        if (unit_makes (m->cg, m->h) && (size_t)(rest - m->h->path) <= m->cg->unit.path_len)
            r = open_level (&dir, name, e);
        else
            r = make_level (m, &dir, name, !*rest, e);
    }
    if (r < 0)
        return r;
    m->h->dir = TAKE_FD (dir);
    return 0;
}

static int make (const struct making *m, struct err *e)
{
    int r = make_path (m, e);

    if (r < 0)
        return err_add (e, "cgroup '%s%s'", m->h->mountpoint, m->h->path);
    r = refuse_used (m->h, m->cg->unit.pid, e);
    return r >= 0 && cgroup_is_v2 (m->h) ? refuse_invalid (m->h, e) : r;
}

/* What was made, and cannot be used, is none: it has to be removed. */
static bool is_refusal (const struct cgroup_hierarchy *h, int r)
{
    return h->dir < 0 && !h->made && (r == -EACCES || r == -EPERM || r == -EROFS);
}

/* This user cannot make it in this hierarchy. That is fine while nobody asked for it. */
static int do_without (struct cgroup *cg, size_t i, const struct oci_linux_resources *res,
                       struct err *e)
{
    if (cg->given)
        return err_add (e, "/linux/cgroupsPath");
    if (limits_do_without (cg, &cg->h[i], res, e) < 0)
        return -e->code;
    if (cg->layout == CGROUP_HYBRID && cgroup_is_v2 (&cg->h[i]))
        cg->layout = CGROUP_V1;
    memmove (&cg->h[i], &cg->h[i + 1], (cg->n - i - 1) * sizeof cg->h[0]);
    if (--cg->n == 0)
        cg->layout = CGROUP_NONE;
    return 0;
}

/* Moves the unit's process into the container's cgroup, which leaves the unit's own without one:
 * only then may that pass its controllers on. */
static int put_in (const struct cgroup *cg, const struct cgroup_hierarchy *h,
                   const struct oci_linux_resources *res, struct err *e)
{
    AUTO_FD above = -1;
    char pid[16];

    (void)snprintf (pid, sizeof pid, "%d", (int)cg->unit.pid);
    if (cgfile_write (h->dir, "cgroup.procs", pid, e) < 0)
        return err_add (e, "cgroup '%s%s'", h->mountpoint, h->path);
    if (!cgroup_is_v2 (h) || strlen (h->path) == cg->unit.path_len)
        return 0;
    above = fd_open (h->dir, "..", O_PATH | O_DIRECTORY, FD_HOST, e);
    if (above < 0)
        return above;
    v2_enable (cg, res, above);
    return 0;
}

/* What is there belongs to the unit alone, so it is made with it and goes with it. */
static int fill_unit (struct cgroup *cg, const struct oci_linux_resources *res, struct err *e)
{
    int r = 0;

    for (size_t i = 0; r >= 0 && i < cg->n; i++) {
        r = put_in (cg, &cg->h[i], res, e);
        cg->h[i].made = true;
    }
    cg->unit.is_awaited = r < 0;
    return r;
}

int cgroup_create (struct cgroup *cg, const struct oci_linux_resources *res, struct err *e)
{
    /* Kept for the removal of what was made, should descriptors run out. */
    AUTO_FD spare = open ("/", O_PATH | O_CLOEXEC);
    int r = 0;

    for (size_t i = 0; i < cg->n; i++)
        cg->h[i].made = false; /* what cgroup_locate foretold; now it is what was done */
    for (size_t i = 0; r >= 0 && i < cg->n;) {
        r = make (&(struct making){ cg, &cg->h[i], res }, e);
        if (is_refusal (&cg->h[i], r))
            r = do_without (cg, i, res, e);
        else
            i++;
    }
    if (r >= 0)
        r = cg->unit.name ? fill_unit (cg, res, e) : cgroup_enter_prepare (cg, e);
    if (r < 0) {
        cleanup_fd (&spare);
        spare = -1;
        remove_made (cg);
        return r;
    }
    cg->fresh = true;
    return 0;
}
