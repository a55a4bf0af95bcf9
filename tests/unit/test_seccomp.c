/* The seccomp filter: what it answers against a plain reading of the profile, and the kernel. */
#include "harden/seccomp.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <seccomp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "bpf.h"
#include "seccomp_profile.h"

#ifndef __x86_64__
int main (void)
{
    (void)puts ("1..0 # SKIP the vectors are those of x86_64");
    return 0;
}
#else

#define X32 0x40000000U

static uint32_t ask (const struct seccomp_filter *f, uint32_t arch, uint32_t nr, uint64_t a0,
                     uint64_t a1)
{
    const struct seccomp_data d = { .nr = (int)nr, .arch = arch, .args = { a0, a1 } };

    return bpf_run (f->insns, f->count, &d);
}

#define ERRNO(n) (SECCOMP_RET_ERRNO | (uint32_t)(n))

/* ---- a plain reading of a profile ---- */

static uint32_t action_of (int action, bool has_errno, uint32_t nr)
{
    static const uint32_t rets[] = {
        [OCI_ACT_KILL] = SECCOMP_RET_KILL_THREAD,
        [OCI_ACT_KILL_PROCESS] = SECCOMP_RET_KILL_PROCESS,
        [OCI_ACT_KILL_THREAD] = SECCOMP_RET_KILL_THREAD,
        [OCI_ACT_TRAP] = SECCOMP_RET_TRAP,
        [OCI_ACT_ERRNO] = SECCOMP_RET_ERRNO,
        [OCI_ACT_TRACE] = SECCOMP_RET_TRACE,
        [OCI_ACT_ALLOW] = SECCOMP_RET_ALLOW,
        [OCI_ACT_LOG] = SECCOMP_RET_LOG,
        [OCI_ACT_NOTIFY] = SECCOMP_RET_USER_NOTIF,
    };
    bool takes = action == OCI_ACT_ERRNO || action == OCI_ACT_TRACE;

    return rets[action] | (takes ? (has_errno ? nr : EPERM) : 0);
}

static bool holds (const struct oci_syscall_arg *c, uint64_t arg, uint64_t bits)
{
    uint64_t v = c->value & bits;

    arg &= bits;
    switch (c->op) {
    case OCI_CMP_NE:
        return arg != v;
    case OCI_CMP_LT:
        return arg < v;
    case OCI_CMP_LE:
        return arg <= v;
    case OCI_CMP_EQ:
        return arg == v;
    case OCI_CMP_GE:
        return arg >= v;
    case OCI_CMP_GT:
        return arg > v;
    default:
        return (arg & v) == (c->value_two & v);
    }
}

static bool rule_holds (const struct oci_syscall *r, const uint64_t *args, uint64_t bits)
{
    bool all = true, any = false, twice = false;

    for (size_t i = 0; i < r->n_args; i++) {
        bool h = holds (&r->args[i], args[r->args[i].index], bits);

        all = all && h;
        any = any || h;
        for (size_t j = 0; j < i; j++)
            twice = twice || r->args[i].index == r->args[j].index;
    }
    return twice ? any : all;
}

static bool names_call (const struct oci_syscall *r, unsigned int token, int nr)
{
    for (size_t i = 0; i < r->n_names; i++)
        if (seccomp_syscall_resolve_name_arch (token, r->names[i]) == nr)
            return true;
    return false;
}

static uint32_t model (const struct oci_linux_seccomp *s, unsigned int token, int nr,
                       const uint64_t *args)
{
    uint64_t bits =
        token == SCMP_ARCH_X86_64 || token == SCMP_ARCH_AARCH64 ? ~UINT64_C (0) : UINT32_MAX;
    uint32_t ret = action_of (s->default_action, s->has_default_errno_ret, s->default_errno_ret);

    for (size_t i = 0; i < s->n_syscalls; i++) {
        const struct oci_syscall *r = &s->syscalls[i];

        if (!names_call (r, token, nr) || !rule_holds (r, args, bits))
            continue;
        ret = action_of (r->action, r->has_errno_ret, r->errno_ret);
        if (r->n_args == 0)
            return ret;
    }
    return ret;
}

