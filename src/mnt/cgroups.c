#include "mnt/cgroups.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "base/str.h"
#include "mnt/newfs.h"
#include "mnt/sources.h"
#include "mnt/tree.h"

#define CGROUP_FILE_MAX ((size_t)64 * 1024)
#define MOUNTINFO_MAX   ((size_t)64 * 1024 * 1024) /* hosts with 64k mounts exist */
#define LINE_PATH_MAX   16384                      /* of /proc/self/cgroup in the child */

/* One line of /proc/self/cgroup: "ID:CONTROLLERS:PATH" (cgroups(7)). Not NUL-terminated. */
struct cgroup_line {
    const char *controllers, *path;
    size_t n_controllers, n_path;
};

/* Cuts the first line off *TEXT. False at the end and for what is no such line. */
static bool next_line (const char **text, struct cgroup_line *ret)
{
    size_t len = strcspn (*text, "\n");
    const char *first = memchr (*text, ':', len);
    const char *second = first ? memchr (first + 1, ':', len - (size_t)(first + 1 - *text)) : NULL;

    if (!second)
        return false;
    *ret = (struct cgroup_line){ .controllers = first + 1,
                                 .n_controllers = (size_t)(second - first - 1),
                                 .path = second + 1,
                                 .n_path = (size_t)(*text + len - second - 1) };
    *text += len + ((*text)[len] == '\n');
    return true;
}

bool cgroups_is_asked (const struct plan_mount *pm)
{
    return pm->kind == MOUNT_NEW &&
           (strcmp (pm->fstype, "cgroup") == 0 || strcmp (pm->fstype, "cgroup2") == 0);
}

static bool wants_cgroups (const struct plan *p)
{
    for (size_t i = 0; i < p->n_mounts; i++)
        if (cgroups_is_asked (&p->mounts[i]))
            return true;
    return false;
}

static int parse_hierarchies (const char *text, struct arena *a, struct mnt_sources *ret,
                              struct mnt_hierarchy **ret_h, struct err *e)
{
    struct cgroup_line l;
    struct mnt_hierarchy *h;
    size_t n = 0;

    for (const char *t = text; next_line (&t, &l);)
        n++;
    h = arena_calloc (a, n, sizeof *h);
    if (!h)
        return err_oom (e);
    for (size_t i = 0; i < n && next_line (&text, &l); i++) {
        h[i].controllers = arena_strndup (a, l.controllers, l.n_controllers);
        if (!h[i].controllers)
            return err_oom (e);
    }
    ret->cgroups = *ret_h = h;
    ret->n_cgroups = n;
    return 0;
}

/* True when one of the comma-separated OPTIONS is the first of the comma-separated CONTROLLERS: a
 * controller is in one hierarchy only. */
static bool carries (const char *options, const char *controllers)
{
    size_t len = strcspn (controllers, ",");

    for (const char *o = options; *o; o += strcspn (o, ","), o += *o == ',')
        if (strcspn (o, ",\n") == len && strncmp (o, controllers, len) == 0)
            return true;
    return false;
}

/* One line of /proc/self/mountinfo: "ID PARENT DEV ROOT POINT OPTIONS ... - TYPE SOURCE SUPER"
 * (proc_pid_mountinfo(5)). Cuts it up in place. */
static void match_mountinfo (char *line, struct mnt_hierarchy *h, size_t n)
{
    char *dash = strstr (line, " - cgroup");
    char *super = dash ? strrchr (dash, ' ') + 1 : NULL;
    char *save = NULL;
    char *root, *point;
    bool v2 = dash && str_has_prefix (dash, " - cgroup2 ");

    if (!dash)
        return;
    (void)strtok_r (line, " ", &save);
    for (int i = 0; i < 2; i++)
        (void)strtok_r (NULL, " ", &save);
    root = strtok_r (NULL, " ", &save);
    point = strtok_r (NULL, " ", &save);
    for (size_t i = 0; root && point && i < n; i++) {
        if (h[i].mountpoint || v2 != (h[i].controllers[0] == '\0'))
            continue;
        if (!v2 && !carries (super, h[i].controllers))
            continue;
        str_unescape_octal (root);
        str_unescape_octal (point);
        h[i].root = root;
        h[i].mountpoint = point;
        return;
    }
}

static int find_mountpoints (struct mnt_hierarchy *h, size_t n, struct arena *a, struct err *e)
{
    char *text;
    char *save = NULL;
    int r =
        fd_read_file (AT_FDCWD, "/proc/self/mountinfo", MOUNTINFO_MAX, FD_HOST, a, &text, NULL, e);

    if (r < 0)
        return r;
    for (char *l = strtok_r (text, "\n", &save); l; l = strtok_r (NULL, "\n", &save))
        match_mountinfo (l, h, n);
    return 0;
}

