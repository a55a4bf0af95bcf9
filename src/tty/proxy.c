/* The foreground proxy: one poll loop between the caller's stdio and the container's terminal. */
#include "tty/tty.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/pidfd.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fd.h"

#define BUFFER_SIZE 16384

/* After the end of its process the terminal is read until nobody holds it. Somebody may hold it for
 * ever: then until nothing has come for a moment, or until he has talked long enough. */
#define DRAIN_IDLE_MS 100
#define DRAIN_MS      2000

/* A program that takes the terminal out of line mode after the end of input was told loses it: it
 * is told again once the program has written something and then nothing more for this long. */
#define END_AGAIN_MS 100

/* One direction. Filled only when empty, so a reader that stops stops the writer. */
struct flow {
    int from, to;     /* -1: closed */
    bool outlives_to; /* read on, and throw away, when nobody takes it any more */
    bool ended;       /* FROM came to its end */
    size_t off, len;
    char buf[BUFFER_SIZE];
};

struct tty_proxy {
    int master;          /* borrowed */
    int stdin_, stdout_; /* our own open files of them */
    bool is_raw;
    struct termios saved; /* what to restore on descriptor 0 */
    bool end_told;        /* input came to its end, and the container's side was told */
    bool has_written;     /* since then */
    struct flow in, out;
};

/* Non-blocking is a property of the open file, which we share with the caller's shell: so a
 * terminal or a pipe is opened anew. What cannot be (a socket, another user's pipe) is used as
 * it is; it is written to only after poll says so. */
