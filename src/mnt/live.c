/*
 * Mounts of a container that runs: added, and removed again.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "base/str.h"
#include "mnt/sources.h"

/* A start lays masks over these, or needs the host's view for them. */
static const char *const only_at_start[] = { "proc", "sysfs", "cgroup", "cgroup2", NULL };

/* ---- the root ---- */
static int open_root (struct mnt *m, struct err *e)
{
    m->root = fd_open (AT_FDCWD, "/", O_PATH | O_DIRECTORY, FD_HOST, e);
    return m->root < 0 ? m->root : tree_identify (m->root, "", &m->root_id, e);
}

/* ---- what stays covered ---- */

/* What DEST is called once all its links are followed; whatever of it is not there yet has no
 * protected path in it. */
static int true_path (const struct mnt *m, int procfs, const char *dest, char buf[PATH_MAX],
                      struct err *e)
{
    AUTO_FD fd = fd_open (m->root, dest, O_PATH, FD_IN_ROOT, e);
    char link[32];
    ssize_t n;

    if (fd == -ENOENT) {
        (void)snprintf (buf, PATH_MAX, "%s", dest);
        return 0;
    }
    if (fd < 0)
        return err_add (e, "destination");
    (void)snprintf (link, sizeof link, "self/fd/%d", fd);
    n = readlinkat (procfs, link, buf, PATH_MAX - 1);
    if (n < 0)
        return err_sys (e, "look up the path of the destination");
    buf[n] = '\0';
    return 0;
}

static int check_list (const char *path, const char *const *list, size_t n, const char *what,
                       struct err *e)
{
    for (size_t i = 0; i < n; i++)
        if (str_is_at_or_below (path, list[i]) || str_is_at_or_below (list[i], path))
            return err_set (e, EPERM, "refused: '%.150s' would lay %s open (%.150s)", path, list[i],
                            what);
    return 0;
}

static int check_covered (const struct mnt *m, int procfs, const char *dest, struct err *e)
{
    char path[PATH_MAX];
    int r = true_path (m, procfs, dest, path, e);

    if (r == 0)
        r = check_list (path, m->plan->masked, m->plan->n_masked, "/linux/maskedPaths", e);
    if (r == 0)
        r = check_list (path, m->plan->readonly, m->plan->n_readonly, "/linux/readonlyPaths", e);
    return r;
}

static int check_mount (const struct mnt *m, int procfs, const struct plan_mount *pm, struct err *e)
{
    if (pm->kind == MOUNT_NEW && str_is_in (pm->fstype, only_at_start))
        return err_set (e, ENOTSUP, "a %s is only mounted when the container is made", pm->fstype);
    return check_covered (m, procfs, pm->dest, e);
}

/* ---- taking away ---- */

/* By the trusted procfs: the container's own /proc may be anything. Changes the working directory,
 * which nobody uses any more. */
static int unmount (int procfs, int fd, struct err *e)
{
    char link[32];

    (void)snprintf (link, sizeof link, "self/fd/%d", fd);
    if (fchdir (procfs) < 0 || umount2 (link, MNT_DETACH) < 0)
        return err_sys (e, "unmount");
    return 0;
}

/* What was mounted of PLAN before one failed; flags that a remount changed stay so. */
static void undo (const struct mnt *m, int procfs, const int *fds)
{
    struct err ignored;

    for (size_t i = m->plan->n_mounts; i-- > 0;)
        if (fds[i] >= 0 && m->plan->mounts[i].kind != MOUNT_REMOUNT)
            (void)unmount (procfs, fds[i], &ignored); /* a bind that was never attached is fine */
}

/* The steps close what they have checked, and undoing needs it. */
static void keep_fds (const struct mnt *m, int *fds)
{
    for (size_t i = 0; i < m->plan->n_mounts; i++)
        fds[i] = m->src->mounts[i] < 0 ? -1 : fcntl (m->src->mounts[i], F_DUPFD_CLOEXEC, 0);
}

static int make_all (struct mnt *m, int *fds, struct err *e)
{
    int r = mnt_mounts (m, e);

    keep_fds (m, fds);
    if (r == 0)
        r = mnt_late_readonly (m, e);
    if (r == 0)
        r = mnt_late_readonly_check (m, e);
    return r < 0 ? r : mnt_mounts_check (m, e);
}

int mnt_live_add (struct mnt *m, int procfs, struct err *e)
{
    AUTO_FREE int *fds = calloc (m->plan->n_mounts + 1, sizeof *fds);
    int r = fds ? open_root (m, e) : err_oom (e);

    for (size_t i = 0; r == 0 && i < m->plan->n_mounts; i++) {
        r = check_mount (m, procfs, &m->plan->mounts[i], e);
        if (r < 0)
            r = sources_blame (&m->plan->mounts[i], e);
    }
    if (r < 0)
        return r;
    r = make_all (m, fds, e);
    if (r < 0)
        undo (m, procfs, fds);
    return r;
}

/* ---- removing ---- */

/* A mount of the container's config, or one that covers it at the same place. */
static int check_not_made (const struct mnt *m, const struct tree_id *id,
                           const struct oci_config *made, struct err *e)
{
    for (size_t i = 0; i < made->n_mounts; i++) {
        struct err ignored;
        struct tree_id own;
        AUTO_FD fd = fd_open (m->root, made->mounts[i].destination, O_PATH, FD_IN_ROOT, &ignored);

        if (fd >= 0 && tree_identify (fd, "", &own, &ignored) == 0 && own.mount == id->mount &&
            own.is_mount_root)
            return err_set (e, EPERM, "refused: the container was made with what is mounted there");
    }
    return 0;
}

static int remove_one (const struct mnt *m, int procfs, const char *dest,
                       const struct oci_config *made, struct err *e)
{
    AUTO_FD fd = fd_open (m->root, dest, O_PATH, FD_IN_ROOT, e);
    struct tree_id id;
    int r = fd < 0 ? fd : tree_identify (fd, "", &id, e);

    if (r == -ENOENT || (r == 0 && !id.is_mount_root))
        return err_set (e, EINVAL, "nothing is mounted there");
    if (r < 0)
        return r;
    if (tree_id_equal (&id, &m->root_id))
        return err_set (e, EPERM, "refused: it is the root");
    r = check_covered (m, procfs, dest, e);
    if (r == 0)
        r = check_not_made (m, &id, made, e);
    return r < 0 ? r : unmount (procfs, fd, e);
}

int mnt_live_remove (struct mnt *m, int procfs, const struct oci_config *made, struct err *e)
{
    int r = open_root (m, e);

    for (size_t i = m->plan->n_mounts; r == 0 && i-- > 0;) {
        r = remove_one (m, procfs, m->plan->mounts[i].dest, made, e);
        if (r < 0)
            r = sources_blame (&m->plan->mounts[i], e);
    }
    return r;
}
