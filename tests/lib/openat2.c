/*
 * Preloaded into the runtime under valgrind (tests/lib/valgrind.sh), which on Debian 12 knows
 * neither openat2 nor fsopen nor pidfds and answers ENOSYS: stand-ins made of older calls, so
 * that commands run to their end. They resolve paths as openat2 would when nobody interferes,
 * and protect nothing. PLANT=leak or PLANT=read makes an error that valgrind must find.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/pidfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define DEPTH 64
#define LINKS 40

struct walk {
    const struct open_how *how;
    int fds[DEPTH]; /* the root of the walk and the folders below it */
    int depth, links;
    char rest[PATH_MAX * 2];
};

#define real_syscall ((long (*) (long, ...))dlsym (RTLD_NEXT, "syscall"))

static int failed (int error)
{
    errno = error;
    return -1;
}

static int scoped (const struct walk *w)
{
    return (w->how->resolve & (RESOLVE_IN_ROOT | RESOLVE_BENEATH)) != 0;
}

static void leave_to (struct walk *w, int depth)
{
    while (w->depth > depth)
        (void)close (w->fds[w->depth--]);
}

/* A leading slash: the root again, or an error. */
static int enter_absolute (struct walk *w)
{
    if (w->rest[0] != '/')
        return 0;
    if (w->how->resolve & RESOLVE_BENEATH)
        return failed (EXDEV);
    leave_to (w, 0);
    return 0;
}

/* The link LINK (opened as such) takes the place of what has been walked. */
static int follow (struct walk *w, int link)
{
    char target[PATH_MAX];
    char text[sizeof w->rest];
    ssize_t n = readlinkat (link, "", target, sizeof target - 1);

    if (n < 0)
        return -1;
    if (w->how->resolve & RESOLVE_NO_SYMLINKS || ++w->links > LINKS)
        return failed (ELOOP);
    target[n] = '\0';
    if (snprintf (text, sizeof text, "%s/%s", target, w->rest) >= (int)sizeof text)
        return failed (ENAMETOOLONG);
    (void)strcpy (w->rest, w->rest[0] ? text : target);
    return enter_absolute (w);
}

static int up (struct walk *w)
{
    if (w->depth > 0)
        leave_to (w, w->depth - 1);
    else if (w->how->resolve & RESOLVE_BENEATH)
        return failed (EXDEV);
    return 0;
}

static bool other_device (const struct walk *w, const struct stat *st)
{
    struct stat root;

    return w->how->resolve & RESOLVE_NO_XDEV && fstat (w->fds[0], &root) == 0 &&
           root.st_dev != st->st_dev;
}

/* One component that others follow, or a last one that is a folder or a link: 0; what the caller
 * asked for: its descriptor + 1. */
