#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "base/str.h"
#include "cgroup/internal.h"
#include "cgroup/unit.h"
#include "cgroup/v1.h"

/* Where systemd, and with it everybody else, mounts cgroup2. */
#define V2_MOUNT     "/sys/fs/cgroup"
#define HYBRID_MOUNT "/sys/fs/cgroup/unified"

/* /proc/self/mountinfo of a host with tens of thousands of mounts. */
#define PROC_MAX ((size_t)32 * 1024 * 1024)

/* Inode of the first user namespace (include/linux/proc_ns.h, PROC_USER_INIT_INO). */
#define INIT_USER_NS 0xEFFFFFFDU

bool cgroup_is_v2 (const struct cgroup_hierarchy *h)
{
    return h->controllers[0] == '\0';
}

static bool has_word_n (const char *list, size_t n, const char *separators, const char *word,
                        size_t want)
{
    const char *end = list + n;

    while (list < end) {
        size_t len = strcspn (list, separators);

        if (list + len > end)
            len = (size_t)(end - list);
        if (len == want && memcmp (list, word, len) == 0)
            return true;
        list += len + 1;
    }
    return false;
}

bool has_word (const char *list, const char *separators, const char *word)
{
    return has_word_n (list, strlen (list), separators, word, strlen (word));
}

/* A line is "N:CONTROLLERS:PATH"; one of co-mounted controllers tells the line. */
const char *proc_cgroup_path (const char *text, const struct cgroup_hierarchy *h, size_t *ret_len)
{
    size_t name = strcspn (h->controllers, ",");

    for (const char *line = text; *line;) {
        size_t len = strcspn (line, "\n");
        const char *end = line + len;
        const char *list = memchr (line, ':', len);
        const char *path = list ? memchr (list + 1, ':', (size_t)(end - list - 1)) : NULL;
        size_t n = path ? (size_t)(path - list - 1) : 0;

        if (path && (name ? has_word_n (list + 1, n, ",", h->controllers, name) : n == 0)) {
            *ret_len = (size_t)(end - path - 1);
            return path + 1;
        }
        line = end + (*end != '\0');
    }
    return NULL;
}

const struct cgroup_hierarchy *cgroup_v1_home (const struct cgroup *cg, const char *name)
{
    for (size_t i = 0; i < cg->n; i++)
        if (!cgroup_is_v2 (&cg->h[i]) && has_word (cg->h[i].controllers, ",", name))
            return &cg->h[i];
    return NULL;
}

const struct cgroup_hierarchy *cgroup_v2_home (const struct cgroup *cg)
{
    return cg->n > 0 && cgroup_is_v2 (&cg->h[cg->n - 1]) ? &cg->h[cg->n - 1] : NULL;
}

const struct cgroup_hierarchy *cgroup_freezer_home (const struct cgroup *cg)
{
    const struct cgroup_hierarchy *h = cgroup_v1_home (cg, "freezer");

    return h ? h : cgroup_v2_home (cg);
}

bool cgroup_is_unprivileged (void)
{
    struct stat st;

    return geteuid () != 0 || stat ("/proc/self/ns/user", &st) < 0 || st.st_ino != INIT_USER_NS;
}

bool cgroup_is_foreign (int dir)
{
    struct stat st;

    return cgroup_is_unprivileged () && fstat (dir, &st) == 0 && st.st_uid != geteuid ();
}

int cgroup_clean_path (const char *path, struct arena *a, const char **ret, struct err *e)
{
    char *out = arena_alloc (a, strlen (path) + 2);
    char *end = out;

    if (!out)
        return err_oom (e);
    while (*(path += strspn (path, "/"))) {
        size_t len = strcspn (path, "/");

        if (len == 2 && memcmp (path, "..", 2) == 0)
            return err_set (e, EINVAL, "/linux/cgroupsPath: '..' is not allowed");
        if (len != 1 || *path != '.') {
            *end++ = '/';
            end = mempcpy (end, path, len);
        }
        path += len;
    }
    if (end == out)
        return err_set (e, EINVAL,
                        "/linux/cgroupsPath: the root of the hierarchy is no container's");
    *ret = out;
    return 0;
}

/* ---- the caller's own cgroup, for relative paths ---- */

static int read_proc (const char *path, struct arena *a, char **ret, struct err *e)
{
    return fd_read_file (AT_FDCWD, path, PROC_MAX, FD_HOST, a, ret, NULL, e);
}

/* The part of the hierarchy that is mounted at MOUNTPOINT ("/" but in a container's bind mount of
 * the host's tree): field 4 of the last line of mountinfo with that mount point. */
