#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statfs.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fd.h"
#include "cgroup/internal.h"

/* The largest file is cgroup.procs of a cgroup with as many processes as a kernel can have. */
#define FILE_MAX ((size_t)32 * 1024 * 1024)

int cgfile_open (int dir, const char *path, int flags, struct err *e)
{
    return fd_open (dir, path, flags, FD_PROC, e);
}

int cgfile_write (int dir, const char *file, const char *text, struct err *e)
{
    return fd_write_kernel (dir, file, text, FD_PROC, e);
}

int cgfile_read (int dir, const char *file, struct arena *a, char **ret, struct err *e)
{
    return fd_read_file (dir, file, FILE_MAX, FD_PROC, a, ret, NULL, e);
}

int cgfile_number (int dir, const char *file, const char *key, uint64_t *ret, struct err *e)
{
    AUTO_ARENA a = { 0 };
    size_t len = key ? strlen (key) : 0;
    char *text;
    char *rest = NULL;
    int r = cgfile_read (dir, file, &a, &text, e);

    if (r < 0)
        return r;
    for (char *line = strtok_r (text, "\n", &rest); line; line = strtok_r (NULL, "\n", &rest)) {
        if (key && (strncmp (line, key, len) != 0 || line[len] != ' '))
            continue;
        *ret = strtoull (line + len, NULL, 10);
        return 0;
    }
    return err_set (e, ENOENT, "'%s' does not tell '%s'", file, key ? key : "a number");
}

int cgfile_mount (const struct cgroup_hierarchy *h, struct err *e)
{
    long want = cgroup_is_v2 (h) ? CGROUP2_SUPER_MAGIC : CGROUP_SUPER_MAGIC;
    AUTO_FD fd = fd_open (AT_FDCWD, h->mountpoint, O_PATH | O_DIRECTORY, FD_HOST, e);
    struct statfs st;

    if (fd < 0)
        return fd;
    if (fstatfs (fd, &st) < 0)
        return err_sys (e, "statfs '%s'", h->mountpoint);
    if (st.f_type != want)
        return err_set (e, ENOTSUP, "'%s' is no cgroup hierarchy of the expected kind",
                        h->mountpoint);
    return TAKE_FD (fd);
}

int64_t deadline_in (int64_t ms)
{
    return clock_ms () + ms;
}

bool deadline_is_over (int64_t deadline)
{
    return clock_ms () >= deadline;
}

void sleep_ms (long ms)
{
    struct timespec t = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000 };

    (void)nanosleep (&t, NULL); /* waking up early only means looking early */
}
