/*
 * The mount guard's rows, one by one: with that row alone a source is refused by every name that it
 * has, and with no row at all it passes; so a row that does nothing, or that another one makes up
 * for, shows.
 */
#include <fcntl.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "guard_box.h"
#include "tap.h"

#define NONE guard_n_rows

static const bool *none (void)
{
    return box_only (NONE);
}

/* PATH is refused by row I alone, and passes without it. */
static void refused_by (size_t i, const char *path, const char *name)
{
    box_expect (path, guard_rows[i].rule, box_only (i), name);
    box_expect (path, NULL, none (), "without the row");
}

static void passes (size_t i, const char *path, const char *name)
{
    box_expect (path, NULL, box_only (i), name);
}

static bool is_file (const struct guard_row *row)
{
    return row->scope == GUARD_SELF && strstr (row->rule, "socket");
}

/* ---- places ---- */
static void check_names (size_t i, const char *path)
{
    refused_by (i, path, "by its name");
    box_link (path, "/links/one");
    box_link ("../links/one", "/links/two");
    refused_by (i, "/links/two", "by two symbolic links");
    refused_by (i, box_join ("/proc/self/root", path + 1), "by /proc/self/root");
    box_bind (path, "/binds/it");
    refused_by (i, "/binds/it", "by another bind mount");
    box_unmount ("/binds/it");
    box_remove ("/binds");
}

static void check_above (size_t i, const char *path)
{
    char parent[256];

    (void)snprintf (parent, sizeof parent, "%.*s", (int)(strrchr (path, '/') - path), path);
    if (!parent[0])
        return;
    refused_by (i, parent, "its parent");
    box_bind ("/", "/binds/root");
    refused_by (i, box_join ("/binds/root", parent + 1), "its parent in another bind of the root");
    box_unmount ("/binds/root");
}

/* What lies in it: by place, and as a bind mount whose root lies below. */
static void check_below (size_t i, const char *path)
{
    enum guard_scope scope = guard_rows[i].scope;
    const char *child = box_join (path, "child");
    const char *deep = box_join (path, "child/deep");

    box_folder (deep);
    box_bind (deep, "/binds/deep");
    if (scope == GUARD_TREE || scope == GUARD_WRITABLE) {
        refused_by (i, child, "a folder in it");
        refused_by (i, "/binds/deep", "a bind of a folder in it");
    } else {
        passes (i, deep, "a folder deep in it");
        passes (i, "/binds/deep", "a bind of a folder deep in it");
    }
    if (scope == GUARD_CHILDREN)
        refused_by (i, child, "what is in it");
    if (scope == GUARD_SELF)
        passes (i, child, "what is in it");
    box_unmount ("/binds/deep");
}

static void check_overlay (size_t i, const char *path)
{
    char options[512];

    box_folder ("/nothing");
    (void)snprintf (options, sizeof options, "lowerdir=/nothing:%s", path);
    if (!ok (box_mount ("overlay", "/views/o", options), "overlay of %s", path))
        return;
    refused_by (i, "/views/o", "as the layer of an overlay");
    if (guard_rows[i].scope == GUARD_TREE)
        refused_by (i, "/views/o/child", "a folder in the layer of an overlay");
    box_unmount ("/views/o");
}

/* Under a folder that is bound with all that is mounted in it. */
static void check_carried (size_t i, const char *path)
{
    const struct box_look alone = { .source = "/project", .options = "bind", .off = box_only (i) };
    struct guard_finding f;

    box_folder ("/project/sub");
    box_bind (path, box_join ("/project/sub", is_file (&guard_rows[i]) ? "file" : "folder"));
    refused_by (i, "/project", "mounted in the source");
    (void)ok (!box_look (&alone, &f), "%s: mounted in the source of a bind that leaves it behind",
              path);
    box_unmount (box_join ("/project/sub", is_file (&guard_rows[i]) ? "file" : "folder"));
    box_remove ("/project");
}

static void check_path (size_t i)
{
    const char *path = guard_rows[i].text;

    if (is_file (&guard_rows[i]))
        box_file (path);
    else
        box_folder (path);
    check_names (i, path);
    check_above (i, path);
    check_carried (i, path);
    if (is_file (&guard_rows[i]))
        return;
    check_below (i, path);
    check_overlay (i, path);
}

