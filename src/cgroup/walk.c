#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "cgroup/internal.h"

/* A container may nest cgroups thousands deep, so neither the stack nor the descriptors may grow
 * with the depth: names wait in a list, and the way up is "..", which in a cgroupfs cannot lead
 * elsewhere (directories never move to another parent). */
struct name {
    struct name *next;
    size_t depth; /* of the cgroup that has this name */
    char text[NAME_MAX + 1];
};

struct walker {
    const struct walk *w;
    struct arena *a;
    struct name *pending; /* still to be visited, deepest first */
    struct name *chain;   /* from the current cgroup up to below the top */
    size_t depth;         /* of the current one; the top is 0 */
    int dir;
};

static bool has_vanished (int r)
{
    return r == -ENOENT || r == -ENODEV;
}

static bool is_dots (const char *name)
{
    return strcmp (name, ".") == 0 || strcmp (name, "..") == 0;
}

static int push_children (struct walker *k, struct err *e)
{
    int copy = cgfile_open (k->dir, ".", O_RDONLY | O_DIRECTORY, e);
    AUTO_DIR *d = copy >= 0 ? fdopendir (copy) : NULL;
    const struct dirent *entry;

    if (copy < 0)
        return has_vanished (copy) ? 0 : copy;
    if (!d) {
        (void)close (copy);
        return err_oom (e);
    }
    while ((entry = readdir (d))) {
        struct name *n;

        if (entry->d_type != DT_DIR || is_dots (entry->d_name))
            continue;
        n = arena_alloc (k->a, sizeof *n);
        if (!n)
            return err_oom (e);
        (void)strcpy (n->text, entry->d_name);
        n->depth = k->depth + 1;
        n->next = k->pending;
        k->pending = n;
    }
    return 0;
}

/* The current cgroup has been entered. */
static int arrive (struct walker *k, struct err *e)
{
    int r = k->w->visit ? k->w->visit (k->dir, k->w->data, e) : 0;

    return r < 0 ? r : push_children (k, e);
}

static int go_down (struct walker *k, struct err *e)
{
    struct name *n = k->pending;
    int fd = cgfile_open (k->dir, n->text, O_RDONLY | O_DIRECTORY, e);

    k->pending = n->next;
    if (fd < 0)
        return has_vanished (fd) ? 0 : fd;
    (void)close (k->dir);
    k->dir = fd;
    n->next = k->chain;
    k->chain = n;
    k->depth++;
    return arrive (k, e);
}

static int go_up (struct walker *k, struct err *e)
{
    struct name *n = k->chain;
    int fd = fd_open (k->dir, "..", O_RDONLY | O_DIRECTORY, FD_HOST, e);

    if (fd < 0)
        return fd;
    (void)close (k->dir);
    k->dir = fd;
    k->chain = n->next;
    k->depth--;
    return k->w->leave ? k->w->leave (fd, n->text, k->w->data, e) : 0;
}

int walk_tree (int top, const struct walk *w, struct err *e)
{
    AUTO_ARENA a = { 0 };
    struct walker k = { .w = w, .a = &a, .dir = cgfile_open (top, ".", O_RDONLY | O_DIRECTORY, e) };
    int r = k.dir;

    if (r < 0)
        return has_vanished (r) ? 0 : r;
    r = arrive (&k, e);
    while (r >= 0 && (k.pending || k.depth > 0)) {
        if (k.pending && k.pending->depth == k.depth + 1)
            r = go_down (&k, e);
        else
            r = go_up (&k, e);
    }
    (void)close (k.dir);
    return r < 0 ? r : 0;
}
