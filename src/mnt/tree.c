#include "mnt/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mount.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/kernel.h"

int tree_identify (int dirfd, const char *path, struct tree_id *ret, struct err *e)
{
    struct statx sx;

    if (statx (dirfd, path, AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT,
               STATX_TYPE | STATX_MODE | STATX_UID | STATX_GID | STATX_INO | STATX_MNT_ID |
                   STATX_MNT_ID_UNIQUE,
               &sx) < 0)
        return err_sys (e, "statx '%s'", path);
    *ret = (struct tree_id){ .mount = sx.stx_mnt_id,
                             .inode = sx.stx_ino,
                             .dev_major = sx.stx_dev_major,
                             .dev_minor = sx.stx_dev_minor,
                             .rdev_major = sx.stx_rdev_major,
                             .rdev_minor = sx.stx_rdev_minor,
                             .mode = sx.stx_mode,
                             .uid = sx.stx_uid,
                             .gid = sx.stx_gid,
                             .is_mount_root = sx.stx_attributes & STATX_ATTR_MOUNT_ROOT };
    return 0;
}

bool tree_id_equal (const struct tree_id *a, const struct tree_id *b)
{
    return a->mount == b->mount && a->inode == b->inode && a->dev_major == b->dev_major &&
           a->dev_minor == b->dev_minor;
}

int tree_clone (int dirfd, const char *path, unsigned int flags, struct err *e)
{
    unsigned int oflags = OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_EMPTY_PATH |
                          (flags & TREE_RECURSIVE ? AT_RECURSIVE : 0U) |
                          (flags & TREE_NOFOLLOW ? AT_SYMLINK_NOFOLLOW : 0U);
    int tree = open_tree (dirfd, path, oflags);

    if (tree >= 0)
        return tree;
    if (errno == EINVAL)
        return err_set (e, EINVAL,
                        "clone a mount: it is unbindable, or has mounts below it that a user "
                        "namespace may not uncover ('rbind' takes them along)");
    return err_sys (e, "clone a mount");
}

int tree_set (int fd, bool recursive, const struct tree_flags *f, struct err *e)
{
    struct mount_attr attr = { .attr_set = f->set,
                               .attr_clr = f->clear,
                               .propagation = f->propagation };
    unsigned int flags = AT_EMPTY_PATH | (recursive ? (unsigned int)AT_RECURSIVE : 0);

    if (!f->set && !f->clear && !f->propagation)
        return 0;
    if (mount_setattr (fd, "", flags, &attr, sizeof attr) == 0)
        return 0;
    if (errno == EPERM)
        return err_set (e, EPERM,
                        "change the mount's flags: a user namespace may not clear what the host "
                        "has set (ro, nosuid, nodev, noexec, access times)");
    return err_sys (e, "change the mount's flags");
}

int tree_attach (int fd, int target, struct err *e)
{
    if (move_mount (fd, "", target, "", MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH) < 0)
        return err_sys (e, "attach a mount");
    return 0;
}

int tree_statfs (int fd, uint64_t *ret_magic, uint64_t *ret_flags, struct err *e)
{
    struct statfs fs;

    if (fstatfs (fd, &fs) < 0)
        return err_sys (e, "statfs");
    *ret_magic = (uint64_t)fs.f_type;
    *ret_flags = (uint64_t)fs.f_flags;
    return 0;
}

int tree_propagation (int fd, uint64_t *ret, struct err *e)
{
    struct statmount_basic sm = { 0 };
    struct statmount_request rq = { .size = sizeof rq, .param = STATMOUNT_MNT_BASIC };
    struct statx sx;

    *ret = 0;
    if (statx (fd, "", AT_EMPTY_PATH, STATX_MNT_ID_UNIQUE, &sx) < 0)
        return err_sys (e, "statx");
    if (!(sx.stx_mask & STATX_MNT_ID_UNIQUE))
        return 0;
    rq.mnt_id = sx.stx_mnt_id;
    if (syscall (SYS_statmount, &rq, &sm, sizeof sm, 0) < 0)
        return errno == ENOSYS ? 0 : err_sys (e, "statmount");
    *ret = sm.mnt_propagation;
    return 0;
}
