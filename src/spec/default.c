/*
 * The config to begin with. All of it is constant but the id maps of a rootless one.
 */
#include "base/cleanup.h"
#include "hidden.h"
#include "spec.h"

#define STRINGS(...)   ((const char *const[]){ __VA_ARGS__, NULL })
#define N_STRINGS(...) (sizeof (STRINGS (__VA_ARGS__)) / sizeof (char *) - 1)
/* An array member and its count. */
#define LIST(m, ...) .m = STRINGS (__VA_ARGS__), .n_##m = N_STRINGS (__VA_ARGS__)
#define ARRAY(m, a)  .m = a, .n_##m = ARRAY_LEN (a)

/* ---- process ---- */

#define CAPS "CAP_AUDIT_WRITE", "CAP_KILL", "CAP_NET_BIND_SERVICE"

static const struct oci_user root_user = { .has_gid = true };

/* Nothing inheritable or ambient: CVE-2022-29162. */
static const struct oci_capabilities capabilities = {
    LIST (bounding, CAPS),
    LIST (effective, CAPS),
    LIST (permitted, CAPS),
};

static const struct oci_rlimit rlimits[] = {
    { .type = "RLIMIT_NOFILE", .soft = 1024, .hard = 1024 },
};

static const struct oci_process process = {
    .terminal = true,
    .has_terminal = true,
    .user = &root_user,
    LIST (args, "sh"),
    LIST (env, "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "TERM=xterm"),
    .cwd = "/",
    .capabilities = &capabilities,
    ARRAY (rlimits, rlimits),
    .no_new_privileges = true,
    .has_no_new_privileges = true,
};

/* ---- mounts ---- */

#define PROC                                                                                       \
    {                                                                                              \
        .destination = "/proc", .type = "proc", .source = "proc"                                   \
    }
#define DEV                                                                                        \
    {                                                                                              \
        .destination = "/dev", .type = "tmpfs", .source = "tmpfs",                                 \
        LIST (options, "nosuid", "strictatime", "mode=755", "size=65536k")                         \
    }
/* gid 5 is "tty"; an ordinary user cannot map it. */
#define PTS(...)                                                                                   \
    {                                                                                              \
        .destination = "/dev/pts", .type = "devpts", .source = "devpts",                           \
        LIST (options, "nosuid", "noexec", "newinstance", "ptmxmode=0666", "mode=0620",            \
              ##__VA_ARGS__)                                                                       \
    }
#define SHM                                                                                        \
    {                                                                                              \
        .destination = "/dev/shm", .type = "tmpfs", .source = "shm",                               \
        LIST (options, "nosuid", "noexec", "nodev", "mode=1777", "size=65536k")                    \
    }
#define MQUEUE                                                                                     \
    {                                                                                              \
        .destination = "/dev/mqueue", .type = "mqueue", .source = "mqueue",                        \
        LIST (options, "nosuid", "noexec", "nodev")                                                \
    }

static const struct oci_mount mounts[] = {
    PROC,
    DEV,
    PTS ("gid=5"),
    SHM,
    MQUEUE,
    { .destination = "/sys",
      .type = "sysfs",
      .source = "sysfs",
      LIST (options, "nosuid", "noexec", "nodev", "ro") },
    { .destination = "/sys/fs/cgroup",
      .type = "cgroup",
      .source = "cgroup",
      LIST (options, "nosuid", "noexec", "nodev", "relatime", "ro") },
};

/* A sysfs of one's own is refused where the host's is partly covered, so it is the host's, with all
 * below it (the cgroups too) read-only. */
static const struct oci_mount rootless_mounts[] = {
    PROC,
    DEV,
    PTS (),
    SHM,
    MQUEUE,
    { .destination = "/sys",
      .type = "none",
      .source = "/sys",
      LIST (options, "rbind", "rnosuid", "rnoexec", "rnodev", "rro") },
};

/* ---- linux ---- */

static const struct oci_namespace namespaces[] = {
    { .type = OCI_NS_PID },    { .type = OCI_NS_NETWORK }, { .type = OCI_NS_IPC },
    { .type = OCI_NS_UTS },    { .type = OCI_NS_MOUNT },   { .type = OCI_NS_USER },
    { .type = OCI_NS_CGROUP },
};

static bool wants_namespace (const struct spec_default_options *o, int type)
{
    return (type != OCI_NS_USER || o->rootless) && (type != OCI_NS_CGROUP || o->cgroup_namespace);
}

static int choose_namespaces (const struct spec_default_options *o, struct arena *a,
                              struct oci_linux *l)
{
    struct oci_namespace *chosen = arena_calloc (a, ARRAY_LEN (namespaces), sizeof *chosen);

    l->namespaces = chosen;
    for (size_t i = 0; chosen && i < ARRAY_LEN (namespaces); i++)
        if (wants_namespace (o, namespaces[i].type))
            chosen[l->n_namespaces++] = namespaces[i];
    return chosen ? 0 : -1;
}

/* The default devices stay allowed; the runtime adds them. */
static const struct oci_device_cgroup deny_all[] = { { .allow = false, .access = "rwm" } };

static const struct oci_linux_resources resources = { ARRAY (devices, deny_all) };

#define LINUX_COMMON                                                                               \
    LIST (masked_paths, SPEC_MASKED_PATHS), LIST (readonly_paths, SPEC_READONLY_PATHS)

static const struct oci_linux linux_part = {
    .resources = &resources,
    LINUX_COMMON,
};

static const struct oci_linux rootless_linux = { LINUX_COMMON };

/* ---- the whole ---- */

static const struct oci_root root = { .path = "rootfs", .readonly = true, .has_readonly = true };

static const struct oci_config config = {
    .oci_version = OCI_VERSION,
    .root = &root,
    .process = &process,
    .hostname = "agentrt",
    ARRAY (mounts, mounts),
};

static const struct oci_id_mapping *map_root_to (uint32_t id, struct arena *a)
{
    struct oci_id_mapping *m = arena_alloc (a, sizeof *m);

    if (m)
        *m = (struct oci_id_mapping){ .container_id = 0, .host_id = id, .size = 1 };
    return m;
}

const struct oci_config *spec_default (const struct spec_default_options *o, struct arena *a)
{
    struct oci_config *c = arena_alloc (a, sizeof *c);
    struct oci_linux *l = arena_alloc (a, sizeof *l);

    if (!c || !l)
        return NULL;
    *c = config;
    *l = o->rootless ? rootless_linux : linux_part;
    c->linux_ = l;
    if (choose_namespaces (o, a, l) < 0)
        return NULL;
    if (!o->rootless)
        return c;
    l->uid_mappings = map_root_to (o->uid, a);
    l->gid_mappings = map_root_to (o->gid, a);
    l->n_uid_mappings = l->n_gid_mappings = 1;
    c->mounts = rootless_mounts;
    c->n_mounts = ARRAY_LEN (rootless_mounts);
    return l->uid_mappings && l->gid_mappings ? c : NULL;
}
