/* The strict filter: each answer against a model that does not know its table, the kernel's own
 * answers, and that a change of any row would be noticed. test_strict_real.c tells how it is put in
 * place. */
#include "harden/strict.h"

#include <linux/audit.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "bpf.h"
#include "harden/strict_table.h"
#include "seccomp_profile.h"
#include "strict_model.h"

#define X32  0x40000000U
#define KILL SECCOMP_RET_KILL_PROCESS

static const struct arch {
    const char *name;
    uint32_t audit;
} arches[STRICT_ARCHES] = {
    [STRICT_X86_64] = { "x86_64", AUDIT_ARCH_X86_64 },
    [STRICT_AARCH64] = { "aarch64", AUDIT_ARCH_AARCH64 },
};

#ifdef __x86_64__
#define NATIVE STRICT_X86_64
#else
#define NATIVE STRICT_AARCH64
#endif

struct filter {
    struct sock_filter insns[BPF_MAXINSNS];
    int n; /* or a negative errno */
    enum strict_arch arch;
};

static void build (const struct strict_row *rows, size_t n, enum strict_arch arch,
                   struct filter *ret)
{
    ret->arch = arch;
    ret->n = strict_compile (rows, n, arch, ret->insns);
}

static uint32_t answer (const struct filter *f, uint32_t nr, const uint64_t *args)
{
    struct seccomp_data d = { .nr = (int)nr, .arch = arches[f->arch].audit };

    if (args)
        memcpy (d.args, args, sizeof d.args);
    return f->n < 0 ? BPF_BROKEN : bpf_run (f->insns, (size_t)f->n, &d);
}

/* ---- the model of every number ---- */

#define NUMBERS  1024
#define FILTERED UINT32_MAX /* in place of an answer: the arguments decide */

struct expected {
    uint32_t answers[NUMBERS];
    const char *names[NUMBERS];
};
static struct expected *expected; /* of every architecture */

/* Calls that Debian 12's libseccomp does not know; a newer one must agree. */
static const struct {
    const char *name;
    int nr[STRICT_ARCHES];
} newer[] = {
    { "uretprobe", { 335, -1 } },          { "uprobe", { 336, -1 } },
    { "cachestat", { 451, 451 } },         { "fchmodat2", { 452, 452 } },
    { "map_shadow_stack", { 453, 453 } },  { "futex_wake", { 454, 454 } },
    { "futex_wait", { 455, 455 } },        { "futex_requeue", { 456, 456 } },
    { "statmount", { 457, 457 } },         { "listmount", { 458, 458 } },
    { "lsm_get_self_attr", { 459, 459 } }, { "lsm_set_self_attr", { 460, 460 } },
    { "lsm_list_modules", { 461, 461 } },  { "mseal", { 462, 462 } },
    { "setxattrat", { 463, 463 } },        { "getxattrat", { 464, 464 } },
    { "listxattrat", { 465, 465 } },       { "removexattrat", { 466, 466 } },
    { "open_tree_attr", { 467, 467 } },    { "file_getattr", { 468, 468 } },
    { "file_setattr", { 469, 469 } },      { "listns", { 470, 470 } },
};

static int number_of (const char *name, enum strict_arch arch)
{
    int nr = seccomp_syscall_resolve_name_arch (arches[arch].audit, name);

    for (size_t i = 0; nr < 0 && i < ARRAY_LEN (newer); i++)
        if (strcmp (newer[i].name, name) == 0)
            return newer[i].nr[arch];
    return nr;
}

static void expect_answer (const char *name, uint32_t verdict)
{
    for (enum strict_arch a = 0; a < STRICT_ARCHES; a++) {
        int nr = number_of (name, a);

        if (nr < 0 || nr >= NUMBERS)
            continue;
        expected[a].answers[nr] = verdict;
        expected[a].names[nr] = arena_strdup (&arena, name);
    }
}