/* ---- Docker's profile ---- */

static const uint64_t values[] = { 0,
                                   1,
                                   2,
                                   3,
                                   8,
                                   16,
                                   38,
                                   39,
                                   40,
                                   41,
                                   0x20000,
                                   0x20008,
                                   0x3d0f00,
                                   0x10000011,
                                   0x7e020000,
                                   0xfffffffe,
                                   0xffffffff,
                                   UINT64_C (1) << 32,
                                   (UINT64_C (1) << 32) | 40,
                                   UINT64_C (1) << 63,
                                   ~UINT64_C (0) };

static int compare_abi (const struct oci_linux_seccomp *s, const struct seccomp_filter *f,
                        unsigned int token, uint32_t arch, int from, int to)
{
    int wrong = 0;

    for (int nr = from; nr <= to; nr++)
        for (size_t i = 0; i < ARRAY_LEN (values); i++) {
            const uint64_t args[6] = { values[i], values[ARRAY_LEN (values) - 1 - i] };
            uint32_t want = model (s, token, nr, args);
            uint32_t got = ask (f, arch, (uint32_t)nr, args[0], args[1]);

            if (got != want && wrong++ < 5)
                printf ("# nr %d args %#llx: got %#x want %#x\n", nr, (unsigned long long)args[0],
                        got, want);
        }
    return wrong;
}

/* The newest call the profile names; what follows is ENOSYS. */
static int newest (const struct oci_linux_seccomp *s, unsigned int token)
{
    int max = 0;

    for (size_t i = 0; i < s->n_syscalls; i++)
        for (size_t j = 0; j < s->syscalls[i].n_names; j++) {
            int nr = seccomp_syscall_resolve_name_arch (token, s->syscalls[i].names[j]);

            max = nr > max ? nr : max;
        }
    return max;
}

static void test_docker (void)
{
    const struct oci_linux_seccomp *s = docker_profile ();
    struct seccomp_filter f;
    int last, last_x32;

    if (!ok (s != NULL, "Docker's profile is read"))
        return;
    f = compile (s, -1);
    ok (f.count > 100 && f.flags == 0 && !f.from_cache, "Docker: compiles to %d instructions",
        f.count);
    last = newest (s, SCMP_ARCH_X86_64);
    last_x32 = newest (s, SCMP_ARCH_X32);
    ok (compare_abi (s, &f, SCMP_ARCH_X86_64, AUDIT_ARCH_X86_64, 0, last) == 0,
        "Docker: x86_64 answers as the profile says (0 to %d)", last);
    ok (compare_abi (s, &f, SCMP_ARCH_X32, AUDIT_ARCH_X86_64, X32, last_x32) == 0,
        "Docker: x32 answers as the profile says");
    ok (ask (&f, AUDIT_ARCH_X86_64, (uint32_t)last + 1, 0, 0) == ERRNO (ENOSYS) &&
            ask (&f, AUDIT_ARCH_X86_64, 9999, 0, 0) == ERRNO (ENOSYS) &&
            ask (&f, AUDIT_ARCH_X86_64, X32 - 1, 0, 0) == ERRNO (ENOSYS),
        "Docker: newer calls give ENOSYS");
    ok (ask (&f, AUDIT_ARCH_X86_64, (uint32_t)last_x32 + 1, 0, 0) == ERRNO (ENOSYS) &&
            ask (&f, AUDIT_ARCH_I386, 9999, 0, 0) == ERRNO (ENOSYS),
        "Docker: newer calls of x32 and i386 too");
    ok (ask (&f, AUDIT_ARCH_AARCH64, 64, 0, 0) == SECCOMP_RET_KILL_THREAD &&
            ask (&f, AUDIT_ARCH_ARM, 4, 0, 0) == SECCOMP_RET_KILL_THREAD,
        "Docker: another architecture is killed");
    ok (ask (&f, AUDIT_ARCH_X86_64, SYS_clone3, 0, 0) == ERRNO (ENOSYS) &&
            ask (&f, AUDIT_ARCH_X86_64, SYS_bpf, 0, 0) == ERRNO (EPERM),
        "Docker: clone3 and bpf have errnos of their own");
    ok (ask (&f, AUDIT_ARCH_I386, 5, 0, 0) == SECCOMP_RET_ALLOW &&
            ask (&f, AUDIT_ARCH_I386, 359, 40, 0) == ERRNO (EPERM),
        "Docker: i386 open passes, socket(AF_VSOCK) does not");
}

