/*
 * Rules of the limits: ceilings that a config may go below.
 */
#include <errno.h>
#include <string.h>

#include "base/str.h"
#include "policy/rules.h"

/* Microseconds; what the kernel takes as a period, and its default (sched-bwc.rst). */
#define PERIOD_MIN     1000
#define PERIOD_MAX     1000000
#define PERIOD_DEFAULT 100000
#define QUOTA_MIN      1000

/* ---- memory ---- */

/* 0 is "not set" to the kernel's files as well as to engines. */
int rule_limit_memory (struct draft *d)
{
    int64_t ceiling = d->doc.limits->memory;

    if (ceiling < 0)
        return 0;
    (void)draft_memory (d);
    return draft_cap_number (d, "/linux/resources/memory/limit", &d->memory.has_limit,
                             &d->memory.limit, 1, ceiling);
}

/* An update of the memory alone takes the container's swap along: nobody has asked for a number
 * that does not fit any more. */
static void forget_swap (struct draft *d, int64_t low, int64_t ceiling)
{
    const struct oci_linux_resources *asked = d->in->update;
    bool is_asked = asked && asked->memory && asked->memory->has_swap;

    if (asked && !is_asked && (d->memory.swap < low || d->memory.swap > ceiling))
        d->memory.has_swap = false;
}

/* The config's number is of memory and swap together. */
int rule_limit_swap (struct draft *d)
{
    int64_t limit = d->memory.has_limit ? d->memory.limit : 0;
    int64_t ceiling;

    if (d->doc.limits->swap < 0 || limit <= 0)
        return 0;
    if (__builtin_add_overflow (limit, d->doc.limits->swap, &ceiling))
        ceiling = INT64_MAX;
    forget_swap (d, limit, ceiling);
    return draft_cap_number (d, "/linux/resources/memory/swap", &d->memory.has_swap,
                             &d->memory.swap, limit, ceiling);
}

int rule_oom_killer (struct draft *d)
{
    if (d->doc.limits->memory < 0 || !d->memory.has_disable_oom_killer)
        return 0;
    return draft_set_bool (d, "/linux/resources/memory/disableOOMKiller",
                           &d->memory.has_disable_oom_killer, &d->memory.disable_oom_killer, false);
}

/* ---- cpu ---- */
static bool is_period (const struct oci_cpu *c)
{
    return c->has_period && c->period >= PERIOD_MIN && c->period <= PERIOD_MAX;
}

/* The time that MILLI thousandths of a CPU are in a period. */
static int64_t quota_of (int64_t milli, uint64_t period)
{
    return milli * (int64_t)period / 1000;
}

static int set_period (struct draft *d, struct oci_cpu *c)
{
    struct policy_decision x = { .path = "/linux/resources/cpu/period",
                                 .action = c->has_period ? POLICY_TIGHTENED : POLICY_ADDED };

    x.before = c->has_period ? draft_number (d->a, (int64_t)c->period) : NULL;
    c->has_period = true;
    c->period = PERIOD_DEFAULT;
    x.after = draft_number (d->a, PERIOD_DEFAULT);
    return x.after && (x.before || x.action == POLICY_ADDED) ? draft_note (d, &x) : err_oom (d->e);
}

int rule_limit_cpus (struct draft *d)
{
    int64_t milli = d->doc.limits->milli_cpus;
    struct oci_cpu *c = &d->cpu;

    if (milli < 0)
        return 0;
    c = draft_cpu (d);
    if ((!is_period (c) || quota_of (milli, c->period) < QUOTA_MIN) && set_period (d, c) < 0)
        return -d->e->code;
    return draft_cap_number (d, "/linux/resources/cpu/quota", &c->has_quota, &c->quota, 1,
                             quota_of (milli, c->period));
}

/* Takes away a number that is set and not 0. */
static int drop_number (struct draft *d, const char *path, bool *has, int64_t value)
{
    struct policy_decision x = { .path = path, .action = POLICY_TIGHTENED };

    if (!*has || value == 0)
        return 0;
    x.before = draft_number (d->a, value);
    *has = false;
    return x.before ? draft_note (d, &x) : err_oom (d->e);
}

