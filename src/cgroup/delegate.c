/*
 * The container's own cgroup given to its user, so that an init inside can make groups below it.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "cgroup/internal.h"

/* What moves processes and makes groups below. Not the files of limits: those of the container's
 * own cgroup stay root's. cgroup.events and the like can only be read. v2: what
 * /sys/kernel/cgroup/delegate lists, but for memory.oom.group and memory.reclaim, which act on the
 * whole container. */
static const char *const files[] = { "", "cgroup.procs", "cgroup.threads", "cgroup.subtree_control",
                                     "tasks" };

static int give (int dir, const char *file, const struct plan_cgroup *pc, struct err *e)
{
    int flags = file[0] ? AT_SYMLINK_NOFOLLOW : AT_EMPTY_PATH;

    if (fchownat (dir, file, pc->owner_uid, pc->owner_gid, flags) == 0 || errno == ENOENT)
        return 0;
    return err_sys (e, "give '%s' to the container's user", file[0] ? file : ".");
}

int cgroup_delegate (const struct cgroup *cg, const struct plan_cgroup *pc, struct err *e)
{
    for (size_t i = 0; i < cg->n; i++)
        for (size_t f = 0; cg->h[i].made && f < ARRAY_LEN (files); f++)
            if (give (cg->h[i].dir, files[f], pc, e) < 0)
                return err_add (e, "cgroup '%s%s'", cg->h[i].mountpoint, cg->h[i].path);
    return 0;
}

int cgroup_delegate_check (const struct cgroup *cg, const struct plan_cgroup *pc, struct err *e)
{
    for (size_t i = 0; i < cg->n; i++) {
        struct stat st;

        if (!cg->h[i].made)
            continue;
        if (fstat (cg->h[i].dir, &st) < 0)
            return err_sys (e, "look at cgroup '%s%s'", cg->h[i].mountpoint, cg->h[i].path);
        if (st.st_uid != pc->owner_uid || st.st_gid != pc->owner_gid)
            return err_set (e, EPERM, "cgroup '%s%s' is of %u:%u, wanted %u:%u",
                            cg->h[i].mountpoint, cg->h[i].path, st.st_uid, st.st_gid, pc->owner_uid,
                            pc->owner_gid);
    }
    return 0;
}
