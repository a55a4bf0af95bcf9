/* Limits, scheduling, keyring, descriptors, self-protection: set for real, checks seen to fail. */
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/mempolicy.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "act.h"
#include "base/cleanup.h"
#include "base/fd.h"
#include "harden/fds.h"
#include "harden/keyring.h"
#include "harden/lsm.h"
#include "harden/oom.h"
#include "harden/rlimit.h"
#include "harden/sched.h"
#include "harden/self.h"

/* ---- limits ---- */

static int limits (const void *arg, struct err *e)
{
    CHECK (rlimit_check (arg, 0, e) < 0);
    TRY (rlimit_set (arg, 0, e));
    return rlimit_check (arg, 0, e);
}

/* Where it may not be done, the error says so; where it may, it is done. */
static int raise_limit (const void *arg, struct err *e)
{
    const struct plan_process *p = arg;
    struct rlimit low = { 10, 20 };
    struct rlimit now;
    int r;

    CHECK (setrlimit (RLIMIT_NOFILE, &low) == 0);
    r = rlimit_raise (p, 0, e);
    if (r < 0)
        return check (strstr (e->msg, "/process/rlimits[0]: raising RLIMIT_NOFILE to 1024 needs"),
                      e->msg, e);
    CHECK (getrlimit (RLIMIT_NOFILE, &now) == 0 && now.rlim_cur == 10 && now.rlim_max == 1024);
    return 0;
}

static void test_limits (void)
{
    static const struct plan_rlimit some[] = {
        { RLIMIT_NOFILE, "RLIMIT_NOFILE", 100, 200 },
        { RLIMIT_CORE, "RLIMIT_CORE", 0, 0 },
        { RLIMIT_CPU, "RLIMIT_CPU", UINT64_C (0x100000001), UINT64_C (0x100000002) },
    };
    static const struct plan_rlimit wrong[] = { { RLIMIT_NOFILE, "RLIMIT_NOFILE", 5, 4 } };
    static const struct plan_rlimit more[] = { { RLIMIT_NOFILE, "RLIMIT_NOFILE", 1024, 1024 } };
    struct plan_process p = { .rlimits = some, .n_rlimits = ARRAY_LEN (some) };

    expect (limits, &p, "limits, 64 bits wide");
    p = (struct plan_process){ .rlimits = wrong, .n_rlimits = 1 };
    expect_error (limits, &p, "/process/rlimits[0]: RLIMIT_NOFILE: invalid argument (EINVAL)",
                  "soft above hard");
    p.rlimits = more;
    expect (raise_limit, &p, "a hard limit is raised, or the missing right is named");
}

/* ---- oom ---- */

static int oom (const void *arg, struct err *e)
{
    AUTO_FD procfs = fd_procfs (e);

    CHECK (oom_check (arg, procfs, 0, e) < 0);
    TRY (oom_set (arg, procfs, 0, e));
    TRY (oom_check (arg, procfs, getpid (), e));
    return 0;
}

static int oom_lower (const void *arg, struct err *e)
{
    AUTO_FD procfs = fd_procfs (e);

    CHECK (setresuid (1234, 1234, 1234) == 0 && prctl (PR_SET_DUMPABLE, 1) == 0);
    return oom_set (arg, procfs, 0, e);
}

static void test_oom (void)
{
    struct plan_process p = { .has_oom_score_adj = true, .oom_score_adj = 500 };

    expect (oom, &p, "oom_score_adj is raised");
    p.oom_score_adj = 1001;
    expect_error (oom, &p, "/process/oomScoreAdj: write 1001: invalid argument (EINVAL)",
                  "beyond what there is");
    p.oom_score_adj = -999;
    expect_error (oom_lower, &p, "lowering it to -999 needs CAP_SYS_RESOURCE", "lowered by a user");
}

/* ---- scheduling ---- */

static int scheduling (const void *arg, struct err *e)
{
    TRY (sched_set (arg, 0, e));
    TRY (sched_set_io (arg, e));
    TRY (sched_check (arg, 0, e));
    return sched_check_io (arg, e);
}

