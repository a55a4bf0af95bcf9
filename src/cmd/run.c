/* run: create and start in one; without --detach also wait and delete. */
#include "cmd/launch.h"

#define AT(member) offsetof (struct launch_options, member)

static const struct opt run_table[] = {
    { "detach", 'd', OPT_FLAG, AT (detach), NULL, "do not wait for the end of the container" },
    { "keep", 0, OPT_FLAG, AT (keep), NULL, "do not delete the container when it has ended" },
    {},
};

static int run_run (const struct call *c, struct err *e)
{
    struct container_create_options options;
    int status = 0;

    launch_fill (c, &options);
    if (container_run (&c->env, &options, &status, e) < 0)
        return -e->code;
    return status;
}

const struct command cmd_run = {
    .name = "run",
    .summary = "Creates and starts a container, waits for its end and deletes it",
    .rule = { .tables = { launch_table, run_table }, .usage = "ID", .min = 1, .max = 1 },
    .options_size = sizeof (struct launch_options),
    .needs_env = true,
    .takes_id = true,
    .run = run_run,
};
