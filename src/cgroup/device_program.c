#include <stddef.h>

#include "base/cleanup.h"
#include "cgroup/devices.h"

/* The registers while the program runs. */
enum { VERDICT = BPF_REG_0, CONTEXT = BPF_REG_1, TYPE, ACCESS, MAJOR, MINOR };

#define PROLOGUE_LEN 6
#define RULE_LEN_MAX 8
#define RETURN_LEN   2

static void put (struct device_program *p, struct bpf_insn insn)
{
    p->v[p->n++] = insn;
}

static void put_load (struct device_program *p, unsigned int reg, size_t offset)
{
    put (p, (struct bpf_insn){ .code = BPF_LDX | BPF_MEM | BPF_W,
                               .dst_reg = reg & 0xfU,
                               .src_reg = CONTEXT,
                               .off = (int16_t)offset });
}

/* REG = REG OP VALUE, on 32 bits. */
static void put_alu (struct device_program *p, uint8_t op, unsigned int reg, uint32_t value)
{
    put (p, (struct bpf_insn){ .code = (uint8_t)(BPF_ALU | op | BPF_K),
                               .dst_reg = reg & 0xfU,
                               .imm = (int32_t)value });
}

static void put_copy (struct device_program *p, unsigned int to, unsigned int from)
{
    put (p, (struct bpf_insn){
                .code = BPF_ALU | BPF_MOV | BPF_X, .dst_reg = to & 0xfU, .src_reg = from & 0xfU });
}

/* A jump over a distance that is filled in by land(). */
static void put_jump (struct device_program *p, uint8_t op, unsigned int reg, uint32_t value)
{
    put (p, (struct bpf_insn){ .code = (uint8_t)(BPF_JMP32 | op | BPF_K),
                               .dst_reg = reg & 0xfU,
                               .imm = (int32_t)value });
}

static void put_return (struct device_program *p, bool allow)
{
    put_alu (p, BPF_MOV, VERDICT, allow);
    put (p, (struct bpf_insn){ .code = BPF_JMP | BPF_EXIT });
}

/* All jumps from START on lead here: they all skip one rule. */
static void land (struct device_program *p, size_t start)
{
    for (size_t i = start; i < p->n; i++)
        if (BPF_CLASS (p->v[i].code) == BPF_JMP32)
            p->v[i].off = (int16_t)(p->n - i - 1);
}

static void put_prologue (struct device_program *p)
{
    put_load (p, TYPE, offsetof (struct bpf_cgroup_dev_ctx, access_type));
    put_load (p, ACCESS, offsetof (struct bpf_cgroup_dev_ctx, access_type));
    put_alu (p, BPF_AND, TYPE, 0xffff);
    put_alu (p, BPF_RSH, ACCESS, 16);
    put_load (p, MAJOR, offsetof (struct bpf_cgroup_dev_ctx, major));
    put_load (p, MINOR, offsetof (struct bpf_cgroup_dev_ctx, minor));
}

/* Rules are asked from the last to the first. ACCESS holds the bits that no rule has decided yet:
 * an allowing rule takes its bits away and ends with "yes" when none is left, a denying one ends
 * with "no" when one of its bits is among them. Returns whether anything can come after this
 * rule. */
static bool put_rule (struct device_program *p, const struct device_rule *rule)
{
    size_t start = p->n;

    if (!rule->chr || !rule->blk)
        put_jump (p, BPF_JNE, TYPE, rule->chr ? BPF_DEVCG_DEV_CHAR : BPF_DEVCG_DEV_BLOCK);
    if (rule->major != DEVICE_ANY)
        put_jump (p, BPF_JNE, MAJOR, (uint32_t)rule->major);
    if (rule->minor != DEVICE_ANY)
        put_jump (p, BPF_JNE, MINOR, (uint32_t)rule->minor);
    if (rule->access != DEVICE_ALL_ACCESS && rule->allow) {
        put_alu (p, BPF_AND, ACCESS, ~rule->access);
        put_jump (p, BPF_JNE, ACCESS, 0);
    } else if (rule->access != DEVICE_ALL_ACCESS) {
        put_copy (p, VERDICT, ACCESS);
        put_alu (p, BPF_AND, VERDICT, rule->access);
        put_jump (p, BPF_JEQ, VERDICT, 0);
    }
    put_return (p, rule->allow);
    land (p, start);
    return p->n - start > RETURN_LEN;
}

/* The verifier refuses instructions that nothing leads to, so the first rule without a condition
 * ends the program. */
int device_program (const struct device_rules *rules, struct arena *a, struct device_program *ret,
                    struct err *e)
{
    size_t max = PROLOGUE_LEN + rules->n * RULE_LEN_MAX + RETURN_LEN;
    struct device_program p = { .v = arena_calloc (a, max, sizeof *p.v) };
    bool goes_on = true;

    if (!p.v)
        return err_oom (e);
    put_prologue (&p);
    for (size_t i = rules->n; goes_on && i > 0; i--)
        goes_on = put_rule (&p, &rules->v[i - 1]);
    if (goes_on)
        put_return (&p, false);
    *ret = p;
    return 0;
}