static void check_paths (void)
{
    for (size_t i = 0; i < guard_n_rows; i++) {
        enum guard_kind kind = guard_rows[i].kind;
        const char *path = guard_rows[i].text;

        if ((kind != GUARD_PATH && kind != GUARD_ENGINE) || strcmp (path, "/") == 0 ||
            strcmp (path, "/proc") == 0)
            continue;
        check_path (i);
        box_expect (path, guard_rows[i].rule, NULL, "with all rows");
        if (kind == GUARD_ENGINE || guard_rows[i].scope == GUARD_TREE)
            box_remove (path);
    }
}

static size_t row_with (enum guard_kind kind, const char *text)
{
    for (size_t i = 0; i < guard_n_rows; i++)
        if (guard_rows[i].kind == kind && (!text || strcmp (guard_rows[i].text, text) == 0))
            return i;
    (void)ok (false, "there is a row '%s'", text);
    return NONE;
}

static void check_roots (void)
{
    size_t root = row_with (GUARD_PATH, "/"), proc = row_with (GUARD_PATH, "/proc");

    box_link ("/", "/links/root");
    box_bind ("/", "/binds/root");
    refused_by (root, "/", "");
    refused_by (root, "/links/root", "by a link");
    refused_by (root, "/proc/self/root", "by /proc/self/root");
    refused_by (root, "/binds/root", "by a bind mount");
    refused_by (root, "/proc/../links/root/.", "by a crooked path");
    passes (root, "/links", "a folder in the root");
    box_unmount ("/binds/root");
    refused_by (proc, "/proc", "");
    refused_by (proc, "/proc/sys", "a folder in it");
    box_bind ("/proc/sys/kernel", "/binds/kernel");
    refused_by (proc, "/binds/kernel", "a bind of a folder in it");
    box_unmount ("/binds/kernel");
}

static void check_writable (void)
{
    struct box_look l = { .source = "/etc/thing", .options = "rbind,ro" };
    struct guard_finding f;

    box_file ("/etc/thing");
    (void)ok (!box_look (&l, &f), "a file of /etc passes read-only");
    l.options = "rbind,rro";
    (void)ok (!box_look (&l, &f), "and recursively read-only");
    l.options = "rbind,ro,rw";
    (void)ok (box_look (&l, &f), "and not when the last word is 'rw'");
    l = (struct box_look){ .source = "/etc", .options = "rbind,ro" };
    (void)ok (box_look (&l, &f), "/etc itself does not pass read-only");
}

/* ---- types ---- */
static void check_kind (size_t i)
{
    mode_t mode = guard_rows[i].number[0];

    box_folder ("/kinds");
    if (mode == S_IFSOCK)
        box_socket ("/kinds/it");
    else
        (void)mknod ("/kinds/it", mode | 0600, makedev (10, 229));
    refused_by (i, "/kinds/it", guard_rows[i].text);
    box_hard_link ("/kinds/it", "/kinds/second");
    refused_by (i, "/kinds/second", "by a hard link");
    box_bind ("/kinds/it", "/binds/kind");
    refused_by (i, "/binds/kind", "by a bind mount");
    box_unmount ("/binds/kind");
    box_remove ("/kinds");
    box_remove ("/binds");
}

/* Many kernels lack some of these file systems: what the row says of one is asked of it itself. */
static void check_type (size_t i)
{
    const struct guard_mount m = { .type = guard_rows[i].text };
    struct guard_source s = { .o = { .place = "/somewhere", .mount = &m }, .off = box_only (i) };
    const struct guard_mount other = { .type = "ext4" };

    (void)ok (guard_is_type (&guard_rows[i], &s), "type %s", m.type);
    s.o.mount = &other;
    (void)ok (!guard_is_type (&guard_rows[i], &s), "type %s is not ext4", m.type);
    if (!box_mount (m.type, "/types/it", "")) {
        (void)printf ("# %s cannot be mounted here\n", m.type);
        return;
    }
    refused_by (i, "/types/it", m.type);
    box_folder ("/project/types");
    box_bind ("/types/it", "/project/types");
    refused_by (i, "/project", "mounted in the source");
    box_unmount ("/project/types");
    box_unmount ("/types/it");
}

static void check_device (size_t i)
{
    size_t chr = row_with (GUARD_KIND, "S_IFCHR");
    bool both[1024];

    memcpy (both, box_only (i), sizeof both);
    both[chr] = false;
    box_folder ("/devices");
    (void)mknod ("/devices/it", S_IFCHR | 0666,
                 makedev (guard_rows[i].number[0], guard_rows[i].number[1]));
    box_expect ("/devices/it", NULL, both, guard_rows[i].text);
    box_expect ("/devices/it", "device", box_only (chr), "without the row");
    box_expect ("/devices/it", NULL, NULL, "with all rows");
    box_remove ("/devices");
}