/* ---- hand-made profiles ---- */

static void test_rules (void)
{
    struct seccomp_filter f = compile (
        parse ("{\"defaultAction\":\"SCMP_ACT_ERRNO\",\"syscalls\":["
               "{\"names\":[\"read\"],\"action\":\"SCMP_ACT_ALLOW\"},"
               "{\"names\":[\"no_such_call\",\"write\"],\"action\":\"SCMP_ACT_ALLOW\"},"
               "{\"names\":[\"mkdir\"],\"action\":\"SCMP_ACT_ERRNO\",\"errnoRet\":13},"
               "{\"names\":[\"rmdir\"],\"action\":\"SCMP_ACT_ERRNO\",\"errnoRet\":0},"
               "{\"names\":[\"link\"],\"action\":\"SCMP_ACT_TRACE\",\"errnoRet\":4097},"
               "{\"names\":[\"chmod\"],\"action\":\"SCMP_ACT_TRAP\"},"
               "{\"names\":[\"chown\"],\"action\":\"SCMP_ACT_KILL_PROCESS\"},"
               "{\"names\":[\"lchown\"],\"action\":\"SCMP_ACT_LOG\"},"
               "{\"names\":[\"getpid\"],\"action\":\"SCMP_ACT_ALLOW\",\"args\":["
               "{\"index\":0,\"value\":1,\"op\":\"SCMP_CMP_EQ\"},"
               "{\"index\":0,\"value\":7,\"op\":\"SCMP_CMP_EQ\"}]},"
               "{\"names\":[\"socket\"],\"action\":\"SCMP_ACT_ALLOW\",\"args\":["
               "{\"index\":0,\"value\":4294967295,\"valueTwo\":2,\"op\":\"SCMP_CMP_MASKED_EQ\"},"
               "{\"index\":1,\"value\":18446744073709551615,\"op\":\"SCMP_CMP_NE\"}]}]}"),
        -1);
    static const struct {
        uint32_t nr;
        uint64_t a0, a1;
        uint32_t want;
        const char *name;
    } cases[] = {
        { SYS_read, 0, 0, SECCOMP_RET_ALLOW, "allowed call" },
        { SYS_write, 0, 0, SECCOMP_RET_ALLOW, "call beside an unknown name" },
        { SYS_open, 0, 0, ERRNO (EPERM), "default without defaultErrnoRet is EPERM" },
        { SYS_mkdir, 0, 0, ERRNO (EACCES), "errno of its own" },
        { SYS_rmdir, 0, 0, ERRNO (0), "errno 0" },
        { SYS_link, 0, 0, SECCOMP_RET_TRACE | 4097, "trace message" },
        { SYS_chmod, 0, 0, SECCOMP_RET_TRAP, "trap" },
        { SYS_chown, 0, 0, SECCOMP_RET_KILL_PROCESS, "kill process" },
        { SYS_lchown, 0, 0, SECCOMP_RET_LOG, "log" },
        { SYS_getpid, 1, 0, SECCOMP_RET_ALLOW, "first alternative" },
        { SYS_getpid, 7, 0, SECCOMP_RET_ALLOW, "second alternative" },
        { SYS_getpid, 2, 0, ERRNO (EPERM), "neither alternative" },
        { SYS_getpid, UINT64_C (0x100000001), 0, ERRNO (EPERM), "64-bit equality" },
        { SYS_socket, UINT64_C (0xff00000002), 0, SECCOMP_RET_ALLOW, "masked equality" },
        { SYS_socket, 3, 0, ERRNO (EPERM), "masked equality, other value" },
        { SYS_socket, 2, UINT64_MAX, ERRNO (EPERM), "second condition of the rule" },
        { SYS_socket, 2, UINT32_MAX, SECCOMP_RET_ALLOW, "second condition is 64 bits wide" },
        { SYS_chown + 500, 0, 0, ERRNO (ENOSYS), "newer call" },
        { SYS_read | X32, 0, 0, SECCOMP_RET_KILL_THREAD, "x32 is not filtered: killed" },
    };

    for (size_t i = 0; i < ARRAY_LEN (cases); i++) {
        uint32_t got = ask (&f, AUDIT_ARCH_X86_64, cases[i].nr, cases[i].a0, cases[i].a1);

        if (!ok (got == cases[i].want, "rules: %s", cases[i].name))
            printf ("# got %#x want %#x\n", got, cases[i].want);
    }
    ok (ask (&f, AUDIT_ARCH_I386, 3, 0, 0) == SECCOMP_RET_KILL_THREAD,
        "rules: absent architectures still protect the native one");
}

