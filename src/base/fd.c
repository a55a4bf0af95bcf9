#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/socket.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/cleanup.h"

/* openat2 answers EAGAIN when something was renamed or mounted during a scoped walk. Somebody who
 * renames in a loop must not keep us here for ever. */
/* A listener with a full backlog makes connect() wait. */
#define CONNECT_WAIT_S 5

#define OPEN_TRIES 128

#define PROC_ROOT_INODE 1

/* Magic links stay followable for FD_HOST only: /proc/PID/ns/net is one, and the caller named
 * it. */
static const uint64_t resolve_flags[] = {
    [FD_IN_ROOT] = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
    [FD_NO_LINKS] = RESOLVE_IN_ROOT | RESOLVE_NO_SYMLINKS,
    [FD_BENEATH] = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS,
    [FD_PROC] = RESOLVE_BENEATH | RESOLVE_NO_XDEV | RESOLVE_NO_MAGICLINKS,
    [FD_HOST] = 0,
};

/* Returns the descriptor or -1 with errno. */
static int open_raw (int dirfd, const char *path, int flags, mode_t mode, enum fd_resolve how)
{
    struct open_how oh = { .flags = (unsigned int)flags | O_CLOEXEC,
                           .mode = mode,
                           .resolve = resolve_flags[how] };
    int fd = -1;

    for (int i = 0; i < OPEN_TRIES; i++) {
        fd = (int)syscall (SYS_openat2, dirfd, path, &oh, sizeof oh);
        if (fd >= 0 || (errno != EAGAIN && errno != EINTR))
            break;
    }
    return fd;
}

int fd_open_mode (int dirfd, const char *path, int flags, mode_t mode, enum fd_resolve how,
                  struct err *e)
{
    int fd = open_raw (dirfd, path, flags, mode, how);

    return fd >= 0 ? fd : err_sys (e, "open '%s'", path);
}

int fd_open (int dirfd, const char *path, int flags, enum fd_resolve how, struct err *e)
{
    return fd_open_mode (dirfd, path, flags, 0, how, e);
}

int fd_open_proc (int procfs, const char *path, int flags, struct err *e)
{
    int fd = open_raw (procfs, path, flags, 0, FD_PROC);

    if (fd < 0 && (errno == ENOSYS || errno == EPERM))
        fd = openat (procfs, path, flags | O_CLOEXEC);
    return fd >= 0 ? fd : err_sys (e, "open '%s'", path);
}

/* Reads until BUF is full or the file ends. */
static ssize_t read_full (int fd, char *buf, size_t size)
{
    size_t len = 0;

    while (len < size) {
        ssize_t n = read (fd, buf + len, size - len);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -1;
        if (n == 0)
            break;
        len += (size_t)n;
    }
    return (ssize_t)len;
}

/* procfs files say size 0, so the size is only a hint. */
static size_t first_read_size (int fd, size_t max)
{
    struct stat st;

    if (fstat (fd, &st) == 0 && S_ISREG (st.st_mode) && st.st_size > 0 && (size_t)st.st_size < max)
        return (size_t)st.st_size + 1;
    return max < 4096 ? max + 1 : 4096;
}

int fd_read_all (int fd, const char *name, size_t max, struct arena *a, char **ret, size_t *ret_len,
                 struct err *e)
{
    size_t cap = first_read_size (fd, max);
    char *buf = arena_alloc (a, cap + 1);
    size_t len = 0;

    while (buf) {
        ssize_t n = read_full (fd, buf + len, cap - len);
        char *bigger;

        if (n < 0)
            return err_sys (e, "read '%s'", name);
        len += (size_t)n;
        if (len > max)
            return err_set (e, EFBIG, "'%s' is larger than %zu bytes", name, max);
        if (len < cap)
            break;
        cap = cap > max / 2 ? max + 1 : cap * 2;
        bigger = arena_alloc (a, cap + 1);
        if (bigger)
            memcpy (bigger, buf, len);
        buf = bigger;
    }
    if (!buf)
        return err_oom (e);
    buf[len] = '\0';
    *ret = buf;
    if (ret_len)
        *ret_len = len;
    return 0;
}

