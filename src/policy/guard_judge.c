#include "policy/guard_judge.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"

#define ENTRIES_MAX 4096 /* of a credential folder that are looked at for a second name */

static void found (struct guard_finding *ret, const struct guard_row *row, const char *how,
                   const char *thing)
{
    ret->rule = row->rule;
    ret->what = row->what;
    ret->how = how;
    ret->thing = thing;
}

static bool is_folder (const struct guard_source *s)
{
    return s->o.has_id && S_ISDIR (s->o.mode);
}

/* ---- what it is ---- */
static void judge_type (const struct guard_source *s, struct guard_finding *ret)
{
    for (size_t i = 0; !ret->rule && i < guard_n_rows; i++)
        if (guard_row_is_on (s, &guard_rows[i]) && guard_is_type (&guard_rows[i], s))
            found (ret, &guard_rows[i], "is", s->o.place);
}

/* ---- where it is ---- */
static void judge_place (const struct guard_scene *c, const struct guard_source *s,
                         struct guard_finding *ret)
{
    for (size_t i = 0; i < c->n_things; i++) {
        const struct guard_thing *t = &c->things[i];
        const char *how = guard_relation (t->row, s, &t->o);

        /* What it is says more than what it holds. */
        if (how && (!ret->rule || strcmp (how, "is") == 0))
            found (ret, t->row, how, t->o.place);
        if (how && strcmp (how, "is") == 0)
            return;
    }
}

/* ---- what it is called, and what things in it are ---- */
static bool ends_with (const char *path, const char *name, size_t n)
{
    size_t len = strlen (path);

    return len > n && path[len - n - 1] == '/' && strncmp (path + len - n, name, n) == 0;
}

static bool is_there (int fd, const struct guard_row *row, const char *name)
{
    struct stat st;

    return fstatat (fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
           (row->kind != GUARD_SOCKET || S_ISSOCK (st.st_mode));
}

/* The folder FD holds ROW's name, or the rest of it when its own path ends with the beginning. */
static bool holds (const struct guard_row *row, const struct guard_source *s, int fd)
{
    if (is_there (fd, row, row->text))
        return true;
    for (const char *slash = strchr (row->text, '/'); slash; slash = strchr (slash + 1, '/')) {
        size_t n = (size_t)(slash - row->text);

        if ((ends_with (s->o.place, row->text, n) || ends_with (s->o.inner, row->text, n)) &&
            is_there (fd, row, slash + 1))
            return true;
    }
    return false;
}

static bool is_looked_for (const struct guard_row *row)
{
    return row->kind == GUARD_SOCKET || (row->kind == GUARD_NAME && row->scope != GUARD_FILE);
}

static void judge_name (const struct guard_source *s, int fd, struct guard_finding *ret)
{
    for (size_t i = 0; !ret->rule && i < guard_n_rows; i++) {
        const struct guard_row *row = &guard_rows[i];

        if (!guard_row_is_on (s, row))
            continue;
        if (guard_is_named (row, s))
            found (ret, row, "goes by the name of", row->text);
        else if (fd >= 0 && is_folder (s) && is_looked_for (row) && holds (row, s, fd))
            found (ret, row, "holds", row->text);
    }
}

/* ---- hard links: a file has other names, one of them perhaps where credentials lie ---- */
static bool is_same_file (int dir, const char *name, const struct guard_source *s)
{
    struct statx sx;

    return statx (dir, name, AT_SYMLINK_NOFOLLOW, STATX_INO, &sx) == 0 &&
           sx.stx_ino == s->o.inode && sx.stx_dev_major == s->o.dev_major &&
           sx.stx_dev_minor == s->o.dev_minor;
}

static bool folder_has (const char *path, const struct guard_source *s)
{
    AUTO_DIR *d = opendir (path);
    int left = ENTRIES_MAX;

    for (const struct dirent *entry; d && left > 0 && (entry = readdir (d)); left--)
        if (is_same_file (dirfd (d), entry->d_name, s))
            return true;
    return false;
}

static void judge_link_in_home (const struct guard_thing *home, const struct guard_source *s,
                                struct guard_finding *ret)
{
    char path[PATH_MAX];

    for (size_t i = 0; !ret->rule && i < guard_n_rows; i++) {
        const struct guard_row *row = &guard_rows[i];

        if (row->kind != GUARD_NAME || row->layout || !guard_row_is_on (s, row) ||
            (size_t)snprintf (path, sizeof path, "%s/%s", home->o.place, row->text) >= sizeof path)
            continue;
        if (is_same_file (AT_FDCWD, path, s) || folder_has (path, s))
            found (ret, row, "is a second name of a file of", row->text);
    }
}

static void judge_link (const struct guard_scene *c, const struct guard_source *s,
                        struct guard_finding *ret)
{
    if (!s->o.has_id || !S_ISREG (s->o.mode) || s->o.nlink < 2)
        return;
    for (size_t i = 0; !ret->rule && i < c->n_things; i++) {
        const struct guard_thing *t = &c->things[i];

        if (t->row->kind == GUARD_HOME && (t->o.uid == s->o.uid || t->o.uid == 0))
            judge_link_in_home (t, s, ret);
        else if (t->row->kind == GUARD_PATH && t->row->scope == GUARD_TREE && t->o.has_id &&
                 S_ISDIR (t->o.mode) && t->o.dev_major == s->o.dev_major &&
                 t->o.dev_minor == s->o.dev_minor && folder_has (t->o.place, s))
            found (ret, t->row, "is a second name of a file of", t->o.place);
    }
}

void guard_judge (const struct guard_scene *c, const struct guard_source *s, int fd,
                  struct guard_finding *ret)
{
    for (size_t i = 0; i < c->n_accepted; i++)
        if (guard_same (&c->accepted[i], &s->o))
            return;
    if (guard_is_harmless_device (s))
        return;
    judge_type (s, ret);
    if (!ret->rule)
        judge_place (c, s, ret);
    if (!ret->rule)
        judge_name (s, fd, ret);
    if (!ret->rule)
        judge_link (c, s, ret);
    if (ret->rule)
        ret->shown = s->o.place;
}
