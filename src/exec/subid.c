#include "exec/subid.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "base/num.h"
#include "state/state.h"

#define UID_FILE "/etc/subuid"
#define GID_FILE "/etc/subgid"
#define FILE_MAX ((size_t)1024 * 1024)
#define TAKEN    ".ids" /* below the default state root */

/* ---- /etc/subuid ---- */

/* The user names whose ranges are for containers; those of the first that has any are used.
 * `containers` is what Podman's --userns=auto takes from, too. */
static const char *const owners[] = { "agentrt", "containers" };

struct pieces {
    const char *file;
    struct arena *a;
    uint32_t *first;
    size_t n;
};

static int add_pieces (struct pieces *p, uint64_t start, uint64_t count)
{
    size_t more = count / SUBID_SIZE;
    uint32_t *first = arena_calloc (p->a, p->n + more, sizeof *first);

    if (!first)
        return -1;
    for (size_t i = 0; i < p->n; i++)
        first[i] = p->first[i];
    for (size_t i = 0; i < more; i++)
        first[p->n + i] = (uint32_t)(start + i * SUBID_SIZE);
    p->first = first;
    p->n += more;
    return 0;
}

/* RANGE: "START:COUNT" */
static int add_range (struct pieces *p, char *range, struct err *e)
{
    char *count = strchr (range, ':');
    uint64_t start = 0, n = 0;

    if (!count)
        return err_set (e, EINVAL, "%s: '%s' is no START:COUNT", p->file, range);
    *count++ = '\0';
    if (num_u64 (range, p->file, 1, UINT32_MAX - 1, &start, e) < 0 ||
        num_u64 (count, p->file, 0, UINT32_MAX - start, &n, e) < 0)
        return -e->code;
    return add_pieces (p, start, n) < 0 ? err_oom (e) : 0;
}

/* The lines "OWNER:START:COUNT". */
static int add_owner (struct pieces *p, const char *owner, const char *text, struct err *e)
{
    size_t len = strlen (owner);

    for (const char *line = text; *line;) {
        const char *end = strchrnul (line, '\n');

        if (strncmp (line, owner, len) == 0 && line[len] == ':') {
            char *range = arena_strndup (p->a, line + len + 1, (size_t)(end - line) - len - 1);

            if (!range)
                return err_oom (e);
            if (add_range (p, range, e) < 0)
                return -e->code;
        }
        line = *end ? end + 1 : end;
    }
    return 0;
}

int subid_parse (const char *text, const char *file, struct arena *a, struct subid_pieces *ret,
                 struct err *e)
{
    struct pieces p = { .file = file, .a = a };

    for (size_t i = 0; i < ARRAY_LEN (owners) && p.n == 0; i++)
        if (add_owner (&p, owners[i], text, e) < 0)
            return -e->code;
    if (p.n == 0)
        return err_set (e, ENOENT,
                        "%s has no %u ids for the user '%s': add a line such as "
                        "'%s:1000000000:655360000'",
                        file, SUBID_SIZE, owners[0], owners[0]);
    *ret = (struct subid_pieces){ p.first, p.n };
    return 0;
}

/* Who can write it can make containers share ids. */
static int read_pieces (const char *file, struct arena *a, struct subid_pieces *ret, struct err *e)
{
    AUTO_FD fd = fd_open (AT_FDCWD, file, O_RDONLY, FD_HOST, e);
    struct stat st;
    char *text = NULL;

    if (fd == -ENOENT)
        return subid_parse ("", file, a, ret, e);
    if (fd < 0)
        return fd;
    if (fstat (fd, &st) < 0)
        return err_sys (e, "look at %s", file);
    if (st.st_uid != 0 || (st.st_mode & (S_IWGRP | S_IWOTH)))
        return err_set (e, EPERM, "%s must be root's and writable by nobody else", file);
    if (fd_read_all (fd, file, FILE_MAX, a, &text, NULL, e) < 0)
        return -e->code;
    return subid_parse (text, file, a, ret, e);
}

/* ---- which are taken ---- */

static int open_taken (struct arena *a, struct err *e)
{
    const char *path = NULL;
    AUTO_FD root = -1;
    AUTO_FD dir = -1;
    int r = state_default_root (a, &path, e);

    if (r == 0)
        r = state_open_root (path, true, &root, e);
    if (r < 0)
        return r;
    if (mkdirat (root, TAKEN, 0700) < 0 && errno != EEXIST)
        return err_sys (e, "make %s/" TAKEN, path);
    dir = fd_open (root, TAKEN, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, FD_BENEATH, e);
    if (dir < 0)
        return dir;
    if (flock (dir, LOCK_EX) < 0)
        return err_sys (e, "lock %s/" TAKEN, path);
    return TAKE_FD (dir);
}

static bool is_taken (int dir, const char *name)
{
    char state[PATH_MAX];
    ssize_t n = readlinkat (dir, name, state, sizeof state - 1);

    if (n < 0)
        return errno != ENOENT; /* what cannot be read is somebody's */
    state[n] = '\0';
    return faccessat (AT_FDCWD, state, F_OK, AT_SYMLINK_NOFOLLOW) == 0 || errno != ENOENT;
}

static int take (int dir, const char *name, const char *state, struct err *e)
{
    if (unlinkat (dir, name, 0) < 0 && errno != ENOENT)
        return err_sys (e, "take the ids from %s on", name);
    return symlinkat (state, dir, name) < 0 ? err_sys (e, "take the ids from %s on", name) : 0;
}

static int read_both (struct arena *a, struct subid_pieces *ret_uids, struct subid_pieces *ret_gids,
                      struct err *e)
{
    int r = read_pieces (UID_FILE, a, ret_uids, e);

    return r < 0 ? r : read_pieces (GID_FILE, a, ret_gids, e);
}

int subid_look (struct arena *a, struct err *e)
{
    struct subid_pieces uids = { 0 }, gids = { 0 };

    return read_both (a, &uids, &gids, e);
}

int subid_choose (const char *state, struct arena *a, struct subid *ret, int *ret_lock,
                  struct err *e)
{
    struct subid_pieces uids = { 0 }, gids = { 0 };
    AUTO_FD dir = -1;
    int r = read_both (a, &uids, &gids, e);

    if (r == 0)
        r = dir = open_taken (a, e);
    if (r < 0)
        return err_add (e, "identity userns");
    for (size_t i = 0; i < uids.n && i < gids.n; i++) {
        char name[16];

        (void)snprintf (name, sizeof name, "%u", uids.first[i]);
        if (is_taken (dir, name))
            continue;
        if (take (dir, name, state, e) < 0)
            return -e->code;
        *ret = (struct subid){ uids.first[i], gids.first[i] };
        *ret_lock = TAKE_FD (dir);
        return 0;
    }
    return err_set (e, EAGAIN,
                    "identity userns: other containers have all %zu ranges of " UID_FILE
                    " and " GID_FILE ": add more",
                    uids.n < gids.n ? uids.n : gids.n);
}
