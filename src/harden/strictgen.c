/*
 * Runs while agentrt is built, on the machine that builds it:
 *
 *   strictgen code   the strict filter of every architecture, for strict.c to include
 *   strictgen doc    docs/seccomp-calls.md
 */
#include <errno.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <string.h>

#include "strict_table.h"

static const char *const macros[STRICT_ARCHES] = { "__x86_64__", "__aarch64__" };
static const char *const arch_names[STRICT_ARCHES] = { "x86_64", "aarch64" };

/* ---- code ---- */

static int print_filter (enum strict_arch arch)
{
    static struct sock_filter insns[BPF_MAXINSNS];
    int n = strict_compile (strict_rows, n_strict_rows, arch, insns);

    if (n < 0) {
        (void)fprintf (stderr, "strictgen: %s: %s\n", arch_names[arch], strerror (-n));
        return n;
    }
    (void)printf ("#if defined %s /* %d instructions */\n", macros[arch], n);
    for (int i = 0; i < n; i++)
        (void)printf ("{ 0x%02x, %d, %d, 0x%08x },\n", insns[i].code, insns[i].jt, insns[i].jf,
                      insns[i].k);
    (void)puts ("#endif");
    return 0;
}

static int print_code (void)
{
    (void)puts ("/* Made by strictgen from strict.def. */");
    for (enum strict_arch arch = 0; arch < STRICT_ARCHES; arch++)
        if (print_filter (arch) < 0)
            return 1;
    return 0;
}

/* ---- doc ---- */

static const char *errno_name (int nr)
{
    static const struct {
        int nr;
        const char *name;
    } names[] = {
        { EPERM, "EPERM" },
        { EINVAL, "EINVAL" },
        { ENOSYS, "ENOSYS" },
        { ENOTTY, "ENOTTY" },
        { ENOPROTOOPT, "ENOPROTOOPT" },
        { EAFNOSUPPORT, "EAFNOSUPPORT" },
        { EPROTONOSUPPORT, "EPROTONOSUPPORT" },
    };

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].nr == nr)
            return names[i].name;
    return "?";
}

static const char *verdict_name (uint32_t verdict)
{
    if (verdict == SECCOMP_RET_ALLOW)
        return "allowed";
    if (verdict == SECCOMP_RET_ERRNO)
        return "succeeds, does nothing";
    return errno_name (verdict & SECCOMP_RET_DATA);
}

static void print_number (int nr)
{
    if (nr < 0)
        (void)printf (" - |");
    else
        (void)printf (" %d |", nr);
}

static void print_when (const struct strict_row *r)
{
    (void)printf ("| | | | %s: %s (", r->name, verdict_name (r->verdict));
    for (int i = 0; i < STRICT_TESTS && r->tests[i].mask; i++) {
        const struct strict_test *t = &r->tests[i];

        (void)printf ("%sargument %u", i ? ", " : "", t->arg);
        if (t->mask != UINT32_MAX)
            (void)printf (" & %#x", t->mask);
        (void)printf (t->value < 100 ? " = %u" : " = %#x", t->value);
    }
    (void)puts (") |");
}

static void print_row (const struct strict_row *r, size_t n)
{
    switch (r->kind) {
    case STRICT_GROUP:
        (void)printf ("\n## %s\n\n%s\n\n| call | x86_64 | aarch64 | answer |\n|---|---|---|---|\n",
                      r->name, r->why);
        break;
    case STRICT_CALL:
        (void)printf ("| `%s` |", r->name);
        for (enum strict_arch a = 0; a < STRICT_ARCHES; a++)
            print_number (r->nr[a]);
        (void)printf (" %s%s |\n", verdict_name (r->verdict), n > 1 ? ", but:" : "");
        break;
    case STRICT_WHEN:
        print_when (r);
        break;
    }
}

static int print_doc (void)
{
    (void)puts ("# The strict system call filter, call by call\n\n"
                "Made by `strictgen` from `src/harden/strict.def`; `make docs-seccomp` writes it "
                "anew. [seccomp.md](seccomp.md)\nexplains it. A number that is not here gives "
                "ENOSYS; another architecture's call kills the process. Arguments\nare compared in "
                "their lower 32 bits, which are all that the kernel looks at.");
    for (size_t i = 0; i < n_strict_rows; i++)
        print_row (&strict_rows[i], strict_call_rows (strict_rows, n_strict_rows, i));
    return 0;
}

int main (int argc, char **argv)
{
    if (argc == 2 && strcmp (argv[1], "code") == 0)
        return print_code ();
    if (argc == 2 && strcmp (argv[1], "doc") == 0)
        return print_doc ();
    (void)fputs ("usage: strictgen code|doc\n", stderr);
    return 2;
}
