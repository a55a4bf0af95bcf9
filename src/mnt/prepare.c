/*
 * What the parent does for the child: clones of the rootfs, of bind sources and of /dev/null.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "mnt/cgroups.h"
#include "mnt/idmap.h"
#include "mnt/sources.h"
#include "mnt/unpivoted.h"

#define NULL_MAJOR 1
#define NULL_MINOR 3

/* What the mappings of several mounts share: both are opened when the first one asks. */
struct idmap_state {
    const struct plan *plan;
    bool in_child;
    int procfs;
    int container; /* user namespace with the container's own mappings */
};

uint64_t mount_attrs (const struct plan_mount *pm)
{
    const uint64_t atime = MOUNT_ATTR__ATIME;
    uint64_t mode = pm->clear & atime ? pm->set & atime : pm->rset & atime;

    return (((pm->rset & ~pm->clear) | pm->set) & ~atime) | mode;
}

int sources_blame (const struct plan_mount *pm, struct err *e)
{
    return pm->index == SIZE_MAX ? err_add (e, "mount on '%s'", pm->dest)
                                 : err_add (e, "/mounts[%zu] on '%s'", pm->index, pm->dest);
}

/* Engines take the system's "no such file or directory" and "permission denied" for the workload's
 * (docker's exit codes 127 and 126), so a missing source must not end in them. */
static int path_error (const char *what, const char *path, struct err *e)
{
    switch (e->code) {
    case ENOENT:
        return err_set (e, ENOENT, "%s '%s' does not exist", what, path);
    case ENOTDIR:
        return err_set (e, ENOTDIR, "%s '%s' leads through something that is no folder", what,
                        path);
    case EACCES:
        return err_set (e, EACCES, "%s '%s' is out of reach for this user", what, path);
    default:
        return err_add (e, "%s '%s'", what, path);
    }
}

/* What the whole tree of a recursive bind gets before its top mount gets what was asked of it
 * alone. The mounts below are private, unless the top one should exchange mounts with the host:
 * then they get theirs (slave), or stay as the host has them, as the top one has to (shared). */
static uint64_t propagation_below (const struct plan_mount *pm)
{
    if (!pm->propagation)
        return MS_PRIVATE;
    if (pm->propagation_recursive || pm->propagation == MS_SLAVE)
        return pm->propagation;
    return pm->propagation == MS_SHARED ? 0 : MS_PRIVATE;
}

static int set_bind_flags (const struct plan_mount *pm, int fd, struct err *e)
{
    struct tree_flags all = { pm->rset, pm->rclear, propagation_below (pm) };
    struct tree_flags top = { pm->set, pm->clear, pm->propagation_recursive ? 0 : pm->propagation };
    int r = tree_set (fd, pm->recursive, &all, e);

    return r < 0 ? r : tree_set (fd, false, &top, e);
}

static int container_userns (struct idmap_state *im, struct err *e)
{
    const struct plan_ns *ns = &im->plan->ns[NS_USER];

    if (im->container >= 0)
        return im->container;
    if (ns->mode == NS_JOIN)
        im->container = fd_open (AT_FDCWD, ns->path, O_RDONLY, FD_HOST, e);
    else if (ns->mode == NS_MAKE)
        im->container = idmap_userns (&im->plan->idmaps, im->procfs, e);
    else
        return err_set (e, EINVAL,
                        "'idmap' needs uidMappings and gidMappings, or a user namespace");
    return im->container;
}

static int idmap_procfs (struct idmap_state *im, struct err *e)
{
    if (im->procfs < 0)
        im->procfs = fd_procfs (e);
    return im->procfs < 0 ? im->procfs : 0;
}

static int map_ids (const struct plan_mount *pm, int fd, struct idmap_state *im, struct err *e)
{
    AUTO_FD own = -1;
    int userns;

    if (im->in_child)
        return err_set (e, EPERM, "id-mapped mounts need the host's root");
    userns = idmap_procfs (im, e);
    if (userns < 0)
        return userns;
    if (pm->idmaps.n_uid > 0)
        userns = own = idmap_userns (&pm->idmaps, im->procfs, e);
    else
        userns = container_userns (im, e);
    return userns < 0 ? userns : idmap_apply (fd, userns, pm->idmap_recursive, e);
}

/* Its files keep their owners on disk; in the container they are those of its own ids. */
static int map_root (const struct plan *p, int fd, struct idmap_state *im, struct err *e)
{
    int userns = im->in_child ? err_set (e, EPERM, "mapping the ids needs the host's root")
                              : idmap_procfs (im, e);

    if (userns == 0)
        userns = container_userns (im, e);
    if (userns < 0 || idmap_apply (fd, userns, true, e) < 0)
        return err_add (e, "identity userns: /root/path '%s'", p->rootfs);
    return 0;
}

/* A rootfs asked to be a slave must stay one of its host mount from the start; all else begins
 * private, so that nothing mounted in it can reach the host. */
