#include "policy/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "base/userns.h"

#define MAX_LINKS 40 /* as the kernel's own walk */

/* What the ids that a user namespace does not map look like from inside. */
#define UNMAPPED_UID 65534

struct walk {
    int cur; /* the folder that the part of the path before `rest` led to */
    char rest[PATH_MAX];
    size_t not_from_link; /* bytes at the end of `rest` that no link has put there */
    int n_links;
    bool in_etc; /* the folder is the host's /etc or below it */
    struct err *e;
};

/* ---- trust ---- */

/* Where FD is, for messages: what the kernel says. */
static const char *where (int fd, char *buf)
{
    char link[FD_PATH_MAX];
    ssize_t n = readlink (fd_path (link, fd), buf, PATH_MAX - 1);

    buf[n < 0 ? 0 : n] = '\0';
    return buf;
}

/* Root, or the caller. In a user namespace the host's root cannot be told from others who are not
 * mapped; folders that may be theirs are taken, files only in /etc. */
static bool is_trusted_owner (const struct walk *w, const struct stat *st)
{
    if (st->st_uid == 0 || st->st_uid == geteuid ())
        return true;
    return st->st_uid == UNMAPPED_UID && !userns_is_initial () &&
           (S_ISDIR (st->st_mode) || w->in_etc);
}

static int fail_owner (const struct walk *w, const char *what, const char *path, uid_t uid)
{
    return err_set (w->e, EPERM,
                    "the %s '%.150s' belongs to uid %u, who could change the policy: "
                    "chown %u '%.150s'",
                    what, path, uid, geteuid (), path);
}

static int fail_mode (const struct walk *w, const char *what, const char *path, mode_t mode)
{
    const char *who = mode & S_IWOTH ? "others" : "its group";

    if (mode & S_ISVTX)
        return err_set (w->e, EPERM,
                        "in the folder '%.150s' others can make files (mode %04o): keep the policy "
                        "elsewhere",
                        path, mode & 07777);
    return err_set (w->e, EPERM,
                    "the %s '%.150s' can be written by %s (mode %04o), who could change the "
                    "policy: chmod go-w '%.150s'",
                    what, path, who, mode & 07777, path);
}

static int check_trust (const struct walk *w, int fd, const struct stat *st)
{
    const char *what = S_ISDIR (st->st_mode) ? "folder" : "file";
    char path[PATH_MAX];

    if (!is_trusted_owner (w, st))
        return fail_owner (w, what, where (fd, path), st->st_uid);
    if (st->st_mode & (S_IWGRP | S_IWOTH))
        return fail_mode (w, what, where (fd, path), st->st_mode);
    return 0;
}

/* ---- the walk ---- */

