#include "strict.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "seccomp.h"

static const struct sock_filter filter[] = {
#include "harden/strict_filter.inc"
};

#define FILTER_LEN (sizeof filter / sizeof *filter)
_Static_assert(FILTER_LEN > 100 && FILTER_LEN < BPF_MAXINSNS / 4, "leave room for another one");

const void *strict_filter (size_t *ret_n)
{
    *ret_n = FILTER_LEN;
    return filter;
}

/* struct sock_fprog, whose pointer the kernel only reads from. */
struct const_fprog {
    unsigned short len;
    const struct sock_filter *filter;
};
_Static_assert(sizeof (struct const_fprog) == sizeof (struct sock_fprog), "the kernel's layout");

int strict_install (struct err *e)
{
    const struct const_fprog prog = { FILTER_LEN, filter };

    if (syscall (SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &prog) == 0)
        return 0;
    if (errno == EACCES)
        return err_set (e, EACCES, "strict seccomp filter: needs noNewPrivileges or CAP_SYS_ADMIN");
    return err_sys (e, "strict seccomp filter: load %zu instructions", FILTER_LEN);
}

/* The filter lets this question pass, or denies it: both say that there is one. */
static int check_mode (struct err *e)
{
    int mode = prctl (PR_GET_SECCOMP, 0, 0, 0, 0);

    if (mode == SECCOMP_MODE_FILTER || (mode < 0 && errno == EPERM))
        return 0;
    return err_set (e, EPERM, "strict seccomp filter: it is not there");
}

int strict_check (int procfs, struct err *e)
{
    int r = procfs < 0 ? check_mode (e) : seccomp_check (procfs, 0, 1, e);

    if (r < 0)
        return r;
    if (unshare (0) == 0 || errno != EPERM)
        return err_set (e, EPERM, "strict seccomp filter: does not answer");
    return 0;
}
