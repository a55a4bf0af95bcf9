/*
 * What there is on this host to be protected.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "base/num.h"
#include "policy/guard_judge.h"

#define PASSWD     "/etc/passwd"
#define PASSWD_MAX (1U << 20)
#define FIRST_USER 1000 /* login.defs(5), UID_MIN; below are accounts of services */
#define NOBODY     65534

static bool is_on (const struct guard_scene *c, const struct guard_row *row)
{
    return !c->off || !c->off[row - guard_rows];
}

/* ---- things ---- */
/* A bigger copy of ARRAY, which has N of *ROOM elements; ARRAY itself while there is room. */
static void *grown (struct arena *a, void *array, size_t n, size_t *room, size_t size)
{
    void *bigger;

    if (n < *room)
        return array;
    bigger = arena_calloc (a, *room ? *room * 2 : 64, size);
    if (!bigger)
        return NULL;
    if (n)
        memcpy (bigger, array, n * size);
    *room = *room ? *room * 2 : 64;
    return bigger;
}

static int add (struct guard_scene *c, const struct guard_row *row, const struct guard_object *o,
                struct err *e)
{
    struct guard_thing *things =
        grown (c->host.arena, c->things, c->n_things, &c->room, sizeof *things);

    if (!things)
        return err_oom (e);
    c->things = things;
    things[c->n_things++] = (struct guard_thing){ .row = row, .o = *o };
    return 0;
}

/* As the kernel writes paths: what passwd and people write may have "//", "/./" or a last "/". */
static bool is_clean (const char *path)
{
    size_t n = strlen (path);

    return !strstr (path, "//") && !strstr (path, "/.") && (n < 2 || path[n - 1] != '/');
}

/* Most paths have no link in them: then their place needs no asking for. */
static int open_thing (struct guard_scene *c, const char *path, struct guard_object *ret,
                       struct err *e)
{
    AUTO_FD fd = fd_open (c->root_fd, path, O_PATH, FD_NO_LINKS, e);
    int r;

    if (fd == -ELOOP || (fd >= 0 && !is_clean (path)))
        return guard_open (&c->host, path, false, ret, e);
    r = fd < 0 ? fd : guard_describe (&c->host, fd, path, ret, e);
    return r < 0 ? r : TAKE_FD (fd);
}

/* *RET is false where nothing is there. What this user may not reach is known by its name alone:
 * what cannot be reached cannot be bound either. */
static int find (struct guard_scene *c, const char *path, struct guard_object *ret_object,
                 bool *ret, struct err *e)
{
    struct err why;
    AUTO_FD fd = open_thing (c, path, ret_object, &why);

    *ret = fd >= 0 || (fd != -ENOENT && fd != -ENOTDIR);
    if (fd == -ENOMEM)
        return err_oom (e);
    if (fd >= 0 || !*ret)
        return 0;
    *ret_object = (struct guard_object){ .place = arena_strdup (c->host.arena, path) };
    return ret_object->place ? 0 : err_oom (e);
}

static int add_path (struct guard_scene *c, const struct guard_row *row, const char *path,
                     struct err *e)
{
    struct guard_object o;
    bool there;
    int r = find (c, path, &o, &there, e);

    return r < 0 || !there ? r : add (c, row, &o, e);
}

static const struct guard_row *row_of (enum guard_kind kind)
{
    for (size_t i = 0; i < guard_n_rows; i++)
        if (guard_rows[i].kind == kind)
            return &guard_rows[i];
    return NULL;
}

/* ---- passwd: read as a file, since NSS would load code ---- */
/* The home of a person, or of a service that owns it: the homes of most services are folders of the
 * system (/bin, /usr/sbin). */
static bool is_home (const struct guard_object *o, uint64_t uid)
{
    if (strcmp (o->place, "/") == 0)
        return false;
    return uid == 0 || (uid >= FIRST_USER && uid != NOBODY) || !o->has_id || o->uid == uid;
}

static int add_home (struct guard_scene *c, char *line, struct err *e)
{
    const char *fields[6] = { 0 };
    struct guard_object o;
    struct err ignored;
    uint64_t uid;
    bool there;
    int r;

    for (size_t i = 0; i < ARRAY_LEN (fields); i++)
        fields[i] = strsep (&line, ":");
    if (!fields[5] || fields[5][0] != '/' ||
        num_u64 (fields[2], "uid", 0, UINT32_MAX, &uid, &ignored) < 0)
        return 0; /* not an account: getpwent(3) passes over it too */
    r = find (c, fields[5], &o, &there, e);
    return r < 0 || !there || !is_home (&o, uid) ? r : add (c, row_of (GUARD_HOME), &o, e);
}

static int add_homes (struct guard_scene *c, struct err *e)
{
    char *text;
    int r;

    if (!is_on (c, row_of (GUARD_HOME)))
        return 0;
    r = fd_read_file (AT_FDCWD, PASSWD, PASSWD_MAX, FD_HOST, c->host.arena, &text, NULL, e);
    if (r == -ENOENT)
        return 0;
    for (char *line; r == 0 && (line = strsep (&text, "\n"));)
        r = add_home (c, line, e);
    return r;
}

