/* start: lets the process of a created container go on. */
#include "cmd/cmd.h"

static int run_start (const struct call *c, struct err *e)
{
    return container_start (&c->env, c->operands[0], e);
}

const struct command cmd_start = {
    .name = "start",
    .summary = "Starts the process of a created container",
    .rule = { .usage = "ID", .min = 1, .max = 1 },
    .needs_env = true,
    .takes_id = true,
    .run = run_start,
};
