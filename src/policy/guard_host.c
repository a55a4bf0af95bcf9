#include "policy/guard_host.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "base/kernel.h"

#define MOUNTINFO      "/proc/self/mountinfo"
#define MOUNTINFO_MAX  (64U << 20)
#define STATMOUNT_ROOM (sizeof (struct statmount_full) + 2 * PATH_MAX + 256)

struct guard_known {
    struct guard_mount m;
    struct guard_known *next;
};

/* ---- all mounts: proc_pid_mountinfo(5) ---- */
static int octal (const char *s)
{
    for (int i = 1; i <= 3; i++)
        if (s[i] < '0' || s[i] > '7')
            return -1;
    return (s[1] - '0') * 64 + (s[2] - '0') * 8 + (s[3] - '0');
}

/* Blanks, backslashes and newlines are octal there. In place. */
static const char *unescape (char *s)
{
    char *out = s;

    for (const char *in = s; *in; out++) {
        int c = *in == '\\' ? octal (in) : -1;

        *out = c > 0 ? (char)c : *in;
        in += c > 0 ? 4 : 1;
    }
    *out = '\0';
    return s;
}

static bool parse_line (char *line, struct guard_mount *ret)
{
    char *fields[6], *tail = strstr (line, " - ");

    if (!tail)
        return false;
    *tail = '\0';
    tail += 3;
    for (size_t i = 0; i < ARRAY_LEN (fields); i++)
        if (!(fields[i] = strsep (&line, " ")))
            return false;
    if (sscanf (fields[2], "%u:%u", &ret->major, &ret->minor) != 2)
        return false;
    ret->id = strtoull (fields[0], NULL, 10);
    ret->root = unescape (fields[3]);
    ret->point = unescape (fields[4]);
    ret->type = strsep (&tail, " ");
    (void)strsep (&tail, " "); /* the source */
    ret->options = tail;
    return ret->options;
}

static size_t count_lines (const char *s)
{
    size_t n = 0;

    for (; (s = strchr (s, '\n')); s++)
        n++;
    return n;
}

int guard_list (struct guard_host *h, struct err *e)
{
    char *text;
    int r;

    if (h->listed)
        return 0;
    r = fd_read_file (AT_FDCWD, MOUNTINFO, MOUNTINFO_MAX, FD_HOST, h->arena, &text, NULL, e);
    if (r < 0)
        return r;
    h->list = arena_calloc (h->arena, count_lines (text), sizeof *h->list);
    if (!h->list)
        return err_oom (e);
    for (char *line; (line = strsep (&text, "\n")) && text; h->n_list++)
        if (!parse_line (line, &h->list[h->n_list]))
            return err_set (e, EINVAL, MOUNTINFO ": line %zu is not understood", h->n_list + 1);
    h->listed = true;
    return 0;
}

const char *guard_options (const struct guard_host *h, const struct guard_mount *m)
{
    for (size_t i = 0; i < h->n_list; i++)
        if (h->list[i].major == m->major && h->list[i].minor == m->minor)
            return h->list[i].options;
    return NULL;
}

/* ---- one mount ---- */
static int copy_statmount (struct guard_host *h, const struct statmount_full *sm, uint64_t id,
                           struct guard_mount *ret)
{
    *ret = (struct guard_mount){ .id = id,
                                 .major = sm->basic.sb_dev_major,
                                 .minor = sm->basic.sb_dev_minor,
                                 .root = arena_strdup (h->arena, sm->str + sm->mnt_root),
                                 .point = arena_strdup (h->arena, sm->str + sm->mnt_point),
                                 .type = arena_strdup (h->arena, sm->str + sm->basic.fs_type) };
    return ret->root && ret->point && ret->type ? 0 : -ENOMEM;
}

/* Linux 6.8: costs the same however many mounts there are. -ENOSYS where it is not there. */
static int ask_one (struct guard_host *h, uint64_t id, struct guard_mount *ret)
{
    const uint64_t want =
        STATMOUNT_SB_BASIC | STATMOUNT_MNT_ROOT | STATMOUNT_MNT_POINT | STATMOUNT_FS_TYPE;
    const struct statmount_request rq = { .size = sizeof rq, .mnt_id = id, .param = want };
    AUTO_FREE struct statmount_full *sm = malloc (STATMOUNT_ROOM);

    if (!sm)
        return -ENOMEM;
    if (syscall (SYS_statmount, &rq, sm, STATMOUNT_ROOM, 0) < 0)
        return errno == EPERM ? -ENOSYS : -errno;
    return (sm->basic.mask & want) == want ? copy_statmount (h, sm, id, ret) : -ENOENT;
}

static int find_in_list (struct guard_host *h, uint64_t id, struct guard_mount *ret, struct err *e)
{
    int r = guard_list (h, e);

    if (r < 0)
        return r;
    for (size_t i = 0; i < h->n_list; i++)
        if (h->list[i].id == id) {
            *ret = h->list[i];
            return 0;
        }
    return err_set (e, EXDEV, "it is in no mount of this mount namespace");
}

