/* The strict filter in place: who may install it, what runs under it, what stands upon it. */
#include "harden/strict.h"

#include <linux/seccomp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "act.h"
#include "harden/strict_table.h"
#include "seccomp_profile.h"

#define X32 0x40000000U

#ifdef __x86_64__
#define NATIVE STRICT_X86_64
#else
#define NATIVE STRICT_AARCH64
#endif

static int install (struct err *e)
{
    if (prctl (PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
        return err_sys (e, "no_new_privs");
    return strict_install (e);
}

static int act_embedded (const void *arg, struct err *e)
{
    static struct sock_filter want[BPF_MAXINSNS];
    int n_want = strict_compile (strict_rows, n_strict_rows, NATIVE, want);
    size_t n;
    const void *insns = strict_filter (&n);

    (void)arg;
    CHECK ((int)n == n_want && memcmp (insns, want, n * sizeof *want) == 0);
    return 0;
}

static int act_check (const void *arg, struct err *e)
{
    int procfs = open ("/proc", O_PATH | O_CLOEXEC);

    if (arg)
        TRY (install (e));
    return strict_check (procfs, e);
}

static int act_unprivileged (const void *arg, struct err *e)
{
    (void)arg;
    CHECK (setresuid (1000, 1000, 1000) == 0);
    return strict_install (e);
}

/* An engine's filter upon it: each denies what it denies. */
static int act_stack (const void *arg, struct err *e)
{
    struct seccomp_filter engine = compile (
        parse (
            "{\"defaultAction\":\"SCMP_ACT_ALLOW\",\"syscalls\":[{\"names\":[\"getppid\",\"bpf\"],"
            "\"action\":\"SCMP_ACT_ERRNO\",\"errnoRet\":95}]}"),
        -1);
    int none;

    (void)arg;
    TRY (install (e));
    TRY (seccomp_install (&engine, &none, e));
    CHECK (syscall (SYS_getppid) < 0 && errno == EOPNOTSUPP);
    CHECK (syscall (SYS_unshare, 0) < 0 && errno == EPERM);
    CHECK (syscall (SYS_sync) == 0);
    return seccomp_check (open ("/proc", O_PATH | O_CLOEXEC), 0, 2, e);
}

static int act_work (const void *arg, struct err *e)
{
    int status = -1;
    pid_t pid;

    (void)arg;
    TRY (install (e));
    pid = fork ();
    CHECK (pid >= 0);
    if (pid == 0) {
        (void)execl ("/bin/sh", "sh", "-c", "exit 7", NULL);
        _exit (1);
    }
    CHECK (waitpid (pid, &status, 0) == pid && status == 7 << 8);
    return 0;
}

static void test_install (void)
{
    expect (act_embedded, NULL, "the embedded filter is the one that was tested");
    expect (act_check, "", "the check passes under the filter");
    expect_error (act_check, NULL, "/linux/seccomp: the process has mode 0",
                  "the check fails without it");
    expect_error (act_unprivileged, NULL, "needs noNewPrivileges or CAP_SYS_ADMIN",
                  "who may not install it is told");
    expect (act_stack, NULL, "an engine's filter stands upon it");
    expect (act_work, NULL, "a shell runs under it");
}

#ifdef __x86_64__
enum entry { ENTRY_X32, ENTRY_INT80 };

/* How a process ends that enters the kernel by another door: a wait status. */
static int enter (enum entry how, bool confined)
{
    int status = -1;
    pid_t pid = fork ();

    if (pid == 0) {
        struct err e = { 0 };
        long r = 20; /* getpid of i386 */

        (void)signal (SIGSEGV, SIG_DFL); /* a sanitizer has its own */
        if (confined && install (&e) < 0)
            _exit (1);
        if (how == ENTRY_X32)
            (void)syscall (X32 | SYS_getpid);
        else
            __asm__ volatile("int $0x80" : "+a"(r) : : "memory");
        _exit (0);
    }
    if (pid > 0)
        (void)waitpid (pid, &status, 0);
    return status;
}

static void test_doors (void)
{
    int plain = enter (ENTRY_INT80, false), confined = enter (ENTRY_INT80, true);

    ok (enter (ENTRY_X32, false) == 0 && WTERMSIG (enter (ENTRY_X32, true)) == SIGSYS,
        "the kernel kills a call of x32, and only under the filter");
    /* A kernel without IA32 support has no such door: the filter is not asked. */
    ok (plain == 0 ? WTERMSIG (confined) == SIGSYS : plain == confined,
        "int 0x80: status %#x without the filter, %#x under it", plain, confined);
}
#else
static void test_doors (void)
{
}
#endif

int main (void)
{
    test_install ();
    test_doors ();
    arena_free (&arena);
    return tap_done ();
}
