/* kill: a signal to a container's init, or to all of its processes. */
#include <signal.h>

#include "cmd/cmd.h"
#include "cmd/signals.h"

struct kill_options {
    bool all;
};

static const struct opt kill_table[] = {
    { "all", 'a', OPT_FLAG, offsetof (struct kill_options, all), NULL,
      "to every process; a stopped container is no error" },
    {},
};

static int run_kill (const struct call *c, struct err *e)
{
    const struct kill_options *o = c->options;
    int sig = SIGTERM;

    if (c->n_operands > 1)
        sig = signal_parse (c->operands[1], e);
    if (sig < 0)
        return sig;
    return container_kill (&c->env, c->operands[0], sig, o->all, e);
}

const struct command cmd_kill = {
    .name = "kill",
    .summary = "Sends a signal (default: TERM) to the process of a container",
    .rule = { .tables = { kill_table },
              .usage = "ID [SIGNAL]",
              .min = 1,
              .max = 2,
              .stop_at_operand = true },
    .options_size = sizeof (struct kill_options),
    .needs_env = true,
    .takes_id = true,
    .run = run_kill,
};