/* What Docker lets every container do. */
static void expect_docker (const struct oci_linux_seccomp *s)
{
    for (size_t i = 0; i < s->n_syscalls; i++)
        for (size_t j = 0; j < s->syscalls[i].n_names && s->syscalls[i].n_args == 0; j++)
            if (s->syscalls[i].action == OCI_ACT_ALLOW)
                expect_answer (s->syscalls[i].names[j], ALLOW);
}

static void expect_words (const struct denied *d)
{
    AUTO_FREE char *list = strdup (d->names);

    for (char *save, *w = strtok_r (list, " ", &save); w; w = strtok_r (NULL, " ", &save))
        expect_answer (w, ERRNO (d->code));
}

static bool make_expected (void)
{
    const struct oci_linux_seccomp *docker = docker_profile ();

    expected = calloc (STRICT_ARCHES, sizeof *expected);
    if (!expected || !docker)
        return false;
    for (int a = 0; a < STRICT_ARCHES; a++)
        for (int nr = 0; nr < NUMBERS; nr++)
            expected[a].answers[nr] = ERRNO (ENOSYS);
    expect_docker (docker);
    for (size_t i = 0; i < ARRAY_LEN (denied); i++)
        expect_words (&denied[i]);
    for (size_t i = 0; i < ARRAY_LEN (filtered); i++)
        expect_answer (filtered[i].name, FILTERED);
    return true;
}

/* ---- comparing ---- */

/* Says the first few; the count is what matters. SILENT for mutants, which are to differ. */
struct tally {
    int wrong, tried;
    bool silent;
};

static void compare (struct tally *t, const char *what, uint64_t arg, uint32_t got, uint32_t want)
{
    t->tried++;
    if (got == want || t->wrong++ > 4 || t->silent)
        return;
    printf ("# %s (%#llx): got %#x want %#x\n", what ? what : "no call", (unsigned long long)arg,
            got, want);
}

static void compare_numbers (const struct filter *f, struct tally *t)
{
    static const uint32_t huge[] = { NUMBERS, 9999, 0xffff, 0x10000, X32 - 1 };

    for (uint32_t nr = 0; nr < NUMBERS; nr++)
        if (expected[f->arch].answers[nr] != FILTERED)
            compare (t, expected[f->arch].names[nr], nr, answer (f, nr, NULL),
                     expected[f->arch].answers[nr]);
    for (size_t i = 0; i < ARRAY_LEN (huge); i++)
        compare (t, "huge", huge[i], answer (f, huge[i], NULL), ERRNO (ENOSYS));
}

/* One set of arguments: as ints, with bit 32, with bit 63, and with all upper bits. */
static void compare_arguments (const struct filter *f, const struct filtered *c,
                               const uint32_t *low, struct tally *t)
{
    static const uint64_t high[] = { 0, UINT64_C (1) << 32, UINT64_C (1) << 63,
                                     UINT64_C (0xffffffff00000000) };
    uint32_t nr = (uint32_t)number_of (c->name, f->arch);

    for (size_t h = 0; h < ARRAY_LEN (high); h++) {
        uint64_t args[6];

        for (int i = 0; i < 6; i++)
            args[i] = low[i] | high[h];
        compare (t, c->name, args[c->spans[0].arg], answer (f, nr, args), c->model (low));
    }
}

static void compare_spans (const struct filter *f, const struct filtered *c, size_t span,
                           uint32_t *low, struct tally *t)
{
    if (span == c->n) {
        compare_arguments (f, c, low, t);
        return;
    }
    for (int i = 0; i < RANGES; i++) {
        struct range r = c->spans[span].ranges[i];

        if (i > 0 && r.last == 0)
            break;
        for (uint64_t v = r.first; v <= r.last && !(t->silent && t->wrong); v++) {
            low[c->spans[span].arg] = (uint32_t)v;
            compare_spans (f, c, span + 1, low, t);
        }
    }
}

static void compare_call (const struct filter *f, const struct filtered *c, struct tally *t)
{
    uint32_t low[6] = { 0 };

    if (number_of (c->name, f->arch) >= 0)
        compare_spans (f, c, 0, low, t);
}

