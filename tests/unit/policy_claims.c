#include "policy_claims.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>

#include "base/cleanup.h"
#include "base/str.h"
#include "spec/mntopt.h"
#include "spec/sysctl.h"

/* ---- questions ---- */
static bool has (const char *const *list, size_t n, const char *s)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp (list[i], s) == 0)
            return true;
    return false;
}

static bool holds_all (const char *const *list, size_t n, const char *const *want, size_t n_want)
{
    for (size_t i = 0; i < n_want; i++)
        if (!has (list, n, want[i]))
            return false;
    return true;
}

static const struct oci_namespace *ns_of (const struct view *v, int kind)
{
    for (size_t i = 0; i < v->l->n_namespaces; i++)
        if (v->l->namespaces[i].type == kind)
            return &v->l->namespaces[i];
    return NULL;
}

static bool owns (const struct view *v, int kind)
{
    for (size_t i = 0; i < v->doc->namespaces->n_own; i++)
        if (v->doc->namespaces->own[i] == kind)
            return true;
    return false;
}

static const struct oci_rlimit *limit_of (const struct oci_process *p, const char *type)
{
    for (size_t i = 0; i < p->n_rlimits; i++)
        if (strcmp (p->rlimits[i].type, type) == 0)
            return &p->rlimits[i];
    return NULL;
}

static bool is_above (const struct oci_process *p, const char *type, int64_t ceiling)
{
    const struct oci_rlimit *r = limit_of (p, type);

    return ceiling >= 0 && (!r || r->soft > (uint64_t)ceiling || r->hard > (uint64_t)ceiling);
}

typedef bool mount_test (const struct view *v, size_t i, const struct plan_mount *m);

static bool any_mount (const struct view *v, mount_test *test)
{
    for (size_t i = 0; i < v->c->n_mounts; i++) {
        const struct mntopt_context where = { .index = i, .bundle = "/b" };
        struct plan_mount m;
        struct err e;

        if (mntopt_parse (&v->c->mounts[i], &where, v->a, &m, &e) < 0 || test (v, i, &m))
            return true;
    }
    return false;
}

static bool is_fs (const struct plan_mount *m, const char *type)
{
    return m->kind == MOUNT_NEW && strcmp (m->fstype, type) == 0;
}

static bool lacks (const struct plan_mount *m, uint64_t attr)
{
    bool all = m->rset & attr && !(m->clear & attr);

    if ((m->kind == MOUNT_BIND && m->recursive) || m->rclear & attr)
        return !all;
    return !all && !(m->set & attr);
}

/* The number behind KEY in the last option that has it; -1: none. */
static int64_t tmpfs_value (const struct oci_mount *m, const char *key)
{
    int64_t n = -1;

    for (size_t i = 0; i < m->n_options; i++) {
        char *end;

        if (!str_has_prefix (m->options[i], key))
            continue;
        n = strtoll (m->options[i] + strlen (key), &end, 10);
        if (*end == '%')
            return INT64_MAX;
        n *= *end == 'k' ? 1 << 10 : *end == 'm' ? 1 << 20 : *end == 'g' ? 1 << 30 : 1;
    }
    return n;
}

/* ---- file systems: true means that the claim is broken ---- */
static bool b_readonly (const struct view *v)
{
    return v->doc->rootfs->readonly && !v->c->root->readonly;
}

static bool b_propagation (const struct view *v)
{
    int p = v->l->rootfs_propagation;

    return owns (v, OCI_NS_MOUNT) && v->l->has_rootfs_propagation && p != OCI_PROP_PRIVATE &&
           p != OCI_PROP_RPRIVATE && p != OCI_PROP_UNBINDABLE && p != OCI_PROP_RUNBINDABLE;
}

static bool m_host (const struct view *v, size_t i, const struct plan_mount *m)
{
    (void)v;
    (void)i;
    return m->kind == MOUNT_BIND && strcmp (m->source, "/proc") == 0;
}

