/*
 * A seccomp agent: answers for the system calls of containers, as tests want it.
 */
#include "agent.h"

#include <errno.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#define LISTENERS_MAX 15

#ifdef SYS_mkdir
#define MKDIR SYS_mkdir
#else
#define MKDIR SYS_mkdirat
#endif

/* One connection: the state becomes a line of standard output. Returns the descriptor that came. */
static int take (int sock)
{
    union {
        struct cmsghdr align;
        char buf[CMSG_SPACE (sizeof (int))];
    } control = { 0 };
    static char text[65536];
    struct iovec iov = { .iov_base = text, .iov_len = sizeof text };
    struct msghdr msg = {
        .msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control
    };
    int conn = accept (sock, NULL, NULL);
    ssize_t n = recvmsg (conn, &msg, 0);
    int fd = -1;

    if (n > 0 && CMSG_FIRSTHDR (&msg))
        memcpy (&fd, CMSG_DATA (CMSG_FIRSTHDR (&msg)), sizeof fd);
    for (; n > 0; n = read (conn, text, sizeof text))
        (void)fwrite (text, 1, (size_t)n, stdout);
    (void)puts ("");
    (void)fflush (stdout);
    (void)close (conn);
    return fd;
}

/* mkdir fails as no kernel would have it; whatever else is asked goes on. */
static void answer (int fd)
{
    struct seccomp_notif req = { 0 };
    struct seccomp_notif_resp resp = { 0 };

    if (ioctl (fd, SECCOMP_IOCTL_NOTIF_RECV, &req) < 0)
        return;
    resp.id = req.id;
    if (req.data.nr == SYS_mkdirat || req.data.nr == MKDIR)
        resp.error = -ENOMEDIUM;
    else
        resp.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
    (void)ioctl (fd, SECCOMP_IOCTL_NOTIF_SEND, &resp); /* the asker may be gone */
}

int agent (const char *path)
{
    struct sockaddr_un addr = { .sun_family = AF_UNIX };
    struct pollfd fds[LISTENERS_MAX + 1] = { { .events = POLLIN } };
    nfds_t n = 1;

    (void)snprintf (addr.sun_path, sizeof addr.sun_path, "%s", path);
    fds[0].fd = socket (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (bind (fds[0].fd, (const struct sockaddr *)&addr, sizeof addr) < 0 ||
        listen (fds[0].fd, 8) < 0)
        return 1;
    while (poll (fds, n, -1) > 0) {
        for (nfds_t i = 1; i < n; i++)
            if (fds[i].revents & POLLIN)
                answer (fds[i].fd);
            else if (fds[i].revents)
                fds[i].fd = -1 - close (fds[i].fd); /* nobody has the filter any more */
        if (fds[0].revents && n <= LISTENERS_MAX)
            fds[n++] = (struct pollfd){ .fd = take (fds[0].fd), .events = POLLIN };
    }
    return 1;
}
