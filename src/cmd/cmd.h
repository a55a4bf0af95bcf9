#pragma once
/*
 * Commands: each is one file with its option table, one call below, and what it prints.
 *
 * The only module that reads command lines, prints and decides about exit statuses. Everything it
 * does to containers is a call of exec/container.h.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "libocispec/arena.h"
#include "libocispec/err.h"
#include "libocispec/strbuf.h"
#include "cmd/args.h"
#include "exec/container.h"

/* What stands before the command's name. */
struct globals {
    const char *root; /* NULL: state_default_root */
    const char *log;  /* NULL: standard error */
    int log_format;   /* enum log_format */
    int log_level;    /* enum log_level, -1: not given */
    bool debug, systemd_cgroup, version;
    int cgroup_manager; /* enum cgroup_manager */
    const char *policy;
    int rootless;     /* not used: what the caller may do is seen, not told */
    const char *criu; /* not used: older engines still give it */
};

enum cgroup_manager { MANAGER_CGROUPFS, MANAGER_SYSTEMD, MANAGER_DISABLED };

/* One call of a command. */
struct call {
    const char *program; /* "agentrt", or "runc" when called by that name */
    char *const *argv;   /* the whole command line */
    const struct globals *global;
    const void *options; /* the command's own struct, as its table says */
    char *const *operands;
    size_t n_operands;
    struct container_env
        env; /* for exec/container.h; filled where the command needs the state root */
    struct arena *arena;
};

struct command {
    const char *name;
    const char *summary; /* one line, no full stop */
    struct args_rule rule;
    size_t options_size; /* of the struct that rule's offsets count in */
    bool needs_env;      /* works on the state root: call.env is filled */
    bool takes_id;       /* operand 0 is a container id, checked before anything is touched */
    /* With takes_id: by these options it is a pattern instead; NULL: never. */
    bool (*takes_pattern) (const void *options);
    int failure; /* exit status of an error once options are read; 0 means 1 */
    /* Returns the exit status or a negative errno. What it prints goes to standard output. */
    int (*run) (const struct call *c, struct err *e);
};

extern const struct command cmd_checkpoint, cmd_create, cmd_delete, cmd_events, cmd_exec,
    cmd_explain, cmd_features, cmd_help, cmd_kill, cmd_list, cmd_mounts, cmd_pause, cmd_policy,
    cmd_ps, cmd_resume, cmd_restore, cmd_run, cmd_spec, cmd_start, cmd_state, cmd_update;

extern const struct command *const commands[]; /* all of them, by name; NULL ends */
extern const struct args_rule global_rule;     /* of what stands before the command */

const struct command *cmd_find (const char *name);

/* Runs the command line ARGV and prints its error. Returns the exit status. */
int cmd_main (char *const *argv);

/* Shared by commands: */

/* Usage, summary and options of one command, and of agentrt itself. */
void help_command (FILE *out, const char *program, const struct command *c);
void help_all (FILE *out, const char *program);
/* "agentrt version 0.1.0" and what it is built of. */
void version_print (FILE *out, const char *program);
/* All of TEXT to standard output. -ENOMEM when the buffer failed while it grew. */
int print_text (const struct strbuf *text, struct err *e);
