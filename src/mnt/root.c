/*
 * The container's root: attached, switched to, and its own flags.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/mount.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "mnt/sources.h"
#include "mnt/target.h"
#include "mnt/unpivoted.h"

static bool has_mountns (const struct mnt *m)
{
    return m->plan->ns[NS_MOUNT].mode != NS_INHERIT;
}

/* ---- private ---- */

/* In the host's namespace this would cut the host's own mounts off from each other. */
static int refuse_host (const struct mnt *m, struct err *e)
{
    struct tree_id id;
    int r = tree_identify (AT_FDCWD, "/", &id, e);

    if (r == 0 && id.mount == m->src->host_root)
        return err_set (e, EINVAL, "this is still the host's mount namespace");
    return r;
}

int mnt_private (struct mnt *m, struct err *e)
{
    static const struct tree_flags flags = { .propagation = MS_PRIVATE };
    AUTO_FD root = -1;
    int r = refuse_host (m, e);

    if (r < 0)
        return r;
    root = fd_open (AT_FDCWD, "/", O_PATH | O_DIRECTORY, FD_HOST, e);
    if (root < 0)
        return root;
    r = tree_set (root, true, &flags, e);
    return r < 0 ? err_add (e, "make the mounts private") : 0;
}

int mnt_private_check (struct mnt *m, struct err *e)
{
    AUTO_FD root = fd_open (AT_FDCWD, "/", O_PATH | O_DIRECTORY, FD_HOST, e);
    uint64_t propagation;
    int r = root < 0 ? root : refuse_host (m, e);

    if (r == 0)
        r = tree_propagation (root, &propagation, e);
    if (r == 0 && propagation != 0 && propagation != MS_PRIVATE)
        return err_set (e, EIO, "the root mount still has a peer");
    return r;
}

/* ---- attach ---- */

/* Where the tree goes: over the rootfs folder, which is where hooks look for it. Root of a user
 * namespace may not be able to reach that; then over "/", which serves pivot_root as well. */
static int open_place (const struct plan *p, struct err *e)
{
    int fd = fd_open (AT_FDCWD, p->rootfs, O_PATH | O_DIRECTORY, FD_HOST, e);

    if (fd == -EACCES)
        fd = fd_open (AT_FDCWD, "/", O_PATH | O_DIRECTORY, FD_HOST, e);
    return fd;
}

static int attach_tree (struct mnt *m, struct err *e)
{
    AUTO_FD place = open_place (m->plan, e);

    return place < 0 ? place : tree_attach (m->src->root, place, e);
}

int mnt_root_attach (struct mnt *m, struct err *e)
{
    int r = 0;

    if (m->src->in_child) {
        r = sources_open (m->plan, m->src, e);
        if (r < 0)
            return r;
    }
    if (has_mountns (m))
        r = attach_tree (m, e);
    if (r < 0)
        return err_add (e, "/root/path '%s'", m->plan->rootfs);
    m->root = TAKE_FD (m->src->root);
    return tree_identify (m->root, "", &m->root_id, e);
}

int mnt_root_attach_check (struct mnt *m, struct err *e)
{
    struct tree_id id;
    int r = tree_identify (m->root, "", &id, e);

    if (r < 0)
        return r;
    if (!S_ISDIR (id.mode) || (has_mountns (m) && !id.is_mount_root))
        return err_set (e, EIO, "the container's root is no mount of its own");
    return 0;
}

/* ---- the working directory ---- */

int mnt_cwd_make (struct mnt *m, struct err *e)
{
    AUTO_FD fd = target_open (m->root, m->plan->process.cwd, 0, e);

    return fd < 0 ? err_add (e, "/process/cwd") : 0;
}

int mnt_cwd_make_check (struct mnt *m, struct err *e)
{
    const char *cwd = m->plan->process.cwd;
    AUTO_FD fd = fd_open (m->root, cwd, O_PATH | O_DIRECTORY, FD_IN_ROOT, e);

    return fd == -ENOTDIR ? err_set (e, ENOTDIR, "/process/cwd '%s' is not a folder", cwd)
                          : (fd < 0 ? err_add (e, "/process/cwd") : 0);
}

/* ---- the switch ---- */

/* What is below "/" afterwards is the container's alone: the old root is put on top of it for a
 * moment, by pivot_root (".", "."), and taken away with all its mounts. */