static int scheduling_other (const void *arg, struct err *e)
{
    TRY (sched_check (arg, 0, e));
    return sched_check_io (arg, e);
}

static void test_scheduler (void)
{
    static const int reset[] = { OCI_SCHED_FLAG_RESET_ON_FORK };
    struct oci_scheduler s = { .policy = OCI_SCHED_BATCH, .nice = 5, .has_nice = true };
    struct oci_io_priority io = { .class_ = OCI_IOPRIO_BE, .priority = 6, .has_priority = true };
    struct plan_process p = { .scheduler = &s, .io_priority = &io };

    expect_error (scheduling_other, &p, "/process/scheduler", "another scheduler is noticed");
    expect (scheduling, &p, "SCHED_BATCH, nice 5, I/O priority best effort 6");
    io.class_ = OCI_IOPRIO_IDLE;
    io.priority = 0;
    s = (struct oci_scheduler){ .policy = OCI_SCHED_IDLE };
    expect (scheduling, &p, "SCHED_IDLE, I/O priority idle");
    p.io_priority = NULL;
    s = (struct oci_scheduler){
        .policy = OCI_SCHED_OTHER, .nice = 3, .flags = reset, .n_flags = 1
    };
    expect (scheduling, &p, "SCHED_OTHER with reset on fork");
    s = (struct oci_scheduler){
        .policy = OCI_SCHED_DEADLINE, .runtime = 1000000, .deadline = 10000000, .period = 10000000
    };
    expect (scheduling, &p, "SCHED_DEADLINE");
    s = (struct oci_scheduler){ .policy = OCI_SCHED_FIFO, .priority = 200 };
    expect_error (scheduling, &p, "/process/scheduler: set SCHED_FIFO: invalid argument (EINVAL)",
                  "a wrong priority");
    s = (struct oci_scheduler){ .policy = OCI_SCHED_ISO };
    expect_error (scheduling, &p, "/process/scheduler: set SCHED_ISO: invalid argument (EINVAL)",
                  "no such policy");
}

static int affinity (const void *arg, struct err *e)
{
    cpu_set_t all, one;

    (void)arg;
    CHECK (sched_getaffinity (0, sizeof all, &all) == 0);
    TRY (sched_set_affinity (0, "0", e));
    CHECK (sched_getaffinity (0, sizeof one, &one) == 0 && CPU_COUNT (&one) == 1);
    TRY (sched_reset_affinity (0, e));
    CHECK (sched_getaffinity (0, sizeof one, &one) == 0 && CPU_EQUAL (&one, &all));
    return 0;
}

static int set_affinity (const void *arg, struct err *e)
{
    return sched_set_affinity (0, arg, e);
}

static void test_affinity (void)
{
    expect (affinity, NULL, "CPU 0 alone, then all again");
    expect (set_affinity, "0,0-0", "a list with a range");
    expect_error (set_affinity, "0,4000-5000", "not all of 0,4000-5000", "CPUs that are not there");
    expect_error (set_affinity, "0,", "/process/execCPUAffinity", "an empty element");
    expect_error (set_affinity, "3-1", "/process/execCPUAffinity", "a range that runs backwards");
    expect_error (set_affinity, "0-9999", "/process/execCPUAffinity", "a number too large");
    expect_error (set_affinity, "1-2-3", "/process/execCPUAffinity", "two dashes");
    expect_error (set_affinity, " 0", "/process/execCPUAffinity", "a blank");
    expect_error (set_affinity, "00000000000000000000000000000000000000000000000000",
                  "/process/execCPUAffinity", "a long number");
}

static int domain (const void *arg, struct err *e)
{
    const unsigned long *d = arg;

    TRY (personality_set (*d, e));
    TRY (personality_check (*d, e));
    return personality_check (*d + 1, e) == -EPERM ? 0 : check (false, "check", e);
}