int fd_read_file (int dirfd, const char *path, size_t max, enum fd_resolve how, struct arena *a,
                  char **ret, size_t *ret_len, struct err *e)
{
    /* What the container can make there (a FIFO, a terminal) must not hold us up; what the caller
     * named may well be a pipe of its shell. */
    int flags = O_RDONLY | O_NOCTTY | (how == FD_HOST ? 0 : O_NONBLOCK);
    AUTO_FD fd = fd_open (dirfd, path, flags, how, e);
    struct stat st;

    if (fd < 0)
        return fd;
    if (fstat (fd, &st) < 0)
        return err_sys (e, "stat '%s'", path);
    if (how != FD_HOST && !S_ISREG (st.st_mode))
        return err_set (e, EINVAL, "'%s' is not a regular file", path);
    return fd_read_all (fd, path, max, a, ret, ret_len, e);
}

int fd_write_all (int fd, const void *buf, size_t len)
{
    const char *p = buf;

    while (len > 0) {
        ssize_t n = write (fd, p, len);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -errno;
        p += n;
        len -= (size_t)n;
    }
    return 0;
}

int fd_write_kernel (int dirfd, const char *path, const char *text, enum fd_resolve how,
                     struct err *e)
{
    AUTO_FD fd = fd_open (dirfd, path, O_WRONLY | O_NOCTTY, how, e);
    size_t len = strlen (text);
    ssize_t n;

    if (fd < 0)
        return fd;
    n = write (fd, text, len);
    if (n < 0)
        return err_sys (e, "write '%.100s' to '%s'", text, path);
    if ((size_t)n != len)
        return err_set (e, EIO, "write '%.100s' to '%s': the kernel took only %zd of %zu bytes",
                        text, path, n, len);
    return 0;
}

/* Splits PATH at its last '/': *RET_DIR is an open descriptor of the folder, *RET_NAME points into
 * PATH. */
static int open_parent (int dirfd, const char *path, int *ret_dir, const char **ret_name,
                        struct err *e)
{
    const char *slash = strrchr (path, '/');
    AUTO_FREE char *dir = slash ? strndup (path, (size_t)(slash - path) + 1) : strdup (".");
    int fd;

    if (!dir)
        return err_oom (e);
    fd = fd_open (dirfd, dir, O_PATH | O_DIRECTORY, FD_HOST, e);
    if (fd < 0)
        return fd;
    *ret_dir = fd;
    *ret_name = slash ? slash + 1 : path;
    return 0;
}

/* A new file below DIR with all of BUF in it; on failure it is gone again. */
static int write_new (int dir, const char *name, const void *buf, size_t len, mode_t mode)
{
    AUTO_FD fd = open_raw (dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600, FD_BENEATH);
    int r;

    if (fd < 0)
        return -errno;
    r = fd_write_all (fd, buf, len);
    if (r == 0 && fchmod (fd, mode) < 0) /* not left to the umask */
        r = -errno;
    if (close (TAKE_FD (fd)) < 0 && r == 0) /* a full or remote disk may tell only now */
        r = -errno;
    if (r < 0)
        (void)unlinkat (dir, name, 0); /* the first error is the one to report */
    return r;
}

int fd_write_atomic (int dirfd, const char *file, const void *buf, size_t len, mode_t mode,
                     struct err *e)
{
    AUTO_FD dir = -1;
    char tmp[256]; /* NAME_MAX and its NUL */
    const char *name;
    uint64_t nonce;
    int r;

    r = open_parent (dirfd, file, &dir, &name, e);
    if (r < 0)
        return err_add (e, "write '%s'", file);
    /* Not guessable: nobody can have made the name before us in a shared folder. */
    if (getrandom (&nonce, sizeof nonce, 0) != (ssize_t)sizeof nonce)
        return err_sys (e, "getrandom");
    (void)snprintf (tmp, sizeof tmp, ".%.200s.%016llx", name, (unsigned long long)nonce);
    r = write_new (dir, tmp, buf, len, mode);
    if (r == 0 && renameat (dir, tmp, dir, name) < 0) {
        r = -errno;
        (void)unlinkat (dir, tmp, 0);
    }
    if (r < 0) {
        errno = -r;
        return err_sys (e, "write '%s'", file);
    }
    return 0;
}

/* mkdirat and mknodat with exactly MODE. We are one thread, so nothing runs under this umask. */
static int mkdir_exact (int dir, const char *name, mode_t mode)
{
    mode_t old = umask (0);
    int r = mkdirat (dir, name, mode);

    (void)umask (old);
    return r;
}

static int mkfile_exact (int dir, const char *name, mode_t mode)
{
    mode_t old = umask (0);
    int r = mknodat (dir, name, S_IFREG | (mode & 07777), 0);

    (void)umask (old);
    return r;
}

/* Makes NAME below DIR. Somebody may make the same folder meanwhile; a link, also one that leads
 * nowhere, is never followed here. */
