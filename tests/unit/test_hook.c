/* hook/: real shell scripts in a temporary folder, run as hooks. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/signals.h"
#include "hook/hook.h"
#include "tap.h"

static char tmp[] = "/tmp/test_hook.XXXXXX";

/* An executable TMP/NAME with TEXT. */
static const char *script (const char *name, const char *text)
{
    static char paths[32][64];
    static size_t n;
    char *path = paths[n++ % ARRAY_LEN (paths)];
    FILE *f;

    (void)snprintf (path, sizeof paths[0], "%s/%s", tmp, name);
    f = fopen (path, "w");
    if (!f || fprintf (f, "#!/bin/sh\n%s\n", text) < 0 || fclose (f) != 0 || chmod (path, 0755) < 0)
        exit (EXIT_FAILURE);
    return path;
}

static bool file_is (const char *name, const char *want)
{
    char path[64];
    char got[4096] = "";
    FILE *f;
    size_t len;

    (void)snprintf (path, sizeof path, "%s/%s", tmp, name);
    f = fopen (path, "r");
    if (!f)
        return false;
    len = fread (got, 1, sizeof got - 1, f);
    (void)fclose (f);
    got[len] = '\0';
    if (strcmp (got, want) != 0)
        printf ("# %s holds '%s'\n", name, got);
    return strcmp (got, want) == 0;
}

static int run (const struct oci_hook *hook, struct err *e)
{
    const struct oci_hooks hooks = { .prestart = hook, .n_prestart = 1 };
    const struct hook_call call = { .kind = HOOK_PRESTART,
                                    .state_json = "{\"id\":\"x\"}",
                                    .cwd = tmp };

    *e = (struct err){ 0 };
    return hook_run (&hooks, &call, e);
}

