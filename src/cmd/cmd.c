#include "cmd/cmd.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "base/str.h"
#include "state/state.h"

const struct command *const commands[] = {
    &cmd_checkpoint, &cmd_create, &cmd_delete,  &cmd_events, &cmd_exec,   &cmd_explain,
    &cmd_features,   &cmd_help,   &cmd_kill,    &cmd_list,   &cmd_mounts, &cmd_pause,
    &cmd_policy,     &cmd_ps,     &cmd_restore, &cmd_resume, &cmd_run,    &cmd_spec,
    &cmd_start,      &cmd_state,  &cmd_update,  NULL,
};

static const char *const log_levels[] = {
    [LOG_ERROR] = "error", [LOG_WARN] = "warning", [LOG_INFO] = "info", [LOG_DEBUG] = "debug", NULL
};
static const char *const log_formats[] = { [LOG_TEXT] = "text", [LOG_JSON] = "json", NULL };
static const char *const managers[] = { [MANAGER_CGROUPFS] = "cgroupfs",
                                        [MANAGER_SYSTEMD] = "systemd",
                                        [MANAGER_DISABLED] = "disabled",
                                        NULL };
static const char *const rootless[] = { "auto", "true", "false", NULL };

#define AT(member) offsetof (struct globals, member)

static const struct opt global_options[] = {
    { "root", 0, OPT_TEXT, AT (root), "DIR", "where the state of containers is kept" },
    { "log", 0, OPT_TEXT, AT (log), "FILE", "append messages to FILE, too" },
    { "log-format", 0, OPT_CHOICE, AT (log_format), NULL, "form of FILE", log_formats },
    { "log-level", 0, OPT_CHOICE, AT (log_level), NULL, "what is worth a message", log_levels },
    { "debug", 0, OPT_FLAG, AT (debug), NULL, "the same as --log-level debug" },
    { "policy", 0, OPT_TEXT, AT (policy), "NAME|FILE", "what is hardened" },
    { "cgroup-manager", 0, OPT_CHOICE, AT (cgroup_manager), NULL, "who makes cgroups", managers },
    { "systemd-cgroup", 0, OPT_FLAG, AT (systemd_cgroup), NULL,
      "the same as --cgroup-manager systemd" },
    { "rootless", 0, OPT_CHOICE, AT (rootless), NULL, "accepted without effect", rootless },
    { "criu", 0, OPT_TEXT, AT (criu), "FILE", "accepted without effect" },
    { "version", 'v', OPT_FLAG, AT (version), NULL, "show the version" },
    { "version", 'V', OPT_FLAG, AT (version) }, /* crun's letter */
    {},
};

const struct args_rule global_rule = {
    .tables = { global_options },
    .usage = "COMMAND",
    .max = ARGS_NO_LIMIT,
    .stop_at_operand = true,
};

const struct command *cmd_find (const char *name)
{
    for (size_t i = 0; commands[i]; i++)
        if (strcmp (commands[i]->name, name) == 0)
            return commands[i];
    return NULL;
}

/* Called as runc we answer as runc: go-runc reads "runc version " (oci-matrix 1.7). */
static const char *program_name (const char *argv0)
{
    const char *slash = argv0 ? strrchr (argv0, '/') : NULL;
    const char *base = slash ? slash + 1 : argv0;

    return base && strcmp (base, "runc") == 0 ? "runc" : "agentrt";
}

/* By default a JSON log holds errors only: Podman reads the whole file as one document
 * (oci-matrix 1.7), and a command ends with its first error. */
static enum log_level level_of (const struct globals *g)
{
    if (g->debug)
        return LOG_DEBUG;
    if (g->log_level >= 0)
        return (enum log_level)g->log_level;
    return g->log_format == LOG_JSON ? LOG_ERROR : LOG_WARN;
}

/* What an id is made of is checked here and nowhere else, before any path is built from it
 * (crun#2074: `delete -f ..` emptied the state root's parent). */
static int check_id (const struct call *c, struct err *e)
{
    if (str_is_id (c->operands[0]))
        return 0;
    return err_set (e, EINVAL,
                    "invalid container ID '%s': an ID is letters, digits and _ + . -, and starts "
                    "with neither . nor -",
                    c->operands[0]);
}

static void note (int level, const char *text)
{
    log_line ((enum log_level)level, "%s", text);
}

