/* mounts: adds mounts to a running container, and removes them (crun's). */
#include <errno.h>
#include <string.h>

#include "cmd/cmd.h"

static int run_mounts (const struct call *c, struct err *e)
{
    struct container_mounts_options o = { .id = c->operands[1], .file = c->operands[2] };

    o.remove = strcmp (c->operands[0], "remove") == 0;
    if (!o.remove && strcmp (c->operands[0], "add") != 0)
        return err_set (e, EINVAL, "mounts: '%s' is neither add nor remove (see mounts --help)",
                        c->operands[0]);
    return container_mounts (&c->env, &o, e);
}

const struct command cmd_mounts = {
    .name = "mounts",
    .summary = "Adds mounts to a running container, or removes them",
    .rule = { .usage = "add|remove ID FILE", .min = 3, .max = 3 },
    .needs_env = true,
    .run = run_mounts,
};