static void test_answers (const struct filter *f)
{
    const char *name = arches[f->arch].name;
    struct tally t = { 0 };

    ok (f->n > 100 && f->n < BPF_MAXINSNS / 4, "%s: compiles to %d instructions", name, f->n);
    compare_numbers (f, &t);
    ok (t.wrong == 0 && t.tried > 1000, "%s: %d numbers answer as the model", name, t.tried);
    for (size_t i = 0; i < ARRAY_LEN (filtered); i++) {
        t = (struct tally){ 0 };
        compare_call (f, &filtered[i], &t);
        if (number_of (filtered[i].name, f->arch) >= 0)
            ok (t.wrong == 0 && t.tried > 100, "%s: %s answers as the model to %d calls", name,
                filtered[i].name, t.tried);
    }
}

/* ---- other architectures ---- */

static uint32_t foreign (const struct filter *f, uint32_t audit, uint32_t nr)
{
    const struct seccomp_data d = { .nr = (int)nr, .arch = audit };

    return bpf_run (f->insns, (size_t)f->n, &d);
}

static void test_foreign (const struct filter *f)
{
    static const uint32_t others[] = { AUDIT_ARCH_I386,  AUDIT_ARCH_X86_64,  AUDIT_ARCH_ARM,
                                       AUDIT_ARCH_ARMEB, AUDIT_ARCH_AARCH64, 0,
                                       UINT32_MAX };
    int wrong = 0;

    for (size_t i = 0; i < ARRAY_LEN (others); i++)
        for (uint32_t nr = 0; nr < NUMBERS; nr++)
            if (others[i] != arches[f->arch].audit && foreign (f, others[i], nr) != KILL)
                wrong++;
    ok (wrong == 0, "%s: every call of another architecture kills", arches[f->arch].name);
}

static void test_x32 (const struct filter *f)
{
    static const uint32_t high[] = { X32, X32 + 0x20000000, 0x80000000U, 0xfffff000U };
    int wrong = 0;

    for (size_t i = 0; i < ARRAY_LEN (high); i++)
        for (uint32_t nr = 0; nr < NUMBERS; nr++)
            wrong += answer (f, high[i] + nr, NULL) != KILL;
    ok (wrong == 0, "x86_64: every call of x32 kills");
    ok (answer (f, UINT32_MAX, NULL) == ERRNO (ENOSYS), "x86_64: number -1 is no call of x32");
}

/* ---- the table itself ---- */

static int check_numbers (enum strict_arch a)
{
    int wrong = 0;

    for (size_t i = 0; i < n_strict_rows; i++) {
        const struct strict_row *r = &strict_rows[i];

        if (r->kind != STRICT_CALL || (r->nr[a] < 0 && number_of (r->name, a) < 0))
            continue;
        if (r->nr[a] != number_of (r->name, a) && ++wrong)
            printf ("# %s is %d, not %d\n", r->name, number_of (r->name, a), r->nr[a]);
    }
    return wrong;
}

static bool has_row (int nr, enum strict_arch a)
{
    for (size_t i = 0; i < n_strict_rows; i++)
        if (strict_rows[i].kind == STRICT_CALL && strict_rows[i].nr[a] == nr)
            return true;
    return false;
}

/* Nothing is left to the default that somebody has a name for. */
static int check_complete (enum strict_arch a)
{
    int missing = 0;

    for (int nr = 0; nr < NUMBERS; nr++) {
        AUTO_FREE char *name = seccomp_syscall_resolve_num_arch (arches[a].audit, nr);

        if ((name || expected[a].names[nr]) && !has_row (nr, a) && ++missing)
            printf ("# %s (%d) has no row\n", name ? name : expected[a].names[nr], nr);
    }
    return missing;
}

static void test_table (void)
{
    for (enum strict_arch a = 0; a < STRICT_ARCHES; a++) {
        ok (check_numbers (a) == 0, "%s: the table's numbers are right", arches[a].name);
        ok (check_complete (a) == 0, "%s: every known call has a row", arches[a].name);
    }
}

