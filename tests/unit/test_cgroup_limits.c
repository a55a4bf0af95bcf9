/* Config to writes, for both kernels' interfaces, and the comparison with what is read back. */
#include "cgroup/limits.h"

#include "cgroup/internal.h"

#include "libocispec/arena.h"
#include "tap.h"

/* The writes as lines "CONTROLLER FILE=VALUE", alternatives and problems included. */
static const char *show (const struct limits *l, struct arena *a)
{
    const char *out = "";

    for (const struct limit *m = l->first; m; m = m->next) {
        if (m->problem)
            out = arena_printf (a, "%s%s: %s\n", out, m->key, m->problem);
        else
            out = arena_printf (a, "%s%s%s%s=%s", out, m->optional ? "?" : "", m->file,
                                m->keep_first ? "+" : "", m->value);
        if (m->alt_value)
            out = arena_printf (a, "%s or %s=%s", out, m->alt_file, m->alt_value);
        if (!m->problem)
            out = arena_printf (a, "%s\n", out);
    }
    return out;
}

static void is_v1 (const struct oci_linux_resources *res, const char *want, const char *name)
{
    AUTO_ARENA a = { 0 };
    struct limits l = { .a = &a };

    limits_v1 (&l, res);
    (void)tap_is (show (&l, &a), want, name);
}

static void is_v2 (const struct oci_linux_resources *res, const char *want, const char *name)
{
    AUTO_ARENA a = { 0 };
    struct limits l = { .a = &a };

    limits_v2 (&l, res);
    (void)tap_is (show (&l, &a), want, name);
}

#define MEMORY(...) (&(struct oci_linux_resources){ .memory = &(struct oci_memory){ __VA_ARGS__ } })
#define CPU(...)    (&(struct oci_linux_resources){ .cpu = &(struct oci_cpu){ __VA_ARGS__ } })
#define PIDS(n)                                                                                    \
    (&(struct oci_linux_resources){ .pids = &(struct oci_pids){ .has_limit = true, .limit = (n) } })
#define IO(...)                                                                                    \
    (&(struct oci_linux_resources){                                                                \
        .block_io = &(struct oci_block_io){ __VA_ARGS__ },                                         \
    })
#define LIMIT(n)  .has_limit = true, .limit = (n)
#define SWAP(n)   .has_swap = true, .swap = (n)
#define QUOTA(n)  .has_quota = true, .quota = (n)
#define PERIOD(n) .has_period = true, .period = (n)
#define SHARES(n) .has_shares = true, .shares = (n)

static void test_memory (void)
{
    is_v1 (MEMORY (LIMIT (4096), SWAP (8192)),
           "memory.limit_in_bytes=4096\nmemory.memsw.limit_in_bytes=8192\n", "v1 memory and swap");
    is_v1 (MEMORY (LIMIT (-1)), "memory.limit_in_bytes=-1\n?memory.memsw.limit_in_bytes=-1\n",
           "v1 unlimited");
    is_v1 (MEMORY (LIMIT (0), SWAP (0), .has_reservation = true, .has_kernel = true,
                   .has_disable_oom_killer = true),
           "", "v1 zeros are unset (docker update)");
    is_v1 (MEMORY (.has_swappiness = true, .has_disable_oom_killer = true,
                   .disable_oom_killer = true, .has_kernel = true, .kernel = 4096),
           "memory.oom_control=1\nmemory.swappiness=0\n", "v1 swappiness 0 is set, kernel ignored");
    is_v2 (MEMORY (LIMIT (4096), SWAP (8192)), "memory.swap.max=4096\nmemory.max=4096\n",
           "v2 swap is swap - limit");
    is_v2 (MEMORY (LIMIT (4096), SWAP (4096)), "memory.swap.max=0\nmemory.max=4096\n",
           "v2 swap == limit is no swap");
    is_v2 (MEMORY (LIMIT (4096), SWAP (-1)), "memory.swap.max=max\nmemory.max=4096\n",
           "v2 swap -1");
    is_v2 (MEMORY (LIMIT (-1)), "memory.swap.max=max\nmemory.max=max\n", "v2 unlimited");
    is_v2 (MEMORY (LIMIT (-1), SWAP (4096)), "memory.swap.max=4096\nmemory.max=max\n",
           "v2 unlimited memory, swap as it is");
    is_v2 (MEMORY (LIMIT (4096), SWAP (0)), "memory.max=4096\n", "v2 swap 0 is unset");
    is_v2 (MEMORY (SWAP (4096)),
           "memory/swap: it counts memory and swap, so it needs /linux/resources/memory/limit "
           "beside it\n",
           "v2 swap without limit");
    is_v2 (MEMORY (LIMIT (8192), SWAP (4096)),
           "memory/swap: it counts memory and swap, so it cannot be below "
           "/linux/resources/memory/limit\n"
           "memory.max=8192\n",
           "v2 swap below limit");
    is_v2 (MEMORY (.has_reservation = true, .reservation = 4096), "memory.low=4096\n",
           "v2 reservation");
}

