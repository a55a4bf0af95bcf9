#include "rlimit.h"

#include <errno.h>
#include <sys/resource.h>

_Static_assert(sizeof (struct rlimit64) == 16, "limits are 64 bits, as in config.json");

/* PID's limit, or with NEW the one to set. */
static int limit (const struct plan_process *p, size_t i, pid_t pid, const struct rlimit64 *new,
                  struct rlimit64 *old, struct err *e)
{
    const struct plan_rlimit *l = &p->rlimits[i];

    /* The resource is an enum in glibc's C declaration, whose values are those of the kernel. */
    if (prlimit64 (pid, (enum __rlimit_resource)l->resource, new, old) == 0)
        return 0;
    if (new &&errno == EPERM)
        return err_set (
            e, EPERM,
            "/process/rlimits[%zu]: raising %s to %llu needs CAP_SYS_RESOURCE on the host", i,
            l->name, (unsigned long long)new->rlim_max);
    return err_sys (e, "/process/rlimits[%zu]: %s", i, l->name);
}

int rlimit_raise (const struct plan_process *p, pid_t pid, struct err *e)
{
    for (size_t i = 0; i < p->n_rlimits; i++) {
        struct rlimit64 cur;
        int r = limit (p, i, pid, NULL, &cur, e);

        if (r == 0 && cur.rlim_max < p->rlimits[i].hard) {
            cur.rlim_max = p->rlimits[i].hard;
            r = limit (p, i, pid, &cur, NULL, e);
        }
        if (r < 0)
            return r;
    }
    return 0;
}

int rlimit_set (const struct plan_process *p, pid_t pid, struct err *e)
{
    for (size_t i = 0; i < p->n_rlimits; i++) {
        const struct rlimit64 new = { p->rlimits[i].soft, p->rlimits[i].hard };
        int r = limit (p, i, pid, &new, NULL, e);

        if (r < 0)
            return r;
    }
    return 0;
}

int rlimit_check (const struct plan_process *p, pid_t pid, struct err *e)
{
    for (size_t i = 0; i < p->n_rlimits; i++) {
        const struct plan_rlimit *l = &p->rlimits[i];
        struct rlimit64 cur;
        int r = limit (p, i, pid, NULL, &cur, e);

        if (r < 0)
            return r;
        if (cur.rlim_cur != l->soft || cur.rlim_max != l->hard)
            return err_set (e, EPERM, "/process/rlimits[%zu]: %s is %llu:%llu, wanted %llu:%llu", i,
                            l->name, (unsigned long long)cur.rlim_cur,
                            (unsigned long long)cur.rlim_max, (unsigned long long)l->soft,
                            (unsigned long long)l->hard);
    }
    return 0;
}
