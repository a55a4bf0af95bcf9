#include "base/signals.h"

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The kernel's struct sigaction, not glibc's; all zero is SIG_DFL. */
struct kernel_sigaction {
    unsigned long handler, flags, restorer, mask;
};

void signals_reset (void)
{
    static const struct kernel_sigaction dfl = { 0 };
    const unsigned long none = 0;

    for (int sig = 1; sig < NSIG; sig++)
        (void)syscall (SYS_rt_sigaction, sig, &dfl, NULL, sizeof dfl.mask);
    (void)syscall (SYS_rt_sigprocmask, SIG_SETMASK, &none, NULL, sizeof none);
}