/* --root may count from the current directory; state keeps the absolute path. */
static int find_root (struct call *c, struct err *e)
{
    const char *root = c->global->root;
    AUTO_FREE char *cwd = NULL;

    if (!root)
        return state_default_root (c->arena, &c->env.root, e);
    if (root[0] != '/') {
        cwd = getcwd (NULL, 0);
        if (!cwd)
            return err_sys (e, "--root: current directory");
        root = arena_printf (c->arena, "%s/%s", cwd, root);
    }
    c->env.root = root;
    return root ? 0 : err_oom (e);
}

static int fill_env (struct call *c, struct err *e)
{
    const struct globals *g = c->global;

    c->env = (struct container_env){
        .policy = g->policy,
        .no_cgroup = g->cgroup_manager == MANAGER_DISABLED,
        .systemd_cgroup = g->systemd_cgroup || g->cgroup_manager == MANAGER_SYSTEMD,
        .argv = c->argv,
        .note = note,
        .record = log_record,
    };
    return find_root (c, e);
}

/* Runs COMMAND on what stands behind its name; *RET_STATUS is the exit status, also on errors. */
static int run_command (const struct command *command, struct call *c, int *ret_status,
                        struct err *e)
{
    void *options = arena_alloc (c->arena, command->options_size);
    struct args args;
    int r;

    if (!options)
        return err_oom (e);
    if (args_parse (&command->rule, c->operands + 1, options, c->arena, &args, e) < 0)
        return err_set (e, e->code, "%s: %.300s: see %s %s --help", command->name,
                        (const char *)arena_strdup (c->arena, e->msg) ?: "", c->program,
                        command->name);
    if (args.help) {
        help_command (stdout, c->program, command);
        *ret_status = EXIT_SUCCESS;
        return 0;
    }
    c->options = options;
    c->operands = args.operands;
    c->n_operands = args.n;
    if (command->takes_id && !(command->takes_pattern && command->takes_pattern (options)) &&
        check_id (c, e) < 0)
        return -e->code;
    if (command->needs_env && fill_env (c, e) < 0)
        return -e->code;
    *ret_status = command->failure ?: *ret_status;
    r = command->run (c, e);
    if (r >= 0)
        *ret_status = r;
    return r;
}

/* What was printed must have arrived: a full disk under `features >FILE` is a failure. */
static int flush_output (struct err *e)
{
    if (fflush (stdout) == 0 && !ferror (stdout))
        return 0;
    return err_sys (e, "write to standard output");
}

int print_text (const struct strbuf *text, struct err *e)
{
    if (text->failed)
        return err_oom (e);
    (void)fwrite (text->s, 1, text->len, stdout); /* flush_output sees what failed */
    return 0;
}

/* `runc NAME -h` asks for a help topic, in its words. */
static int unknown_command (const struct args *args, const char *program, struct err *e)
{
    const char *name = args->operands[0];
    const char *next = args->n > 1 ? args->operands[1] : "";

    if (strcmp (next, "-h") == 0 || strcmp (next, "--help") == 0)
        return err_set (e, EINVAL, "No help topic for '%s'", name);
    return err_set (e, EINVAL, "unknown command '%s': see %s --help", name, program);
}

static int run_line (struct call *c, struct globals *g, int *ret_status, struct err *e)
{
    const struct command *command;
    struct args args;

    /* Before 5.18 execve may leave argv without any element. */
    if (args_parse (&global_rule, c->argv + (c->argv[0] != NULL), g, c->arena, &args, e) < 0)
        return err_set (e, e->code, "%.400s: see %s --help",
                        (const char *)arena_strdup (c->arena, e->msg) ?: "", c->program);
    if (args.help || g->version) {
        (args.help ? help_all : version_print) (stdout, c->program);
        *ret_status = EXIT_SUCCESS;
        return 0;
    }
    if (log_open (g->log, (enum log_format)g->log_format, level_of (g), e) < 0)
        return -e->code;
    if (args.n == 0)
        return err_set (e, EINVAL, "no command given: see %s --help", c->program);
    command = cmd_find (args.operands[0]);
    if (!command)
        return unknown_command (&args, c->program, e);
    c->operands = args.operands;
    return run_command (command, c, ret_status, e);
}

int cmd_main (char *const *argv)
{
    struct globals globals = { .log_level = -1 };
    AUTO_ARENA arena = {};
    struct call call = {
        .program = program_name (argv[0]), .argv = argv, .global = &globals, .arena = &arena
    };
    int status = EXIT_FAILURE;
    struct err e = {};
    int r = run_line (&call, &globals, &status, &e);

    if (r >= 0 && flush_output (&e) < 0) {
        status = EXIT_FAILURE;
        r = -e.code;
    }
    (void)fflush (stdout); /* what was printed comes before the error */
    if (r < 0)
        log_line (LOG_ERROR, "%s", e.msg);
    return status;
}
