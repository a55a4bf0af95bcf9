/*
 * /dev: device nodes, the usual links, the terminal's files.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "base/kernel.h"
#include "mnt/sources.h"
#include "mnt/target.h"

#define PTMX_MAJOR 5
#define PTMX_MINOR 2

/* runtime-spec, "Dev symbolic links". */
static const struct {
    const char *name, *target;
} dev_links[] = {
    { "fd", "/proc/self/fd" },
    { "stdin", "/proc/self/fd/0" },
    { "stdout", "/proc/self/fd/1" },
    { "stderr", "/proc/self/fd/2" },
};

/* A /dev that is bound is somebody else's, as often as not the host's: nothing is made in it. */
static bool is_dev_bound (const struct plan *p)
{
    bool bound = false;

    for (size_t i = 0; i < p->n_mounts; i++)
        if (p->mounts[i].kind != MOUNT_REMOUNT && strcmp (p->mounts[i].dest, "/dev") == 0)
            bound = p->mounts[i].kind == MOUNT_BIND;
    return bound;
}

/* ---- nodes ---- */

/* Where a device goes: NAME in the open folder DIR. */
struct place {
    int dir;
    const char *name;
};

/* The folder of a device path; /dev itself is open already. *OWNED is what the caller has to
 * close. */
static int find_place (const struct mnt *m, const char *path, struct place *ret, int *owned,
                       struct err *e)
{
    const char *slash = strrchr (path, '/');
    char folder[PATH_MAX];

    if (!slash || !slash[1] || strcmp (slash, "/.") == 0 || strcmp (slash, "/..") == 0)
        return err_set (e, EINVAL, "the path is not one of a device");
    if ((size_t)(slash - path) >= sizeof folder)
        return err_set (e, ENAMETOOLONG, "the path is too long");
    ret->name = slash + 1;
    ret->dir = m->dev;
    memcpy (folder, path, (size_t)(slash - path));
    folder[slash - path] = '\0';
    if (strcmp (folder, "/dev") == 0)
        return 0;
    *owned = ret->dir = target_open (m->root, folder[0] ? folder : "/", 0, e);
    return *owned < 0 ? *owned : 0;
}

static bool is_same_node (const struct plan_device *d, const struct tree_id *id)
{
    if ((id->mode & S_IFMT) != d->type)
        return false;
    return d->type == S_IFIFO || (id->rdev_major == d->major && id->rdev_minor == d->minor);
}

/* fchmodat2 came with Linux 6.6; before it, the name is as good: it was opened without following a
 * link, and a node that is no link is changed whatever is raced, inside the container. */
static int chmod_node (const struct place *at, mode_t mode)
{
    int r = (int)syscall (SYS_fchmodat2, at->dir, at->name, mode, AT_SYMLINK_NOFOLLOW);

    return r < 0 && errno == ENOSYS ? fchmodat (at->dir, at->name, mode, 0) : r;
}

static int own_node (const struct place *at, const struct plan_device *d, struct err *e)
{
    if (fchownat (at->dir, at->name, d->uid, d->gid, AT_SYMLINK_NOFOLLOW) < 0)
        return err_sys (e, "chown");
    return 0;
}

/* Something is there already: in the image, or bound by one of the mounts. Of the latter nothing is
 * changed, it is the host's. */
static int keep_node (const struct place *at, const struct plan_device *d, struct err *e)
{
    struct tree_id dir, id;
    int r = tree_identify (at->dir, "", &dir, e);

    if (r == 0)
        r = tree_identify (at->dir, at->name, &id, e);
    if (r < 0)
        return r;
    if (!is_same_node (d, &id))
        return err_set (e, EEXIST, "something else is there already");
    if (id.mount != dir.mount)
        return 0;
    r = own_node (at, d, e);
    if (r == 0 && chmod_node (at, d->mode) < 0)
        return err_sys (e, "chmod");
    return r;
}

/* The host's node of the same path, verified. Read-only: the container's root shall not change the
 * mode of it; writing to the device needs no writable mount. */
static int open_host_node (const struct plan_device *d, struct err *e)
{
    const struct tree_flags flags = { .set =
                                          MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC,
                                      .propagation = MS_PRIVATE };
    AUTO_FD fd = tree_clone (AT_FDCWD, d->path, TREE_NOFOLLOW, e);
    struct tree_id id;
    int r;

    if (fd == -ENOENT)
        return err_set (e, ENODEV, "the host has no such device to bind, and mknod is not allowed");
    if (fd < 0)
        return fd;
    r = tree_identify (fd, "", &id, e);
    if (r == 0 && !is_same_node (d, &id))
        return err_set (e, ENODEV, "the host has something else there, and mknod is not allowed");
    if (r == 0)
        r = tree_set (fd, false, &flags, e);
    return r < 0 ? r : TAKE_FD (fd);
}