static int component (struct walk *w, const char *name, bool last)
{
    int flags = (int)w->how->flags;
    int at = w->fds[w->depth];
    bool stay = last && (flags & O_NOFOLLOW || (flags & (O_CREAT | O_EXCL)) == (O_CREAT | O_EXCL));
    int fd = openat (at, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    struct stat st;
    int r;

    if (fd < 0 && !(last && flags & O_CREAT && errno == ENOENT))
        return -1;
    if (fd >= 0 && fstat (fd, &st) == 0 && S_ISLNK (st.st_mode) && !stay) {
        r = follow (w, fd);
        (void)close (fd);
        return r;
    }
    if (fd >= 0 && other_device (w, &st)) {
        (void)close (fd);
        return failed (EXDEV);
    }
    if (last) {
        if (fd >= 0)
            (void)close (fd);
        r = openat (at, name, flags | O_NOFOLLOW, (mode_t)w->how->mode);
        return r < 0 ? -1 : r + 1;
    }
    if (w->depth + 1 == DEPTH)
        return failed (ELOOP);
    w->fds[++w->depth] = fd;
    return 0;
}

/* Takes the next component off REST; false at its end. */
static bool next (struct walk *w, char *name)
{
    size_t skip = strspn (w->rest, "/");
    size_t len = strcspn (w->rest + skip, "/");

    if (len == 0 || len > NAME_MAX)
        return false;
    memcpy (name, w->rest + skip, len);
    name[len] = '\0';
    memmove (w->rest, w->rest + skip + len, strlen (w->rest + skip + len) + 1);
    return true;
}

static int walk (struct walk *w)
{
    char name[NAME_MAX + 1];
    int r = enter_absolute (w);

    while (r == 0 && next (w, name)) {
        if (strcmp (name, "..") == 0)
            r = up (w);
        else if (strcmp (name, ".") != 0)
            r = component (w, name, w->rest[strspn (w->rest, "/")] == '\0');
    }
    if (r == 0)
        r = openat (w->fds[w->depth], ".", (int)w->how->flags) + 1;
    return r > 0 ? r - 1 : -1;
}

static int stand_in_openat2 (int dirfd, const char *path, const struct open_how *how)
{
    struct walk w = { .how = how };
    int fd, saved;

    if (!scoped (&w))
        return openat (dirfd, path, (int)how->flags, (mode_t)how->mode);
    if (path[0] == '\0')
        return failed (ENOENT);
    if (strlen (path) >= PATH_MAX)
        return failed (ENAMETOOLONG);
    (void)strcpy (w.rest, path);
    w.fds[0] = openat (dirfd, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (w.fds[0] < 0)
        return -1;
    fd = walk (&w);
    saved = errno;
    leave_to (&w, 0);
    (void)close (w.fds[0]);
    errno = saved;
    return fd;
}

/* A pidfd is a descriptor of /proc/PID here. Returns the PID, or 0 for any other descriptor. */
static int pid_of (int fd)
{
    char path[64], target[64], junk;
    ssize_t n;
    int pid;

    (void)snprintf (path, sizeof path, "/proc/self/fd/%d", fd);
    n = readlink (path, target, sizeof target - 1);
    if (n < 0)
        return 0;
    target[n] = '\0';
    return sscanf (target, "/proc/%d%c", &pid, &junk) == 1 ? pid : 0;
}

static int stand_in_send_signal (int pidfd, int sig)
{
    int pid = pid_of (pidfd);

    return pid > 0 ? kill (pid, sig) : failed (ESRCH);
}

int pidfd_open (pid_t pid, unsigned int flags)
{
    char path[64];
    int fd;

    (void)flags;
    (void)snprintf (path, sizeof path, "/proc/%d", (int)pid);
    fd = open (path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    return fd < 0 && errno == ENOENT ? failed (ESRCH) : fd;
}

static bool has_ended (int pid)
{
    char path[64], text[512] = "";
    const char *state;
    FILE *f;

    (void)snprintf (path, sizeof path, "/proc/%d/stat", pid);
    f = fopen (path, "re");
    if (!f)
        return true;
    (void)!fgets (text, sizeof text, f);
    (void)fclose (f);
    state = strrchr (text, ')');
    return !state || state[2] == 'Z' || state[2] == 'X';
}

/* Of one pidfd, asked every 10 ms; anything else as ever. */
int stand_in_poll (struct pollfd *fds, nfds_t n, int timeout) __asm__("poll");
int stand_in_poll (struct pollfd *fds, nfds_t n, int timeout)
{
    int pid = n == 1 ? pid_of (fds[0].fd) : 0;

    if (pid == 0)
        return (int)real_syscall (SYS_poll, fds, n, timeout);
    fds[0].revents = 0;
    for (int left = timeout; !has_ended (pid); left -= 10) {
        if (timeout >= 0 && left <= 0)
            return 0;
        (void)usleep (10000);
    }
    fds[0].revents = POLLIN;
    return 1;
}

long syscall (long number, ...)
{
    long a[6];
    va_list ap;

    va_start (ap, number);
    for (size_t i = 0; i < 6; i++)
        a[i] = va_arg (ap, long);
    va_end (ap);
    if (number == SYS_openat2)
        return stand_in_openat2 ((int)a[0], (const char *)a[1], (const struct open_how *)a[2]);
    if (number == SYS_pidfd_send_signal)
        return stand_in_send_signal ((int)a[0], (int)a[1]);
    return real_syscall (number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

/* "Not permitted" makes the runtime take the host's /proc, as for an ordinary user. */
int fsopen (const char *name, unsigned int flags)
{
    (void)name;
    (void)flags;
    return failed (EPERM);
}

/* As valgrind answers, but without its remark in the log. */
int open_tree (int dirfd, const char *path, unsigned int flags)
{
    (void)dirfd;
    (void)path;
    (void)flags;
    return failed (ENOSYS);
}

__attribute__ ((constructor)) static void plant (void)
{
    const char *kind = getenv ("PLANT");
    char *volatile p = kind ? malloc (16) : NULL;

    if (kind && p && strcmp (kind, "read") == 0) {
        free (p);
        if (((volatile char *)p)[3] == 'x')
            (void)putenv ((char *)(uintptr_t) "PLANTED=x");
    }
    p = NULL;
}