static void check_types (void)
{
    for (size_t i = 0; i < guard_n_rows; i++)
        if (guard_rows[i].kind == GUARD_KIND)
            check_kind (i);
        else if (guard_rows[i].kind == GUARD_TYPE)
            check_type (i);
        else if (guard_rows[i].kind == GUARD_DEVICE)
            check_device (i);
}

/* ---- names ---- */
static void check_name (size_t i)
{
    const struct guard_row *row = &guard_rows[i];
    const char *path = box_join ("/data/someone", row->text);

    box_file (box_join (path, "child"));
    refused_by (i, path, "by its name");
    if (!row->layout)
        refused_by (i, box_join (path, "child"), "what is in it");
    box_link (path, "/links/name");
    refused_by (i, "/links/name", "by a link");
    box_bind (path, "/binds/name");
    refused_by (i, "/binds/name", "by a bind mount");
    box_unmount ("/binds/name");
    box_bind (box_join (path, "child"), "/binds/child");
    refused_by (i, "/binds/child", "by a bind mount of what is in it");
    box_unmount ("/binds/child");
    if (row->scope == GUARD_FILE)
        passes (i, "/data/someone", "the folder around it");
    else
        refused_by (i, "/data/someone", "the folder around it");
    if (row->scope != GUARD_FILE && strchr (row->text, '/')) {
        char half[512];

        (void)snprintf (half, sizeof half, "%.*s", (int)(strrchr (path, '/') - path), path);
        refused_by (i, half, "half of its name");
    }
    box_expect (path, row->rule, NULL, "with all rows");
    box_folder (box_join ("/data/someone/x", row->text + 1));
    passes (i, box_join ("/data/someone/x", row->text + 1), "a name that is not the same");
    box_remove ("/data");
    box_remove ("/binds");
}

static void check_socket_name (size_t i)
{
    const char *path = box_join ("/data/sockets", guard_rows[i].text);

    box_file (path);
    passes (i, "/data/sockets", "a file that is called like a socket");
    box_socket (path);
    refused_by (i, "/data/sockets", "a folder with the socket in it");
    passes (i, "/data", "a folder further up");
    box_remove ("/data");
}

static void check_all_names (void)
{
    for (size_t i = 0; i < guard_n_rows; i++)
        if (guard_rows[i].kind == GUARD_NAME)
            check_name (i);
        else if (guard_rows[i].kind == GUARD_SOCKET)
            check_socket_name (i);
}

/* ---- homes, agentrt's own, accepted ---- */
static void write_file (const char *path, const char *text)
{
    AUTO_FD fd = -1;

    box_file (path);
    fd = open (path, O_WRONLY | O_TRUNC | O_CLOEXEC);
    (void)ok (fd >= 0 && write (fd, text, strlen (text)) == (ssize_t)strlen (text), "%s", path);
}

static void check_homes (void)
{
    size_t row = row_with (GUARD_HOME, NULL);

    write_file ("/etc/passwd",
                "daemon:x:1:1::/usr/sbin:/bin/sh\nann:x:1000:1000::/data/homes/ann:\n"
                "db:x:70:70::/data/db/:\nbroken\nx:y:z:::/data/x:\n"
                "none:x:1001:1::/nonexistent:\nrootlike:x:1002:1::/:\n");
    box_folder ("/data/homes/ann/project");
    box_folder ("/data/db");
    box_folder ("/data/x");
    box_folder ("/usr/sbin");
    passes (row, "/data/db", "a home that does not belong to its account");
    (void)ok (chown ("/data/db", 70, 70) == 0, "chown");
    refused_by (row, "/data/db", "the home of a service");
    refused_by (row, "/data/homes/ann", "the home of a person");
    refused_by (row, "/data/homes", "what holds homes");
    refused_by (row, "/data", "what holds what holds homes");
    passes (row, "/data/homes/ann/project", "a folder in a home");
    passes (row, "/data/x", "the home in a line that is none");
    passes (row, "/usr/sbin", "the system's folder of an account");
    passes (row, "/links", "the root as a home");
    box_remove ("/data");
}

static void check_own (void)
{
    const char *rule = guard_rows[row_with (GUARD_OWN, NULL)].rule;
    struct box_look l = { .source = "/mine/state/x", .own = "/mine/state" };
    struct guard_finding f;

    box_folder (l.source);
    (void)ok (box_look (&l, &f) && strcmp (f.rule, rule) == 0, "the state root is refused");
    l.source = "/mine";
    (void)ok (box_look (&l, &f) && strcmp (f.rule, rule) == 0, "and what holds it");
    l.off = none ();
    (void)ok (!box_look (&l, &f), "but not without the row");
    l = (struct box_look){ .source = "/mine/state/x" };
    (void)ok (!box_look (&l, &f), "and not when it is somewhere else");
}