/* Saved-up time (burst) is used beyond the quota. */
int rule_limit_realtime (struct draft *d)
{
    struct oci_cpu *c = &d->cpu;

    if (d->doc.limits->milli_cpus < 0)
        return 0;
    if (drop_number (d, "/linux/resources/cpu/burst", &c->has_burst, (int64_t)c->burst) < 0 ||
        drop_number (d, "/linux/resources/cpu/realtimeRuntime", &c->has_realtime_runtime,
                     c->realtime_runtime) < 0)
        return -d->e->code;
    return drop_number (d, "/linux/resources/cpu/realtimePeriod", &c->has_realtime_period,
                        (int64_t)c->realtime_period);
}

int rule_intel_rdt (struct draft *d)
{
    struct policy_decision x = { .path = "/linux/intelRdt", .action = POLICY_TIGHTENED };

    if (d->doc.limits->milli_cpus < 0 || !d->linux_.intel_rdt)
        return 0;
    x.before = d->linux_.intel_rdt->clos_id ?: "(no class)";
    d->linux_.intel_rdt = NULL;
    return draft_note (d, &x);
}

/* ---- the place ---- */
int rule_cgroup_place (struct draft *d)
{
    if (d->doc.cgroup == OCI_CGROUP_ENGINE || !d->facts->outer_cgroup)
        return 0;
    return draft_refuse (d, "/linux/cgroupsPath", d->linux_.cgroups_path,
                         arena_printf (d->a, "it lies in '%s', the cgroup of another container",
                                       d->facts->outer_cgroup));
}

/* ---- pids ---- */

/* 0 is the lowest limit: it lets one process be (cgroup/limit_rows.c). */
int rule_limit_pids (struct draft *d)
{
    int64_t ceiling = d->doc.limits->pids;

    if (ceiling < 0)
        return 0;
    (void)draft_pids (d);
    return draft_cap_number (d, "/linux/resources/pids/limit", &d->pids.has_limit, &d->pids.limit,
                             0, ceiling);
}

/* ---- files of cgroup v2 ---- */

/* They are written after all others. These lift no ceiling; a name with a dot at its end stands for
 * all that begin so. */
static const char *const harmless_files[] = {
    "cpu.weight", "cpu.weight.nice",  "cpu.idle", "cpuset.cpus", "cpuset.mems", "memory.high",
    "memory.low", "memory.oom.group", "io.",      "hugetlb.",    "misc.",       "rdma.",
};

static bool is_harmless (const char *file)
{
    for (size_t i = 0; i < sizeof harmless_files / sizeof harmless_files[0]; i++) {
        const char *name = harmless_files[i];
        bool all = name[strlen (name) - 1] == '.';

        if (all ? str_has_prefix (file, name) : strcmp (file, name) == 0)
            return true;
    }
    return false;
}

static bool has_ceiling (const struct oci_policy_limits *l)
{
    return l->memory >= 0 || l->swap >= 0 || l->milli_cpus >= 0 || l->pids >= 0;
}

static int drop_file (struct draft *d, const struct oci_kv *kv)
{
    const struct policy_decision x = { .path = arena_printf (d->a, "/linux/resources/unified/%s",
                                                             kv->key),
                                       .action = POLICY_TIGHTENED,
                                       .before = kv->value };

    return draft_note (d, &x);
}

int rule_limit_unified (struct draft *d)
{
    struct oci_linux_resources *r = &d->resources;
    struct oci_kv *kept = arena_calloc (d->a, r->n_unified + 1, sizeof *kept);
    size_t n = 0;

    if (!kept)
        return err_oom (d->e);
    if (!has_ceiling (d->doc.limits))
        return 0;
    for (size_t i = 0; i < r->n_unified; i++) {
        if (is_harmless (r->unified[i].key))
            kept[n++] = r->unified[i];
        else if (drop_file (d, &r->unified[i]) < 0)
            return -d->e->code;
    }
    if (n < r->n_unified) {
        r->unified = kept;
        r->n_unified = n;
    }
    return 0;
}