static double seconds (void)
{
    struct timespec ts;

    (void)clock_gettime (CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

/* As a careless caller may have left them; not CHLD, which makes waiting impossible. */
static void ignore_all (void)
{
    const unsigned long ignore[4] = { (unsigned long)SIG_IGN };

    for (int sig = 1; sig < NSIG; sig++)
        if (sig != SIGCHLD)
            (void)syscall (SYS_rt_sigaction, sig, ignore, NULL, sizeof ignore[0]);
}

static void test_what_it_gets (void)
{
    static const char *const args[] = { "argv0", "one", "two", NULL };
    static const char *const env[] = { "A=1", "B=2", NULL };
    struct oci_hook hook = { .path =
                                 script ("gets", "cat >stdin; echo \"$1 $2\" >args; pwd >cwd\n"
                                                 "tr '\\0' '\\n' </proc/$$/environ >env\n"
                                                 "cat /proc/$$/cmdline | tr '\\0' ' ' >cmdline\n"
                                                 "grep -E '^Sig(Blk|Ign)' /proc/$$/status | "
                                                 "awk '{print $2}' >signals\n"
                                                 "umask >umask"),
                             .args = args,
                             .n_args = 3,
                             .env = env,
                             .n_env = 2 };
    struct err e;
    sigset_t all;
    sigset_t before;
    char cwd[64];
    mode_t mask = umask (0);
    int r;

    (void)sigfillset (&all);
    (void)sigprocmask (SIG_SETMASK, &all, &before);
    ignore_all ();
    r = run (&hook, &e);
    signals_reset ();
    (void)sigprocmask (SIG_SETMASK, &before, NULL);
    (void)umask (mask);
    ok (r == 0, "a hook that succeeds");
    ok (file_is ("stdin", "{\"id\":\"x\"}"), "its state on stdin");
    ok (file_is ("args", "one two\n"), "its arguments");
    (void)snprintf (cwd, sizeof cwd, "%s\n", tmp);
    ok (file_is ("cwd", cwd), "its working directory");
    ok (file_is ("env", "A=1\nB=2\n"), "its environment and nothing else");
    ok (file_is ("signals", "0000000000000000\n0000000000000000\n"),
        "no signal blocked or ignored");
    ok (file_is ("umask", "0022\n"), "the usual umask");
}

static void test_descriptors (void)
{
    static const char *const args[] = { "ls", "-m", "/proc/self/fd", "/nonexistent", NULL };
    const struct oci_hook hook = { .path = "/bin/ls", .args = args, .n_args = 4 };
    AUTO_FD leak = open ("/", O_RDONLY); /* not close-on-exec on purpose */
    struct err e;

    ok (leak > 2 && run (&hook, &e) == -EIO, "a hook that lists its descriptors and fails");
    ok (strstr (e.msg, "/proc/self/fd:\n0, 1, 2, 3") != NULL, "0-2, and 3 on the folder: %s",
        strrchr (e.msg, '\n') + 1);
}

static void test_env (void)
{
    char var[] = "P=process";
    char *const process_env[] = { var, NULL };
    struct oci_hook hook = { .path = script ("env", "tr '\\0' '\\n' </proc/$$/environ >env2") };
    const struct oci_hooks hooks = { .start_container = &hook, .n_start_container = 1 };
    struct hook_call call = {
        .kind = HOOK_START_CONTAINER, .state_json = "{}", .cwd = tmp, .default_env = process_env
    };
    struct err e = { 0 };

    ok (run (&hook, &e) == 0 && file_is ("env2", ""), "no env given: none (not ours)");
    ok (hook_run (&hooks, &call, &e) == 0 && file_is ("env2", "P=process\n"),
        "startContainer without env: the process's");
    call.kind = HOOK_POSTSTOP;
    ok (hook_run (&hooks, &call, &e) == 0 && hook_run (NULL, &call, &e) == 0, "no hooks of a kind");
}

static void test_failures (void)
{
    struct oci_hook hook = { .path = script ("fail", "echo out; echo err >&2; exit 3") };
    const struct oci_hook three[] = { { .path = script ("good", ":") },
                                      hook,
                                      { .path = script ("last", "echo yes >ran") } };
    const struct oci_hooks hooks = {
        .prestart = three, .n_prestart = 3, .poststop = three, .n_poststop = 3
    };
    struct hook_call call = { .kind = HOOK_PRESTART, .state_json = "{}", .cwd = tmp };
    char want[160];
    struct err e;

    ok (run (&hook, &e) == -EIO, "exit status 3");
    tap_is (e.msg, "error running prestart hook #0: exit status 3, output: out\nerr",
            "its message");
    ok (hook_run (&hooks, &call, &e) == -EIO && !file_is ("ran", "yes\n"),
        "the first failure ends the list");
    tap_is (e.msg, "error running prestart hook #1: exit status 3, output: out\nerr",
            "and names its place");
    call.kind = HOOK_POSTSTOP;
    ok (hook_run (&hooks, &call, &e) == -EIO && file_is ("ran", "yes\n"),
        "but all poststop hooks run");
    tap_is (e.msg, "error running poststop hook #1: exit status 3, output: out\nerr",
            "and the failure is told");
    hook.path = script ("dies", "kill -KILL $$");
    (void)run (&hook, &e);
    tap_is (e.msg, "error running prestart hook #0: signal: killed", "killed by a signal");
    hook.path = "/nonexistent";
    ok (run (&hook, &e) == -ENOENT, "not there");
    tap_is (e.msg, "error running prestart hook #0: '/nonexistent' cannot be executed (ENOENT)",
            "its message would not be taken for the workload's");
    hook.path = tmp;
    (void)run (&hook, &e);
    (void)snprintf (want, sizeof want,
                    "error running prestart hook #0: '%s' cannot be executed (EACCES)", tmp);
    tap_is (e.msg, want, "a folder");
}

/* Whether a process whose command line has WORD runs. */
static bool is_running (const char *word)
{
    char cmd[128];

    (void)snprintf (cmd, sizeof cmd, "pgrep -f '[%c]%s' >/dev/null", word[0], word + 1);
    return system (cmd) == 0;
}

static void test_timeout (void)
{
    struct oci_hook hook = { .path = script ("slow",
                                             "trap '' TERM; echo begun; sleep 9731 & sleep 9731"),
                             .timeout = 1,
                             .has_timeout = true };
    struct err e;
    double t = seconds ();

    ok (run (&hook, &e) == -ETIMEDOUT, "longer than its timeout");
    tap_is (e.msg, "error running prestart hook #0: timed out after 1 s, output: begun",
            "its message");
    t = seconds () - t;
    ok (t > 0.9 && t < 1.8, "after one second (%.2f)", t);
    ok (!is_running ("sleep 9731"), "its whole group is gone");

    hook.path = script ("left", "(sleep 8452 &) ; exit 0");
    t = seconds ();
    ok (run (&hook, &e) == 0, "one that leaves a process with its stdout behind");
    ok (seconds () - t < 0.9, "is not waited for");
    ok (is_running ("sleep 8452"), "and not killed");
    ok (system ("pkill -f '[s]leep 8452'") == 0, "end it");
}

static void test_pipes (void)
{
    static char big[1024 * 1024];
    struct oci_hook hook = { .path = script ("deaf", "exec 0<&-; exit 0") };
    const struct oci_hooks hooks = { .prestart = &hook, .n_prestart = 1 };
    const struct hook_call call = { .kind = HOOK_PRESTART, .state_json = big, .cwd = tmp };
    struct rusage ru;
    struct err e;

    memset (big, 'x', sizeof big - 1);
    ok (hook_run (&hooks, &call, &e) == 0, "1 MiB of state for one that closes stdin");
    hook.path = script ("sleepy", "sleep 5");
    hook.timeout = 1;
    hook.has_timeout = true;
    ok (hook_run (&hooks, &call, &e) == -ETIMEDOUT, "and for one that never reads");
    hook.path = script ("reads", "cat | wc -c >count");
    ok (hook_run (&hooks, &call, &e) == 0 && file_is ("count", "1048575\n"),
        "and for one that reads");
    hook.has_timeout = false;
    hook.path = script ("flood", "head -c 50000000 /dev/zero; echo oops >&2; exit 1");
    ok (run (&hook, &e) == -EIO, "50 MB of output");
    (void)getrusage (RUSAGE_SELF, &ru);
    ok (ru.ru_maxrss < 64 * 1024, "does not stay in memory (%ld KiB)", ru.ru_maxrss);
}

static int await_gone (pid_t pid)
{
    for (int i = 0; i < 500 && kill (pid, 0) == 0; i++)
        (void)usleep (10000);
    return kill (pid, 0);
}

/* A process that left the hook's group, and whose parent has ended, dies with it all the same. */
static void test_timeout_session (void)
{
    static const char script[] =
        "(setsid sh -c 'setsid sleep 300 & echo $! >session; wait' &) ; sleep 300";
    const char *args[] = { "sh", "-c", script };
    struct oci_hook hook = {
        .path = "/bin/sh", .args = args, .n_args = 3, .timeout = 1, .has_timeout = true
    };
    struct err e = { 0 };
    char path[64];
    FILE *f;
    int pid = 0;

    ok (run (&hook, &e) == -ETIMEDOUT, "a hook with a daemon is too slow");
    (void)snprintf (path, sizeof path, "%s/session", tmp);
    f = fopen (path, "re");
    ok (f && fscanf (f, "%d", &pid) == 1 && await_gone (pid) < 0 && errno == ESRCH,
        "and nothing of it is left");
    if (f)
        (void)fclose (f);
}

int main (void)
{
    char cmd[64];

    if (!mkdtemp (tmp))
        return 1;
    test_what_it_gets ();
    test_descriptors ();
    test_env ();
    test_failures ();
    test_timeout ();
    test_timeout_session ();
    test_pipes ();
    (void)snprintf (cmd, sizeof cmd, "rm -rf %s", tmp);
    ok (system (cmd) == 0, "clean up");
    return tap_done ();
}
