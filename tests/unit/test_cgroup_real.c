/*
 * Real cgroups, as root: made, limited, entered, checked, frozen, killed and removed, in every
 * hierarchy that this host has; on a hybrid host also with the cgroup2 hierarchy hidden (v1
 * alone) and with nothing but it (v2 alone), in mount namespaces of their own.
 */
#include "cgroup/cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "cgroup/internal.h"
#include "tap.h"

#define NESTED 1000

struct fixture {
    const char *name;
    struct arena a;
    struct err e;
    struct cgroup cg;
    char path[64]; /* "/agentrt-test-PID/x" */
    int procfs;
};

static void good (struct fixture *f, int r, const char *what)
{
    (void)ok (r >= 0, "%s: %s%s%s", f->name, what, r < 0 ? ": " : "", r < 0 ? f->e.msg : "");
}

static bool has (const struct fixture *f, const char *controller)
{
    return cgroup_v1_home (&f->cg, controller) != NULL;
}

/* ---- processes ---- */

/* A process in the cgroup, in the way that create uses; it is in when this returns. */
static pid_t spawn (struct fixture *f, int (*body) (struct fixture *f))
{
    int clone_fd = cgroup_clone_fd (&f->cg);
    struct clone_args args = { .flags = clone_fd >= 0 ? CLONE_INTO_CGROUP : 0,
                               .exit_signal = SIGCHLD,
                               .cgroup = (uint64_t)(clone_fd >= 0 ? clone_fd : 0) };
    int in[2];
    pid_t pid;
    char byte;

    if (pipe2 (in, O_CLOEXEC) < 0)
        return -1;
    pid = (pid_t)syscall (SYS_clone3, &args, sizeof args);
    if (pid == 0) {
        if (cgroup_enter (&f->cg, &f->e) < 0 ||
            cgroup_enter_check (&f->cg, f->procfs, 0, &f->e) < 0 || write (in[1], "", 1) != 1)
            _exit (99);
        _exit (body (f));
    }
    (void)close (in[1]);
    if (!ok (pid > 0 && read (in[0], &byte, 1) == 1, "%s: a process gets in", f->name))
        exit (tap_done ()); /* everything that follows waits for it */
    (void)close (in[0]);
    return pid;
}

/* Dies with the test: one that is killed must not leave processes that somebody has to look for. */
static int wait_for_signal (struct fixture *f)
{
    (void)f;
    if (prctl (PR_SET_PDEATHSIG, SIGKILL) < 0)
        return 96;
    while (pause () < 0)
        continue;
    return 97;
}

static int fork_until_refused (struct fixture *f)
{
    int n = 0;

    (void)f;
    while (n < 100) {
        pid_t pid = fork ();

        if (pid < 0)
            return errno == EAGAIN ? n : 98;
        if (pid == 0)
            return wait_for_signal (f);
        n++;
    }
    return n;
}

static int node_open_errno (unsigned int major, unsigned int minor)
{
    char path[] = "/dev/shm/agentrt-test-XXXXXX";
    int r = 0;
    int fd = -1;

    if (!mkdtemp (path))
        return -1;
    if (chdir (path) < 0 || mknod ("node", S_IFCHR | 0600, makedev (major, minor)) < 0)
        r = -1;
    else
        fd = open ("node", O_RDWR | O_NONBLOCK | O_CLOEXEC);
    if (r == 0 && fd < 0)
        r = errno;
    cleanup_fd (&fd);
    (void)unlink ("node");
    return chdir ("/") < 0 || rmdir (path) < 0 ? -1 : r;
}

/* null may be opened, kmsg (1:11) may be made but not opened. */
static int probe_devices (struct fixture *f)
{
    (void)f;
    if (node_open_errno (1, 3) != 0)
        return 1;
    return node_open_errno (1, 11) == EPERM ? 0 : 2;
}

static int exit_status (pid_t pid)
{
    int status = 0;

    if (pid <= 0 || waitpid (pid, &status, 0) != pid)
        return -1;
    return WIFEXITED (status) ? WEXITSTATUS (status) : 128 + WTERMSIG (status);
}

/* ---- the stages ---- */

static int locate (struct fixture *f)
{
    struct plan_cgroup pc = { .path = f->path, .given = true };

    return cgroup_locate (&pc, &f->a, &f->cg, &f->e);
}

