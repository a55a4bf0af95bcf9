/*
 * The built-in policies. `strict` and `oci` have every key, so whatever extends them has, too;
 * `system` says what it has other than `strict`, as a file would.
 */
#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "policy/builtin.h"
#include "policy/merge.h"
#include "spec/hidden.h"

#define STRINGS(...)   ((const char *const[]){ __VA_ARGS__, NULL })
#define N_STRINGS(...) (sizeof (STRINGS (__VA_ARGS__)) / sizeof (char *) - 1)
/* A list and its count. */
#define LIST(m, ...) .m = STRINGS (__VA_ARGS__), .n_##m = N_STRINGS (__VA_ARGS__)
#define EMPTY(m)     .m = STRINGS (NULL), .n_##m = 0
#define TYPES(m, a)  .m = a, .n_##m = ARRAY_LEN (a)
/* A scalar and its presence. */
#define SAY(m, value) .m = value, .has_##m = true

#define NONE (-1)
#define MIB  ((int64_t)1024 * 1024)
#define GIB  (1024 * MIB)

#define TMPFS(is_private, max_size, max_inodes)                                                    \
    &(const struct oci_policy_tmpfs)                                                               \
    {                                                                                              \
        SAY (private_, is_private), SAY (size, max_size), SAY (inodes, max_inodes)                 \
    }

static const struct oci_policy_allow allow_nothing = { 0 };

/* ---- strict ---- */
static const int own_all[] = { OCI_NS_PID, OCI_NS_MOUNT,  OCI_NS_IPC,
                               OCI_NS_UTS, OCI_NS_CGROUP, OCI_NS_NETWORK };

static const struct oci_policy strict = {
    .name = "strict",
    .description = "For code that nobody has read: no network, no capability, nothing of the host.",
    SAY (conflict, OCI_CONFLICT_TIGHTEN),
    .rootfs =
        &(const struct oci_policy_rootfs){
            SAY (readonly, true),
            .tmp = TMPFS (true, 64 * MIB, 16384),
            .shm = TMPFS (true, 64 * MIB, 4096),
        },
    .mounts =
        &(const struct oci_policy_mounts){
            SAY (nosuid, true),
            SAY (nodev, true),
            SAY (guard, true),
            EMPTY (accept),
        },
    SAY (identity, OCI_IDENTITY_ENGINE),
    SAY (network, OCI_NETWORK_NONE),
    EMPTY (capabilities),
    SAY (no_new_privileges, true),
    SAY (seccomp, OCI_SECCOMP_STRICT),
    .namespaces =
        &(const struct oci_policy_namespaces){ TYPES (own, own_all), SAY (join, OCI_JOIN_POD) },
    .devices =
        &(const struct oci_policy_devices){
            LIST (allowed, "/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom",
                  "/dev/tty"),
            SAY (any, false),
        },
    .limits =
        &(const struct oci_policy_limits){
            SAY (memory, GIB),
            SAY (swap, 0),
            SAY (milli_cpus, 1000),
            SAY (pids, 128),
            SAY (nofile, 1024),
            SAY (core, 0),
        },
    .paths =
        &(const struct oci_policy_paths){
            LIST (masked, SPEC_MASKED_PATHS),
            LIST (readonly, SPEC_READONLY_PATHS),
        },
    SAY (sysctl, OCI_SYSCTL_OWN),
    SAY (exec, OCI_EXEC_CONTAINER),
    SAY (cgroup, OCI_CGROUP_READONLY),
    .allow = &allow_nothing,
};

/* ---- oci ---- */
static const int own_none[] = { -1 };

static const struct oci_policy oci = {
    .name = "oci",
    .description = "The config as given, nothing added or taken.",
    SAY (conflict, OCI_CONFLICT_TIGHTEN),
    .rootfs =
        &(const struct oci_policy_rootfs){
            SAY (readonly, false),
            .tmp = TMPFS (false, NONE, NONE),
            .shm = TMPFS (false, NONE, NONE),
        },
    .mounts =
        &(const struct oci_policy_mounts){
            SAY (nosuid, false),
            SAY (nodev, false),
            SAY (guard, false),
            EMPTY (accept),
        },
    SAY (identity, OCI_IDENTITY_ENGINE),
    SAY (network, OCI_NETWORK_ENGINE),
    LIST (capabilities, "ALL"),
    SAY (no_new_privileges, false),
    SAY (seccomp, OCI_SECCOMP_ENGINE),
    .namespaces =
        &(const struct oci_policy_namespaces){
            .own = own_none,
            .n_own = 0,
            SAY (join, OCI_JOIN_ANY),
        },
    .devices = &(const struct oci_policy_devices){ EMPTY (allowed), SAY (any, true) },
    .limits =
        &(const struct oci_policy_limits){
            SAY (memory, NONE),
            SAY (swap, NONE),
            SAY (milli_cpus, NONE),
            SAY (pids, NONE),
            SAY (nofile, NONE),
            SAY (core, NONE),
        },
    .paths = &(const struct oci_policy_paths){ EMPTY (masked), EMPTY (readonly) },
    SAY (sysctl, OCI_SYSCTL_ANY),
    SAY (exec, OCI_EXEC_ANY),
    SAY (cgroup, OCI_CGROUP_ENGINE),
    .allow = &allow_nothing,
};

/* ---- system ---- */
static const int own_and_user[] = { OCI_NS_PID,    OCI_NS_MOUNT,   OCI_NS_IPC, OCI_NS_UTS,
                                    OCI_NS_CGROUP, OCI_NS_NETWORK, OCI_NS_USER };

static const struct oci_policy system_ = {
    .name = "system",
    .description = "A fuller Linux, with an init such as systemd, in a user namespace of its own.",
    .extend = "strict",
    .rootfs = &(const struct oci_policy_rootfs){ SAY (readonly, false) },
    SAY (identity, OCI_IDENTITY_USERNS),
    SAY (network, OCI_NETWORK_ENGINE),
    LIST (capabilities, "ALL"),
    SAY (no_new_privileges, false),
    SAY (seccomp, OCI_SECCOMP_ENGINE),
    .namespaces = &(const struct oci_policy_namespaces){ TYPES (own, own_and_user) },
    .limits =
        &(const struct oci_policy_limits){
            SAY (memory, 4 * GIB),
            SAY (milli_cpus, 2000),
            SAY (pids, 1024),
            SAY (nofile, 65536),
        },
    SAY (cgroup, OCI_CGROUP_WRITABLE),
};

static const struct oci_policy *const builtin[] = { &strict, &oci, &system_ };
static const char *const names[] = { "strict", "oci", "system", NULL };
_Static_assert(ARRAY_LEN (builtin) == ARRAY_LEN (names) - 1, "one name each");

const struct oci_policy *policy_builtin (const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN (builtin); i++)
        if (strcmp (names[i], name) == 0)
            return builtin[i];
    return NULL;
}

int policy_from_builtin (const char *name, struct arena *a, struct policy *ret, struct err *e)
{
    const struct oci_policy *own = policy_builtin (name), *base, *doc;

    if (!own)
        return err_set (e, ENOENT, "no built-in policy is called '%s'", name);
    base = own->extend ? policy_builtin (own->extend) : NULL;
    if (policy_merge (base, own, a, &doc, e) < 0)
        return -e->code;
    *ret = (struct policy){ .doc = doc, .name = doc->name };
    return 0;
}

const char *const *policy_names (void)
{
    return names;
}
