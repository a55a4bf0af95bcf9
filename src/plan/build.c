#include "plan/build.h"

#include <errno.h>
#include <linux/capability.h>
#include <string.h>
#include <sys/mount.h>

#include "base/cleanup.h"
#include "spec/sysctl.h"

/* ---- namespaces ---- */
static const enum plan_ns_kind kind_of_type[] = {
    [OCI_NS_PID] = NS_PID,       [OCI_NS_NETWORK] = NS_NET, [OCI_NS_MOUNT] = NS_MOUNT,
    [OCI_NS_IPC] = NS_IPC,       [OCI_NS_UTS] = NS_UTS,     [OCI_NS_USER] = NS_USER,
    [OCI_NS_CGROUP] = NS_CGROUP, [OCI_NS_TIME] = NS_TIME,
};

static void build_namespaces (const struct oci_linux *l, struct plan *ret)
{
    for (size_t i = 0; i < l->n_namespaces; i++) {
        const struct oci_namespace *ns = &l->namespaces[i];
        struct plan_ns *slot = &ret->ns[kind_of_type[ns->type]];

        slot->path = ns->path && ns->path[0] ? ns->path : NULL; /* "" is what Go sends for none */
        slot->mode = slot->path ? NS_JOIN : NS_MAKE;
    }
}

/* Said here, or the kernel's EPERM would be all that is said. */
static int check_privilege (const struct plan_input *in, const struct plan *p, struct err *e)
{
    if (in->is_exec || in->host.uid == 0 || p->ns[NS_USER].mode != NS_INHERIT ||
        in->host.permitted >> CAP_SYS_ADMIN & 1)
        return 0;
    return err_set (e, EPERM,
                    "/linux/namespaces: rootless container requires user namespaces: add "
                    "{\"type\": \"user\"} with /linux/uidMappings and gidMappings, as "
                    "`agentrt spec --rootless` does");
}

static int build_idmap (const struct oci_id_mapping *maps, size_t n, struct arena *a,
                        const struct plan_idmap **ret, size_t *ret_n)
{
    struct plan_idmap *out = arena_calloc (a, n, sizeof *out);

    if (!out)
        return -1;
    for (size_t i = 0; i < n; i++)
        out[i] = (struct plan_idmap){ .inside = maps[i].container_id,
                                      .outside = maps[i].host_id,
                                      .count = maps[i].size };
    *ret = out;
    *ret_n = n;
    return 0;
}

static bool maps_outside_root (const struct plan_idmaps *m)
{
    for (size_t i = 0; i < m->n_uid; i++)
        if (m->uid[i].outside == 0)
            return true;
    return false;
}

/* Makes NAME the one map of an ordinary user that has none: itself as root. */
static int build_idmaps (const struct plan_input *in, const struct oci_linux *l, struct arena *a,
                         struct plan *ret)
{
    struct plan_idmaps *m = &ret->idmaps;

    if (build_idmap (l->uid_mappings, l->n_uid_mappings, a, &m->uid, &m->n_uid) < 0 ||
        build_idmap (l->gid_mappings, l->n_gid_mappings, a, &m->gid, &m->n_gid) < 0)
        return -1;
    ret->host_root_is_outside = !in->host.is_rootless && ret->ns[NS_USER].mode == NS_MAKE &&
                                m->n_uid > 0 && !maps_outside_root (m);
    return 0;
}

static void build_offset (const struct oci_time_offset *o, struct plan_time_offset *ret)
{
    if (o)
        *ret = (struct plan_time_offset){ .set = true, .secs = o->secs, .nanosecs = o->nanosecs };
}

/* ---- sysctl ---- */
static char *sysctl_path (struct arena *a, const char *key)
{
    char *path = arena_strdup (a, key);

    if (path)
        sysctl_to_path (path);
    return path;
}

static int build_sysctls (const struct oci_linux *l, struct arena *a, struct plan *ret)
{
    struct plan_sysctl *out = arena_calloc (a, l->n_sysctl, sizeof *out);

    if (!out)
        return -1;
    for (size_t i = 0; i < l->n_sysctl; i++) {
        out[i] = (struct plan_sysctl){ .key = l->sysctl[i].key,
                                       .path = sysctl_path (a, l->sysctl[i].key),
                                       .value = l->sysctl[i].value };
        if (!out[i].path)
            return -1;
    }
    ret->sysctls = out;
    ret->n_sysctls = l->n_sysctl;
    return 0;
}

/* ---- cgroup ---- */
static int build_cgroup (const struct plan_input *in, const struct oci_linux *l, struct arena *a,
                         struct plan *ret)
{
    struct plan_cgroup *cg = &ret->cgroup;

    cg->given = l->cgroups_path && l->cgroups_path[0];
    cg->path = cg->given ? l->cgroups_path : arena_printf (a, "/%s", in->id);
    cg->resources = l->resources;
    cg->own_ns = ret->ns[NS_CGROUP].mode == NS_MAKE;
    cg->disabled = in->no_cgroup;
    return cg->path ? 0 : -1;
}