static bool is_anywhere (struct fixture *f)
{
    bool found = false;

    for (size_t i = 0; i < f->cg.n; i++) {
        char path[512];

        (void)snprintf (path, sizeof path, "%s%s", f->cg.h[i].mountpoint, f->cg.h[i].path);
        found = found || access (path, F_OK) == 0;
    }
    return found;
}

static const struct oci_linux_resources *resources (const struct fixture *f)
{
    static const struct oci_memory memory = {
        .has_limit = true, .limit = 33554432, .has_swap = true, .swap = 33554432
    };
    static const struct oci_cpu cpu = { .has_shares = true,
                                        .shares = 512,
                                        .has_quota = true,
                                        .quota = 50000,
                                        .cpus = "0",
                                        .mems = "0" };
    static const struct oci_pids pids = { .has_limit = true, .limit = 10 };
    static const struct oci_hugepage_limit pages[] = { { "2MB", 4194304 } };
    static const struct oci_linux_resources all = { .memory = &memory,
                                                    .cpu = &cpu,
                                                    .pids = &pids,
                                                    .hugepage_limits = pages,
                                                    .n_hugepage_limits = 1 };
    static const struct oci_linux_resources v1 = { .memory = &memory, .cpu = &cpu, .pids = &pids };
    static const struct oci_linux_resources hugetlb = { .hugepage_limits = pages,
                                                        .n_hugepage_limits = 1 };

    if (strcmp (f->name, "v1 alone") == 0)
        return &v1;
    return strcmp (f->name, "v2 alone") == 0 ? &hugetlb : &all;
}

static void stage_create (struct fixture *f)
{
    good (f, locate (f), "locate");
    ok (!is_anywhere (f), "%s: locate makes nothing", f->name);
    ok (f->cg.n > 0 && f->cg.h[0].made, "%s: it will be made", f->name);
    good (f, cgroup_create (&f->cg, resources (f), &f->e), "create");
    good (f, cgroup_limit (&f->cg, resources (f), &f->e), "limit");
    good (f, cgroup_limit_check (&f->cg, resources (f), &f->e), "the limits read back");
}

static void stage_limits (struct fixture *f)
{
    struct oci_memory bigger = {
        .has_limit = true, .limit = 67108864, .has_swap = true, .swap = 134217728
    };
    struct oci_linux_resources more = { .memory = &bigger };
    struct oci_network net = { .has_class_id = true, .class_id = 1 };
    struct oci_linux_resources missing = { .network = &net };
    struct oci_pids lower = { .has_limit = true, .limit = 9 };
    struct oci_linux_resources other = { .pids = &lower };

    ok (cgroup_limit (&f->cg, &missing, &f->e) < 0, "%s: a missing controller is an error",
        f->name);
    ok (strncmp (f->e.msg, "/linux/resources/network", 24) == 0, "%s: it names the key: %s",
        f->name, f->e.msg);
    if (strcmp (f->name, "v2 alone") == 0)
        return;
    ok (cgroup_limit_check (&f->cg, &other, &f->e) < 0, "%s: the check sees another value: %s",
        f->name, f->e.msg);
    good (f, cgroup_limit (&f->cg, &more, &f->e), "memory and swap are raised");
    good (f, cgroup_limit_check (&f->cg, &more, &f->e), "and read back");
    good (f, cgroup_limit (&f->cg, resources (f), &f->e), "and lowered");
    good (f, cgroup_limit_check (&f->cg, resources (f), &f->e), "and read back");
}

static int commit (void *data, struct err *e)
{
    return data ? err_set (e, ENOSPC, "it cannot be saved") : 0;
}

/* Each layout has one of the two. */
static void stage_update (struct fixture *f)
{
    bool is_v1 = strcmp (f->name, "v1 alone") == 0;
    struct oci_pids pids = { .has_limit = true, .limit = 12 };
    struct oci_hugepage_limit pages[] = { { "2MB", 8388608 } };
    struct oci_linux_resources r = { .pids = is_v1 ? &pids : NULL,
                                     .hugepage_limits = pages,
                                     .n_hugepage_limits = !is_v1 };
    struct cgroup_update there = { resources (f), &r, &r, commit, NULL };
    struct cgroup_update back = { &r, resources (f), resources (f), commit, f };

    good (f, cgroup_update (&f->cg, &there, &f->e), "update");
    ok (cgroup_update (&f->cg, &back, &f->e) == -ENOSPC, "%s: one that fails late", f->name);
    good (f, cgroup_limit_check (&f->cg, &r, &f->e), "is undone");
    back.data = NULL;
    good (f, cgroup_update (&f->cg, &back, &f->e), "update back");
}