/* containerd#13330: an explicit refusal whose action is the default one. */
static void test_explicit_refusal (void)
{
    static const char *const orders[] = {
        "{\"names\":[\"socketcall\"],\"action\":\"SCMP_ACT_ERRNO\"},"
        "{\"names\":[\"statx\",\"socket\"],\"action\":\"SCMP_ACT_ALLOW\"}",
        "{\"names\":[\"socket\",\"statx\"],\"action\":\"SCMP_ACT_ALLOW\"},"
        "{\"names\":[\"socketcall\"],\"action\":\"SCMP_ACT_ERRNO\"}",
    };
    char json[512];

    for (size_t i = 0; i < ARRAY_LEN (orders); i++) {
        struct seccomp_filter f;

        (void)snprintf (json, sizeof json,
                        "{\"defaultAction\":\"SCMP_ACT_ERRNO\",\"architectures\":["
                        "\"SCMP_ARCH_X86_64\",\"SCMP_ARCH_X86\"],\"syscalls\":[%s]}",
                        orders[i]);
        f = compile (parse (json), -1);
        ok (ask (&f, AUDIT_ARCH_I386, 102, 1, 0) == ERRNO (EPERM) &&
                ask (&f, AUDIT_ARCH_I386, 359, 1, 0) == SECCOMP_RET_ALLOW,
            "refused socketcall stays refused beside an allowed socket, order %zu", i);
    }
}

/* ---- stub ---- */

static void test_stub (void)
{
    static const struct {
        const char *json, *name;
        uint32_t want;
    } cases[] = {
        { "{\"defaultAction\":\"SCMP_ACT_ALLOW\",\"syscalls\":[{\"names\":[\"open\"],"
          "\"action\":\"SCMP_ACT_ERRNO\"}]}",
          "a profile that allows by default", SECCOMP_RET_ALLOW },
        { "{\"defaultAction\":\"SCMP_ACT_LOG\",\"syscalls\":[{\"names\":[\"open\"],"
          "\"action\":\"SCMP_ACT_ERRNO\"}]}",
          "a profile that logs by default", SECCOMP_RET_LOG },
        { "{\"defaultAction\":\"SCMP_ACT_KILL\",\"syscalls\":[{\"names\":[\"open\"],"
          "\"action\":\"SCMP_ACT_ALLOW\"}]}",
          "a profile that kills by default", ERRNO (ENOSYS) },
        { "{\"defaultAction\":\"SCMP_ACT_ERRNO\",\"defaultErrnoRet\":38,\"syscalls\":[{\"names\":"
          "[\"open\"],\"action\":\"SCMP_ACT_ALLOW\"}]}",
          "a profile whose default is ENOSYS", ERRNO (ENOSYS) },
        { "{\"defaultAction\":\"SCMP_ACT_ERRNO\",\"defaultErrnoRet\":13}",
          "a profile that names nothing", ERRNO (EACCES) },
    };

    for (size_t i = 0; i < ARRAY_LEN (cases); i++) {
        struct seccomp_filter f = compile (parse (cases[i].json), -1);

        ok (ask (&f, AUDIT_ARCH_X86_64, 9999, 0, 0) == cases[i].want, "newer call: %s",
            cases[i].name);
    }
}

