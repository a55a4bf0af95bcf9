#include "state/gate.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"

/* A start writes its byte right after it has connected. */
#define KNOCK_TIMEOUT_MS 5000

/* How often `start` looks whether init can answer at all, and for how long that may be so. */
#define LOOK_MS        100
#define HELD_LOOKS     20
#define CONNECT_WAIT_S 2

static const char knock = 1;
static const char passed = 1;

/* The folder's path may be longer than the 107 bytes of a socket address, its descriptor's is
 * not. */
static struct sockaddr_un gate_address (const struct state *s)
{
    struct sockaddr_un addr = { .sun_family = AF_UNIX };
    char dir[FD_PATH_MAX];

    (void)snprintf (addr.sun_path, sizeof addr.sun_path, "%s/" STATE_GATE_SOCKET,
                    fd_path (dir, s->dir));
    return addr;
}

static int make_listener (const struct state *s, struct err *e)
{
    struct sockaddr_un addr = gate_address (s);
    AUTO_FD fd = socket (AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (fd < 0 || bind (fd, (const struct sockaddr *)&addr, sizeof addr) < 0 || listen (fd, 8) < 0)
        return err_sys (e, "make the gate's socket");
    return TAKE_FD (fd);
}

static int make_signalfd (struct err *e)
{
    static const int ending[] = { SIGTERM, SIGINT, SIGHUP, SIGQUIT };
    sigset_t set;
    int fd;

    (void)sigemptyset (&set);
    for (size_t i = 0; i < ARRAY_LEN (ending); i++)
        (void)sigaddset (&set, ending[i]);
    fd = signalfd (-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    return fd >= 0 ? fd : err_sys (e, "signalfd");
}

int state_gate_make (const struct state *s, struct state_gate *ret, struct err *e)
{
    AUTO_FD listener = make_listener (s, e);
    AUTO_FD lock = -1;
    AUTO_FD signals = -1;

    if (listener < 0)
        return listener;
    lock = fd_open_mode (s->dir, STATE_GATE_LOCK, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0600,
                         FD_BENEATH, e);
    if (lock < 0)
        return err_add (e, "make the gate");
    signals = make_signalfd (e);
    if (signals < 0)
        return signals;
    *ret = (struct state_gate){ .listener = TAKE_FD (listener),
                                .lock = TAKE_FD (lock),
                                .signals = TAKE_FD (signals) };
    return 0;
}

void state_gate_close (struct state_gate *g)
{
    cleanup_fd (&g->listener);
    cleanup_fd (&g->lock);
    cleanup_fd (&g->signals);
    *g = (struct state_gate){ -1, -1, -1 };
}

int state_gate_lock (const struct state_gate *g, struct err *e)
{
    struct flock whole = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

    return fcntl (g->lock, F_OFD_SETLK, &whole) < 0 ? err_sys (e, "lock the gate") : 0;
}

bool state_gate_is_locked (const struct state *s)
{
    struct flock whole = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
    AUTO_FD fd = openat (s->dir, STATE_GATE_LOCK, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);

    return fd >= 0 && fcntl (fd, F_OFD_GETLK, &whole) == 0 && whole.l_type != F_UNLCK;
}

/* Both ids are as our user namespace sees them: an owner that it does not map looks like any
 * other unmapped user, which leaves the 0700 folder as the only guard, as it is in every case
 * (CVE-2020-15257: a file in a private folder, not an abstract address). */
static bool is_owner (const struct state_gate *g, int conn)
{
    struct ucred peer;
    socklen_t len = sizeof peer;
    struct stat st;

    return getsockopt (conn, SOL_SOCKET, SO_PEERCRED, &peer, &len) == 0 && len == sizeof peer &&
           fstat (g->lock, &st) == 0 && peer.uid == st.st_uid;
}

/* Ends the process if a signal that ends it has come. */
static void obey_signals (const struct state_gate *g)
{
    struct signalfd_siginfo si;

    if (read (g->signals, &si, sizeof si) == (ssize_t)sizeof si)
        _exit (128 + (int)si.ssi_signo);
}

/* Waits for FD or a signal. 0 on a timeout. */
static int wait_readable (const struct state_gate *g, int fd, int timeout_ms)
{
    struct pollfd p[] = { { .fd = g->signals, .events = POLLIN }, { .fd = fd, .events = POLLIN } };
    int n = poll (p, ARRAY_LEN (p), timeout_ms);

    if (n > 0 && p[0].revents)
        obey_signals (g);
    return n;
}

/* Who knocked and did not wait, because we were stopped say, has told its caller so. */
static bool has_left (int conn)
{
    struct pollfd p = { .fd = conn, .events = POLLRDHUP };

    return poll (&p, 1, 0) > 0 && p.revents & (POLLRDHUP | POLLHUP);
}

/* One who connected: whether he asks to open. He may be gone, silent or somebody else. */
static bool is_knock (const struct state_gate *g, int conn)
{
    char byte = 0;

    return is_owner (g, conn) && wait_readable (g, conn, KNOCK_TIMEOUT_MS) > 0 &&
           read (conn, &byte, 1) == 1 && byte == knock && !has_left (conn);
}

/* Who connects can be gone again before we look. */
static bool is_passing_error (int code)
{
    return code == EAGAIN || code == EINTR || code == ECONNABORTED;
}

int state_gate_wait (const struct state_gate *g, struct err *e)
{
    for (;;) {
        AUTO_FD conn = -1;

        if (wait_readable (g, g->listener, -1) < 0 && errno != EINTR)
            return err_sys (e, "wait at the gate");
        conn = accept4 (g->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (conn < 0 && !is_passing_error (errno))
            return err_sys (e, "accept at the gate");
        if (conn >= 0 && is_knock (g, conn))
            return TAKE_FD (conn);
    }
}

int state_gate_passed (int conn, struct err *e)
{
    int r = fd_send (conn, &passed, sizeof passed, -1);

    if (r == 0 || r == -EPIPE || r == -ECONNRESET)
        return 0;
    errno = -r;
    return err_sys (e, "tell start");
}

int state_gate_listener (int conn, int fd)
{
    struct pollfd p = { .fd = conn, .events = POLLIN };
    char answer;
    int r = fd_send (conn, &passed, sizeof passed, fd);

    while (r == 0 && poll (&p, 1, -1) < 0)
        r = errno == EINTR ? 0 : -errno;
    return r == 0 && read (conn, &answer, 1) != 1 ? -EPIPE : r;
}

int state_gate_fail (int conn, const struct err *why)
{
    return fd_write_all (conn, why, sizeof *why);
}

static int has_stopped (struct err *e)
{
    return err_set (e, ESRCH, "cannot start a container that has stopped");
}

/* Until there is something to read, or an end of file. An init that is stopped or frozen would keep
 * us, and everybody who waits for our lock, for ever. */
static int await_word (int sock, const struct state_gate_watch *w, struct err *e)
{
    struct pollfd p = { .fd = sock, .events = POLLIN };

    for (int looks = 0; poll (&p, 1, LOOK_MS) <= 0;) {
        looks = w->held (w->data, e) < 0 ? looks + 1 : 0;
        if (looks > HELD_LOOKS)
            return -e->code;
    }
    return 0;
}

static int serve_listener (int sock, const struct state_gate_watch *w, int fd, struct err *e)
{
    int r = w->hand_over (w->data, fd, e);

    if (r == 0) /* a broken pipe is told better by what we read next */
        (void)fd_send (sock, &passed, sizeof passed, -1);
    return r;
}

/* How the conversation of gate.h ends. */
static int await_answer (int sock, const struct state_gate_watch *w, struct err *e)
{
    bool has_passed = false;
    struct err answer;

    for (;;) {
        AUTO_FD fd = -1;
        int r = await_word (sock, w, e);
        ssize_t n = r < 0 ? 0 : fd_recv (sock, &answer, sizeof answer, &fd);

        if (r == 0 && n == (ssize_t)sizeof passed && fd >= 0)
            r = serve_listener (sock, w, fd, e);
        if (r < 0)
            return r;
        if (fd >= 0)
            continue;
        if (n == (ssize_t)sizeof answer && answer.code > 0) {
            *e = answer;
            e->msg[sizeof e->msg - 1] = '\0';
            return -e->code;
        }
        if (n != (ssize_t)sizeof passed)
            break; /* end of file, or ECONNRESET when init died with our byte unread */
        has_passed = true;
    }
    return has_passed ? 0 : has_stopped (e);
}

static int connect_to_init (const struct state *s, struct err *e)
{
    const struct timeval wait = { .tv_sec = CONNECT_WAIT_S };
    struct sockaddr_un addr = gate_address (s);
    AUTO_FD sock = socket (AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

    if (sock < 0 || setsockopt (sock, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof wait) < 0)
        return err_sys (e, "make a socket");
    if (connect (sock, (const struct sockaddr *)&addr, sizeof addr) < 0) {
        if (errno == ECONNREFUSED || errno == ENOENT) /* nobody listens, or a delete was faster */
            return has_stopped (e);
        return err_sys (e, "connect to the gate");
    }
    return TAKE_FD (sock);
}

int state_gate_open (const struct state *s, const struct state_gate_watch *w, struct err *e)
{
    int r = w->held (w->data, e);
    AUTO_FD sock = r < 0 ? r : connect_to_init (s, e);

    if (sock < 0)
        return sock;
    /* A broken pipe is told better by what we read next. */
    (void)fd_send (sock, &knock, sizeof knock, -1);
    return await_answer (sock, w, e);
}