static int make_component (int dir, const char *name, mode_t mode)
{
    if (mkdir_exact (dir, name, mode) < 0 && errno != EEXIST)
        return -1;
    return open_raw (dir, name, O_PATH | O_DIRECTORY | O_NOFOLLOW, 0, FD_BENEATH);
}

/* What a walk has reached: CUR is the folder that the part of the path before the current component
 * led to. Below a folder that we made there is nothing to resolve any more. */
struct walk {
    int root, cur;
    bool fresh;
};

/* PATH[0..END) is the path up to and with the component that starts at START. */
static int walk_step (struct walk *w, char *path, size_t start, size_t end, mode_t mode)
{
    char saved = path[end];
    int fd = -1;

    path[end] = '\0';
    if (!w->fresh)
        fd = open_raw (w->root, path, O_PATH | O_DIRECTORY, 0, FD_IN_ROOT);
    if (w->fresh || (fd < 0 && errno == ENOENT)) {
        fd = make_component (w->cur, path + start, mode);
        w->fresh = true;
    }
    path[end] = saved;
    if (fd < 0)
        return -errno;
    cleanup_fd (&w->cur);
    w->cur = fd;
    return 0;
}

/* mkdir -p of the first LEN bytes of PATH. */
static int mkdir_prefix (int rootfd, char *path, size_t len, mode_t mode, int *ret)
{
    struct walk w = { .root = rootfd, .cur = open_raw (rootfd, ".", O_PATH, 0, FD_IN_ROOT) };
    size_t pos = 0;
    int r = w.cur < 0 ? -errno : 0;

    while (r == 0) {
        size_t start = pos + strspn (path + pos, "/");
        size_t end = start + strcspn (path + start, "/");

        if (start >= len)
            break;
        r = walk_step (&w, path, start, end, mode);
        pos = end;
    }
    if (r < 0) {
        cleanup_fd (&w.cur);
        return r;
    }
    *ret = w.cur;
    return 0;
}

int fd_mkdir_p (int rootfd, const char *path, mode_t mode, int *ret, struct err *e)
{
    AUTO_FREE char *copy = NULL;
    int r;
    int fd = open_raw (rootfd, path, O_PATH | O_DIRECTORY, 0, FD_IN_ROOT);

    if (fd >= 0) {
        *ret = fd;
        return 0;
    }
    copy = strdup (path);
    if (!copy)
        return err_oom (e);
    r = mkdir_prefix (rootfd, copy, strlen (copy), mode, ret);
    if (r < 0) {
        errno = -r;
        return err_sys (e, "make folder '%s'", path);
    }
    return 0;
}

/* PATH has no trailing slash. Returns a descriptor or a negative errno. */
static int make_file (int rootfd, char *path, mode_t mode)
{
    char *slash = strrchr (path, '/');
    size_t parent_len = slash ? (size_t)(slash - path) : 0;
    const char *name = slash ? slash + 1 : path;
    AUTO_FD dir = -1;
    struct stat st;
    int r = mkdir_prefix (rootfd, path, parent_len, 0755, &dir);
    int fd;

    if (r < 0)
        return r;
    if (mkfile_exact (dir, name, mode) < 0 && errno != EEXIST)
        return -errno;
    fd = open_raw (dir, name, O_PATH | O_NOFOLLOW, 0, FD_BENEATH);
    if (fd < 0)
        return -errno;
    /* Whoever was faster than us, or has put a link there that leads nowhere. */
    if (fstat (fd, &st) < 0 || !S_ISREG (st.st_mode)) {
        cleanup_fd (&fd);
        return -ELOOP;
    }
    return fd;
}

int fd_make_file (int rootfd, const char *path, mode_t mode, int *ret, struct err *e)
{
    AUTO_FREE char *copy = NULL;
    int fd = open_raw (rootfd, path, O_PATH, 0, FD_IN_ROOT);

    if (fd < 0 && errno == ENOENT) {
        copy = strdup (path);
        if (!copy)
            return err_oom (e);
        fd = make_file (rootfd, copy, mode);
        errno = fd < 0 ? -fd : 0;
    }
    if (fd < 0)
        return err_sys (e, "make file '%s'", path);
    *ret = fd;
    return 0;
}

union fd_control {
    struct cmsghdr align;
    char buf[CMSG_SPACE (sizeof (int))];
};

