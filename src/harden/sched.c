#include "sched.h"

#include <errno.h>
#include <linux/ioprio.h>
#include <linux/mempolicy.h>
#include <linux/sched.h>
#include <linux/sched/types.h>
#include <stdint.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/num.h"

#define BITS     (8 * sizeof (unsigned long))
#define CPUS_MAX 8192 /* NR_CPUS of x86_64 and aarch64 at most */

struct cpus {
    unsigned long bits[CPUS_MAX / BITS];
};

static const uint32_t policies[] = {
    [OCI_SCHED_OTHER] = SCHED_NORMAL,
    [OCI_SCHED_FIFO] = SCHED_FIFO,
    [OCI_SCHED_RR] = SCHED_RR,
    [OCI_SCHED_BATCH] = SCHED_BATCH,
    [OCI_SCHED_ISO] = 4, /* reserved in linux/sched.h, never implemented: EINVAL */
    [OCI_SCHED_IDLE] = SCHED_IDLE,
    [OCI_SCHED_DEADLINE] = SCHED_DEADLINE,
};

static const uint64_t policy_flags[] = {
    [OCI_SCHED_FLAG_RESET_ON_FORK] = SCHED_FLAG_RESET_ON_FORK,
    [OCI_SCHED_FLAG_RECLAIM] = SCHED_FLAG_RECLAIM,
    [OCI_SCHED_FLAG_DL_OVERRUN] = SCHED_FLAG_DL_OVERRUN,
    [OCI_SCHED_FLAG_KEEP_POLICY] = SCHED_FLAG_KEEP_POLICY,
    [OCI_SCHED_FLAG_KEEP_PARAMS] = SCHED_FLAG_KEEP_PARAMS,
    [OCI_SCHED_FLAG_UTIL_CLAMP_MIN] = SCHED_FLAG_UTIL_CLAMP_MIN,
    [OCI_SCHED_FLAG_UTIL_CLAMP_MAX] = SCHED_FLAG_UTIL_CLAMP_MAX,
};

static const int io_classes[] = {
    [OCI_IOPRIO_RT] = IOPRIO_CLASS_RT,
    [OCI_IOPRIO_BE] = IOPRIO_CLASS_BE,
    [OCI_IOPRIO_IDLE] = IOPRIO_CLASS_IDLE,
};

static struct sched_attr scheduler_attr (const struct oci_scheduler *s)
{
    struct sched_attr a = {
        .size = sizeof a,
        .sched_policy = policies[s->policy],
        .sched_nice = s->nice,
        .sched_priority = (uint32_t)s->priority,
        .sched_runtime = s->runtime,
        .sched_deadline = s->deadline,
        .sched_period = s->period,
    };

    for (size_t i = 0; i < s->n_flags; i++)
        a.sched_flags |= policy_flags[s->flags[i]];
    return a;
}

/* The spec means the process group. A process that leads none shares its group with whoever started
 * us, who is not the workload: then it is the process alone, and its children inherit. */
static int io_who (void)
{
    return getpgrp () == getpid () ? IOPRIO_WHO_PGRP : IOPRIO_WHO_PROCESS;
}

static int io_value (const struct oci_io_priority *io)
{
    return IOPRIO_PRIO_VALUE (io_classes[io->class_], io->has_priority ? io->priority : 0);
}

int sched_set (const struct plan_process *p, pid_t pid, struct err *e)
{
    struct sched_attr a = { 0 };

    if (!p->scheduler)
        return 0;
    a = scheduler_attr (p->scheduler);
    if (syscall (SYS_sched_setattr, pid, &a, 0) < 0)
        return err_sys (e, "/process/scheduler: set %s%s",
                        oci_enum_name (&oci_scheduler_enum, p->scheduler->policy),
                        errno == EPERM && a.sched_policy == SCHED_DEADLINE
                            ? " (process scheduler can't be used together with AllowedCPUs)"
                            : "");
    return 0;
}

int sched_set_io (const struct plan_process *p, struct err *e)
{
    if (p->io_priority && syscall (SYS_ioprio_set, io_who (), 0, io_value (p->io_priority)) < 0)
        return err_sys (e, "/process/ioPriority: set %s",
                        oci_enum_name (&oci_io_class_enum, p->io_priority->class_));
    return 0;
}

