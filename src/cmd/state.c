/* state: the OCI state document of one container. */
#include "cmd/cmd.h"

static int run_state (const struct call *c, struct err *e)
{
    AUTO_STRBUF out = {};
    struct oci_state state;

    if (container_state (&c->env, c->operands[0], c->arena, &state, e) < 0 ||
        oci_emit (&oci_state_type, &state, OCI_PRETTY, &out, e) < 0)
        return -e->code;
    return print_text (&out, e);
}

const struct command cmd_state = {
    .name = "state",
    .summary = "Shows the state of a container as JSON",
    .rule = { .usage = "ID", .min = 1, .max = 1 },
    .needs_env = true,
    .takes_id = true,
    .run = run_state,
};
