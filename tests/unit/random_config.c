#include "random_config.h"

#include <string.h>

#include "base/cleanup.h"

/* A list as options of a mount, or as capabilities. */
#define STRINGS(...)   ((const char *const[]){ __VA_ARGS__, NULL })
#define N_STRINGS(...) (sizeof (STRINGS (__VA_ARGS__)) / sizeof (char *) - 1)
#define OPTIONS(...)   .options = STRINGS (__VA_ARGS__), .n_options = N_STRINGS (__VA_ARGS__)
#define COPY(a, what)  memcpy (arena_alloc (a, sizeof (what)), &(what), sizeof (what))

struct dice {
    uint64_t state;
    struct arena *a;
};

/* 0..N-1: xorshift64* (Vigna 2016). */
static uint64_t roll (struct dice *d, uint64_t n)
{
    d->state ^= d->state >> 12;
    d->state ^= d->state << 25;
    d->state ^= d->state >> 27;
    return ((d->state * 2685821657736338717u) >> 32) % n;
}

static bool maybe (struct dice *d)
{
    return roll (d, 2) == 1;
}

/* Some of the N elements of SIZE at FROM. */
static void *some (struct dice *d, const void *from, size_t n, size_t size, size_t *ret_n)
{
    char *out = arena_calloc (d->a, n + 1, size);
    size_t k = 0;

    for (size_t i = 0; i < n; i++)
        if (maybe (d))
            memcpy (out + k++ * size, (const char *)from + i * size, size);
    *ret_n = k;
    return k ? out : NULL;
}
#define SOME(d, array, ret_n) some (d, array, ARRAY_LEN (array), sizeof (array)[0], ret_n)

/* ---- the process ---- */
static const char *const caps[] = { "CAP_KILL", "CAP_SYS_ADMIN", "CAP_NET_RAW", "CAP_CHOWN" };
static const struct oci_rlimit rlimits[] = {
    { "RLIMIT_NOFILE", 4096, 1048576 }, { "RLIMIT_CORE", 0, UINT64_MAX },
    { "RLIMIT_RTPRIO", 10, 99 },        { "RLIMIT_NICE", 40, 40 },
    { "RLIMIT_NPROC", 10, 10 },
};

static const struct oci_capabilities *random_caps (struct dice *d)
{
    struct oci_capabilities *c = arena_alloc (d->a, sizeof *c);

    c->bounding = SOME (d, caps, &c->n_bounding);
    c->effective = SOME (d, caps, &c->n_effective);
    c->inheritable = SOME (d, caps, &c->n_inheritable);
    c->permitted = SOME (d, caps, &c->n_permitted);
    c->ambient = SOME (d, caps, &c->n_ambient);
    return c;
}

static const struct oci_scheduler *random_scheduler (struct dice *d)
{
    static const int policies[] = { OCI_SCHED_OTHER, OCI_SCHED_FIFO, OCI_SCHED_BATCH };
    const struct oci_scheduler s = { .policy = policies[roll (d, ARRAY_LEN (policies))],
                                     .has_nice = maybe (d),
                                     .nice = (int32_t)roll (d, 40) - 20 };

    return COPY (d->a, s);
}

static const struct oci_io_priority *random_io (struct dice *d)
{
    const struct oci_io_priority io = { .class_ = maybe (d) ? OCI_IOPRIO_RT : OCI_IOPRIO_BE };

    return COPY (d->a, io);
}

static const struct oci_process *random_process (struct dice *d)
{
    static const char *const labels[] = { NULL, "one", "other" };
    const struct oci_user user = { .uid = (uint32_t)roll (d, 2) * 1000,
                                   .gid = (uint32_t)roll (d, 2) * 7 };
    struct oci_process p = { .cwd = "/",
                             .user = maybe (d) ? COPY (d->a, user) : NULL,
                             .capabilities = maybe (d) ? random_caps (d) : NULL,
                             .has_no_new_privileges = maybe (d),
                             .scheduler = maybe (d) ? random_scheduler (d) : NULL,
                             .io_priority = maybe (d) ? random_io (d) : NULL,
                             .has_oom_score_adj = maybe (d),
                             .oom_score_adj = (int32_t)roll (d, 2001) - 1000,
                             .apparmor_profile = labels[roll (d, 3)],
                             .selinux_label = labels[roll (d, 3)] };

    p.no_new_privileges = p.has_no_new_privileges && maybe (d);
    p.rlimits = SOME (d, rlimits, &p.n_rlimits);
    return COPY (d->a, p);
}