static int bind_node (const struct place *at, const struct plan_device *d, struct err *e)
{
    AUTO_FD node = -1;
    AUTO_FD target = -1;

    if (mknodat (at->dir, at->name, S_IFREG | 0644, 0) < 0)
        return errno == EEXIST ? keep_node (at, d, e) : err_sys (e, "make a file to bind it on");
    node = open_host_node (d, e);
    if (node < 0)
        return node;
    target = fd_open (at->dir, at->name, O_PATH | O_NOFOLLOW, FD_BENEATH, e);
    return target < 0 ? target : tree_attach (node, target, e);
}

static int make_node (const struct mnt *m, const struct place *at, const struct plan_device *d,
                      struct err *e)
{
    /* A tmpfs of a user namespace has no working nodes even where they can be made. */
    bool only_bind = m->plan->ns[NS_USER].mode != NS_INHERIT && d->type != S_IFIFO;

    if (only_bind)
        return bind_node (at, d, e);
    if (mknodat (at->dir, at->name, d->type | d->mode, makedev (d->major, d->minor)) == 0)
        return own_node (at, d, e);
    if (errno == EPERM)
        return bind_node (at, d, e);
    return errno == EEXIST ? keep_node (at, d, e) : err_sys (e, "mknod");
}

static int make_device (const struct mnt *m, const struct plan_device *d, struct err *e)
{
    AUTO_FD owned = -1;
    struct place at;
    int r;

    if (strcmp (d->path, "/dev/ptmx") == 0)
        return 0; /* always the link to the container's own devpts */
    r = find_place (m, d->path, &at, &owned, e);
    if (r == 0)
        r = make_node (m, &at, d, e);
    return r < 0 ? err_add (e, "device '%s'", d->path) : 0;
}

/* ---- links ---- */

static int make_link (int dev, const char *name, const char *target, struct err *e)
{
    if (symlinkat (target, dev, name) < 0 && errno != EEXIST)
        return err_sys (e, "link '/dev/%s'", name);
    return 0;
}

static int make_links (int dev, struct err *e)
{
    int r = 0;

    for (size_t i = 0; r == 0 && i < ARRAY_LEN (dev_links); i++)
        r = make_link (dev, dev_links[i].name, dev_links[i].target, e);
    if (r == 0 && faccessat (AT_FDCWD, "/proc/kcore", F_OK, AT_SYMLINK_NOFOLLOW) == 0)
        r = make_link (dev, "core", "/proc/kcore", e);
    return r;
}

static bool is_link_to (int dev, const char *name, const char *target)
{
    char text[64];
    ssize_t len = readlinkat (dev, name, text, sizeof text);

    return len == (ssize_t)strlen (target) && memcmp (text, target, (size_t)len) == 0;
}

/* An image's own ptmx would open pseudo-terminals of whatever devpts the kernel finds. */
static int link_ptmx (int dev, struct err *e)
{
    static const char target[] = "pts/ptmx";

    if (is_link_to (dev, "ptmx", target))
        return 0;
    if (unlinkat (dev, "ptmx", 0) < 0 && errno != ENOENT)
        return err_sys (e, "replace '/dev/ptmx'");
    return symlinkat (target, dev, "ptmx") < 0 ? err_sys (e, "link '/dev/ptmx'") : 0;
}

static int open_dev (struct mnt *m, struct err *e)
{
    if (m->dev < 0)
        m->dev = target_open (m->root, "/dev", 0, e);
    return m->dev;
}

int mnt_devices (struct mnt *m, struct err *e)
{
    mode_t old;
    int r;

    if (m->plan->ns[NS_MOUNT].mode == NS_INHERIT)
        return 0; /* the rootfs is used as it is: see mnt_prepare */
    r = open_dev (m, e);
    if (r < 0 || is_dev_bound (m->plan))
        return r < 0 ? r : 0;
    r = 0;
    old = umask (0); /* nodes get exactly the mode asked for */
    for (size_t i = 0; r == 0 && i < m->plan->n_devices; i++)
        r = make_device (m, &m->plan->devices[i], e);
    if (r == 0)
        r = make_links (m->dev, e);
    if (r == 0)
        r = link_ptmx (m->dev, e);
    (void)umask (old);
    return r;
}

