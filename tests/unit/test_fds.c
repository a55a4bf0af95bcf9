#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "harden/fds.h"
#include "tap.h"

/* A descriptor 3 with FLAGS, or none for -1, and what the check says of it. */
static int check_three (int flags, struct err *e)
{
    (void)close (3);
    if (flags >= 0 && open ("/dev/null", O_RDONLY | flags) != 3)
        return -1000;
    return fds_check_preserved (1, e);
}

int main (void)
{
    struct err e = {};

    (void)ok (fds_check_preserved (0, &e) == 0, "none is asked for");
    (void)ok (check_three (0, &e) == 0, "inherited: can be handed on");
    (void)ok (check_three (-1, &e) == -EBADF, "closed: %s", e.msg);
    (void)ok (check_three (O_CLOEXEC, &e) == -EBADF, "opened by ourselves in a gap: %s", e.msg);
    return tap_done ();
}