static bool is_writable_cgroup (const struct plan_mount *m)
{
    return m->kind == MOUNT_NEW && !((m->set | m->rset) & MOUNT_ATTR_RDONLY) &&
           (strcmp (m->fstype, "cgroup") == 0 || strcmp (m->fstype, "cgroup2") == 0);
}

/* ID of the container in the ids outside; false: it has none. */
static bool outside_id (const struct plan_idmap *maps, size_t n, uint32_t id, uint32_t *ret)
{
    for (size_t i = 0; i < n; i++)
        if (id >= maps[i].inside && id - maps[i].inside < maps[i].count) {
            *ret = maps[i].outside + (id - maps[i].inside);
            return true;
        }
    return false;
}

/* An init in its own user and cgroup namespaces that sees cgroupfs writable is to use it
 * (config-linux.md, "Cgroup ownership"). */
static void build_delegation (struct plan *p)
{
    struct plan_cgroup *cg = &p->cgroup;
    const struct plan_idmaps *m = &p->idmaps;
    bool writable = false;

    for (size_t i = 0; i < p->n_mounts; i++)
        writable = writable || is_writable_cgroup (&p->mounts[i]);
    cg->delegated = writable && cg->own_ns && !cg->disabled && p->ns[NS_USER].mode == NS_MAKE &&
                    !p->is_rootless &&
                    outside_id (m->uid, m->n_uid, p->process.uid, &cg->owner_uid) &&
                    outside_id (m->gid, m->n_gid, p->process.gid, &cg->owner_gid);
}

/* personality(2): PER_LINUX and PER_LINUX32. */
static const unsigned long personality_domains[] = {
    [OCI_PERSONALITY_LINUX] = 0x0000,
    [OCI_PERSONALITY_LINUX32] = 0x0008,
};

static void build_rest (const struct oci_linux *l, struct plan *ret)
{
    if (l->time_offsets) {
        build_offset (l->time_offsets->boottime, &ret->boottime);
        build_offset (l->time_offsets->monotonic, &ret->monotonic);
    }
    ret->has_personality = l->personality != NULL;
    if (l->personality)
        ret->personality = personality_domains[l->personality->domain];
    ret->net_devices = l->net_devices;
    ret->n_net_devices = l->n_net_devices;
    ret->memory_policy = l->memory_policy;
    ret->seccomp = l->seccomp;
}

/* exec joins what is there: nothing of the container is made or set again. The maps stay, they say
 * what ids mean. */
static void forget_set_up (struct plan *p)
{
    for (int kind = 0; kind < NS_COUNT; kind++)
        p->ns[kind] = (struct plan_ns){ .mode = NS_INHERIT };
    p->hostname = p->domainname = NULL;
    p->n_sysctls = 0;
    p->n_net_devices = 0;
    p->hooks = NULL;
    p->cgroup.own_ns = false;
    p->cgroup.resources = NULL;
}

int plan_build (const struct plan_input *in, struct arena *a, struct plan *ret, struct err *e)
{
    static const struct oci_linux none = { 0 };
    const struct oci_config *c = in->config;
    const struct oci_linux *l = c->linux_ ?: &none;
    int result;

    *ret = (struct plan){ .id = in->id,
                          .bundle = in->bundle,
                          .config = c,
                          .is_exec = in->is_exec,
                          .is_rootless = in->host.is_rootless,
                          .pid_file = in->pid_file,
                          .pidfd_socket = in->pidfd_socket,
                          .no_pivot = in->no_pivot,
                          .new_keyring = in->new_keyring,
                          .hostname = c->hostname,
                          .domainname = c->domainname,
                          .hooks = c->hooks,
                          .rootfs_nosuid = in->controls.root_nosuid,
                          .rootfs_nodev = in->controls.root_nodev,
                          .idmap_root = in->controls.idmap_root,
                          .seccomp_floor = in->controls.seccomp_floor,
                          .own_network = in->controls.own_network && !in->is_exec,
                          .preserve_fds = in->host.preserve_fds };
    build_namespaces (l, ret);
    if (check_privilege (in, ret, e) < 0)
        return -e->code;
    build_rest (l, ret);
    if (build_idmaps (in, l, a, ret) < 0 || build_sysctls (l, a, ret) < 0 ||
        build_cgroup (in, l, a, ret) < 0)
        return err_oom (e);
    result = plan_build_annotations (in, ret, e);
    if (result == 0)
        result = plan_build_process (in, a, ret, e);
    if (result == 0 && in->systemd_cgroup && !in->no_cgroup)
        result = plan_build_unit (in, a, ret, e);
    if (result == 0 && in->is_exec)
        forget_set_up (ret);
    else if (result == 0)
        result = plan_build_filesystem (in, a, ret, e);
    if (result == 0 && ret->n_net_devices > 0 && in->host.is_rootless)
        result = err_set (e, EPERM, "/linux/netDevices: an ordinary user cannot move them");
    if (result == 0)
        build_delegation (ret);
    return result;
}
