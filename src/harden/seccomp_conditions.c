#include <endian.h>
#include <errno.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "seccomp_compile.h"

_Static_assert(BYTE_ORDER == LITTLE_ENDIAN, "the low word of an argument comes first");

/* ---- which calls have several rules with conditions ---- */

struct seccomp_rule_of {
    const char *name;
    const struct oci_syscall *rule;
};

/* By name, then in the profile's order: rules are one array. */
static int compare (const void *a, const void *b)
{
    const struct seccomp_rule_of *x = a;
    const struct seccomp_rule_of *y = b;
    int r = strcmp (x->name, y->name);

    return r ? r : (x->rule > y->rule) - (x->rule < y->rule);
}

static int compare_name (const void *name, const void *entry)
{
    return strcmp (name, ((const struct seccomp_rule_of *)entry)->name);
}

/* Two conditions on one argument: then all conditions of the rule are alternatives, which is what
 * profiles mean that were written for runc. */
static bool has_alternatives (const struct oci_syscall *rule)
{
    unsigned int seen = 0;

    for (size_t i = 0; i < rule->n_args; i++) {
        if (seen >> rule->args[i].index & 1)
            return true;
        seen |= 1U << rule->args[i].index;
    }
    return false;
}

/* A rule without conditions decides for its call whatever stands beside it, in libseccomp too. */
static bool is_merged (const struct seccomp_rule_of *group, size_t n)
{
    size_t conditions = 0;

    for (size_t i = 0; i < n; i++) {
        if (group[i].rule->n_args == 0)
            return false;
        conditions += has_alternatives (group[i].rule) ? group[i].rule->n_args : 1;
    }
    return conditions > 1;
}

static size_t group_len (const struct seccomp_rule_of *list, size_t n)
{
    size_t len = 1;

    while (len < n && strcmp (list[len].name, list[0].name) == 0)
        len++;
    return len;
}

/* Every name of every rule, sorted. */
static struct seccomp_rule_of *list_all (const struct oci_linux_seccomp *s, struct arena *a,
                                         size_t *ret_n)
{
    struct seccomp_rule_of *list;
    size_t n = 0;

    for (size_t i = 0; i < s->n_syscalls; i++)
        n += s->syscalls[i].n_names;
    list = arena_calloc (a, n, sizeof *list);
    if (!list)
        return NULL;
    *ret_n = n;
    n = 0;
    for (size_t i = 0; i < s->n_syscalls; i++)
        for (size_t j = 0; j < s->syscalls[i].n_names; j++)
            list[n++] = (struct seccomp_rule_of){ s->syscalls[i].names[j], &s->syscalls[i] };
    qsort (list, n, sizeof *list, compare);
    return list;
}

int seccomp_merged (const struct oci_linux_seccomp *s, struct arena *a, struct seccomp_merged *ret,
                    struct err *e)
{
    size_t n = 0, kept = 0;
    struct seccomp_rule_of *list = list_all (s, a, &n);

    if (!list)
        return err_oom (e);
    for (size_t i = 0, len; i < n; i += len) {
        len = group_len (list + i, n - i);
        if (!is_merged (list + i, len))
            continue;
        memmove (list + kept, list + i, len * sizeof *list);
        kept += len;
    }
    *ret = (struct seccomp_merged){ list, kept };
    return 0;
}

bool seccomp_is_merged (const struct seccomp_merged *merged, const char *name)
{
    return bsearch (name, merged->list, merged->n, sizeof *merged->list, compare_name) != NULL;
}

/* ---- code ---- */

struct code {
    struct sock_filter *insns;
    size_t n; /* counts on past BPF_MAXINSNS, where nothing is written any more */
    uint32_t default_action;
};

static void put (struct code *c, struct sock_filter insn)
{
    if (c->n < BPF_MAXINSNS)
        c->insns[c->n] = insn;
    c->n++;
}

#define PUT(c, code, k, jt, jf)                                                                    \
    put (c, (struct sock_filter)BPF_JUMP (code, k, (unsigned char)(jt), (unsigned char)(jf)))