static bool m_device (const struct view *v, size_t i, const struct plan_mount *m)
{
    (void)i;
    return m->kind == MOUNT_BIND && strncmp (m->source, "/dev/", 5) == 0 &&
           !has (v->doc->devices->allowed, v->doc->devices->n_allowed, m->source);
}

static bool m_guarded (const struct view *v, size_t i, const struct plan_mount *m)
{
    (void)v;
    (void)i;
    return m->kind == MOUNT_BIND && strcmp (m->source, "/") == 0;
}

static bool m_type (const struct view *v, size_t i, const struct plan_mount *m)
{
    (void)v;
    (void)i;
    return is_fs (m, "ext4") || (is_fs (m, "proc") && strcmp (m->dest, "/proc") != 0);
}

static bool m_remount (const struct view *v, size_t i, const struct plan_mount *m)
{
    (void)v;
    (void)i;
    return m->kind == MOUNT_REMOUNT &&
           (m->clear | m->rclear) & (MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOEXEC);
}

static bool m_exec (const struct view *v, size_t i, const struct plan_mount *m)
{
    (void)v;
    (void)i;
    return (is_fs (m, "tmpfs") && lacks (m, MOUNT_ATTR_NOEXEC)) &&
           (strcmp (m->dest, "/tmp") == 0 || strcmp (m->dest, "/dev/shm") == 0);
}

static bool m_suid (const struct view *v, size_t i, const struct plan_mount *m)
{
    (void)v;
    (void)i;
    return lacks (m, MOUNT_ATTR_NOSUID);
}

static bool m_dev (const struct view *v, size_t i, const struct plan_mount *m)
{
    bool is_place = strcmp (m->dest, "/dev") == 0 || strcmp (m->dest, "/dev/pts") == 0 ||
                    strcmp (m->dest, "/dev/null") == 0;

    (void)v;
    (void)i;
    return lacks (m, MOUNT_ATTR_NODEV) && !is_place;
}

static bool m_shared (const struct view *v, size_t i, const struct plan_mount *m)
{
    (void)v;
    (void)i;
    return (m->propagation & (MS_SHARED | MS_SLAVE)) != 0;
}

static bool m_sysfs (const struct view *v, size_t i, const struct plan_mount *m)
{
    (void)v;
    (void)i;
    return strcmp (m->dest, "/sys") == 0 && m->kind != MOUNT_BIND && lacks (m, MOUNT_ATTR_RDONLY);
}

static bool m_cgroup (const struct view *v, size_t i, const struct plan_mount *m)
{
    (void)v;
    (void)i;
    return is_fs (m, "cgroup") && lacks (m, MOUNT_ATTR_RDONLY);
}

static bool m_size (const struct view *v, size_t i, const struct plan_mount *m)
{
    bool is_shm = strcmp (m->dest, "/dev/shm") == 0;
    int64_t ceiling = (is_shm ? v->doc->rootfs->shm : v->doc->rootfs->tmp)->size;
    int64_t n = tmpfs_value (&v->c->mounts[i], "size=");
    int64_t blocks = tmpfs_value (&v->c->mounts[i], "nr_blocks=");

    return is_fs (m, "tmpfs") && ceiling >= 0 && (n <= 0 || n > ceiling || blocks > ceiling / 4096);
}

static bool m_inodes (const struct view *v, size_t i, const struct plan_mount *m)
{
    bool is_shm = strcmp (m->dest, "/dev/shm") == 0;
    int64_t ceiling = (is_shm ? v->doc->rootfs->shm : v->doc->rootfs->tmp)->inodes;
    int64_t n = tmpfs_value (&v->c->mounts[i], "nr_inodes=");

    return is_fs (m, "tmpfs") && ceiling >= 0 && (n <= 0 || n > ceiling);
}

