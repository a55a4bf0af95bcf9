/* tty/: real ptys, real shells in them, and the proxy between. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/pidfd.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "tap.h"
#include "tty/tty.h"

static void must (int r)
{
    if (r < 0) {
        perror ("test set-up");
        exit (EXIT_FAILURE);
    }
}

static void make_pty (int *master, int *peer, uint16_t rows, uint16_t cols)
{
    AUTO_FD ptmx = open ("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC);
    struct err e = { 0 };

    must (ptmx);
    must (tty_open (ptmx, rows, cols, master, peer, &e));
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

/* ---- one pty ---- */

static void test_open (void)
{
    struct winsize size = { 0 };
    AUTO_FD master = -1;
    AUTO_FD peer = -1;

    make_pty (&master, &peer, 33, 99);
    ok (isatty (peer) && ioctl (peer, TIOCGWINSZ, &size) == 0 && size.ws_row == 33 &&
            size.ws_col == 99,
        "a pty with its size");
    ok ((fcntl (master, F_GETFD) & FD_CLOEXEC) && (fcntl (peer, F_GETFD) & FD_CLOEXEC),
        "close-on-exec");
}

static int take (uid_t uid)
{
    struct err e = { 0 };
    struct stat st;
    int master = -1;
    int peer = -1;

    make_pty (&master, &peer, 0, 0);
    if (tty_session_check (&e) == 0 || tty_session (&e) < 0 || tty_session_check (&e) < 0)
        return 4;
    if (tty_control_check (&e) == 0 || tty_wear (peer, uid, &e) < 0 || tty_control (&e) < 0 ||
        tty_control_check (&e) < 0)
        return 1;
    if (fstat (0, &st) < 0 || (geteuid () == 0 && st.st_uid != uid))
        return 2;
    return open ("/dev/tty", O_RDWR | O_CLOEXEC) >= 0 ? 0 : 3;
}

static void test_take (void)
{
    pid_t pid = fork ();

    if (pid == 0)
        _exit (take (65534));
    ok (reap (pid) == 0, "controlling terminal, descriptors 0-2, owner");
}

static void test_send (void)
{
    struct err e = { 0 };
    struct termios t;
    AUTO_FD master = -1;
    AUTO_FD peer = -1;
    AUTO_FD got = -1;
    char want[32];
    char name[64] = "";
    int sv[2];
    ssize_t n;

    make_pty (&master, &peer, 0, 0);
    must (socketpair (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sv));
    ok (tty_send (sv[0], master, &e) == 0, "send");
    n = fd_recv (sv[1], name, sizeof name, &got);
    ok (n > 0 && got >= 0 && ptsname_r (master, want, sizeof want) == 0 &&
            strlen (want) == (size_t)n && memcmp (name, want, (size_t)n) == 0,
        "one message: its name and a descriptor");
    (void)close (got);
    must (tty_send (sv[0], master, &e));
    got = tty_receive (sv[1], &e);
    ok (got >= 0 && tcgetattr (peer, &t) == 0 && (t.c_oflag & ONLCR), "receive");
    ok (tty_keep_newlines (got, &e) == 0 && tcgetattr (peer, &t) == 0 && !(t.c_oflag & ONLCR) &&
            (t.c_oflag & OPOST),
        "newlines are left to the caller's terminal");
    must (fd_send (sv[0], "x", 1, sv[0]));
    ok (tty_receive (sv[1], &e) == -ENOTTY, "no terminal");
    (void)close (sv[0]);
    ok (tty_receive (sv[1], &e) == -EPROTO, "nothing at all");
    (void)close (sv[1]);
}

/* ---- stdio ---- */

static void test_stdio (void)
{
    struct err e = { 0 };
    pid_t pid = fork ();

    if (pid == 0) {
        struct stat st;
        struct stat null;
        int pipes[2];

        (void)close (0);
        (void)close (1);
        (void)close (2);
        if (tty_stdio_check (&e) == 0 || tty_open_missing_stdio (&e) < 0 ||
            tty_stdio_check (&e) < 0)
            _exit (1);
        must (pipe (pipes));
        must (dup2 (pipes[1], 1));
        if (geteuid () != 0)
            _exit (0);
        if (tty_chown_stdio (65534, &e) < 0 || fstat (1, &st) < 0 || fstat (0, &null) < 0)
            _exit (2);
        _exit (st.st_uid == 65534 && null.st_uid == 0 ? 0 : 3);
    }
    ok (reap (pid) == 0, "missing ones are opened; pipes change hands, /dev/null does not");
}

/* ---- the proxy ---- */

/* A runtime in the foreground, with SCRIPT as its container. */
struct result {
    int status;
    double cpu;
    bool restored; /* the caller's terminal is as it was */
};

