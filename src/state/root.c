/* The state root: where it is, whether it can be trusted, what is in it. */
#include "state/state.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "base/str.h"

#define HOST_ROOT "/run/agentrt"

/* The initial user namespace maps all ids to themselves. */
static bool is_initial_userns (struct arena *a)
{
    struct err ignored; /* a kernel without user namespaces has no uid_map */
    unsigned int inside = 0, outside = 0, count = UINT32_MAX;
    char *map = NULL;

    if (fd_read_file (AT_FDCWD, "/proc/self/uid_map", 4096, FD_HOST, a, &map, NULL, &ignored) == 0)
        (void)sscanf (map, "%u %u %u", &inside, &outside, &count);
    return inside == 0 && outside == 0 && count == UINT32_MAX;
}

static bool is_host_root (struct arena *a)
{
    const char *user = getenv ("USER");

    return geteuid () == 0 && (is_initial_userns (a) || (user && strcmp (user, "root") == 0));
}

int state_default_root (struct arena *a, const char **ret, struct err *e)
{
    const char *run = getenv ("XDG_RUNTIME_DIR");
    const char *path;

    if (is_host_root (a) || (geteuid () == 0 && (!run || *run == '\0'))) {
        *ret = HOST_ROOT;
        return 0;
    }
    if (!run || *run != '/')
        return err_set (e, EINVAL,
                        "XDG_RUNTIME_DIR is not set to an absolute path: set it, or give --root");
    path = arena_printf (a, "%s/agentrt", run);
    if (!path)
        return err_oom (e);
    *ret = path;
    return 0;
}

/* Opens the folder that holds PATH's last component, and makes what is missing. */
static int open_parent (char *path, bool make, const char **ret_name, struct err *e)
{
    AUTO_FD host = fd_open (AT_FDCWD, "/", O_PATH | O_DIRECTORY, FD_HOST, e);
    char *slash = strrchr (path, '/');
    const char *parent = slash == path ? "/" : path;
    int fd = -1;
    int r;

    if (host < 0)
        return host;
    *slash = '\0';
    *ret_name = slash + 1;
    if (!make)
        return fd_open (AT_FDCWD, parent, O_PATH | O_DIRECTORY, FD_HOST, e);
    r = fd_mkdir_p (host, parent, 0700, &fd, e);
    return r < 0 ? r : fd;
}

static int check_root (int fd, const char *path, struct err *e)
{
    struct stat st;
    struct stat host;

    if (fstat (fd, &st) < 0 || stat ("/", &host) < 0)
        return err_sys (e, "stat the state root '%s'", path);
    if (st.st_dev == host.st_dev && st.st_ino == host.st_ino)
        return err_set (e, EINVAL, "the state root must not be '/'");
    if (st.st_uid != geteuid ())
        return err_set (e, EPERM, "the state root '%s' belongs to uid %u, not to us (uid %u)", path,
                        st.st_uid, geteuid ());
    if (st.st_mode & (S_IWGRP | S_IWOTH))
        return err_set (e, EPERM,
                        "the state root '%s' can be written by others (mode %04o): chmod 0700",
                        path, st.st_mode & 07777);
    return 0;
}

/* The sticky bit keeps systemd-tmpfiles from ageing away what lies in a user's runtime folder. */
static mode_t root_mode (const char *path)
{
    const char *run = getenv ("XDG_RUNTIME_DIR");

    return run && *run && str_has_prefix (path, run) ? S_ISVTX | 0700 : 0700;
}

static int make_root (int parent, const char *name, const char *path, struct err *e)
{
    if (mkdirat (parent, name, 0700) < 0)
        return errno == EEXIST ? 0 : err_sys (e, "make the state root '%s'", path);
    if (fchmodat (parent, name, root_mode (path), 0) < 0)
        return err_sys (e, "chmod the state root '%s'", path);
    return 0;
}

/* COPY is PATH without trailing slashes and gets cut up. Returns the descriptor. */
static int open_root (const char *path, char *copy, bool make, struct err *e)
{
    const char *name = NULL;
    AUTO_FD parent = open_parent (copy, make, &name, e);
    AUTO_FD fd = -1;
    int r;

    if (parent < 0)
        return parent;
    r = make ? make_root (parent, name, path, e) : 0;
    if (r < 0)
        return r;
    fd = openat (parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0 && (errno == ENOTDIR || errno == ELOOP))
        return err_set (e, ENOTDIR, "the state root '%s' is a link or no folder", path);
    if (fd < 0)
        return err_sys (e, "open the state root '%s'", path);
    r = check_root (fd, path, e);
    return r < 0 ? r : TAKE_FD (fd);
}

int state_open_root (const char *path, bool make, int *ret, struct err *e)
{
    AUTO_FREE char *copy = strdup (path);
    size_t len = strlen (path);
    int fd;

    if (!copy)
        return err_oom (e);
    if (*path != '/')
        return err_set (e, EINVAL, "the state root '%s' is not an absolute path", path);
    while (len > 1 && copy[len - 1] == '/')
        copy[--len] = '\0';
    if (len == 1)
        return err_set (e, EINVAL, "the state root must not be '/'");
    fd = open_root (path, copy, make, e);
    if (fd < 0 && !(fd == -ENOENT && !make))
        return fd;
    *ret = fd < 0 ? -1 : fd;
    return 0;
}

static int compare_strings (const void *a, const void *b)
{
    return strcmp (*(const char *const *)a, *(const char *const *)b);
}

/* One more pointer than ids: the list ends with NULL. */
static int append_id (struct arena *a, const char ***list, size_t *n, const char *id)
{
    const char **bigger = *list;

    if ((*n & (*n + 1)) == 0) { /* 0, 1, 3, 7, ...: full */
        bigger = arena_calloc (a, (*n + 1) * 2, sizeof *bigger);
        if (!bigger)
            return -ENOMEM;
        if (*list)
            memcpy (bigger, *list, *n * sizeof *bigger);
        *list = bigger;
    }
    bigger[*n] = arena_strdup (a, id);
    if (!bigger[*n])
        return -ENOMEM;
    *n += 1;
    return 0;
}

static bool is_folder (int root, const struct dirent *d)
{
    struct stat st;

    if (d->d_type != DT_UNKNOWN)
        return d->d_type == DT_DIR;
    return fstatat (root, d->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR (st.st_mode);
}

int state_list (int root, struct arena *a, const char *const **ret, size_t *ret_n, struct err *e)
{
    int fd = fd_open (root, ".", O_RDONLY | O_DIRECTORY, FD_BENEATH, e);
    AUTO_DIR *dir = fd >= 0 ? fdopendir (fd) : NULL;
    const char **list = arena_calloc (a, 1, sizeof *list);
    const struct dirent *d;
    size_t n = 0;

    if (fd < 0)
        return fd;
    if (!dir || !list)
        return err_oom (e);
    while ((errno = 0, d = readdir (dir)))
        if (str_is_id (d->d_name) && is_folder (root, d) && append_id (a, &list, &n, d->d_name) < 0)
            return err_oom (e);
    if (errno != 0)
        return err_sys (e, "list the state root");
    qsort (list, n, sizeof *list, compare_strings);
    *ret = list;
    *ret_n = n;
    return 0;
}
