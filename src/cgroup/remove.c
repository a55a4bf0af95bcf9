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

#define PAUSE_MAX_MS 100

static bool is_gone (int code)
{
    return code == ENOENT || code == ENODEV;
}

/* rmdir of a cgroup with a dying process is EBUSY for a moment: whoever walks comes again. */
static int rmdir_at (int parent, const char *name, void *data, struct err *e)
{
    int *busy = data;

    if (unlinkat (parent, name, AT_REMOVEDIR) == 0 || is_gone (errno))
        return 0;
    if (errno == EBUSY || errno == ENOTEMPTY) {
        (*busy)++;
        return 0;
    }
    return err_sys (e, "remove sub-cgroup '%s'", name);
}

/* Without a descriptor for the parent, for there may be none to be had. The path is that of the
 * mount, and directories of a cgroupfs are neither links nor moved: it is asked whether it still is
 * what was made. */
static int remove_by_path (const struct cgroup_hierarchy *h, int *busy, struct err *e)
{
    char path[PATH_MAX];
    struct stat ours, named;
    int len = snprintf (path, sizeof path, "%s%s", h->mountpoint, h->path);

    if (len < 0 || (size_t)len >= sizeof path)
        return err_set (e, ENAMETOOLONG, "the path of the cgroup is too long");
    if (fstat (h->dir, &ours) < 0 || fstatat (AT_FDCWD, path, &named, AT_SYMLINK_NOFOLLOW) < 0)
        return is_gone (errno) ? 0 : err_sys (e, "look at the cgroup");
    if (ours.st_dev != named.st_dev || ours.st_ino != named.st_ino)
        return err_set (e, ESTALE, "another cgroup has its path");
    return rmdir_at (AT_FDCWD, path, busy, e);
}

/* Returns 1 while it is busy. Its parent is reached from its own descriptor, so that what is
 * removed is what was made. */
static int remove_leaf (struct cgroup_hierarchy *h, struct err *e)
{
    AUTO_FD parent = fd_open (h->dir, "..", O_PATH | O_DIRECTORY, FD_HOST, e);
    int busy = 0;
    int r = parent;

    if (r >= 0)
        r = rmdir_at (parent, strrchr (h->path, '/') + 1, &busy, e);
    else
        r = remove_by_path (h, &busy, e);
    if (r < 0)
        return r;
    if (busy)
        return 1;
    cleanup_fd (&h->dir);
    h->dir = -1;
    return 0;
}

int remove_tree (struct cgroup_hierarchy *h, struct err *e)
{
    int busy = 0;
    int r = walk_tree (h->dir, &(struct walk){ .leave = rmdir_at, .data = &busy }, e);

    if (r < 0)
        return r;
    return busy ? 1 : remove_leaf (h, e);
}

/* Every hierarchy is tried, whatever becomes of the others. *RET_BUSY is how many could not be
 * removed yet; the first error is the one returned. */
static int remove_round (struct cgroup *cg,
                         int (*remove) (struct cgroup_hierarchy *h, struct err *e), int *ret_busy,
                         struct err *e)
{
    int result = 0;

    *ret_busy = 0;
    for (size_t i = 0; i < cg->n; i++) {
        struct cgroup_hierarchy *h = &cg->h[i];
        struct err one;
        int r = h->made && h->dir >= 0 ? remove (h, &one) : 0;

        if (r > 0)
            *ret_busy += r;
        if (r >= 0 || result < 0)
            continue;
        result = err_add (&one, "remove cgroup '%s%s'", h->mountpoint, h->path);
        *e = one;
    }
    return result;
}

static bool is_all_made (const struct cgroup *cg)
{
    for (size_t i = 0; i < cg->n; i++)
        if (!cg->h[i].made)
            return false;
    return true;
}

static int wait_for_removal (struct cgroup *cg, struct err *e)
{
    int64_t deadline = deadline_in (CGROUP_PATIENCE_MS);
    int busy = 1;
    int r = 0;

    for (long pause = 1; !deadline_is_over (deadline); pause *= 2) {
        r = remove_round (cg, remove_tree, &busy, e);
        if (busy == 0)
            return r;
        sleep_ms (pause < PAUSE_MAX_MS ? pause : PAUSE_MAX_MS);
    }
    if (r < 0)
        return r;
    return err_set (e, EBUSY, "%d cgroup(s) of the container are still in use after %d s", busy,
                    CGROUP_PATIENCE_MS / 1000);
}

/* Everything is dead when systemd is told, or it would send SIGTERM and wait. It removes its
 * folders; what it does not know (v1: freezer, cpuset) is left to us. */
static int remove_unit (struct cgroup *cg, struct err *e)
{
    struct err kill_error;
    int killed = kill_everywhere (cg, &kill_error);
    int r = unit_stop (cg, e);

    if (r == 0)
        r = wait_for_removal (cg, e);
    return r < 0 && killed < 0 ? err_add (e, "%s", kill_error.msg) : r;
}

int cgroup_remove (struct cgroup *cg, struct err *e)
{
    struct err kill_error;
    int busy = 1;
    int killed;
    int r = 0;

    if (cg->unit.name)
        return remove_unit (cg, e);
    if (is_all_made (cg)) /* the usual case: everything is empty, and rmdir says so */
        r = remove_round (cg, remove_leaf, &busy, e);
    if (busy == 0 && r == 0) /* what has failed once is tried again */
        return 0;
    killed = kill_everywhere (cg, &kill_error);
    r = wait_for_removal (cg, e);
    return r == -EBUSY && killed < 0 ? err_add (e, "%s", kill_error.msg) : r;
}

/* One that was there before holds somebody else's processes: who undoes the create must not see it
 * as the container's. */
void remove_made (struct cgroup *cg)
{
    struct err ignored; /* a first error is told; who undoes the create tries again, and tells */
    int busy;

    for (size_t i = 0; i < cg->n; i++) {
        struct cgroup_hierarchy *h = &cg->h[i];

        cleanup_fd (&h->tasks);
        h->tasks = -1;
        if (!h->made) {
            cleanup_fd (&h->dir);
            h->dir = -1;
        } else if (h->dir < 0)
            (void)hierarchy_reopen (h, &ignored);
    }
    (void)remove_round (cg, remove_leaf, &busy, &ignored);
}