static void test_bad_tables (void)
{
    static struct strict_row rows[2];
    static struct sock_filter out[BPF_MAXINSNS];

    rows[0] = rows[1] = (struct strict_row){ .kind = STRICT_CALL, .nr = { 1, -1 } };
    ok (strict_compile (rows, 2, STRICT_X86_64, out) == -EEXIST, "one number twice is refused");
    ok (strict_compile (rows, 2, STRICT_AARCH64, out) > 0, "no number twice is none");
    rows[0].nr[0] = 1024;
    ok (strict_compile (rows, 1, STRICT_X86_64, out) == -ERANGE,
        "a number out of range is refused");
}

/* ---- changes of the table ---- */

typedef bool mutate_fn (struct strict_row *row);

static bool flip_verdict (struct strict_row *row)
{
    row->verdict = row->verdict == ALLOW ? ERRNO (EPERM) : ALLOW;
    return row->kind != STRICT_GROUP;
}

static bool other_errno (struct strict_row *row)
{
    row->verdict = row->verdict == ERRNO (EPERM) ? ERRNO (EACCES) : ERRNO (EPERM);
    return row->kind != STRICT_GROUP;
}

/* Without its number a call gets the default answer, which some have anyway. */
static bool drop_row (struct strict_row *row)
{
    if (row->kind == STRICT_WHEN)
        row->tests[0] = (struct strict_test){ .arg = 5, .mask = UINT32_MAX, .value = 4711 };
    row->nr[STRICT_X86_64] = row->nr[STRICT_AARCH64] = -1;
    return row->kind == STRICT_WHEN || (row->kind == STRICT_CALL && row->verdict != ERRNO (ENOSYS));
}

static bool other_value (struct strict_row *row)
{
    row->tests[0].value ^= row->tests[0].mask & -row->tests[0].mask;
    return row->kind == STRICT_WHEN;
}

static bool other_second_value (struct strict_row *row)
{
    row->tests[1].value ^= row->tests[1].mask & -row->tests[1].mask;
    return row->kind == STRICT_WHEN && row->tests[1].mask != 0;
}

static bool other_third_value (struct strict_row *row)
{
    row->tests[2].value ^= row->tests[2].mask & -row->tests[2].mask;
    return row->kind == STRICT_WHEN && row->tests[2].mask != 0;
}

static bool full_mask (struct strict_row *row)
{
    bool masked = false;

    for (int i = 0; i < STRICT_TESTS; i++)
        if (row->tests[i].mask != 0 && row->tests[i].mask != UINT32_MAX) {
            row->tests[i].mask = UINT32_MAX;
            masked = true;
        }
    return masked;
}

/* The call that a row is about. */
static const char *call_of (size_t row)
{
    while (strict_rows[row].kind == STRICT_WHEN)
        row--;
    return strict_rows[row].name;
}

static bool is_noticed (const struct strict_row *rows, size_t row)
{
    static struct filter f;
    const struct filtered *c = find_filtered (call_of (row));
    struct tally t = { .silent = true };

    for (enum strict_arch a = 0; a < STRICT_ARCHES; a++) {
        build (rows, n_strict_rows, a, &f);
        compare_numbers (&f, &t);
        if (c && !t.wrong)
            compare_call (&f, c, &t);
    }
    return t.wrong > 0;
}

static void test_mutation (mutate_fn *mutate, const char *name)
{
    size_t size = n_strict_rows * sizeof *strict_rows;
    AUTO_FREE struct strict_row *rows = malloc (size);
    int tried = 0, missed = 0;

    memcpy (rows, strict_rows, size);
    for (size_t i = 0; i < n_strict_rows; i++) {
        if (mutate (&rows[i]) && ++tried && !is_noticed (rows, i) && ++missed)
            printf ("# not noticed: %s, %s\n", call_of (i), strict_rows[i].name);
        rows[i] = strict_rows[i];
    }
    ok (missed == 0 && tried > 0, "%d changes of kind \"%s\" are all noticed", tried, name);
}

