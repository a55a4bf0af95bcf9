#include "mnt_box.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "mnt/mnt.h"
#include <sys/ioctl.h>

#define WORDS_MAX  4096
#define MOUNTS_MAX 32
#define OUTSIDE_ID 100000
#define USER_ID    1000

static const char std_mounts[] =
    "/proc proc proc nosuid,noexec,nodev;"
    "/dev tmpfs tmpfs nosuid,strictatime,mode=755,size=65536k;"
    "/dev/pts devpts devpts nosuid,noexec,newinstance,ptmxmode=0666,mode=0620;";

static const struct plan_device std_devices[] = {
    { "/dev/null", S_IFCHR, 1, 3, 0666, 0, 0, true },
    { "/dev/zero", S_IFCHR, 1, 5, 0666, 0, 0, true },
    { "/dev/tty", S_IFCHR, 5, 0, 0666, 0, 0, true },
};

/* Everything a test keeps of "the host". */
struct host {
    char dir[64];
    char *mountinfo;
    char *canary;
};
static struct host host;

/* ---- the host ---- */

static char *read_command (const char *command)
{
    FILE *f = popen (command, "r");
    char *text = calloc (1, 1 << 20);

    if (f && text)
        text[fread (text, 1, (1 << 20) - 1, f)] = '\0';
    if (f)
        (void)pclose (f);
    return text;
}

static char *look_at_canary (void)
{
    char command[300];

    (void)snprintf (command, sizeof command,
                    "cd %s/canary && find . -printf '%%p %%i %%m %%U %%s %%l %%T@ %%C@\\n' | sort "
                    "&& cat secret",
                    host.dir);
    return read_command (command);
}

static int shell (const char *script)
{
    char command[8192];

    (void)snprintf (command, sizeof command, "set -e; D=%s; cd $D; %s", host.dir, script);
    return system (command);
}

const char *box_dir (void)
{
    return host.dir;
}

/* What a test mounts for itself on "the host" is below $D/m. */
static const char make_rootfs[] =
    "if [ -e m ]; then grep -o \" $D/m[^ ]*\" /proc/self/mountinfo | sort -r | xargs -r umount;"
    "rm -r m; fi; rm -rf bundle/rootfs; cp -al template bundle/rootfs";

/* Shared, as systemd makes the host's root: the worst case for leaks. */
static const char make_host[] =
    "mkdir template; cd template; mkdir bin dev proc sys tmp etc; chmod 1777 tmp;"
    "cp /bin/busybox bin/; for a in sh ls cat stat touch mkdir mount umount grep sed readlink echo "
    "test "
    "sort find wc awk id chmod dd tty chown head ln rm cut tr uniq rmdir seq; do ln -s busybox "
    "bin/$a; done; cd "
    "..;"
    "mkdir -p canary/dir vol bundle; echo secret >canary/secret; chmod 0755 . canary;"
    "echo hello >vol/file; mkdir vol/dir; echo inner >vol/dir/inner";

bool box_start (void)
{
    AUTO_FD tree = open_tree (AT_FDCWD, "/", OPEN_TREE_CLOEXEC);

    (void)strcpy (host.dir, "/tmp/test_mnt.XXXXXX");
    if (tree < 0 || geteuid () != 0 || !mkdtemp (host.dir))
        return false;
    if (unshare (CLONE_NEWNS) < 0 || mount ("", "/", "", MS_PRIVATE | MS_REC, "") < 0 ||
        mount ("tmpfs", host.dir, "tmpfs", 0, "mode=0755") < 0 ||
        mount ("", "/", "", MS_SHARED | MS_REC, "") < 0) {
        (void)rmdir (host.dir);
        return false;
    }
    if (shell (make_host) != 0)
        return false;
    host.mountinfo = read_command ("cat /proc/self/mountinfo");
    host.canary = look_at_canary ();
    return true;
}

bool box_host_is_unchanged (void)
{
    bool cleaned = shell (make_rootfs) == 0;
    AUTO_FREE char *mounts = read_command ("cat /proc/self/mountinfo");
    AUTO_FREE char *canary = look_at_canary ();
    bool same =
        cleaned && strcmp (mounts, host.mountinfo) == 0 && strcmp (canary, host.canary) == 0;

    if (!same)
        (void)printf ("# mounts now:\n%s# canary now:\n%s", mounts, canary);
    return same;
}

