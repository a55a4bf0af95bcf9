/* checkpoint: writes the processes of a container to files (by criu). */
#include "cmd/criu.h"

#define FD_MAX 65536

#define AT(member) offsetof (struct criu_options, member)

static const struct opt checkpoint_table[] = {
    { "leave-running", 0, OPT_FLAG, AT (leave_running), NULL, "the container stays" },
    { "pre-dump", 0, OPT_FLAG, AT (pre_dump), NULL, "only its memory, and the container stays" },
    { "tcp-skip-in-flight", 0, OPT_FLAG, AT (tcp_skip_in_flight), NULL,
      "leave out TCP connections that are being made" },
    { "link-remap", 0, OPT_FLAG, AT (link_remap), NULL, "allow links to files that were removed" },
    { "page-server", 0, OPT_TEXT, AT (page_server), "ADDRESS:PORT", "send the memory there" },
    { "status-fd", 0, OPT_NUMBER, AT (status_fd), "FD", "criu says here that pages can be had",
      .max = FD_MAX },
    {},
};

static int run_checkpoint (const struct call *c, struct err *e)
{
    struct container_criu_options options;

    criu_fill (c, &options);
    return container_checkpoint (&c->env, &options, e);
}

const struct command cmd_checkpoint = {
    .name = "checkpoint",
    .summary = "Writes the processes of a running container to files",
    .rule = { .tables = { criu_table, checkpoint_table }, .usage = "ID", .min = 1, .max = 1 },
    .options_size = sizeof (struct criu_options),
    .needs_env = true,
    .takes_id = true,
    .run = run_checkpoint,
};