static int check_device (const struct mnt *m, const struct plan_device *d, struct err *e)
{
    AUTO_FD owned = -1;
    struct tree_id dir, id;
    struct place at;
    int r = find_place (m, d->path, &at, &owned, e);

    if (r == 0)
        r = tree_identify (at.dir, "", &dir, e);
    if (r == 0)
        r = tree_identify (at.dir, at.name, &id, e);
    if (r < 0)
        return r;
    if (!is_same_node (d, &id))
        return err_set (e, EIO, "it is another file than was made");
    if (id.mount != dir.mount)
        return 0; /* the host's node, with the host's mode and owner */
    if ((id.mode & 07777) != d->mode || id.uid != d->uid || id.gid != d->gid)
        return err_set (e, EIO, "it has mode %o and owner %u:%u instead of %o and %u:%u",
                        id.mode & 07777, id.uid, id.gid, d->mode, d->uid, d->gid);
    return 0;
}

int mnt_devices_check (struct mnt *m, struct err *e)
{
    if (m->plan->ns[NS_MOUNT].mode == NS_INHERIT || is_dev_bound (m->plan))
        return 0;
    for (size_t i = 0; i < m->plan->n_devices; i++) {
        const struct plan_device *d = &m->plan->devices[i];

        if (strcmp (d->path, "/dev/ptmx") != 0 && check_device (m, d, e) < 0)
            return err_add (e, "device '%s'", d->path);
    }
    return is_link_to (m->dev, "ptmx", "pts/ptmx")
               ? 0
               : err_set (e, EIO, "/dev/ptmx is not the link that was made");
}

/* ---- the terminal ---- */

static int open_console_target (int dev, struct err *e)
{
    mode_t old = umask (0);
    int r = mknodat (dev, "console", S_IFREG | 0600, 0);
    AUTO_FD fd = -1;
    struct tree_id id;

    (void)umask (old);
    if (r < 0 && errno != EEXIST)
        return err_sys (e, "make '/dev/console'");
    fd = fd_open (dev, "console", O_PATH | O_NOFOLLOW, FD_BENEATH, e);
    r = fd < 0 ? fd : tree_identify (fd, "", &id, e);
    if (r < 0)
        return r;
    if (S_ISLNK (id.mode) || S_ISDIR (id.mode))
        return err_set (e, ELOOP, "'/dev/console' is a %s",
                        S_ISLNK (id.mode) ? "symbolic link" : "folder");
    return TAKE_FD (fd);
}

int mnt_console (struct mnt *m, int pty_peer, struct err *e)
{
    AUTO_FD target = -1;
    AUTO_FD fd = -1;
    struct tree_id want, found;
    int r = open_dev (m, e);

    if (r < 0)
        return r;
    target = open_console_target (m->dev, e);
    if (target < 0)
        return target;
    fd = tree_clone (pty_peer, "", 0, e);
    r = fd < 0 ? fd : tree_attach (fd, target, e);
    if (r == 0)
        r = tree_identify (pty_peer, "", &want, e);
    if (r == 0)
        r = tree_identify (m->dev, "console", &found, e);
    if (r < 0)
        return err_add (e, "mount the terminal on '/dev/console'");
    if (want.inode != found.inode || want.rdev_minor != found.rdev_minor ||
        want.rdev_major != found.rdev_major)
        return err_set (e, EIO, "'/dev/console' is not the container's terminal");
    return 0;
}

static int open_own_root (const struct mnt *m, struct err *e)
{
    if (m->root >= 0)
        return fd_open (m->root, ".", O_PATH | O_DIRECTORY, FD_IN_ROOT, e);
    return fd_open (AT_FDCWD, "/", O_PATH | O_DIRECTORY, FD_HOST, e);
}

int mnt_open_ptmx (struct mnt *m, struct err *e)
{
    AUTO_FD root = open_own_root (m, e);
    AUTO_FD pts = -1;
    AUTO_FD fd = -1;
    struct tree_id id;
    uint64_t magic, flags;
    int r;

    if (root < 0)
        return root;
    pts = fd_open (root, "/dev/pts", O_PATH | O_DIRECTORY, FD_IN_ROOT, e);
    if (pts < 0)
        return err_set (e, ENODEV, "a terminal needs a devpts mounted on /dev/pts");
    r = tree_statfs (pts, &magic, &flags, e);
    if (r == 0 && magic != DEVPTS_SUPER_MAGIC)
        r = err_set (e, ENODEV, "/dev/pts is no devpts");
    if (r < 0)
        return r;
    /* Below the devpts and on no other mount: only its own nodes can be opened here. */
    fd = fd_open (pts, "ptmx", O_RDWR | O_NOCTTY | O_NOFOLLOW, FD_PROC, e);
    r = fd < 0 ? fd : tree_identify (fd, "", &id, e);
    if (r < 0)
        return err_add (e, "/dev/pts");
    if (!S_ISCHR (id.mode) || id.rdev_major != PTMX_MAJOR || id.rdev_minor != PTMX_MINOR)
        return err_set (e, ENODEV, "/dev/pts/ptmx is not character device 5:2");
    return TAKE_FD (fd);
}
