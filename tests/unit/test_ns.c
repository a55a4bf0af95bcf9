/* Namespaces: made and joined for real, each check also seen to fail. Needs root. */
#include "ns/ns.h"

#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "act.h"

#define NEWTIME 0x80

/* ---- pure ---- */

static void test_flags (void)
{
    struct plan p = { .ns = { [NS_USER] = { .mode = NS_MAKE },
                              [NS_NET] = { .mode = NS_MAKE },
                              [NS_CGROUP] = { .mode = NS_MAKE },
                              [NS_TIME] = { .mode = NS_MAKE } } };

    ok (ns_clone3_flags (&p) == (CLONE_NEWUSER | CLONE_NEWNET),
        "clone3 takes all but cgroup and time");
    ok (!ns_needs_trampoline (&p), "made ones need no trampoline");
    p.ns[NS_IPC].mode = NS_JOIN;
    ok (ns_needs_trampoline (&p), "one joined beside a new user namespace does");
    p.ns[NS_USER].mode = NS_INHERIT;
    ok (!ns_needs_trampoline (&p), "one joined without does not");
    p.ns[NS_PID].mode = NS_JOIN;
    ok (ns_needs_trampoline (&p), "a joined pid namespace does");
}

/* ---- files of namespaces ---- */

static int prepare (const void *arg, struct err *e)
{
    const struct plan *p = arg;
    struct ns_fds f;
    int r;

    (void)alarm (5);
    r = ns_prepare (p, &f, e);
    if (r == 0)
        ns_fds_close (&f);
    return r;
}

static void test_prepare (void)
{
    struct plan p = { .ns = { [NS_NET] = { NS_JOIN, "/proc/self/ns/net" } } };
    char path[] = "/tmp/test_ns.XXXXXX";

    expect (prepare, &p, "a namespace file is taken");
    p.ns[NS_NET].path = "/nonexistent/ns";
    expect_error (prepare, &p, "/linux/namespaces[network]/path '/nonexistent/ns' does not exist",
                  "none there");
    p.ns[NS_NET].path = "/proc/self/ns/uts";
    expect_error (prepare, &p, "is no network namespace", "another kind");
    p.ns[NS_NET].path = "/dev/null";
    expect_error (prepare, &p, "is no network namespace", "a device");
    ok (mkdtemp (path) != NULL && chdir (path) == 0 && mkfifo ("fifo", 0600) == 0, "make a FIFO");
    p.ns[NS_NET].path = "fifo";
    expect_error (prepare, &p, "is no network namespace", "a FIFO that nobody writes");
    ok (unlink ("fifo") == 0 && chdir ("/") == 0 && rmdir (path) == 0, "and remove it");
}

/* ---- id maps ---- */

/* A process that waits in a new user namespace (and FLAGS more) for its end. */
static pid_t start_holder (int flags, int *ret_end)
{
    int ready[2], end[2];
    char c;
    pid_t pid;

    if (pipe (ready) < 0 || pipe (end) < 0 || (pid = fork ()) < 0)
        return -1;
    if (pid == 0) {
        (void)close (end[1]);
        if (unshare (flags) < 0)
            _exit (1);
        (void)!write (ready[1], "x", 1);
        (void)!read (end[0], &c, 1);
        _exit (0);
    }
    (void)close (ready[1]);
    (void)close (end[0]);
    if (read (ready[0], &c, 1) != 1)
        pid = -1;
    (void)close (ready[0]);
    *ret_end = end[1];
    return pid;
}

static void end_holder (pid_t pid, int end)
{
    (void)close (end);
    (void)waitpid (pid, NULL, 0);
}

static int write_and_check (const void *arg, struct err *e)
{
    const struct plan *p = arg;
    AUTO_FD procfs = fd_procfs (e);
    int end;
    pid_t pid = start_holder (CLONE_NEWUSER, &end);
    int r;

    CHECK (procfs >= 0 && pid > 0);
    r = ns_write_idmaps (p, procfs, pid, e);
    if (r == 0)
        r = ns_idmaps_check (p, procfs, pid, e);
    end_holder (pid, end);
    return r;
}

static const struct plan_idmap three[] = { { 0, 100000, 1000 },
                                           { 1000, 0, 1 },
                                           { 1001, 101001, 64000 } };

static int other_map (const void *arg, struct err *e)
{
    struct plan p = *(const struct plan *)arg;
    AUTO_FD procfs = fd_procfs (e);
    int end;
    pid_t pid = start_holder (CLONE_NEWUSER, &end);
    int r = ns_write_idmaps (&p, procfs, pid, e);

    p.idmaps.n_gid = 2;
    if (r == 0)
        r = ns_idmaps_check (&p, procfs, pid, e);
    end_holder (pid, end);
    return r;
}