static int pivot (struct mnt *m, struct err *e)
{
    static const struct tree_flags slave = { .propagation = MS_SLAVE };
    AUTO_FD old = fd_open (AT_FDCWD, "/", O_PATH | O_DIRECTORY, FD_HOST, e);
    int r;

    if (old < 0)
        return old;
    if (fchdir (m->root) < 0)
        return err_sys (e, "enter the root");
    if (syscall (SYS_pivot_root, ".", ".") < 0)
        return errno == EINVAL
                   ? err_set (e, EINVAL,
                              "pivot_root: the host's root cannot be left (an initramfs?): see "
                              "--no-pivot")
                   : err_sys (e, "pivot_root");
    if (fchdir (old) < 0)
        return err_sys (e, "enter the old root");
    r = tree_set (old, true, &slave, e); /* the umount must not reach a namespace that was joined */
    if (r < 0)
        return r;
    return umount2 (".", MNT_DETACH) < 0 ? err_sys (e, "leave the old root") : 0;
}

static int move_over (struct mnt *m, struct err *e)
{
    AUTO_FD root = fd_open (AT_FDCWD, "/", O_PATH | O_DIRECTORY, FD_HOST, e);
    int r = root < 0 ? root : unpivoted_hide (m, e);

    return r < 0 ? r : tree_attach (m->root, root, e);
}

int mnt_pivot (struct mnt *m, struct err *e)
{
    bool with_pivot = has_mountns (m) && !m->plan->no_pivot;
    int r = 0;

    if (with_pivot)
        r = pivot (m, e);
    else if (has_mountns (m))
        r = move_over (m, e);
    if (r < 0)
        return r;
    if (!with_pivot && (fchdir (m->root) < 0 || chroot (".") < 0))
        return err_sys (e, "change the root");
    return chdir ("/") < 0 ? err_sys (e, "enter the new root") : 0;
}

int mnt_pivot_check (struct mnt *m, struct err *e)
{
    static const char *const paths[] = { "/", "/..", "." };

    for (size_t i = 0; i < ARRAY_LEN (paths); i++) {
        AUTO_FD fd = fd_open (AT_FDCWD, paths[i], O_PATH | O_DIRECTORY, FD_HOST, e);
        struct tree_id id;
        int r = fd < 0 ? fd : tree_identify (fd, "", &id, e);

        if (r < 0)
            return r;
        if (!tree_id_equal (&id, &m->root_id))
            return err_set (e, EIO, "'%s' is not the container's root", paths[i]);
    }
    return 0;
}

/* ---- flags of the root ---- */

int mnt_root_propagation (struct mnt *m, struct err *e)
{
    unsigned long asked = m->plan->rootfs_propagation;
    const struct tree_flags flags = { .propagation = asked & ~(unsigned long)MS_REC };
    int r = tree_set (m->root, asked & MS_REC, &flags, e);

    return r < 0 ? err_add (e, "/linux/rootfsPropagation") : 0;
}

/* A slave without a master is private; a shared one that has one is both. */
int mnt_root_propagation_check (struct mnt *m, struct err *e)
{
    unsigned long asked = m->plan->rootfs_propagation & ~(unsigned long)MS_REC;
    uint64_t found;
    int r = tree_propagation (m->root, &found, e);

    if (r < 0 || found == 0 || found & asked || (asked == MS_SLAVE && found == MS_PRIVATE))
        return r;
    return err_set (e, EIO, "/linux/rootfsPropagation: the root has 0x%llx",
                    (unsigned long long)found);
}

int mnt_root_readonly (struct mnt *m, struct err *e)
{
    static const struct tree_flags readonly = { .set = MOUNT_ATTR_RDONLY };
    int r = tree_set (m->root, false, &readonly, e);

    return r < 0 ? err_add (e, "/root/readonly") : 0;
}

int mnt_root_readonly_check (struct mnt *m, struct err *e)
{
    uint64_t magic, flags;
    int r = tree_statfs (m->root, &magic, &flags, e);

    if (r == 0 && !(flags & ST_RDONLY))
        return err_set (e, EIO, "/root/readonly: the root is still writable");
    return r;
}

static uint64_t root_attrs (const struct plan *p)
{
    return (p->rootfs_nosuid ? MOUNT_ATTR_NOSUID : 0) | (p->rootfs_nodev ? MOUNT_ATTR_NODEV : 0);
}

/* With all that is mounted below the root on the host: it came along. */
int mnt_root_flags (struct mnt *m, struct err *e)
{
    const struct tree_flags flags = { .set = root_attrs (m->plan) };
    int r = tree_set (m->root, true, &flags, e);

    return r < 0 ? err_add (e, "flags of the root") : 0;
}

int mnt_root_flags_check (struct mnt *m, struct err *e)
{
    uint64_t magic, flags;
    int r = tree_statfs (m->root, &magic, &flags, e);

    if (r == 0 && ((m->plan->rootfs_nosuid && !(flags & ST_NOSUID)) ||
                   (m->plan->rootfs_nodev && !(flags & ST_NODEV))))
        return err_set (e, EIO, "flags of the root: it is not nosuid and nodev");
    return r;
}