void box_end (void)
{
    free (host.mountinfo);
    free (host.canary);
    (void)umount2 (host.dir, MNT_DETACH);
    (void)rmdir (host.dir);
}

/* ---- the plan ---- */

struct box_plan {
    struct arena arena;
    struct plan plan;
    struct plan_mount mounts[MOUNTS_MAX];
    struct plan_device devices[16];
    struct plan_idmap map;
};

/* Splits TEXT at any of SEPARATORS; returns the number of words. */
static size_t split (char *text, const char *separators, char **words)
{
    char *save = NULL;
    size_t n = 0;

    for (char *w = strtok_r (text, separators, &save); w && n < WORDS_MAX;
         w = strtok_r (NULL, separators, &save))
        words[n++] = w;
    return n;
}

/* TEXT with $D replaced. */
static char *expand (struct arena *a, const char *text)
{
    const char *d = strstr (text, "$D");

    return d ? arena_printf (a, "%.*s%s%s", (int)(d - text), text, host.dir, expand (a, d + 2))
             : arena_strdup (a, text);
}

/* "map=INSIDE:OUTSIDE:COUNT" stands for uidMappings and gidMappings; it is cut out of the
 * options. */
static void take_mapping (struct oci_mount *m, char **option, struct oci_id_mapping *map)
{
    for (size_t i = 0; i < m->n_options; i++) {
        if (sscanf (option[i], "map=%u:%u:%u", &map->container_id, &map->host_id, &map->size) != 3)
            continue;
        m->uid_mappings = m->gid_mappings = map;
        m->n_uid_mappings = m->n_gid_mappings = 1;
        option[i] = option[--m->n_options];
    }
}

static int add_mount (struct box_plan *bp, char *line, struct err *e)
{
    struct oci_id_mapping map;
    char *field[WORDS_MAX], *option[WORDS_MAX];
    const struct mntopt_context where = { .index = bp->plan.n_mounts,
                                          .bundle =
                                              arena_printf (&bp->arena, "%s/bundle", host.dir) };
    size_t n = split (line, " ", field);
    struct oci_mount m = { .destination = n > 0 ? field[0] : NULL };

    if (n == 0)
        return 0;
    m.type = n > 1 && strcmp (field[1], "-") != 0 ? field[1] : NULL;
    m.source = n > 2 && strcmp (field[2], "-") != 0 ? field[2] : NULL;
    m.n_options = n > 3 ? split (field[3], ",", option) : 0;
    take_mapping (&m, option, &map);
    m.options = (const char *const *)option;
    return mntopt_parse (&m, &where, &bp->arena, &bp->mounts[bp->plan.n_mounts++], e);
}

static int add_mounts (struct box_plan *bp, const char *text, struct err *e)
{
    char *line[WORDS_MAX];
    size_t n = split (expand (&bp->arena, text ?: ""), ";", line);
    int r = 0;

    for (size_t i = 0; r == 0 && i < n; i++)
        r = add_mount (bp, line[i], e);
    bp->plan.mounts = bp->mounts;
    return r;
}

static void add_devices (struct box_plan *bp, const char *text)
{
    char *line[WORDS_MAX], *field[WORDS_MAX];
    size_t n = split (expand (&bp->arena, text ?: ""), ";", line);

    memcpy (bp->devices, std_devices, sizeof std_devices);
    bp->plan.n_devices = ARRAY_LEN (std_devices);
    for (size_t i = 0; i < n; i++)
        if (split (line[i], " ", field) == 7)
            bp->devices[bp->plan.n_devices++] = (struct plan_device){
                .path = field[0],
                .type = *field[1] == 'c'   ? S_IFCHR
                        : *field[1] == 'b' ? S_IFBLK
                                           : S_IFIFO,
                .major = (uint32_t)atoi (field[2]),
                .minor = (uint32_t)atoi (field[3]),
                .mode = (mode_t)strtoul (field[4], NULL, 8),
                .uid = (uid_t)atoi (field[5]),
                .gid = (gid_t)atoi (field[6]),
            };
    bp->plan.devices = bp->devices;
}