static bool same_attr (const struct sched_attr *have, const struct sched_attr *want)
{
    if (!(want->sched_flags & SCHED_FLAG_KEEP_POLICY) && have->sched_policy != want->sched_policy)
        return false;
    if (want->sched_flags & SCHED_FLAG_KEEP_PARAMS)
        return true;
    if (want->sched_policy == SCHED_DEADLINE)
        return have->sched_runtime == want->sched_runtime &&
               have->sched_deadline == want->sched_deadline;
    if (want->sched_policy == SCHED_FIFO || want->sched_policy == SCHED_RR)
        return have->sched_priority == want->sched_priority;
    return want->sched_policy == SCHED_IDLE || have->sched_nice == want->sched_nice;
}

int sched_check (const struct plan_process *p, pid_t pid, struct err *e)
{
    struct sched_attr want = { 0 };
    struct sched_attr have = { 0 };

    if (!p->scheduler)
        return 0;
    want = scheduler_attr (p->scheduler);
    if (syscall (SYS_sched_getattr, pid, &have, sizeof have, 0) < 0)
        return err_sys (e, "/process/scheduler: read");
    if (!same_attr (&have, &want))
        return err_set (e, EPERM, "/process/scheduler: the kernel has another one than asked for");
    return 0;
}

int sched_check_io (const struct plan_process *p, struct err *e)
{
    if (!p->io_priority)
        return 0;
    if (syscall (SYS_ioprio_get, IOPRIO_WHO_PROCESS, 0) != io_value (p->io_priority))
        return err_set (e, EPERM, "/process/ioPriority: the kernel has another one than asked for");
    return 0;
}

/* ---- lists such as "0-3,7" ---- */

/* One element, "7" or "0-3", of LEN bytes. */
static int parse_range (const char *text, size_t len, const char *what, uint64_t max,
                        uint64_t range[2], struct err *e)
{
    char item[48];
    char *dash;
    int r;

    if (len >= sizeof item)
        return err_set (e, EINVAL, "%s: '%.40s...' is no number or range", what, text);
    memcpy (item, text, len);
    item[len] = '\0';
    dash = strchr (item, '-');
    if (dash)
        *dash++ = '\0';
    r = num_u64 (item, what, 0, max, &range[0], e);
    return r < 0 ? r : num_u64 (dash ?: item, what, range[0], max, &range[1], e);
}

/* N_BITS bits in BITS, which the caller has cleared. */
static int parse_list (const char *text, const char *what, size_t n_bits, unsigned long *bits,
                       struct err *e)
{
    for (const char *at = text;; at++) {
        size_t len = strcspn (at, ",");
        uint64_t range[2];
        int r = parse_range (at, len, what, n_bits - 1, range, e);

        if (r < 0)
            return r;
        for (uint64_t i = range[0]; i <= range[1]; i++)
            bits[i / BITS] |= 1UL << i % BITS;
        at += len;
        if (!*at)
            return 0;
    }
}

/* ---- CPU affinity ---- */

/* The kernel takes the part of the mask that its cpuset allows. */
static int set_cpus (pid_t pid, const struct cpus *cpus)
{
    return (int)syscall (SYS_sched_setaffinity, pid, sizeof *cpus, cpus);
}

int sched_reset_affinity (pid_t pid, struct err *e)
{
    struct cpus cpus;

    memset (&cpus, 0xff, sizeof cpus);
    if (set_cpus (pid, &cpus) < 0)
        return err_sys (e, "let the process use all CPUs");
    return 0;
}

int sched_set_affinity (pid_t pid, const char *list, struct err *e)
{
    struct cpus cpus = { 0 };
    struct cpus have = { 0 };
    int r = parse_list (list, "/process/execCPUAffinity", CPUS_MAX, cpus.bits, e);

    if (r < 0)
        return r;
    if (set_cpus (pid, &cpus) < 0)
        return err_sys (e, "/process/execCPUAffinity: set CPUs %s", list);
    if (syscall (SYS_sched_getaffinity, pid, sizeof have, &have) < 0)
        return err_sys (e, "/process/execCPUAffinity: read");
    if (memcmp (&cpus, &have, sizeof have) != 0)
        return err_set (e, EINVAL, "/process/execCPUAffinity: not all of %s exist or are allowed",
                        list);
    return 0;
}

