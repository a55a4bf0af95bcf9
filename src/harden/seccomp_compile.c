#include "seccomp_compile.h"

#include <ctype.h>
#include <errno.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "harden/seccomp.h"

#define MAX_ERRNO   4095 /* the kernel cuts larger ones down to it */
#define MAX_MESSAGE 0xffff
#define MAX_ARG     5
#define MAX_ARCHES  32

static void release (scmp_filter_ctx *ctx)
{
    if (*ctx)
        seccomp_release (*ctx);
}

#define AUTO_CTX __attribute__ ((cleanup (release))) scmp_filter_ctx

static const struct {
    uint32_t action;
    uint32_t max_data; /* of errnoRet; 0: the action has none */
} actions[] = {
    [OCI_ACT_KILL] = { SCMP_ACT_KILL, 0 },
    [OCI_ACT_KILL_PROCESS] = { SCMP_ACT_KILL_PROCESS, 0 },
    [OCI_ACT_KILL_THREAD] = { SCMP_ACT_KILL_THREAD, 0 },
    [OCI_ACT_TRAP] = { SCMP_ACT_TRAP, 0 },
    [OCI_ACT_ERRNO] = { SCMP_ACT_ERRNO (0), MAX_ERRNO },
    [OCI_ACT_TRACE] = { SCMP_ACT_TRACE (0), MAX_MESSAGE },
    [OCI_ACT_ALLOW] = { SCMP_ACT_ALLOW, 0 },
    [OCI_ACT_LOG] = { SCMP_ACT_LOG, 0 },
    [OCI_ACT_NOTIFY] = { SCMP_ACT_NOTIFY, 0 },
};

static const enum scmp_compare operators[] = {
    [OCI_CMP_NE] = SCMP_CMP_NE,
    [OCI_CMP_LT] = SCMP_CMP_LT,
    [OCI_CMP_LE] = SCMP_CMP_LE,
    [OCI_CMP_EQ] = SCMP_CMP_EQ,
    [OCI_CMP_GE] = SCMP_CMP_GE,
    [OCI_CMP_GT] = SCMP_CMP_GT,
    [OCI_CMP_MASKED_EQ] = SCMP_CMP_MASKED_EQ,
};

/* ACTION as libseccomp has it, with its errno or message (EPERM when not given, as runc). */
int seccomp_action (int action, bool has_data, uint32_t data, uint32_t *ret, struct err *e)
{
    uint32_t max = actions[action].max_data;

    if (has_data && max == 0)
        return err_set (e, EINVAL, "%s has no errno",
                        oci_enum_name (&oci_seccomp_action_enum, action));
    if (has_data && data > max)
        return err_set (e, ERANGE, "%u is above %u", data, max);
    if (!has_data)
        data = max ? EPERM : 0;
    *ret = actions[action].action | data;
    return 0;
}

/* libseccomp refuses rules whose action is the default one, and runc therefore leaves them out.
 * Then a rule that libseccomp makes by itself can undo the refusal: `socket` on i386 opens
 * `socketcall` (containerd#13330). So the default that libseccomp gets is an action that is nowhere
 * in the profile, and is replaced in the finished filter. */
static uint32_t placeholder (const struct oci_linux_seccomp *s)
{
    uint32_t message = MAX_MESSAGE;

    for (size_t i = 0; i < s->n_syscalls; i++)
        if (s->syscalls[i].action == OCI_ACT_TRACE && s->syscalls[i].errno_ret == message) {
            message--;
            i = SIZE_MAX; /* from the start again */
        }
    return SCMP_ACT_TRACE (message);
}

/* ---- rules ---- */

/* As runc, which hands the descriptor over by a write, and so that the set-up can always say what
 * failed. */
static int check_notify (const struct oci_linux_seccomp *s, const struct oci_syscall *rule,
                         const char *name, struct err *e)
{
    if (rule->action != OCI_ACT_NOTIFY)
        return 0;
    if (!s->listener_path || !*s->listener_path)
        return err_set (e, EINVAL, "SCMP_ACT_NOTIFY needs /linux/seccomp/listenerPath");
    if (strcmp (name, "write") == 0)
        return err_set (e, EINVAL, "SCMP_ACT_NOTIFY cannot be used for the write syscall");
    return 0;
}

