/* pause: freezes all processes of a container. */
#include "cmd/cmd.h"

static int run_pause (const struct call *c, struct err *e)
{
    return container_pause (&c->env, c->operands[0], e);
}

const struct command cmd_pause = {
    .name = "pause",
    .summary = "Freezes all processes of a container",
    .rule = { .usage = "ID", .min = 1, .max = 1 },
    .needs_env = true,
    .takes_id = true,
    .run = run_pause,
};
