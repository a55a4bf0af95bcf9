#include "seccomp.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "seccomp_cache.h"
#include "seccomp_compile.h"
#include "spec/spec.h"
#include "status.h"

static const unsigned int flag_bits[] = {
    [OCI_SECCOMP_TSYNC] = SECCOMP_FILTER_FLAG_TSYNC,
    [OCI_SECCOMP_LOG] = SECCOMP_FILTER_FLAG_LOG,
    [OCI_SECCOMP_SPEC_ALLOW] = SECCOMP_FILTER_FLAG_SPEC_ALLOW,
    [OCI_SECCOMP_WAIT_KILLABLE_RECV] = SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV,
};

static unsigned int get_flags (const struct oci_linux_seccomp *s)
{
    unsigned int flags = 0;

    for (size_t i = 0; i < s->n_flags; i++)
        flags |= flag_bits[s->flags[i]];
    if (!spec_seccomp_notifies (s))
        return flags &
               ~(unsigned int)
                   SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV; /* about notifications only: EINVAL */
    /* TSYNC means nothing to the one thread that there is, but the one that hands the descriptor
     * over must stay without the filter. */
    flags &= ~(unsigned int)SECCOMP_FILTER_FLAG_TSYNC;
    return flags | SECCOMP_FILTER_FLAG_NEW_LISTENER;
}

int seccomp_prepare (const struct oci_linux_seccomp *seccomp, int cache_dir, struct arena *a,
                     struct seccomp_filter *ret, struct err *e)
{
    struct seccomp_filter f = { .flags = get_flags (seccomp) };
    AUTO_STRBUF key = { 0 };
    struct seccomp_part filter;
    bool use_cache;
    int r;

    if (cache_dir >= 0)
        seccomp_cache_key (seccomp, &key);
    use_cache = cache_dir >= 0 && !key.failed;
    if (use_cache)
        f.from_cache = seccomp_cache_find (cache_dir, &key, a, &filter);
    if (!f.from_cache) {
        r = seccomp_compile (seccomp, a, &filter, e);
        if (r < 0)
            return r;
        if (use_cache)
            seccomp_cache_store (cache_dir, &key, &filter);
    }
    f.insns = filter.insns;
    f.count = (unsigned short)filter.n;
    *ret = f;
    return 0;
}

int seccomp_install (const struct seccomp_filter *f, int *ret_listener, struct err *e)
{
    const struct sock_fprog prog = { .len = f->count, .filter = f->insns };
    long r = syscall (SYS_seccomp, SECCOMP_SET_MODE_FILTER, f->flags, &prog);

    if (r < 0 && errno == EACCES)
        return err_set (e, EACCES,
                        "/linux/seccomp: a filter needs noNewPrivileges or CAP_SYS_ADMIN");
    if (r < 0)
        return err_sys (e, "/linux/seccomp: load %u instructions with flags %#x", f->count,
                        f->flags);
    *ret_listener = f->flags & SECCOMP_FILTER_FLAG_NEW_LISTENER ? (int)r : -1;
    return 0;
}

int seccomp_check (int procfs, pid_t pid, unsigned int n, struct err *e)
{
    struct status s;
    uint64_t mode, filters;
    int r = status_read (procfs, pid, &s, e);

    if (r == 0)
        r = status_number (&s, "Seccomp", 10, &mode, e);
    if (r == 0)
        r = status_number (&s, "Seccomp_filters", 10, &filters, e);
    if (r < 0)
        return r;
    if (mode != SECCOMP_MODE_FILTER || filters < n)
        return err_set (e, EPERM, "/linux/seccomp: the process has mode %llu and %llu filters",
                        (unsigned long long)mode, (unsigned long long)filters);
    return 0;
}

/* ---- facts for `features` ---- */

static const char *const action_list[] = {
    "SCMP_ACT_KILL",        "SCMP_ACT_KILL_PROCESS",
    "SCMP_ACT_KILL_THREAD", "SCMP_ACT_TRAP",
    "SCMP_ACT_ERRNO",       "SCMP_ACT_TRACE",
    "SCMP_ACT_ALLOW",       "SCMP_ACT_LOG",
    "SCMP_ACT_NOTIFY",      NULL,
};
static const char *const operator_list[] = {
    "SCMP_CMP_NE", "SCMP_CMP_LT", "SCMP_CMP_LE",        "SCMP_CMP_EQ",
    "SCMP_CMP_GE", "SCMP_CMP_GT", "SCMP_CMP_MASKED_EQ", NULL,
};
static const char *const flag_list[] = {
    "SECCOMP_FILTER_FLAG_TSYNC",
    "SECCOMP_FILTER_FLAG_LOG",
    "SECCOMP_FILTER_FLAG_SPEC_ALLOW",
    "SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV",
    NULL,
};
const char *const *seccomp_actions (void)
{
    return action_list;
}

const char *const *seccomp_operators (void)
{
    return operator_list;
}

const char *const *seccomp_known_flags (void)
{
    return flag_list;
}

/* The flags go straight to the kernel, which says what it does not know: none is missing here. */
const char *const *seccomp_supported_flags (void)
{
    return flag_list;
}
