#include "strict_table.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <string.h>

#define NONE     (-1)
#define ALLOW    SECCOMP_RET_ALLOW
#define ERRNO(n) (SECCOMP_RET_ERRNO | (n))
#define IS(arg, value)                                                                             \
    {                                                                                              \
        (arg), UINT32_MAX, (value)                                                                 \
    }
#define BITS(arg, mask, value)                                                                     \
    {                                                                                              \
        (arg), (mask), (value)                                                                     \
    }
#define GROUP(title, text) { .kind = STRICT_GROUP, .name = (title), .why = (text) },
#define CALL(call, x86_64, aarch64, ret)                                                           \
    { .kind = STRICT_CALL, .name = #call, .nr = { (x86_64), (aarch64) }, .verdict = (ret) },
#define WHEN(ret, what, ...)                                                                       \
    { .kind = STRICT_WHEN, .name = (what), .verdict = (ret), .tests = { __VA_ARGS__ } },

const struct strict_row strict_rows[] = {
#include "strict.def"
};
const size_t n_strict_rows = sizeof strict_rows / sizeof *strict_rows;

/* Numbers are below this; what is above is no call of the table. */
#define NUMBERS 1024

/* Both tell themselves as AUDIT_ARCH_X86_64; x32 calls carry this bit (asm/unistd.h). A tracer's
 * "no call", -1, has it as well and is no reason to kill. */
#define X32_BIT 0x40000000U
#define NO_CALL UINT32_MAX

#define MAX_JUMP 255U

/* The program is written from its end to its start: whatever a jump leads to is there already. */
struct code {
    struct sock_filter insns[BPF_MAXINSNS];
    size_t at; /* index of the first instruction; 0: full */
};

/* Calls whose numbers follow each other and that get one answer. */
struct range {
    uint32_t from;
    const struct strict_row *row; /* NULL: no such call */
    size_t n_rows;
};

size_t strict_call_rows (const struct strict_row *rows, size_t n, size_t call)
{
    size_t end = call + 1;

    while (end < n && rows[end].kind == STRICT_WHEN)
        end++;
    return end - call;
}

/* ---- instructions ---- */

static void put (struct code *c, uint16_t code, unsigned char jt, unsigned char jf, uint32_t k)
{
    if (c->at > 0)
        c->insns[--c->at] = (struct sock_filter){ code, jt, jf, k };
}

static void put_load (struct code *c, size_t offset)
{
    put (c, BPF_LD | BPF_W | BPF_ABS, 0, 0, (uint32_t)offset);
}

static size_t put_return (struct code *c, uint32_t verdict)
{
    put (c, BPF_RET | BPF_K, 0, 0, verdict);
    return c->at;
}

/* A label that a conditional jump, still to be written, reaches: itself, or a jump to it. ROOM: how
 * many instructions may come between. */
static size_t within_reach (struct code *c, size_t label, size_t room)
{
    if (label - c->at + room <= MAX_JUMP)
        return label;
    put (c, BPF_JMP | BPF_JA, 0, 0, (uint32_t)(label - c->at));
    return c->at;
}

static size_t put_branch (struct code *c, uint16_t op, uint32_t k, size_t yes, size_t no)
{
    yes = within_reach (c, yes, 1);
    no = within_reach (c, no, 0);
    put (c, BPF_JMP | BPF_K | op, (unsigned char)(yes - c->at), (unsigned char)(no - c->at), k);
    return c->at;
}

/* ---- a call with exceptions ---- */

/* After a test that fails, the next one on the same bits finds them loaded. */
static bool is_loaded (const struct strict_row *before, const struct strict_test *t)
{
    return before->kind == STRICT_WHEN && before->tests[1].mask == 0 &&
           before->tests[0].arg == t->arg && before->tests[0].mask == t->mask;
}

static size_t put_when (struct code *c, const struct strict_row *when, size_t otherwise)
{
    size_t label = put_return (c, when->verdict);

    for (int i = STRICT_TESTS - 1; i >= 0; i--) {
        const struct strict_test *t = &when->tests[i];

        if (t->mask == 0)
            continue;
        (void)put_branch (c, BPF_JEQ, t->value, label, otherwise);
        if (i > 0 || !is_loaded (when - 1, t)) {
            if (t->mask != UINT32_MAX)
                put (c, BPF_ALU | BPF_AND | BPF_K, 0, 0, t->mask);
            put_load (c, offsetof (struct seccomp_data, args) + t->arg * sizeof (uint64_t));
        }
        label = c->at;
    }
    return label;
}

static size_t put_call (struct code *c, const struct range *r)
{
    size_t label = put_return (c, r->row ? r->row->verdict : ERRNO (ENOSYS));

    for (size_t i = r->n_rows; i > 1; i--)
        label = put_when (c, &r->row[i - 1], label);
    return label;
}

/* ---- the search ---- */

static size_t put_search (struct code *c, const struct range *r, size_t n)
{
    size_t half = n / 2, above, below;

    if (n == 1)
        return put_call (c, r);
    above = put_search (c, r + half, n - half);
    below = put_search (c, r, half);
    return put_branch (c, BPF_JGE, r[half].from, above, below);
}

static bool same_answer (const struct range *a, const struct range *b)
{
    uint32_t none = ERRNO (ENOSYS);

    return a->n_rows <= 1 && b->n_rows <= 1 &&
           (a->row ? a->row->verdict : none) == (b->row ? b->row->verdict : none);
}

static int fill_numbers (const struct strict_row *rows, size_t n, enum strict_arch arch,
                         struct range *numbers)
{
    for (size_t i = 0; i < n; i++) {
        int nr = rows[i].nr[arch];

        if (rows[i].kind != STRICT_CALL || nr < 0)
            continue;
        if (nr >= NUMBERS)
            return -ERANGE;
        if (numbers[nr].row)
            return -EEXIST;
        numbers[nr].row = &rows[i];
        numbers[nr].n_rows = strict_call_rows (rows, n, i);
    }
    return 0;
}

static size_t join_numbers (struct range *numbers)
{
    size_t n = 0;

    for (uint32_t nr = 0; nr <= NUMBERS; nr++) {
        numbers[nr].from = nr;
        if (n == 0 || !same_answer (&numbers[n - 1], &numbers[nr]))
            numbers[n++] = numbers[nr];
    }
    return n;
}

static void put_start (struct code *c, enum strict_arch arch, size_t search)
{
    static const uint32_t audit[] = { AUDIT_ARCH_X86_64, AUDIT_ARCH_AARCH64 };
    size_t start = search, die;

    if (arch == STRICT_X86_64) {
        die = put_return (c, SECCOMP_RET_KILL_PROCESS);
        start = put_branch (c, BPF_JEQ, NO_CALL, search, die);
        (void)put_branch (c, BPF_JGE, X32_BIT, start, search);
    }
    put_load (c, offsetof (struct seccomp_data, nr));
    start = c->at;
    die = put_return (c, SECCOMP_RET_KILL_PROCESS);
    (void)put_branch (c, BPF_JEQ, audit[arch], start, die);
    put_load (c, offsetof (struct seccomp_data, arch));
}

int strict_compile (const struct strict_row *rows, size_t n, enum strict_arch arch,
                    struct sock_filter *out)
{
    struct range numbers[NUMBERS + 1] = { 0 };
    struct code c = { .at = BPF_MAXINSNS };
    int r = fill_numbers (rows, n, arch, numbers);

    if (r < 0)
        return r;
    put_start (&c, arch, put_search (&c, numbers, join_numbers (numbers)));
    if (c.at == 0)
        return -E2BIG;
    memcpy (out, c.insns + c.at, (BPF_MAXINSNS - c.at) * sizeof *out);
    return (int)(BPF_MAXINSNS - c.at);
}
