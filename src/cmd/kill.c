/* kill: a signal to a container's init, or to all of its processes. */
#include <signal.h>

#include "cmd/cmd.h"
#include "cmd/regex.h"
#include "cmd/signals.h"

struct kill_options {
    bool all, regex;
};

#define AT(member) offsetof (struct kill_options, member)

static const struct opt kill_table[] = {
    { "all", 'a', OPT_FLAG, AT (all), NULL, "to every process; a stopped container is no error" },
    { "regex", 'r', OPT_FLAG, AT (regex), NULL, "ID is a pattern: every container that matches" },
    {},
};

static bool is_pattern (const void *options)
{
    return ((const struct kill_options *)options)->regex;
}

static int kill_one (const struct call *c, const char *id, struct err *e)
{
    const struct kill_options *o = c->options;
    int sig = SIGTERM;

    if (c->n_operands > 1)
        sig = signal_parse (c->operands[1], e);
    if (sig < 0)
        return sig;
    return container_kill (&c->env, id, sig, o->all, e);
}

static int run_kill (const struct call *c, struct err *e)
{
    return is_pattern (c->options) ? regex_each (c, kill_one, e) : kill_one (c, c->operands[0], e);
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
    .takes_pattern = is_pattern,
    .run = run_kill,
};
