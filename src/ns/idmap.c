#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "helper.h"
#include "ns.h"

/* What the kernel takes in its one write, and how many lines (UID_GID_MAP_MAX_EXTENTS, 4.15). */
#define MAP_TEXT_MAX  4096
#define MAP_LINES_MAX 340
/* What it shows: three numbers of at least ten columns a line. */
#define MAP_SHOWN_MAX ((size_t)MAP_LINES_MAX * 36)

struct kind {
    const char *file;   /* below /proc/PID */
    const char *json;   /* for messages */
    const char *helper; /* setuid program of shadow-utils, by absolute path (security.md A23) */
    int cap;            /* lets us write any map */
};

static const struct kind uid_kind = { "uid_map", "/linux/uidMappings", "/usr/bin/newuidmap",
                                      CAP_SETUID };
static const struct kind gid_kind = { "gid_map", "/linux/gidMappings", "/usr/bin/newgidmap",
                                      CAP_SETGID };

struct map {
    const struct kind *kind;
    const struct plan_idmap *lines;
    size_t n;
    uint32_t own; /* our own id of this kind */
};

static struct map uid_map (const struct plan *p)
{
    return (struct map){ &uid_kind, p->idmaps.uid, p->idmaps.n_uid, geteuid () };
}

static struct map gid_map (const struct plan *p)
{
    return (struct map){ &gid_kind, p->idmaps.gid, p->idmaps.n_gid, getegid () };
}

static bool has_capability (int cap)
{
    struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
    struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = { 0 };

    return syscall (SYS_capget, &head, data) == 0 && data[0].effective >> cap & 1;
}

/* What anybody may map without help: the own id, alone. */
static bool is_own_id (const struct map *m)
{
    return m->n == 1 && m->lines[0].count == 1 && m->lines[0].outside == m->own;
}

static int write_file (int procfs, pid_t pid, const char *file, const char *text, struct err *e)
{
    char path[64];
    AUTO_FD fd = -1;
    size_t len = strlen (text);

    (void)snprintf (path, sizeof path, "%d/%s", pid, file);
    fd = fd_open (procfs, path, O_WRONLY, FD_PROC, e);
    if (fd < 0)
        return fd;
    errno = 0;
    if (write (fd, text, len) != (ssize_t)len)
        return err_sys (e, "write %s", file);
    return 0;
}

static int write_map (const struct map *m, int procfs, pid_t pid, struct err *e)
{
    char text[MAP_TEXT_MAX];
    size_t len = 0;

    for (size_t i = 0; i < m->n && len < sizeof text; i++)
        len += (size_t)snprintf (text + len, sizeof text - len, "%u %u %u\n", m->lines[i].inside,
                                 m->lines[i].outside, m->lines[i].count);
    if (m->n > MAP_LINES_MAX || len >= sizeof text)
        return err_set (e, E2BIG, "%zu lines are more than the kernel takes", m->n);
    return write_file (procfs, pid, m->kind->file, text, e);
}

/* newuidmap PID INSIDE OUTSIDE COUNT ... */
static int run_helper (const struct map *m, pid_t pid, struct err *e)
{
    AUTO_ARENA a = { 0 };
    char **argv = arena_calloc (&a, 2 + 3 * m->n + 1, sizeof *argv);

    if (!argv)
        return err_oom (e);
    argv[0] = arena_strdup (&a, m->kind->helper);
    argv[1] = arena_printf (&a, "%d", pid);
    for (size_t i = 0; i < m->n; i++) {
        argv[2 + 3 * i] = arena_printf (&a, "%u", m->lines[i].inside);
        argv[3 + 3 * i] = arena_printf (&a, "%u", m->lines[i].outside);
        argv[4 + 3 * i] = arena_printf (&a, "%u", m->lines[i].count);
    }
    for (size_t i = 0; i < 2 + 3 * m->n; i++)
        if (!argv[i])
            return err_oom (e);
    return helper_run (argv, e);
}

static int set_map (const struct map *m, int procfs, pid_t pid, struct err *e)
{
    int r = 0;

    if (has_capability (m->kind->cap)) {
        r = write_map (m, procfs, pid, e);
    } else if (is_own_id (m)) {
        /* Since 3.19 (CVE-2014-8989) a gid map without privilege costs the right to drop groups. */
        if (m->kind == &gid_kind)
            r = write_file (procfs, pid, "setgroups", "deny", e);
        if (r == 0)
            r = write_map (m, procfs, pid, e);
    } else {
        r = run_helper (m, pid, e);
    }
    return r < 0 ? err_add (e, "%s", m->kind->json) : 0;
}