void sched_mask_text (const char *list, struct strbuf *out)
{
    struct cpus cpus = { 0 };
    struct err ignored = { 0 };
    size_t top = ARRAY_LEN (cpus.bits) - 1;

    if (parse_list (list, "/process/execCPUAffinity", CPUS_MAX, cpus.bits, &ignored) < 0)
        return; /* said where it is used */
    while (top > 0 && cpus.bits[top] == 0)
        top--;
    strbuf_addf (out, "0x%lx", cpus.bits[top]);
    while (top-- > 0)
        strbuf_addf (out, "%016lx", cpus.bits[top]);
}

/* ---- personality ---- */

#define PERSONALITY_READ 0xffffffffUL

int personality_set (unsigned long domain, struct err *e)
{
    if (personality (domain) < 0)
        return err_sys (e, "/linux/personality: set %#lx", domain);
    return 0;
}

int personality_check (unsigned long domain, struct err *e)
{
    int have = personality (PERSONALITY_READ);

    if (have < 0 || (unsigned long)have != domain)
        return err_set (e, EPERM, "/linux/personality: it is %#x, wanted %#lx", (unsigned int)have,
                        domain);
    return 0;
}

/* ---- NUMA memory policy ---- */

/* The kernel reads one bit less than it is told. */
#define MAXNODE (MEMPOLICY_MAX_NODES + 1)

static const int modes[] = {
    [OCI_MPOL_DEFAULT] = MPOL_DEFAULT,
    [OCI_MPOL_BIND] = MPOL_BIND,
    [OCI_MPOL_INTERLEAVE] = MPOL_INTERLEAVE,
    [OCI_MPOL_WEIGHTED_INTERLEAVE] = 6, /* Linux 6.9; an older one answers EINVAL */
    [OCI_MPOL_PREFERRED] = MPOL_PREFERRED,
    [OCI_MPOL_PREFERRED_MANY] = MPOL_PREFERRED_MANY,
    [OCI_MPOL_LOCAL] = MPOL_LOCAL,
};

static const int mode_flags[] = {
    [OCI_MPOL_F_NUMA_BALANCING] = MPOL_F_NUMA_BALANCING,
    [OCI_MPOL_F_RELATIVE_NODES] = MPOL_F_RELATIVE_NODES,
    [OCI_MPOL_F_STATIC_NODES] = MPOL_F_STATIC_NODES,
};

int mempolicy_prepare (const struct oci_memory_policy *mp, struct mempolicy *ret, struct err *e)
{
    struct mempolicy m = { .mode = modes[mp->mode] };
    bool has_nodes = mp->nodes && *mp->nodes;
    int r = 0;

    if (has_nodes)
        r = parse_list (mp->nodes, "/linux/memoryPolicy/nodes", MEMPOLICY_MAX_NODES, m.nodes, e);
    if (r < 0)
        return err_add (e, "invalid memory policy nodes");
    if (m.mode == MPOL_PREFERRED && !has_nodes)
        m.mode = MPOL_LOCAL; /* the same thing, and the name by which the kernel shows it */
    for (size_t i = 0; i < mp->n_flags; i++)
        m.mode |= mode_flags[mp->flags[i]];
    *ret = m;
    return 0;
}

int mempolicy_set (const struct mempolicy *mp, struct err *e)
{
    if (syscall (SYS_set_mempolicy, mp->mode, mp->nodes, MAXNODE) < 0)
        return err_sys (e, "/linux/memoryPolicy: set mode %#x", (unsigned int)mp->mode);
    return 0;
}

/* The kernel keeps of the nodes what the cpuset allows, and renumbers relative ones. */
int mempolicy_check (const struct mempolicy *mp, struct err *e)
{
    struct mempolicy have = { 0 };

    if (syscall (SYS_get_mempolicy, &have.mode, have.nodes, MAXNODE, NULL, 0) < 0)
        return err_sys (e, "/linux/memoryPolicy: read");
    if (have.mode != mp->mode)
        return err_set (e, EPERM, "/linux/memoryPolicy: the mode is %#x, wanted %#x",
                        (unsigned int)have.mode, (unsigned int)mp->mode);
    if (!(mp->mode & MPOL_F_RELATIVE_NODES) && memcmp (have.nodes, mp->nodes, sizeof have.nodes))
        return err_set (e, EPERM, "/linux/memoryPolicy/nodes: not all of them are allowed here");
    return 0;
}
