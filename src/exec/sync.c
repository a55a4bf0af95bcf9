#include "exec/sync.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

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

static int send_message (int sock, const struct sync_message *m)
{
    ssize_t n;

    do
        n = send (sock, m, sizeof *m, MSG_NOSIGNAL);
    while (n < 0 && errno == EINTR);
    return n == (ssize_t)sizeof *m ? 0 : -(errno ?: EIO);
}

int sync_send (int sock, enum sync_type type, struct err *e)
{
    struct sync_message m = { .type = type };
    int r = send_message (sock, &m);

    return r < 0 ? err_set (e, EPIPE, "the other side of the set-up ended (%s)",
                            strerrordesc_np (-r) ?: "unknown error")
                 : 0;
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
static int receive (int sock, int flags, struct sync_message *ret, struct err *e)
{
    ssize_t n;

    do
        n = recv (sock, ret, sizeof *ret, flags);
    while (n < 0 && errno == EINTR);
    if (n == 0 || (n < 0 && errno == ECONNRESET))
        return 0;
    if (n < 0)
        return err_sys (e, "read from the other side of the set-up");
    if (n != (ssize_t)sizeof *ret)
        return err_set (e, EPROTO, "the other side of the set-up sent %zd bytes", n);
    ret->err.msg[sizeof ret->err.msg - 1] = '\0';
    return 1;
}

int sync_expect (int sock, enum sync_type want, struct err *e)
{
    struct sync_message m;
    int r = receive (sock, 0, &m, e);

    if (r < 0)
        return r;
    if (r == 0)
        return err_set (e, EPIPE, "the other side of the set-up ended");
    if (m.type == SYNC_ERROR) {
        *e = m.err;
        return -(m.err.code ?: EIO);
    }
    if (m.type != (int)want)
        return err_set (e, EPROTO, "the other side of the set-up sent %d where %d belongs", m.type,
                        (int)want);
    return 0;
}

bool sync_pending_error (int sock, struct err *e)
{
    struct sync_message m;
    struct err ignored;

    while (receive (sock, MSG_DONTWAIT, &m, &ignored) > 0) {
        if (m.type != SYNC_ERROR)
            continue;
        *e = m.err;
        return true;
    }
    return false;
}

int sync_exec_result (int sock, struct err *e)
{
    struct sync_message m;
    int r = receive (sock, 0, &m, e);

    if (r <= 0)
        return r;
    *e = m.err;
    return -(m.err.code ?: EIO);
}
