/* Descriptors 0, 1 and 2, where they are no pty of ours. */
#include "tty/tty.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

int tty_open_missing_stdio (struct err *e)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        if (fcntl (fd, F_GETFD) >= 0)
            continue;
        if (open ("/dev/null", O_RDWR) != fd) /* the lowest free number; not close-on-exec */
            return err_sys (e, "open /dev/null as descriptor %d", fd);
    }
    return 0;
}

static int chown_one (int fd, uid_t uid, struct err *e)
{
    struct stat st;

    if (fstat (fd, &st) < 0)
        return err_sys (e, "stat descriptor %d", fd);
    if (st.st_uid == uid || S_ISCHR (st.st_mode) || S_ISBLK (st.st_mode) || S_ISDIR (st.st_mode))
        return 0;
    if (fchown (fd, uid, (gid_t)-1) < 0 && errno != EINVAL && errno != EPERM && errno != EROFS)
        return err_sys (e, "give descriptor %d to uid %u", fd, uid);
    return 0;
}

int tty_chown_stdio (uid_t uid, struct err *e)
{
    int r = 0;

    for (int fd = STDIN_FILENO; r == 0 && fd <= STDERR_FILENO; fd++)
        r = chown_one (fd, uid, e);
    return r;
}

int tty_stdio_check (struct err *e)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl (fd, F_GETFD) < 0)
            return err_sys (e, "descriptor %d", fd);
    return 0;
}
