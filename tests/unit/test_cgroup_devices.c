/* Device rules: the generated eBPF and the v1 exceptions against a plain model, over random
 * lists. */
#include "cgroup/devices.h"

#include <linux/bpf.h>

#include "tap.h"

#define LISTS   400
#define QUERIES 200

struct query {
    uint32_t type, access, major, minor;
};

/* ---- the model, written as the text says it ---- */

static bool names (const struct device_rule *r, const struct query *q)
{
    return (q->type == BPF_DEVCG_DEV_CHAR ? r->chr : r->blk) &&
           (r->major == DEVICE_ANY || r->major == (int64_t)q->major) &&
           (r->minor == DEVICE_ANY || r->minor == (int64_t)q->minor);
}

static bool model (const struct device_rules *rules, const struct query *q)
{
    for (uint32_t bit = 1; bit <= DEVICE_ALL_ACCESS; bit <<= 1) {
        bool allowed = false;

        for (size_t i = 0; i < rules->n; i++)
            if (names (&rules->v[i], q) && (rules->v[i].access & bit))
                allowed = rules->v[i].allow;
        if ((q->access & bit) && !allowed)
            return false;
    }
    return true;
}

/* ---- the part of eBPF that the programs use ---- */

struct machine {
    uint64_t reg[11];
    size_t pc;
    bool bad; /* an instruction that is none of these, or a jump out of the program */
};

static void step_alu (struct machine *m, const struct bpf_insn *in)
{
    uint32_t x = (uint32_t)m->reg[in->dst_reg];
    uint32_t y = BPF_SRC (in->code) == BPF_X ? (uint32_t)m->reg[in->src_reg] : (uint32_t)in->imm;

    switch (BPF_OP (in->code)) {
    case BPF_MOV:
        x = y;
        break;
    case BPF_AND:
        x &= y;
        break;
    case BPF_RSH:
        x >>= y & 31;
        break;
    default:
        m->bad = true;
    }
    m->reg[in->dst_reg] = x;
}

static void step_jump (struct machine *m, const struct bpf_insn *in)
{
    bool same = (uint32_t)m->reg[in->dst_reg] == (uint32_t)in->imm;

    if (in->off < 0 || (BPF_OP (in->code) != BPF_JEQ && BPF_OP (in->code) != BPF_JNE))
        m->bad = true;
    if (same == (BPF_OP (in->code) == BPF_JEQ))
        m->pc += (size_t)in->off;
}

static void step_load (struct machine *m, const struct bpf_insn *in, const struct query *q)
{
    uint32_t ctx[3] = { q->access << 16 | q->type, q->major, q->minor };

    if (in->code != (BPF_LDX | BPF_MEM | BPF_W) || in->src_reg != BPF_REG_1 || in->off < 0 ||
        in->off > 8 || in->off % 4 != 0)
        m->bad = true;
    else
        m->reg[in->dst_reg] = ctx[in->off / 4];
}

/* 1 allow, 0 deny, -1 a program that the verifier would refuse. */
static int run (const struct device_program *p, const struct query *q)
{
    struct machine m = { 0 };

    while (m.pc < p->n && !m.bad) {
        const struct bpf_insn *in = &p->v[m.pc++];

        if (in->code == (BPF_JMP | BPF_EXIT))
            return (int)m.reg[0];
        if (BPF_CLASS (in->code) == BPF_ALU)
            step_alu (&m, in);
        else if (BPF_CLASS (in->code) == BPF_JMP32)
            step_jump (&m, in);
        else
            step_load (&m, in, q);
    }
    return -1;
}

/* Every instruction can be reached: the verifier refuses programs with others. */
static bool all_reachable (const struct device_program *p)
{
    bool reached[8192] = { true };

    for (size_t i = 0; i < p->n; i++) {
        const struct bpf_insn *in = &p->v[i];

        if (!reached[i])
            return false;
        if (in->code == (BPF_JMP | BPF_EXIT))
            continue;
        reached[i + 1] = true;
        if (BPF_CLASS (in->code) == BPF_JMP32)
            reached[i + 1 + (size_t)in->off] = true;
    }
    return !reached[p->n];
}

