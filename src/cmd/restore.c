/* restore: a container made again from the files of a checkpoint (by criu). */
#include "cmd/criu.h"

#include <errno.h>

#define AT(member) offsetof (struct criu_options, member)

static const struct opt restore_table[] = {
    { "detach", 'd', OPT_FLAG, AT (launch.detach), NULL,
      "do not wait for the end of the container" },
    { "tcp-close", 0, OPT_FLAG, AT (tcp_close), NULL, "bring TCP connections back closed" },
    { "lsm-profile", 0, OPT_TEXT, AT (lsm_profile), "TYPE:NAME",
      "another AppArmor or SELinux label" },
    { "lsm-mount-context", 0, OPT_TEXT, AT (lsm_mount_context), "CONTEXT",
      "another SELinux label of mounts" },
    {},
};

static int run_restore (const struct call *c, struct err *e)
{
    struct container_create_options create;
    struct container_criu_options options;
    int status = 0;

    if (c->env.systemd_cgroup) /* criu makes the processes, after their cgroup */
        return err_set (e, ENOTSUP,
                        "restore with --systemd-cgroup is not supported: leave the option out, and "
                        "/linux/cgroupsPath a path");
    launch_fill (c, &create);
    criu_fill (c, &options);
    options.create = &create;
    if (container_restore (&c->env, &options, &status, e) < 0)
        return -e->code;
    return status;
}

const struct command cmd_restore = {
    .name = "restore",
    .summary = "Makes a container again from the files of a checkpoint",
    .rule = { .tables = { launch_table, criu_table, restore_table },
              .usage = "ID",
              .min = 1,
              .max = 1 },
    .options_size = sizeof (struct criu_options),
    .needs_env = true,
    .takes_id = true,
    .run = run_restore,
};
