/*
 * config.json's mounts, in their order.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/statvfs.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "base/str.h"
#include "mnt/cgroups.h"
#include "mnt/copyup.h"
#include "mnt/newfs.h"
#include "mnt/sources.h"
#include "mnt/target.h"

#define PROC_ROOT_INODE 1
#define ST_NOSYMFOLLOW  0x2000 /* f_flags; not in the C library's headers */

/* What may be mounted below /proc: what lxcfs serves, and what runc lets pass for CRIU and FIPS.
 * Anything else would stand where labels and limits are written (CVE-2019-16884). */
static const char *const allowed_below_proc[] = {
    "/proc/cpuinfo",
    "/proc/diskstats",
    "/proc/meminfo",
    "/proc/stat",
    "/proc/swaps",
    "/proc/uptime",
    "/proc/loadavg",
    "/proc/slabinfo",
    "/proc/net/dev",
    "/proc/sys/kernel/ns_last_pid",
    "/proc/sys/crypto/fips_enabled",
    NULL,
};

/* One superblock of these serves many mounts, of other containers too: "ro" is said of the mount
 * only, and nothing is reconfigured. */
static const char *const shared[] = { "proc", "sysfs", "mqueue", "cgroup", "cgroup2", NULL };

/* These are mounted on a plain folder only: with a link in the path, masks and read-only paths
 * would be somewhere else than the file system (CVE-2019-19921, CVE-2023-27561). */
static const char *const on_plain_folder[] = { "proc", "sysfs", NULL };

static const struct {
    uint64_t attr, st;
} st_flags[] = {
    { MOUNT_ATTR_RDONLY, ST_RDONLY },
    { MOUNT_ATTR_NOSUID, ST_NOSUID },
    { MOUNT_ATTR_NODEV, ST_NODEV },
    { MOUNT_ATTR_NOEXEC, ST_NOEXEC },
    { MOUNT_ATTR_NODIRATIME, ST_NODIRATIME },
    { MOUNT_ATTR_NOATIME, ST_NOATIME },
    { MOUNT_ATTR_NOSYMFOLLOW, ST_NOSYMFOLLOW },
};

static bool is_new (const struct plan_mount *pm, const char *fstype)
{
    return pm->kind == MOUNT_NEW && strcmp (pm->fstype, fstype) == 0;
}

/* Others put files into a tmpfs, /dev first of all, before it may become read-only. The cgroups of
 * v1 have one as well. */
static bool is_late_readonly (const struct plan_mount *pm)
{
    return (is_new (pm, "tmpfs") || cgroups_is_asked (pm)) && mount_attrs (pm) & MOUNT_ATTR_RDONLY;
}

/* ---- targets ---- */

static int refuse (const char *why, struct err *e)
{
    return err_set (e, EPERM, "refused: %s", why);
}

/* A proc that is bound is one as a whole: /proc of the host for a container in its pid
 * namespace. */
static int check_on_proc (const struct plan_mount *pm, int source, struct err *e)
{
    struct tree_id id;
    uint64_t magic, flags;
    int r;

    if (is_new (pm, "proc") || pm->kind == MOUNT_REMOUNT)
        return 0;
    if (pm->kind == MOUNT_NEW)
        return refuse ("only procfs may be mounted on /proc", e);
    r = tree_statfs (source, &magic, &flags, e);
    if (r == 0)
        r = tree_identify (source, "", &id, e);
    if (r == 0 && (magic != PROC_SUPER_MAGIC || id.inode != PROC_ROOT_INODE))
        return refuse ("only procfs may be mounted on /proc", e);
    return r;
}

/* TARGET is open; SOURCE is the mount to come, -1 where there is none yet. */
static int check_target (const struct mnt *m, const struct plan_mount *pm, int target, int source,
                         struct err *e)
{
    bool below_proc = str_has_prefix (pm->dest, "/proc/");
    struct tree_id id;
    uint64_t magic, flags;
    int r = tree_identify (target, "", &id, e);