static void check_accept (void)
{
    struct box_look l = { .source = "/data/.ssh", .accept = "/data/.ssh" };
    struct guard_finding f;

    box_folder ("/data/.ssh/child");
    box_bind ("/data/.ssh", "/binds/ssh");
    box_link ("/data/.ssh", "/links/ssh");
    (void)ok (!box_look (&l, &f), "what the policy accepts passes");
    l.accept = "/binds/ssh";
    (void)ok (!box_look (&l, &f), "by whatever name it is accepted");
    l.accept = "/links/ssh";
    (void)ok (!box_look (&l, &f), "by a link");
    l.accept = "/data/.ssh/child";
    (void)ok (box_look (&l, &f), "what is in it is something else");
    l.accept = "/data";
    (void)ok (box_look (&l, &f), "what holds it is something else");
    l.accept = "/missing";
    (void)ok (box_look (&l, &f), "something that is not there accepts nothing");
    box_unmount ("/binds/ssh");
}

/* ---- hard links ---- */
static void check_links (void)
{
    struct box_look l = { .source = "/work/harmless" };
    struct guard_finding f;

    write_file ("/etc/passwd", "ann:x:1000:1000::/home/ann:\n");
    box_file ("/home/ann/.ssh/anykey");
    box_file ("/home/ann/.netrc");
    box_folder ("/work");
    (void)ok (chown ("/home/ann/.ssh/anykey", 1000, 1000) == 0 &&
                  chown ("/home/ann/.netrc", 1000, 1000) == 0 &&
                  chown ("/home/ann", 1000, 1000) == 0,
              "chown");
    box_hard_link ("/home/ann/.ssh/anykey", "/work/harmless");
    (void)ok (box_look (&l, &f), "a hard link of a file in .ssh");
    (void)unlink ("/work/harmless");
    box_hard_link ("/home/ann/.netrc", "/work/harmless");
    (void)ok (box_look (&l, &f), "a hard link of a credential file");
    (void)unlink ("/work/harmless");
    box_file ("/etc/shadow");
    box_hard_link ("/etc/shadow", "/work/harmless");
    (void)ok (box_look (&l, &f), "a hard link of /etc/shadow");
    (void)unlink ("/work/harmless");
    box_file ("/etc/ssl/private/key");
    box_hard_link ("/etc/ssl/private/key", "/work/harmless");
    (void)ok (box_look (&l, &f), "a hard link of a private key");
    (void)unlink ("/work/harmless");
    box_file ("/work/other");
    box_hard_link ("/work/other", "/work/harmless");
    (void)ok (!box_look (&l, &f), "a hard link of anything else passes");
    box_remove ("/work");
}

static void check_socket_links (void)
{
    size_t row = row_with (GUARD_PATH, "/run/docker.sock");

    box_folder ("/work/deep");
    box_socket ("/run/docker.sock");
    passes (row, "/work", "a folder beside the socket");
    box_hard_link ("/run/docker.sock", "/work/deep/x");
    refused_by (row, "/work", "a folder that holds a second name of it");
    refused_by (row, "/work/deep/x", "the second name");
    (void)unlink ("/work/deep/x");
    passes (row, "/work", "once it is gone");
    box_remove ("/run/docker.sock");
}

/* ---- what else there is ---- */
static void check_harmless (void)
{
    struct box_look l = { .source = "/data/project" };
    struct guard_finding f;

    box_folder ("/data/project/.git");
    box_file ("/data/project/.npmrc");
    (void)ok (!box_look (&l, &f), "a project folder passes");
    l.source = "/data/none";
    (void)ok (!box_look (&l, &f), "what is not there passes: it cannot be mounted");
    (void)ok (box_mount ("tmpfs", "/mnt/ram", ""), "a user's tmpfs");
    l.source = "/mnt/ram";
    (void)ok (!box_look (&l, &f), "a user's tmpfs passes");
    l.source = "rootfs/x";
    (void)ok (!box_look (&l, &f), "a relative source counts from the bundle");
    box_link ("/", "/bundle/x");
    l.source = "x";
    (void)ok (box_look (&l, &f) && strcmp (f.rule, "host-root") == 0, "and is looked at there");
    l.options = "bind,src-nofollow";
    (void)ok (!box_look (&l, &f), "a link that is bound itself opens nothing");
    (void)ok (mkdir ("/deep", 0700) == 0 && box_mount ("tmpfs", "/deep/a\\b c\td", ""),
              "a mount with blanks");
    l = (struct box_look){ .source = "/deep/a\\b c\td" };
    (void)ok (!box_look (&l, &f), "a name with blanks passes");
}