struct job {
    const char *script;
    int in, out; /* what the runtime has as stdin and stdout */
    pid_t pid;
    int report; /* a struct result comes here */
};

static pid_t start_container (const char *script, int *ret_master)
{
    int peer = -1;
    pid_t pid;

    make_pty (ret_master, &peer, 0, 0);
    pid = fork ();
    if (pid == 0) {
        struct err e = { 0 };
        sigset_t none;

        (void)sigemptyset (&none);
        (void)sigprocmask (SIG_SETMASK, &none, NULL);
        must (tty_session (&e));
        must (tty_wear (peer, geteuid (), &e));
        must (tty_control (&e));
        (void)execl ("/bin/sh", "sh", "-c", script, NULL);
        _exit (127);
    }
    (void)close (peer);
    return pid;
}

static struct result be_runtime (const char *script)
{
    struct result res = { .status = 99 };
    struct tty_proxy *proxy = NULL;
    struct termios before = { 0 };
    struct termios after = { 0 };
    struct rusage ru;
    struct err e = { 0 };
    sigset_t all;
    int master = -1;
    int signal_fd;
    int pidfd;
    pid_t pid;

    (void)sigfillset (&all);
    (void)sigprocmask (SIG_SETMASK, &all, NULL);
    signal_fd = signalfd (-1, &all, SFD_CLOEXEC | SFD_NONBLOCK);
    pid = start_container (script, &master);
    pidfd = pidfd_open (pid, 0);
    (void)tcgetattr (0, &before);
    if (tty_proxy_start (master, &proxy, &e) < 0 || tty_proxy_run (proxy, pidfd, signal_fd, &e) < 0)
        fprintf (stderr, "# %s\n", e.msg);
    tty_proxy_stop (&proxy);
    (void)tcgetattr (0, &after);
    res.restored = memcmp (&before, &after, sizeof before) == 0;
    res.status = reap (pid);
    (void)getrusage (RUSAGE_SELF, &ru);
    res.cpu = (double)(ru.ru_utime.tv_sec + ru.ru_stime.tv_sec) +
              (double)(ru.ru_utime.tv_usec + ru.ru_stime.tv_usec) / 1e6;
    return res;
}

static void start (struct job *j)
{
    int report[2];

    must (pipe2 (report, O_CLOEXEC));
    (void)fflush (stdout);
    j->pid = fork ();
    if (j->pid == 0) {
        struct result res;

        must (dup2 (j->in, 0));
        must (dup2 (j->out, 1));
        (void)close_range (3, (unsigned int)report[1] - 1, 0);
        res = be_runtime (j->script);
        must ((int)write (report[1], &res, sizeof res));
        _exit (0);
    }
    (void)close (report[1]);
    j->report = report[0];
}

static struct result finish (struct job *j)
{
    struct result res = { .status = -1 };

    (void)!read (j->report, &res, sizeof res);
    (void)close (j->report);
    (void)reap (j->pid);
    return res;
}

/* Reads FD to its end into BUF. */
static size_t read_all (int fd, char *buf, size_t size)
{
    size_t len = 0;
    ssize_t n;

    while (len < size && (n = read (fd, buf + len, size - len)) > 0)
        len += (size_t)n;
    return len;
}

struct pipes {
    int in[2], out[2];
};

/* A job between two pipes; ours are in[1] and out[0]. */
static struct pipes start_on_pipes (struct job *j)
{
    struct pipes p;

    must (pipe2 (p.in, O_CLOEXEC));
    must (pipe2 (p.out, O_CLOEXEC));
    j->in = p.in[0];
    j->out = p.out[1];
    start (j);
    (void)close (p.in[0]);
    (void)close (p.out[1]);
    return p;
}

static void test_pipes (void)
{
    struct job j = { .script = "stty -echo; read line; echo \"<$line>\"; exit 7" };
    struct pipes p = start_on_pipes (&j);
    char buf[64] = "";
    struct result res;

    (void)usleep (100000);
    must ((int)write (p.in[1], "hello\n", 6));
    (void)read_all (p.out[0], buf, sizeof buf - 1);
    res = finish (&j);
    ok (res.status == 7 && strstr (buf, "<hello>") != NULL,
        "input goes in, the last output comes out");
    (void)close (p.in[1]);
    (void)close (p.out[0]);
}

/* A slow reader gets every byte of a fast writer. */
static void test_back_pressure (void)
{
    static char buf[4 * 1024 * 1024];
    struct job j = { .script = "stty -onlcr; head -c 3000000 /dev/zero | tr '\\0' x; printf end" };
    struct pipes p = start_on_pipes (&j);
    struct result res;
    size_t len;

    (void)usleep (300000);
    len = read_all (p.out[0], buf, sizeof buf);
    res = finish (&j);
    ok (len == 3000003 && memcmp (buf + len - 3, "end", 3) == 0, "3 MB and the end (%zu)", len);
    ok (res.cpu < 1.5, "%.2f s of CPU", res.cpu);
    (void)close (p.in[1]);
    (void)close (p.out[0]);
}

