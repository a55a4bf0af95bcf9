#include "mnt/idmap.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "libocispec/strbuf.h"
#include "mnt/tree.h"

/* A process that does nothing but hold a new user namespace open. It makes no SIGCHLD. */
static pid_t holder_start (struct err *e)
{
    struct clone_args args = { .flags = CLONE_NEWUSER };
    pid_t pid = (pid_t)syscall (SYS_clone3, &args, sizeof args);

    if (pid < 0)
        return err_sys (e, "make a user namespace for id mappings");
    if (pid > 0)
        return pid;
    (void)prctl (PR_SET_PDEATHSIG, SIGKILL);
    for (;;)
        (void)pause ();
}

static void holder_stop (pid_t pid)
{
    (void)kill (pid, SIGKILL);
    while (waitpid (pid, NULL, __WALL) < 0 && errno == EINTR)
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
    pid_t pid = holder_start (e);
    int fd;

    if (pid < 0)
        return pid;
    fd = holder_map (maps, procfs, pid, e);
    holder_stop (pid);
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
