#include <errno.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <stdbool.h>
#include <stdlib.h>

#include "seccomp_compile.h"

/* Both tell themselves as AUDIT_ARCH_X86_64; x32 calls carry this bit (asm/unistd.h). */
#define X32_BIT 0x40000000U

#define BLOCK_LEN 7

#define LOAD(field) BPF_STMT (BPF_LD | BPF_W | BPF_ABS, offsetof (struct seccomp_data, field))
#define JUMP(op, k, jt, jf)                                                                        \
    BPF_JUMP (BPF_JMP | BPF_K | (op), (k), (unsigned char)(jt), (unsigned char)(jf))
#define RETURN(k) BPF_STMT (BPF_RET | BPF_K, (k))

/* A tracer that lets new calls pass answers for them itself, and a profile that passes or logs all
 * calls that it does not name means the new ones too. */
static bool lets_pass (int action)
{
    return action == OCI_ACT_ALLOW || action == OCI_ACT_LOG || action == OCI_ACT_TRACE;
}

static bool wants_stub (const struct oci_linux_seccomp *s)
{
    bool is_enosys = s->default_action == OCI_ACT_ERRNO && s->has_default_errno_ret &&
                     s->default_errno_ret == ENOSYS;

    return !lets_pass (s->default_action) && !is_enosys;
}

/* The newest system call that a profile names, as TOKEN numbers it; -1 when it names none. */
static int newest (const struct oci_linux_seccomp *s, unsigned int token)
{
    int max = -1;

    for (size_t i = 0; i < s->n_syscalls; i++)
        for (size_t j = 0; j < s->syscalls[i].n_names; j++) {
            int nr = seccomp_number (token, s->syscalls[i].names[j]);

            if (nr > max)
                max = nr;
        }
    return max;
}

/* "If the call is of this ABI and newer than NR: ENOSYS". Every jump leads to the next block or
 * below. */
static void put_block (struct sock_filter *at, unsigned int token, unsigned int nr)
{
    bool x32 = token == SCMP_ARCH_X32;
    bool x86_64 = token == SCMP_ARCH_X86_64;
    const struct sock_filter block[BLOCK_LEN] = {
        LOAD (arch),
        JUMP (BPF_JEQ, x32 ? AUDIT_ARCH_X86_64 : token, 0, 5),
        LOAD (nr),
        JUMP (BPF_JGE, x32 ? X32_BIT : 0, 0, 3),
        JUMP (BPF_JGT, nr, 0, 2),
        JUMP (BPF_JGE, x86_64 ? X32_BIT : UINT32_MAX, 1, 0),
        RETURN (SECCOMP_RET_ERRNO | ENOSYS),
    };

    for (int i = 0; i < BLOCK_LEN; i++)
        at[i] = block[i];
}

int seccomp_stub (const struct oci_linux_seccomp *s, const unsigned int *tokens, size_t n_tokens,
                  struct arena *a, struct seccomp_part *ret, struct err *e)
{
    struct sock_filter *insns = arena_calloc (a, n_tokens * BLOCK_LEN, sizeof *insns);
    size_t n = 0;

    if (!insns)
        return err_oom (e);
    for (size_t i = 0; i < n_tokens && wants_stub (s); i++) {
        int nr = newest (s, tokens[i]);

        if (nr < 0)
            continue;
        put_block (insns + n, tokens[i], (unsigned int)nr);
        n += BLOCK_LEN;
    }
    *ret = (struct seccomp_part){ insns, n };
    return 0;
}