/* ---- refused profiles ---- */

static void test_refused (void)
{
    static const struct {
        const char *json, *text;
    } cases[] = {
        { "{\"defaultAction\":\"SCMP_ACT_NOTIFY\"}",
          "/linux/seccomp/defaultAction: SCMP_ACT_NOTIFY cannot be used as default action" },
        { "{\"defaultAction\":\"SCMP_ACT_ERRNO\",\"defaultErrnoRet\":4096}",
          "/linux/seccomp/defaultErrnoRet: 4096 is above 4095" },
        { "{\"defaultAction\":\"SCMP_ACT_ALLOW\",\"defaultErrnoRet\":1}",
          "/linux/seccomp/defaultErrnoRet: SCMP_ACT_ALLOW has no errno" },
        { "{\"defaultAction\":\"SCMP_ACT_ALLOW\",\"syscalls\":[{\"names\":[\"read\"],\"action\":"
          "\"SCMP_ACT_KILL\",\"errnoRet\":1}]}",
          "/linux/seccomp/syscalls[0]/errnoRet: SCMP_ACT_KILL has no errno" },
        { "{\"defaultAction\":\"SCMP_ACT_ALLOW\",\"syscalls\":[{\"names\":[\"read\"],\"action\":"
          "\"SCMP_ACT_ERRNO\",\"args\":[{\"index\":6,\"value\":0,\"op\":\"SCMP_CMP_EQ\"}]}]}",
          "/linux/seccomp/syscalls[0]/args[0]/index: 6 is above 5" },
        { "{\"defaultAction\":\"SCMP_ACT_ALLOW\",\"syscalls\":[{\"names\":[\"open\"],\"action\":"
          "\"SCMP_ACT_NOTIFY\"}]}",
          "/linux/seccomp/syscalls[0]: SCMP_ACT_NOTIFY needs /linux/seccomp/listenerPath" },
        { "{\"defaultAction\":\"SCMP_ACT_ALLOW\",\"listenerPath\":\"/x\",\"syscalls\":[{\"names\":"
          "[\"write\"],\"action\":\"SCMP_ACT_NOTIFY\"}]}",
          "/linux/seccomp/syscalls[0]: SCMP_ACT_NOTIFY cannot be used for the write syscall" },
    };

    for (size_t i = 0; i < ARRAY_LEN (cases); i++) {
        struct seccomp_filter f = { 0 };
        struct err e = { 0 };
        int r = seccomp_prepare (parse (cases[i].json), -1, &arena, &f, &e);

        ok (r == -e.code && r < 0 && !f.insns, "refused: %s", cases[i].text);
        tap_is (e.msg, cases[i].text, "  with its text");
    }
}

static void test_too_large (void)
{
    AUTO_STRBUF json = { 0 };
    struct seccomp_filter f;
    struct err e = { 0 };

    strbuf_adds (&json, "{\"defaultAction\":\"SCMP_ACT_ERRNO\",\"syscalls\":[");
    for (int i = 0; i < 600; i++)
        strbuf_addf (
            &json,
            "%s{\"names\":[\"ioctl\"],\"action\":\"SCMP_ACT_ALLOW\",\"args\":[{\"index\":1,"
            "\"value\":%d,\"op\":\"SCMP_CMP_EQ\"},{\"index\":2,\"value\":%d,\"op\":"
            "\"SCMP_CMP_EQ\"}]}",
            i ? "," : "", i, i);
    strbuf_adds (&json, "]}");
    ok (seccomp_prepare (parse (json.s), -1, &arena, &f, &e) == -E2BIG &&
            strstr (e.msg, "at most 4096"),
        "a filter that the kernel would not take is refused: %s", e.msg);
}

