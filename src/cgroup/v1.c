#include "cgroup/v1.h"

#include <errno.h>
#include <grp.h>
#include <libcgroup.h>
#include <linux/magic.h>
#include <pwd.h>
#include <stdio.h>
#include <sys/statfs.h>

/* libcgroup prints by itself when CGROUP_LOGLEVEL is set, unless somebody else listens. */
static void quiet (void *userdata, int level, const char *fmt, va_list ap)
{
    (void)userdata;
    (void)level;
    (void)fmt;
    (void)ap;
}

bool v1_is_mounted (const char *path)
{
    struct statfs st;

    return path[0] == '/' && statfs (path, &st) == 0 && st.f_type == CGROUP_SUPER_MAGIC;
}

/* What libcgroup 2.0 costs and where it errs, all of which keeps it off the usual way of a start:
 * - cgroup_init clears a table of 800 KiB (200 page faults: 0.1 ms on bare metal, 10 ms in a
 *   virtual machine without huge pages) and reads all of /proc/mounts;
 * - it fails as a whole when a cgroup2 mount cannot be read, for instance one that another mount
 *   covers;
 * - it believes /proc/mounts: a path may be cut off at 4095 bytes, covered, or a cgroup2 one,
 *   whose controllers it lists likewise. So each is held against the kernel. */
int v1_find (const char *controller, struct arena *a, const char **ret, struct err *e)
{
    char path[FILENAME_MAX] = "";
    void *handle = NULL;
    int r;

    cgroup_set_logger (quiet, CGROUP_LOG_ERROR, NULL);
    r = cgroup_init ();
    if (r != 0 && r != ECGROUPNOTMOUNTED)
        return err_set (
            e, EIO,
            "libcgroup cannot list the cgroup hierarchies (code %d): does another mount "
            "cover one of them?",
            r);
    if (r == 0)
        r = cgroup_get_subsys_mount_point_begin (controller, &handle, path);
    while (r == 0 && !v1_is_mounted (path))
        r = cgroup_get_subsys_mount_point_next (&handle, path);
    (void)cgroup_get_subsys_mount_point_end (&handle);
    *ret = NULL;
    if (r != 0)
        return 0;
    *ret = arena_strdup (a, path);
    return *ret ? 0 : err_oom (e);
}

/* ---- no NSS ---- libcgroup's readers of cgrules.conf, which nothing here calls, look up users
 * and groups. In a static binary that would be glibc's NSS: host code that loads libraries by name
 * (CVE-2019-14271). So these names are answered here, with "there is none", and NSS is not in the
 * program at all. */
struct passwd *getpwnam (const char *name)
{
    (void)name;
    return NULL;
}

struct passwd *getpwuid (uid_t uid)
{
    (void)uid;
    return NULL;
}

int getpwnam_r (const char *name, struct passwd *pwd, char *buf, size_t size, struct passwd **ret)
{
    (void)name;
    (void)pwd;
    (void)buf;
    (void)size;
    *ret = NULL;
    return 0;
}

struct group *getgrnam (const char *name)
{
    (void)name;
    return NULL;
}

struct group *getgrgid (gid_t gid)
{
    (void)gid;
    return NULL;
}

int getgrnam_r (const char *name, struct group *grp, char *buf, size_t size, struct group **ret)
{
    (void)name;
    (void)grp;
    (void)buf;
    (void)size;
    *ret = NULL;
    return 0;
}