static void stage_enforced (struct fixture *f)
{
    int r = exit_status (spawn (f, probe_devices));
    size_t n = 1;

    ok (r == 0, "%s: null opens, kmsg does not (%d)", f->name, r);
    if (strcmp (f->name, "v2 alone") == 0)
        return;
    r = exit_status (spawn (f, fork_until_refused));
    ok (r == 9, "%s: a limit of 10 tasks leaves 9 forks (%d)", f->name, r);
    good (f, cgroup_signal (&f->cg, SIGTERM, &f->e), "signal its children");
    for (int i = 0; i < 1000 && n > 0; i++) {
        AUTO_ARENA a = { 0 };
        pid_t *pids;

        if (cgroup_pids (&f->cg, &a, &pids, &n, &f->e) < 0)
            break;
        sleep_ms (2);
    }
    ok (n == 0, "%s: they are gone", f->name);
}

static void stage_refused (struct fixture *f)
{
    struct fixture other = { .name = f->name };

    (void)strcpy (other.path, f->path);
    good (&other, locate (&other), "locate it again");
    ok (!other.cg.h[0].made, "%s: it is there already", f->name);
    ok (cgroup_create (&other.cg, NULL, &other.e) < 0, "%s: one in use is refused", f->name);
    ok (strstr (other.e.msg, "container's cgroup is not empty: 2 process(es) found"),
        "%s: and why: %s", f->name, other.e.msg);
    ok (is_anywhere (f), "%s: it is still there", f->name);
    cgroup_close (&other.cg);
    arena_free (&other.a);
}

static void stage_frozen (struct fixture *f, pid_t pid)
{
    bool frozen = true;

    good (f, cgroup_is_frozen (&f->cg, &frozen, &f->e), "ask whether it is frozen");
    ok (!frozen, "%s: it is not", f->name);
    good (f, cgroup_freeze (&f->cg, true, &f->e), "freeze");
    good (f, cgroup_is_frozen (&f->cg, &frozen, &f->e), "ask again");
    ok (frozen, "%s: it is", f->name);
    good (f, cgroup_signal (&f->cg, SIGTERM, &f->e), "SIGTERM while frozen");
    sleep_ms (20);
    if (has (f, "freezer")) /* v2 lets a frozen process die */
        ok (waitpid (pid, NULL, WNOHANG) == 0, "%s: is not delivered yet", f->name);
    good (f, cgroup_is_frozen (&f->cg, &frozen, &f->e), "ask once more");
    ok (frozen, "%s: it still is", f->name);
    good (f, cgroup_freeze (&f->cg, false, &f->e), "thaw");
    ok (exit_status (pid) == 128 + SIGTERM, "%s: SIGTERM arrives", f->name);
}

/* Moves another process in, as an engine might. */
static int attach (const struct cgroup *cg, pid_t pid)
{
    char text[16];

    (void)snprintf (text, sizeof text, "%d", (int)pid);
    for (size_t i = 0; i < cg->n; i++) {
        AUTO_FD fd = openat (cg->h[i].dir, "cgroup.procs", O_WRONLY | O_CLOEXEC);

        if (fd < 0 || write (fd, text, strlen (text)) < 0)
            return -errno;
    }
    return 0;
}

static void stage_processes (struct fixture *f)
{
    AUTO_ARENA a = { 0 };
    pid_t first = spawn (f, wait_for_signal);
    pid_t second = fork ();
    pid_t *pids = NULL;
    size_t n = 0;

    if (second == 0)
        _exit (wait_for_signal (f));
    ok (cgroup_enter_check (&f->cg, f->procfs, second, &f->e) < 0, "%s: who is outside is told",
        f->name);
    good (f, attach (&f->cg, second), "attach");
    good (f, cgroup_enter_check (&f->cg, f->procfs, first, &f->e), "the first is in");
    good (f, cgroup_enter_check (&f->cg, f->procfs, second, &f->e), "the second is in");
    good (f, cgroup_pids (&f->cg, &a, &pids, &n, &f->e), "list");
    ok (n == 2 && pids[0] < pids[1] && pids[0] + pids[1] == first + second,
        "%s: the list is the two", f->name);
    stage_refused (f);
    stage_frozen (f, first);
    ok (exit_status (second) == 128 + SIGTERM, "%s: both got it", f->name);
}

