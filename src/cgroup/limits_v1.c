#include <inttypes.h>

#include "base/cleanup.h"
#include "cgroup/limits.h"

/* In the order of writing. memory.kernel and kernelTCP are ignored as in runc: the kernel has
 * dropped the limit they set (5.16) and counts kernel memory into memory.limit. useHierarchy:
 * always so (5.11). */
static const struct limit_row rows[] = {
    { .like = { .controller = "memory",
                .key = "memory/limit",
                .file = "memory.limit_in_bytes",
                .check = CHECK_BYTES },
      LIMIT_ROW (memory, limit),
      .text = limit_text_signed },
    { .like = { .controller = "memory",
                .key = "memory/swap",
                .file = "memory.memsw.limit_in_bytes",
                .check = CHECK_BYTES,
                .is_swap = true },
      LIMIT_ROW (memory, swap),
      .text = limit_text_signed },
    { .like = { .controller = "memory",
                .key = "memory/reservation",
                .file = "memory.soft_limit_in_bytes",
                .check = CHECK_BYTES },
      LIMIT_ROW (memory, reservation),
      .text = limit_text_signed },
    { .like = { .controller = "memory",
                .key = "memory/disableOOMKiller",
                .file = "memory.oom_control",
                .expect = "oom_kill_disable 1" },
      LIMIT_ROW (memory, disable_oom_killer),
      .type = ROW_BOOL,
      .text = limit_text_true },
    { .like = { .controller = "memory", .key = "memory/swappiness", .file = "memory.swappiness" },
      LIMIT_ROW (memory, swappiness),
      .type = ROW_U64,
      .text = limit_text_any },
    { .like = { .controller = "cpu", .key = "cpu/idle", .file = "cpu.idle" },
      LIMIT_ROW (cpu, idle),
      .text = limit_text_any },
    { .like = { .controller = "cpu", .key = "cpu/period", .file = "cpu.cfs_period_us" },
      LIMIT_ROW (cpu, period),
      .type = ROW_U64,
      .text = limit_text_unsigned },
    { .like = { .controller = "cpu", .key = "cpu/quota", .file = "cpu.cfs_quota_us" },
      LIMIT_ROW (cpu, quota),
      .text = limit_text_signed },
    { .like = { .controller = "cpu", .key = "cpu/burst", .file = "cpu.cfs_burst_us" },
      LIMIT_ROW (cpu, burst),
      .type = ROW_U64,
      .text = limit_text_any },
    { .like = { .controller = "cpu", .key = "cpu/realtimePeriod", .file = "cpu.rt_period_us" },
      LIMIT_ROW (cpu, realtime_period),
      .type = ROW_U64,
      .text = limit_text_unsigned },
    { .like = { .controller = "cpu", .key = "cpu/realtimeRuntime", .file = "cpu.rt_runtime_us" },
      LIMIT_ROW (cpu, realtime_runtime),
      .text = limit_text_signed },
    { .like = { .controller = "cpuset",
                .key = "cpu/cpus",
                .file = "cpuset.cpus",
                .alt_file = "cpus", /* mounted with noprefix */
                .check = CHECK_LIST },
      LIMIT_TEXT_ROW (cpu, cpus) },
    { .like = { .controller = "cpuset",
                .key = "cpu/mems",
                .file = "cpuset.mems",
                .alt_file = "mems",
                .check = CHECK_LIST },
      LIMIT_TEXT_ROW (cpu, mems) },
    { .like = { .controller = "pids", .key = "pids/limit", .file = "pids.max" },
      LIMIT_ROW (pids, limit),
      .text = limit_text_pids },
    { .like = { .controller = "blkio",
                .key = "blockIO/weight",
                .file = "blkio.weight",
                .alt_file = "blkio.bfq.weight" }, /* its name without the CFQ scheduler (5.0) */
      LIMIT_ROW (block_io, weight),
      .type = ROW_U16,
      .text = limit_text_unsigned },
    { .like = { .controller = "blkio", .key = "blockIO/leafWeight", .file = "blkio.leaf_weight" },
      LIMIT_ROW (block_io, leaf_weight),
      .type = ROW_U16,
      .text = limit_text_unsigned },
};

/* Unlimited memory means unlimited memory and swap, unless the latter is given too. */
static void add_swap_for_unlimited (struct limits *l, const struct oci_memory *m)
{
    static const struct limit like = { .controller = "memory",
                                       .key = "memory/swap",
                                       .file = "memory.memsw.limit_in_bytes",
                                       .check = CHECK_BYTES,
                                       .optional = true };

    if (m && m->has_limit && m->limit < 0 && (!m->has_swap || m->swap == 0))
        limit_add (l, &like, "-1");
}

