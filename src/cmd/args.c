#include "cmd/args.h"

#include <errno.h>
#include <string.h>

#include "base/num.h"
#include "base/str.h"

const struct opt args_help_row = { .name = "help", .letter = 'h', .help = "show this help" };

struct parser {
    const struct args_rule *rule;
    char *base; /* the caller's struct of options */
    struct arena *arena;
    char *const *next; /* the first word not read yet */
    size_t n_words;    /* of the whole line: no list can be longer */
    bool help;
};

/* One option as it was found: its row, its spelling for messages, the value written with it. */
struct found {
    const struct opt *opt;
    const char *shown;
    int shown_len;
    const char *value; /* behind '=' or glued to the letter; NULL: none */
};

static const struct opt *find_long (const struct args_rule *rule, const char *name, size_t len)
{
    for (size_t t = 0; t < ARGS_TABLES && rule->tables[t]; t++)
        for (const struct opt *o = rule->tables[t]; o->name; o++)
            if (strlen (o->name) == len && memcmp (o->name, name, len) == 0)
                return o;
    if (len == strlen (args_help_row.name) && memcmp (args_help_row.name, name, len) == 0)
        return &args_help_row;
    return NULL;
}

static const struct opt *find_letter (const struct args_rule *rule, char letter)
{
    for (size_t t = 0; t < ARGS_TABLES && rule->tables[t]; t++)
        for (const struct opt *o = rule->tables[t]; o->name; o++)
            if (o->letter == letter)
                return o;
    return letter == args_help_row.letter ? &args_help_row : NULL;
}

static int store_flag (struct parser *p, const struct found *f, struct err *e)
{
    static const char *const yes[] = { "true", "TRUE", "True", "t", "T", "1", "yes", NULL };
    static const char *const no[] = { "false", "FALSE", "False", "f", "F", "0", "no", NULL };
    bool *slot = f->opt == &args_help_row ? &p->help : (bool *)(void *)(p->base + f->opt->offset);

    if (f->value && !str_is_in (f->value, yes) && !str_is_in (f->value, no))
        return err_set (e, EINVAL, "%.*s: '%s' is neither true nor false", f->shown_len, f->shown,
                        f->value);
    *slot = !f->value || str_is_in (f->value, yes);
    return 0;
}

static int store_text (struct parser *p, const struct found *f, struct err *e)
{
    (void)e;
    *(const char **)(void *)(p->base + f->opt->offset) = f->value;
    return 0;
}

static int store_list (struct parser *p, const struct found *f, struct err *e)
{
    struct opt_list *list = (struct opt_list *)(void *)(p->base + f->opt->offset);

    if (!list->v)
        list->v = arena_calloc (p->arena, p->n_words + 1, sizeof *list->v);
    if (!list->v)
        return err_oom (e);
    list->v[list->n++] = f->value;
    return 0;
}

static int store_number (struct parser *p, const struct found *f, struct err *e)
{
    uint64_t n;
    char what[64] = "";

    (void)strncat (what, f->shown,
                   (size_t)f->shown_len < sizeof what ? (size_t)f->shown_len : sizeof what - 1);
    if (num_u64 (f->value, what, 0, f->opt->max, &n, e) < 0)
        return -e->code;
    *(unsigned int *)(void *)(p->base + f->opt->offset) = (unsigned int)n;
    return 0;
}

static int store_choice (struct parser *p, const struct found *f, struct err *e)
{
    char known[128] = "";
    int i = 0;

    while (f->opt->choices[i] && strcmp (f->value, f->opt->choices[i]) != 0) {
        (void)strncat (known, i ? ", " : "", sizeof known - strlen (known) - 1);
        (void)strncat (known, f->opt->choices[i++], sizeof known - strlen (known) - 1);
    }
    if (!f->opt->choices[i])
        return err_set (e, EINVAL, "%.*s: '%s' is not one of %s", f->shown_len, f->shown, f->value,
                        known);
    *(int *)(void *)(p->base + f->opt->offset) = i;
    return 0;
}