/* A mount of another namespace, whose place nobody here can tell. */
static void check_unseen (void)
{
    struct box_look l = { .source = "/proc/self/fd/99" };
    struct guard_finding f;
    AUTO_FD fd = open_tree (AT_FDCWD, "/data/project", OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);

    (void)dup2 (fd, 99);
    (void)ok (box_look (&l, &f) && strcmp (f.rule, "unseen") == 0,
              "a mount of nobody cannot be looked at, and is refused");
    (void)close (99);
}

/* A row's path may be a link on this host: what it leads to is protected. */
static void check_linked_row (void)
{
    size_t row = row_with (GUARD_ENGINE, "/var/lib/docker");

    box_folder ("/disk/docker/overlay2");
    box_link ("/disk/docker", "/var/lib/docker");
    refused_by (row, "/disk/docker/overlay2", "data behind a link");
    refused_by (row, "/disk", "what holds it");
    (void)unlink ("/var/lib/docker");
    box_remove ("/disk");
}

static bool same_text (const char *a, const char *b)
{
    return a && b && strcmp (a, b) == 0;
}

/* Before Linux 6.8 the list of all mounts has to say what a single question says since. */
static void check_by_list (void)
{
    static const char *const paths[] = { "/", "/proc/sys", "/links", "/list/a b/deep" };

    box_folder ("/list/from/deep");
    box_bind ("/list/from", "/list/a b");
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        AUTO_ARENA a = { 0 };
        struct guard_host asked = { .arena = &a }, listed = { .arena = &a, .by_list = true };
        struct guard_object one, two;
        struct err e = { 0 };
        AUTO_FD fd1 = guard_open (&asked, paths[i], false, &one, &e);
        AUTO_FD fd2 = guard_open (&listed, paths[i], false, &two, &e);

        (void)ok (fd1 >= 0 && fd2 >= 0 && same_text (one.place, two.place) &&
                      same_text (one.inner, two.inner) &&
                      same_text (one.mount->type, two.mount->type) &&
                      same_text (one.mount->point, two.mount->point) &&
                      one.mount->major == two.mount->major && one.mount->minor == two.mount->minor,
                  "%s: the list and the question agree (%s)", paths[i], e.msg);
        (void)ok (listed.listed && (asked.by_list || !asked.listed),
                  "and the question reads no list");
    }
    box_unmount ("/list/a b");
}

static void check_pure (void)
{
    (void)ok (guard_fits ("a/b", "a/*") && !guard_fits ("a/b/c", "a/*") && !guard_fits ("a", "a/*"),
              "* is one component");
    (void)ok (guard_fits ("a", "a/**") && guard_fits ("a/b/c", "a/**") && !guard_fits ("b", "a/**"),
              "** is all below, and the folder");
    (void)ok (guard_fits ("0123456789ab", "@") && !guard_fits ("0123456789a", "@") &&
                  !guard_fits ("0123456789aX", "@"),
              "@ is an id");
    (void)ok (!guard_fits ("", "a") && guard_fits ("", "") && !guard_fits ("a", ""), "empty");
    (void)ok (!guard_rest ("/ab", "/a") && !*guard_rest ("/a", "/a") && *guard_rest ("/a/b", "/"),
              "below is by components");
    (void)ok (guard_after_name ("/x/.ssh", ".ssh") && guard_after_name ("/.ssh/k", ".ssh") &&
                  !guard_after_name ("/x.ssh", ".ssh") && !guard_after_name ("/.sshx", ".ssh"),
              "names are whole components");
}

int main (void)
{
    check_pure ();
    if (!box_start ()) {
        (void)printf ("1..0 # SKIP needs root and a mount namespace\n");
        return 0;
    }
    (void)ok (guard_n_rows < 1024, "the tests have room for all rows");
    check_roots ();
    check_paths ();
    check_writable ();
    check_types ();
    check_all_names ();
    check_homes ();
    check_own ();
    check_accept ();
    check_links ();
    check_socket_links ();
    check_harmless ();
    check_linked_row ();
    check_by_list ();
    check_unseen ();
    return tap_done ();
}