static int unprivileged_write (const void *arg, struct err *e)
{
    CHECK (setgroups (0, NULL) == 0 && setresgid (1234, 1234, 1234) == 0 &&
           setresuid (1234, 1234, 1234) == 0 && prctl (PR_SET_DUMPABLE, 1) == 0);
    return write_and_check (arg, e);
}

static void fill_lines (struct plan_idmap *lines, size_t n, uint32_t base)
{
    for (size_t i = 0; i < n; i++)
        lines[i] = (struct plan_idmap){ (uint32_t)i, base + 2 * (uint32_t)i, 1 };
}

static void test_idmaps (void)
{
    static struct plan_idmap many[341];
    static const struct plan_idmap own = { 0, 1234, 1 };
    struct plan p = { .ns[NS_USER] = { .mode = NS_MAKE },
                      .idmaps = { three, three, ARRAY_LEN (three), ARRAY_LEN (three) } };

    expect (write_and_check, &p, "three lines are written and read back");
    expect_error (other_map, &p, "/linux/gidMappings: the kernel has", "another map is noticed");
    fill_lines (many, ARRAY_LEN (many), 1000);
    p.idmaps = (struct plan_idmaps){ many, three, 340, ARRAY_LEN (three) };
    expect (write_and_check, &p, "340 lines in one write");
    p.idmaps.n_uid = 341;
    expect_error (write_and_check, &p, "/linux/uidMappings: 341 lines", "341 lines");
    fill_lines (many, ARRAY_LEN (many), 1000000);
    p.idmaps.n_uid = 340;
    expect_error (write_and_check, &p, "/linux/uidMappings: 340 lines", "more text than a page");
    p.idmaps = (struct plan_idmaps){ &own, &own, 1, 1 };
    expect (unprivileged_write, &p, "an ordinary user maps its own id");
    p.idmaps = (struct plan_idmaps){ three, three, ARRAY_LEN (three), ARRAY_LEN (three) };
    expect_error (unprivileged_write, &p, "/linux/uidMappings: /usr/bin/newuidmap",
                  "an ordinary user and more ids");
}

struct pair {
    int to_child[2], to_parent[2];
};

/* Parent of the next: maps it. */
static int map_child (const struct plan *p, const struct pair *pair, pid_t pid, struct err *e)
{
    AUTO_FD procfs = fd_procfs (e);
    char c;
    int r;

    CHECK (read (pair->to_parent[0], &c, 1) == 1);
    r = ns_write_idmaps (p, procfs, pid, e);
    CHECK (write (pair->to_child[1], "x", 1) == 1);
    return r;
}

/* Runs F as root of a new user namespace (and FLAGS more), as the child of a start does. */
static int as_root_of_new (const struct plan *p, int flags, child_fn *f, struct err *e)
{
    struct pair pair;
    pid_t parent;
    char c;
    int status;

    CHECK (pipe (pair.to_child) == 0 && pipe (pair.to_parent) == 0);
    parent = fork ();
    if (parent == 0)
        _exit (map_child (p, &pair, getppid (), e) < 0);
    CHECK (unshare (CLONE_NEWUSER | flags) == 0);
    CHECK (write (pair.to_parent[1], "x", 1) == 1 && read (pair.to_child[0], &c, 1) == 1);
    CHECK (waitpid (parent, &status, 0) == parent && status == 0);
    TRY (ns_become_root (p, e));
    return f (p, e);
}

static int is_root (const void *arg, struct err *e)
{
    AUTO_FD procfs = fd_procfs (e);
    bool denied = true;

    CHECK (geteuid () == 0 && getegid () == 0 && getgroups (0, NULL) == 0);
    TRY (ns_setgroups_denied (procfs, 0, &denied, e));
    CHECK (!denied);
    return ns_idmaps_check (arg, procfs, 0, e);
}

static int become_root (const void *arg, struct err *e)
{
    gid_t groups[] = { 10, 20 };

    CHECK (setgroups (2, groups) == 0);
    return as_root_of_new (arg, 0, is_root, e);
}

static int become_root_unmapped (const void *arg, struct err *e)
{
    (void)arg;
    CHECK (unshare (CLONE_NEWUSER) == 0);
    return ns_become_root (arg, e);
}

