#include "exec/sync.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"

struct sync_message {
    int type;
    int reserved; /* zero */
    struct err err;
};
_Static_assert(sizeof (struct sync_message) == 520, "a message is one small packet");

static int make_pair (int type, int *ret_parent, int *ret_child, struct err *e)
{
    int pair[2];

    if (socketpair (AF_UNIX, type | SOCK_CLOEXEC, 0, pair) < 0)
        return err_sys (e, "make a socket pair");
    *ret_parent = pair[0];
    *ret_child = pair[1];
    return 0;
}

int sync_pair (int *ret_parent, int *ret_child, struct err *e)
{
    return make_pair (SOCK_SEQPACKET, ret_parent, ret_child, e);
}

int sync_console_pair (int *ret_parent, int *ret_child, struct err *e)
{
    return make_pair (SOCK_STREAM, ret_parent, ret_child, e);
}

static int send_message (int sock, enum sync_type type, int fd, struct err *e)
{
    struct sync_message m = { .type = type };
    int r = fd_send (sock, &m, sizeof m, fd);

    return r < 0 ? err_set (e, EPIPE, "the other side of the set-up ended (%s)",
                            strerrordesc_np (-r) ?: "unknown error")
                 : 0;
}

int sync_send (int sock, enum sync_type type, struct err *e)
{
    return send_message (sock, type, -1, e);
}

int sync_send_listener (int sock, int fd, struct err *e)
{
    return send_message (sock, SYNC_LISTENER, fd, e);
}

void sync_send_error (int sock, const struct err *failure)
{
    struct sync_message m = { .type = SYNC_ERROR, .err = *failure };

    if (m.err.code == EPIPE)
        m.err.code = EIO;
    /* write, which seccomp filters allow more often than sendto; best effort, see sync.h */
    if (write (sock, &m, sizeof m) < 0)
        return;
}

/* 1: a message, 0: end of file. */
static int receive (int sock, struct sync_message *ret, int *ret_fd, struct err *e)
{
    ssize_t n = fd_recv (sock, ret, sizeof *ret, ret_fd);

    if (n == 0 || n == -ECONNRESET)
        return 0;
    errno = (int)-n;
    if (n < 0)
        return err_sys (e, "read from the other side of the set-up");
    if (n != (ssize_t)sizeof *ret)
        return err_set (e, EPROTO, "the other side of the set-up sent %zd bytes", n);
    ret->err.msg[sizeof ret->err.msg - 1] = '\0';
    return 1;
}

/* What M, which is not what belongs here, says. */
static int unexpected (const struct sync_message *m, int want, struct err *e)
{
    if (m->type == SYNC_ERROR) {
        *e = m->err;
        return -(m->err.code ?: EIO);
    }
    return err_set (e, EPROTO, "the other side of the set-up sent %d where %d belongs", m->type,
                    want);
}

int sync_expect_or_fd (int sock, enum sync_type want, int *ret_fd, struct err *e)
{
    struct sync_message m;
    AUTO_FD fd = -1;
    int r = receive (sock, &m, &fd, e);

    *ret_fd = -1;
    if (r < 0)
        return r;
    if (r == 0)
        return err_set (e, EPIPE, "the other side of the set-up ended");
    if (m.type != (int)want && (m.type != SYNC_LISTENER || fd < 0))
        return unexpected (&m, (int)want, e);
    *ret_fd = TAKE_FD (fd);
    return 0;
}

int sync_expect (int sock, enum sync_type want, struct err *e)
{
    int fd;
    int r = sync_expect_or_fd (sock, want, &fd, e);

    cleanup_fd (&fd);
    return r == 0 && fd >= 0 ? err_set (e, EPROTO, "a descriptor came that nobody waits for") : r;
}

static bool is_waiting (int sock)
{
    struct pollfd p = { .fd = sock, .events = POLLIN };

    return poll (&p, 1, 0) > 0;
}

bool sync_pending_error (int sock, struct err *e)
{
    struct sync_message m;
    struct err ignored;
    AUTO_FD fd = -1;

    while (is_waiting (sock) && receive (sock, &m, &fd, &ignored) > 0) {
        if (m.type != SYNC_ERROR)
            continue;
        *e = m.err;
        return true;
    }
    return false;
}

int sync_exec_result (int sock, int *ret_fd, struct err *e)
{
    struct sync_message m;
    AUTO_FD fd = -1;
    int r = receive (sock, &m, &fd, e);

    *ret_fd = -1;
    if (r <= 0)
        return r;
    if (m.type != SYNC_LISTENER || fd < 0)
        return unexpected (&m, SYNC_ERROR, e);
    *ret_fd = TAKE_FD (fd);
    return 0;
}
