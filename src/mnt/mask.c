/*
 * Masked and read-only paths.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/mount.h>
#include <sys/statvfs.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "mnt/newfs.h"
#include "mnt/sources.h"

/* What covers: the first of a kind is moved to its place, the others are clones of that one. Before
 * Linux 6.15 only an attached mount can be cloned. */
struct cover {
    int fd;
    bool attached;
};

/* An engine's list names paths of other kernels and architectures, too. */
static bool is_missing (int r)
{
    return r == -ENOENT || r == -ENOTDIR;
}

static int put_cover (struct cover *c, int target, struct err *e)
{
    AUTO_FD clone = -1;
    int r;

    if (c->attached) {
        clone = tree_clone (c->fd, "", 0, e);
        return clone < 0 ? clone : tree_attach (clone, target, e);
    }
    r = tree_attach (c->fd, target, e);
    c->attached = r == 0;
    return r;
}

/* One empty tmpfs for all folders. Read-only as a file system, not only as a mount: nobody makes it
 * writable from a user namespace. */
static int open_empty_folder (struct mnt *m, struct cover *c, struct err *e)
{
    static const char *const data[] = { "size=4k", "nr_inodes=1", NULL };
    const struct newfs nf = { .type = "tmpfs",
                              .source = "mask",
                              .mode = "555",
                              .data = data,
                              .label = m->plan->mount_label,
                              .label_option = m->plan->label_option,
                              .sb_set = MS_RDONLY,
                              .attrs = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV |
                                       MOUNT_ATTR_NOEXEC };

    if (c->fd >= 0)
        return 0;
    c->fd = newfs_mount (&nf, e);
    return c->fd < 0 ? c->fd : tree_identify (c->fd, "", &m->mask_id, e);
}

static bool is_null (const struct tree_id *id)
{
    return S_ISCHR (id->mode) && id->rdev_major == 1 && id->rdev_minor == 3;
}

static bool is_mask_folder (const struct mnt *m, const struct tree_id *id)
{
    return id->is_mount_root && id->inode == m->mask_id.inode &&
           id->dev_major == m->mask_id.dev_major && id->dev_minor == m->mask_id.dev_minor;
}

static int mask_one (struct mnt *m, const char *path, struct cover *file, struct cover *folder,
                     struct err *e)
{
    AUTO_FD target = fd_open (m->root, path, O_PATH, FD_IN_ROOT, e);
    struct tree_id id;
    int r;

    if (is_missing (target))
        return 0;
    r = target < 0 ? target : tree_identify (target, "", &id, e);
    if (r < 0)
        return r;
    if (!S_ISDIR (id.mode))
        return is_null (&id) ? 0 : put_cover (file, target, e);
    r = open_empty_folder (m, folder, e);
    if (r < 0 || is_mask_folder (m, &id)) /* named twice */
        return r;
    return put_cover (folder, target, e);
}

int mnt_masked (struct mnt *m, struct err *e)
{
    struct cover file = { .fd = m->src->null };
    struct cover folder = { .fd = -1 };
    int r = 0;

    for (size_t i = 0; r == 0 && i < m->plan->n_masked; i++) {
        r = mask_one (m, m->plan->masked[i], &file, &folder, e);
        if (r < 0)
            r = err_add (e, "/linux/maskedPaths: '%s'", m->plan->masked[i]);
    }
    cleanup_fd (&folder.fd);
    return r;
}

int mnt_masked_check (struct mnt *m, struct err *e)
{
    for (size_t i = 0; i < m->plan->n_masked; i++) {
        const char *path = m->plan->masked[i];
        AUTO_FD fd = fd_open (m->root, path, O_PATH, FD_IN_ROOT, e);
        struct tree_id id;
        int r;

        if (is_missing (fd))
            continue;
        r = fd < 0 ? fd : tree_identify (fd, "", &id, e);
        if (r < 0)
            return err_add (e, "/linux/maskedPaths: '%s'", path);
        if (S_ISDIR (id.mode) ? !is_mask_folder (m, &id) : !is_null (&id))
            return err_set (e, EIO, "/linux/maskedPaths: '%s' is not covered", path);
    }
    return 0;
}

static int make_readonly (const struct mnt *m, const char *path, struct err *e)
{
    static const struct tree_flags flags = { .set = MOUNT_ATTR_RDONLY, .propagation = MS_PRIVATE };
    AUTO_FD target = fd_open (m->root, path, O_PATH, FD_IN_ROOT, e);
    AUTO_FD fd = -1;
    int r;

    if (target < 0)
        return is_missing (target) ? 0 : target;
    fd = tree_clone (target, "", TREE_RECURSIVE, e);
    r = fd < 0 ? fd : tree_set (fd, true, &flags, e);
    return r < 0 ? r : tree_attach (fd, target, e);
}

int mnt_readonly_paths (struct mnt *m, struct err *e)
{
    for (size_t i = 0; i < m->plan->n_readonly; i++)
        if (make_readonly (m, m->plan->readonly[i], e) < 0)
            return err_add (e, "/linux/readonlyPaths: '%s'", m->plan->readonly[i]);
    return 0;
}

int mnt_readonly_paths_check (struct mnt *m, struct err *e)
{
    for (size_t i = 0; i < m->plan->n_readonly; i++) {
        const char *path = m->plan->readonly[i];
        AUTO_FD fd = fd_open (m->root, path, O_PATH, FD_IN_ROOT, e);
        uint64_t magic, flags;
        int r;

        if (is_missing (fd))
            continue;
        r = fd < 0 ? fd : tree_statfs (fd, &magic, &flags, e);
        if (r < 0)
            return err_add (e, "/linux/readonlyPaths: '%s'", path);
        if (!(flags & ST_RDONLY))
            return err_set (e, EIO, "/linux/readonlyPaths: '%s' is still writable", path);
    }
    return 0;
}
