/*
 * Prints the table that the shells' completions read: the rows of all option tables.
 *
 *   COMMAND;;;OPERANDS;SUMMARY       a command; OPERANDS as its help shows them
 *   COMMAND;--NAME;-X;VALUE;HELP     one of its options; without COMMAND a global one
 *
 * A VALUE or an operand is what the help calls it, with alternatives between '|': FILE, DIR, ID,
 * words in small letters for themselves.
 */
#include <stdio.h>
#include <string.h>

#include "cmd/cmd.h"
#include "policy/builtin.h"

static void print_words (const char *const *words)
{
    for (size_t i = 0; words[i]; i++)
        (void)printf ("%s%s", i ? "|" : "", words[i]);
}

/* TEXT, with the names of policies where it says NAME. */
static void print_value (const char *text)
{
    static const char name[] = "NAME|";
    const char *at = strstr (text, name);

    if (!at) {
        (void)printf ("%s", text);
        return;
    }
    (void)printf ("%.*s", (int)(at - text), text);
    print_words (policy_names ());
    (void)printf ("|%s", at + strlen (name));
}

static void print_option (const char *command, const struct opt *o)
{
    const char letter[] = { '-', o->letter, '\0' };

    (void)printf ("%s;--%s;%s;", command, o->name, o->letter ? letter : "");
    if (o->choices)
        print_words (o->choices);
    else
        print_value (o->value ?: "");
    (void)printf (";%s\n", o->help);
}

static void print_options (const char *command, const struct args_rule *rule)
{
    for (size_t t = 0; t < ARGS_TABLES && rule->tables[t]; t++)
        for (const struct opt *o = rule->tables[t]; o->name; o++)
            if (o->help)
                print_option (command, o);
    print_option (command, &args_help_row);
}

int main (void)
{
    print_options ("", &global_rule);
    for (size_t i = 0; commands[i]; i++) {
        const struct command *c = commands[i];

        (void)printf ("%s;;;", c->name);
        print_value (c->rule.usage);
        (void)printf (";%s\n", c->summary);
        print_options (c->name, &c->rule);
    }
    return 0;
}