static int check_rule (const struct oci_linux_seccomp *s, const struct oci_syscall *rule,
                       struct err *e)
{
    uint32_t action;
    int r = seccomp_action (rule->action, rule->has_errno_ret, rule->errno_ret, &action, e);

    if (r < 0)
        return err_add (e, "/errnoRet");
    for (size_t i = 0; i < rule->n_args; i++)
        if (rule->args[i].index > MAX_ARG)
            return err_set (e, EINVAL, "/args[%zu]/index: %u is above %u", i, rule->args[i].index,
                            MAX_ARG);
    for (size_t i = 0; i < rule->n_names && r == 0; i++)
        r = check_notify (s, rule, rule->names[i], e);
    return r;
}

static int check_rules (const struct oci_linux_seccomp *s, struct err *e)
{
    for (size_t i = 0; i < s->n_syscalls; i++)
        if (check_rule (s, &s->syscalls[i], e) < 0)
            return err_at (e, "/linux/seccomp/syscalls[%zu]", i);
    return 0;
}

static int check_names (const struct oci_syscall *rule, struct err *e)
{
    for (size_t i = 0; i < rule->n_names; i++)
        if (seccomp_syscall_resolve_name (rule->names[i]) == __NR_SCMP_ERROR)
            return err_set (e, EINVAL, "/names: the system call '%.100s' is not known",
                            rule->names[i]);
    return 0;
}

int seccomp_check_names (const struct oci_linux_seccomp *s, struct err *e)
{
    for (size_t i = 0; i < s->n_syscalls; i++)
        if (check_names (&s->syscalls[i], e) < 0)
            return err_at (e, "/linux/seccomp/syscalls[%zu]", i);
    return 0;
}

/* Unknown names are skipped (the spec); merged calls are seccomp_conditions' work. */
static int add_rule (scmp_filter_ctx ctx, const struct seccomp_merged *merged,
                     const struct oci_syscall *rule, struct arena *a, struct err *e)
{
    struct scmp_arg_cmp *args = arena_calloc (a, rule->n_args, sizeof *args);
    uint32_t action;
    int r = seccomp_action (rule->action, rule->has_errno_ret, rule->errno_ret, &action, e);

    if (!args)
        return err_oom (e);
    for (size_t i = 0; i < rule->n_args; i++)
        args[i] = (struct scmp_arg_cmp){ rule->args[i].index, operators[rule->args[i].op],
                                         rule->args[i].value, rule->args[i].value_two };
    for (size_t i = 0; i < rule->n_names && r == 0; i++) {
        int nr = seccomp_syscall_resolve_name (rule->names[i]);

        if (nr == __NR_SCMP_ERROR || seccomp_is_merged (merged, rule->names[i]))
            continue;
        r = seccomp_rule_add_array (ctx, action, nr, (unsigned int)rule->n_args, args);
        if (r < 0)
            return err_set (e, -r, "%s: libseccomp: %s", rule->names[i], strerrorname_np (-r));
    }
    return r;
}

/* ---- architectures ---- */

unsigned int seccomp_arch_token (int arch)
{
    const char *name = oci_enum_name (&oci_seccomp_arch_enum, arch) + strlen ("SCMP_ARCH_");
    char lower[32] = "";

    for (size_t i = 0; name[i] && i < sizeof lower - 1; i++)
        lower[i] = (char)tolower ((unsigned char)name[i]);
    return seccomp_arch_resolve_name (lower);
}