static int mount_root (const char *mountpoint, struct arena *a, const char **ret, struct err *e)
{
    AUTO_FREE char *real = realpath (mountpoint, NULL); /* /sys/fs/cgroup/cpu can be a link */
    const char *found = NULL;
    char *rest = NULL;
    char *text;
    int r = read_proc ("/proc/self/mountinfo", a, &text, e);

    if (r < 0)
        return r;
    for (char *line = strtok_r (text, "\n", &rest); line; line = strtok_r (NULL, "\n", &rest)) {
        char *field[5];
        char *word = NULL;
        size_t n = 0;

        for (char *f = strtok_r (line, " ", &word); f && n < 5; f = strtok_r (NULL, " ", &word))
            field[n++] = f;
        if (n == 5 && real && strcmp (field[4], real) == 0)
            found = field[3];
    }
    if (!found)
        return err_set (e, ENOENT, "'%s' is not in /proc/self/mountinfo", mountpoint);
    *ret = found;
    return 0;
}

/* Where the caller is, below the mount point. */
static int own_below_mount (const char *text, const struct cgroup_hierarchy *h, struct arena *a,
                            const char **ret, struct err *e)
{
    size_t len = 0;
    const char *line = proc_cgroup_path (text, h, &len);
    const char *own = line ? arena_strndup (a, line, len) : NULL;
    const char *root = "";
    int r = mount_root (h->mountpoint, a, &root, e);

    if (r < 0)
        return r;
    if (!line)
        return err_set (e, ESRCH, "/proc/self/cgroup has no line for '%s'", h->mountpoint);
    if (!own)
        return err_oom (e);
    len = strcmp (root, "/") == 0 ? 0 : strlen (root);
    if (strncmp (own, root, len) != 0 || (own[len] != '/' && own[len] != '\0'))
        return err_set (e, EINVAL,
                        "/linux/cgroupsPath: a relative path counts from the runtime's own cgroup "
                        "'%s', which lies outside of what is mounted at '%s': use an absolute one",
                        own, h->mountpoint);
    *ret = own + len;
    return 0;
}

/* ---- the hierarchies ---- */

static int add_hierarchy (struct cgroup *cg, const char *controllers, const char *mountpoint,
                          struct err *e)
{
    if (cg->n == CGROUP_MAX_HIERARCHIES)
        return err_set (e, E2BIG, "more than %d cgroup hierarchies are mounted",
                        CGROUP_MAX_HIERARCHIES);
    cg->h[cg->n++] = (struct cgroup_hierarchy){
        .controllers = controllers, .mountpoint = mountpoint, .dir = -1, .tasks = -1
    };
    return 0;
}

static bool is_cgroup2 (const char *path)
{
    struct statfs st;

    return statfs (path, &st) == 0 && st.f_type == CGROUP2_SUPER_MAGIC;
}

/* The place that every distribution mounts it at; NULL when it is not there. LIST is "cpu,cpuacct",
 * FIRST its first word: systemd links the latter to the former. */
static const char *usual_mount (const char *list, const char *first, struct arena *a)
{
    const char *names[] = { str_has_prefix (list, "name=") ? list + strlen ("name=") : list,
                            first };

    for (size_t i = 0; i < ARRAY_LEN (names); i++) {
        const char *path = arena_printf (a, "%s/%s", V2_MOUNT, names[i]);

        if (path && v1_is_mounted (path))
            return path;
    }
    return NULL;
}

/* One hierarchy, from a line of /proc/self/cgroup with LIST as its controllers. The usual place
 * costs one statfs; a host with another layout is libcgroup's. Whatever is mounted nowhere is
 * left out. */
static int add_v1 (struct cgroup *cg, const char *list, struct arena *a, struct err *e)
{
    const char *first = arena_strndup (a, list, strcspn (list, ","));
    const char *mount = first ? usual_mount (list, first, a) : NULL;
    int r = mount ? 0 : v1_find (first ? first : list, a, &mount, e);

    if (r == -EIO && cg->n > 0)
        return 0; /* the usual layout, and libcgroup does not know more */
    if (r < 0 || !mount)
        return r;
    return add_hierarchy (cg, list, mount, e);
}

/* /proc/self/cgroup (TEXT) has a line "N:CONTROLLERS:PATH" for each hierarchy of the host. */
static int find_v1 (struct cgroup *cg, const char *text, struct arena *a, struct err *e)
{
    int r = 0;

    for (const char *line = text; r >= 0 && *line;) {
        const char *end = line + strcspn (line, "\n");
        const char *list = memchr (line, ':', (size_t)(end - line));
        size_t len = list ? strcspn (++list, ":\n") : 0;

        line = end + (*end != '\0');
        if (len == 0)
            continue; /* cgroup2 */
        list = arena_strndup (a, list, len);
        r = list ? add_v1 (cg, list, a, e) : err_oom (e);
    }
    return r;
}

