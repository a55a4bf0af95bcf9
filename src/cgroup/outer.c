/*
 * Whether a container's cgroup would lie in that of another container.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "cgroup/internal.h"

/* The inode of the process's pid namespace; 0: it has gone. */
static ino_t pidns_of (int procfs, const char *pid)
{
    char path[sizeof "2147483647/ns/pid"];
    struct stat st;

    if (snprintf (path, sizeof path, "%s/ns/pid", pid) >= (int)sizeof path)
        return 0;
    return fstatat (procfs, path, &st, 0) == 0 ? st.st_ino : 0;
}

/* PROCS (cgroup.procs) has a process of another pid namespace, and not the caller. */
static bool is_containers (char *procs, int procfs)
{
    const ino_t own = pidns_of (procfs, "self");
    const pid_t self = getpid ();
    bool found = false;
    char *rest = NULL;

    for (char *pid = strtok_r (procs, "\n", &rest); pid; pid = strtok_r (NULL, "\n", &rest)) {
        ino_t ns = pidns_of (procfs, pid);

        if (strtol (pid, NULL, 10) == self)
            return false;
        found = found || (ns && ns != own);
    }
    return found;
}

/* -ENOENT: there is no such cgroup. */
static int look (int mount, const char *path, int procfs, bool *ret, struct err *e)
{
    AUTO_ARENA a = { 0 };
    AUTO_FD dir = cgfile_open (mount, path + 1, O_RDONLY | O_DIRECTORY, e);
    char *procs;
    int r = dir < 0 ? dir : cgfile_read (dir, "cgroup.procs", &a, &procs, e);

    if (r == -EOPNOTSUPP) /* a threaded one: its processes count as its parent's */
        return 0;
    if (r >= 0)
        *ret = is_containers (procs, procfs);
    return r;
}

/* One hierarchy is enough: engines and runtimes have a container at one path in all. */
int cgroup_outer (const struct cgroup *cg, int procfs, struct arena *a, const char **ret,
                  struct err *e)
{
    const struct cgroup_hierarchy *h = cg->n > 0 ? &cg->h[cg->n - 1] : NULL;
    AUTO_FD mount = h ? cgfile_mount (h, e) : -1;
    char *path = h ? arena_strdup (a, h->path) : NULL;
    bool found = false;

    *ret = NULL;
    if (!h)
        return 0;
    if (mount < 0)
        return mount;
    if (!path)
        return err_oom (e);
    for (char *end = path; (end = strchr (end + 1, '/')); *end = '/') {
        int r;

        *end = '\0';
        r = look (mount, path, procfs, &found, e);
        if (r == -ENOENT)
            return 0;
        if (r < 0)
            return err_add (e, "cgroup '%s%s'", h->mountpoint, path);
        if (found) {
            *ret = path;
            return 0;
        }
    }
    return 0;
}