/* A reader that is stopped: the runtime sleeps, and so does its container. */
static void test_stopped_reader (void)
{
    static char buf[1024 * 1024];
    struct job j = { .script = "stty -onlcr; head -c 500000 /dev/zero | tr '\\0' x; exit 3" };
    struct pipes p = start_on_pipes (&j);
    struct result res;
    size_t len;

    (void)usleep (1500000);
    len = read_all (p.out[0], buf, sizeof buf);
    res = finish (&j);
    ok (len == 500000 && res.status == 3, "nothing is lost (%zu)", len);
    ok (res.cpu < 0.3, "no busy loop: %.2f s of CPU", res.cpu);
    (void)close (p.in[1]);
    (void)close (p.out[0]);
}

static void test_closed_sides (void)
{
    struct job j = { .script = "yes | head -n 200000; sleep 1; exit 5" };
    struct pipes p = start_on_pipes (&j);
    struct result res;

    (void)close (p.in[1]);
    (void)close (p.out[0]);
    res = finish (&j);
    ok (res.status == 5, "the container goes on when nobody reads it any more");
    ok (res.cpu < 0.5, "no busy loop: %.2f s of CPU", res.cpu);
}

/* The container's process ends its use of the terminal, and lives on: the master says EIO. */
static void test_closed_master (void)
{
    struct job j = { .script = "exec <&- >&- 2>&-; sleep 1; exit 4" };
    struct pipes p = start_on_pipes (&j);
    struct result res = finish (&j);

    ok (res.status == 4 && res.cpu < 0.3, "the terminal is closed early: %.2f s of CPU", res.cpu);
    (void)close (p.in[1]);
    (void)close (p.out[0]);
}

static void test_left_behind (void)
{
    struct job j = { .script = "trap '' HUP; (sleep 5 & ) ; echo bye" };
    struct pipes p = start_on_pipes (&j);
    char buf[64] = "";
    double t = seconds ();
    struct result res = finish (&j);

    ok (res.status == 0 && seconds () - t < 2.5, "who holds the terminal is not waited for");
    (void)read_all (p.out[0], buf, sizeof buf - 1);
    ok (strstr (buf, "bye") != NULL, "the output is there");
    (void)close (p.in[1]);
    (void)close (p.out[0]);
}

/* ---- on a terminal ---- */

static bool wait_for (int fd, char *buf, size_t size, const char *want)
{
    size_t len = strlen (buf);
    struct pollfd p = { .fd = fd, .events = POLLIN };

    while (!strstr (buf, want) && len < size - 1 && poll (&p, 1, 5000) > 0) {
        ssize_t n = read (fd, buf + len, size - 1 - len);

        if (n <= 0)
            break;
        len += (size_t)n;
        buf[len] = '\0';
    }
    return strstr (buf, want) != NULL;
}

static void test_terminal (void)
{
    struct winsize size = { .ws_row = 40, .ws_col = 120 };
    char buf[4096] = "";
    struct termios t;
    struct result res;
    struct job j = { .script = "stty -echo; stty size; trap 'stty size; trap - WINCH' WINCH\n"
                               "trap 'echo term; exit 9' TERM; echo ready; "
                               "while :; do sleep 0.05; done" };
    AUTO_FD master = -1;
    AUTO_FD peer = -1;

    make_pty (&master, &peer, 24, 80);
    j.in = j.out = peer;
    start (&j);
    ok (wait_for (master, buf, sizeof buf, "ready") && strstr (buf, "24 80"),
        "the size of the caller's terminal");
    ok (tcgetattr (peer, &t) == 0 && !(t.c_lflag & (ICANON | ISIG | ECHO)), "raw mode");
    ok ((fcntl (peer, F_GETFL) & O_NONBLOCK) == 0, "the caller's descriptor still blocks");
    must (ioctl (master, TIOCSWINSZ, &size));
    (void)kill (j.pid, SIGWINCH);
    ok (wait_for (master, buf, sizeof buf, "40 120"), "its new size");
    (void)kill (j.pid, SIGTERM);
    ok (wait_for (master, buf, sizeof buf, "term"), "a signal is passed on");
    res = finish (&j);
    ok (res.status == 9, "the status");
    ok (res.restored, "the terminal is as before");
}

int main (void)
{
    test_open ();
    test_take ();
    test_send ();
    test_stdio ();
    test_pipes ();
    test_back_pressure ();
    test_stopped_reader ();
    test_closed_sides ();
    test_closed_master ();
    test_left_behind ();
    test_terminal ();
    return tap_done ();
}