/* A run must not cost more the more is mounted: neither on cgroup2 nor on a usual v1 host is
 * /proc/mounts read. */
static int find_hierarchies (struct cgroup *cg, const char *text, struct arena *a, struct err *e)
{
    int r;

    if (is_cgroup2 (V2_MOUNT)) {
        cg->layout = CGROUP_V2;
        return add_hierarchy (cg, "", V2_MOUNT, e);
    }
    r = find_v1 (cg, text, a, e);
    if (r >= 0 && is_cgroup2 (HYBRID_MOUNT)) {
        cg->layout = CGROUP_HYBRID;
        return add_hierarchy (cg, "", HYBRID_MOUNT, e);
    }
    cg->layout = cg->n > 0 ? CGROUP_V1 : CGROUP_NONE;
    return r;
}

/* PATH below H's mount point. */
static bool may_make (const struct cgroup_hierarchy *h, const char *path, struct arena *a)
{
    const char *full = arena_printf (a, "%s%s", h->mountpoint, path);

    return full && faccessat (AT_FDCWD, full, W_OK, AT_EACCESS) == 0;
}

/* Whoever is not root of the host can make cgroups near the own one, if at all. v2: beside it
 * rather than below, as controllers are only for those below a cgroup without processes. Where
 * that cannot be either, the usual place is as good. */
static const char *base_nearby (const struct cgroup_hierarchy *h, const char *text, struct arena *a)
{
    struct err ignored;
    const char *own;
    char *beside;

    if (own_below_mount (text, h, a, &own, &ignored) < 0)
        return "";
    beside = arena_strdup (a, own);
    if (beside && strrchr (beside, '/'))
        *strrchr (beside, '/') = '\0';
    if (cgroup_is_v2 (h) && beside && may_make (h, beside, a))
        return beside;
    return may_make (h, own, a) ? own : "";
}

static int place (struct cgroup *cg, const char *asked, const char *text, struct arena *a,
                  struct err *e)
{
    bool nearby = !cg->given && cgroup_is_unprivileged ();
    int r = 0;

    for (size_t i = 0; r >= 0 && i < cg->n; i++) {
        const char *path = asked;
        const char *base = nearby ? base_nearby (&cg->h[i], text, a) : "";

        if (asked[0] != '/')
            r = own_below_mount (text, &cg->h[i], a, &base, e);
        if (r >= 0 && (asked[0] != '/' || nearby))
            path = arena_printf (a, "%s/%s", base, asked);
        if (!path)
            return err_oom (e);
        if (r >= 0)
            r = cgroup_clean_path (path, a, &cg->h[i].path, e);
    }
    return r;
}

/* `made` is told before anything is made, so that a state file can say what a create that was
 * killed has left behind. A path of our own choice will be made in any case: whoever is in it now
 * is somebody else, and must not be taken for this container. */
static int look (struct cgroup_hierarchy *h, bool given, struct err *e)
{
    AUTO_FD mount = cgfile_mount (h, e);
    AUTO_FD dir = -1;
    struct cgroup_hierarchy there = *h;
    int r = 0;

    if (mount < 0)
        return mount;
    dir = cgfile_open (mount, h->path + 1, (given ? O_PATH : O_RDONLY) | O_DIRECTORY, e);
    if (dir < 0 && dir != -ENOENT)
        return err_add (e, "cgroup '%s%s'", h->mountpoint, h->path);
    there.dir = dir;
    if (dir >= 0 && !given && !cgroup_is_foreign (dir))
        r = refuse_used (&there, 0, e);
    h->made = dir < 0 || !given;
    return r;
}

int cgroup_locate (const struct plan_cgroup *pc, struct arena *a, struct cgroup *ret, struct err *e)
{
    struct cgroup cg = { 0 };
    const char *path = pc->path;
    char *text = NULL;
    int r = pc->disabled ? 0 : read_proc ("/proc/self/cgroup", a, &text, e);

    if (r >= 0 && text)
        r = find_hierarchies (&cg, text, a, e);
    cg.given = pc->given || pc->unit; /* never made anew: a unit of that name is refused */
    if (r >= 0 && pc->unit)
        r = unit_locate (pc, a, &cg, &path, e);
    if (r >= 0)
        r = place (&cg, path, text, a, e);
    for (size_t i = 0; r >= 0 && i < cg.n; i++)
        r = look (&cg.h[i], cg.given, e);
    if (r >= 0 && pc->unit)
        r = unit_refuse_used (&cg, a, e);
    if (r < 0) {
        cgroup_close (&cg);
        return r;
    }
    *ret = cg;
    return 0;
}