int fd_send (int sock, const void *buf, size_t len, int fd)
{
    union fd_control control = { 0 };
    struct iovec iov = { .iov_base = (void *)(uintptr_t)buf, .iov_len = len };
    struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
    ssize_t n;

    if (fd >= 0) {
        msg.msg_control = control.buf;
        msg.msg_controllen = sizeof control.buf;
        *CMSG_FIRSTHDR (&msg) = (struct cmsghdr){ .cmsg_len = CMSG_LEN (sizeof fd),
                                                  .cmsg_level = SOL_SOCKET,
                                                  .cmsg_type = SCM_RIGHTS };
        memcpy (CMSG_DATA (CMSG_FIRSTHDR (&msg)), &fd, sizeof fd);
    }
    do
        n = sendmsg (sock, &msg, MSG_NOSIGNAL);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return -errno;
    return (size_t)n == len ? 0 : -EPROTO;
}

static int received_fd (struct msghdr *msg)
{
    const struct cmsghdr *c = CMSG_FIRSTHDR (msg);
    int fd;

    if (!c || c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS ||
        c->cmsg_len != CMSG_LEN (sizeof fd))
        return -1;
    memcpy (&fd, CMSG_DATA (c), sizeof fd);
    return fd;
}

ssize_t fd_recv (int sock, void *buf, size_t len, int *ret_fd)
{
    union fd_control control = { 0 };
    struct iovec iov = { .iov_base = buf, .iov_len = len };
    /* CMSG_LEN, not CMSG_SPACE: the padding would hold a second descriptor, which we would leak. */
    struct msghdr msg = { .msg_iov = &iov,
                          .msg_iovlen = 1,
                          .msg_control = control.buf,
                          .msg_controllen = CMSG_LEN (sizeof (int)) };
    AUTO_FD fd = -1;
    ssize_t n;

    do
        n = recvmsg (sock, &msg, MSG_CMSG_CLOEXEC);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return -errno;
    fd = received_fd (&msg);
    if (msg.msg_flags & (MSG_TRUNC | MSG_CTRUNC))
        return -EPROTO;
    *ret_fd = TAKE_FD (fd);
    return n;
}

int fd_connect_unix (const char *path, struct err *e)
{
    const struct timeval wait = { .tv_sec = CONNECT_WAIT_S };
    struct sockaddr_un addr = { .sun_family = AF_UNIX };
    AUTO_FD target = -1;
    AUTO_FD sock = socket (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    char link[FD_PATH_MAX];

    if (sock < 0 || setsockopt (sock, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof wait) < 0)
        return err_sys (e, "make a socket");
    if (strlen (path) >= sizeof addr.sun_path) {
        target = fd_open (AT_FDCWD, path, O_PATH, FD_HOST, e);
        if (target < 0)
            return err_add (e, "connect to '%s'", path);
        (void)strcpy (addr.sun_path, fd_path (link, target));
    } else {
        (void)strcpy (addr.sun_path, path);
    }
    if (connect (sock, (const struct sockaddr *)&addr, sizeof addr) == 0)
        return TAKE_FD (sock);
    if (errno == EAGAIN)
        return err_set (e, ETIMEDOUT,
                        "connect to '%s': whoever listens has accepted no connection for %d s",
                        path, CONNECT_WAIT_S);
    return err_sys (e, "connect to '%s'", path);
}

/* The host's own /proc, for a caller that may not mount: procfs and nothing else, at its root.
 * What is mounted over parts of it is refused later by FD_PROC. */
static int host_procfs (struct err *e)
{
    AUTO_FD fd = fd_open (AT_FDCWD, "/proc", O_PATH | O_DIRECTORY, FD_HOST, e);
    struct statfs fs;
    struct stat st;

    if (fd < 0)
        return fd;
    if (fstatfs (fd, &fs) < 0 || fstat (fd, &st) < 0)
        return err_sys (e, "stat '/proc'");
    if (fs.f_type != PROC_SUPER_MAGIC || st.st_ino != PROC_ROOT_INODE)
        return err_set (e, ENOTSUP, "/proc is not the root of a procfs");
    return TAKE_FD (fd);
}

int fd_procfs (struct err *e)
{
    AUTO_FD fs = fsopen ("proc", FSOPEN_CLOEXEC);
    int mnt = -1;

    if (fs >= 0 && fsconfig (fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0) == 0)
        mnt =
            fsmount (fs, FSMOUNT_CLOEXEC, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC);
    if (mnt < 0 && errno == EPERM)
        return host_procfs (e);
    return mnt >= 0 ? mnt : err_sys (e, "mount a private procfs");
}

char *fd_path (char *buf, int fd)
{
    (void)snprintf (buf, FD_PATH_MAX, "/proc/self/fd/%d", fd);
    return buf;
}
