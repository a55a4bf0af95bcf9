#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/str.h"
#include "cgroup/limits.h"

static bool text_max (uint64_t value, char *buf, size_t size)
{
    if ((int64_t)value < 0)
        (void)snprintf (buf, size, "max");
    else
        (void)snprintf (buf, size, "%" PRId64, (int64_t)value);
    return value != 0;
}

/* In the order of writing. Ignored as in runc, as nothing is less bounded without them:
 * memory.kernel, kernelTCP, swappiness, disableOOMKiller, useHierarchy, blockIO.leafWeight. */
static const struct limit_row rows[] = {
    { .like = { .controller = "pids", .key = "pids/limit", .file = "pids.max" },
      LIMIT_ROW (pids, limit),
      .text = limit_text_pids },
    { .like = { .controller = "memory",
                .key = "memory/limit",
                .file = "memory.max",
                .check = CHECK_BYTES },
      LIMIT_ROW (memory, limit),
      .text = text_max },
    { .like = { .controller = "memory",
                .key = "memory/reservation",
                .file = "memory.low",
                .check = CHECK_BYTES },
      LIMIT_ROW (memory, reservation),
      .text = text_max },
    { .like = { .controller = "cpu", .key = "cpu/idle", .file = "cpu.idle" },
      LIMIT_ROW (cpu, idle),
      .text = limit_text_any },
    { .like = { .controller = "cpu", .key = "cpu/burst", .file = "cpu.max.burst" },
      LIMIT_ROW (cpu, burst),
      .type = ROW_U64,
      .text = limit_text_any },
    { .like = { .controller = "cpuset",
                .key = "cpu/cpus",
                .file = "cpuset.cpus",
                .check = CHECK_LIST },
      LIMIT_TEXT_ROW (cpu, cpus) },
    { .like = { .controller = "cpuset",
                .key = "cpu/mems",
                .file = "cpuset.mems",
                .check = CHECK_LIST },
      LIMIT_TEXT_ROW (cpu, mems) },
};

uint64_t limit_cpu_weight (uint64_t shares)
{
    double l;

    if (shares <= 2)
        return shares == 0 ? 0 : 1;
    if (shares >= 262144)
        return 10000;
    l = log2 ((double)shares);
    return (uint64_t)ceil (pow (10, (l * l + 125 * l) / 612.0 - 7.0 / 34.0));
}

uint64_t limit_io_weight (uint64_t weight)
{
    return 1 + (weight - 10) * 9999 / 990;
}

/* memory.swap.max counts swap alone, the config counts memory and swap together. */
static void add_swap (struct limits *l, const struct oci_memory *m)
{
    static const struct limit like = { .controller = "memory",
                                       .key = "memory/swap",
                                       .file = "memory.swap.max",
                                       .check = CHECK_BYTES,
                                       .is_swap = true };
    int64_t limit = m->has_limit ? m->limit : 0;
    int64_t swap = m->has_swap ? m->swap : 0;

    if (limit < 0 && swap == 0)
        swap = -1; /* unlimited memory means unlimited memory and swap */
    if (swap == 0)
        return;
    if (swap < 0)
        limit_add (l, &like, "max");
    else if (limit < 0)
        limit_add (l, &like, "%" PRId64, swap);
    else if (limit == 0 || swap < limit)
        limit_refuse (l, like.controller, like.key, "it counts memory and swap, so %s",
                      limit == 0 ? "it needs /linux/resources/memory/limit beside it"
                                 : "it cannot be below /linux/resources/memory/limit");
    else
        limit_add (l, &like, "%" PRId64, swap - limit);
}

static void add_cpu (struct limits *l, const struct oci_cpu *cpu)
{
    static const struct limit weight = { .controller = "cpu",
                                         .key = "cpu/shares",
                                         .file = "cpu.weight" };
    struct limit max = { .controller = "cpu", .key = "cpu/quota", .file = "cpu.max" };
    uint64_t period = cpu->has_period ? cpu->period : 0;
    char quota[24] = "max";

    /* A group that is idle has no weight: the kernel refuses to set it. */
    if (cpu->has_shares && cpu->shares != 0 && !(cpu->has_idle && cpu->idle))
        limit_add (l, &weight, "%" PRIu64, limit_cpu_weight (cpu->shares));
    if (!cpu->has_quota || cpu->quota == 0) {
        max.key = "cpu/period";
        max.keep_first = true;
        if (period)
            limit_add (l, &max, "%" PRIu64, period);
        return;
    }
    if (cpu->quota > 0)
        (void)snprintf (quota, sizeof quota, "%" PRId64, cpu->quota);
    if (period)
        limit_add (l, &max, "%s %" PRIu64, quota, period);
    else
        limit_add (l, &max, "%s", quota); /* the kernel keeps the period */
}

static bool is_io_weight (struct limits *l, const char *key, unsigned int weight)
{
    if (weight >= 10 && weight <= 1000)
        return true;
    if (weight != 0)
        limit_refuse (l, "io", key, "%u is not in 10..1000", weight);
    return false;
}

