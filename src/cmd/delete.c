/* delete: removes a stopped container, or with --force any. */
#include "cmd/cmd.h"
#include "cmd/regex.h"

struct delete_options {
    bool force, regex;
};

#define AT(member) offsetof (struct delete_options, member)

static const struct opt delete_table[] = {
    { "force", 'f', OPT_FLAG, AT (force), NULL, "kill it first; an unknown container is no error" },
    { "regex", 'r', OPT_FLAG, AT (regex), NULL, "ID is a pattern: every container that matches" },
    {},
};

static bool is_pattern (const void *options)
{
    return ((const struct delete_options *)options)->regex;
}

static int delete_one (const struct call *c, const char *id, struct err *e)
{
    const struct delete_options *o = c->options;

    return container_delete (&c->env, id, o->force, e);
}

static int run_delete (const struct call *c, struct err *e)
{
    return is_pattern (c->options) ? regex_each (c, delete_one, e)
                                   : delete_one (c, c->operands[0], e);
}

const struct command cmd_delete = {
    .name = "delete",
    .summary = "Deletes a container and everything that was made for it",
    .rule = { .tables = { delete_table }, .usage = "ID", .min = 1, .max = 1 },
    .options_size = sizeof (struct delete_options),
    .needs_env = true,
    .takes_id = true,
    .takes_pattern = is_pattern,
    .run = run_delete,
};