int ns_write_idmaps (const struct plan *p, int procfs, pid_t pid, struct err *e)
{
    struct map uid = uid_map (p);
    struct map gid = gid_map (p);
    int r = set_map (&uid, procfs, pid, e);

    return r < 0 ? r : set_map (&gid, procfs, pid, e);
}

/* ---- reading back ---- */

static int read_file (int procfs, pid_t pid, const char *file, char *buf, size_t size,
                      struct err *e)
{
    char path[64];
    AUTO_FD fd = -1;
    size_t len = 0;
    ssize_t n = 1;

    (void)(pid == 0 ? snprintf (path, sizeof path, "self/%s", file)
                    : snprintf (path, sizeof path, "%d/%s", pid, file));
    fd = fd_open_proc (procfs, path, O_RDONLY, e);
    if (fd < 0)
        return fd;
    while (n > 0 && len < size - 1) {
        n = read (fd, buf + len, size - 1 - len);
        len += n > 0 ? (size_t)n : 0;
    }
    if (n < 0)
        return err_sys (e, "read %s", file);
    buf[len] = '\0';
    return 0;
}

int ns_setgroups_denied (int procfs, pid_t pid, bool *ret, struct err *e)
{
    char text[16];
    int r = read_file (procfs, pid, "setgroups", text, sizeof text, e);

    if (r == 0)
        *ret = strncmp (text, "deny", 4) == 0;
    return r;
}

/* The next line of a map at *AT. */
static bool next_line (char **at, struct plan_idmap *ret)
{
    uint32_t *const fields[] = { &ret->inside, &ret->outside, &ret->count };
    char *end;

    for (size_t i = 0; i < ARRAY_LEN (fields); i++) {
        *fields[i] = (uint32_t)strtoul (*at, &end, 10);
        if (end == *at)
            return false;
        *at = end;
    }
    return true;
}

static bool is_planned (const struct map *m, const struct plan_idmap *line)
{
    for (size_t i = 0; i < m->n; i++)
        if (m->lines[i].inside == line->inside && m->lines[i].outside == line->outside &&
            m->lines[i].count == line->count)
            return true;
    return false;
}

/* The kernel sorts more than five lines, and takes no line twice. */
static int check_map (const struct map *m, int procfs, pid_t pid, struct err *e)
{
    char text[MAP_SHOWN_MAX];
    char *at = text;
    struct plan_idmap line;
    size_t n = 0;
    int r = read_file (procfs, pid, m->kind->file, text, sizeof text, e);

    if (r < 0)
        return r;
    while (next_line (&at, &line)) {
        n++;
        if (!is_planned (m, &line))
            return err_set (e, EPERM, "%s: the kernel has %u %u %u, which is not planned",
                            m->kind->json, line.inside, line.outside, line.count);
    }
    if (n != m->n)
        return err_set (e, EPERM, "%s: the kernel has %zu lines, wanted %zu", m->kind->json, n,
                        m->n);
    return 0;
}

int ns_idmaps_check (const struct plan *p, int procfs, pid_t pid, struct err *e)
{
    struct map uid = uid_map (p);
    struct map gid = gid_map (p);
    int r = check_map (&uid, procfs, pid, e);

    return r < 0 ? r : check_map (&gid, procfs, pid, e);
}

/* ---- the child ---- */

int ns_become_root (const struct plan *p, struct err *e)
{
    if (p->ns[NS_USER].mode == NS_INHERIT)
        return 0;
    /* EPERM: forbidden here. What is left is judged when the workload's groups are set. */
    if (!p->process.keep_groups && setgroups (0, NULL) < 0 && errno != EPERM)
        return err_sys (e, "drop the groups in the user namespace");
    if (setresgid (0, 0, 0) < 0)
        return err_sys (e, "become group 0 of the user namespace (/linux/gidMappings must map it)");
    if (setresuid (0, 0, 0) < 0)
        return err_sys (e, "become user 0 of the user namespace (/linux/uidMappings must map it)");
    if (geteuid () != 0 || getegid () != 0)
        return err_set (e, EPERM, "this process is not root of its user namespace");
    return 0;
}
