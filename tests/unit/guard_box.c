#include "guard_box.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define BUNDLE "/bundle"

static void must (bool cond, const char *what, const char *path)
{
    if (cond)
        return;
    (void)printf ("Bail out! %s '%s': %s\n", what, path, strerror (errno));
    exit (EXIT_FAILURE);
}

bool box_start (void)
{
    static char dir[] = "/tmp/test_guard.XXXXXX";

    if (geteuid () != 0 || unshare (CLONE_NEWNS) < 0 ||
        mount ("", "/", "", MS_PRIVATE | MS_REC, "") < 0 || !mkdtemp (dir))
        return false;
    must (mount ("tmpfs", dir, "tmpfs", 0, "mode=0755") == 0, "mount", dir);
    must (rmdir (dir) < 0 && errno == EBUSY, "rmdir", dir);
    must (chroot (dir) == 0 && chdir ("/") == 0, "chroot", dir);
    box_folder (BUNDLE "/rootfs");
    box_folder ("/proc");
    must (mount ("proc", "/proc", "proc", 0, "") == 0, "mount", "/proc");
    return true;
}

const char *box_join (const char *folder, const char *name)
{
    static char paths[8][4096];
    static unsigned int next;
    char *path = paths[next++ % 8];

    (void)snprintf (path, sizeof paths[0], "%s/%s", strcmp (folder, "/") == 0 ? "" : folder, name);
    return path;
}

static void make_parents (const char *path)
{
    char *copy = strdup (path);

    must (copy, "strdup", path);
    for (char *slash = strchr (copy + 1, '/'); slash; slash = strchr (slash + 1, '/')) {
        *slash = '\0';
        (void)mkdir (copy, 0755);
        *slash = '/';
    }
    free (copy);
}

void box_folder (const char *path)
{
    make_parents (path);
    must (mkdir (path, 0755) == 0 || errno == EEXIST, "mkdir", path);
}

void box_file (const char *path)
{
    int fd;

    make_parents (path);
    fd = open (path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    must (fd >= 0, "open", path);
    (void)close (fd);
}

/* In its folder, since the address has room for a short name only. */
void box_socket (const char *path)
{
    struct sockaddr_un un = { .sun_family = AF_UNIX };
    int fd = socket (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const char *name = strrchr (path, '/') + 1;

    make_parents (path);
    (void)unlink (path);
    (void)snprintf (un.sun_path, sizeof un.sun_path, "/%s", name);
    must (fd >= 0 && bind (fd, (const struct sockaddr *)&un, sizeof un) == 0, "bind", path);
    must (rename (un.sun_path, path) == 0, "rename", path);
    (void)close (fd);
}

void box_link (const char *target, const char *path)
{
    make_parents (path);
    (void)unlink (path);
    must (symlink (target, path) == 0, "symlink", path);
}

void box_hard_link (const char *from, const char *to)
{
    make_parents (to);
    must (link (from, to) == 0, "link", to);
}

void box_bind (const char *from, const char *to)
{
    struct stat st;

    must (stat (from, &st) == 0, "stat", from);
    if (S_ISDIR (st.st_mode))
        box_folder (to);
    else
        box_file (to);
    must (mount (from, to, NULL, MS_BIND, NULL) == 0, "bind mount", to);
}

bool box_mount (const char *type, const char *to, const char *options)
{
    box_folder (to);
    return mount (type, to, type, 0, options) == 0;
}

void box_unmount (const char *path)
{
    must (umount2 (path, MNT_DETACH) == 0, "umount", path);
}

static int remove_one (const char *path, const struct stat *st, int type, struct FTW *f)
{
    (void)st;
    (void)type;
    (void)f;
    return remove (path);
}

void box_remove (const char *path)
{
    (void)nftw (path, remove_one, 32, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}

/* ---- looking ---- */
static size_t split (const char *options, char *buf, const char **ret)
{
    size_t n = 0;

    (void)strcpy (buf, options);
    for (char *o; (o = strsep (&buf, ","));)
        ret[n++] = o;
    return n;
}

static const char *keep (const char *s)
{
    static char kept[4][4096];
    static unsigned int next;
    char *to = kept[next++ % 4];

    (void)snprintf (to, sizeof kept[0], "%s", s);
    return to;
}

const struct guard_finding *box_look (const struct box_look *l, struct guard_finding *ret)
{
    const char *accept[] = { l->accept, NULL }, *own[] = { l->own, NULL };
    AUTO_ARENA a = { 0 };
    char buf[256];
    const char *options[16];
    struct oci_mount m = { .destination = "/x", .type = "bind", .source = l->source };
    struct oci_root root = { .path = l->rootfs ?: "rootfs" };
    struct oci_config c = { .mounts = &m, .n_mounts = 1, .root = &root };
    struct guard_request rq = { .config = &c, .bundle = BUNDLE, .accept = accept, .own = own };
    struct guard_findings f;
    struct err e = { 0 };

    m.options = options;
    m.n_options = split (l->options ?: "rbind", buf, options);
    if (guard_look_without (&rq, l->off, &a, &f, &e) < 0) {
        *ret = (struct guard_finding){ .rule = "error", .what = keep (e.msg) };
        return ret;
    }
    if (f.n == 0)
        return NULL;
    *ret = f.list[0];
    ret->what = keep (guard_text (ret, &a)); /* the others go with the arena */
    ret->how = keep (ret->how);
    return ret;
}

const bool *box_only (size_t row)
{
    static bool off[1024];

    memset (off, true, sizeof off);
    off[row] = false;
    return off;
}
