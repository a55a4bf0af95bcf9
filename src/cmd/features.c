/*
 * features: what this version implements, read from the tables it was compiled from. Asks the host
 * nothing: engines keep the answer and use it on other days and kernels (oci-matrix 2.7).
 */
#include "config.h"

#include "base/cleanup.h"
#include "cmd/cmd.h"
#include "harden/seccomp.h"
#include "hook/hook.h"
#include "libocispec/ocispec.h"
#include "ns/ns.h"
#include "spec/mntopt.h"
#include "spec/names.h"

#define YES(m) .m = true, .has_##m = true
#define NO(m)  .m = false, .has_##m = true

static const struct oci_features_enabled enabled = { YES (enabled) };
static const struct oci_features_intel_rdt intel_rdt = { NO (enabled), NO (schemata),
                                                         NO (monitoring) };
static const struct oci_features_cgroup cgroup = { YES (v1), YES (v2), YES (systemd),
                                                   YES (systemd_user), YES (rdma) };
static const struct oci_features_mount_extensions mount_extensions = { .idmap = &enabled };
static const struct oci_kv annotations[] = {
    { "io.agentrt.version", PACKAGE_VERSION },
    { "io.agentrt.commit", GIT_COMMIT },
    { "io.github.seccomp.libseccomp.version", LIBSECCOMP_VERSION },
};
/* A trailing dot stands for all that begin so (features.md). What a policy allows can be asked for
 * with these. */
static const char *const unsafe_annotations[] = { "io.agentrt.", "org.systemd.property.",
                                                  "run.oci.keep_original_groups",
                                                  "run.oci.systemd.subgroup", NULL };

static size_t count (const char *const *list)
{
    size_t n = 0;

    while (list[n])
        n++;
    return n;
}

#define NAMES(member, list) .member = (list), .n_##member = count (list)

static int print_features (const struct oci_features_linux *linux_, struct err *e)
{
    AUTO_STRBUF out = {};
    const struct oci_features features = {
        .oci_version_min = OCI_VERSION_MIN,
        .oci_version_max = OCI_VERSION,
        .hooks = hook_names,
        .n_hooks = HOOK_COUNT,
        NAMES (mount_options, mntopt_names),
        .linux_ = linux_,
        .annotations = annotations,
        .n_annotations = ARRAY_LEN (annotations),
        NAMES (potentially_unsafe_config_annotations, unsafe_annotations),
    };

    if (oci_emit (&oci_features_type, &features, OCI_PRETTY, &out, e) < 0)
        return -e->code;
    return print_text (&out, e);
}

static int run_features (const struct call *c, struct err *e)
{
    const struct oci_features_seccomp seccomp = {
        YES (enabled),
        NAMES (actions, seccomp_actions ()),
        NAMES (operators, seccomp_operators ()),
        NAMES (archs, seccomp_archs ()),
        NAMES (known_flags, seccomp_known_flags ()),
        NAMES (supported_flags, seccomp_supported_flags ()),
    };
    const struct oci_features_memory_policy memory_policy = {
        .modes = oci_memory_mode_enum.names,
        .n_modes = (size_t)oci_memory_mode_enum.n,
        .flags = oci_memory_flag_enum.names,
        .n_flags = (size_t)oci_memory_flag_enum.n,
    };
    const struct oci_features_linux linux_ = {
        .namespaces = ns_names,
        .n_namespaces = NS_COUNT,
        NAMES (capabilities, names_caps),
        .cgroup = &cgroup,
        .seccomp = &seccomp,
        .apparmor = &enabled,
        .selinux = &enabled,
        .intel_rdt = &intel_rdt,
        .memory_policy = &memory_policy,
        .mount_extensions = &mount_extensions,
        .net_devices = &enabled,
    };

    (void)c;
    return print_features (&linux_, e);
}

const struct command cmd_features = {
    .name = "features",
    .summary = "Shows what this version implements as JSON",
    .rule = { .usage = "" },
    .run = run_features,
};
