#include <errno.h>
#include <linux/limits.h>
#include <string.h>
#include <sys/resource.h>

#include "base/cleanup.h"
#include "check.h"
#include "names.h"
#include "spec.h"

/* A rule; AT is where the process stands in its document. */
struct place {
    const char *at;
    struct err *e;
};

static int check_args (const struct oci_process *p, const struct place *where)
{
    return p->n_args ? 0 : err_set (where->e, EINVAL, "%s/args: must not be empty", where->at);
}

static int check_cwd (const struct oci_process *p, const struct place *where)
{
    if (spec_is_absolute (p->cwd))
        return 0;
    return err_set (where->e, EINVAL, "%s/cwd: must be absolute", where->at);
}

static int check_env (const struct oci_process *p, const struct place *where)
{
    for (size_t i = 0; i < p->n_env; i++) {
        const char *sign = strchr (p->env[i], '=');

        if (!sign || sign == p->env[i])
            return err_set (where->e, EINVAL, "%s/env[%zu]: not of the form NAME=VALUE", where->at,
                            i);
    }
    return 0;
}

/* The kernel keeps 16 bits of each (struct winsize). */
static int check_console_size (const struct oci_process *p, const struct place *where)
{
    const struct oci_console_size *s = p->console_size;

    if (!p->terminal || !s)
        return 0; /* ignored then: config.md */
    if (s->height > UINT16_MAX)
        return err_set (where->e, EINVAL, "%s/consoleSize/height: more than 65535", where->at);
    if (s->width > UINT16_MAX)
        return err_set (where->e, EINVAL, "%s/consoleSize/width: more than 65535", where->at);
    return 0;
}

static int check_groups (const struct oci_process *p, const struct place *where)
{
    if (!p->user || p->user->n_additional_gids <= NGROUPS_MAX)
        return 0;
    return err_set (where->e, EINVAL, "%s/user/additionalGids: more than %d groups", where->at,
                    NGROUPS_MAX);
}

static int check_rlimits (const struct oci_process *p, const struct place *where)
{
    bool seen[RLIM_NLIMITS] = { false };

    for (size_t i = 0; i < p->n_rlimits; i++) {
        const struct oci_rlimit *l = &p->rlimits[i];
        int number = names_rlimit (l->type);

        if (number < 0)
            return err_set (where->e, EINVAL, "%s/rlimits[%zu]/type: unknown limit '%.32s'",
                            where->at, i, l->type);
        if (seen[number])
            return err_set (where->e, EINVAL, "%s/rlimits[%zu]/type: %s stands there twice",
                            where->at, i, l->type);
        if (l->soft > l->hard)
            return err_set (where->e, EINVAL, "%s/rlimits[%zu]/soft: above the hard limit",
                            where->at, i);
        seen[number] = true;
    }
    return 0;
}

static int check_scheduler (const struct oci_process *p, const struct place *where)
{
    const struct oci_scheduler *s = p->scheduler;
    bool is_fixed = s && (s->policy == OCI_SCHED_FIFO || s->policy == OCI_SCHED_RR);
    bool has_times = s && (s->runtime || s->deadline || s->period);

    if (!s)
        return 0;
    if (s->policy == OCI_SCHED_ISO)
        return err_set (where->e, EINVAL, "%s/scheduler/policy: Linux has no SCHED_ISO", where->at);
    if (is_fixed && s->priority == 0)
        return err_set (where->e, EINVAL, "%s/scheduler/priority: 1 to 99 is needed for %s",
                        where->at, oci_enum_name (&oci_scheduler_enum, s->policy));
    if (!is_fixed && s->priority != 0)
        return err_set (where->e, EINVAL, "%s/scheduler/priority: for SCHED_FIFO and SCHED_RR only",
                        where->at);
    if (has_times && s->policy != OCI_SCHED_DEADLINE)
        return err_set (where->e, EINVAL,
                        "%s/scheduler: runtime, deadline and period are for SCHED_DEADLINE only",
                        where->at);
    return 0;
}

static int check_affinity (const struct oci_process *p, const struct place *where)
{
    const struct oci_exec_cpu_affinity *a = p->exec_cpu_affinity;

    if (a && a->initial && !spec_is_list (a->initial))
        return err_set (where->e, EINVAL, "%s/execCPUAffinity/initial: not a CPU list", where->at);
    if (a && a->final && !spec_is_list (a->final))
        return err_set (where->e, EINVAL, "%s/execCPUAffinity/final: not a CPU list", where->at);
    return 0;
}

static int (*const rules[]) (const struct oci_process *p, const struct place *where) = {
    check_args,   check_cwd,     check_env,       check_console_size,
    check_groups, check_rlimits, check_scheduler, check_affinity,
};

int spec_check_process (const struct oci_process *p, const char *at, struct err *e)
{
    const struct place where = { .at = at, .e = e };

    for (size_t i = 0; i < ARRAY_LEN (rules); i++)
        if (rules[i](p, &where) < 0)
            return -e->code;
    return 0;
}