static int clone_root (const struct plan *p, struct idmap_state *im, struct err *e)
{
    const struct tree_flags flags = { .propagation = p->rootfs_propagation & MS_SLAVE
                                                         ? MS_SLAVE
                                                         : MS_PRIVATE };
    AUTO_FD fd = tree_clone (AT_FDCWD, p->rootfs, TREE_RECURSIVE, e);
    struct tree_id id;
    int r;

    if (fd < 0)
        return fd == -EPERM ? fd : path_error ("/root/path", p->rootfs, e);
    r = tree_identify (fd, "", &id, e);
    if (r == 0 && !S_ISDIR (id.mode))
        r = err_set (e, ENOTDIR, "/root/path '%s' is not a folder", p->rootfs);
    if (r == 0)
        r = tree_set (fd, true, &flags, e);
    if (r == 0 && p->idmap_root)
        r = map_root (p, fd, im, e);
    return r < 0 ? r : TAKE_FD (fd);
}

/* What the guard judged must be what is mounted: meanwhile somebody may have put something else, or
 * a link, in its place. FD is the clone, which nobody can change any more. */
static int check_seen (const struct guard_findings *guard, const struct plan_mount *pm, int fd,
                       struct err *e)
{
    const struct guard_seen *seen = guard_seen_of (guard, pm->source, pm->src_nofollow);
    struct tree_id id;
    int r = tree_identify (fd, "", &id, e);

    if (r < 0)
        return r;
    if (seen && !seen->missing && seen->inode == id.inode && seen->dev_major == id.dev_major &&
        seen->dev_minor == id.dev_minor)
        return 0;
    return err_set (e, EBUSY, "source '%s' was exchanged while the mount guard looked at it",
                    pm->source);
}

static int open_bind (const struct plan_mount *pm, struct idmap_state *im, struct err *e)
{
    unsigned int flags =
        (pm->recursive ? TREE_RECURSIVE : 0U) | (pm->src_nofollow ? TREE_NOFOLLOW : 0U);
    AUTO_FD fd = tree_clone (AT_FDCWD, pm->source, flags, e);
    int r;

    if (fd < 0)
        return path_error ("source", pm->source, e);
    r = im->plan->guard ? check_seen (im->plan->guard, pm, fd, e) : 0;
    if (r == 0 && pm->has_idmap)
        r = map_ids (pm, fd, im, e);
    if (r == 0)
        r = set_bind_flags (pm, fd, e);
    return r < 0 ? r : TAKE_FD (fd);
}

static void close_idmap_state (struct idmap_state *im)
{
    cleanup_fd (&im->procfs);
    cleanup_fd (&im->container);
}

int sources_open_late (const struct plan *p, const struct plan_mount *pm, struct err *e)
{
    struct idmap_state im = { .plan = p, .procfs = -1, .container = -1 };
    int fd = open_bind (pm, &im, e);

    close_idmap_state (&im);
    return fd;
}

/* Whether the child cannot open it as well: it may have less rights, and its mounts exchange
 * nothing with the host's any more. */
static bool needs_parent (const struct plan *p, const struct plan_mount *pm)
{
    return p->ns[NS_USER].mode != NS_INHERIT || p->ns[NS_MOUNT].mode != NS_MAKE ||
           pm->propagation == MS_SHARED || pm->propagation == MS_SLAVE;
}

/* Opens one that stands in the config at I. Out of descriptors is no error where the child can do
 * it: *RET_FULL is then set. */
static int open_one (struct mnt_sources *s, size_t i, struct idmap_state *im, bool *ret_full,
                     struct err *e)
{
    const struct plan_mount *pm = &im->plan->mounts[i];
    int r = open_bind (pm, im, e);

    if (r >= 0)
        s->mounts[i] = r;
    else if (r == -EMFILE && !s->in_child && !needs_parent (im->plan, pm))
        *ret_full = true;
    else if (r == -EMFILE)
        return err_set (e, EMFILE,
                        "/mounts[%zu]: this many binds need more open files than the runtime may "
                        "have: raise its limit (ulimit -n)",
                        pm->index);
    else
        return sources_blame (pm, e);
    return 0;
}

/* Those first that only the parent can open. */
static int open_binds (const struct plan *p, struct mnt_sources *s, struct idmap_state *im,
                       struct err *e)
{
    bool full = false;
    int r = 0;

    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; r >= 0 && !full && i < p->n_mounts; i++)
            if (p->mounts[i].kind == MOUNT_BIND && needs_parent (p, &p->mounts[i]) == (pass == 0))
                r = open_one (s, i, im, &full, e);
    return r < 0 ? r : 0;
}

/* What a start with many mounts needs besides them, kept free while they are opened. */
#define SPARE_FDS 96

static void hold_spare (int spare[SPARE_FDS], bool hold)
{
    for (size_t i = 0; i < SPARE_FDS; i++)
        spare[i] = hold ? open ("/", O_PATH | O_CLOEXEC) : -1;
}

static void free_spare (int spare[SPARE_FDS])
{
    for (size_t i = 0; i < SPARE_FDS; i++)
        cleanup_fd (&spare[i]);
}