static int memory (const void *arg, struct err *e)
{
    struct mempolicy mp;

    TRY (mempolicy_prepare (arg, &mp, e));
    TRY (mempolicy_set (&mp, e));
    TRY (mempolicy_check (&mp, e));
    mp.mode ^= 1;
    CHECK (mempolicy_check (&mp, e) == -EPERM);
    return 0;
}

static void test_memory (void)
{
    static const int fixed[] = { OCI_MPOL_F_STATIC_NODES };
    const unsigned long linux32 = PER_LINUX32, linux64 = PER_LINUX;
    struct oci_memory_policy mp = { .mode = OCI_MPOL_BIND, .nodes = "0" };

    expect (domain, &linux32, "personality LINUX32");
    expect (domain, &linux64, "personality LINUX");
    expect (memory, &mp, "memory policy: bind to node 0");
    mp = (struct oci_memory_policy){ OCI_MPOL_INTERLEAVE, "0", fixed, 1 };
    expect (memory, &mp, "memory policy: interleave with static nodes");
    mp = (struct oci_memory_policy){ .mode = OCI_MPOL_PREFERRED };
    expect (memory, &mp, "memory policy: preferred without nodes is local");
    mp = (struct oci_memory_policy){ .mode = OCI_MPOL_DEFAULT };
    expect (memory, &mp, "memory policy: default");
    mp = (struct oci_memory_policy){ .mode = OCI_MPOL_BIND };
    expect_error (memory, &mp, "/linux/memoryPolicy: set mode", "bind to nothing");
    mp.nodes = "0-x";
    expect_error (memory, &mp, "/linux/memoryPolicy/nodes", "no list");
    mp.nodes = "1024";
    expect_error (memory, &mp, "/linux/memoryPolicy/nodes", "a node too large");
}

/* ---- keyring, labels ---- */

static int keyring (const void *arg, struct err *e)
{
    const struct plan *p = arg;
    struct plan exec = *p;
    AUTO_FD procfs = fd_procfs (e);
    bool none = false;

    CHECK (keyring_check (p, e) < 0);
    TRY (keyring_join (p, procfs, &none, e));
    CHECK (!none);
    TRY (keyring_check (p, e));
    exec.is_exec = true;
    TRY (keyring_join (&exec, procfs, &none, e));
    return keyring_check (p, e);
}

static void test_keyring (void)
{
    struct plan p = { .id = "test_harden" };

    expect (keyring, &p, "a session keyring of the container, joined again by exec");
    p.ns[NS_USER].mode = NS_MAKE;
    expect (keyring, &p, "one for another user namespace");
}

static int label (const void *arg, struct err *e)
{
    return lsm_prepare (arg, e);
}

static void test_labels (void)
{
    struct plan_process p = { .selinux = NULL };

    expect (label, &p, "no labels");
    p.selinux = "system_u:system_r:container_t:s0";
    if (!lsm_selinux_is_enabled ())
        expect_error (label, &p, "selinux label given but SELinux is disabled", "SELinux is off");
    p.selinux = NULL;
    p.apparmor = "docker-default";
    if (!lsm_apparmor_is_enabled ())
        expect_error (label, &p, "apparmor profile given but AppArmor is disabled",
                      "AppArmor is off");
}

/* ---- descriptors ---- */

static int descriptors (const void *arg, struct err *e)
{
    AUTO_FD procfs = fd_procfs (e);
    int open_ended;

    (void)arg;
    CHECK (procfs >= 3);
    TRY (fds_cloexec_from (3, procfs, e)); /* whoever runs the test may have left some open */
    open_ended = dup2 (1, 30);
    CHECK (open_ended == 30 && fds_check (3, procfs, e) == -EBADF);
    CHECK (strstr (e->msg, "descriptor 30 would survive"));
    TRY (fds_check (31, procfs, e));
    TRY (fds_cloexec_from (3, procfs, e));
    TRY (fds_check (3, procfs, e));
    return fcntl (1, F_GETFD) == 0 ? 0 : check (false, "stdout stays", e);
}