static int (*const store[]) (struct parser *p, const struct found *f, struct err *e) = {
    [OPT_FLAG] = store_flag,     [OPT_TEXT] = store_text,     [OPT_LIST] = store_list,
    [OPT_NUMBER] = store_number, [OPT_CHOICE] = store_choice,
};

/* Finds the value where it belongs and stores it. Podman's probe of a runtime's features reads
 * "flag needs an argument" (oci-matrix 1.4). An empty value is refused: an unset variable in a
 * caller's script must not turn `--root "$X"` into the default root. */
static int take (struct parser *p, struct found *f, struct err *e)
{
    if (f->opt->kind != OPT_FLAG && !f->value && *p->next)
        f->value = *p->next++;
    if (f->opt->kind != OPT_FLAG && (!f->value || !*f->value))
        return err_set (e, EINVAL, "flag needs an argument: %.*s", f->shown_len, f->shown);
    return store[f->opt->kind](p, f, e);
}

/* WORD is "--name", "--name=value" or, from Go programs, "-name"; NAME: behind the dashes. */
static int parse_long (struct parser *p, const char *word, const char *name, struct err *e)
{
    size_t len = strcspn (name, "=");
    struct found f = { .shown = word, .shown_len = (int)(name - word + (ptrdiff_t)len) };

    f.opt = find_long (p->rule, name, len);
    if (!f.opt)
        return err_set (e, EINVAL, "unknown option %.*s", f.shown_len, f.shown);
    if (name[len] == '=')
        f.value = name + len + 1;
    return take (p, &f, e);
}

/* WORD is "-abc": flags, of which the last may have its value behind it. */
static int parse_letters (struct parser *p, const char *word, struct err *e)
{
    for (const char *c = word + 1; *c; c++) {
        const char shown[] = { '-', *c, '\0' };
        struct found f = { .opt = find_letter (p->rule, *c), .shown = shown, .shown_len = 2 };

        if (!f.opt)
            return err_set (e, EINVAL, "unknown option %s", word);
        if (c[1] == '=')
            f.value = c + 2;
        else if (c[1] && f.opt->kind != OPT_FLAG)
            f.value = c + 1;
        if (take (p, &f, e) < 0)
            return -e->code;
        if (f.value)
            return 0;
    }
    return 0;
}

static int parse_option (struct parser *p, const char *word, struct err *e)
{
    size_t len = strcspn (word + 1, "=");

    if (word[1] == '-')
        return parse_long (p, word, word + 2, e);
    if (len > 1 && find_long (p->rule, word + 1, len))
        return parse_long (p, word, word + 1, e);
    return parse_letters (p, word, e);
}

static int check_operands (const struct args_rule *rule, const struct args *args, struct err *e)
{
    if (args->n < rule->min)
        return err_set (e, EINVAL, "an argument is missing: it takes %s", rule->usage);
    if (args->n > rule->max && rule->max == 0)
        return err_set (e, EINVAL, "unexpected argument '%s'", args->operands[0]);
    if (args->n > rule->max)
        return err_set (e, EINVAL, "unexpected argument '%s': it takes %s",
                        args->operands[rule->max], rule->usage);
    return 0;
}

int args_parse (const struct args_rule *rule, char *const *argv, void *values, struct arena *a,
                struct args *ret, struct err *e)
{
    struct parser p = { .rule = rule, .base = values, .arena = a, .next = argv };
    struct args args = {};
    bool ended = false;
    char **operands;

    while (argv[p.n_words])
        p.n_words++;
    operands = arena_calloc (a, p.n_words + 1, sizeof *operands);
    if (!operands)
        return err_oom (e);
    while (*p.next) {
        char *word = *p.next++;

        if (ended || word[0] != '-' || word[1] == '\0') {
            operands[args.n++] = word;
            ended = ended || rule->stop_at_operand;
        } else if (strcmp (word, "--") == 0) {
            ended = true;
        } else if (parse_option (&p, word, e) < 0) {
            return -e->code;
        }
    }
    args.operands = operands;
    args.help = p.help;
    if (!args.help && check_operands (rule, &args, e) < 0)
        return -e->code;
    *ret = args;
    return 0;
}