    if (r == 0)
        r = tree_statfs (target, &magic, &flags, e);
    if (r < 0)
        return r;
    if (tree_id_equal (&id, &m->root_id))
        return refuse ("nothing can be mounted over the root", e);
    if (strcmp (pm->dest, "/proc") == 0)
        return check_on_proc (pm, source, e);
    if (pm->kind == MOUNT_REMOUNT)
        return 0;
    if (below_proc && !str_is_in (pm->dest, allowed_below_proc))
        return refuse ("nothing but lxcfs files may be mounted below /proc", e);
    if (!below_proc && magic == PROC_SUPER_MAGIC)
        return refuse ("the path leads into /proc", e);
    return 0;
}

static int open_target (const struct mnt *m, const struct plan_mount *pm, bool folder,
                        struct err *e)
{
    bool plain = pm->kind == MOUNT_NEW && str_is_in (pm->fstype, on_plain_folder);
    unsigned int flags = (folder ? 0U : TARGET_FILE) | (plain ? TARGET_NO_LINKS : 0U) |
                         (pm->dest_nofollow ? TARGET_NOFOLLOW : 0U);
    AUTO_FD fd = target_open (m->root, pm->dest, flags, e);
    struct tree_id id;
    int r;

    if (plain && (fd == -ELOOP || fd == -ENOTDIR))
        return err_set (e, -fd, "%s must be mounted on ordinary directory", pm->fstype);
    if (fd < 0)
        return err_add (e, "destination");
    r = tree_identify (fd, "", &id, e);
    if (r < 0)
        return r;
    if (folder && !S_ISDIR (id.mode))
        return plain ? err_set (e, ENOTDIR, "%s must be mounted on ordinary directory", pm->fstype)
                     : err_set (e, ENOTDIR, "a folder cannot be mounted on a file");
    if (!folder && S_ISDIR (id.mode))
        return err_set (e, EISDIR, "a file cannot be mounted on a folder");
    return TAKE_FD (fd);
}

/* The path must lead to the mount that was just made: in a folder shared with others, somebody may
 * have moved the target away. */
static int verify_attached (const struct mnt *m, const struct plan_mount *pm, int fd, struct err *e)
{
    int oflags = O_PATH | (pm->dest_nofollow ? O_NOFOLLOW : 0);
    AUTO_FD again = fd_open (m->root, pm->dest, oflags, FD_IN_ROOT, e);
    struct tree_id want, found;
    int r = again < 0 ? again : tree_identify (fd, "", &want, e);

    if (r == 0)
        r = tree_identify (again, "", &found, e);
    if (r == 0 && want.mount != found.mount)
        return err_set (e, EBUSY, "the destination was moved while it was mounted");
    return r;
}

static int attach (const struct mnt *m, const struct plan_mount *pm, int fd, int target,
                   struct err *e)
{
    int r = tree_attach (fd, target, e);

    return r < 0 ? r : verify_attached (m, pm, fd, e);
}

/* ---- the three kinds ---- */

static int mount_bind (const struct mnt *m, const struct plan_mount *pm, int *fd, struct err *e)
{
    AUTO_FD target = -1;
    struct tree_id source;
    int r = *fd >= 0 ? 0 : (*fd = sources_open_late (m->plan, pm, e));

    if (r >= 0)
        r = tree_identify (*fd, "", &source, e);
    if (r < 0)
        return r;
    target = open_target (m, pm, S_ISDIR (source.mode), e);
    if (target < 0)
        return target;
    r = check_target (m, pm, target, *fd, e);
    return r < 0 ? r : attach (m, pm, *fd, target, e);
}

/* The host's /sys, for a user namespace that owns no network namespace and so may not mount a
 * sysfs of its own (as crun). It is read-only whatever was asked. */