static void test_cpu (void)
{
    is_v1 (CPU (SHARES (512), QUOTA (50000), PERIOD (100000), .has_burst = true),
           "cpu.cfs_period_us=100000\ncpu.cfs_quota_us=50000\ncpu.cfs_burst_us=0\n"
           "cpu.shares=512\n",
           "v1 shares, quota, period, burst 0");
    is_v1 (CPU (SHARES (512), .has_idle = true, .idle = 1), "cpu.idle=1\n", "v1 idle: no shares");
    is_v1 (CPU (QUOTA (-1), .has_realtime_runtime = true, .realtime_runtime = 950,
                .has_realtime_period = true, .realtime_period = 1000, .cpus = "0-1", .mems = ""),
           "cpu.cfs_quota_us=-1\ncpu.rt_period_us=1000\ncpu.rt_runtime_us=950\ncpuset.cpus=0-1\n",
           "v1 real time and cpuset; an empty list is unset");
    is_v2 (CPU (QUOTA (50000), PERIOD (100000)), "cpu.max=50000 100000\n", "v2 quota and period");
    is_v2 (CPU (QUOTA (50000)), "cpu.max=50000\n", "v2 quota keeps the period");
    is_v2 (CPU (QUOTA (-1), PERIOD (50000)), "cpu.max=max 50000\n", "v2 quota -1");
    is_v2 (CPU (PERIOD (50000)), "cpu.max+=50000\n", "v2 period keeps the quota");
    is_v2 (CPU (QUOTA (0), PERIOD (0), SHARES (0)), "", "v2 zeros are unset");
    is_v2 (CPU (SHARES (1024), .has_idle = true, .idle = 0, .cpus = "1", .mems = "0"),
           "cpu.idle=0\ncpuset.cpus=1\ncpuset.mems=0\ncpu.weight=100\n",
           "v2 idle 0 comes before the weight");
    is_v2 (CPU (.has_realtime_runtime = true, .realtime_runtime = 950),
           "cpu/realtimeRuntime: cgroup v2 has no real-time limits\n", "v2 real time");
}

static void test_weights (void)
{
    uint64_t last = 0;
    bool rises = true;

    ok (limit_cpu_weight (0) == 0, "shares 0 is unset");
    ok (limit_cpu_weight (1) == 1 && limit_cpu_weight (2) == 1, "the least shares");
    ok (limit_cpu_weight (1024) == 100, "the default maps to the default");
    ok (limit_cpu_weight (262144) == 10000 && limit_cpu_weight (UINT64_MAX) == 10000,
        "the most shares");
    for (uint64_t shares = 2; shares <= 262144; shares++) {
        uint64_t weight = limit_cpu_weight (shares);

        rises = rises && weight >= last && weight >= 1 && weight <= 10000;
        last = weight;
    }
    ok (rises, "the map never falls and stays in 1..10000");
    ok (limit_io_weight (10) == 1 && limit_io_weight (1000) == 10000, "I/O weights");
}

static void test_pids (void)
{
    is_v1 (PIDS (100), "pids.max=100\n", "pids");
    is_v1 (PIDS (0), "pids.max=1\n", "pids 0 is a limit");
    is_v2 (PIDS (-1), "pids.max=max\n", "pids -1");
    is_v2 (&(struct oci_linux_resources){ .pids = &(struct oci_pids){ 0 } }, "", "pids {}");
}