/* ---- mounts ---- */
#define NEW(dest, kind, ...)                                                                       \
    {                                                                                              \
        .destination = dest, .type = kind, .source = kind, OPTIONS (__VA_ARGS__)                   \
    }
#define BIND(from, dest, ...)                                                                      \
    {                                                                                              \
        .destination = dest, .type = "bind", .source = from, OPTIONS (__VA_ARGS__)                 \
    }

/* Most of them: a config has few. */
static const struct oci_mount mounts[] = {
    NEW ("/proc", "proc", "nosuid"),
    NEW ("/dev", "tmpfs", "nosuid", "mode=755", "size=64k"),
    NEW ("/dev/pts", "devpts", "newinstance"),
    NEW ("/dev/shm", "tmpfs", "size=512m", "nr_inodes=1000000"),
    NEW ("/dev/mqueue", "mqueue", "nosuid"),
    NEW ("/sys", "sysfs", "rw"),
    NEW ("/sys", "sysfs", "ro", "nosuid", "nodev"),
    NEW ("/sys/fs/cgroup", "cgroup", "rw"),
    NEW ("/sys/fs/cgroup", "cgroup", "ro", "nosuid", "nodev"),
    NEW ("/tmp", "tmpfs", "size=2g"),
    NEW ("/scratch", "tmpfs", "suid", "dev"),
    NEW ("/zero", "tmpfs", "size=0", "nr_inodes=0"),
    NEW ("/part", "tmpfs", "size=90%"),
    NEW ("/blocks", "tmpfs", "size=4k", "nr_blocks=1g"),
    NEW ("/disk", "ext4", "ro"),
    NEW ("/other/proc", "proc", "nosuid"),
    BIND ("/proc", "/proc", "rbind"),
    BIND ("/dev/sda", "/disk", "bind"),
    BIND ("/dev/null", "/dev/null", "bind", "nosuid"),
    BIND ("/srv/project", "/work", "rbind", "rw"),
    BIND ("/srv/project", "/work", "bind", "nosuid", "nodev", "suid"),
    BIND ("/srv/shared", "/shared", "rbind", "rshared"),
    BIND ("/", "/host", "rbind", "rslave"),
    NEW ("/sys", "none", "remount", "bind", "rw"),
    NEW ("/work", "none", "remount", "bind", "rsuid", "rdev", "nosuid", "nodev"),
    NEW ("/work", "none", "remount", "bind", "rw"),
    NEW ("/tmp", "tmpfs", "noexec", "exec"),
};

static void random_mounts (struct dice *d, struct oci_config *c)
{
    struct oci_mount *out = arena_calloc (d->a, ARRAY_LEN (mounts), sizeof *out);

    for (size_t i = 0; i < ARRAY_LEN (mounts); i++)
        if (roll (d, 4) == 0)
            out[c->n_mounts++] = mounts[i];
    c->mounts = c->n_mounts ? out : NULL;
}

/* ---- linux ---- */
static const struct oci_kv sysctls[] = { { "net.ipv4.ip_forward", "1" },
                                         { "kernel.shmmax", "1" },
                                         { "kernel.core_pattern", "x" } };