/* ---- what a v1 kernel does with a default and exceptions (security/device_cgroup.c) ---- */

static bool v1_allows (const struct device_exceptions *x, const struct query *q)
{
    for (size_t i = 0; i < x->n; i++) {
        if (!names (&x->v[i], q))
            continue;
        if (x->allow && (x->v[i].access & q->access))
            return false;
        if (!x->allow && (q->access & ~x->v[i].access) == 0)
            return true;
    }
    return x->allow;
}

/* ---- random lists ---- */

static uint32_t next_random (uint32_t *state)
{
    *state = *state * 1664525 + 1013904223;
    return *state >> 8;
}

static int64_t random_number (uint32_t *s, uint32_t n)
{
    uint32_t r = next_random (s) % (n + 1);

    return r == n ? DEVICE_ANY : (int64_t)r;
}

static void random_rules (uint32_t *s, struct device_rule *v, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint32_t kind = next_random (s) % 5;

        v[i] = (struct device_rule){ .allow = next_random (s) % 2,
                                     .chr = kind != 0,
                                     .blk = kind == 0 || kind == 4,
                                     .major = random_number (s, 3),
                                     .minor = random_number (s, 3),
                                     .access = 1 + next_random (s) % 7 };
        if (next_random (s) % 3 == 0)
            v[i].access = DEVICE_ALL_ACCESS;
    }
}

static struct query random_query (uint32_t *s)
{
    return (struct query){ .type = next_random (s) % 2 ? BPF_DEVCG_DEV_CHAR : BPF_DEVCG_DEV_BLOCK,
                           .access = 1 + next_random (s) % 7,
                           .major = next_random (s) % 4,
                           .minor = next_random (s) % 4 };
}

static void test_random_lists (void)
{
    uint32_t seed = 20260101;
    size_t wrong = 0, unreachable = 0, looser = 0, refused = 0, allowed = 0, exact = 0;

    for (int i = 0; i < LISTS; i++) {
        AUTO_ARENA a = { 0 };
        struct err e;
        struct device_rule v[12];
        struct device_rules rules = { v, next_random (&seed) % 13 };
        struct device_program p;
        struct device_exceptions x;
        bool has_v1;

        random_rules (&seed, v, rules.n);
        if (device_program (&rules, &a, &p, &e) < 0) {
            wrong++;
            continue;
        }
        unreachable += !all_reachable (&p);
        has_v1 = device_exceptions (&rules, &a, &x, &e) >= 0;
        refused += !has_v1;
        for (int k = 0; k < QUERIES; k++) {
            struct query q = random_query (&seed);
            bool want = model (&rules, &q);

            allowed += want;
            wrong += run (&p, &q) != want;
            looser += has_v1 && v1_allows (&x, &q) && !want;
            exact += has_v1 && v1_allows (&x, &q) == want;
        }
    }
    ok (wrong == 0, "eBPF says what the model says (%zu differences in %d)", wrong,
        LISTS * QUERIES);
    ok (unreachable == 0, "no program has unreachable instructions");
    ok (looser == 0, "v1 never allows what the model denies (%zu times)", looser);
    ok (refused > 0 && refused < LISTS, "v1 can express %zu of %d lists", LISTS - refused, LISTS);
    ok (allowed > LISTS * QUERIES / 20 && exact > 0, "the lists allow something (%zu)", allowed);
}

/* ---- single lists ---- */

struct rule_text {
    bool allow;
    const char *type;
    int64_t major, minor;
    const char *access;
};

static int parse (const struct rule_text *t, size_t n, struct arena *a, struct device_rules *ret,
                  struct err *e)
{
    struct oci_device_cgroup *d = arena_calloc (a, n + 1, sizeof *d);

    if (!d)
        return err_oom (e);
    for (size_t i = 0; i < n; i++)
        d[i] = (struct oci_device_cgroup){ .allow = t[i].allow,
                                           .type = t[i].type,
                                           .has_major = t[i].major != -2,
                                           .major = t[i].major,
                                           .has_minor = t[i].minor != -2,
                                           .minor = t[i].minor,
                                           .access = t[i].access };
    return device_rules (&(struct oci_linux_resources){ .devices = d, .n_devices = n }, a, ret, e);
}

