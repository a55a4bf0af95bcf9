#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/cleanup.h"
#include "cgroup/internal.h"

/* "+cpu +memory ": what DIR has, is wanted, and is not yet passed on. NULL when there is
 * nothing. */
static char *missing (const struct cgroup *cg, const struct oci_linux_resources *res, int dir,
                      struct arena *a)
{
    struct err ignored;
    char *available;
    char *enabled;
    char *rest = NULL;
    char *out = NULL;

    if (cgfile_read (dir, "cgroup.controllers", a, &available, &ignored) < 0 ||
        cgfile_read (dir, "cgroup.subtree_control", a, &enabled, &ignored) < 0)
        return NULL;
    for (char *w = strtok_r (available, " \n", &rest); w; w = strtok_r (NULL, " \n", &rest)) {
        if (has_word (enabled, " \n", w))
            continue;
        if (cg->layout == CGROUP_V2 || limits_need_v2 (cg, res, w))
            out = arena_printf (a, "%s+%s ", out ? out : "", w);
    }
    return out;
}

/* All at once is one walk of the kernel over the tree; one by one gets what can be had when the
 * kernel refuses one of them (cpu while real-time tasks run, a domain controller in a threaded
 * tree). */
void v2_enable (const struct cgroup *cg, const struct oci_linux_resources *res, int dir)
{
    AUTO_ARENA a = { 0 };
    struct err ignored;
    char *words = missing (cg, res, dir, &a);
    char *rest = NULL;

    if (!words || cgfile_write (dir, "cgroup.subtree_control", words, &ignored) >= 0)
        return;
    for (char *w = strtok_r (words, " ", &rest); w; w = strtok_r (NULL, " ", &rest))
        (void)cgfile_write (dir, "cgroup.subtree_control", w, &ignored); /* see the header */
}

void v2_enable_above (const struct cgroup *cg, const struct oci_linux_resources *res)
{
    const struct cgroup_hierarchy *h = cgroup_v2_home (cg);
    AUTO_ARENA a = { 0 };
    struct err ignored;
    AUTO_FD dir = h ? cgfile_mount (h, &ignored) : -1;
    char *path = h ? arena_strdup (&a, h->path) : NULL;
    char *rest = NULL;
    char *name = path ? strtok_r (path, "/", &rest) : NULL;

    for (; dir >= 0 && name; name = strtok_r (NULL, "/", &rest)) {
        int next;

        v2_enable (cg, res, dir);
        next = cgfile_open (dir, name, O_PATH | O_DIRECTORY, &ignored);
        cleanup_fd (&dir);
        dir = next;
    }
}