static void test_become_root (void)
{
    struct plan p = { .ns[NS_USER] = { .mode = NS_MAKE },
                      .idmaps = { three, three, ARRAY_LEN (three), ARRAY_LEN (three) } };

    expect (become_root, &p, "becomes root of a new user namespace, without groups");
    expect_error (become_root_unmapped, &p, "group 0 of the user namespace", "uid 0 is not mapped");
}

/* ---- uts ---- */

static int hostname (const void *arg, struct err *e)
{
    CHECK (unshare (CLONE_NEWUTS) == 0);
    CHECK (ns_hostname_check (arg, e) < 0);
    TRY (ns_hostname (arg, e));
    return ns_hostname_check (arg, e);
}

static void test_hostname (void)
{
    char longer[100];
    struct plan p = { .hostname = "box-17", .domainname = "example.test" };

    expect (hostname, &p, "hostname and domainname");
    memset (longer, 'a', sizeof longer - 1);
    longer[sizeof longer - 1] = '\0';
    p.hostname = longer;
    expect_error (hostname, &p, "/hostname: set", "a hostname that is too long");
}

/* ---- time ---- */

static int64_t seconds (clockid_t clock)
{
    struct timespec t = { 0 };

    (void)clock_gettime (clock, &t);
    return t.tv_sec;
}

static int shift_clocks (const void *arg, struct err *e)
{
    AUTO_FD procfs = fd_procfs (e);
    int64_t mono = seconds (CLOCK_MONOTONIC);
    int64_t boot = seconds (CLOCK_BOOTTIME);

    TRY (ns_time (arg, procfs, e));
    TRY (ns_time_check (arg, procfs, e));
    CHECK (seconds (CLOCK_MONOTONIC) - mono >= 1000 && seconds (CLOCK_MONOTONIC) - mono <= 1002);
    CHECK (seconds (CLOCK_BOOTTIME) - boot >= 86400 && seconds (CLOCK_BOOTTIME) - boot <= 86402);
    return 0;
}

static int shift_in_userns (const void *arg, struct err *e)
{
    int r = as_root_of_new (arg, 0, shift_clocks, e);

    CHECK (r < 0 || prctl (PR_GET_DUMPABLE) == 0); /* hidden again */
    return r;
}

static int time_not_entered (const void *arg, struct err *e)
{
    AUTO_FD procfs = fd_procfs (e);

    CHECK (unshare (NEWTIME) == 0);
    return ns_time_check (arg, procfs, e);
}

static void test_time (void)
{
    struct plan p = { .ns = { [NS_TIME] = { .mode = NS_MAKE } },
                      .monotonic = { true, 1000, 5 },
                      .boottime = { true, 86400, 0 },
                      .idmaps = { three, three, ARRAY_LEN (three), ARRAY_LEN (three) } };

    expect (shift_clocks, &p, "the process itself enters its new time namespace");
    expect_error (time_not_entered, &p, "not in the new one", "one that was not entered");
    p.ns[NS_USER].mode = NS_MAKE;
    expect (shift_in_userns, &p, "also as root of a new user namespace");
    p.ns[NS_USER].mode = NS_INHERIT;
    p.monotonic.secs = -1000000000;
    expect_error (shift_clocks, &p, "/linux/timeOffsets/monotonic", "a clock before zero");
}

/* ---- cgroup, network ---- */

static int cgroup (const void *arg, struct err *e)
{
    AUTO_FD procfs = fd_procfs (e);

    TRY (ns_cgroup (arg, e));
    return ns_cgroup_check (arg, procfs, e);
}

static int loopback (const void *arg, struct err *e)
{
    CHECK (unshare (CLONE_NEWNET) == 0);
    CHECK (ns_loopback_check (arg, e) < 0);
    TRY (ns_loopback (arg, e));
    return ns_loopback_check (arg, e);
}

static int loopback_without_right (const void *arg, struct err *e)
{
    CHECK (unshare (CLONE_NEWNET) == 0 && setresuid (1234, 1234, 1234) == 0);
    return ns_loopback (arg, e);
}

static void test_network (void)
{
    struct plan p = { .ns = { [NS_CGROUP] = { .mode = NS_MAKE }, [NS_NET] = { .mode = NS_MAKE } } };

    expect (cgroup, &p, "a cgroup namespace shows its root");
    expect (loopback, &p, "lo comes up");
    expect_error (loopback_without_right, &p, "loopback interface: not allowed (EPERM)",
                  "without the right to");
}

/* ---- sysctl ---- */

static int sysctls (const void *arg, struct err *e)
{
    AUTO_FD procfs = fd_procfs (e);

    CHECK (unshare (CLONE_NEWNET | CLONE_NEWIPC) == 0);
    TRY (ns_sysctls (arg, procfs, e));
    return ns_sysctls_check (arg, procfs, e);
}

