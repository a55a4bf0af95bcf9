/* state/gate: a real init at a real gate, also as pid 1 of a pid namespace. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "state/gate.h"
#include "tap.h"

static char tmp[] = "/tmp/test_gate.XXXXXX";
static struct state s = { .dir = -1 };

/* What an init does once the gate is open. */
enum ending { EXEC_TRUE, EXEC_SLEEP, FAIL, FAIL_IN_EXEC, DIE };

static void __attribute__ ((noreturn)) after_gate (int conn, enum ending ending)
{
    struct err e = { 0 };

    if (ending == DIE)
        (void)kill (getpid (), SIGKILL);
    if (ending == FAIL) {
        (void)err_set (&e, EACCES, "no such luck");
        (void)state_gate_fail (conn, &e);
        _exit (1);
    }
    (void)state_gate_passed (conn, &e);
    if (ending == EXEC_TRUE)
        (void)execl ("/bin/true", "true", NULL);
    if (ending == EXEC_SLEEP)
        (void)execl ("/bin/sleep", "sleep", "1000", NULL);
    (void)err_set (&e, ENOENT, "exec failed");
    (void)state_gate_fail (conn, &e);
    _exit (1);
}

static void __attribute__ ((noreturn)) be_init (const struct state_gate *g, enum ending ending)
{
    struct err e = { 0 };
    int conn = -1;

    state_disown (&s);
    if (state_gate_lock (g, &e) == 0)
        conn = state_gate_wait (g, &e);
    if (conn < 0) {
        printf ("# %s\n", e.msg);
        _exit (99);
    }
    after_gate (conn, ending);
}

/* Forks an init with the signals blocked, as exec/ does; waits until it holds the lock. */
static pid_t start_init (enum ending ending)
{
    struct state_gate g;
    struct err e = { 0 };
    sigset_t all;
    sigset_t before;
    pid_t pid;

    (void)unlinkat (s.dir, STATE_GATE_LOCK, 0);
    (void)unlinkat (s.dir, "gate.sock", 0);
    if (state_gate_make (&s, &g, &e) < 0) {
        printf ("# %s\n", e.msg);
        exit (EXIT_FAILURE);
    }
    (void)sigfillset (&all);
    (void)sigprocmask (SIG_SETMASK, &all, &before);
    pid = fork ();
    if (pid == 0)
        be_init (&g, ending);
    (void)sigprocmask (SIG_SETMASK, &before, NULL);
    state_gate_close (&g);
    for (int i = 0; i < 200 && !state_gate_is_locked (&s); i++)
        (void)usleep (5000);
    return pid;
}

static int reap (pid_t pid)
{
    int status = -1;

    (void)waitpid (pid, &status, 0);
    return WIFEXITED (status) ? WEXITSTATUS (status) : 128 + WTERMSIG (status);
}

