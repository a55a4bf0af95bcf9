/* One pty: made in the container, taken by its process, handed to whoever serves it. */
#include "tty/tty.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"

int tty_open (int ptmx, uint16_t rows, uint16_t cols, int *ret_master, int *ret_peer, struct err *e)
{
    const struct winsize size = { .ws_row = rows, .ws_col = cols };
    const int unlocked = 0;
    AUTO_FD master = fcntl (ptmx, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    AUTO_FD peer = -1;

    if (master < 0 || ioctl (master, TIOCSPTLCK, &unlocked) < 0)
        return err_sys (e, "unlock the terminal");
    peer = ioctl (master, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (peer < 0)
        return err_sys (e, "open the terminal's other side");
    if ((rows || cols) && ioctl (master, TIOCSWINSZ, &size) < 0)
        return err_sys (e, "set the terminal's size");
    *ret_master = TAKE_FD (master);
    *ret_peer = TAKE_FD (peer);
    return 0;
}

int tty_keep_newlines (int master, struct err *e)
{
    struct termios t;

    if (tcgetattr (master, &t) < 0)
        return err_sys (e, "the container's terminal");
    t.c_oflag &= (tcflag_t)~ONLCR;
    if (tcsetattr (master, TCSANOW, &t) < 0)
        return err_sys (e, "set up the container's terminal");
    return 0;
}

int tty_session (struct err *e)
{
    return setsid () < 0 ? err_sys (e, "setsid") : 0;
}

int tty_session_check (struct err *e)
{
    if (getsid (0) != getpid () || getpgrp () != getpid ())
        return err_set (e, EPERM, "the process is in the session of its caller");
    return 0;
}

int tty_wear (int peer, uid_t uid, struct err *e)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (dup2 (peer, fd) < 0)
            return err_sys (e, "put the terminal on descriptor %d", fd);
    /* An id that the user namespace does not map is EINVAL: the terminal then stays with root. */
    if (fchown (peer, uid, (gid_t)-1) < 0 && errno != EINVAL && errno != EPERM && errno != EROFS)
        return err_sys (e, "give the terminal to uid %u", uid);
    return 0;
}

int tty_control (struct err *e)
{
    if (ioctl (STDIN_FILENO, TIOCSCTTY, 0) < 0)
        return err_sys (e, "make the terminal the controlling one");
    return 0;
}

int tty_control_check (struct err *e)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (tcgetsid (fd) != getpid ())
            return err_set (e, ENOTTY, "descriptor %d is not the controlling terminal", fd);
    return 0;
}

int tty_send (int sock, int master, struct err *e)
{
    unsigned int number = 0;
    char name[32];
    int r;

    if (ioctl (master, TIOCGPTN, &number) < 0)
        return err_sys (e, "ask for the terminal's number");
    (void)snprintf (name, sizeof name, "/dev/pts/%u", number);
    r = fd_send (sock, name, strlen (name), master);
    if (r < 0) {
        errno = -r;
        return err_sys (e, "send the terminal to the console socket");
    }
    return 0;
}

int tty_receive (int sock, struct err *e)
{
    AUTO_FD master = -1;
    char name[64];
    ssize_t n = fd_recv (sock, name, sizeof name, &master);

    if (n == 0 || (n > 0 && master < 0))
        return err_set (e, EPROTO, "the container sent no terminal");
    if (n < 0) {
        errno = (int)-n;
        return err_sys (e, "receive the container's terminal");
    }
    if (!isatty (master))
        return err_sys (e, "the container's terminal");
    return TAKE_FD (master);
}
