#include "mnt/copyup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"

#define MAX_DEPTH   64
#define MAX_ENTRIES 100000

#define XATTR_NAMES_MAX 4096
#define XATTR_VALUE_MAX 4096

struct copy {
    size_t entries;
    int depth;
    dev_t dev; /* of the file system that is copied */
};

static int copy_folder (struct copy *c, int from, int to, struct err *e);

/* tmpfs does not take all of them, and a user namespace may not set all of them. */
static bool is_refusal (int code)
{
    return code == EPERM || code == EOPNOTSUPP || code == EACCES;
}

static int copy_xattr (int from, int to, const char *name, struct err *e)
{
    char value[XATTR_VALUE_MAX];
    ssize_t len = fgetxattr (from, name, value, sizeof value);

    if (len < 0 && (is_refusal (errno) || errno == ENODATA))
        return 0;
    if (len < 0)
        return err_sys (e, "read attribute '%s'", name);
    if (fsetxattr (to, name, value, (size_t)len, 0) < 0 && !is_refusal (errno))
        return err_sys (e, "set attribute '%s'", name);
    return 0;
}

static int copy_xattrs (int from, int to, struct err *e)
{
    char names[XATTR_NAMES_MAX];
    ssize_t len = flistxattr (from, names, sizeof names);
    int r = 0;

    if (len < 0)
        return is_refusal (errno) ? 0 : err_sys (e, "list attributes");
    for (const char *n = names; r == 0 && n < names + len; n += strlen (n) + 1)
        r = copy_xattr (from, to, n, e);
    return r;
}

/* Owner before mode: a change of owner clears set-user-ID. */
static int copy_attributes (int from, int to, const struct stat *st, struct err *e)
{
    const struct timespec times[2] = { st->st_atim, st->st_mtim };
    int r;

    if (fchown (to, st->st_uid, st->st_gid) < 0)
        return err_sys (e, "chown");
    if (fchmod (to, st->st_mode & 07777) < 0)
        return err_sys (e, "chmod");
    r = copy_xattrs (from, to, e);
    if (r == 0 && futimens (to, times) < 0)
        return err_sys (e, "set times");
    return r;
}

static int copy_bytes (int from, int to, off_t size, struct err *e)
{
    while (size > 0) {
        ssize_t n = sendfile (to, from, NULL, (size_t)size);

        if (n < 0)
            return err_sys (e, "copy");
        if (n == 0)
            break; /* it became shorter meanwhile */
        size -= n;
    }
    return 0;
}

static int copy_file (int dir, const char *name, int to_dir, struct err *e)
{
    AUTO_FD from = fd_open (dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, FD_BENEATH, e);
    AUTO_FD to = -1;
    struct stat st;
    int r;

    if (from < 0)
        return from;
    if (fstat (from, &st) < 0)
        return err_sys (e, "stat");
    if (!S_ISREG (st.st_mode))
        return 0; /* exchanged for something that is not copied */
    to = fd_open_mode (to_dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600, FD_BENEATH, e);
    if (to < 0)
        return to;
    r = copy_bytes (from, to, st.st_size, e);
    return r < 0 ? r : copy_attributes (from, to, &st, e);
}

static int copy_link (int dir, const char *name, int to_dir, const struct stat *st, struct err *e)
{
    char text[PATH_MAX];
    ssize_t len = readlinkat (dir, name, text, sizeof text - 1);

    if (len < 0)
        return err_sys (e, "read link");
    text[len] = '\0';
    if (symlinkat (text, to_dir, name) < 0)
        return err_sys (e, "make link");
    if (fchownat (to_dir, name, st->st_uid, st->st_gid, AT_SYMLINK_NOFOLLOW) < 0)
        return err_sys (e, "chown");
    return 0;
}

static int copy_subfolder (struct copy *c, int dir, const char *name, int to_dir, struct err *e)
{
    AUTO_FD from = -1;
    AUTO_FD to = -1;

    if (c->depth == MAX_DEPTH)
        return err_set (e, ELOOP, "more than %d folders deep", MAX_DEPTH);
    from = fd_open (dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, FD_BENEATH, e);
    if (from < 0)
        return from;
    if (mkdirat (to_dir, name, 0700) < 0)
        return err_sys (e, "make folder");
    to = fd_open (to_dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, FD_BENEATH, e);
    return to < 0 ? to : copy_folder (c, from, to, e);
}

static int copy_entry (struct copy *c, int dir, const char *name, int to_dir, struct err *e)
{
    struct stat st;

    if (++c->entries > MAX_ENTRIES)
        return err_set (e, EFBIG, "more than %d files", MAX_ENTRIES);
    if (fstatat (dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return errno == ENOENT ? 0 : err_sys (e, "stat");
    if (st.st_dev != c->dev)
        return 0;
    if (S_ISREG (st.st_mode))
        return copy_file (dir, name, to_dir, e);
    if (S_ISLNK (st.st_mode))
        return copy_link (dir, name, to_dir, &st, e);
    return S_ISDIR (st.st_mode) ? copy_subfolder (c, dir, name, to_dir, e) : 0;
}

/* FROM and TO are open for reading. The attributes come last: the times would change again. */
static int copy_folder (struct copy *c, int from, int to, struct err *e)
{
    int list = fd_open (from, ".", O_RDONLY | O_DIRECTORY, FD_BENEATH, e);
    AUTO_DIR *d = list >= 0 ? fdopendir (list) : NULL;
    const struct dirent *entry;
    struct stat st;
    int r = 0;

    if (!d)
        return list < 0 ? list : err_sys (e, "list folder");
    if (fstat (from, &st) < 0)
        return err_sys (e, "stat");
    c->depth++;
    while (r == 0 && (errno = 0, entry = readdir (d))) {
        if (strcmp (entry->d_name, ".") == 0 || strcmp (entry->d_name, "..") == 0)
            continue;
        r = copy_entry (c, from, entry->d_name, to, e);
        if (r < 0)
            r = err_add (e, "'%.40s'", entry->d_name);
    }
    c->depth--;
    if (r == 0 && errno)
        return err_sys (e, "list folder");
    return r < 0 ? r : copy_attributes (from, to, &st, e);
}

int copyup (int from, int to, struct err *e)
{
    AUTO_FD source = fd_open (from, ".", O_RDONLY | O_DIRECTORY, FD_BENEATH, e);
    AUTO_FD copy = fd_open (to, ".", O_RDONLY | O_DIRECTORY, FD_BENEATH, e);
    struct copy c = { 0 };
    struct stat st;
    int r;

    if (source < 0 || copy < 0)
        return err_add (e, "tmpcopyup");
    if (fstat (source, &st) < 0)
        return err_sys (e, "tmpcopyup: stat");
    c.dev = st.st_dev;
    r = copy_folder (&c, source, copy, e);
    return r < 0 ? err_add (e, "tmpcopyup") : 0;
}