/* Those of which the library that this is built with has a token. */
static const char *const arch_list[] = {
    "SCMP_ARCH_X86",         "SCMP_ARCH_X86_64",      "SCMP_ARCH_X32",       "SCMP_ARCH_ARM",
    "SCMP_ARCH_AARCH64",
#ifdef SCMP_ARCH_LOONGARCH64
    "SCMP_ARCH_LOONGARCH64",
#endif
#ifdef SCMP_ARCH_M68K
    "SCMP_ARCH_M68K",
#endif
    "SCMP_ARCH_MIPS",        "SCMP_ARCH_MIPS64",      "SCMP_ARCH_MIPS64N32", "SCMP_ARCH_MIPSEL",
    "SCMP_ARCH_MIPSEL64",    "SCMP_ARCH_MIPSEL64N32", "SCMP_ARCH_PPC",       "SCMP_ARCH_PPC64",
    "SCMP_ARCH_PPC64LE",     "SCMP_ARCH_S390",        "SCMP_ARCH_S390X",
#ifdef SCMP_ARCH_SH
    "SCMP_ARCH_SH",          "SCMP_ARCH_SHEB",
#endif
    "SCMP_ARCH_PARISC",      "SCMP_ARCH_PARISC64",    "SCMP_ARCH_RISCV64",   NULL,
};

const char *const *seccomp_archs (void)
{
    return arch_list;
}

/* The direct numbers of calls that i386 also has multiplexed, by which libseccomp knows them
 * there: socketcall's since Linux 4.3, ipc's since 5.1. Other architectures that do so are
 * big-endian or no hosts of ours. */
static const struct {
    const char *name;
    int nr;
} i386_direct[] = {
    { "accept4", 364 },     { "bind", 361 },       { "connect", 362 },  { "getpeername", 368 },
    { "getsockname", 367 }, { "getsockopt", 365 }, { "listen", 363 },   { "msgctl", 402 },
    { "msgget", 399 },      { "msgrcv", 401 },     { "msgsnd", 400 },   { "recvfrom", 371 },
    { "recvmsg", 372 },     { "semctl", 394 },     { "semget", 393 },   { "sendmsg", 370 },
    { "sendto", 369 },      { "setsockopt", 366 }, { "shmat", 397 },    { "shmctl", 396 },
    { "shmdt", 398 },       { "shmget", 395 },     { "shutdown", 373 }, { "socket", 359 },
    { "socketpair", 360 },
};

int seccomp_number (unsigned int token, const char *name)
{
    int nr = seccomp_syscall_resolve_name_arch (token, name);

    for (size_t i = 0; nr < 0 && token == SCMP_ARCH_X86 && i < ARRAY_LEN (i386_direct); i++)
        if (strcmp (i386_direct[i].name, name) == 0)
            return i386_direct[i].nr;
    return nr;
}

struct arches {
    unsigned int tokens[MAX_ARCHES];
    size_t n;
};

static bool has_token (const struct arches *arches, unsigned int token)
{
    for (size_t i = 0; i < arches->n; i++)
        if (arches->tokens[i] == token)
            return true;
    return false;
}

/* The native one is always in: without it nothing could be executed. */
static int add_arches (scmp_filter_ctx ctx, const struct oci_linux_seccomp *s, struct arches *ret,
                       struct err *e)
{
    *ret = (struct arches){ { seccomp_arch_native () }, 1 };
    for (size_t i = 0; i < s->n_architectures; i++) {
        unsigned int token = seccomp_arch_token (s->architectures[i]);
        int r;

        if (has_token (ret, token))
            continue;
        r = token && ret->n < MAX_ARCHES ? seccomp_arch_add (ctx, token) : -EINVAL;
        if (r < 0)
            return err_set (e, -r, "/linux/seccomp/architectures[%zu]: this host cannot filter %s",
                            i, oci_enum_name (&oci_seccomp_arch_enum, s->architectures[i]));
        ret->tokens[ret->n++] = token;
    }
    return 0;
}

/* ---- the filter ---- */

/* libseccomp 2.5 writes filters to a descriptor only. */
static int export_filter (scmp_filter_ctx ctx, struct arena *a, struct seccomp_part *ret,
                          struct err *e)
{
    AUTO_FD fd = memfd_create ("seccomp", MFD_CLOEXEC);
    struct stat st;
    void *insns;
    int r;