static int sysctl_unset (const void *arg, struct err *e)
{
    AUTO_FD procfs = fd_procfs (e);

    CHECK (unshare (CLONE_NEWNET | CLONE_NEWIPC) == 0);
    return ns_sysctls_check (arg, procfs, e);
}

static void test_sysctl (void)
{
    static const struct plan_sysctl good[] = {
        { "net.ipv4.ip_forward", "net/ipv4/ip_forward", "1" },
        { "net.ipv4.ping_group_range", "net/ipv4/ping_group_range", "0   2000" },
        { "kernel.shmmax", "kernel/shmmax", "0x100000" },
        { "kernel.sem", "kernel/sem", "250 32000 32 128" },
        { "net.ipv4.route.flush", "net/ipv4/route/flush", "1" },
        { "net.ipv4.ip_local_reserved_ports", "net/ipv4/ip_local_reserved_ports", "1-3,2" },
        { "net.ipv4.tcp_congestion_control", "net/ipv4/tcp_congestion_control", "reno\n" },
    };
    static const struct {
        struct plan_sysctl s;
        const char *text;
    } bad[] = {
        { { "net.no.such", "net/no/such", "1" }, "/linux/sysctl/net.no.such: this kernel has no" },
        { { "net.ipv4.ip_forward", "net/ipv4/ip_forward", "yes" },
          "write 'yes': invalid argument (EINVAL)" },
        { { "net.ipv4.ping_group_range", "net/ipv4/ping_group_range", "5 x" },
          "both groups must be mapped" },
        { { "x", "../1/comm", "a" }, "/linux/sysctl/x: open: invalid cross-device link (EXDEV)" },
        { { "net.ipv4", "net/ipv4", "a" }, "/linux/sysctl/net.ipv4: open" },
    };
    struct plan p = { .sysctls = good, .n_sysctls = ARRAY_LEN (good) };

    expect (sysctls, &p, "sysctls are written and read back");
    expect_error (sysctl_unset, &p, "net.ipv4.ip_forward: the kernel made '0' of '1'",
                  "one that is not set");
    p.n_sysctls = 1;
    for (size_t i = 0; i < ARRAY_LEN (bad); i++) {
        p.sysctls = &bad[i].s;
        expect_error (sysctls, &p, bad[i].text, bad[i].s.key);
    }
}

/* ---- joining ---- */

static const char *const proc_names[] = { "user", "mnt", "pid",    "net",
                                          "ipc",  "uts", "cgroup", "time" };

/* A plan that joins the namespaces FLAGS of PID. PATHS lives as long as the plan. */
static void join_plan (struct plan *p, pid_t pid, uint64_t flags, char paths[NS_COUNT][64])
{
    for (int kind = 0; kind < NS_COUNT; kind++) {
        (void)snprintf (paths[kind], 64, "/proc/%d/ns/%s", pid, proc_names[kind]);
        p->ns[kind].mode = flags & ns_clone_flags[kind] ? NS_JOIN : NS_INHERIT;
        p->ns[kind].path = paths[kind];
    }
}

/* As a start does it: what can be joined early, a fork for the pid namespace, the rest. */
static int join_files (const void *arg, struct err *e)
{
    const struct plan *p = arg;
    AUTO_FD procfs = fd_procfs (e);
    struct ns_fds f;
    int status;
    pid_t pid;

    TRY (ns_prepare (p, &f, e));
    if (ns_needs_trampoline (p))
        TRY (ns_join_early (p, &f, e));
    pid = fork ();
    if (pid == 0) {
        int r = ns_join (p, &f, e);

        r = r < 0 ? r : ns_join_check (p, &f, procfs, e);
        if (r < 0)
            (void)!write (2, e->msg, strlen (e->msg));
        _exit (r < 0);
    }
    ns_fds_close (&f);
    CHECK (waitpid (pid, &status, 0) == pid && status == 0);
    return 0;
}

static int not_joined (const void *arg, struct err *e)
{
    AUTO_FD procfs = fd_procfs (e);
    struct ns_fds f;
    int r;

    TRY (ns_prepare (arg, &f, e));
    r = ns_join_check (arg, &f, procfs, e);
    ns_fds_close (&f);
    return r;
}

#define ALL_BUT_USER (CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP)

