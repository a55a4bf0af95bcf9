/* resume: lets a paused container go on. */
#include "cmd/cmd.h"

static int run_resume (const struct call *c, struct err *e)
{
    return container_resume (&c->env, c->operands[0], e);
}

const struct command cmd_resume = {
    .name = "resume",
    .summary = "Lets a paused container go on",
    .rule = { .usage = "ID", .min = 1, .max = 1 },
    .needs_env = true,
    .takes_id = true,
    .run = run_resume,
};
