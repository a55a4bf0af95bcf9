#pragma once
/*
 * Command lines by table: which options there are, what each takes and where its value goes.
 *
 * One row per option; the parser, the help text and the test of the manual pages read the same
 * rows. Engines hand over every shape that Go's flag package and getopt_long know (oci-matrix 1.3
 * and 1.4), so all of these are accepted: --name VALUE, --name=VALUE, -name VALUE (containerd sends
 * -no-subreaper), -n VALUE, -nVALUE, -n=VALUE, -abc for flags, --flag=false, and -- as the end of
 * options. Abbreviated names are not: what "--pid" means must not change when an option is added.
 * Prints nothing, changes nothing.
 */
#include <stdbool.h>
#include <stddef.h>

#include "libocispec/arena.h"
#include "libocispec/err.h"

enum opt_kind {
    OPT_FLAG,   /* bool: --x, --x=true, --x=false; crun's --tty=no */
    OPT_TEXT,   /* const char *: never empty; the last one given wins */
    OPT_LIST,   /* struct opt_list: may be given again and again */
    OPT_NUMBER, /* unsigned int: decimal, at most `max` */
    OPT_CHOICE, /* int: position of the value in `choices` */
};

struct opt_list {
    const char **v; /* in the order given, NULL-terminated; NULL: none given */
    size_t n;
};

struct opt {
    const char *name;           /* long name without dashes; a row without one ends a table */
    char letter;                /* short name or 0 */
    enum opt_kind kind;         /* what it takes, and so the type of the member at `offset` */
    size_t offset;              /* of that member in the caller's struct of options */
    const char *value;          /* what the help calls the value; NULL for flags and choices */
    const char *help;           /* one line, no full stop; NULL: another letter for the row above */
    const char *const *choices; /* OPT_CHOICE: NULL-terminated */
    unsigned int max;           /* OPT_NUMBER */
};

#define ARGS_TABLES   3
#define ARGS_NO_LIMIT ((size_t)-1)

struct args_rule {
    const struct opt *tables[ARGS_TABLES]; /* unused ones NULL */
    const char *usage;                     /* the operands as the help shows them: "ID [SIGNAL]" */
    size_t min, max;                       /* how many operands; ARGS_NO_LIMIT */
    bool stop_at_operand;                  /* what follows the first operand is not ours to read */
};

struct args {
    bool help; /* --help or -h was there; operands are then not looked at */
    char *const *operands;
    size_t n;
};

/* The row of --help, which every rule has. */
extern const struct opt args_help_row;

/* Reads ARGV (NULL-terminated, without the program's or command's own name) by RULE into VALUES,
 * the struct that the rows' offsets count in, zeroed or holding the defaults. Strings are borrowed
 * from ARGV, lists and the array of operands live in A. Errors are one line that names the option.
 * -EINVAL, -ENOMEM. */
int args_parse (const struct args_rule *rule, char *const *argv, void *values, struct arena *a,
                struct args *ret, struct err *e);
