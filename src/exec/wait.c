/*
 * A command in the foreground: it waits for its process, passes signals on and serves the terminal.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "exec/run.h"
#include "tty/tty.h"

/* Signals of this process's own business: its children, and a reader of our output that left. */
static bool is_forwarded (uint32_t sig)
{
    return sig != SIGCHLD && sig != SIGPIPE && sig != SIGURG;
}

static void forward_signals (int signal_fd, int pidfd)
{
    struct signalfd_siginfo info;

    while (read (signal_fd, &info, sizeof info) == sizeof info)
        if (is_forwarded (info.ssi_signo))
            (void)syscall (SYS_pidfd_send_signal, pidfd, (int)info.ssi_signo, NULL, 0);
}

static int wait_plain (int pidfd, int signal_fd, struct err *e)
{
    struct pollfd fds[] = { { .fd = pidfd, .events = POLLIN },
                            { .fd = signal_fd, .events = POLLIN } };

    while (fds[0].revents == 0) {
        if (poll (fds, ARRAY_LEN (fds), -1) < 0 && errno != EINTR)
            return err_sys (e, "wait for the container");
        if (fds[1].revents & POLLIN)
            forward_signals (signal_fd, pidfd);
    }
    return 0;
}

static int wait_terminal (struct run *r, int signal_fd, struct err *e)
{
    struct tty_proxy *proxy = NULL;
    AUTO_FD master = tty_receive (r->tty_parent, e);
    int result = master < 0 ? master : tty_proxy_start (master, &proxy, e);

    if (result == 0)
        result = tty_proxy_run (proxy, r->pidfd, signal_fd, e);
    tty_proxy_stop (&proxy);
    return result;
}

static int reap (int pidfd, int *ret, struct err *e)
{
    siginfo_t info = { 0 };

    while (waitid (P_PIDFD, (id_t)pidfd, &info, WEXITED) < 0)
        if (errno != EINTR)
            return err_sys (e, "wait for the container");
    *ret = info.si_code == CLD_EXITED ? info.si_status : 128 + info.si_status;
    return 0;
}

int run_wait (struct run *r, int *ret, struct err *e)
{
    sigset_t all;
    AUTO_FD signal_fd = -1;
    int result;

    (void)sigfillset (&all);
    signal_fd = signalfd (-1, &all, SFD_CLOEXEC | SFD_NONBLOCK);
    if (signal_fd < 0)
        return err_sys (e, "make a signal descriptor");
    result =
        r->tty_parent >= 0 ? wait_terminal (r, signal_fd, e) : wait_plain (r->pidfd, signal_fd, e);
    return result < 0 ? result : reap (r->pidfd, ret, e);
}