/* With the BFQ scheduler as it is; else io.weight, which is there with the iocost controller. */
static void add_weights (struct limits *l, const struct oci_block_io *io)
{
    struct limit like = { .controller = "io",
                          .key = "blockIO/weight",
                          .file = "io.bfq.weight",
                          .alt_file = "io.weight" };

    if (io->has_weight && is_io_weight (l, like.key, io->weight)) {
        like.alt_value = arena_printf (l->a, "%" PRIu64, limit_io_weight (io->weight));
        limit_add (l, &like, "%u", io->weight);
    }
    like.key = "blockIO/weightDevice";
    for (size_t i = 0; i < io->n_weight_device; i++) {
        const struct oci_weight_device *d = &io->weight_device[i];

        if (!d->has_weight || !is_io_weight (l, like.key, d->weight))
            continue;
        like.alt_value = arena_printf (l->a, "%" PRId64 ":%" PRId64 " %" PRIu64, d->major, d->minor,
                                       limit_io_weight (d->weight));
        limit_add (l, &like, "%" PRId64 ":%" PRId64 " %u", d->major, d->minor, d->weight);
    }
}

static void add_io_max (struct limits *l, const struct oci_block_io *io)
{
    const struct {
        const struct oci_throttle_device *list;
        size_t n;
        const char *key, *what;
    } kinds[] = {
        { io->throttle_read_bps_device, io->n_throttle_read_bps_device,
          "blockIO/throttleReadBpsDevice", "rbps" },
        { io->throttle_write_bps_device, io->n_throttle_write_bps_device,
          "blockIO/throttleWriteBpsDevice", "wbps" },
        { io->throttle_read_iops_device, io->n_throttle_read_iops_device,
          "blockIO/throttleReadIOPSDevice", "riops" },
        { io->throttle_write_iops_device, io->n_throttle_write_iops_device,
          "blockIO/throttleWriteIOPSDevice", "wiops" },
    };

    for (size_t k = 0; k < ARRAY_LEN (kinds); k++) {
        for (size_t i = 0; i < kinds[k].n; i++) {
            const struct oci_throttle_device *d = &kinds[k].list[i];
            struct limit like = { .controller = "io", .key = kinds[k].key, .file = "io.max" };
            char rate[24] = "max"; /* 0: v1's way to say so */

            if (d->rate)
                (void)snprintf (rate, sizeof rate, "%" PRIu64, d->rate);
            else
                like.check = CHECK_NONE; /* a device without any limit has no line */
            limit_add (l, &like, "%" PRId64 ":%" PRId64 " %s=%s", d->major, d->minor, kinds[k].what,
                       rate);
        }
    }
}

/* cgroup.procs, .kill, .freeze and the like are the runtime's; two files of the core are limits. */
static const char *unified_problem (const char *key)
{
    static const char *const core[] = { "cgroup.max.depth", "cgroup.max.descendants", NULL };
    const char *dot = strchr (key, '.');

    if (strchr (key, '/'))
        return "must be a file name, without '/'";
    if (!dot || dot == key || !dot[1])
        return "must be CONTROLLER.PARAMETER";
    if (str_has_prefix (key, "cgroup.") && !str_is_in (key, core))
        return "is not a limit";
    return NULL;
}

/* Files that take several lines take one a write (io.max). */
static void add_unified (struct limits *l, const struct oci_kv *kv)
{
    const char *problem = unified_problem (kv->key);
    struct limit like = { .key = "unified", .file = kv->key, .check = CHECK_NONE };
    const char *rest = kv->value;

    like.controller = arena_strndup (l->a, kv->key, strcspn (kv->key, "."));
    if (!like.controller) {
        l->failed = true;
        return;
    }
    if (problem) {
        limit_refuse (l, like.controller, like.key, "'%.128s' %s", kv->key, problem);
        return;
    }
    do {
        size_t len = strcspn (rest, "\n");

        limit_add (l, &like, "%.*s", (int)len, rest);
        rest += len + (rest[len] != '\0');
    } while (*rest);
}

/* What cgroup v2 cannot do and the caller would miss. */
static void refuse (struct limits *l, const struct oci_linux_resources *res)
{
    const struct oci_cpu *cpu = res->cpu;
    const struct oci_network *net = res->network;

    if (cpu && ((cpu->has_realtime_runtime && cpu->realtime_runtime != 0) ||
                (cpu->has_realtime_period && cpu->realtime_period != 0)))
        limit_refuse (l, "cpu", "cpu/realtimeRuntime", "cgroup v2 has no real-time limits");
    if (net && ((net->has_class_id && net->class_id != 0) || net->n_priorities > 0))
        limit_refuse (l, "net_cls", "network", "cgroup v2 has no net_cls and net_prio");
}

void limits_v2 (struct limits *l, const struct oci_linux_resources *res)
{
    if (res->memory)
        add_swap (l, res->memory); /* first: a lower memory.max must not swap out beyond it */
    limit_add_rows (l, res, rows, ARRAY_LEN (rows));
    if (res->cpu)
        add_cpu (l, res->cpu);
    if (res->block_io) {
        add_weights (l, res->block_io);
        add_io_max (l, res->block_io);
    }
    limit_add_hugetlb (l, res, "max");
    limit_add_rdma (l, res);
    for (size_t i = 0; i < res->n_unified; i++)
        add_unified (l, &res->unified[i]);
    refuse (l, res);
}