/* ---- removal ---- */

/* Makes a chain of DEPTH cgroups below DIR; returns the last one. */
static int nest (int dir, int depth)
{
    int fd = fcntl (dir, F_DUPFD_CLOEXEC, 0);

    for (int i = 0; i < depth && fd >= 0; i++) {
        int next = mkdirat (fd, "n", 0755) == 0
                       ? openat (fd, "n", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
                       : -1;

        (void)close (fd);
        fd = next;
    }
    return fd;
}

static bool write_to (int dir, const char *file, const char *text)
{
    struct err e;

    return cgfile_write (dir, file, text, &e) >= 0;
}

/* What a container may leave: deep and flat sub-cgroups, a process that froze itself in one. */
static pid_t make_mess (struct fixture *f)
{
    const struct cgroup_hierarchy *h = cgroup_freezer_home (&f->cg);
    AUTO_FD deep = nest (h->dir, NESTED);
    AUTO_FD sub = -1;
    pid_t pid = spawn (f, wait_for_signal);
    char text[24];
    bool made = deep >= 0;

    for (int i = 0; i < 100 && made; i++) {
        (void)snprintf (text, sizeof text, ".flat%d", i);
        made = mkdirat (h->dir, text, 0755) == 0;
    }
    ok (made, "%s: %d nested and 100 flat sub-cgroups", f->name, NESTED);
    (void)mkdirat (h->dir, "frozen", 0755);
    sub = openat (h->dir, "frozen", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    (void)snprintf (text, sizeof text, "%d", (int)pid);
    made = write_to (sub, "cgroup.procs", text);
    if (cgroup_is_v2 (h))
        made = made && write_to (sub, "cgroup.freeze", "1");
    else
        made = made && write_to (sub, "freezer.state", "FROZEN");
    ok (made, "%s: a process that is frozen in a sub-cgroup", f->name);
    return pid;
}

static void stage_remove (struct fixture *f)
{
    struct oci_saved_cgroup saved;
    struct cgroup again;
    uint64_t kills = 1;
    pid_t pid = make_mess (f);

    if (has (f, "memory")) {
        good (f, cgroup_oom_kills (&f->cg, &kills, &f->e), "count OOM kills");
        ok (kills == 0, "%s: there was none", f->name);
    }
    good (f, cgroup_signal (&f->cg, SIGKILL, &f->e), "SIGKILL");
    ok (exit_status (pid) == 128 + SIGKILL, "%s: reaches the frozen one", f->name);
    pid =
        fork (); /* not cloned into it: Linux 6.13 and later kill what comes so after cgroup.kill */
    if (pid == 0)
        _exit (wait_for_signal (f));
    good (f, attach (&f->cg, pid), "one more process");
    good (f, cgroup_save (&f->cg, &f->a, &saved, &f->e), "save");
    cgroup_close (&f->cg);
    good (f, cgroup_reopen (&saved, &f->a, &again, &f->e), "reopen");
    ok (again.layout == f->cg.layout && again.n == f->cg.n && again.h[0].made, "%s: it is the same",
        f->name);
    good (f, cgroup_enter_prepare (&again, &f->e), "prepare to enter it again");
    good (f, cgroup_remove (&again, &f->e), "remove");
    ok (exit_status (pid) == 128 + SIGKILL, "%s: what was in it is dead", f->name);
    ok (!is_anywhere (f), "%s: no hierarchy has it any more", f->name);
    cgroup_close (&again);
    good (f, cgroup_reopen (&saved, &f->a, &again, &f->e), "reopen what is gone");
    good (f, cgroup_remove (&again, &f->e), "remove what is gone");
    cgroup_close (&again);
}

/* Kept: one that was there before, empty. */
static void stage_kept (struct fixture *f)
{
    struct fixture first = { .name = f->name };
    struct cgroup empty = { 0 };

    (void)strcpy (first.path, f->path);
    good (&first, locate (&first), "locate a new one");
    good (&first, cgroup_create (&first.cg, NULL, &first.e), "make it");
    good (f, locate (f), "locate it when it is there");
    good (f, cgroup_create (&f->cg, NULL, &f->e), "use it");
    ok (!f->cg.h[0].made, "%s: it was not made", f->name);
    good (f, cgroup_remove (&f->cg, &f->e), "remove leaves it");
    ok (is_anywhere (f), "%s: it is still there", f->name);
    good (&first, cgroup_freeze (&first.cg, true, &first.e), "freeze it");
    cgroup_close (&f->cg);
    good (f, locate (f), "locate it when it is frozen");
    ok (cgroup_create (&f->cg, NULL, &f->e) < 0 &&
            strstr (f->e.msg, "container's cgroup unexpectedly frozen"),
        "%s: a frozen one is refused: %s", f->name, f->e.msg);
    cgroup_close (&f->cg);
    good (&first, cgroup_remove (&first.cg, &first.e), "who made it removes it");
    ok (!is_anywhere (f), "%s: it is gone", f->name);
    arena_free (&first.a);
    ok (cgroup_remove (&empty, &f->e) == 0, "%s: removing none is fine", f->name);
}

/* Makes the cgroup in every hierarchy, as somebody else would. */
static struct cgroup made_before (struct fixture *f)
{
    struct cgroup cg = { 0 };

    good (f, locate (f), "locate what somebody else makes");
    good (f, cgroup_create (&f->cg, NULL, &f->e), "who makes it");
    cg = f->cg;
    f->cg = (struct cgroup){ 0 };
    return cg;
}

static int locate_default (struct fixture *f)
{
    struct plan_cgroup pc = { .path = f->path };

    return cgroup_locate (&pc, &f->a, &f->cg, &f->e);
}

/* A default path that is there is a left-over: made anew, without its limits and what is below. */
static void stage_left_over (struct fixture *f)
{
    static const struct oci_pids pids = { .has_limit = true, .limit = 10 };
    static const struct oci_linux_resources limits = { .pids = &pids };
    struct cgroup old = made_before (f);
    const struct cgroup_hierarchy *h;

    if (strcmp (f->name, "v2 alone") != 0)
        good (f, cgroup_limit (&old, &limits, &f->e), "with a limit");
    ok (mkdirat (old.h[0].dir, "below", 0755) == 0, "%s: and one below", f->name);
    good (f, locate_default (f), "locate a left-over");
    ok (f->cg.h[0].made, "%s: it will be made", f->name);
    good (f, cgroup_create (&f->cg, NULL, &f->e), "make it anew");
    h = cgroup_v1_home (&f->cg, "pids");
    if (h) {
        char *text = NULL;

        ok (cgfile_read (h->dir, "pids.max", &f->a, &text, &f->e) >= 0 &&
                strcmp (text, "max\n") == 0,
            "%s: without the limit: %s", f->name, text ?: f->e.msg);
    }
    ok (faccessat (f->cg.h[0].dir, "below", F_OK, 0) < 0, "%s: and nothing below", f->name);
    good (f, cgroup_remove (&f->cg, &f->e), "and it is removed at the end");
    ok (!is_anywhere (f), "%s: everywhere", f->name);
    cgroup_close (&old);
    cgroup_close (&f->cg);
}

/* One in use, or frozen, is refused at a default path before anything is written down about it. At
 * a given one, too; and undoing that create leaves who is in it alone. */
static void stage_in_use (struct fixture *f)
{
    struct cgroup old = made_before (f);
    pid_t pid = fork ();

    if (pid == 0)
        _exit (wait_for_signal (f));
    f->cg = old;
    good (f, attach (&f->cg, pid), "somebody is in it");
    ok (locate_default (f) < 0 && strstr (f->e.msg, "cgroup is not empty"),
        "%s: refused at a default path: %s", f->name, f->e.msg);
    good (f, locate (f), "a given path");
    ok (cgroup_create (&f->cg, NULL, &f->e) < 0 && strstr (f->e.msg, "cgroup is not empty"),
        "%s: refused at a given path: %s", f->name, f->e.msg);
    good (f, cgroup_remove (&f->cg, &f->e), "undo the create");
    ok (waitpid (pid, NULL, WNOHANG) == 0, "%s: who is in it lives", f->name);
    (void)kill (pid, SIGKILL);
    ok (exit_status (pid) == 128 + SIGKILL, "%s: until now", f->name);
    good (f, cgroup_freeze (&old, true, &f->e), "freeze it");
    ok (locate_default (f) < 0 && strstr (f->e.msg, "frozen"), "%s: a frozen one is refused: %s",
        f->name, f->e.msg);
    good (f, cgroup_remove (&old, &f->e), "its maker removes it");
    ok (!is_anywhere (f), "%s: it is gone", f->name);
    cgroup_close (&old);
}

static size_t count_left (const struct fixture *f)
{
    size_t n = 0;

    for (size_t i = 0; i < f->cg.n; i++) {
        char path[512];

        (void)snprintf (path, sizeof path, "%s%s", f->cg.h[i].mountpoint, f->cg.h[i].path);
        n += access (path, F_OK) == 0;
    }
    return n;
}

/* A hierarchy in which it cannot be removed does not keep the others', and the error is told. */
static void stage_remove_all (struct fixture *f)
{
    int dir;

    good (f, locate (f), "locate one that will not go");
    good (f, cgroup_create (&f->cg, NULL, &f->e), "make it");
    dir = f->cg.h[0].dir;
    f->cg.h[0].dir = open ("/dev/null", O_RDONLY | O_CLOEXEC); /* no folder: ENOTDIR */
    ok (cgroup_remove (&f->cg, &f->e) == -ENOTDIR && strstr (f->e.msg, f->cg.h[0].mountpoint),
        "%s: the error names the place: %s", f->name, f->e.msg);
    ok (count_left (f) == 1, "%s: all others are gone", f->name);
    cleanup_fd (&f->cg.h[0].dir);
    f->cg.h[0].dir = dir;
    good (f, cgroup_remove (&f->cg, &f->e), "and once it can, so is the last");
    ok (count_left (f) == 0, "%s: nothing is left", f->name);
    cgroup_close (&f->cg);
}

static void remove_parents (const struct fixture *f)
{
    for (size_t i = 0; i < f->cg.n; i++) {
        char path[512];

        (void)snprintf (path, sizeof path, "%s%s", f->cg.h[i].mountpoint, f->cg.h[i].path);
        *strrchr (path, '/') = '\0';
        ok (rmdir (path) == 0, "%s: %s is empty", f->name, path);
    }
}

static void test_life (const char *name, enum cgroup_layout layout)
{
    struct fixture f = { .name = name };

    (void)snprintf (f.path, sizeof f.path, "/agentrt-test-%d/x", (int)getpid ());
    f.procfs = fd_procfs (&f.e);
    good (&f, f.procfs, "procfs");
    stage_create (&f);
    ok (f.cg.layout == layout, "%s: layout %d", name, f.cg.layout);
    stage_limits (&f);
    stage_update (&f);
    stage_enforced (&f);
    stage_processes (&f);
    stage_remove (&f);
    stage_kept (&f);
    stage_left_over (&f);
    stage_in_use (&f);
    stage_remove_all (&f);
    remove_parents (&f);
    (void)close (f.procfs);
    arena_free (&f.a);
}

/* ---- other views of a hybrid host ---- */

static bool in_view (const char *source, const char *target, const char *type, unsigned long flags)
{
    return unshare (CLONE_NEWNS) == 0 && mount (NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
           mount (source, target, type, flags, NULL) == 0;
}

/* In a child, as a mount namespace cannot be left; it continues the numbering by its exit. */
static void test_view (const char *name, enum cgroup_layout layout)
{
    pid_t pid = fork ();
    int before = tap_count;
    int status;

    if (pid == 0) {
        bool there = layout == CGROUP_V1
                         ? in_view ("none", "/sys/fs/cgroup/unified", "tmpfs", 0)
                         : in_view ("/sys/fs/cgroup/unified", "/sys/fs/cgroup", NULL, MS_BIND);

        tap_failures = 0;
        ok (there, "%s: its mount namespace", name);
        if (there)
            test_life (name, layout);
        _exit (tap_failures ? 255 : tap_count - before);
    }
    status = exit_status (pid);
    if (status > 0 && status < 255)
        tap_count = before + status;
    ok (status > 0 && status < 255, "%s: all of it", name);
}

int main (void)
{
    bool v2 = access ("/sys/fs/cgroup/cgroup.controllers", F_OK) == 0;
    bool hybrid = access ("/sys/fs/cgroup/unified/cgroup.controllers", F_OK) == 0;

    if (v2)
        test_life ("v2", CGROUP_V2);
    else
        test_life (hybrid ? "hybrid" : "v1", hybrid ? CGROUP_HYBRID : CGROUP_V1);
    if (hybrid) {
        test_view ("v1 alone", CGROUP_V1);
        test_view ("v2 alone", CGROUP_V2);
    }
    return tap_done ();
}