/* Where a jump of a condition leads: over its own instructions, or to the next rule, which is
 * filled in when its place is known. */
#define NEXT_RULE 0xff

#define LOAD   (BPF_LD | BPF_W | BPF_ABS)
#define AND    (BPF_ALU | BPF_AND | BPF_K)
#define IF(op) (BPF_JMP | BPF_K | (op))

static uint32_t low (uint64_t v)
{
    return (uint32_t)v;
}

static uint32_t high (uint64_t v)
{
    return (uint32_t)(v >> 32);
}

/* "arg & MASK is VALUE" */
static void put_equal (struct code *c, uint32_t at, uint64_t mask, uint64_t value, bool wide)
{
    if (wide) {
        PUT (c, LOAD, at + 4, 0, 0);
        PUT (c, AND, high (mask), 0, 0);
        PUT (c, IF (BPF_JEQ), high (value & mask), 0, NEXT_RULE);
    }
    PUT (c, LOAD, at, 0, 0);
    PUT (c, AND, low (mask), 0, 0);
    PUT (c, IF (BPF_JEQ), low (value & mask), 0, NEXT_RULE);
}

static void put_differs (struct code *c, uint32_t at, uint64_t value, bool wide)
{
    if (wide) {
        PUT (c, LOAD, at + 4, 0, 0);
        PUT (c, IF (BPF_JEQ), high (value), 0, 2);
    }
    PUT (c, LOAD, at, 0, 0);
    PUT (c, IF (BPF_JEQ), low (value), NEXT_RULE, 0);
}

/* "arg > VALUE", with OP BPF_JGE "arg >= VALUE" */
static void put_above (struct code *c, uint32_t at, uint16_t op, uint64_t value, bool wide)
{
    if (wide) {
        PUT (c, LOAD, at + 4, 0, 0);
        PUT (c, IF (BPF_JGT), high (value), 3, 0);
        PUT (c, IF (BPF_JEQ), high (value), 0, NEXT_RULE);
    }
    PUT (c, LOAD, at, 0, 0);
    PUT (c, IF (op), low (value), 0, NEXT_RULE);
}

/* "not arg > VALUE", with OP BPF_JGE "not arg >= VALUE" */
static void put_not_above (struct code *c, uint32_t at, uint16_t op, uint64_t value, bool wide)
{
    if (wide) {
        PUT (c, LOAD, at + 4, 0, 0);
        PUT (c, IF (BPF_JGT), high (value), NEXT_RULE, 0);
        PUT (c, IF (BPF_JEQ), high (value), 0, 2);
    }
    PUT (c, LOAD, at, 0, 0);
    PUT (c, IF (op), low (value), NEXT_RULE, 0);
}

static void put_condition (struct code *c, const struct oci_syscall_arg *arg, bool wide)
{
    uint32_t at = (uint32_t)(offsetof (struct seccomp_data, args) + 8 * arg->index);

    switch ((enum oci_seccomp_operator_value)arg->op) {
    case OCI_CMP_EQ:
        put_equal (c, at, UINT64_MAX, arg->value, wide);
        break;
    case OCI_CMP_MASKED_EQ:
        put_equal (c, at, arg->value, arg->value_two, wide);
        break;
    case OCI_CMP_NE:
        put_differs (c, at, arg->value, wide);
        break;
    case OCI_CMP_GT:
        put_above (c, at, BPF_JGT, arg->value, wide);
        break;
    case OCI_CMP_GE:
        put_above (c, at, BPF_JGE, arg->value, wide);
        break;
    case OCI_CMP_LE:
        put_not_above (c, at, BPF_JGT, arg->value, wide);
        break;
    case OCI_CMP_LT:
        put_not_above (c, at, BPF_JGE, arg->value, wide);
        break;
    }
}

/* Jumps to NEXT_RULE in the instructions from FROM on lead behind them: at most six conditions
 * of six instructions, so they fit. */
