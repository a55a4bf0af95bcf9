#include "policy/guard_table.h"

#include <fnmatch.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"

#define ID_MIN 12 /* the short form of an id */

const struct guard_row guard_rows[] = {
#define KIND(rule_, mode_, what_)                                                                  \
    { .kind = GUARD_KIND, .rule = rule_, .text = #mode_, .what = what_, .number = { mode_ } },
#define TYPE(rule_, text_, what_)                                                                  \
    { .kind = GUARD_TYPE, .rule = rule_, .text = text_, .what = what_ },
#define DEVICE(text_, major_, minor_)                                                              \
    { .kind = GUARD_DEVICE, .text = text_, .what = "opens nothing", .number = { major_, minor_ } },
#define ROW(kind_, scope_, rule_, text_, what_)                                                    \
    { .kind = GUARD_##kind_, .scope = GUARD_##scope_, .rule = rule_, .text = text_, .what = what_ },
#define ENGINE(layout_, kind_, text_, what_)                                                       \
    { .kind = GUARD_##kind_,                                                                       \
      .scope = GUARD_TREE,                                                                         \
      .layout = GUARD_##layout_,                                                                   \
      .rule = "engine-data",                                                                       \
      .text = text_,                                                                               \
      .what = what_ },
#include "policy/guard.def"
#undef KIND
#undef TYPE
#undef DEVICE
#undef ROW
#undef ENGINE
};
const size_t guard_n_rows = ARRAY_LEN (guard_rows);

bool guard_row_is_on (const struct guard_source *s, const struct guard_row *row)
{
    return !s->off || !s->off[row - guard_rows];
}

const char *guard_rest (const char *path, const char *top)
{
    size_t n = strcmp (top, "/") == 0 ? 0 : strlen (top);

    if (strncmp (path, top, n) != 0)
        return NULL;
    if (path[n] == '\0')
        return path + n;
    return path[n] == '/' ? path + n + 1 : NULL;
}

const char *guard_after_name (const char *path, const char *name)
{
    size_t n = strlen (name);

    for (const char *at = strchr (path, '/'); at; at = strchr (at + 1, '/'))
        if (strncmp (at + 1, name, n) == 0 && (at[n + 1] == '\0' || at[n + 1] == '/'))
            return at + n + 1 + (at[n + 1] == '/');
    return NULL;
}

static bool is_id (const char *s)
{
    size_t n = strspn (s, "0123456789abcdef");

    return n >= ID_MIN && s[n] == '\0';
}

/* Copies the component at *S into BUF and moves on to the next one. False: there is none, or it is
 * longer than any file's name. */
static bool component (const char **s, char buf[256])
{
    size_t n = strcspn (*s, "/");

    if (n == 0 || n > 255)
        return false;
    memcpy (buf, *s, n);
    buf[n] = '\0';
    *s += n + ((*s)[n] == '/');
    return true;
}

bool guard_fits (const char *rest, const char *pattern)
{
    char want[256], have[256];

    while (component (&pattern, want)) {
        if (strcmp (want, "**") == 0)
            return true;
        if (!component (&rest, have))
            return false;
        if (strcmp (want, "@") == 0 ? !is_id (have) : fnmatch (want, have, FNM_PERIOD) != 0)
            return false;
    }
    return *rest == '\0';
}

bool guard_same (const struct guard_object *a, const struct guard_object *b)
{
    if (a->has_id && b->has_id)
        return a->inode == b->inode && a->dev_major == b->dev_major && a->dev_minor == b->dev_minor;
    return strcmp (a->place, b->place) == 0;
}

static bool passes (const struct guard_row *row, const struct guard_source *s, const char *rest)
{
    for (size_t i = 0; i < guard_n_rows; i++) {
        const struct guard_row *p = &guard_rows[i];

        if (p->kind == GUARD_PASS && p->layout == row->layout && guard_row_is_on (s, p) &&
            guard_fits (rest, p->text))
            return true;
    }
    return false;
}

/* S is REST below what ROW protects. */
static bool is_refused_below (const struct guard_row *row, const struct guard_source *s,
                              const char *rest)
{
    switch (row->scope) {
    case GUARD_SELF:
        return false;
    case GUARD_TREE:
    case GUARD_FILE:
        return !row->layout || !passes (row, s, rest);
    case GUARD_CHILDREN:
        return !strchr (rest, '/');
    case GUARD_WRITABLE:
        return s->writable;
    }
    return true;
}

/* By one way to name both: the host's tree, or the file system that they share. */
static const char *relation_by (const struct guard_row *row, const struct guard_source *s,
                                const char *path, const char *thing)
{
    const char *rest = guard_rest (path, thing);

    if (rest && !*rest)
        return "is";
    if (rest)
        return is_refused_below (row, s, rest) ? "lies in" : NULL;
    return guard_rest (thing, path) ? "is a parent of" : NULL;
}

/* A file system has no more names of a socket than those that it counts: with a second one, any
 * folder of it may hold that. */
static bool may_hold_link (const struct guard_source *s, const struct guard_object *thing)
{
    return thing->has_id && (thing->mode & S_IFMT) == S_IFSOCK && thing->nlink > 1 && s->o.mount &&
           (s->o.mode & S_IFMT) == S_IFDIR;
}

/* S lies in a bundle or rootfs that the engine made in its data THING. */
static bool is_own (const struct guard_source *s, const struct guard_object *thing)
{
    const char *rest = s->own ? guard_rest (s->own, thing->place) : NULL;

    return rest && *rest;
}

const char *guard_relation (const struct guard_row *row, const struct guard_source *s,
                            const struct guard_object *thing)
{
    const struct guard_mount *a = s->o.mount, *b = thing->mount;
    const char *how;

    if (row->layout && is_own (s, thing))
        return NULL;
    if (guard_same (&s->o, thing) && !s->below)
        return "is";
    how = relation_by (row, s, s->o.place, thing->place);
    if (how || !a || !b || a->major != b->major || a->minor != b->minor || !s->o.inner ||
        !thing->inner)
        return how;
    how = relation_by (row, s, s->o.inner, thing->inner);
    return how || !may_hold_link (s, thing) ? how : "may hold a second name of";
}

bool guard_is_harmless_device (const struct guard_source *s)
{
    if ((s->o.mode & S_IFMT) != S_IFCHR)
        return false;
    for (size_t i = 0; i < guard_n_rows; i++) {
        const struct guard_row *row = &guard_rows[i];

        if (row->kind == GUARD_DEVICE && guard_row_is_on (s, row) &&
            row->number[0] == s->o.rdev_major && row->number[1] == s->o.rdev_minor)
            return true;
    }
    return false;
}

bool guard_is_type (const struct guard_row *row, const struct guard_source *s)
{
    if (row->kind == GUARD_TYPE)
        return s->o.mount && strcmp (s->o.mount->type, row->text) == 0;
    return row->kind == GUARD_KIND && s->o.has_id && (s->o.mode & S_IFMT) == row->number[0];
}

static bool is_named_in (const struct guard_row *row, const struct guard_source *s,
                         const char *path)
{
    const char *rest = path ? guard_after_name (path, row->text) : NULL;

    return rest && (!*rest || is_refused_below (row, s, rest));
}

bool guard_is_named (const struct guard_row *row, const struct guard_source *s)
{
    return row->kind == GUARD_NAME &&
           (is_named_in (row, s, s->o.place) || is_named_in (row, s, s->o.inner));
}
