#pragma once
/*
 * What a seccomp filter answers: a small interpreter of classic BPF over struct seccomp_data.
 */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdint.h>
#include <string.h>

#define BPF_BROKEN 0xdeadU /* no action of seccomp: the program left its bounds or is no filter */

static inline int bpf_jumps (uint16_t code, uint32_t a, uint32_t k)
{
    switch (BPF_OP (code)) {
    case BPF_JEQ:
        return a == k;
    case BPF_JGT:
        return a > k;
    case BPF_JGE:
        return a >= k;
    default:
        return (a & k) != 0;
    }
}

static inline uint32_t bpf_run (const struct sock_filter *f, size_t n,
                                const struct seccomp_data *data)
{
    uint32_t a = 0;

    for (size_t pc = 0; pc < n; pc++) {
        const struct sock_filter *i = &f[pc];

        switch (BPF_CLASS (i->code)) {
        case BPF_LD:
            if (i->code != (BPF_LD | BPF_W | BPF_ABS) || i->k > sizeof *data - sizeof a)
                return BPF_BROKEN;
            memcpy (&a, (const char *)data + i->k, sizeof a);
            break;
        case BPF_ALU:
            if (i->code != (BPF_ALU | BPF_AND | BPF_K))
                return BPF_BROKEN;
            a &= i->k;
            break;
        case BPF_JMP:
            pc += BPF_OP (i->code) == BPF_JA ? i->k : bpf_jumps (i->code, a, i->k) ? i->jt : i->jf;
            break;
        case BPF_RET:
            return i->k;
        default:
            return BPF_BROKEN;
        }
    }
    return BPF_BROKEN;
}
