#include "cmd/launch.h"

/* More descriptors than any process may have open by default would only be typing errors. */
#define PRESERVE_MAX 65536

#define AT(member) offsetof (struct launch_options, member)

const struct opt launch_table[] = {
    { "bundle", 'b', OPT_TEXT, AT (bundle), "DIR", "the bundle (default: the current directory)" },
    { "config", 'f', OPT_TEXT, AT (config), "FILE", "read FILE instead of config.json" },
    { "pid-file", 0, OPT_TEXT, AT (pid_file), "FILE", "write the process id to FILE" },
    { "console-socket", 0, OPT_TEXT, AT (console_socket), "SOCKET",
      "send the terminal over a UNIX socket" },
    { "pidfd-socket", 0, OPT_TEXT, AT (pidfd_socket), "SOCKET",
      "send a pidfd of the process over a UNIX socket" },
    { "preserve-fds", 0, OPT_NUMBER, AT (preserve_fds), "N",
      "pass on N descriptors, from 3 (after LISTEN_FDS)", .max = PRESERVE_MAX },
    { "no-pivot", 0, OPT_FLAG, AT (no_pivot), NULL, "do not use pivot_root" },
    { "no-new-keyring", 0, OPT_FLAG, AT (no_new_keyring), NULL, "keep the session keyring" },
    { "no-subreaper", 0, OPT_FLAG, AT (no_subreaper), NULL, "accepted without effect" },
    {},
};

void launch_fill (const struct call *c, struct container_create_options *ret)
{
    const struct launch_options *o = c->options;

    *ret = (struct container_create_options){
        .id = c->operands[0],
        .bundle = o->bundle ?: ".",
        .config = o->config,
        .pid_file = o->pid_file,
        .console_socket = o->console_socket,
        .pidfd_socket = o->pidfd_socket,
        .no_pivot = o->no_pivot,
        .no_new_keyring = o->no_new_keyring,
        .detach = o->detach,
        .keep = o->keep,
        .preserve_fds = o->preserve_fds,
    };
}