/* Read-only, so that the container's root cannot change mode or owner of the host's node. */
static int open_null (struct err *e)
{
    const struct tree_flags flags = { .set =
                                          MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC,
                                      .propagation = MS_PRIVATE };
    AUTO_FD fd = tree_clone (AT_FDCWD, "/dev/null", 0, e);
    struct tree_id id;
    int r;

    if (fd < 0)
        return path_error ("the host's", "/dev/null", e);
    r = tree_identify (fd, "", &id, e);
    if (r < 0)
        return r;
    if (!S_ISCHR (id.mode) || id.rdev_major != NULL_MAJOR || id.rdev_minor != NULL_MINOR)
        return err_set (e, ENODEV, "the host's /dev/null is not character device 1:3");
    r = tree_set (fd, false, &flags, e);
    return r < 0 ? r : TAKE_FD (fd);
}

int sources_open (const struct plan *p, struct mnt_sources *s, struct err *e)
{
    struct idmap_state im = { .plan = p, .in_child = s->in_child, .procfs = -1, .container = -1 };
    int spare[SPARE_FDS];
    int r = s->root = clone_root (p, &im, e);

    hold_spare (spare, r >= 0 && p->n_mounts > MNT_MANY);
    if (r >= 0)
        r = open_binds (p, s, &im, e);
    close_idmap_state (&im);
    free_spare (spare);
    if (r >= 0 && p->n_masked > 0)
        r = s->null = open_null (e);
    return r < 0 ? r : 0;
}

/* Without a mount namespace every mount would be the host's. The default devices are left out,
 * which alters nothing. */
static int refuse_mounts (const struct plan *p, struct err *e)
{
    const char *what = p->n_mounts             ? "mounts"
                       : p->n_masked           ? "/linux/maskedPaths"
                       : p->n_readonly         ? "/linux/readonlyPaths"
                       : p->rootfs_readonly    ? "/root/readonly"
                       : p->rootfs_propagation ? "/linux/rootfsPropagation"
                       : p->process.terminal   ? "/process/terminal"
                                               : NULL;

    for (size_t i = 0; !what && i < p->n_devices; i++)
        if (!p->devices[i].is_default)
            what = "/linux/devices";
    return what ? err_set (e, EINVAL, "%s needs a mount namespace (/linux/namespaces)", what) : 0;
}

static int prepare_unmounted (const struct plan *p, struct mnt_sources *ret, struct err *e)
{
    int r = refuse_mounts (p, e);

    if (r < 0)
        return r;
    ret->root = fd_open (AT_FDCWD, p->rootfs, O_PATH | O_DIRECTORY, FD_HOST, e);
    return ret->root < 0 ? path_error ("/root/path", p->rootfs, e) : 0;
}

int mnt_prepare (const struct plan *p, struct arena *a, struct mnt_sources *ret, struct err *e)
{
    struct tree_id host;
    int r;

    if (p->ns[NS_MOUNT].mode == NS_INHERIT)
        return prepare_unmounted (p, ret, e);
    ret->mounts = arena_calloc (a, p->n_mounts, sizeof *ret->mounts);
    if (!ret->mounts)
        return err_oom (e);
    ret->n_mounts = p->n_mounts;
    memset (ret->mounts, -1, p->n_mounts * sizeof *ret->mounts);
    r = tree_identify (AT_FDCWD, "/", &host, e);
    if (r == 0)
        r = cgroups_find (p, a, ret, e);
    if (r == 0)
        r = unpivoted_find (p, a, ret, e);
    if (r < 0)
        return r;
    ret->host_root = host.mount;
    r = sources_open (p, ret, e);
    if (r == -EPERM && ret->root < 0) {
        ret->in_child = true;
        return 0;
    }
    return r;
}

int mnt_live_prepare (const struct plan *p, struct arena *a, struct mnt_sources *ret, struct err *e)
{
    struct idmap_state im = { .plan = p, .procfs = -1, .container = -1 };
    int r;

    ret->mounts = arena_calloc (a, p->n_mounts, sizeof *ret->mounts);
    if (!ret->mounts)
        return err_oom (e);
    ret->n_mounts = p->n_mounts;
    memset (ret->mounts, -1, p->n_mounts * sizeof *ret->mounts);
    r = open_binds (p, ret, &im, e);
    close_idmap_state (&im);
    for (size_t i = 0; r == 0 && i < p->n_mounts; i++)
        if (p->mounts[i].kind == MOUNT_BIND && ret->mounts[i] < 0)
            r = err_set (e, EMFILE, "/mounts[%zu]: no descriptor is left for it", i);
    return r;
}

void mnt_sources_close (struct mnt_sources *s)
{
    for (size_t i = 0; i < s->n_mounts; i++)
        cleanup_fd (&s->mounts[i]);
    cleanup_fd (&s->root);
    cleanup_fd (&s->null);
    *s = MNT_SOURCES_NONE;
}
