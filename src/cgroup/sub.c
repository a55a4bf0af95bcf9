/*
 * Which cgroup a process that exec adds goes into: one below the container's. Never one beside or
 * above it, so no limit of the container's is left (v1's hierarchies count from the top down, too,
 * since Linux 5.11).
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "base/str.h"
#include "cgroup/internal.h"

/* What cgroup_choose works on. */
struct choice {
    struct cgroup *cg;
    struct arena *a;
    unsigned int taken; /* a bit for each hierarchy that an option named */
};
_Static_assert(CGROUP_MAX_HIERARCHIES <= 8 * sizeof (unsigned int), "one bit a hierarchy");

/* H's folder becomes the one at PATH, clean and absolute, below it. The words are those that people
 * know from runc. */
static int go_below (struct cgroup_hierarchy *h, const char *path, struct arena *a, struct err *e)
{
    int dir = h->dir < 0 ? err_set (e, ESRCH, "it is gone")
                         : cgfile_open (h->dir, path + 1, O_RDONLY | O_DIRECTORY, e);

    if (dir == -ENOENT)
        return err_set (e, ENOENT,
                        "error adding pid to cgroup '%.200s%.200s': no such file or directory",
                        h->path, path);
    if (dir < 0)
        return err_add (e, "cgroup '%s%s'", h->mountpoint, h->path);
    cleanup_fd (&h->dir);
    h->dir = dir;
    h->path = arena_printf (a, "%s%s", h->path, path);
    return h->path ? 0 : err_oom (e);
}

/* PATH of an option: "/" is the container's own cgroup, *RET is then NULL. */
static int clean_sub (const char *path, struct arena *a, const char **ret, struct err *e)
{
    if (path[strspn (path, "/")] == '\0') {
        *ret = NULL;
        return 0;
    }
    if (cgroup_clean_path (path, a, ret, e) == -EINVAL)
        return err_set (e, EINVAL, "bad sub cgroup path '%.200s': it must lie in the container's",
                        path);
    return *ret ? 0 : -e->code;
}

static int go_everywhere (struct choice *c, const char *path, struct err *e)
{
    for (size_t i = 0; path && i < c->cg->n; i++)
        if (go_below (&c->cg->h[i], path, c->a, e) < 0)
            return -e->code;
    return 0;
}

static bool is_controller_of (const struct cgroup_hierarchy *h, const char *word)
{
    return !cgroup_is_v2 (h) && (has_word (h->controllers, ",", word) ||
                                 (str_has_prefix (h->controllers, "name=") &&
                                  strcmp (h->controllers + strlen ("name="), word) == 0));
}

static int find_home (const struct cgroup *cg, const char *word, size_t *ret, struct err *e)
{
    for (size_t i = 0; i < cg->n; i++) {
        if (is_controller_of (&cg->h[i], word)) {
            *ret = i;
            return 0;
        }
    }
    return err_set (e, EINVAL, "unknown controller '%.100s'%s", word,
                    cg->layout == CGROUP_V2 ? ": cgroup v2 takes one path without controllers"
                                            : "");
}

/* "cpu,cpuacct": co-mounted controllers name one hierarchy, which moves once. */
static int go_listed (struct choice *c, char *list, const char *path, struct err *e)
{
    unsigned int now = 0;

    for (char *word; (word = strsep (&list, ","));) {
        size_t i = 0;

        if (find_home (c->cg, word, &i, e) < 0)
            return -e->code;
        if (c->taken & 1U << i)
            return err_set (e, EINVAL, "controller '%.100s' is given twice", word);
        if (path && !(now & 1U << i) && go_below (&c->cg->h[i], path, c->a, e) < 0)
            return -e->code;
        now |= 1U << i;
    }
    c->taken |= now;
    return 0;
}

static int choose_one (struct choice *c, const char *spec, struct err *e)
{
    char *list = arena_strdup (c->a, spec);
    char *colon = list ? strchr (list, ':') : NULL;
    const char *path = NULL;

    if (!list)
        return err_oom (e);
    if (colon)
        *colon = '\0';
    if (clean_sub (colon ? colon + 1 : list, c->a, &path, e) < 0)
        return -e->code;
    return colon ? go_listed (c, list, path, e) : go_everywhere (c, path, e);
}

int cgroup_choose (struct cgroup *cg, const char *const *specs, struct arena *a, struct err *e)
{
    struct choice c = { .cg = cg, .a = a };

    for (size_t i = 0; specs[i]; i++) {
        if (specs[1] && !strchr (specs[i], ':'))
            return err_set (e, EINVAL, "'%.200s' has no 'CONTROLLER:' before it and is not alone",
                            specs[i]);
        if (choose_one (&c, specs[i], e) < 0)
            return -e->code;
    }
    return 0;
}

/* ---- without a choice ---- */

/* Where init is now, counted from the container's cgroup; NULL: there, or not below it. */
static int below_of_init (const struct cgroup_hierarchy *h, int procfs, pid_t pid, struct arena *a,
                          const char **ret, struct err *e)
{
    char file[32];
    size_t len = 0;
    size_t own = strlen (h->path);
    const char *path;
    char *text;

    (void)snprintf (file, sizeof file, "%d/cgroup", (int)pid);
    if (fd_read_file (procfs, file, 65536, FD_PROC, a, &text, NULL, e) < 0)
        return -e->code;
    path = proc_cgroup_path (text, h, &len);
    *ret = NULL;
    if (!path || len <= own || strncmp (path, h->path, own) != 0 || path[own] != '/')
        return 0;
    *ret = arena_strndup (a, path + own, len - own);
    return *ret ? 0 : err_oom (e);
}

int cgroup_follow (struct cgroup *cg, int procfs, pid_t pid, struct arena *a, struct err *e)
{
    struct cgroup_hierarchy *h = cg->n > 0 ? &cg->h[cg->n - 1] : NULL;
    const char *path = NULL;
    char *enabled;

    if (!h || !cgroup_is_v2 (h) || h->dir < 0)
        return 0;
    if (cgfile_read (h->dir, "cgroup.subtree_control", a, &enabled, e) < 0)
        return -e->code;
    if (!enabled[strspn (enabled, " \n")])
        return 0;
    if (below_of_init (h, procfs, pid, a, &path, e) < 0)
        return -e->code;
    return path ? go_below (h, path, a, e) : 0;
}