static const char *const *split_paths (struct arena *a, const char *text, size_t *ret_n)
{
    char **words = arena_calloc (a, WORDS_MAX, sizeof *words);

    *ret_n = split (arena_strdup (a, text ?: ""), " ", words);
    return (const char *const *)words;
}

static void set_namespaces (struct box_plan *bp, unsigned int flags)
{
    struct plan *p = &bp->plan;

    p->ns[NS_MOUNT].mode = flags & BOX_NO_MOUNTNS ? NS_INHERIT : NS_MAKE;
    p->ns[NS_PID].mode = NS_MAKE;
    p->ns[NS_IPC].mode = NS_MAKE;
    p->ns[NS_NET].mode = flags & BOX_NETNS ? NS_MAKE : NS_INHERIT;
    p->ns[NS_CGROUP].mode = flags & BOX_CGROUPNS ? NS_MAKE : NS_INHERIT;
    if (!(flags & (BOX_USERNS | BOX_ROOTLESS)))
        return;
    p->ns[NS_USER].mode = NS_MAKE;
    bp->map = flags & BOX_USERNS ? (struct plan_idmap){ 0, OUTSIDE_ID, 65536 }
                                 : (struct plan_idmap){ 0, USER_ID, 1 };
    p->idmaps = (struct plan_idmaps){ &bp->map, &bp->map, 1, 1 };
}

static int make_plan (const struct box *b, struct box_plan *bp, struct err *e)
{
    struct plan *p = &bp->plan;
    int r = 0;

    set_namespaces (bp, b->flags);
    p->bundle = arena_printf (&bp->arena, "%s/bundle", host.dir);
    p->rootfs = arena_printf (&bp->arena, "%s/bundle/rootfs", host.dir);
    p->rootfs_readonly = b->flags & BOX_READONLY;
    p->rootfs_propagation = b->propagation;
    p->no_pivot = b->flags & BOX_NO_PIVOT;
    p->process.cwd = b->cwd ?: "/";
    p->process.terminal = b->flags & BOX_TERMINAL;
    p->masked = split_paths (&bp->arena, b->masked, &p->n_masked);
    p->readonly = split_paths (&bp->arena, b->readonly, &p->n_readonly);
    add_devices (bp, b->devices);
    if (!(b->flags & BOX_NO_STD))
        r = add_mounts (bp, std_mounts, e);
    return r < 0 ? r : add_mounts (bp, b->mounts, e);
}

/* ---- inside ---- */

typedef int (*step_fn) (struct mnt *m, struct err *e);

struct step {
    const char *name;
    step_fn act, check;
};