static bool m_is_tmp (const struct view *v, size_t i, const struct plan_mount *m)
{
    (void)v;
    (void)i;
    return is_fs (m, "tmpfs") && strcmp (m->dest, "/tmp") == 0;
}

static bool m_is_shm (const struct view *v, size_t i, const struct plan_mount *m)
{
    (void)v;
    (void)i;
    return is_fs (m, "tmpfs") && strcmp (m->dest, "/dev/shm") == 0;
}

static bool m_mapped (const struct view *v, size_t i, const struct plan_mount *m)
{
    (void)v;
    (void)i;
    return m->kind == MOUNT_BIND && !m->has_idmap;
}

#define MOUNT_CLAIM(name, condition, test)                                                         \
    static bool b_##name (const struct view *v)                                                    \
    {                                                                                              \
        return (condition) && any_mount (v, test);                                                 \
    }
MOUNT_CLAIM (host, v->doc->mounts->guard, m_host)
MOUNT_CLAIM (mount_devices, !v->doc->devices->any, m_device)
MOUNT_CLAIM (guard, v->doc->mounts->guard, m_guarded)
MOUNT_CLAIM (type, v->doc->mounts->guard, m_type)
MOUNT_CLAIM (shared, owns (v, OCI_NS_MOUNT), m_shared)
MOUNT_CLAIM (sysfs, v->doc->paths->n_readonly > 0, m_sysfs)
MOUNT_CLAIM (cgroup, v->doc->cgroup == OCI_CGROUP_READONLY, m_cgroup)
MOUNT_CLAIM (size, true, m_size)
MOUNT_CLAIM (inodes, true, m_inodes)
MOUNT_CLAIM (mapped, v->out->controls.idmap_root, m_mapped)

static bool b_remount (const struct view *v)
{
    return v->doc->mounts->guard && any_mount (v, m_remount);
}

static bool b_exec (const struct view *v)
{
    return v->doc->rootfs->tmp->private_ && v->doc->rootfs->shm->private_ && any_mount (v, m_exec);
}

static bool b_nosuid (const struct view *v)
{
    return v->doc->mounts->nosuid && (!v->out->controls.root_nosuid || any_mount (v, m_suid));
}

static bool b_nodev (const struct view *v)
{
    return v->doc->mounts->nodev && (!v->out->controls.root_nodev || any_mount (v, m_dev));
}

static bool b_tmp (const struct view *v)
{
    return v->doc->rootfs->tmp->private_ && !any_mount (v, m_is_tmp);
}

static bool b_shm (const struct view *v)
{
    return v->doc->rootfs->shm->private_ && !any_mount (v, m_is_shm);
}

/* ---- the process ---- */
static bool b_identity (const struct view *v)
{
    bool is_root = !v->p->user || v->p->user->uid == 0;

    return (v->doc->identity == OCI_IDENTITY_UNPRIVILEGED && is_root) ||
           (v->doc->identity == OCI_IDENTITY_USERNS && !v->in->process && !ns_of (v, OCI_NS_USER));
}

static bool b_groups (const struct view *v)
{
    for (size_t i = 0; v->doc->mounts->guard && i < v->c->n_annotations; i++)
        if (strcmp (v->c->annotations[i].key, "run.oci.keep_original_groups") == 0)
            return true;
    return false;
}

