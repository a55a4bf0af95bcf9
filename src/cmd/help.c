/* help: the usage, made of the option tables alone, in the form of runc's. */
#include <errno.h>
#include <string.h>

#include "cmd/cmd.h"

#define HELP_COLUMN 32

/* "text|json", "FILE" or nothing. */
static void value_name (const struct opt *o, char *buf, size_t size)
{
    buf[0] = '\0';
    if (o->value)
        (void)strncat (buf, o->value, size - 1);
    for (size_t i = 0; o->choices && o->choices[i]; i++) {
        (void)strncat (buf, i ? "|" : "", size - strlen (buf) - 1);
        (void)strncat (buf, o->choices[i], size - strlen (buf) - 1);
    }
}

static void print_option (FILE *out, const struct opt *o)
{
    char letter[] = { '-', o->letter, ',', '\0' };
    char value[64];
    int n;

    value_name (o, value, sizeof value);
    n = fprintf (out, "  %3s --%s%s%s", o->letter ? letter : "", o->name, *value ? " " : "", value);
    if (n >= HELP_COLUMN)
        n = fprintf (out, "\n") - 1;
    (void)fprintf (out, "%*s%s\n", HELP_COLUMN - n, "", o->help);
}

static void print_options (FILE *out, const struct args_rule *rule)
{
    (void)fputs ("\nOPTIONS:\n", out);
    for (size_t t = 0; t < ARGS_TABLES && rule->tables[t]; t++)
        for (const struct opt *o = rule->tables[t]; o->name; o++)
            if (o->help)
                print_option (out, o);
    print_option (out, &args_help_row);
}

void help_command (FILE *out, const char *program, const struct command *c)
{
    (void)fprintf (out,
                   "NAME:\n  %s %s - %s\n\n"
                   "USAGE:\n  %s [GLOBAL OPTIONS] %s [OPTIONS]%s%s\n",
                   program, c->name, c->summary, program, c->name, *c->rule.usage ? " " : "",
                   c->rule.usage);
    print_options (out, &c->rule);
}

void help_all (FILE *out, const char *program)
{
    (void)fprintf (out,
                   "NAME:\n  %s - Open Container Initiative runtime\n\n"
                   "USAGE:\n  %s [OPTIONS] COMMAND [ARGUMENTS]\n\nCOMMANDS:\n",
                   program, program);
    for (size_t i = 0; commands[i]; i++)
        (void)fprintf (out, "  %-12s %s\n", commands[i]->name, commands[i]->summary);
    print_options (out, &global_rule);
    (void)fprintf (out, "\n%s COMMAND --help shows the options of a command.\n", program);
}

static int run_help (const struct call *c, struct err *e)
{
    const struct command *command;

    if (c->n_operands == 0) {
        help_all (stdout, c->program);
        return 0;
    }
    command = cmd_find (c->operands[0]);
    if (!command)
        return err_set (e, EINVAL, "No help topic for '%s'", c->operands[0]);
    help_command (stdout, c->program, command);
    return 0;
}

const struct command cmd_help = {
    .name = "help",
    .summary = "Shows how agentrt or one of its commands is called",
    .rule = { .usage = "[COMMAND]", .max = 1 },
    .run = run_help,
};
