#include "mnt/unpivoted.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/vfs.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "base/str.h"
#include "mnt/newfs.h"
#include "mnt/tree.h"

#define MOUNTINFO_MAX ((size_t)64 * 1024 * 1024) /* hosts with 64k mounts exist */

/* ---- the parent ---- */
/* The mount point in a line of mountinfo that is a procfs or sysfs, else NULL. Cuts it up. */
static char *revealing_point (char *line)
{
    const char *dash = strstr (line, " - ");
    char *save = NULL;
    char *field = line;

    if (!dash || !(str_has_prefix (dash, " - proc ") || str_has_prefix (dash, " - sysfs ")))
        return NULL;
    for (int i = 0; field && i < 5; i++)
        field = strtok_r (i ? NULL : line, " ", &save);
    if (field)
        str_unescape_octal (field);
    return field;
}

static size_t count_lines (const char *text)
{
    size_t n = 0;

    while ((text = strchr (text, '\n')))
        text++, n++;
    return n;
}

/* Those below the rootfs are covered by the container's root when it is attached there: a path that
 * leads to them then leads into the container. */
int unpivoted_find (const struct plan *p, struct arena *a, struct mnt_sources *ret, struct err *e)
{
    const char **points;
    char *text;
    char *save = NULL;
    size_t n = 0;

    if (!p->no_pivot || p->ns[NS_MOUNT].mode != NS_MAKE)
        return 0;
    if (fd_read_file (AT_FDCWD, "/proc/self/mountinfo", MOUNTINFO_MAX, FD_HOST, a, &text, NULL, e) <
        0)
        return err_add (e, "look for the host's procfs");
    points = arena_calloc (a, count_lines (text) + 1, sizeof *points);
    if (!points)
        return err_oom (e);
    for (char *line = strtok_r (text, "\n", &save); line; line = strtok_r (NULL, "\n", &save)) {
        const char *point = revealing_point (line);

        if (point && !str_is_at_or_below (point, p->rootfs))
            points[n++] = point;
    }
    ret->revealing = points;
    ret->n_revealing = n;
    return 0;
}

/* ---- the child ---- */
static bool is_revealing (const char *path)
{
    struct statfs fs;

    return statfs (path, &fs) == 0 && (fs.f_type == PROC_SUPER_MAGIC || fs.f_type == SYSFS_MAGIC);
}

/* One that is locked cannot be taken away and is covered; so is what lies under it. */
static int hide (const char *path, struct err *e)
{
    const struct newfs empty = { .type = "tmpfs", .mode = "0", .attrs = MOUNT_ATTR_RDONLY };
    AUTO_FD target = -1;
    AUTO_FD cover = -1;

    while (is_revealing (path) && umount2 (path, MNT_DETACH | UMOUNT_NOFOLLOW) == 0)
        ;
    if (!is_revealing (path))
        return 0;
    target = fd_open (AT_FDCWD, path, O_PATH | O_DIRECTORY, FD_HOST, e);
    cover = target < 0 ? target : newfs_mount (&empty, e);
    if (cover < 0 || tree_attach (cover, target, e) < 0)
        return err_add (e, "hide the host's %s", path);
    return 0;
}

/* From the last one that was mounted on: what covers another comes first. */
int unpivoted_hide (const struct mnt *m, struct err *e)
{
    for (size_t i = m->src->n_revealing; i > 0; i--)
        if (hide (m->src->revealing[i - 1], e) < 0)
            return -e->code;
    if (hide ("/proc", e) < 0)
        return -e->code;
    return hide ("/sys", e);
}