static int bind_host_sys (struct err *e)
{
    const struct tree_flags flags = {
        .set = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC,
        .propagation = MS_PRIVATE,
    };
    AUTO_FD fd = tree_clone (AT_FDCWD, "/sys", TREE_RECURSIVE, e);
    uint64_t magic, ignored;
    int r = fd < 0 ? fd : tree_statfs (fd, &magic, &ignored, e);

    if (r == 0 && magic != SYSFS_MAGIC)
        r = err_set (e, ENODEV, "/sys of the host is no sysfs");
    if (r == 0)
        r = tree_set (fd, true, &flags, e);
    return r < 0 ? r : TAKE_FD (fd);
}

/* A sysfs shows a network namespace, and only who owns that one may mount it. Nobody else gets the
 * host's in its place unasked. */
static int sysfs_refused (const struct plan *p, struct err *e)
{
    bool owns_user = p->is_rootless || p->ns[NS_USER].mode != NS_INHERIT;

    if (owns_user && p->ns[NS_NET].mode != NS_MAKE && !p->own_network)
        return bind_host_sys (e);
    return err_set (
        e, EPERM,
        "sysfs: the kernel refuses it (EPERM): the runtime lacks CAP_SYS_ADMIN over the "
        "container's network namespace, or parts of the host's own /sys are covered; "
        "leave this mount out, or bind /sys read-only instead");
}

static bool has_mode (const char *const *data)
{
    for (; *data; data++)
        if (str_has_prefix (*data, "mode="))
            return true;
    return false;
}

static int mount_classic (const struct mnt *m, const struct plan_mount *pm, const struct newfs *nf,
                          int target, struct err *e)
{
    int r = newfs_mount_classic (nf, target, e);

    return r < 0 ? r : fd_open (m->root, pm->dest, O_PATH, FD_IN_ROOT, e);
}

static int make_filesystem (const struct mnt *m, const struct plan_mount *pm,
                            const struct newfs *nf, int target, struct err *e)
{
    AUTO_FD fd = newfs_mount (nf, e);
    const struct tree_flags flags = { .propagation = pm->propagation };
    int r;

    if (fd == -EPERM && strcmp (pm->fstype, "sysfs") == 0)
        fd = sysfs_refused (m->plan, e);
    if (fd < 0)
        return fd;
    r = pm->tmpcopyup ? copyup (target, fd, e) : 0;
    if (r == 0)
        r = tree_set (fd, false, &flags, e);
    return r < 0 ? r : TAKE_FD (fd);
}

static bool is_there (const struct mnt *m, const char *dest)
{
    struct err ignored;
    AUTO_FD fd = fd_open (m->root, dest, O_PATH, FD_IN_ROOT, &ignored);

    return fd >= 0;
}

/* A tmpfs is as open or closed as the folder that it covers, unless a mode is given; where there
 * was no folder, the kernel's 1777 stays, so that any user of the image can use it (as runc). */
static int folder_mode (const struct plan_mount *pm, int target, char buf[8], struct newfs *nf,
                        struct err *e)
{
    struct tree_id id;
    int r;

    if (!is_new (pm, "tmpfs") || has_mode (pm->data))
        return 0;
    r = tree_identify (target, "", &id, e);
    if (r < 0)
        return r;
    (void)snprintf (buf, 8, "%o", id.mode & 07777);
    nf->mode = buf;
    return 0;
}

static int mount_new (const struct mnt *m, const struct plan_mount *pm, int target, bool covers,
                      struct err *e)
{
    /* mount(2) would make a new tmpfs read-only for good, and it has to take files first. */
    bool by_mount = str_is_in (pm->fstype, shared) || strcmp (pm->fstype, "tmpfs") == 0;
    uint64_t late = is_late_readonly (pm) ? MOUNT_ATTR_RDONLY : 0;
    struct newfs nf = { .type = pm->fstype,
                        .source = pm->source,
                        .data = pm->data,
                        .label = pm->label,
                        .label_option = m->plan->label_option,
                        .sb_set = pm->sb_set & ~(by_mount ? (uint64_t)MS_RDONLY : 0),
                        .sb_clear = pm->sb_clear & ~(by_mount ? (uint64_t)MS_RDONLY : 0),
                        .attrs = mount_attrs (pm) & ~late,
                        .network = strcmp (pm->fstype, "sysfs") == 0 ? m->network : NULL };
    AUTO_FD fd = -1;
    char mode[8];
    int r = covers ? folder_mode (pm, target, mode, &nf, e) : 0;