static int open_terminal (struct mnt *m, struct err *e)
{
    AUTO_FD ptmx = m->plan->process.terminal ? mnt_open_ptmx (m, e) : -1;
    AUTO_FD peer = -1;

    if (!m->plan->process.terminal || ptmx < 0)
        return ptmx < -1 ? ptmx : 0;
    if (unlockpt (ptmx) < 0)
        return err_sys (e, "unlockpt");
    peer = ioctl (ptmx, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (peer < 0)
        return err_sys (e, "TIOCGPTPEER");
    if (dup (ptmx) < 0) /* kept open across exec, as the engine keeps it */
        return err_sys (e, "dup");
    return mnt_console (m, peer, e);
}

static const struct step steps[] = {
    { "private", mnt_private, mnt_private_check },
    { "root_attach", mnt_root_attach, mnt_root_attach_check },
    { "root_flags", mnt_root_flags, mnt_root_flags_check },
    { "mounts", mnt_mounts, mnt_mounts_check },
    { "devices", mnt_devices, mnt_devices_check },
    { "cwd_make", mnt_cwd_make, mnt_cwd_make_check },
    { "pivot", mnt_pivot, mnt_pivot_check },
    { "terminal", open_terminal, NULL },
    { "readonly_paths", mnt_readonly_paths, mnt_readonly_paths_check },
    { "masked", mnt_masked, mnt_masked_check },
    { "late_readonly", mnt_late_readonly, mnt_late_readonly_check },
    { "root_readonly", mnt_root_readonly, mnt_root_readonly_check },
    { "root_propagation", mnt_root_propagation, mnt_root_propagation_check },
};

static bool is_wanted (const struct plan *p, const char *step)
{
    if (p->ns[NS_MOUNT].mode == NS_INHERIT)
        return strcmp (step, "root_attach") == 0 || strcmp (step, "devices") == 0 ||
               strcmp (step, "cwd_make") == 0 || strcmp (step, "pivot") == 0;
    if (strcmp (step, "root_propagation") == 0)
        return p->rootfs_propagation != 0;
    if (strcmp (step, "root_flags") == 0)
        return p->rootfs_nosuid || p->rootfs_nodev;
    return strcmp (step, "root_readonly") != 0 || p->rootfs_readonly;
}

static int run_steps (const struct plan *p, struct mnt_sources *src, struct err *e)
{
    struct mnt m = { .plan = p, .src = src, .root = -1, .dev = -1 };
    int r = 0;

    for (size_t i = 0; r == 0 && i < ARRAY_LEN (steps); i++) {
        if (!is_wanted (p, steps[i].name))
            continue;
        r = steps[i].act (&m, e);
        if (r == 0 && steps[i].check)
            r = steps[i].check (&m, e);
    }
    return r;
}

/* Ends with status 0 (then the script's output is in the pipe) or 99 (then an error is). */
_Noreturn static void inside (const struct box *b, const struct box_plan *bp,
                              struct mnt_sources *src, int out)
{
    struct err e = { 0 };

    umask (077); /* of some caller: must not show in anything that is made */
    if (run_steps (&bp->plan, src, &e) < 0) {
        (void)fd_write_all (out, e.msg, strlen (e.msg));
        _exit (99);
    }
    if (!b->script)
        _exit (0);
    (void)dup2 (out, STDOUT_FILENO);
    (void)dup2 (out, STDERR_FILENO);
    (void)execl ("/bin/busybox", "sh", "-c", b->script, NULL);
    _exit (98);
}

static unsigned int clone_flags (const struct plan *p)
{
    static const unsigned int flag[NS_COUNT] = {
        [NS_USER] = CLONE_NEWUSER, [NS_MOUNT] = CLONE_NEWNS, [NS_PID] = CLONE_NEWPID,
        [NS_NET] = CLONE_NEWNET,   [NS_IPC] = CLONE_NEWIPC,  [NS_CGROUP] = CLONE_NEWCGROUP,
    };
    unsigned int flags = 0;

    for (int i = 0; i < NS_COUNT; i++)
        flags |= p->ns[i].mode == NS_MAKE ? flag[i] : 0;
    return flags;
}

/* The process that leaves for the new namespaces; its child is process 1 of the box. */
_Noreturn static void middle (const struct box *b, const struct box_plan *bp,
                              struct mnt_sources *src, const int fds[4])
{
    int out = fds[0], tell = fds[1], await = fds[2];
    char byte = 0;
    pid_t pid;
    int status = 0;

    if (unshare ((int)clone_flags (&bp->plan)) < 0 || write (tell, &byte, 1) != 1 ||
        read (await, &byte, 1) != 1)
        _exit (97);
    if (bp->plan.idmaps.n_uid && (setresgid (0, 0, 0) < 0 || setresuid (0, 0, 0) < 0))
        _exit (96);
    pid = fork ();
    if (pid == 0)
        inside (b, bp, src, out);
    (void)waitpid (pid, &status, 0);
    _exit (WIFEXITED (status) ? WEXITSTATUS (status) : 95);
}

static void write_file (pid_t pid, const char *name, const char *text)
{
    char path[64];
    int fd;

    (void)snprintf (path, sizeof path, "/proc/%d/%s", (int)pid, name);
    fd = open (path, O_WRONLY | O_CLOEXEC);
    if (fd < 0 || write (fd, text, strlen (text)) < 0)
        (void)printf ("# %s: %s\n", path, strerror (errno));
    cleanup_fd (&fd);
}

static void write_maps (const struct box_plan *bp, pid_t pid)
{
    char text[64];

    if (!bp->plan.idmaps.n_uid)
        return;
    (void)snprintf (text, sizeof text, "%u %u %u\n", bp->map.inside, bp->map.outside,
                    bp->map.count);
    if (bp->map.count == 1)
        write_file (pid, "setgroups", "deny");
    write_file (pid, "uid_map", text);
    write_file (pid, "gid_map", text);
}

static void collect (int fd, struct box_result *ret)
{
    size_t len = 0;
    ssize_t n;

    while (len < sizeof ret->text - 1 &&
           (n = read (fd, ret->text + len, sizeof ret->text - 1 - len)) > 0)
        len += (size_t)n;
    ret->text[len] = '\0';
}

static void run_prepared (const struct box *b, const struct box_plan *bp, struct mnt_sources *src,
                          struct box_result *ret)
{
    int out[2], told[2], go[2];
    char byte = 0;
    int status = 0;
    pid_t pid;

    if (pipe2 (out, O_CLOEXEC) < 0 || pipe2 (told, O_CLOEXEC) < 0 || pipe2 (go, O_CLOEXEC) < 0)
        return;
    pid = fork ();
    if (pid == 0) {
        const int fds[4] = { out[1], told[1], go[0] };

        middle (b, bp, src, fds);
    }
    (void)close (out[1]);
    (void)close (told[1]);
    if (read (told[0], &byte, 1) == 1) {
        write_maps (bp, pid);
        (void)!write (go[1], &byte, 1);
    }
    collect (out[0], ret);
    (void)waitpid (pid, &status, 0);
    ret->failed = !WIFEXITED (status) || WEXITSTATUS (status) >= 95;
    (void)close (out[0]);
    (void)close (told[0]);
    (void)close (go[0]);
    (void)close (go[1]);
}

static void run_here (const struct box *b, struct box_result *ret)
{
    struct box_plan bp = { 0 };
    struct mnt_sources src = MNT_SOURCES_NONE;
    struct err e = { 0 };
    int r = make_plan (b, &bp, &e);

    if (r == 0)
        r = mnt_prepare (&bp.plan, &bp.arena, &src, &e);
    if (r < 0) {
        ret->failed = true;
        (void)snprintf (ret->text, sizeof ret->text, "%s", e.msg);
    } else {
        run_prepared (b, &bp, &src, ret);
    }
    mnt_sources_close (&src);
    arena_free (&bp.arena);
}

/* As user 1000, in a process of its own; the result comes back through a pipe. */
static void run_as_user (const struct box *b, struct box_result *ret)
{
    int p[2];
    pid_t pid;

    if (pipe2 (p, O_CLOEXEC) < 0)
        return;
    pid = fork ();
    if (pid == 0) {
        if (setgroups (0, NULL) < 0 || setresgid (USER_ID, USER_ID, USER_ID) < 0 ||
            setresuid (USER_ID, USER_ID, USER_ID) < 0 || prctl (PR_SET_DUMPABLE, 1) < 0)
            _exit (1);
        run_here (b, ret);
        (void)fd_write_all (p[1], ret, sizeof *ret);
        _exit (0);
    }
    (void)close (p[1]);
    for (size_t len = 0; len < sizeof *ret;) {
        ssize_t n = read (p[0], (char *)ret + len, sizeof *ret - len);

        if (n <= 0)
            break;
        len += (size_t)n;
    }
    (void)close (p[0]);
    (void)waitpid (pid, NULL, 0);
}

void box_run (const struct box *b, struct box_result *ret)
{
    *ret = (struct box_result){ .failed = true };
    if (shell (make_rootfs) != 0 || (b->prepare && shell (b->prepare) != 0)) {
        (void)strcpy (ret->text, "the test could not prepare its files");
        return;
    }
    if (b->flags & (BOX_USERNS | BOX_ROOTLESS))
        (void)shell (b->flags & BOX_USERNS ? "chown -hR 100000:100000 bundle"
                                           : "chown -hR 1000:1000 bundle");
    if (b->flags & BOX_ROOTLESS)
        run_as_user (b, ret);
    else
        run_here (b, ret);
}