static void test_mutations (void)
{
    test_mutation (flip_verdict, "the opposite");
    test_mutation (other_errno, "another errno");
    test_mutation (drop_row, "left out");
    test_mutation (other_value, "another value");
    test_mutation (other_second_value, "another second value");
    test_mutation (other_third_value, "another third value");
    test_mutation (full_mask, "no mask");
}

/* ---- single calls (the vectors of the design) ---- */

static const struct vector {
    const char *name;
    uint64_t args[3];
    uint32_t want;
} vectors[] = {
    { "socket", { 38, 5, 0 }, ERRNO (EAFNOSUPPORT) },
    { "socket", { 40, 1, 0 }, ERRNO (EAFNOSUPPORT) },
    { "socket", { 2, 3, 1 }, ERRNO (EAFNOSUPPORT) },
    { "socket", { 16, 3, 6 }, ERRNO (EAFNOSUPPORT) },
    { "socket", { 1, 1, 0 }, ALLOW },
    { "socket", { UINT64_C (0x100000026), 5, 0 }, ERRNO (EAFNOSUPPORT) },
    { "socket", { 2, 1, 262 }, ERRNO (EPROTONOSUPPORT) },
    { "clone", { 0x10000000 | SIGCHLD }, ERRNO (EPERM) },
    { "clone", { 0x3d0f00 }, ALLOW },
    { "clone3", { 0 }, ERRNO (ENOSYS) },
    { "unshare", { 0 }, ERRNO (EPERM) },
    { "ioctl", { 0, 0x5412 }, ERRNO (ENOTTY) },
    { "ioctl", { 0, UINT64_C (0x100005412) }, ERRNO (ENOTTY) },
    { "ioctl", { 0, 0x5412 | UINT64_C (1) << 40 }, ERRNO (ENOTTY) },
    { "ioctl", { 0, 0x5413 }, ALLOW },
    { "prctl", { 35 }, ERRNO (EINVAL) },
    { "prctl", { 15 }, ALLOW },
    { "personality", { 0x40000 }, ERRNO (EPERM) },
    { "futex", { 0, 12 | 128 }, ERRNO (ENOSYS) },
    { "setsockopt", { 0, 6, 31 }, ERRNO (ENOPROTOOPT) },
    { "mknodat", { 0, 0, 0x2000 }, ERRNO (EPERM) },
    { "mknodat", { 0, 0, 0x1000 }, ALLOW },
    { "keyctl", { 0 }, ERRNO (ENOSYS) },
    { "userfaultfd", { 0 }, ERRNO (ENOSYS) },
    { "io_uring_setup", { 0 }, ERRNO (ENOSYS) },
    { "bpf", { 0 }, ERRNO (EPERM) },
    { "mount", { 0 }, ERRNO (EPERM) },
    { "ptrace", { 0 }, ERRNO (EPERM) },
    { "sync", { 0 }, ERRNO (0) },
};

static void test_vectors (const struct filter *f)
{
    for (size_t i = 0; i < ARRAY_LEN (vectors); i++) {
        const struct vector *v = &vectors[i];
        const uint64_t args[6] = { v->args[0], v->args[1], v->args[2] };
        uint32_t got = answer (f, (uint32_t)number_of (v->name, f->arch), args);

        ok (got == v->want, "%s: %s (%#llx, %#llx, %#llx) gives %#x", arches[f->arch].name, v->name,
            (unsigned long long)args[0], (unsigned long long)args[1], (unsigned long long)args[2],
            v->want);
    }
}

/* ---- the kernel ---- */

#define PASSED EXDEV /* what a call gives that the strict filter lets pass: no denial looks so */

/* Below the strict filter: all calls but the two that the test needs end here, so that any number
 * can be called. A stricter or newer answer counts for the kernel, so denials are the strict
 * filter's own. */
