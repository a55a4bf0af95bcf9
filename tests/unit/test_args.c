/* The parser of command lines. */
#include <errno.h>

#include "cmd/args.h"
#include "tap.h"

#define MAX_WORDS 32

/* TEXT at its blanks. */
static void split (char *text, char *words[MAX_WORDS])
{
    size_t n = 0;

    for (char *w = strtok (text, " "); w && n + 1 < MAX_WORDS; w = strtok (NULL, " "))
        words[n++] = w;
    words[n] = NULL;
}

/* ---- a table with every kind ---- */
struct values {
    bool flag, other;
    const char *text;
    struct opt_list list;
    unsigned int number;
    int choice;
};

static const char *const choices[] = { "red", "green", NULL };
#define AT(m) offsetof (struct values, m)
static const struct opt first[] = {
    { "flag", 'f', OPT_FLAG, AT (flag), NULL, "a flag" },
    { "other-flag", 'o', OPT_FLAG, AT (other), NULL, "another" },
    { "text", 't', OPT_TEXT, AT (text), "TEXT", "a text" },
    {},
};
static const struct opt second[] = {
    { "list", 'l', OPT_LIST, AT (list), "ITEM", "a list" },
    { "number", 'n', OPT_NUMBER, AT (number), "N", "a number", .max = 100 },
    { "choice", 0, OPT_CHOICE, AT (choice), NULL, "a choice", choices },
    {},
};
static const struct args_rule mixed = {
    .tables = { first, second }, .usage = "ID [REST]", .min = 1, .max = 2
};
static const struct args_rule stopping = { .tables = { first, second },
                                           .usage = "ID COMMAND",
                                           .min = 1,
                                           .max = ARGS_NO_LIMIT,
                                           .stop_at_operand = true };

/* What came out, in one line: "f o t=TEXT l=A,B n=N c=C : OPERAND OPERAND". */
static void describe (const struct values *v, const struct args *args, char *buf, size_t size)
{
    size_t len = (size_t)snprintf (buf, size, "%s%s", v->flag ? "f " : "", v->other ? "o " : "");

    len += (size_t)snprintf (buf + len, size - len, "%s%s%s", v->text ? "t=" : "", v->text ?: "",
                             v->text ? " " : "");
    for (size_t i = 0; i < v->list.n; i++)
        len += (size_t)snprintf (buf + len, size - len, "l=%s ", v->list.v[i]);
    len += (size_t)snprintf (buf + len, size - len, "n=%u c=%d :", v->number, v->choice);
    for (size_t i = 0; i < args->n; i++)
        len += (size_t)snprintf (buf + len, size - len, " %s", args->operands[i]);
}

static const struct {
    const struct args_rule *rule;
    const char *line, *want;
} good[] = {
    { &mixed, "id", "n=0 c=0 : id" },
    { &mixed, "--flag id", "f n=0 c=0 : id" },
    { &mixed, "--flag=true id", "f n=0 c=0 : id" },
    { &mixed, "--flag --flag=false id", "n=0 c=0 : id" },
    { &mixed, "-f=0 -o=1 id", "o n=0 c=0 : id" },
    { &mixed, "-other-flag id", "o n=0 c=0 : id" },
    { &mixed, "-text=a -number 7 id", "t=a n=7 c=0 : id" },
    { &mixed, "-fo id", "f o n=0 c=0 : id" },
    { &mixed, "-ft a id", "f t=a n=0 c=0 : id" },
    { &mixed, "-fta id", "f t=a n=0 c=0 : id" },
    { &mixed, "-t=a id", "t=a n=0 c=0 : id" },
    { &mixed, "--text=a=b id", "t=a=b n=0 c=0 : id" },
    { &mixed, "--text a --text b id", "t=b n=0 c=0 : id" },
    { &mixed, "--text --flag id", "t=--flag n=0 c=0 : id" },
    { &mixed, "-lA=1 -l B=2 --list=C=3 id", "l=A=1 l=B=2 l=C=3 n=0 c=0 : id" },
    { &mixed, "--choice green --number=100 id", "n=100 c=1 : id" },
    { &mixed, "id --flag rest -o", "f o n=0 c=0 : id rest" },
    { &mixed, "-- -id --flag", "n=0 c=0 : -id --flag" },
    { &mixed, "id -", "n=0 c=0 : id -" },
    { &stopping, "-f id sh -c --flag -- -o", "f n=0 c=0 : id sh -c --flag -- -o" },
    { &stopping, "-- -id --flag", "n=0 c=0 : -id --flag" },
    { &stopping, "id --help", "n=0 c=0 : id --help" },
};