int cgroups_find (const struct plan *p, struct arena *a, struct mnt_sources *ret, struct err *e)
{
    struct mnt_hierarchy *h;
    char *text;
    int r;

    if (!wants_cgroups (p))
        return 0;
    r = fd_read_file (AT_FDCWD, "/proc/self/cgroup", CGROUP_FILE_MAX, FD_HOST, a, &text, NULL, e);
    if (r == 0)
        r = parse_hierarchies (text, a, ret, &h, e);
    if (r == 0 && p->ns[NS_CGROUP].mode == NS_INHERIT)
        r = find_mountpoints (h, ret->n_cgroups, a, e);
    return r < 0 ? err_add (e, "look for the host's cgroups") : 0;
}

/* ---- the child ---- */

/* The root of the whole hierarchy has, on v1, the file that makes the kernel run a program as the
 * host's root; on v2 it lacks what every other cgroup has. */
static bool is_host_root (int fd, bool v2)
{
    return v2 ? faccessat (fd, "cgroup.type", F_OK, 0) < 0
              : faccessat (fd, "release_agent", F_OK, 0) == 0;
}

static bool is_cgroup (int fd)
{
    struct statfs fs;

    return fstatfs (fd, &fs) == 0 &&
           (fs.f_type == CGROUP_SUPER_MAGIC || fs.f_type == CGROUP2_SUPER_MAGIC);
}

/* A new mount of the hierarchy; it begins at the root of the cgroup namespace. */
static int mount_fresh (const struct mnt_hierarchy *h, uint64_t attrs, struct err *e)
{
    const char *option[] = { h->controllers, "none", NULL };
    struct newfs nf = { .type = "cgroup", .source = "cgroup", .data = option, .attrs = attrs };
    const char *each[33] = { NULL };
    char copy[512];
    char *save = NULL;
    size_t n = 0;

    if (!h->controllers[0]) {
        nf.type = nf.source = "cgroup2";
        nf.data = NULL;
    } else if (!str_has_prefix (h->controllers, "name=")) {
        (void)snprintf (copy, sizeof copy, "%s", h->controllers);
        for (char *c = strtok_r (copy, ",", &save); c && n < 32; c = strtok_r (NULL, ",", &save))
            each[n++] = c;
        nf.data = each;
    }
    return newfs_mount (&nf, e);
}

/* The path of the container's own cgroup on the host, from TEXT (/proc/self/cgroup). False when the
 * hierarchy is not mounted there, or shows another part. */
static bool own_folder (const struct mnt_hierarchy *h, const char *text, char *buf, size_t size)
{
    size_t root_len = strcmp (h->root ?: "/", "/") == 0 ? 0 : strlen (h->root);
    size_t n_controllers = strlen (h->controllers);
    struct cgroup_line l;

    while (h->mountpoint && next_line (&text, &l)) {
        if (l.n_controllers != n_controllers ||
            memcmp (l.controllers, h->controllers, n_controllers))
            continue;
        if (l.n_path < root_len || memcmp (l.path, h->root, root_len) != 0)
            return false;
        return snprintf (buf, size, "%s%.*s", h->mountpoint, (int)(l.n_path - root_len),
                         l.path + root_len) < (int)size;
    }
    return false;
}

static int mount_own (const struct mnt_hierarchy *h, const char *text, const struct tree_flags *f,
                      struct err *e)
{
    char path[PATH_MAX];
    AUTO_FD fd = -1;
    int r;

    if (!own_folder (h, text, path, sizeof path))
        return err_set (e, ENOENT, "the container's cgroup is not in any mount of the host");
    fd = tree_clone (AT_FDCWD, path, 0, e);
    if (fd < 0)
        return fd;
    if (!is_cgroup (fd))
        return err_set (e, ENOENT, "'%s' is covered by another mount", path);
    r = tree_set (fd, false, f, e);
    return r < 0 ? r : TAKE_FD (fd);
}

/* What every hierarchy's mount is made with. TEXT is NULL with a cgroup namespace. */
struct hierarchy_mounts {
    const struct plan_mount *pm;
    const char *text;
};

/* A detached mount of H, read-only where it is the host's. */
static int mount_hierarchy (const struct mnt_hierarchy *h, const struct hierarchy_mounts *hm,
                            struct err *e)
{
    static const struct tree_flags readonly = { .set = MOUNT_ATTR_RDONLY };
    const struct tree_flags flags = { .set = mount_attrs (hm->pm),
                                      .clear = hm->pm->clear | hm->pm->rclear,
                                      .propagation = MS_PRIVATE };
    AUTO_FD fd = hm->text ? mount_own (h, hm->text, &flags, e) : mount_fresh (h, flags.set, e);
    int r = 0;

    if (fd >= 0 && is_host_root (fd, !h->controllers[0]))
        r = tree_set (fd, false, &readonly, e);
    return r < 0 ? r : TAKE_FD (fd);
}