static void aim_at_next_rule (struct code *c, size_t from)
{
    for (size_t i = from; i < c->n && i < BPF_MAXINSNS; i++) {
        struct sock_filter *insn = &c->insns[i];

        if (BPF_CLASS (insn->code) != BPF_JMP)
            continue;
        if (insn->jt == NEXT_RULE)
            insn->jt = (unsigned char)(c->n - i - 1);
        if (insn->jf == NEXT_RULE)
            insn->jf = (unsigned char)(c->n - i - 1);
    }
}

/* "If these N conditions hold: ACTION" */
static void put_clause (struct code *c, const struct oci_syscall_arg *args, size_t n, bool wide,
                        uint32_t action)
{
    size_t from = c->n;

    for (size_t i = 0; i < n; i++)
        put_condition (c, &args[i], wide);
    PUT (c, BPF_RET | BPF_K, action, 0, 0);
    aim_at_next_rule (c, from);
}

static int put_rule (struct code *c, const struct oci_syscall *rule, bool wide, struct err *e)
{
    uint32_t action;
    int r = seccomp_action (rule->action, rule->has_errno_ret, rule->errno_ret, &action, e);

    if (r < 0)
        return r;
    if (!has_alternatives (rule)) {
        put_clause (c, rule->args, rule->n_args, wide, action);
        return 0;
    }
    for (size_t i = 0; i < rule->n_args; i++)
        put_clause (c, &rule->args[i], 1, wide, action);
    return 0;
}

/* "If the call is NR: its rules, else on": the number is in A. */
static int put_call (struct code *c, int nr, const struct seccomp_rule_of *group, size_t n,
                     bool wide, struct err *e)
{
    size_t jump;
    int r = 0;

    PUT (c, IF (BPF_JEQ), (uint32_t)nr, 1, 0);
    jump = c->n;
    PUT (c, BPF_JMP | BPF_JA, 0, 0, 0);
    for (size_t i = 0; i < n && r == 0; i++)
        r = put_rule (c, group[i].rule, wide, e);
    PUT (c, BPF_RET | BPF_K, c->default_action, 0, 0);
    if (jump < BPF_MAXINSNS)
        c->insns[jump].k = (uint32_t)(c->n - jump - 1);
    return r;
}

/* x32 and i386 compare 32 bits, as their registers have. */
static bool is_wide (unsigned int token)
{
    return token & __AUDIT_ARCH_64BIT && !(token & __AUDIT_ARCH_CONVENTION_MIPS64_N32);
}

static int put_abi (struct code *c, unsigned int token, const struct seccomp_merged *merged,
                    struct err *e)
{
    size_t from = c->n;
    int r = 0;

    PUT (c, LOAD, offsetof (struct seccomp_data, arch), 0, 0);
    PUT (c, IF (BPF_JEQ), token == SCMP_ARCH_X32 ? AUDIT_ARCH_X86_64 : token, 1, 0);
    PUT (c, BPF_JMP | BPF_JA, 0, 0, 0);
    PUT (c, LOAD, offsetof (struct seccomp_data, nr), 0, 0);
    for (size_t i = 0, len; i < merged->n && r == 0; i += len) {
        int nr = seccomp_number (token, merged->list[i].name);

        len = group_len (merged->list + i, merged->n - i);
        if (nr >= 0)
            r = put_call (c, nr, merged->list + i, len, is_wide (token), e);
    }
    if (from + 2 < BPF_MAXINSNS)
        c->insns[from + 2].k = (uint32_t)(c->n - from - 3);
    return r;
}

int seccomp_conditions (const struct seccomp_merged *merged, const unsigned int *tokens,
                        size_t n_tokens, uint32_t default_action, struct arena *a,
                        struct seccomp_part *ret, struct err *e)
{
    struct code c = { .default_action = default_action };
    int r = 0;

    c.insns = merged->n ? arena_calloc (a, BPF_MAXINSNS, sizeof *c.insns) : NULL;
    if (merged->n && !c.insns)
        return err_oom (e);
    for (size_t i = 0; i < n_tokens && merged->n && r == 0; i++)
        r = put_abi (&c, tokens[i], merged, e);
    if (r == 0)
        *ret = (struct seccomp_part){ c.insns, c.n };
    return r;
}