static void test_join_files (void)
{
    char paths[NS_COUNT][64];
    struct plan p = { 0 };
    int end;
    pid_t pid = start_holder (ALL_BUT_USER, &end);

    join_plan (&p, pid, ALL_BUT_USER, paths);
    expect (join_files, &p, "five namespaces are joined by their files");
    expect_error (not_joined, &p, "this process is not in it", "not joined is noticed");
    p.ns[NS_USER].mode = NS_JOIN;
    expect_error (join_files, &p, "it is the one this process is in",
                  "the user namespace one is in");
    end_holder (pid, end);
    pid = start_holder (CLONE_NEWUSER | ALL_BUT_USER, &end);
    join_plan (&p, pid, CLONE_NEWUSER | ALL_BUT_USER, paths);
    expect (join_files, &p, "with a user namespace that owns them");
    end_holder (pid, end);
}

/* As an ordinary user: the others can be joined after the user namespace only. */
static int join_as_user (const void *arg, struct err *e)
{
    char paths[NS_COUNT][64];
    struct plan p = { 0 };
    int end;
    pid_t pid;
    int r;

    (void)arg;
    CHECK (setgroups (0, NULL) == 0 && setresgid (1234, 1234, 1234) == 0 &&
           setresuid (1234, 1234, 1234) == 0 && prctl (PR_SET_DUMPABLE, 1) == 0);
    pid = start_holder (CLONE_NEWUSER | CLONE_NEWUTS | CLONE_NEWNET, &end);
    CHECK (pid > 0);
    join_plan (&p, pid, CLONE_NEWUSER | CLONE_NEWUTS | CLONE_NEWNET, paths);
    r = join_files (&p, e);
    end_holder (pid, end);
    return r;
}

static int join_process (const void *arg, struct err *e)
{
    uint64_t make = *(const uint64_t *)arg;
    AUTO_FD procfs = fd_procfs (e);
    uint64_t flags = 0;
    int end;
    pid_t pid = start_holder ((int)make, &end);
    AUTO_FD pidfd = (int)syscall (SYS_pidfd_open, pid, 0);

    TRY (ns_prepare_process (pidfd, pid, procfs, &flags, e));
    CHECK (flags == make);
    CHECK (ns_join_process_check (pidfd, pid, procfs, e) == -EPERM);
    TRY (ns_join_process (pidfd, flags, e));
    TRY (ns_join_process_check (pidfd, pid, procfs, e));
    end_holder (pid, end);
    CHECK (ns_prepare_process (pidfd, pid, procfs, &flags, e) == -ESRCH);
    return check (strcmp (e->msg, "container not running") == 0, e->msg, e);
}

static void test_join_process (void)
{
    uint64_t flags = ALL_BUT_USER;

    expect (join_as_user, NULL, "an ordinary user joins the user namespace before the others");
    expect (join_process, &flags, "exec joins the namespaces in which the process differs");
    flags = CLONE_NEWUSER | ALL_BUT_USER;
    expect (join_process, &flags, "a user namespace among them");
    flags = CLONE_NEWUSER;
    expect (join_process, &flags, "a user namespace alone");
    flags = 0;
    {
        struct err e = { 0 };

        ok (ns_join_process (-1, 0, &e) == 0, "none that differs: nothing to do");
    }
}

/* A holder whose network namespace belongs to the host, as engines make it, and whose user and uts
 * namespaces do not. We stay where we are. */
static pid_t start_mixed (int *ret_end)
{
    AUTO_FD mine = open ("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
    pid_t pid =
        unshare (CLONE_NEWNET) == 0 ? start_holder (CLONE_NEWUSER | CLONE_NEWUTS, ret_end) : -1;

    return setns (mine, CLONE_NEWNET) == 0 ? pid : -1;
}

static int mixed_owners (const void *arg, struct err *e)
{
    AUTO_FD procfs = fd_procfs (e);
    uint64_t flags = 0;
    int end;
    pid_t pid = start_mixed (&end);
    AUTO_FD pidfd = (int)syscall (SYS_pidfd_open, pid, 0);

    (void)arg;
    TRY (ns_prepare_process (pidfd, pid, procfs, &flags, e));
    CHECK (flags == (CLONE_NEWUSER | CLONE_NEWUTS | CLONE_NEWNET));
    TRY (ns_join_process (pidfd, flags, e));
    TRY (ns_join_process_check (pidfd, pid, procfs, e));
    end_holder (pid, end);
    return 0;
}

int main (void)
{
    test_flags ();
    test_prepare ();
    if (geteuid () != 0)
        return tap_done ();
    test_idmaps ();
    test_become_root ();
    test_hostname ();
    test_time ();
    test_network ();
    test_sysctl ();
    test_join_files ();
    test_join_process ();
    expect (mixed_owners, NULL, "namespaces of two owners are joined");
    return tap_done ();
}