static void test_io (void)
{
    static const struct oci_weight_device weights[] = { { 8, 0, 500, true, 0, false } };
    static const struct oci_throttle_device rates[] = { { 8, 0, 1048576 }, { 8, 16, 0 } };

    is_v1 (IO (.has_weight = true, .weight = 500, .weight_device = weights, .n_weight_device = 1),
           "blkio.weight=500\nblkio.weight_device=8:0 500\n", "v1 weights");
    is_v1 (IO (.throttle_read_bps_device = rates, .n_throttle_read_bps_device = 2,
               .throttle_write_iops_device = rates, .n_throttle_write_iops_device = 1),
           "blkio.throttle.read_bps_device=8:0 1048576\n"
           "blkio.throttle.read_bps_device=8:16 0\n"
           "blkio.throttle.write_iops_device=8:0 1048576\n",
           "v1 throttles");
    is_v2 (IO (.has_weight = true, .weight = 10, .weight_device = weights, .n_weight_device = 1),
           "io.bfq.weight=10 or io.weight=1\n"
           "io.bfq.weight=8:0 500 or io.weight=8:0 4950\n",
           "v2 weights");
    is_v2 (IO (.has_weight = true, .weight = 5), "blockIO/weight: 5 is not in 10..1000\n",
           "v2 weight below the range");
    is_v2 (IO (.has_weight = true, .weight = 0), "", "v2 weight 0 is unset");
    is_v2 (IO (.throttle_write_bps_device = rates, .n_throttle_write_bps_device = 2,
               .throttle_read_iops_device = rates, .n_throttle_read_iops_device = 1),
           "io.max=8:0 wbps=1048576\nio.max=8:16 wbps=max\nio.max=8:0 riops=1048576\n",
           "v2 io.max");
}

static void test_hugetlb (void)
{
    static const struct oci_hugepage_limit good[] = { { "2MB", 4194304 } };
    static const char *const bad[] = { "../../x", "2mb", "MB", "2", "9999999MB", "2MB/../x", "" };

    is_v1 (&(struct oci_linux_resources){ .hugepage_limits = good, .n_hugepage_limits = 1 },
           "hugetlb.2MB.limit_in_bytes=4194304\n?hugetlb.2MB.rsvd.limit_in_bytes=4194304\n",
           "v1 huge pages");
    is_v2 (&(struct oci_linux_resources){ .hugepage_limits = good, .n_hugepage_limits = 1 },
           "hugetlb.2MB.max=4194304\n?hugetlb.2MB.rsvd.max=4194304\n", "v2 huge pages");
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        AUTO_ARENA a = { 0 };
        struct limits l = { .a = &a };
        struct oci_hugepage_limit page = { bad[i], 1 };

        limits_v2 (
            &l, &(struct oci_linux_resources){ .hugepage_limits = &page, .n_hugepage_limits = 1 });
        ok (l.first && l.first->problem && !l.first->next, "page size '%s' is refused", bad[i]);
    }
}

static void test_network_and_rdma (void)
{
    static const struct oci_interface_priority prio[] = { { "eth0", 5 } };
    static const struct oci_rdma rdma[] = { { "mlx4_0", 3, true, 10000, true } };
    struct oci_network net = {
        .has_class_id = true, .class_id = 1048577, .priorities = prio, .n_priorities = 1
    };

    is_v1 (&(struct oci_linux_resources){ .network = &net, .rdma = rdma, .n_rdma = 1 },
           "rdma.max=mlx4_0 hca_handle=3\nrdma.max=mlx4_0 hca_object=10000\n"
           "net_cls.classid=1048577\nnet_prio.ifpriomap=eth0 5\n",
           "v1 network and rdma");
    is_v2 (&(struct oci_linux_resources){ .network = &net },
           "network: cgroup v2 has no net_cls and net_prio\n", "v2 network");
}

static void test_unified (void)
{
    static const struct oci_kv good[] = { { "memory.high", "max" },
                                          { "io.max", "8:0 rbps=1\n8:16 rbps=2\n" },
                                          { "cgroup.max.depth", "3" } };
    static const char *const bad[] = { "../x",        "memory",      "cgroup.procs",   ".high",
                                       "memory.",     "a/b.c",       "cgroup.freeze",  "",
                                       "cgroup.kill", "cgroup.type", "cgroup.threads", "/" };

    is_v2 (&(struct oci_linux_resources){ .unified = good, .n_unified = 3 },
           "memory.high=max\nio.max=8:0 rbps=1\nio.max=8:16 rbps=2\ncgroup.max.depth=3\n",
           "v2 unified");
    is_v1 (&(struct oci_linux_resources){ .unified = good, .n_unified = 1 },
           "unified: invalid configuration: this host's controllers are on cgroup v1\n",
           "v1 unified");
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        AUTO_ARENA a = { 0 };
        struct limits l = { .a = &a };
        struct oci_kv kv = { bad[i], "1" };

        limits_v2 (&l, &(struct oci_linux_resources){ .unified = &kv, .n_unified = 1 });
        ok (l.first && l.first->problem && !l.first->next, "unified key '%s' is refused", bad[i]);
    }
}