static void test_flags (void)
{
    struct seccomp_filter f = compile (
        parse ("{\"defaultAction\":\"SCMP_ACT_ALLOW\",\"flags\":[\"SECCOMP_FILTER_FLAG_LOG\","
               "\"SECCOMP_FILTER_FLAG_SPEC_ALLOW\",\"SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV\"]}"),
        -1);

    ok (f.flags == (SECCOMP_FILTER_FLAG_LOG | SECCOMP_FILTER_FLAG_SPEC_ALLOW),
        "flags as asked for, none about notifications");
    f = compile (parse ("{\"defaultAction\":\"SCMP_ACT_ALLOW\",\"listenerPath\":\"/x\",\"flags\":["
                        "\"SECCOMP_FILTER_FLAG_TSYNC\"],\"syscalls\":[{\"names\":[\"open\"],"
                        "\"action\":\"SCMP_ACT_NOTIFY\"}]}"),
                 -1);
    ok (f.flags == SECCOMP_FILTER_FLAG_NEW_LISTENER,
        "a notifying profile wants a listener, and no filter for the thread that hands it over");
}

/* ---- random profiles ---- */

static uint64_t random_state = 88172645463325252;

static uint64_t next_random (void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

static uint64_t random_value (void)
{
    static const uint64_t few[] = { 0,
                                    1,
                                    2,
                                    3,
                                    0x7fffffff,
                                    0xffffffff,
                                    UINT64_C (0x100000000),
                                    UINT64_C (0x100000001),
                                    UINT64_C (0x200000001),
                                    ~UINT64_C (0) };

    return few[next_random () % ARRAY_LEN (few)];
}

static void add_random_rule (struct strbuf *json, const char *call)
{
    size_t n = 1 + next_random () % 2;
    unsigned int first = (unsigned int)(next_random () % 2);

    strbuf_addf (json, "{\"names\":[\"%s\"],\"action\":\"SCMP_ACT_ALLOW\",\"args\":[", call);
    for (size_t i = 0; i < n; i++)
        strbuf_addf (json, "%s{\"index\":%u,\"value\":%llu,\"valueTwo\":%llu,\"op\":\"%s\"}",
                     i ? "," : "", first ^ (unsigned int)i, (unsigned long long)random_value (),
                     (unsigned long long)random_value (), seccomp_operators ()[next_random () % 7]);
    strbuf_adds (json, "]}");
}

/* How often a filter for one random profile answers otherwise than the profile reads: *LOOSE counts
 * where it allows what it should not. */
static int try_random (int *loose)
{
    AUTO_STRBUF json = { 0 };
    const struct oci_linux_seccomp *s;
    struct seccomp_filter f;
    int wrong = 0;

    strbuf_adds (&json, "{\"defaultAction\":\"SCMP_ACT_ERRNO\",\"syscalls\":[");
    for (size_t i = 0, n = 1 + next_random () % 4; i < n; i++) {
        strbuf_adds (&json, i ? "," : "");
        add_random_rule (&json, next_random () % 3 ? "fcntl" : "ioctl");
    }
    strbuf_adds (&json, "]}");
    s = parse (json.s);
    f = compile (s, -1);
    for (int i = 0; i < 100; i++) {
        const uint64_t args[6] = { random_value (), random_value () };
        int nr = i & 1 ? SYS_fcntl : SYS_ioctl;
        uint32_t got = ask (&f, AUDIT_ARCH_X86_64, (uint32_t)nr, args[0], args[1]);
        uint32_t want = model (s, SCMP_ARCH_X86_64, nr, args);

        if (nr > newest (s, SCMP_ARCH_X86_64))
            want = ERRNO (ENOSYS);
        if (got != want && wrong++ == 0 && getenv ("SHOW"))
            printf ("# nr %d %#llx %#llx: got %#x want %#x: %s\n", nr, (unsigned long long)args[0],
                    (unsigned long long)args[1], got, want, json.s);
        *loose += got != want && got == SECCOMP_RET_ALLOW;
    }
    return wrong;
}

static void test_random (void)
{
    int bad = 0, loose = 0;

    for (int i = 0; i < 2000; i++)
        bad += try_random (&loose) > 0;
    ok (bad == 0, "2000 random profiles answer as they read (%d do not, %d answers too loose)", bad,
        loose);
}

/* Rules that libseccomp 2.5 merges into an endless loop or a wrong answer. */
static void test_merged (void)
{
    struct seccomp_filter f = compile (
        parse ("{\"defaultAction\":\"SCMP_ACT_ERRNO\",\"defaultErrnoRet\":38,\"architectures\":["
               "\"SCMP_ARCH_X86_64\",\"SCMP_ARCH_X86\",\"SCMP_ARCH_X32\"],\"syscalls\":["
               "{\"names\":[\"statx\"],\"action\":\"SCMP_ACT_ALLOW\"},"
               "{\"names\":[\"socket\"],\"action\":\"SCMP_ACT_ERRNO\",\"errnoRet\":1,\"args\":["
               "{\"index\":0,\"value\":40,\"op\":\"SCMP_CMP_EQ\"}]},"
               "{\"names\":[\"socket\"],\"action\":\"SCMP_ACT_ERRNO\",\"errnoRet\":22,\"args\":["
               "{\"index\":0,\"value\":16,\"op\":\"SCMP_CMP_EQ\"},"
               "{\"index\":1,\"value\":9,\"op\":\"SCMP_CMP_EQ\"}]},"
               "{\"names\":[\"socket\"],\"action\":\"SCMP_ACT_ALLOW\",\"args\":["
               "{\"index\":0,\"value\":16,\"op\":\"SCMP_CMP_EQ\"},"
               "{\"index\":1,\"value\":9,\"op\":\"SCMP_CMP_NE\"}]},"
               "{\"names\":[\"socket\"],\"action\":\"SCMP_ACT_ALLOW\",\"args\":["
               "{\"index\":0,\"value\":16,\"op\":\"SCMP_CMP_NE\"}]}]}"),
        -1);
    static const struct {
        uint32_t arch, nr;
        const char *name;
    } abis[] = { { AUDIT_ARCH_X86_64, SYS_socket, "x86_64" },
                 { AUDIT_ARCH_X86_64, SYS_socket | X32, "x32" },
                 { AUDIT_ARCH_I386, 359, "i386" } };

    for (size_t i = 0; i < ARRAY_LEN (abis); i++)
        ok (ask (&f, abis[i].arch, abis[i].nr, 40, 0) == ERRNO (1) &&
                ask (&f, abis[i].arch, abis[i].nr, 16, 9) == ERRNO (22) &&
                ask (&f, abis[i].arch, abis[i].nr, 16, 0) == SECCOMP_RET_ALLOW &&
                ask (&f, abis[i].arch, abis[i].nr, 2, 9) == SECCOMP_RET_ALLOW,
            "merged: podman's four rules for socket, %s", abis[i].name);
    ok (ask (&f, AUDIT_ARCH_I386, 102, 1, 0) == ERRNO (ENOSYS),
        "merged: socketcall, whose arguments cannot be seen, stays shut");
}

/* ---- the kernel ---- */

struct report {
    int mkdir_errno, rmdir_errno, clone3_errno, new_errno, load, check;
    char msg[ERR_MSG_MAX];
};

static struct report probe (const struct seccomp_filter *f)
{
    struct report r = { 0 };
    struct err e = { 0 };
    AUTO_FD procfs = fd_procfs (&e);
    int listener = 0;

    (void)prctl (PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    r.load = seccomp_install (f, &listener, &e);
    r.check = listener == -1 ? seccomp_check (procfs, 0, 1, &e) : -EINVAL;
    r.mkdir_errno = mkdir ("/nonexistent/x", 0) < 0 ? errno : 0;
    r.rmdir_errno = rmdir ("/nonexistent/x") < 0 ? errno : 0;
    r.clone3_errno = syscall (SYS_clone3, NULL, 0) < 0 ? errno : 0;
    r.new_errno = syscall (9999) < 0 ? errno : 0;
    (void)snprintf (r.msg, sizeof r.msg, "%s", e.msg);
    return r;
}

static void test_kernel (void)
{
    struct seccomp_filter f = compile (
        parse ("{\"defaultAction\":\"SCMP_ACT_ALLOW\",\"architectures\":[],\"flags\":["
               "\"SECCOMP_FILTER_FLAG_LOG\"],\"syscalls\":[{\"names\":[\"mkdir\"],\"action\":"
               "\"SCMP_ACT_ERRNO\",\"errnoRet\":77},{\"names\":[\"rmdir\"],\"action\":"
               "\"SCMP_ACT_ERRNO\"},{\"names\":[\"clone3\"],\"action\":\"SCMP_ACT_ERRNO\","
               "\"errnoRet\":38}]}"),
        -1);
    int fds[2] = { -1, -1 };
    struct report r = { 0 };
    int status = -1;
    pid_t pid;

    if (!ok (pipe (fds) == 0, "pipe"))
        return;
    pid = fork ();
    if (pid == 0) {
        r = probe (&f);
        _exit (write (fds[1], &r, sizeof r) != sizeof r);
    }
    (void)close (fds[1]);
    (void)!read (fds[0], &r, sizeof r);
    (void)close (fds[0]);
    (void)waitpid (pid, &status, 0);
    ok (status == 0 && r.load == 0 && r.check == 0, "kernel: loaded and seen in status (%s)",
        r.msg);
    ok (r.mkdir_errno == 77 && r.rmdir_errno == EPERM && r.clone3_errno == ENOSYS &&
            r.new_errno == ENOSYS,
        "kernel: each call has its errno (%d %d %d %d)", r.mkdir_errno, r.rmdir_errno,
        r.clone3_errno, r.new_errno);
}

static void test_check_fails (void)
{
    struct err e = { 0 };
    AUTO_FD procfs = fd_procfs (&e);

    ok (seccomp_check (procfs, 0, 1, &e) == -EPERM, "check: no filter is noticed: %s", e.msg);
}

/* A profile that denies everything: nothing but the kernel's answer is left to look at. */
static void test_deny_all (void)
{
    struct seccomp_filter f =
        compile (parse ("{\"defaultAction\":\"SCMP_ACT_KILL_PROCESS\",\"syscalls\":[{\"names\":["
                        "\"read\",\"statx\"],\"action\":\"SCMP_ACT_ALLOW\"}]}"),
                 -1);
    int status = 0;
    pid_t pid = fork ();

    if (pid == 0) {
        struct err e;
        int listener;

        (void)prctl (PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
        (void)seccomp_install (&f, &listener, &e);
        (void)syscall (SYS_getpid);
        _exit (0);
    }
    (void)waitpid (pid, &status, 0);
    ok (WIFSIGNALED (status) && WTERMSIG (status) == SIGSYS, "kernel: kill process kills");
}

int main (void)
{
    test_docker ();
    test_rules ();
    test_explicit_refusal ();
    test_stub ();
    test_refused ();
    test_too_large ();
    test_flags ();
    test_random ();
    test_merged ();
    test_kernel ();
    test_check_fails ();
    test_deny_all ();
    arena_free (&arena);
    return tap_done ();
}
#endif