static const struct guard_mount *recall (const struct guard_host *h, uint64_t id)
{
    for (const struct guard_known *k = h->known; k; k = k->next)
        if (k->m.id == id)
            return &k->m;
    return NULL;
}

/* -ENOSYS: the kernel cannot be asked for one mount, the list is to be used. */
static int mount_of (struct guard_host *h, uint64_t id, const struct guard_mount **ret,
                     struct err *e)
{
    struct guard_known *k;
    int r;

    *ret = recall (h, id);
    if (*ret)
        return 0;
    k = arena_alloc (h->arena, sizeof *k);
    if (!k)
        return err_oom (e);
    r = h->by_list ? find_in_list (h, id, &k->m, e) : ask_one (h, id, &k->m);
    if (r == -ENOMEM)
        return err_oom (e);
    if (r < 0 && !h->by_list && r != -ENOSYS)
        return err_set (e, EXDEV, "it is in no mount of this mount namespace");
    if (r < 0)
        return r;
    k->next = h->known;
    h->known = k;
    *ret = &k->m;
    return 0;
}

/* ---- one path ---- */
/* Where FD's object is in the host's tree. */
static int place_of (struct guard_host *h, int fd, const char **ret, struct err *e)
{
    char link[FD_PATH_MAX], path[PATH_MAX];
    ssize_t n = readlink (fd_path (link, fd), path, sizeof path);

    if (n < 0)
        return err_sys (e, "readlink '%s'", link);
    if (n == sizeof path || path[0] != '/')
        return err_set (e, EXDEV, "it has no place in the host's tree");
    *ret = arena_strndup (h->arena, path, (size_t)n);
    return *ret ? 0 : err_oom (e);
}

static int inner_of (struct guard_host *h, const struct guard_mount *m, const char *place,
                     const char **ret, struct err *e)
{
    const char *rest = guard_rest (place, m->point);

    if (!rest)
        return err_set (e, EXDEV, "it is outside of the root");
    *ret = !*rest                       ? m->root
           : strcmp (m->root, "/") == 0 ? arena_printf (h->arena, "/%s", rest)
                                        : arena_printf (h->arena, "%s/%s", m->root, rest);
    return *ret ? 0 : err_oom (e);
}

static void describe (const struct statx *sx, struct guard_object *ret)
{
    *ret = (struct guard_object){ .has_id = true,
                                  .dev_major = sx->stx_dev_major,
                                  .dev_minor = sx->stx_dev_minor,
                                  .inode = sx->stx_ino,
                                  .mode = sx->stx_mode,
                                  .rdev_major = sx->stx_rdev_major,
                                  .rdev_minor = sx->stx_rdev_minor,
                                  .nlink = sx->stx_nlink,
                                  .uid = sx->stx_uid };
}

int guard_describe (struct guard_host *h, int fd, const char *place, struct guard_object *ret,
                    struct err *e)
{
    unsigned int id = h->by_list ? STATX_MNT_ID : STATX_MNT_ID | STATX_MNT_ID_UNIQUE;
    struct statx sx;
    int r;

    if (statx (fd, "", AT_EMPTY_PATH | AT_NO_AUTOMOUNT, STATX_BASIC_STATS | id, &sx) < 0)
        return err_sys (e, "statx");
    h->by_list = h->by_list || !(sx.stx_mask & STATX_MNT_ID_UNIQUE);
    describe (&sx, ret);
    ret->place = place;
    r = place ? 0 : place_of (h, fd, &ret->place, e);
    if (r == 0)
        r = mount_of (h, sx.stx_mnt_id, &ret->mount, e);
    if (r == -ENOSYS && !h->by_list) {
        h->by_list = true; /* a filter around us does not know statmount */
        return guard_describe (h, fd, place, ret, e);
    }
    return r < 0 ? r : inner_of (h, ret->mount, ret->place, &ret->inner, e);
}

int guard_open (struct guard_host *h, const char *path, bool nofollow, struct guard_object *ret,
                struct err *e)
{
    unsigned int flags = OPEN_TREE_CLOEXEC | (nofollow ? (unsigned int)AT_SYMLINK_NOFOLLOW : 0U);
    AUTO_FD fd = open_tree (AT_FDCWD, path, flags);
    int r;

    if (fd < 0)
        return err_sys (e, "open '%s'", path);
    r = guard_describe (h, fd, NULL, ret, e);
    return r < 0 ? r : TAKE_FD (fd);
}

bool guard_is_trusted (const char *path)
{
    struct stat st;

    return stat (path, &st) == 0 && S_ISDIR (st.st_mode) &&
           (st.st_uid == 0 || st.st_uid == geteuid ()) && !(st.st_mode & (S_IWGRP | S_IWOTH));
}
