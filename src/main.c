#include <signal.h>
#include <stdlib.h>

#include "base/log.h"
#include "cmd/cmd.h"
#include "tty/tty.h"

int main (int argc, char **argv)
{
    struct err e = {};

    (void)argc;
    /* A reader that went away must not kill us half-way through: writes then fail and are checked.
     * The container gets all signals back at their defaults. */
    (void)signal (SIGPIPE, SIG_IGN);
    /* Ignored by our caller, it would be so for us too: the kernel throws exit statuses away. */
    (void)signal (SIGCHLD, SIG_DFL);
    if (tty_open_missing_stdio (&e) < 0) {
        log_line (LOG_ERROR, "%s", e.msg);
        return EXIT_FAILURE;
    }
    return cmd_main (argv);
}
