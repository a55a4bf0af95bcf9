/* create: the container's process is set up and waits for `start`. */
#include "cmd/launch.h"

static int run_create (const struct call *c, struct err *e)
{
    struct container_create_options options;

    launch_fill (c, &options);
    options.detach = true; /* no one is left to copy a terminal */
    return container_create (&c->env, &options, e);
}

const struct command cmd_create = {
    .name = "create",
    .summary = "Creates a container, whose process then waits for start",
    .rule = { .tables = { launch_table }, .usage = "ID", .min = 1, .max = 1 },
    .options_size = sizeof (struct launch_options),
    .needs_env = true,
    .takes_id = true,
    .run = run_create,
};