/* ---- the rows ---- */
static int add_rows (struct guard_scene *c, struct err *e)
{
    int r = 0;

    for (size_t i = 0; r == 0 && i < guard_n_rows; i++) {
        const struct guard_row *row = &guard_rows[i];

        if ((row->kind == GUARD_PATH || row->kind == GUARD_ENGINE) && is_on (c, row))
            r = add_path (c, row, row->text, e);
    }
    return r;
}

static int add_own (struct guard_scene *c, struct err *e)
{
    const struct guard_row *row = row_of (GUARD_OWN);
    int r = 0;

    for (size_t i = 0; r == 0 && is_on (c, row) && c->rq->own && c->rq->own[i]; i++)
        r = add_path (c, row, c->rq->own[i], e);
    return r;
}

static int add_accepted (struct guard_scene *c, struct err *e)
{
    size_t n = 0;
    int r = 0;

    while (c->rq->accept && c->rq->accept[n])
        n++;
    c->accepted = arena_calloc (c->host.arena, n, sizeof *c->accepted);
    if (!c->accepted)
        return err_oom (e);
    for (size_t i = 0; r == 0 && i < n; i++) {
        bool there;

        r = find (c, c->rq->accept[i], &c->accepted[c->n_accepted], &there, e);
        c->n_accepted += r == 0 && there;
    }
    return r;
}

/* ---- engines with data roots of their own ---- */
static bool has_marks (const struct guard_scene *c, const char *folder, enum guard_layout layout)
{
    char path[PATH_MAX];
    struct stat st;
    size_t n = 0;

    for (size_t i = 0; i < guard_n_rows; i++) {
        const struct guard_row *m = &guard_rows[i];

        if (m->kind != GUARD_MARK || m->layout != layout || !is_on (c, m))
            continue;
        if ((size_t)snprintf (path, sizeof path, "%s/%s", folder, m->text) >= sizeof path ||
            lstat (path, &st) < 0)
            return false;
        n++;
    }
    return n > 0;
}

static const struct guard_row *first_mark (enum guard_layout layout)
{
    for (size_t i = 0; i < guard_n_rows; i++)
        if (guard_rows[i].kind == GUARD_MARK && guard_rows[i].layout == layout)
            return &guard_rows[i];
    return NULL;
}

static bool was_visited (const struct guard_scene *c, const char *folder)
{
    for (size_t i = 0; i < c->n_visited; i++)
        if (strcmp (c->visited[i], folder) == 0)
            return true;
    return false;
}

/* Somebody who can write into a folder can make it look like anything: only what belongs to root
 * (or to a rootless engine, the caller) is an engine's data. */
static int visit_folder (struct guard_scene *c, const char *folder, struct err *e)
{
    const char **visited =
        grown (c->host.arena, c->visited, c->n_visited, &c->visited_room, sizeof *visited);
    int r = 0;

    if (!visited)
        return err_oom (e);
    c->visited = visited;
    visited[c->n_visited] = arena_strdup (c->host.arena, folder);
    if (!visited[c->n_visited])
        return err_oom (e);
    folder = visited[c->n_visited++]; /* things keep it */
    if (!guard_is_trusted (folder))
        return 0;
    for (unsigned int l = 1; r == 0 && l < GUARD_LAYOUTS; l++)
        if (has_marks (c, folder, l))
            r = add_path (c, first_mark (l), folder, e);
    return r;
}

int guard_scene_visit (struct guard_scene *c, const char *path, struct err *e)
{
    char *folder = arena_strdup (c->host.arena, path);
    int r = 0;

    if (!folder)
        return err_oom (e);
    for (char *slash; r == 0 && folder[1] && !was_visited (c, folder);) {
        r = visit_folder (c, folder, e);
        slash = strrchr (folder, '/');
        slash[slash == folder] = '\0';
    }
    return r;
}

static int add_container (struct guard_scene *c, const char *path, struct err *e)
{
    struct guard_object *o = &c->own[c->n_own];
    bool there;
    int r = find (c, path, o, &there, e);

    if (r < 0 || !there)
        return r;
    c->n_own++;
    return guard_scene_visit (c, o->place, e);
}

static int add_bundle (struct guard_scene *c, struct err *e)
{
    const struct oci_root *root = c->rq->config->root;
    const char *rootfs = root ? root->path : NULL;
    int r = add_container (c, c->rq->bundle, e);

    if (r < 0 || !rootfs)
        return r;
    if (rootfs[0] != '/')
        rootfs = arena_printf (c->host.arena, "%s/%s", c->rq->bundle, rootfs);
    return rootfs ? add_container (c, rootfs, e) : err_oom (e);
}

int guard_scene_make (struct guard_scene *c, struct err *e)
{
    int r = c->root_fd = guard_open (&c->host, "/", false, &c->root, e);

    if (r >= 0)
        r = add_rows (c, e);

    if (r == 0)
        r = add_homes (c, e);
    if (r == 0)
        r = add_own (c, e);
    if (r == 0)
        r = add_accepted (c, e);
    return r < 0 ? r : add_bundle (c, e);
}