static const struct oci_kv unified[] = { { "memory.max", "max" }, { "cpu.weight", "10" } };
static const char *const hidden[] = { "/proc/kcore", "/proc/own", "/proc/bus", "/proc/keys" };
static const struct oci_device devices[] = {
    { .path = "/dev/null", .type = OCI_DEV_CHAR, .major = 1, .minor = 3 },
    { .path = "/dev/null", .type = OCI_DEV_BLOCK, .major = 8, .minor = 0 },
    { .path = "/dev/zero", .type = OCI_DEV_CHAR, .major = 1, .minor = 1 },
    { .path = "/dev/sda", .type = OCI_DEV_BLOCK, .major = 8, .minor = 0 },
    { .path = "/dev/fuse", .type = OCI_DEV_CHAR, .major = 10, .minor = 229 },
};
static const struct oci_device_cgroup device_rules[] = {
    { .allow = false, .access = "rwm" },
    { .allow = true, .access = "rwm" },
    { .allow = true, .type = "c", .has_major = true, .major = 1, .has_minor = true, .minor = 3 },
    { .allow = true, .type = "b", .has_major = true, .major = 8, .access = "r" },
};

static const struct oci_linux_resources *random_resources (struct dice *d)
{
    const struct oci_memory memory = { .has_limit = maybe (d),
                                       .limit =
                                           (int64_t)roll (d, 5) - 1 + (maybe (d) ? 4 << 20 : 0),
                                       .has_swap = maybe (d),
                                       .swap = maybe (d) ? -1 : INT64_MAX,
                                       .has_disable_oom_killer = maybe (d),
                                       .disable_oom_killer = true };
    const struct oci_cpu cpu = { .has_quota = maybe (d),
                                 .quota = (int64_t)roll (d, 400000) - 1,
                                 .has_period = maybe (d),
                                 .period = roll (d, 1200000),
                                 .has_burst = maybe (d),
                                 .burst = roll (d, 2) * 1000,
                                 .has_realtime_runtime = maybe (d),
                                 .realtime_runtime = 1000 };
    const struct oci_pids pids = { .has_limit = maybe (d), .limit = (int64_t)roll (d, 600) - 1 };
    struct oci_linux_resources r = { .memory = maybe (d) ? COPY (d->a, memory) : NULL,
                                     .cpu = maybe (d) ? COPY (d->a, cpu) : NULL,
                                     .pids = maybe (d) ? COPY (d->a, pids) : NULL };

    r.unified = SOME (d, unified, &r.n_unified);
    r.devices = SOME (d, device_rules, &r.n_devices);
    return COPY (d->a, r);
}

static const struct oci_linux_seccomp *random_seccomp (struct dice *d)
{
    static const int flags[] = { OCI_SECCOMP_LOG, OCI_SECCOMP_SPEC_ALLOW };
    static const char *const names[] = { "mkdir" };
    static const struct oci_syscall asking[] = {
        { .names = names, .n_names = 1, .action = OCI_ACT_NOTIFY },
    };
    struct oci_linux_seccomp s = { .default_action = OCI_ACT_ALLOW };

    if (roll (d, 8) == 0) {
        s.listener_path = "/run/agent.sock";
        s.syscalls = asking;
        s.n_syscalls = ARRAY_LEN (asking);
    }
    s.flags = SOME (d, flags, &s.n_flags);
    return COPY (d->a, s);
}

static void random_namespaces (struct dice *d, struct oci_linux *l)
{
    static const int kinds[] = { OCI_NS_PID,    OCI_NS_MOUNT,   OCI_NS_IPC, OCI_NS_UTS,
                                 OCI_NS_CGROUP, OCI_NS_NETWORK, OCI_NS_USER };
    struct oci_namespace *ns = arena_calloc (d->a, ARRAY_LEN (kinds), sizeof *ns);

    for (size_t i = 0; i < ARRAY_LEN (kinds); i++)
        if (maybe (d))
            ns[l->n_namespaces++] =
                (struct oci_namespace){ .type = kinds[i],
                                        .path = roll (d, 3) == 0 ? "/proc/77/ns/x" : NULL };
    l->namespaces = l->n_namespaces ? ns : NULL;
}

