/* exec: one more process in a running container. */
#include <errno.h>
#include <string.h>

#include "base/num.h"
#include "cmd/cmd.h"

/* runc's status for "the process never ran": a workload's own 1 can be told from it
 * (oci-matrix 1.5). */
#define EXEC_FAILURE 255
#define PRESERVE_MAX 65536

struct exec_options {
    const char *process, *cwd, *user, *process_label, *apparmor;
    const char *pid_file, *console_socket, *pidfd_socket;
    struct opt_list env, caps, gids, cgroups;
    bool tty, detach, no_new_privs, ignore_paused;
    unsigned int preserve_fds;
};

#define AT(member) offsetof (struct exec_options, member)

static const struct opt exec_table[] = {
    { "process", 'p', OPT_TEXT, AT (process), "FILE", "take all of the process from a JSON file" },
    { "detach", 'd', OPT_FLAG, AT (detach), NULL, "do not wait for the end of the process" },
    { "tty", 't', OPT_FLAG, AT (tty), NULL, "give it a terminal" },
    { "user", 'u', OPT_TEXT, AT (user), "UID[:GID]", "run as this user" },
    { "additional-gids", 'g', OPT_LIST, AT (gids), "GID", "one more group (repeatable)" },
    { "env", 'e', OPT_LIST, AT (env), "NAME=VALUE", "one more variable (repeatable)" },
    { "cwd", 0, OPT_TEXT, AT (cwd), "DIR", "run in this directory of the container" },
    { "cap", 'c', OPT_LIST, AT (caps), "CAP", "one more capability (repeatable)" },
    { "no-new-privs", 0, OPT_FLAG, AT (no_new_privs), NULL, "set no_new_privs" },
    { "process-label", 0, OPT_TEXT, AT (process_label), "LABEL", "SELinux label" },
    { "apparmor", 0, OPT_TEXT, AT (apparmor), "PROFILE", "AppArmor profile" },
    { "cgroup", 0, OPT_LIST, AT (cgroups), "[CONTROLLERS:]PATH",
      "run in this cgroup below the container's (repeatable)" },
    { "ignore-paused", 0, OPT_FLAG, AT (ignore_paused), NULL, "also in a paused container" },
    { "pid-file", 0, OPT_TEXT, AT (pid_file), "FILE", "write the process id to FILE" },
    { "console-socket", 0, OPT_TEXT, AT (console_socket), "SOCKET",
      "send the terminal over a UNIX socket" },
    { "pidfd-socket", 0, OPT_TEXT, AT (pidfd_socket), "SOCKET",
      "send a pidfd of the process over a UNIX socket" },
    { "preserve-fds", 0, OPT_NUMBER, AT (preserve_fds), "N",
      "pass on N descriptors, from 3 (after LISTEN_FDS)", .max = PRESERVE_MAX },
    {},
};

/* The numbers of --additional-gids. (gid_t)-1 means "leave" to the kernel, so it is no group. */
static int parse_gids (const struct opt_list *list, struct arena *a, uint32_t **ret, struct err *e)
{
    uint32_t *gids = arena_calloc (a, list->n, sizeof *gids);
    uint64_t n;

    if (!gids && list->n > 0)
        return err_oom (e);
    for (size_t i = 0; i < list->n; i++) {
        if (num_u64 (list->v[i], "--additional-gids", 0, UINT32_MAX - 1, &n, e) < 0)
            return -e->code;
        gids[i] = (uint32_t)n;
    }
    *ret = gids;
    return 0;
}

/* `exec ID -- COMMAND` is what people write who know other tools. */
static char *const *command_of (const struct call *c)
{
    char *const *args = c->operands + 1;

    return *args && strcmp (*args, "--") == 0 ? args + 1 : args;
}

static int fill (const struct call *c, struct container_exec_options *ret, struct err *e)
{
    const struct exec_options *o = c->options;
    uint32_t *gids = NULL;

    if (parse_gids (&o->gids, c->arena, &gids, e) < 0)
        return -e->code;
    *ret = (struct container_exec_options){
        .id = c->operands[0],
        .process_file = o->process,
        .args = command_of (c),
        .cwd = o->cwd,
        .user = o->user,
        .env = o->env.v,
        .caps = o->caps.v,
        .gids = gids,
        .n_gids = o->gids.n,
        .process_label = o->process_label,
        .apparmor = o->apparmor,
        .cgroups = o->cgroups.v,
        .pid_file = o->pid_file,
        .console_socket = o->console_socket,
        .pidfd_socket = o->pidfd_socket,
        .tty = o->tty,
        .detach = o->detach,
        .no_new_privs = o->no_new_privs,
        .ignore_paused = o->ignore_paused,
        .preserve_fds = o->preserve_fds,
    };
    if (!o->process && !ret->args[0])
        return err_set (e, EINVAL, "exec: neither a command nor --process was given");
    return 0;
}

static int run_exec (const struct call *c, struct err *e)
{
    struct container_exec_options options;
    int status = 0;

    if (fill (c, &options, e) < 0 || container_exec (&c->env, &options, &status, e) < 0)
        return -e->code;
    return status;
}

const struct command cmd_exec = {
    .name = "exec",
    .summary = "Runs one more process in a running container",
    .rule = { .tables = { exec_table },
              .usage = "ID COMMAND [ARGUMENT...]",
              .min = 1,
              .max = ARGS_NO_LIMIT,
              .stop_at_operand = true },
    .options_size = sizeof (struct exec_options),
    .needs_env = true,
    .takes_id = true,
    .failure = EXEC_FAILURE,
    .run = run_exec,
};