    if (fd < 0)
        return err_sys (e, "memfd for the filter");
    r = seccomp_export_bpf (ctx, fd);
    if (r < 0)
        return err_set (e, -r, "libseccomp cannot write the filter: %s", strerrorname_np (-r));
    if (fstat (fd, &st) < 0)
        return err_sys (e, "stat the filter");
    insns = arena_alloc (a, (size_t)st.st_size);
    if (!insns)
        return err_oom (e);
    if (pread (fd, insns, (size_t)st.st_size, 0) != st.st_size)
        return err_sys (e, "read the filter");
    ret->insns = insns;
    ret->n = (size_t)st.st_size / sizeof *ret->insns;
    return 0;
}

static void replace_action (struct seccomp_part *part, uint32_t from, uint32_t to)
{
    for (size_t i = 0; i < part->n; i++)
        if (part->insns[i].code == (BPF_RET | BPF_K) && part->insns[i].k == from)
            part->insns[i].k = to;
}

static int join_parts (const struct seccomp_part *parts, size_t n_parts, struct arena *a,
                       struct seccomp_part *ret, struct err *e)
{
    struct sock_filter *insns;
    size_t n = 0;

    for (size_t i = 0; i < n_parts; i++)
        n += parts[i].n;
    if (n > BPF_MAXINSNS)
        return err_set (e, E2BIG, "%zu instructions, the kernel takes at most %d", n, BPF_MAXINSNS);
    insns = arena_calloc (a, n, sizeof *insns);
    if (!insns)
        return err_oom (e);
    *ret = (struct seccomp_part){ insns, n };
    for (size_t i = 0; i < n_parts; i++)
        for (size_t j = 0; j < parts[i].n; j++)
            *insns++ = parts[i].insns[j];
    return 0;
}

/* What libseccomp makes of the profile. */
static int library_part (const struct oci_linux_seccomp *s, const struct seccomp_merged *merged,
                         struct arches *arches, struct arena *a, struct seccomp_part *ret,
                         struct err *e)
{
    AUTO_CTX ctx = seccomp_init (placeholder (s));
    int r;

    /* A binary tree over the numbers instead of a list: a dozen comparisons instead of hundreds. */
    if (!ctx || seccomp_attr_set (ctx, SCMP_FLTATR_CTL_OPTIMIZE, 2) < 0)
        return err_oom (e);
    r = add_arches (ctx, s, arches, e);
    for (size_t i = 0; i < s->n_syscalls && r == 0; i++)
        if (add_rule (ctx, merged, &s->syscalls[i], a, e) < 0)
            r = err_at (e, "/linux/seccomp/syscalls[%zu]", i);
    if (r < 0)
        return r;
    return export_filter (ctx, a, ret, e);
}

static int default_action (const struct oci_linux_seccomp *s, uint32_t *ret, struct err *e)
{
    if (s->default_action == OCI_ACT_NOTIFY)
        return err_set (e, EINVAL,
                        "/linux/seccomp/defaultAction: SCMP_ACT_NOTIFY cannot be used as default "
                        "action");
    if (seccomp_action (s->default_action, s->has_default_errno_ret, s->default_errno_ret, ret, e) <
        0)
        return err_add (e, "/linux/seccomp/defaultErrnoRet");
    return 0;
}

int seccomp_compile (const struct oci_linux_seccomp *s, struct arena *a, struct seccomp_part *ret,
                     struct err *e)
{
    struct seccomp_part parts[3];
    struct seccomp_merged merged;
    struct arches arches;
    uint32_t action;
    int r = default_action (s, &action, e);

    if (r == 0)
        r = check_rules (s, e);
    if (r == 0)
        r = seccomp_merged (s, a, &merged, e);
    if (r == 0)
        r = library_part (s, &merged, &arches, a, &parts[2], e);
    if (r == 0)
        r = seccomp_stub (s, arches.tokens, arches.n, a, &parts[0], e);
    if (r == 0)
        r = seccomp_conditions (&merged, arches.tokens, arches.n, action, a, &parts[1], e);
    if (r < 0)
        return r;
    replace_action (&parts[2], placeholder (s), action);
    if (join_parts (parts, ARRAY_LEN (parts), a, ret, e) < 0)
        return err_add (e, "/linux/seccomp");
    return 0;
}
