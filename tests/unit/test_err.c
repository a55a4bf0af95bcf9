#include "libocispec/err.h"

#include <errno.h>

#include "tap.h"

static void check_set (void)
{
    struct err e = { 0 };

    ok (err_set (&e, EINVAL, "mount %d", 3) == -EINVAL, "err_set returns the negative code");
    ok (e.code == EINVAL, "and keeps the code");
    tap_is (e.msg, "mount 3", "and formats");
}

static void check_sys (void)
{
    struct err e = { 0 };

    errno = ENOENT;
    ok (err_sys (&e, "open '%s'", "/x") == -ENOENT, "err_sys takes errno");
    tap_is (e.msg, "open '/x': it is not there (ENOENT)",
            "engines must not read it as the workload's");
    errno = 0;
    ok (err_sys (&e, "x") == -EIO, "errno 0 is still a failure");
}

static void check_add (void)
{
    struct err e = { 0 };
    char big[2 * ERR_MSG_MAX];

    (void)err_set (&e, EPERM, "inner");
    ok (err_add (&e, "outer %d", 1) == -EPERM, "err_add keeps the code");
    tap_is (e.msg, "outer 1: inner", "and widens the text");
    memset (big, 'x', sizeof big - 1);
    big[sizeof big - 1] = '\0';
    (void)err_add (&e, "%s", big);
    ok (strlen (e.msg) == ERR_MSG_MAX - 1, "a text that is too long is cut off");
    (void)err_set (&e, EPERM, "%s", big);
    (void)err_add (&e, "head");
    ok (strncmp (e.msg, "head: xxx", 9) == 0, "at its tail");
    ok (err_oom (&e) == -ENOMEM && e.code == ENOMEM,
        "memory that is out is an error like any other");
}

int main (void)
{
    check_set ();
    check_sys ();
    check_add ();
    return tap_done ();
}