#define CAPS_CLAIM(set)                                                                            \
    static bool b_##set (const struct view *v)                                                     \
    {                                                                                              \
        const struct oci_capabilities *c = v->p->capabilities;                                     \
        bool all = has (v->doc->capabilities, v->doc->n_capabilities, "ALL");                      \
                                                                                                   \
        return c && !all &&                                                                        \
               !holds_all (v->doc->capabilities, v->doc->n_capabilities, c->set, c->n_##set);      \
    }
CAPS_CLAIM (bounding)
CAPS_CLAIM (effective)
CAPS_CLAIM (inheritable)
CAPS_CLAIM (permitted)
CAPS_CLAIM (ambient)

static bool b_nnp (const struct view *v)
{
    return v->doc->no_new_privileges && !v->p->no_new_privileges;
}

static bool b_nofile (const struct view *v)
{
    return is_above (v->p, "RLIMIT_NOFILE", v->doc->limits->nofile);
}

static bool b_core (const struct view *v)
{
    return is_above (v->p, "RLIMIT_CORE", v->doc->limits->core);
}

static bool b_scheduling (const struct view *v)
{
    const struct oci_scheduler *s = v->p->scheduler;
    bool raised = s && (s->policy == OCI_SCHED_FIFO || (s->has_nice && s->nice < 0));
    bool may_raise = limit_of (v->p, "RLIMIT_RTPRIO") && is_above (v->p, "RLIMIT_RTPRIO", 0);

    return v->doc->limits->milli_cpus >= 0 && (raised || may_raise);
}

static bool b_io (const struct view *v)
{
    return v->doc->limits->milli_cpus >= 0 && v->p->io_priority &&
           v->p->io_priority->class_ == OCI_IOPRIO_RT;
}

static bool b_oom (const struct view *v)
{
    return v->doc->limits->memory >= 0 && v->p->has_oom_score_adj &&
           v->p->oom_score_adj < v->in->facts.oom_score_adj;
}

/* ---- exec ---- */
static bool is_bound_exec (const struct view *v)
{
    return v->in->process && v->doc->exec == OCI_EXEC_CONTAINER;
}

static bool is_of_group_0 (const struct oci_user *u)
{
    for (size_t i = 0; i < u->n_additional_gids; i++)
        if (u->additional_gids[i] == 0)
            return true;
    return u->gid == 0;
}

static bool b_exec_user (const struct view *v)
{
    const struct oci_user *own = v->in->config->process->user;

    return is_bound_exec (v) && own && own->uid != 0 &&
           (!v->p->user || v->p->user->uid == 0 ||
            (is_of_group_0 (v->p->user) && !is_of_group_0 (own)));
}

static bool b_exec_caps (const struct view *v)
{
    static const struct oci_capabilities none = { 0 };
    const struct oci_capabilities *own = v->in->config->process->capabilities ?: &none;
    const struct oci_capabilities *c = v->p->capabilities;

    return is_bound_exec (v) && c &&
           !(holds_all (own->bounding, own->n_bounding, c->bounding, c->n_bounding) &&
             holds_all (own->effective, own->n_effective, c->effective, c->n_effective) &&
             holds_all (own->inheritable, own->n_inheritable, c->inheritable, c->n_inheritable) &&
             holds_all (own->permitted, own->n_permitted, c->permitted, c->n_permitted) &&
             holds_all (own->ambient, own->n_ambient, c->ambient, c->n_ambient));
}

static bool b_exec_nnp (const struct view *v)
{
    return is_bound_exec (v) && v->in->config->process->no_new_privileges &&
           !v->p->no_new_privileges;
}

static bool b_exec_rlimits (const struct view *v)
{
    const struct oci_rlimit *own = limit_of (v->in->config->process, "RLIMIT_NPROC");

    return is_bound_exec (v) && own && is_above (v->p, "RLIMIT_NPROC", (int64_t)own->hard);
}

static bool differs (const char *own, const char *asked)
{
    return own && (!asked || strcmp (own, asked) != 0);
}

static bool b_exec_labels (const struct view *v)
{
    const struct oci_process *own = v->in->config->process;

    return is_bound_exec (v) && (differs (own->apparmor_profile, v->p->apparmor_profile) ||
                                 differs (own->selinux_label, v->p->selinux_label));
}

/* ---- isolation ---- */
#define NS_CLAIM(name, kind)                                                                       \
    static bool b_ns_##name (const struct view *v)                                                 \
    {                                                                                              \
        return owns (v, kind) && !ns_of (v, kind);                                                 \
    }
NS_CLAIM (pid, OCI_NS_PID)
NS_CLAIM (mount, OCI_NS_MOUNT)
NS_CLAIM (ipc, OCI_NS_IPC)
NS_CLAIM (uts, OCI_NS_UTS)
NS_CLAIM (cgroup, OCI_NS_CGROUP)
NS_CLAIM (network, OCI_NS_NETWORK)

static bool b_join (const struct view *v)
{
    for (size_t i = 0; i < v->l->n_namespaces; i++)
        if (v->l->namespaces[i].path && v->l->namespaces[i].type != OCI_NS_NETWORK &&
            v->doc->namespaces->join != OCI_JOIN_ANY)
            return true;
    return false;
}

static bool b_network (const struct view *v)
{
    const struct oci_namespace *ns = ns_of (v, OCI_NS_NETWORK);

    return v->doc->network == OCI_NETWORK_NONE && ns && ns->path && !v->out->controls.own_network;
}

static bool b_net_devices (const struct view *v)
{
    return v->doc->network == OCI_NETWORK_NONE && v->l->n_net_devices > 0;
}

static bool b_sysctl (const struct view *v)
{
    for (size_t i = 0; v->doc->sysctl == OCI_SYSCTL_OWN && i < v->l->n_sysctl; i++) {
        int kind = sysctl_namespace (v->l->sysctl[i].key);

        if (kind < 0 || !ns_of (v, kind))
            return true;
    }
    return false;
}

static bool b_devices (const struct view *v)
{
    for (size_t i = 0; !v->doc->devices->any && i < v->l->n_devices; i++) {
        const struct oci_device *d = &v->l->devices[i];

        if (d->type == OCI_DEV_BLOCK || d->major != 1 ||
            (d->minor != 3) != (strcmp (d->path, "/dev/null") != 0) ||
            !has (v->doc->devices->allowed, v->doc->devices->n_allowed, d->path) || d->minor == 1)
            return true;
    }
    return false;
}

static bool b_device_rules (const struct view *v)
{
    const struct oci_device_cgroup *r = v->r->devices;

    if (v->doc->devices->any)
        return false;
    if (v->r->n_devices == 0 || r[0].allow || r[0].type)
        return true;
    for (size_t i = 1; i < v->r->n_devices; i++)
        if (r[i].allow && (!r[i].type || r[i].type[0] != 'c' || !r[i].has_minor))
            return true;
    return false;
}

static bool b_seccomp (const struct view *v)
{
    return v->doc->seccomp == OCI_SECCOMP_STRICT && !v->out->controls.seccomp_floor;
}

static bool b_seccomp_listener (const struct view *v)
{
    const struct oci_linux_seccomp *s = v->l->seccomp;

    for (size_t i = 0; v->doc->seccomp == OCI_SECCOMP_STRICT && s && i < s->n_syscalls; i++)
        if (s->syscalls[i].action == OCI_ACT_NOTIFY)
            return true;
    return false;
}

static bool b_seccomp_flags (const struct view *v)
{
    const struct oci_linux_seccomp *s = v->l->seccomp;

    for (size_t i = 0; v->doc->seccomp == OCI_SECCOMP_STRICT && s && i < s->n_flags; i++)
        if (s->flags[i] == OCI_SECCOMP_SPEC_ALLOW)
            return true;
    return false;
}

static bool b_masked (const struct view *v)
{
    return !holds_all (v->l->masked_paths, v->l->n_masked_paths, v->doc->paths->masked,
                       v->doc->paths->n_masked);
}

static bool b_readonly_paths (const struct view *v)
{
    return !holds_all (v->l->readonly_paths, v->l->n_readonly_paths, v->doc->paths->readonly,
                       v->doc->paths->n_readonly);
}

/* ---- limits ---- */
static bool b_memory (const struct view *v)
{
    const struct oci_memory *m = v->r->memory;
    int64_t ceiling = v->doc->limits->memory;

    return ceiling >= 0 && (!m || !m->has_limit || m->limit <= 0 || m->limit > ceiling);
}

static bool b_swap (const struct view *v)
{
    const struct oci_memory *m = v->r->memory;
    int64_t swap = v->doc->limits->swap;

    return swap >= 0 && m && m->has_limit && m->limit > 0 &&
           (!m->has_swap || m->swap < m->limit || m->swap - m->limit > swap);
}

static bool b_killer (const struct view *v)
{
    const struct oci_memory *m = v->r->memory;

    return v->doc->limits->memory >= 0 && m && m->has_disable_oom_killer && m->disable_oom_killer;
}

static bool b_cpus (const struct view *v)
{
    const struct oci_cpu *c = v->r->cpu;
    int64_t milli = v->doc->limits->milli_cpus;

    return milli >= 0 && (!c || !c->has_quota || c->quota <= 0 || !c->has_period ||
                          c->period == 0 || c->quota * 1000 > milli * (int64_t)c->period);
}

static bool b_realtime (const struct view *v)
{
    const struct oci_cpu *c = v->r->cpu;

    return v->doc->limits->milli_cpus >= 0 && c &&
           ((c->has_burst && c->burst > 0) || (c->has_realtime_runtime && c->realtime_runtime > 0));
}

static bool b_rdt (const struct view *v)
{
    return v->doc->limits->milli_cpus >= 0 && v->l->intel_rdt;
}

static bool b_pids (const struct view *v)
{
    const struct oci_pids *p = v->r->pids;
    int64_t ceiling = v->doc->limits->pids;

    return ceiling >= 0 && (!p || !p->has_limit || p->limit < 0 || p->limit > ceiling);
}

static bool b_unified (const struct view *v)
{
    for (size_t i = 0; v->doc->limits->memory >= 0 && i < v->r->n_unified; i++)
        if (strcmp (v->r->unified[i].key, "memory.max") == 0)
            return true;
    return false;
}

static bool b_cgroup_place (const struct view *v)
{
    return v->doc->cgroup != OCI_CGROUP_ENGINE && v->in->facts.outer_cgroup;
}

static bool b_properties (const struct view *v)
{
    static const char *const ends[] = { "KillSignal", "TimeoutStopUSec", "TimeoutStopSec" };
    static const char prefix[] = "org.systemd.property.";

    for (size_t i = 0; i < v->c->n_annotations; i++) {
        const char *key = v->c->annotations[i].key;

        if (str_has_prefix (key, prefix) && !has (ends, ARRAY_LEN (ends), key + strlen (prefix)))
            return v->doc->cgroup != OCI_CGROUP_ENGINE;
    }
    return false;
}

/* ---- the claims, one for each rule ---- */
const struct claim policy_claims[] = {
    { "rootfs.readonly", POLICY_CONFIG, b_readonly },
    { "rootfs.propagation", POLICY_CONFIG, b_propagation },
    { "mounts.host", POLICY_MOUNTS, b_host },
    { "mounts.devices", POLICY_MOUNTS, b_mount_devices },
    { "mounts.guard", POLICY_MOUNTS, b_guard },
    { "mounts.type", POLICY_MOUNTS, b_type },
    { "mounts.remount", POLICY_MOUNTS, b_remount },
    { "mounts.nosuid", POLICY_MOUNTS, b_nosuid },
    { "mounts.nodev", POLICY_MOUNTS, b_nodev },
    { "rootfs.tmp.exec", POLICY_MOUNTS, b_exec },
    { "mounts.propagation", POLICY_MOUNTS, b_shared },
    { "mounts.sysfs", POLICY_MOUNTS, b_sysfs },
    { "cgroup", POLICY_MOUNTS, b_cgroup },
    { "cgroup.properties", POLICY_CONFIG, b_properties },
    { "rootfs.tmp", POLICY_CONFIG, b_tmp },
    { "rootfs.shm", POLICY_CONFIG, b_shm },
    { "rootfs.tmp.size", POLICY_MOUNTS, b_size },
    { "rootfs.tmp.inodes", POLICY_MOUNTS, b_inodes },
    { "identity", POLICY_PROCESS, b_identity },
    { "identity.mounts", POLICY_CONFIG, b_mapped },
    { "identity.groups", POLICY_CONFIG, b_groups },
    { "capabilities.bounding", POLICY_PROCESS, b_bounding },
    { "capabilities.effective", POLICY_PROCESS, b_effective },
    { "capabilities.inheritable", POLICY_PROCESS, b_inheritable },
    { "capabilities.permitted", POLICY_PROCESS, b_permitted },
    { "capabilities.ambient", POLICY_PROCESS, b_ambient },
    { "noNewPrivileges", POLICY_PROCESS, b_nnp },
    { "limits.nofile", POLICY_PROCESS, b_nofile },
    { "limits.core", POLICY_PROCESS, b_core },
    { "limits.milliCpus.scheduling", POLICY_PROCESS, b_scheduling },
    { "limits.milliCpus.io", POLICY_PROCESS, b_io },
    { "limits.memory.oom", POLICY_PROCESS, b_oom },
    { "exec.user", POLICY_EXEC, b_exec_user },
    { "exec.capabilities", POLICY_EXEC, b_exec_caps },
    { "exec.noNewPrivileges", POLICY_EXEC, b_exec_nnp },
    { "exec.rlimits", POLICY_EXEC, b_exec_rlimits },
    { "exec.labels", POLICY_EXEC, b_exec_labels },
    { "namespaces.pid", POLICY_CONFIG, b_ns_pid },
    { "namespaces.mount", POLICY_CONFIG, b_ns_mount },
    { "namespaces.ipc", POLICY_CONFIG, b_ns_ipc },
    { "namespaces.uts", POLICY_CONFIG, b_ns_uts },
    { "namespaces.cgroup", POLICY_CONFIG, b_ns_cgroup },
    { "namespaces.network", POLICY_CONFIG, b_ns_network },
    { "namespaces.join", POLICY_CONFIG, b_join },
    { "network", POLICY_CONFIG, b_network },
    { "network.devices", POLICY_CONFIG, b_net_devices },
    { "sysctl", POLICY_CONFIG, b_sysctl },
    { "devices", POLICY_CONFIG, b_devices },
    { "devices.rules", POLICY_CONFIG, b_device_rules },
    { "seccomp", POLICY_PROCESS, b_seccomp },
    { "seccomp.listener", POLICY_CONFIG, b_seccomp_listener },
    { "seccomp.flags", POLICY_CONFIG, b_seccomp_flags },
    { "paths.masked", POLICY_CONFIG, b_masked },
    { "paths.readonly", POLICY_CONFIG, b_readonly_paths },
    { "cgroup.place", POLICY_CONFIG, b_cgroup_place },
    { "limits.memory", POLICY_LIMITS, b_memory },
    { "limits.swap", POLICY_LIMITS, b_swap },
    { "limits.memory.killer", POLICY_LIMITS, b_killer },
    { "limits.milliCpus", POLICY_LIMITS, b_cpus },
    { "limits.milliCpus.realtime", POLICY_LIMITS, b_realtime },
    { "limits.milliCpus.cache", POLICY_CONFIG, b_rdt },
    { "limits.pids", POLICY_LIMITS, b_pids },
    { "limits.unified", POLICY_LIMITS, b_unified },
};

const size_t n_policy_claims = ARRAY_LEN (policy_claims);

const struct claim *policy_claim_of (const char *rule)
{
    for (size_t i = 0; i < n_policy_claims; i++)
        if (strcmp (policy_claims[i].rule, rule) == 0)
            return &policy_claims[i];
    return NULL;
}