    if (r < 0)
        return r;
    if (newfs_needs_classic (&nf))
        return mount_classic (m, pm, &nf, target, e);
    fd = make_filesystem (m, pm, &nf, target, e);
    if (fd < 0)
        return fd;
    r = attach (m, pm, fd, target, e);
    return r < 0 ? r : TAKE_FD (fd);
}

static int mount_filesystem (const struct mnt *m, const struct plan_mount *pm, int *fd,
                             struct err *e)
{
    bool covers = is_new (pm, "tmpfs") && is_there (m, pm->dest);
    AUTO_FD target = open_target (m, pm, true, e);
    int r;

    if (target < 0)
        return target;
    r = check_target (m, pm, target, -1, e);
    if (r < 0)
        return r;
    r = *fd = cgroups_is_asked (pm) ? cgroups_mount (m, pm, target, e)
                                    : mount_new (m, pm, target, covers, e);
    return r < 0 ? r : 0;
}

/* The file system is changed only if this config mounted it: what is bound is the host's. */
static const struct plan_mount *mounted_here (const struct plan *p, const struct plan_mount *pm)
{
    for (const struct plan_mount *o = pm; o-- > p->mounts;)
        if (o->kind != MOUNT_REMOUNT && strcmp (o->dest, pm->dest) == 0)
            return o->kind == MOUNT_NEW && !str_is_in (o->fstype, shared) ? o : NULL;
    return NULL;
}

static int remount (const struct mnt *m, const struct plan_mount *pm, int *fd, struct err *e)
{
    const struct plan_mount *fs = mounted_here (m->plan, pm);
    const struct tree_flags all = { .set = pm->rset, .clear = pm->rclear };
    const struct tree_flags top = { .set = pm->set, .clear = pm->clear };
    const struct tree_flags propagation = { .propagation = pm->propagation };
    AUTO_FD target = fd_open (m->root, pm->dest, O_PATH, FD_IN_ROOT, e);
    struct tree_id id;
    int r = target < 0 ? target : tree_identify (target, "", &id, e);

    if (r == -ENOENT || (r == 0 && !id.is_mount_root))
        r = err_set (e, EINVAL, "'remount': nothing is mounted there");
    if (r == 0)
        r = check_target (m, pm, target, -1, e);
    if (r == 0 && fs) {
        const struct newfs nf = {
            .type = fs->fstype, .data = pm->data, .sb_set = pm->sb_set, .sb_clear = pm->sb_clear
        };

        r = newfs_reconfigure (target, &nf, e);
    }
    if (r == 0)
        r = tree_set (target, true, &all, e);
    if (r == 0)
        r = tree_set (target, false, &top, e);
    if (r == 0)
        r = tree_set (target, pm->propagation_recursive, &propagation, e);
    if (r == 0)
        *fd = TAKE_FD (target);
    return r;
}

/* FD is the bind's source, and afterwards whatever is mounted at the destination. */
static int mount_one (const struct mnt *m, const struct plan_mount *pm, int *fd, struct err *e)
{
    switch (pm->kind) {
    case MOUNT_BIND:
        return mount_bind (m, pm, fd, e);
    case MOUNT_NEW:
        return mount_filesystem (m, pm, fd, e);
    case MOUNT_REMOUNT:
        return remount (m, pm, fd, e);
    }
    return err_set (e, EINVAL, "unknown kind of mount");
}

/* ---- checks ---- */