static const struct {
    const struct args_rule *rule;
    const char *line, *want;
} bad[] = {
    { &mixed, "--flags id", "unknown option --flags" },
    { &mixed, "--fla id", "unknown option --fla" },
    { &mixed, "--fla=1 id", "unknown option --fla" },
    { &mixed, "-x id", "unknown option -x" },
    { &mixed, "-fx id", "unknown option -fx" },
    { &mixed, "--f id", "unknown option --f" },
    { &mixed, "--= id", "unknown option --" },
    { &mixed, "id --text", "flag needs an argument: --text" },
    { &mixed, "--text= id", "flag needs an argument: --text" },
    { &mixed, "id -t", "flag needs an argument: -t" },
    { &mixed, "id -l", "flag needs an argument: -l" },
    { &mixed, "id -text", "flag needs an argument: -text" },
    { &mixed, "--flag=maybe id", "--flag: 'maybe' is neither true nor false" },
    { &mixed, "--choice blue id", "--choice: 'blue' is not one of red, green" },
    { &mixed, "-f", "an argument is missing: it takes ID [REST]" },
    { &mixed, "a b c", "unexpected argument 'c': it takes ID [REST]" },
    { &stopping, "", "an argument is missing: it takes ID COMMAND" },
};

static void test_good (void)
{
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        AUTO_ARENA a = {};
        struct values v = {};
        struct args args = {};
        struct err e = {};
        char line[256], got[512] = "", *words[MAX_WORDS];

        (void)snprintf (line, sizeof line, "%s", good[i].line);
        split (line, words);
        if (args_parse (good[i].rule, words, &v, &a, &args, &e) == 0)
            describe (&v, &args, got, sizeof got);
        else
            (void)snprintf (got, sizeof got, "%s", e.msg);
        (void)tap_is (got, good[i].want, good[i].line);
    }
}

static void test_bad (void)
{
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        AUTO_ARENA a = {};
        struct values v = {};
        struct args args = {};
        struct err e = {};
        char line[256], *words[MAX_WORDS];
        int r;

        (void)snprintf (line, sizeof line, "%s", bad[i].line);
        split (line, words);
        r = args_parse (bad[i].rule, words, &v, &a, &args, &e);
        (void)ok (r == -EINVAL && args.n == 0, "'%s' is refused", bad[i].line);
        (void)tap_is (e.msg, bad[i].want, bad[i].line);
    }
}

static void test_numbers (void)
{
    static const char *const wrong[] = { "101", "-1", "", "1k", "0x1", "99999999999999999999" };

    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        AUTO_ARENA a = {};
        struct values v = {};
        struct args args = {};
        struct err e = {};
        char number[64], id[] = "id", *words[] = { number, id, NULL };

        (void)snprintf (number, sizeof number, "--number=%s", wrong[i]);
        (void)ok (args_parse (&mixed, words, &v, &a, &args, &e) < 0 && strstr (e.msg, "--number"),
                  "%s is refused: %s", number, e.msg);
    }
}

static void test_help (void)
{
    static const char *const lines[] = { "--help", "-h", "-help", "-fh", "a b c --help" };

    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        AUTO_ARENA a = {};
        struct values v = {};
        struct args args = {};
        struct err e = {};
        char line[64], *words[MAX_WORDS];

        (void)snprintf (line, sizeof line, "%s", lines[i]);
        split (line, words);
        (void)ok (args_parse (&mixed, words, &v, &a, &args, &e) == 0 && args.help,
                  "%s asks for help whatever the operands", lines[i]);
    }
}

int main (void)
{
    test_good ();
    test_bad ();
    test_numbers ();
    test_help ();
    return tap_done ();
}
