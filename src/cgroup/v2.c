#include <errno.h>
#include <string.h>

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