static double seconds (void)
{
    struct timespec ts;

    (void)clock_gettime (CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

/* Whom the watch looks at; 0: nobody. */
static pid_t watched;

static int is_halted (const void *data, struct err *e)
{
    const pid_t *pid = data;
    struct oci_saved_state saved = { .pid = *pid };
    struct err ignored = { 0 };

    if (*pid == 0 || state_start_time (*pid, &saved.pid_start_time, &ignored) < 0)
        return 0;
    return state_is_halted (&saved) ? err_set (e, EBUSY, "halted") : 0;
}

static int open_gate (struct err *e)
{
    const struct state_gate_watch w = { .held = is_halted, .data = &watched };

    return state_gate_open (&s, &w, e);
}

static void test_open (void)
{
    struct err e = { 0 };
    pid_t pid = start_init (EXEC_SLEEP);

    ok (state_gate_is_locked (&s), "locked while init waits");
    ok (open_gate (&e) == 0, "opened");
    ok (!state_gate_is_locked (&s), "execve lets the lock go");
    ok (open_gate (&e) == -ESRCH, "nobody is there any more");
    (void)kill (pid, SIGKILL);
    (void)reap (pid);

    pid = start_init (EXEC_TRUE);
    ok (open_gate (&e) == 0, "a workload that ends at once is a success");
    ok (reap (pid) == 0, "and ran");
}

static void test_failures (void)
{
    struct err e = { 0 };
    pid_t pid = start_init (FAIL);
    double t;

    ok (open_gate (&e) == -EACCES, "init failed");
    tap_is (e.msg, "no such luck", "its message");
    (void)reap (pid);
    pid = start_init (FAIL_IN_EXEC);
    ok (open_gate (&e) == -ENOENT && strcmp (e.msg, "exec failed") == 0, "execve failed");
    (void)reap (pid);
    pid = start_init (DIE);
    ok (open_gate (&e) == -ESRCH, "init died between the gate and execve");
    tap_is (e.msg, "cannot start a container that has stopped", "its message");
    (void)reap (pid);

    pid = start_init (EXEC_TRUE);
    (void)kill (pid, SIGKILL);
    (void)reap (pid);
    t = seconds ();
    ok (open_gate (&e) == -ESRCH && seconds () - t < 1, "init died at the gate");
    ok (!state_gate_is_locked (&s), "and left no lock");
}

static void test_signals (void)
{
    static const int ending[] = { SIGTERM, SIGINT, SIGHUP, SIGQUIT };

    for (size_t i = 0; i < ARRAY_LEN (ending); i++) {
        pid_t pid = start_init (EXEC_TRUE);

        (void)kill (pid, SIGUSR1);
        (void)kill (pid, ending[i]);
        ok (reap (pid) == 128 + ending[i], "%s ends init with 128+%d", strsignal (ending[i]),
            ending[i]);
    }
}

static void connect_to_gate (int fd)
{
    struct sockaddr_un addr = { .sun_family = AF_UNIX };

    (void)snprintf (addr.sun_path, sizeof addr.sun_path, "/proc/self/fd/%d/gate.sock", s.dir);
    if (connect (fd, (const struct sockaddr *)&addr, sizeof addr) < 0)
        exit (EXIT_FAILURE);
}

static void knock_and_leave (void)
{
    AUTO_FD fd = socket (AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

    connect_to_gate (fd);
    if (write (fd, "\1", 1) != 1)
        exit (EXIT_FAILURE);
}

/* Halted only once the watch has let the knock pass. */
static int halts_later (const void *data, struct err *e)
{
    static int looks;

    (void)data;
    return looks++ == 0 ? 0 : err_set (e, EBUSY, "halted");
}

static void test_knockers (void)
{
    struct err e = { 0 };
    pid_t pid = start_init (EXEC_TRUE);

    for (int i = 0; i < 20; i++) {
        AUTO_FD fd = socket (AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

        connect_to_gate (fd);
        if (i % 2 && write (fd, "?", 1) != 1)
            exit (EXIT_FAILURE);
    }
    (void)usleep (50000);
    ok (waitpid (pid, NULL, WNOHANG) == 0 && state_gate_is_locked (&s),
        "who goes away or says something else does not open it");
    ok (open_gate (&e) == 0 && reap (pid) == 0, "a start does");
}

static void halt (pid_t pid)
{
    siginfo_t info;

    (void)kill (pid, SIGSTOP);
    (void)waitid (P_PID, (id_t)pid, &info, WSTOPPED);
}

static void test_halted (void)
{
    struct err e = { 0 };
    pid_t pid = start_init (EXEC_TRUE);
    double t = seconds ();

    watched = pid;
    halt (pid);
    ok (open_gate (&e) == -EBUSY && strcmp (e.msg, "halted") == 0, "a halted init is refused");
    ok (seconds () - t < 1, "at once");
    (void)kill (pid, SIGCONT);
    ok (open_gate (&e) == 0 && reap (pid) == 0, "and can be started when it goes on");

    pid = start_init (EXEC_TRUE);
    watched = 0;
    halt (pid);
    knock_and_leave ();
    ok (state_gate_open (&s, &(struct state_gate_watch){ halts_later, NULL }, &e) == -EBUSY,
        "one that is halted meanwhile is not waited for without end");
    (void)kill (pid, SIGCONT);
    (void)usleep (50000);
    ok (waitpid (pid, NULL, WNOHANG) == 0 && state_gate_is_locked (&s),
        "who gave up waiting has not opened it");
    (void)kill (pid, SIGKILL);
    (void)reap (pid);
}

/* Only root can try: an owner that differs from the knocker. */
static void test_other_user (void)
{
    struct err e = { 0 };
    pid_t pid = start_init (EXEC_TRUE);
    struct timeval wait = { .tv_usec = 300000 };
    int status = -1;

    if (fork () == 0) {
        AUTO_FD fd = socket (AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
        char byte = 1;

        /* Past the folder's mode, as a descriptor that leaked would be. */
        if (fchmod (s.dir, 0777) < 0 || fchmodat (s.dir, "gate.sock", 0777, 0) < 0 ||
            chmod (tmp, 0777) < 0 || setuid (65534) < 0)
            _exit (2);
        connect_to_gate (fd);
        (void)setsockopt (fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof wait);
        if (write (fd, &byte, 1) != 1 && errno != EPIPE)
            _exit (3);
        _exit (read (fd, &byte, 1) <= 0 ? 0 : 1);
    }
    (void)wait4 (-1, &status, 0, NULL);
    ok (status == 0 && waitpid (pid, NULL, WNOHANG) == 0 && state_gate_is_locked (&s),
        "another user is turned away");
    (void)open_gate (&e);
    (void)reap (pid);
}

/* SIGTERM is ignored by a pid 1 that has no handler, unless it is blocked. */
static void test_pid1 (void)
{
    pid_t pid;
    int status;

    pid = fork ();
    if (pid == 0) {
        pid_t init;

        if (unshare (CLONE_NEWPID) < 0)
            _exit (77);
        init = start_init (EXEC_TRUE);
        (void)kill (init, SIGTERM);
        _exit (reap (init));
    }
    status = reap (pid);
    ok (status == 128 + SIGTERM || status == 77, "pid 1 of a pid namespace obeys SIGTERM (%d)",
        status);
}

int main (void)
{
    struct err e = { 0 };
    AUTO_FD root = -1;
    char cmd[64];

    if (!mkdtemp (tmp))
        return 1;
    root = open (tmp, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (state_claim (root, "a", &s, &e) < 0)
        return 1;
    ok (!state_gate_is_locked (&s), "no gate, no lock");
    test_open ();
    test_failures ();
    test_signals ();
    test_knockers ();
    test_halted ();
    if (geteuid () == 0)
        test_other_user ();
    test_pid1 ();
    state_close (&s);
    (void)snprintf (cmd, sizeof cmd, "rm -rf %s", tmp);
    ok (system (cmd) == 0, "clean up");
    return tap_done ();
}
