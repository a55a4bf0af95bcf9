/* delete: removes a stopped container, or with --force any. */
#include "cmd/cmd.h"

struct delete_options {
    bool force;
};

static const struct opt delete_table[] = {
    { "force", 'f', OPT_FLAG, offsetof (struct delete_options, force), NULL,
      "kill it first; an unknown container is no error" },
    {},
};

static int run_delete (const struct call *c, struct err *e)
{
    const struct delete_options *o = c->options;

    return container_delete (&c->env, c->operands[0], o->force, e);
}

const struct command cmd_delete = {
    .name = "delete",
    .summary = "Deletes a container and everything that was made for it",
    .rule = { .tables = { delete_table }, .usage = "ID", .min = 1, .max = 1 },
    .options_size = sizeof (struct delete_options),
    .needs_env = true,
    .takes_id = true,
    .run = run_delete,
};
