#include "mnt/idmap.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "libocispec/strbuf.h"
#include "mnt/tree.h"

/* A process that does nothing but hold a new user namespace open. */
struct holder {
    pid_t pid;
    int alive; /* it ends when nobody has this open: with us, however and whenever we end */
};

/* All that it has of ours is END. */
static _Noreturn void hold (const int end[2])
{
    char byte;

    (void)close (end[1]);
    (void)syscall (SYS_close_range, end[0] + 1, ~0U, 0); /* nothing depends on these two */
    (void)syscall (SYS_close_range, 0, end[0] - 1, 0);
    while (read (end[0], &byte, 1) < 0 && errno == EINTR)
        ;
    _exit (0);
}

/* It makes no SIGCHLD. */
static int holder_start (struct holder *ret, struct err *e)
{
    struct clone_args args = { .flags = CLONE_NEWUSER };
    int end[2];
    pid_t pid;

    if (pipe2 (end, O_CLOEXEC) < 0)
        return err_sys (e, "make a pipe");
    pid = (pid_t)syscall (SYS_clone3, &args, sizeof args);
    if (pid == 0)
        hold (end);
    (void)close (end[0]);
    if (pid < 0) {
        (void)err_sys (e, "make a user namespace for id mappings");
        (void)close (end[1]);
        return -e->code;
    }
    *ret = (struct holder){ .pid = pid, .alive = end[1] };
    return 0;
}

static void holder_stop (const struct holder *h)
{
    (void)kill (h->pid, SIGKILL);
    (void)close (h->alive);
    while (waitpid (h->pid, NULL, __WALL) < 0 && errno == EINTR)
        ;
}

static int write_map (int procfs, pid_t pid, const char *file, const struct plan_idmap *maps,
                      size_t n, struct err *e)
{
    AUTO_STRBUF text = { 0 };
    char path[64];

    for (size_t i = 0; i < n; i++)
        strbuf_addf (&text, "%u %u %u\n", maps[i].inside, maps[i].outside, maps[i].count);
    if (text.failed)
        return err_oom (e);
    (void)snprintf (path, sizeof path, "%d/%s", (int)pid, file);
    return fd_write_kernel (procfs, path, text.s ?: "", FD_PROC, e);
}

static int holder_map (const struct plan_idmaps *maps, int procfs, pid_t pid, struct err *e)
{
    char path[64];
    int r = write_map (procfs, pid, "uid_map", maps->uid, maps->n_uid, e);

    if (r == 0)
        r = write_map (procfs, pid, "gid_map", maps->gid, maps->n_gid, e);
    if (r < 0)
        return r;
    (void)snprintf (path, sizeof path, "%d/ns/user", (int)pid);
    return fd_open (procfs, path, O_RDONLY, FD_HOST, e); /* a magic link, of our own procfs */
}

int idmap_userns (const struct plan_idmaps *maps, int procfs, struct err *e)
{
    struct holder h = { .alive = -1 };
    int fd = holder_start (&h, e);

    if (fd < 0)
        return fd;
    fd = holder_map (maps, procfs, h.pid, e);
    holder_stop (&h);
    return fd;
}

/* Those that people try; there is no call that names a file system (statmount does, from 6.11). */
static const struct {
    uint64_t magic;
    const char *name;
} fs_names[] = {
    { PROC_SUPER_MAGIC, "proc" },         { SYSFS_MAGIC, "sysfs" },
    { NFS_SUPER_MAGIC, "nfs" },           { SMB2_SUPER_MAGIC, "cifs" },
    { FUSE_SUPER_MAGIC, "fuse" },         { V9FS_MAGIC, "9p" },
    { OVERLAYFS_SUPER_MAGIC, "overlay" }, { CGROUP2_SUPER_MAGIC, "cgroup2" },
};

static int unmappable (int fd, struct err *e)
{
    uint64_t magic, flags;
    int r = tree_statfs (fd, &magic, &flags, e);

    if (r < 0)
        return r;
    for (size_t i = 0; i < ARRAY_LEN (fs_names); i++)
        if (fs_names[i].magic == magic)
            return err_set (e, EINVAL, "map ids: the file system %s cannot do it here",
                            fs_names[i].name);
    return err_set (e, EINVAL, "map ids: the file system (type 0x%llx) cannot do it here",
                    (unsigned long long)magic);
}

int idmap_apply (int fd, int userns, bool recursive, struct err *e)
{
    struct mount_attr attr = { .attr_set = MOUNT_ATTR_IDMAP, .userns_fd = (uint64_t)userns };
    unsigned int flags = AT_EMPTY_PATH | (recursive ? (unsigned int)AT_RECURSIVE : 0);

    if (mount_setattr (fd, "", flags, &attr, sizeof attr) == 0)
        return 0;
    return errno == EINVAL ? unmappable (fd, e) : err_sys (e, "map ids");
}
