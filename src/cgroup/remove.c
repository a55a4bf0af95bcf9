#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "cgroup/internal.h"

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

/* Returns 1 while it is busy. Its parent is reached from its own descriptor, so that what is
 * removed is what was made. */
static int remove_leaf (struct cgroup_hierarchy *h, struct err *e)
{
    AUTO_FD parent = fd_open (h->dir, "..", O_PATH | O_DIRECTORY, FD_HOST, e);
    int busy = 0;
    int r = parent;

    if (r >= 0)
        r = rmdir_at (parent, strrchr (h->path, '/') + 1, &busy, e);
    if (r < 0)
        return r;
    if (busy)
        return 1;
    cleanup_fd (&h->dir);
    h->dir = -1;
    return 0;
}

static int remove_tree (struct cgroup_hierarchy *h, struct err *e)
{
    int busy = 0;
    int r = walk_tree (h->dir, &(struct walk){ .leave = rmdir_at, .data = &busy }, e);

    if (r < 0)
        return r;
    return busy ? 1 : remove_leaf (h, e);
}

/* How many could not be removed yet, or an error. */
static int remove_round (struct cgroup *cg,
                         int (*remove) (struct cgroup_hierarchy *h, struct err *e), struct err *e)
{
    int busy = 0;

    for (size_t i = 0; i < cg->n; i++) {
        struct cgroup_hierarchy *h = &cg->h[i];
        int r = h->made && h->dir >= 0 ? remove (h, e) : 0;

        if (r < 0)
            return err_add (e, "remove cgroup '%s%s'", h->mountpoint, h->path);
        busy += r;
    }
    return busy;
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

    for (long pause = 1; !deadline_is_over (deadline); pause *= 2) {
        busy = remove_round (cg, remove_tree, e);
        if (busy <= 0)
            return busy;
        sleep_ms (pause < PAUSE_MAX_MS ? pause : PAUSE_MAX_MS);
    }
    return err_set (e, EBUSY, "%d cgroup(s) of the container are still in use after %d s", busy,
                    CGROUP_PATIENCE_MS / 1000);
}

int cgroup_remove (struct cgroup *cg, struct err *e)
{
    struct err kill_error;
    int busy = 0;
    int r;

    if (is_all_made (cg)) /* the usual case: everything is empty, and rmdir says so */
        busy = remove_round (cg, remove_leaf, e);
    if (busy < 0 || (busy == 0 && is_all_made (cg)))
        return busy;
    r = kill_everywhere (cg, &kill_error);
    busy = wait_for_removal (cg, e);
    return busy == -EBUSY && r < 0 ? err_add (e, "%s", kill_error.msg) : busy;
}

void remove_made (struct cgroup *cg)
{
    struct err ignored;

    (void)remove_round (cg, remove_leaf, &ignored); /* nobody was in it; a first error is told */
    cgroup_close (cg);
}
