#pragma once
/*
 * What create and run have in common: their options.
 */
#include "cmd/cmd.h"

struct launch_options {
    const char *bundle, *config, *pid_file, *console_socket, *pidfd_socket;
    bool no_pivot, no_new_keyring;
    unsigned int preserve_fds;
    bool detach, keep; /* run only */
    bool no_subreaper; /* not used: agentrt never becomes one */
};

extern const struct opt launch_table[];

/* The options of C for exec/container.h. */
void launch_fill (const struct call *c, struct container_create_options *ret);