static const char *exceptions_text (const struct device_exceptions *x, struct arena *a)
{
    const char *out = x->allow ? "all but" : "none but";

    for (size_t i = 0; i < x->n; i++) {
        char text[DEVICE_TEXT_MAX];

        device_text (&x->v[i], text);
        out = arena_printf (a, "%s, %s", out, text);
    }
    return out;
}

#define DEFAULTS                                                                                   \
    "b *:* m, c *:* m, c 1:3 rwm, c 1:5 rwm, c 1:7 rwm, c 1:8 rwm, c 1:9 rwm, c 5:0 rwm, "         \
    "c 5:2 rwm, c 136:* rwm"

static void is_exceptions (const struct rule_text *t, size_t n, const char *want, const char *name)
{
    AUTO_ARENA a = { 0 };
    struct err e = { 0 };
    struct device_rules rules;
    struct device_exceptions x;
    bool good = parse (t, n, &a, &rules, &e) >= 0 && device_exceptions (&rules, &a, &x, &e) >= 0;

    (void)tap_is (good ? exceptions_text (&x, &a) : e.msg, want, name);
}

static void test_v1_lists (void)
{
    static const struct rule_text docker[] = { { false, NULL, -2, -2, "rwm" },
                                               { true, "c", 1, 5, "rwm" },
                                               { false, "c", 10, 229, "rwm" } };
    static const struct rule_text all[] = { { true, "a", -1, -1, "rwm" } };
    static const struct rule_text all_but[] = { { true, "a", -1, -1, "rwm" },
                                                { false, "b", 8, -1, "w" } };
    static const struct rule_text hole[] = { { true, "c", 10, -1, "rw" },
                                             { false, "c", 10, 200, "r" } };
    static const struct rule_text taken_back[] = { { true, "b", 8, 1, "rw" },
                                                   { false, "b", 8, -1, "w" } };

    is_exceptions (NULL, 0, "none but, " DEFAULTS, "no rule: the default devices");
    is_exceptions (docker, 3,
                   "none but, c 1:5 rwm, b *:* m, c *:* m, c 1:3 rwm, c 1:7 rwm, c 1:8 rwm, "
                   "c 1:9 rwm, c 5:0 rwm, c 5:2 rwm, c 136:* rwm",
                   "what docker asks for");
    is_exceptions (all, 1, "all but", "privileged");
    is_exceptions (all_but, 2, "all but, b 8:* w", "all but one");
    is_exceptions (
        hole, 2, "/linux/resources/devices: cgroup v1 cannot deny 'c 10:200 r' out of 'c 10:* rw'",
        "a hole in a wildcard");
    is_exceptions (taken_back, 2, "none but, b 8:1 r, " DEFAULTS, "allowed and taken back");
}

static void test_bad_rules (void)
{
    static const struct {
        struct rule_text rule;
        const char *want;
    } bad[] = {
        { { true, "x", -1, -1, "rwm" },
          "/linux/resources/devices[0]/type: 'x' is none of a, b, c" },
        { { true, "cc", -1, -1, "rwm" },
          "/linux/resources/devices[0]/type: 'cc' is none of a, b, c" },
        { { true, "c", -1, -1, "rx" },
          "/linux/resources/devices[0]/access: 'rx' has other letters than r, w and m" },
        { { true, "c", -1, -1, "" }, "/linux/resources/devices[0]/access: must say r, w or m" },
        { { true, "c", -1, -1, NULL }, "/linux/resources/devices[0]/access: must say r, w or m" },
    };

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        AUTO_ARENA a = { 0 };
        struct err e = { 0 };
        struct device_rules rules;

        ok (parse (&bad[i].rule, 1, &a, &rules, &e) < 0, "bad rule %zu is refused", i);
        (void)tap_is (e.msg, bad[i].want, "and the message names it");
    }
}

int main (void)
{
    test_v1_lists ();
    test_bad_rules ();
    test_random_lists ();
    return tap_done ();
}
