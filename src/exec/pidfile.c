#include "exec/pidfile.h"

#include <fcntl.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/fd.h"

/* The folder of PATH, opened; *NAME is the last component. */
static int open_folder (const char *path, const char **ret_name, struct err *e)
{
    const char *slash = strrchr (path, '/');
    struct arena a = { 0 };
    char *folder = slash ? arena_strndup (&a, path, (size_t)(slash - path) + 1) : NULL;
    int fd;

    *ret_name = slash ? slash + 1 : path;
    fd = slash && !folder ? err_oom (e)
                          : fd_open (AT_FDCWD, folder ?: ".", O_PATH | O_DIRECTORY, FD_HOST, e);
    arena_free (&a);
    return fd;
}

int pidfile_write (const char *path, pid_t pid, struct err *e)
{
    const char *name;
    char text[16];
    AUTO_FD dir = open_folder (path, &name, e);
    int n = snprintf (text, sizeof text, "%d", pid);

    if (dir < 0 || fd_write_atomic (dir, name, text, (size_t)n, 0644, e) < 0)
        return err_add (e, "--pid-file");
    return 0;
}

int pidfile_check (const char *path, pid_t pid, struct err *e)
{
    AUTO_ARENA a = { 0 };
    char want[16];
    char *text;
    int r = fd_read_file (AT_FDCWD, path, sizeof want, FD_HOST, &a, &text, NULL, e);

    if (r < 0)
        return r;
    (void)snprintf (want, sizeof want, "%d", pid);
    return strcmp (text, want) == 0
               ? 0
               : err_set (e, EIO, "--pid-file: '%s' holds '%s', not '%s'", path, text, want);
}