static const struct oci_linux *random_linux (struct dice *d)
{
    static const struct oci_net_device net[] = { { .key = "eth0" } };
    static const struct oci_intel_rdt rdt = { .clos_id = "c" };
    struct oci_linux l = { .resources = maybe (d) ? random_resources (d) : NULL,
                           .seccomp = maybe (d) ? random_seccomp (d) : NULL,
                           .intel_rdt = maybe (d) ? &rdt : NULL,
                           .has_rootfs_propagation = maybe (d),
                           .rootfs_propagation = (int)roll (d, 8) };

    random_namespaces (d, &l);
    if (roll (d, 4) == 0)
        l.sysctl = SOME (d, sysctls, &l.n_sysctl);
    l.devices = SOME (d, devices, &l.n_devices);
    l.net_devices = SOME (d, net, &l.n_net_devices);
    l.masked_paths = SOME (d, hidden, &l.n_masked_paths);
    l.readonly_paths = SOME (d, hidden, &l.n_readonly_paths);
    return COPY (d->a, l);
}

/* ---- requests ---- */
static const struct oci_kv requests[] = {
    { "io.agentrt.memory", "0" },
    { "io.agentrt.memory", "-1" },
    { "io.agentrt.memory", "4096" },
    { "io.agentrt.memory", "64g" },
    { "io.agentrt.swap", "1g" },
    { "io.agentrt.milliCpus", "0" },
    { "io.agentrt.milliCpus", "64000" },
    { "io.agentrt.pids", "99999" },
    { "io.agentrt.nofile", "2000000" },
    { "io.agentrt.core", "-1" },
    { "io.agentrt.tmpSize", "0" },
    { "io.agentrt.tmpSize", "-1" },
    { "io.agentrt.shmSize", "0" },
    { "io.agentrt.writableRoot", "true" },
    { "io.agentrt.network", "engine" },
    { "io.agentrt.capabilities", "CAP_SYS_ADMIN" },
    { "io.agentrt.devices", "/dev/sda" },
    { "io.agentrt.mounts", "/" },
    { "io.agentrt.policy", "oci" },
    { "run.oci.keep_original_groups", "1" },
    { "org.systemd.property.MemoryMax", "uint64 18446744073709551615" },
    { "org.systemd.property.Wants", "['rescue.target']" },
    { "org.systemd.property.KillSignal", "9" },
};

/* One in eight cases asks for one thing. */
static void random_request (struct dice *d, struct oci_config *c)
{
    if (roll (d, 8) > 0)
        return;
    c->annotations = &requests[roll (d, ARRAY_LEN (requests))];
    c->n_annotations = 1;
}

/* ---- the whole ---- */
static void find (struct random_case *c)
{
    for (size_t i = 0; i < c->in.config->n_mounts; i++)
        if (strcmp (c->in.config->mounts[i].source, "/") == 0)
            c->found[c->findings.n++] = (struct guard_finding){ .mount = i,
                                                                .rule = "host-root",
                                                                .what = "the host's root",
                                                                .how = "is",
                                                                .thing = "/",
                                                                .source = "/",
                                                                .shown = "/" };
    c->findings.list = c->found;
}

static struct dice throw (uint64_t seed, struct arena *a)
{
    return (struct dice){ .state = (seed + 1) * 0x9E3779B97F4A7C15u, .a = a };
}

const struct oci_linux_resources *random_update_make (uint64_t seed, struct arena *a)
{
    struct dice d = throw (~seed, a);

    return random_resources (&d);
}

void random_case_make (uint64_t seed, struct arena *a, struct random_case *ret)
{
    static const struct oci_id_mapping range = { .host_id = 100000, .size = 65536 };
    struct dice d = throw (seed, a);
    const struct oci_root root = { .path = "r",
                                   .has_readonly = maybe (&d),
                                   .readonly = maybe (&d) };
    struct oci_config c = { .oci_version = OCI_VERSION, .root = COPY (a, root) };

    c.process = random_process (&d);
    c.linux_ = random_linux (&d);
    random_mounts (&d, &c);
    random_request (&d, &c);
    *ret = (struct random_case){
        .in = { .config = COPY (a, c),
                .process = seed % 4 == 3 ? random_process (&d) : NULL,
                .facts = { .known = true,
                           .uid_map = &range,
                           .gid_map = &range,
                           .n_uid_map = 1,
                           .n_gid_map = 1,
                           .outer_cgroup = roll (&d, 16) ? NULL : "/other",
                           .oom_score_adj = (int)roll (&d, 3) * 100 } },
    };
    find (ret);
    ret->in.facts.guard = &ret->findings;
}