static int many_descriptors (const void *arg, struct err *e)
{
    AUTO_FD procfs = fd_procfs (e);

    (void)arg;
    for (int i = 0; i < 500; i++)
        CHECK (open ("/dev/null", O_RDONLY | O_CLOEXEC) >= 0);
    CHECK (fcntl (1, F_DUPFD, 300) >= 300);
    return fds_check (3, procfs, e);
}

static void test_fds (void)
{
    expect (descriptors, NULL, "descriptors that would survive are found and closed");
    expect_error (many_descriptors, NULL, " would survive execve", "one among hundreds");
}

/* ---- self ---- */

static int hide (const void *arg, struct err *e)
{
    (void)arg;
    CHECK (self_hide_check (e) == -EPERM);
    TRY (self_hide (e));
    return self_hide_check (e);
}

#define SELF_ARG "--sealed-child"

/* What runs again: with the exit code it tells where it runs from. */
static int sealed_child (void)
{
    struct err e;
    AUTO_FD procfs = fd_procfs (&e);
    AUTO_FD writable = openat (procfs, "self/exe", O_WRONLY | O_CLOEXEC);

    if (!self_is_sealed (procfs))
        return 1;
    return writable < 0 ? 42 : 2;
}

static int seal (const void *arg, struct err *e)
{
    const char *how = arg;
    AUTO_FD procfs = fd_procfs (e);
    char name[] = "test_harden";
    char option[] = SELF_ARG;
    char *argv[] = { name, option, NULL };

    CHECK (!self_is_sealed (procfs));
    if (strcmp (how, "user") == 0)
        CHECK (setresuid (1234, 1234, 1234) == 0);
    if (strcmp (how, "no /proc") == 0)
        CHECK (unshare (CLONE_NEWNS) == 0 &&
               mount (NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
               umount2 ("/proc", MNT_DETACH) == 0 && access ("/proc/self", F_OK) < 0);
    return self_seal (procfs, argv, e);
}

/* self_seal does not come back: the exit code of what it runs is looked at. */
static void run_sealed (const char *how)
{
    int status = 0;
    pid_t pid = fork ();

    if (pid == 0) {
        struct err e = { 0 };

        (void)alarm (10);
        (void)seal (how, &e);
        printf ("# %s\n", e.msg);
        (void)fflush (stdout);
        _exit (99);
    }
    (void)waitpid (pid, &status, 0);
    ok (WIFEXITED (status) && WEXITSTATUS (status) == 42, "runs again sealed, %s (%#x)", how,
        status);
}

/* A tmpfs file has seals of its own, which must not be taken for an answer. */
static void test_tmpfs (const char *self)
{
    char path[] = "/dev/shm/test_harden.XXXXXX";
    char command[512];
    int fd = mkstemp (path);

    /* Its own "ok" is no line of ours: to standard error. */
    (void)snprintf (command, sizeof command, "cp '%s' %s && %s --tmpfs >&2", self, path, path);
    ok (fd >= 0 && close (fd) == 0 && chmod (path, 0755) == 0 && system (command) == 0,
        "from a tmpfs too");
    (void)unlink (path);
}

int main (int argc, char **argv)
{
    if (argc > 1 && strcmp (argv[1], SELF_ARG) == 0)
        return sealed_child ();
    if (argc > 1) {
        run_sealed ("from a tmpfs");
        return tap_failures;
    }
    test_limits ();
    test_affinity ();
    test_memory ();
    test_keyring ();
    test_labels ();
    test_fds ();
    expect (hide, NULL, "a process hides");
    if (geteuid () != 0)
        return tap_done ();
    test_oom ();
    test_scheduler ();
    run_sealed ("root");
    run_sealed ("user");
#ifndef __SANITIZE_ADDRESS__ /* the sanitizer itself cannot start without /proc */
    run_sealed ("no /proc");
#endif
    test_tmpfs (argv[0]);
    return tap_done ();
}