static int at_root (struct walk *w)
{
    struct stat st;

    cleanup_fd (&w->cur);
    w->in_etc = false;
    w->cur = open ("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (w->cur < 0 || fstat (w->cur, &st) < 0)
        return err_sys (w->e, "open '/'");
    return check_trust (w, w->cur, &st);
}

/* Puts the text of the link at FD before what is left. */
static int follow (struct walk *w, int fd)
{
    char left[PATH_MAX];
    ssize_t n = readlinkat (fd, "", left, sizeof left);
    size_t len = strlen (w->rest);

    if (n < 0)
        return err_sys (w->e, "read a link on the way");
    if (n == 0 || (size_t)n + len + 2 > sizeof left || ++w->n_links > MAX_LINKS)
        return err_set (w->e, ELOOP, "too many links on the way");
    left[n] = '/';
    memcpy (left + n + 1, w->rest, len + 1);
    memcpy (w->rest, left, (size_t)n + len + 2);
    w->not_from_link = len;
    return w->rest[0] == '/' ? at_root (w) : 0;
}

static bool is_same (const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

static int enter (struct walk *w, int *fd, const char *name, const struct stat *st)
{
    struct stat above;
    struct stat top;

    if (check_trust (w, *fd, st) < 0)
        return -w->e->code;
    if (fstat (w->cur, &above) < 0 || stat ("/", &top) < 0)
        return err_sys (w->e, "stat a folder on the way");
    if (is_same (&above, &top))
        w->in_etc = strcmp (name, "etc") == 0;
    if (is_same (st, &top))
        w->in_etc = false;
    cleanup_fd (&w->cur);
    w->cur = TAKE_FD (*fd);
    return 0;
}

/* Cuts the next component off what is left. Returns false at the end. */
static bool next_component (struct walk *w, char *name, bool *ret_from_link)
{
    char *start = w->rest + strspn (w->rest, "/");
    size_t n = strcspn (start, "/");

    if (n == 0 || n > NAME_MAX)
        return false;
    *ret_from_link = strlen (start) > w->not_from_link;
    memcpy (name, start, n);
    name[n] = '\0';
    memmove (w->rest, start + n, strlen (start + n) + 1);
    return true;
}

/* *RET_FILE is the file where the walk ends there, else it stays as it is. */
static int step (struct walk *w, const char *name, bool from_link, int *ret_file)
{
    AUTO_FD fd = openat (w->cur, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    bool is_last = w->rest[strspn (w->rest, "/")] == '\0';
    struct stat st;

    if (fd < 0 && errno == ENOENT && from_link)
        return err_set (w->e, ELOOP, "a link on the way leads nowhere");
    if (fd < 0 || fstat (fd, &st) < 0)
        return err_sys (w->e, "open '%s'", name);
    if (S_ISLNK (st.st_mode))
        return follow (w, fd);
    if (S_ISDIR (st.st_mode))
        return enter (w, &fd, name, &st);
    if (!is_last)
        return err_set (w->e, ENOTDIR, "'%s' on the way is no folder", name);
    if (!S_ISREG (st.st_mode))
        return err_set (w->e, EINVAL, "it is not a regular file");
    if (check_trust (w, fd, &st) < 0)
        return -w->e->code;
    *ret_file = TAKE_FD (fd);
    return 0;
}

static int walk (struct walk *w, int *ret)
{
    char name[NAME_MAX + 1];
    bool from_link;
    int file = -1;
    int r = at_root (w);

    while (r == 0 && file < 0) {
        if (!next_component (w, name, &from_link))
            return err_set (w->e, EISDIR, "it is a folder, not a file");
        r = step (w, name, from_link, &file);
    }
    *ret = file;
    return r;
}

/* ---- reading ---- */

static int set_path (struct walk *w, const char *path)
{
    AUTO_FREE char *cwd = path[0] == '/' ? NULL : getcwd (NULL, 0);
    int n;

    if (path[0] != '/' && !cwd)
        return err_sys (w->e, "current folder");
    n = snprintf (w->rest, sizeof w->rest, "%s/%s", cwd ?: "", path);
    if (n < 0 || (size_t)n >= sizeof w->rest)
        return err_set (w->e, ENAMETOOLONG, "the path is too long");
    w->not_from_link = (size_t)n;
    return 0;
}

/* FILE was opened without access (O_PATH): looking at it had no effect, whatever it is. */
static int read_file (struct walk *w, int file, struct arena *a, struct policy_file *ret)
{
    char link[FD_PATH_MAX];
    char path[PATH_MAX];
    char *text;
    struct stat st;
    AUTO_FD fd = fd_open (AT_FDCWD, fd_path (link, file), O_RDONLY, FD_HOST, w->e);

    if (fd < 0)
        return fd;
    if (fstat (fd, &st) < 0)
        return err_sys (w->e, "stat it");
    if (where (fd, path)[0] != '/')
        return err_set (w->e, EIO, "the kernel does not say where it is");
    ret->path = arena_strdup (a, path);
    if (!ret->path)
        return err_oom (w->e);
    ret->dev = st.st_dev;
    ret->ino = st.st_ino;
    if (fd_read_all (fd, ret->path, POLICY_FILE_MAX, a, &text, &ret->len, w->e) < 0)
        return -w->e->code;
    ret->text = text;
    return 0;
}

int policy_file_read (const char *path, struct arena *a, struct policy_file *ret, struct err *e)
{
    struct walk w = { .cur = -1, .e = e };
    struct policy_file f = { 0 };
    AUTO_FD file = -1;
    int r = set_path (&w, path);

    if (r == 0)
        r = walk (&w, &file);
    if (r == 0)
        r = read_file (&w, file, a, &f);
    if (r == -ENOENT && file >= 0) /* it is there: ENOENT would say that there is no policy */
        r = -(e->code = EIO);
    cleanup_fd (&w.cur);
    if (r < 0)
        return err_add (e, "policy '%.200s'", path);
    *ret = f;
    return 0;
}