static int install_net (struct err *e)
{
    struct sock_filter net[] = {
        BPF_STMT (BPF_LD | BPF_W | BPF_ABS, offsetof (struct seccomp_data, nr)),
        BPF_JUMP (BPF_JMP | BPF_JEQ | BPF_K, SYS_seccomp, 1, 0),
        BPF_JUMP (BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 0, 1),
        BPF_STMT (BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT (BPF_RET | BPF_K, SECCOMP_RET_ERRNO | PASSED),
    };
    const struct sock_fprog prog = { ARRAY_LEN (net), net };

    if (prctl (PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
        syscall (SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &prog) < 0)
        return err_sys (e, "net");
    return strict_install (e);
}

static uint32_t ask_kernel (long nr, const uint64_t *a)
{
    long r = syscall (nr, a[0], a[1], a[2], 0, 0, 0);

    if (r < 0 && errno == PASSED)
        return ALLOW;
    return ERRNO (r < 0 ? errno : 0);
}

struct kernel_answers {
    uint32_t numbers[NUMBERS], vectors[ARRAY_LEN (vectors)];
    bool done;
};

/* The net lets two pass; the trampolines of uprobes are asked for by the kernel itself, which since
 * Linux 6.14 does not ask filters about them, and kills with SIGILL whoever else calls them. */
static bool is_left_out (uint32_t nr)
{
    const char *name = expected[NATIVE].names[nr];

    return nr == SYS_seccomp || nr == SYS_exit_group ||
           (name && has_word (" uretprobe uprobe ", name));
}

/* All of it without a system call but those that are asked about; before _exit the address
 * sanitizer would make some. */
static void fill_answers (struct kernel_answers *to)
{
    static const uint64_t zero[6];
    struct err e = { 0 };

    if (install_net (&e) < 0)
        (void)syscall (SYS_exit_group, 1);
    for (uint32_t nr = 0; nr < NUMBERS; nr++)
        if (!is_left_out (nr))
            to->numbers[nr] = ask_kernel (nr, zero);
    for (size_t i = 0; i < ARRAY_LEN (vectors); i++)
        to->vectors[i] = ask_kernel (number_of (vectors[i].name, NATIVE), vectors[i].args);
    to->done = true;
    (void)syscall (SYS_exit_group, 0);
}

static void compare_kernel (const struct filter *f, const struct kernel_answers *k)
{
    struct tally t = { 0 };

    for (uint32_t nr = 0; nr < NUMBERS; nr++)
        if (!is_left_out (nr))
            compare (&t, expected[NATIVE].names[nr], nr, k->numbers[nr], answer (f, nr, NULL));
    ok (t.wrong == 0, "the kernel answers %d numbers as the simulator", t.tried);
    t = (struct tally){ 0 };
    for (size_t i = 0; i < ARRAY_LEN (vectors); i++)
        compare (&t, vectors[i].name, vectors[i].args[0], k->vectors[i], vectors[i].want);
    ok (t.wrong == 0, "the kernel answers %d vectors", t.tried);
}

static void test_kernel (const struct filter *f)
{
    struct kernel_answers *k =
        mmap (NULL, sizeof *k, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pid_t pid = k == MAP_FAILED ? -1 : fork ();
    int status = -1;

    if (pid == 0)
        fill_answers (k);
    if (pid > 0)
        (void)waitpid (pid, &status, 0);
    if (ok (status == 0 && k->done, "all calls were made under the filter (status %#x)", status))
        compare_kernel (f, k);
}

int main (void)
{
    static struct filter filters[STRICT_ARCHES];

    if (!ok (make_expected (), "Docker's profile is read"))
        return tap_done ();
    for (enum strict_arch a = 0; a < STRICT_ARCHES; a++) {
        build (strict_rows, n_strict_rows, a, &filters[a]);
        test_answers (&filters[a]);
        test_vectors (&filters[a]);
        test_foreign (&filters[a]);
    }
    test_x32 (&filters[STRICT_X86_64]);
    test_table ();
    test_bad_tables ();
    test_mutations ();
    test_kernel (&filters[NATIVE]);
    free (expected);
    arena_free (&arena);
    return tap_done ();
}