static int own_open_file (int fd, int access)
{
    char path[FD_PATH_MAX];
    struct stat st;
    int own = -1;

    if (fstat (fd, &st) == 0 && (S_ISCHR (st.st_mode) || S_ISFIFO (st.st_mode)))
        own = open (fd_path (path, fd), access | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    return own >= 0 ? own : fcntl (fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
}

/* Input may be a pipe where output is a terminal. */
static bool caller_size (struct winsize *ret)
{
    return ioctl (STDIN_FILENO, TIOCGWINSZ, ret) == 0 ||
           ioctl (STDOUT_FILENO, TIOCGWINSZ, ret) == 0;
}

void tty_caller_size (uint16_t *rows, uint16_t *cols)
{
    struct winsize size;

    if (caller_size (&size) && size.ws_row && size.ws_col) {
        *rows = size.ws_row;
        *cols = size.ws_col;
    }
}

static void copy_size (const struct tty_proxy *p)
{
    struct winsize size;

    if (caller_size (&size))
        (void)ioctl (p->master, TIOCSWINSZ, &size);
}

/* Output processing stays on: it adds the carriage returns that tty_receive took from the
 * container's side. */
static int set_raw (struct tty_proxy *p, struct err *e)
{
    struct termios raw;

    if (tcgetattr (STDIN_FILENO, &p->saved) < 0)
        return 0; /* no terminal */
    raw = p->saved;
    cfmakeraw (&raw);
    raw.c_oflag |= OPOST;
    if (tcsetattr (STDIN_FILENO, TCSANOW, &raw) < 0)
        return err_sys (e, "set the terminal to raw mode");
    p->is_raw = true;
    return 0;
}

static int set_nonblocking (int fd)
{
    int flags = fcntl (fd, F_GETFL);

    return flags < 0 ? -1 : fcntl (fd, F_SETFL, flags | O_NONBLOCK);
}

int tty_proxy_start (int master, struct tty_proxy **ret, struct err *e)
{
    struct tty_proxy *p = calloc (1, sizeof *p);
    int r;

    if (!p)
        return err_oom (e);
    p->master = master;
    p->stdin_ = own_open_file (STDIN_FILENO, O_RDONLY);
    p->stdout_ = own_open_file (STDOUT_FILENO, O_WRONLY);
    p->in = (struct flow){ .from = p->stdin_, .to = master };
    /* A container does not stop because nobody looks at it (crun#1717). */
    p->out = (struct flow){ .from = master, .to = p->stdout_, .outlives_to = true };
    if (p->stdin_ < 0 || p->stdout_ < 0 || set_nonblocking (master) < 0)
        r = err_sys (e, "set up the terminal's copy");
    else
        r = set_raw (p, e);
    if (r < 0) {
        tty_proxy_stop (&p);
        return r;
    }
    copy_size (p);
    *ret = p;
    return 0;
}

void tty_proxy_stop (struct tty_proxy **p)
{
    if (!*p)
        return;
    if ((*p)->is_raw)
        (void)tcsetattr (STDIN_FILENO, TCSADRAIN, &(*p)->saved); /* gone: nothing to restore */
    cleanup_fd (&(*p)->stdin_);
    cleanup_fd (&(*p)->stdout_);
    free (*p);
    *p = NULL;
}

/* ---- copying ---- */

static bool is_passing_error (void)
{
    return errno == EAGAIN || errno == EINTR;
}

/* EIO of the master: nobody holds the other side. EIO of a terminal: we are in the background. */
static void fill (struct flow *f)
{
    ssize_t n = read (f->from, f->buf, sizeof f->buf);

    if (n > 0) {
        f->off = 0;
        f->len = (size_t)n;
    } else if (n == 0 || !is_passing_error ()) {
        f->from = -1;
        f->ended = true;
    }
}

/* At most PIPE_BUF: a pipe that poll calls writable takes that much without blocking. */
static void flush (struct flow *f)
{
    ssize_t n = write (f->to, f->buf + f->off, f->len < PIPE_BUF ? f->len : PIPE_BUF);

    if (n >= 0) {
        f->off += (size_t)n;
        f->len -= (size_t)n;
    } else if (!is_passing_error ()) {
        f->to = -1;
    }
}

/* What to ask poll for. A descriptor that nothing is asked of is left out: poll reports POLLHUP and
 * POLLERR unasked, which would be a busy loop. */
static struct pollfd ask_from (const struct flow *f)
{
    return (struct pollfd){ .fd = f->len == 0 ? f->from : -1, .events = POLLIN };
}

static struct pollfd ask_to (const struct flow *f)
{
    return (struct pollfd){ .fd = f->len > 0 ? f->to : -1, .events = POLLOUT };
}

static void serve (struct flow *f, const struct pollfd *from, const struct pollfd *to)
{
    if (to->revents)
        flush (f);
    if (from->revents)
        fill (f);
    if (f->to >= 0)
        return;
    f->len = 0;
    if (!f->outlives_to)
        f->from = -1;
}

/* ---- signals ---- */

/* Our own business: our children, and a reader that left. */
static bool is_own (uint32_t sig)
{
    return sig == SIGCHLD || sig == SIGPIPE || sig == SIGURG;
}

static bool is_ending (uint32_t sig)
{
    return sig == SIGTERM || sig == SIGINT || sig == SIGHUP || sig == SIGQUIT;
}

/* Returns whether a signal came that should end us once the container has ended. */
static bool pass_signals (const struct tty_proxy *p, int signal_fd, int pidfd)
{
    struct signalfd_siginfo si;
    bool ending = false;

    while (read (signal_fd, &si, sizeof si) == (ssize_t)sizeof si) {
        if (si.ssi_signo == SIGWINCH)
            copy_size (p);
        else if (!is_own (si.ssi_signo))
            (void)pidfd_send_signal (pidfd, (int)si.ssi_signo, NULL, 0); /* ESRCH: it has ended */
        ending = ending || is_ending (si.ssi_signo);
    }
    return ending;
}

/* ---- the loop ---- */

enum { P_SIGNALS, P_PIDFD, P_IN_FROM, P_IN_TO, P_OUT_FROM, P_OUT_TO, P_COUNT };

struct happened {
    bool exited; /* the process has ended */
    bool ending; /* as pass_signals */
};

/* Input that is no terminal can end (</dev/null, a pipe): the container's side hears of it as from
 * a keyboard, by its end-of-file character, or a shell there would wait for ever. */
static void tell_end_of_input (struct tty_proxy *p)
{
    struct termios t;

    p->end_told = true;
    p->has_written = false;
    if (tcgetattr (p->master, &t) < 0)
        return;
    p->in.buf[0] = (char)t.c_cc[VEOF];
    p->in.off = 0;
    p->in.len = 1;
}

/* Both directions. */
static void copy (struct tty_proxy *p, const struct pollfd *in, const struct pollfd *out)
{
    serve (&p->in, &in[0], &in[1]);
    if (p->in.ended && p->in.len == 0 && !p->is_raw) {
        p->in.ended = false;
        tell_end_of_input (p);
    }
    serve (&p->out, &out[0], &out[1]);
    p->has_written = p->has_written || p->out.len > 0;
}

/* One round; returns what poll does. */
static int poll_once (struct tty_proxy *p, int pidfd, int signal_fd, int timeout_ms,
                      struct happened *ret)
{
    struct pollfd fds[P_COUNT] = {
        [P_SIGNALS] = { .fd = signal_fd, .events = POLLIN },
        [P_PIDFD] = { .fd = pidfd, .events = POLLIN },
        [P_IN_FROM] = ask_from (&p->in),
        [P_IN_TO] = ask_to (&p->in),
        [P_OUT_FROM] = ask_from (&p->out),
        [P_OUT_TO] = ask_to (&p->out),
    };
    int n = poll (fds, P_COUNT, timeout_ms);

    if (n <= 0)
        return n < 0 && errno == EINTR ? 1 : n;
    ret->exited = fds[P_PIDFD].revents != 0;
    ret->ending = fds[P_SIGNALS].revents && pass_signals (p, signal_fd, pidfd);
    copy (p, &fds[P_IN_FROM], &fds[P_OUT_FROM]);
    return n;
}

/* What was read is written however long the reader takes, unless a signal says that it is
 * enough. */
static int drain (struct tty_proxy *p, int signal_fd, struct err *e)
{
    int64_t until = clock_ms () + DRAIN_MS;
    struct happened h = { 0 };
    int n = 1;

    p->in.from = p->in.to = -1;
    p->in.len = 0;
    while (n > 0 && !h.ending && (p->out.from >= 0 || p->out.len > 0)) {
        n = poll_once (p, -1, signal_fd, p->out.len > 0 ? -1 : DRAIN_IDLE_MS, &h);
        if (clock_ms () >= until)
            p->out.from = -1;
    }
    return n < 0 ? err_sys (e, "poll") : 0;
}

int tty_proxy_run (struct tty_proxy *p, int pidfd, int signal_fd, struct err *e)
{
    struct happened h = { 0 };

    while (!h.exited) {
        int n =
            poll_once (p, pidfd, signal_fd, p->end_told && p->has_written ? END_AGAIN_MS : -1, &h);

        if (n < 0)
            return err_sys (e, "poll");
        if (n == 0)
            tell_end_of_input (p);
    }
    return drain (p, signal_fd, e);
}