static void test_read_back (void)
{
    static const struct {
        enum limit_check check;
        const char *value, *text;
        bool kept;
    } t[] = {
        { CHECK_TOKENS, "512", "512\n", true },
        { CHECK_TOKENS, "51", "512\n", false },
        { CHECK_TOKENS, "max 100000", "max 100000\n", true },
        { CHECK_TOKENS, "50000", "50000 100000\n", true },
        { CHECK_TOKENS, "8:0 rbps=5", "8:16 rbps=5 wbps=max\n8:0 rbps=4 wbps=max\n", false },
        { CHECK_TOKENS, "8:0 rbps=5", "8:16 rbps=1\n8:0 rbps=5 wbps=max\n", true },
        { CHECK_TOKENS, "1", "", false },
        { CHECK_BYTES, "8192", "8192\n", true },
        { CHECK_BYTES, "8200", "8192\n", true },
        { CHECK_BYTES, "8192", "4096\n", false },
        { CHECK_BYTES, "8192", "12288\n", false },
        { CHECK_BYTES, "1", "0\n", true },
        { CHECK_BYTES, "-1", "9223372036854771712\n", true },
        { CHECK_BYTES, "9223372036854775807", "max\n", true },
        { CHECK_BYTES, "max", "max\n", true },
        { CHECK_BYTES, "max", "8192\n", false },
        { CHECK_BYTES, "8192", "max\n", false },
        { CHECK_LIST, "0,1", "0-1\n", true },
        { CHECK_LIST, "3,1-2", "1-3\n", true },
        { CHECK_LIST, "0-1", "0\n", false },
        { CHECK_LIST, "0", "\n", false },
        { CHECK_LIST, "0-31:2/4", "0-1\n", true },
        { CHECK_NONE, "1", "2\n", true },
    };

    for (size_t i = 0; i < sizeof t / sizeof t[0]; i++) {
        struct limit m = { .check = t[i].check };

        ok (limit_is_kept (&m, t[i].value, t[i].text) == t[i].kept, "read-back %zu: '%s' %s", i,
            t[i].value, t[i].kept ? "is kept" : "is not kept");
    }
}

/* What an update that fails writes back. */
static void test_old_values (void)
{
    static const struct {
        struct limit m;
        const char *text, *want;
    } t[] = {
        { { .controller = "pids", .file = "pids.max", .value = "9" }, "max\n", "max" },
        { { .controller = "cpu", .file = "cpu.max", .value = "9 1000" }, "max 5\n", "max 5" },
        { { .controller = "memory",
            .file = "memory.oom_control",
            .value = "1",
            .expect = "oom_kill_disable 1" },
          "oom_kill_disable 0\nunder_oom 1\n",
          "0" },
        { { .controller = "io", .file = "io.max", .value = "8:0 rbps=1 wiops=2" },
          "8:16 rbps=7\n8:0 rbps=5 wbps=max riops=max wiops=max\n",
          "8:0 rbps=5 wbps=max riops=max wiops=max" },
        { { .controller = "io", .file = "io.max", .value = "8:0 rbps=1 wiops=2" },
          "8:16 rbps=7\n",
          "8:0 rbps=max wiops=max" },
        { { .controller = "blkio", .file = "blkio.throttle.read_bps_device", .value = "8:0 7" },
          "8:0 6\n8:16 5\n",
          "8:0 6" },
        { { .controller = "blkio", .file = "blkio.throttle.read_bps_device", .value = "8:0 7" },
          "",
          "8:0 0" },
        { { .controller = "io", .file = "io.weight", .value = "8:0 7" },
          "default 100\n",
          "8:0 default" },
        { { .controller = "rdma", .file = "rdma.max", .value = "mlx hca_handle=2" },
          "mlx hca_handle=3 hca_object=max\n",
          "mlx hca_handle=3 hca_object=max" },
        { { .controller = "net_prio", .file = "net_prio.ifpriomap", .value = "eth0 5" },
          "lo 0\neth0 1\n",
          "eth0 1" },
        { { .controller = "cpuset", .file = "cpuset.cpus", .value = "0" }, "\n", "" },
    };

    for (size_t i = 0; i < sizeof t / sizeof t[0]; i++) {
        AUTO_ARENA a = { 0 };

        (void)tap_is (limit_old_value (&t[i].m, t[i].text, &a), t[i].want, t[i].m.file);
    }
}

int main (void)
{
    test_old_values ();
    test_memory ();
    test_cpu ();
    test_weights ();
    test_pids ();
    test_io ();
    test_hugetlb ();
    test_network_and_rdma ();
    test_unified ();
    test_read_back ();
    return tap_done ();
}