/* "cpu,cpuacct" is found as cpu and as cpuacct, too. */
static int link_names (int dir, const char *controllers, struct err *e)
{
    char copy[512];
    char *save = NULL;

    if (!strchr (controllers, ','))
        return 0;
    (void)snprintf (copy, sizeof copy, "%s", controllers);
    for (char *c = strtok_r (copy, ",", &save); c; c = strtok_r (NULL, ",", &save))
        if (symlinkat (controllers, dir, c) < 0)
            return err_sys (e, "link '%s' to '%s'", c, controllers);
    return 0;
}

static const char *folder_name (const struct mnt_hierarchy *h)
{
    if (!h->controllers[0])
        return "unified";
    return str_has_prefix (h->controllers, "name=") ? h->controllers + strlen ("name=")
                                                    : h->controllers;
}

/* A hierarchy that is not mounted on the host, or not to be seen below another mount, is left out
 * when its folder cannot be bound. */
static int add_hierarchy (int dir, const struct mnt_hierarchy *h, const struct hierarchy_mounts *hm,
                          struct err *e)
{
    const char *name = folder_name (h);
    AUTO_FD target = -1;
    AUTO_FD fd = -1;

    if (hm->text && !h->mountpoint)
        return 0;
    fd = mount_hierarchy (h, hm, e);
    if (fd == -ENOENT && hm->text)
        return 0;
    if (fd < 0)
        return err_add (e, "cgroup hierarchy '%s'", name);
    if (mkdirat (dir, name, 0755) < 0)
        return err_sys (e, "make folder '%s'", name);
    target = fd_open (dir, name, O_PATH | O_DIRECTORY, FD_BENEATH, e);
    if (target < 0 || tree_attach (fd, target, e) < 0)
        return err_add (e, "cgroup hierarchy '%s'", name);
    return link_names (dir, h->controllers, e);
}

static int mount_all (const struct mnt *m, const struct hierarchy_mounts *hm, int target,
                      struct err *e)
{
    const struct newfs nf = { .type = "tmpfs",
                              .source = "tmpfs",
                              .mode = "755",
                              .label = m->plan->mount_label,
                              .label_option = m->plan->label_option,
                              .attrs = mount_attrs (hm->pm) & ~(uint64_t)MOUNT_ATTR_RDONLY };
    AUTO_FD dir = newfs_mount (&nf, e);
    int r;

    if (dir < 0)
        return dir;
    r = tree_attach (dir, target, e);
    for (size_t i = 0; r == 0 && i < m->src->n_cgroups; i++)
        r = add_hierarchy (dir, &m->src->cgroups[i], hm, e);
    return r < 0 ? r : TAKE_FD (dir);
}

static int mount_unified (const struct mnt_hierarchy *h, const struct hierarchy_mounts *hm,
                          int target, struct err *e)
{
    AUTO_FD fd = mount_hierarchy (h, hm, e);
    int r = fd < 0 ? fd : tree_attach (fd, target, e);

    return r < 0 ? r : TAKE_FD (fd);
}

/* The cgroup v2 hierarchy where it is all that PM asks for: by its type, or because there is no
 * other. */
static const struct mnt_hierarchy *only_unified (const struct mnt *m, const struct plan_mount *pm)
{
    static const struct mnt_hierarchy unseen = { .controllers = "" };
    const struct mnt_sources *s = m->src;
    bool by_type = strcmp (pm->fstype, "cgroup2") == 0;

    for (size_t i = 0; i < s->n_cgroups; i++)
        if (!s->cgroups[i].controllers[0] && (by_type || s->n_cgroups == 1))
            return &s->cgroups[i];
    return by_type ? &unseen : NULL;
}

/* /proc/self/cgroup as this process finds it: it is in the container's cgroup by now. */
static int read_own_cgroup (char *buf, size_t size, struct err *e)
{
    AUTO_FD fd = fd_open (AT_FDCWD, "/proc/self/cgroup", O_RDONLY, FD_HOST, e);
    ssize_t n;

    if (fd < 0)
        return fd;
    n = read (fd, buf, size - 1);
    if (n < 0)
        return err_sys (e, "read '/proc/self/cgroup'");
    buf[n] = '\0';
    return 0;
}

int cgroups_mount (const struct mnt *m, const struct plan_mount *pm, int target, struct err *e)
{
    struct hierarchy_mounts hm = { .pm = pm };
    const struct mnt_hierarchy *unified;
    char text[LINE_PATH_MAX];
    int r = 0;

    if (pm->data[0])
        return err_set (e, EINVAL, "options: '%s' is no option of a cgroup mount", pm->data[0]);
    if (m->plan->ns[NS_CGROUP].mode == NS_INHERIT) {
        r = read_own_cgroup (text, sizeof text, e);
        hm.text = text;
    }
    if (r < 0)
        return r;
    unified = only_unified (m, pm);
    return unified ? mount_unified (unified, &hm, target, e) : mount_all (m, &hm, target, e);
}