/* A group that is idle has no shares: the kernel refuses to set them. */
static void add_shares (struct limits *l, const struct oci_cpu *cpu)
{
    static const struct limit like = { .controller = "cpu",
                                       .key = "cpu/shares",
                                       .file = "cpu.shares" };

    if (cpu && cpu->has_shares && cpu->shares != 0 && !(cpu->has_idle && cpu->idle))
        limit_add (l, &like, "%" PRIu64, cpu->shares);
}

static void add_weights (struct limits *l, const struct oci_block_io *io)
{
    static const struct limit weight = { .controller = "blkio",
                                         .key = "blockIO/weightDevice",
                                         .file = "blkio.weight_device",
                                         .alt_file = "blkio.bfq.weight_device" };
    static const struct limit leaf = { .controller = "blkio",
                                       .key = "blockIO/weightDevice/leafWeight",
                                       .file = "blkio.leaf_weight_device" };

    for (size_t i = 0; i < io->n_weight_device; i++) {
        const struct oci_weight_device *d = &io->weight_device[i];

        if (d->has_weight && d->weight)
            limit_add (l, &weight, "%" PRId64 ":%" PRId64 " %u", d->major, d->minor, d->weight);
        if (d->has_leaf_weight && d->leaf_weight)
            limit_add (l, &leaf, "%" PRId64 ":%" PRId64 " %u", d->major, d->minor, d->leaf_weight);
    }
}

static void add_throttles (struct limits *l, const struct oci_block_io *io)
{
    const struct {
        const struct oci_throttle_device *list;
        size_t n;
        const char *key, *file;
    } kinds[] = {
        { io->throttle_read_bps_device, io->n_throttle_read_bps_device,
          "blockIO/throttleReadBpsDevice", "blkio.throttle.read_bps_device" },
        { io->throttle_write_bps_device, io->n_throttle_write_bps_device,
          "blockIO/throttleWriteBpsDevice", "blkio.throttle.write_bps_device" },
        { io->throttle_read_iops_device, io->n_throttle_read_iops_device,
          "blockIO/throttleReadIOPSDevice", "blkio.throttle.read_iops_device" },
        { io->throttle_write_iops_device, io->n_throttle_write_iops_device,
          "blockIO/throttleWriteIOPSDevice", "blkio.throttle.write_iops_device" },
    };

    for (size_t k = 0; k < ARRAY_LEN (kinds); k++) {
        for (size_t i = 0; i < kinds[k].n; i++) {
            const struct oci_throttle_device *d = &kinds[k].list[i];
            struct limit like = { .controller = "blkio",
                                  .key = kinds[k].key,
                                  .file = kinds[k].file,
                                  .check = d->rate ? CHECK_TOKENS : CHECK_NONE };

            limit_add (l, &like, "%" PRId64 ":%" PRId64 " %" PRIu64, d->major, d->minor, d->rate);
        }
    }
}

static void add_network (struct limits *l, const struct oci_network *n)
{
    static const struct limit class_id = { .controller = "net_cls",
                                           .key = "network/classID",
                                           .file = "net_cls.classid" };
    static const struct limit priority = { .controller = "net_prio",
                                           .key = "network/priorities",
                                           .file = "net_prio.ifpriomap" };

    if (n->has_class_id && n->class_id)
        limit_add (l, &class_id, "%" PRIu32, n->class_id);
    for (size_t i = 0; i < n->n_priorities; i++)
        limit_add (l, &priority, "%s %" PRIu32, n->priorities[i].name, n->priorities[i].priority);
}

void limits_v1 (struct limits *l, const struct oci_linux_resources *res)
{
    limit_add_rows (l, res, rows, ARRAY_LEN (rows));
    add_swap_for_unlimited (l, res->memory);
    add_shares (l, res->cpu);
    if (res->block_io) {
        add_weights (l, res->block_io);
        add_throttles (l, res->block_io);
    }
    limit_add_hugetlb (l, res, "limit_in_bytes");
    limit_add_rdma (l, res);
    if (res->network)
        add_network (l, res->network);
    if (res->n_unified > 0)
        limit_refuse (l, "", "unified",
                      "invalid configuration: this host's controllers are on cgroup v1");
}
