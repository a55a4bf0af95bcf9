#include "mnt/target.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"

#define MAX_LINKS    40 /* as the kernel's own walk */
#define FOLDER_MODE  0755
#define FILE_MODE    0644
#define CREATE_TRIES 16 /* somebody may remove what was just made */

/* A walk by components, for a path of which some part does not exist: openat2 cannot say which.
 * DONE holds no link and no ".."; CUR is the folder it names. */
struct walk {
    int root, cur;
    unsigned int flags;
    int links;
    char done[PATH_MAX];
    char ahead[PATH_MAX];
};

static int too_long (struct err *e)
{
    return err_set (e, ENAMETOOLONG, "the path is too long");
}

/* CUR becomes the folder that DONE names. DONE was looked at already, so a link in it now is
 * somebody else's. */
static int reopen (struct walk *w, struct err *e)
{
    int fd = fd_open (w->root, w->done[0] ? w->done : ".", O_PATH | O_DIRECTORY, FD_NO_LINKS, e);

    if (fd < 0)
        return fd;
    cleanup_fd (&w->cur);
    w->cur = fd;
    return 0;
}

static int go_up (struct walk *w, struct err *e)
{
    char *slash = strrchr (w->done, '/');

    *(slash ? slash : w->done) = '\0';
    return reopen (w, e);
}

static int go_down (struct walk *w, const char *name, int *fd, struct err *e)
{
    size_t len = strlen (w->done);
    int n = snprintf (w->done + len, sizeof w->done - len, "%s%s", len ? "/" : "", name);

    if (n < 0 || (size_t)n >= sizeof w->done - len)
        return too_long (e);
    cleanup_fd (&w->cur);
    w->cur = TAKE_FD (*fd);
    return 0;
}

/* The text of LINK comes before what is left to do. */
static int follow (struct walk *w, int link, struct err *e)
{
    char text[PATH_MAX];
    char rest[PATH_MAX];
    ssize_t len = readlinkat (link, "", text, sizeof text - 1);
    int n;

    if (len < 0)
        return err_sys (e, "read a link");
    if (w->flags & TARGET_NO_LINKS || ++w->links > MAX_LINKS)
        return err_set (e, ELOOP, "there %s in the path",
                        w->links > MAX_LINKS ? "are too many symbolic links"
                                             : "is a symbolic link");
    text[len] = '\0';
    memcpy (rest, w->ahead, sizeof rest);
    n = snprintf (w->ahead, sizeof w->ahead, "%s/%s", text, rest);
    if (n < 0 || (size_t)n >= sizeof w->ahead)
        return too_long (e);
    if (text[0] != '/')
        return 0;
    w->done[0] = '\0';
    return reopen (w, e);
}

/* mkdirat and mknodat with exact modes: we are one thread, so nothing else runs under this
 * umask. */
static int make (struct walk *w, const char *name, bool folder)
{
    mode_t old = umask (0);
    int r = folder ? mkdirat (w->cur, name, FOLDER_MODE)
                   : mknodat (w->cur, name, S_IFREG | FILE_MODE, 0);

    (void)umask (old);
    return r;
}

/* Opens NAME in CUR, making it when it is missing. Returns the descriptor, not following a link. */
static int open_or_make (struct walk *w, const char *name, bool folder, struct err *e)
{
    for (int i = 0; i < CREATE_TRIES; i++) {
        int fd = fd_open (w->cur, name, O_PATH | O_NOFOLLOW, FD_BENEATH, e);

        if (fd != -ENOENT)
            return fd;
        if (make (w, name, folder) < 0 && errno != EEXIST)
            return err_sys (e, "make %s '%s'", folder ? "folder" : "file", name);
    }
    return err_set (e, EAGAIN, "'%s' is removed as fast as it is made", name);
}

/* Cuts the first component of what is left into NAME. False: nothing is left. */
static bool next_name (struct walk *w, char name[NAME_MAX + 2])
{
    size_t skip = strspn (w->ahead, "/");
    size_t len = strcspn (w->ahead + skip, "/");
    size_t copy = len > NAME_MAX + 1 ? NAME_MAX + 1 : len; /* the kernel then says ENAMETOOLONG */

    memcpy (name, w->ahead + skip, copy);
    name[copy] = '\0';
    memmove (w->ahead, w->ahead + skip + len, strlen (w->ahead + skip + len) + 1);
    return len > 0;
}

/* One component. *RET is set when it was the last one. */
static int step (struct walk *w, const char *name, int *ret, struct err *e)
{
    bool last = w->ahead[strspn (w->ahead, "/")] == '\0';
    AUTO_FD fd = -1;
    struct stat st;

    if (strcmp (name, ".") == 0)
        return 0;
    if (strcmp (name, "..") == 0)
        return go_up (w, e);
    fd = open_or_make (w, name, !last || !(w->flags & TARGET_FILE), e);
    if (fd < 0)
        return fd;
    if (fstat (fd, &st) < 0)
        return err_sys (e, "stat '%s'", name);
    if (S_ISLNK (st.st_mode) && !(last && w->flags & TARGET_NOFOLLOW))
        return follow (w, fd, e);
    if (S_ISDIR (st.st_mode))
        return go_down (w, name, &fd, e);
    if (!last)
        return err_set (e, ENOTDIR, "'%s' is not a folder", name);
    *ret = TAKE_FD (fd);
    return 0;
}

static int walk (struct walk *w, struct err *e)
{
    char name[NAME_MAX + 2];
    int last = -1;
    int r = reopen (w, e);

    while (r == 0 && last < 0 && next_name (w, name))
        r = step (w, name, &last, e);
    if (r < 0)
        return r;
    return last >= 0 ? last : TAKE_FD (w->cur);
}

static int make_path (int root, const char *path, unsigned int flags, struct err *e)
{
    struct walk w = { .root = root, .cur = -1, .flags = flags };
    int fd;

    if (strlen (path) >= sizeof w.ahead)
        return too_long (e);
    (void)strcpy (w.ahead, path);
    fd = walk (&w, e);
    cleanup_fd (&w.cur);
    return fd;
}

int target_open (int root, const char *path, unsigned int flags, struct err *e)
{
    int oflags = O_PATH | (flags & TARGET_NOFOLLOW ? O_NOFOLLOW : 0);
    enum fd_resolve how = flags & TARGET_NO_LINKS ? FD_NO_LINKS : FD_IN_ROOT;
    int fd = fd_open (root, path, oflags, how, e);

    if (fd != -ENOENT)
        return fd;
    fd = make_path (root, path, flags, e);
    return fd < 0 ? err_add (e, "'%s'", path) : fd;
}