/* ST_* of those ATTRS that statfs can tell. */
static uint64_t st_of (uint64_t attrs)
{
    uint64_t st = 0;

    for (size_t i = 0; i < ARRAY_LEN (st_flags); i++)
        if (attrs & st_flags[i].attr)
            st |= st_flags[i].st;
    return st;
}

/* A file system that is read-only itself stays so under a writable mount. */
static int check_flags (const struct plan_mount *pm, int fd, struct err *e)
{
    uint64_t late = is_late_readonly (pm) ? MOUNT_ATTR_RDONLY : 0;
    uint64_t set = st_of (mount_attrs (pm) & ~late);
    uint64_t clear = st_of ((pm->clear | pm->rclear) & ~mount_attrs (pm) &
                            ~(uint64_t)(MOUNT_ATTR_RDONLY | MOUNT_ATTR__ATIME));
    uint64_t magic, flags;
    int r = tree_statfs (fd, &magic, &flags, e);

    if (r == 0 && ((flags & set) != set || (flags & clear) != 0))
        return err_set (e, EIO, "the mount has flags 0x%llx, which lack 0x%llx or have 0x%llx",
                        (unsigned long long)flags, (unsigned long long)set,
                        (unsigned long long)clear);
    return r;
}

static bool is_remounted_later (const struct plan *p, size_t i)
{
    for (size_t j = i + 1; j < p->n_mounts; j++)
        if (p->mounts[j].kind == MOUNT_REMOUNT &&
            strcmp (p->mounts[j].dest, p->mounts[i].dest) == 0)
            return true;
    return false;
}

/* Looks at mount I, which is then closed but for one that changes later. */
static int check_one (struct mnt *m, size_t i, struct err *e)
{
    const struct plan_mount *pm = &m->plan->mounts[i];
    int *fd = &m->src->mounts[i];

    if (*fd < 0)
        return 0; /* done already */
    if (!is_remounted_later (m->plan, i) && check_flags (pm, *fd, e) < 0)
        return sources_blame (pm, e);
    if (!is_late_readonly (pm)) {
        cleanup_fd (fd);
        *fd = -1;
    }
    return 0;
}

/* ---- the steps ---- */

int mnt_mounts (struct mnt *m, struct err *e)
{
    mode_t old = umask (0); /* folders and copies get exactly the modes they should have */
    int r = 0;

    for (size_t i = 0; r == 0 && i < m->plan->n_mounts; i++) {
        r = mount_one (m, &m->plan->mounts[i], &m->src->mounts[i], e);
        if (r < 0)
            r = sources_blame (&m->plan->mounts[i], e);
        else if (m->plan->n_mounts > MNT_MANY)
            r = check_one (m, i, e);
    }
    (void)umask (old);
    return r;
}

int mnt_mounts_check (struct mnt *m, struct err *e)
{
    int r = 0;

    for (size_t i = 0; r == 0 && i < m->plan->n_mounts; i++)
        r = check_one (m, i, e);
    return r;
}

int mnt_late_readonly (struct mnt *m, struct err *e)
{
    static const struct tree_flags readonly = { .set = MOUNT_ATTR_RDONLY };

    for (size_t i = 0; i < m->plan->n_mounts; i++)
        if (is_late_readonly (&m->plan->mounts[i]) &&
            tree_set (m->src->mounts[i], false, &readonly, e) < 0)
            return sources_blame (&m->plan->mounts[i], e);
    return 0;
}

int mnt_late_readonly_check (struct mnt *m, struct err *e)
{
    uint64_t magic, flags;

    for (size_t i = 0; i < m->plan->n_mounts; i++) {
        const struct plan_mount *pm = &m->plan->mounts[i];

        if (!is_late_readonly (pm))
            continue;
        if (tree_statfs (m->src->mounts[i], &magic, &flags, e) < 0)
            return sources_blame (pm, e);
        if (!(flags & ST_RDONLY)) {
            (void)err_set (e, EIO, "the tmpfs is still writable");
            return sources_blame (pm, e);
        }
    }
    return 0;
}
