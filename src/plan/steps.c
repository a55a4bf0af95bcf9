#include "plan/steps.h"

#include <string.h>

#include "base/cleanup.h"
#include "spec/spec.h"

#define PARENT_STEP(name, wanted, after, check, undo, why)                                         \
    { #name, after, check, #undo, why, plan_wants_##wanted },
#define CHILD_STEP(name, wanted, after, check, undo, why)
const struct step_text parent_step_texts[] = {
#include "plan/steps.def"
};
#undef PARENT_STEP
#undef CHILD_STEP

#define PARENT_STEP(name, wanted, after, check, undo, why)
#define CHILD_STEP(name, wanted, after, check, undo, why)                                          \
    { #name, after, check, undo, why, plan_wants_##wanted },
const struct step_text child_step_texts[] = {
#include "plan/steps.def"
};
#undef PARENT_STEP
#undef CHILD_STEP

const size_t n_parent_steps = ARRAY_LEN (parent_step_texts);
const size_t n_child_steps = ARRAY_LEN (child_step_texts);

static bool stands_before (const struct step_text *steps, size_t i, const char *name)
{
    while (i-- > 0)
        if (strcmp (steps[i].name, name) == 0)
            return true;
    return false;
}

int steps_misplaced (const struct step_text *steps, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (steps[i].after[0] && !stands_before (steps, i, steps[i].after))
            return (int)i;
    return -1;
}

static bool makes (const struct plan *p, enum plan_ns_kind kind)
{
    return p->ns[kind].mode == NS_MAKE;
}

bool plan_wants_always (const struct plan *p)
{
    (void)p;
    return true;
}

/* A container root that is not the host's cannot write a file of the host's root. */
bool plan_wants_seal (const struct plan *p)
{
    return !p->host_root_is_outside;
}

bool plan_wants_create (const struct plan *p)
{
    return !p->is_exec;
}

bool plan_wants_exec (const struct plan *p)
{
    return p->is_exec;
}

bool plan_wants_cgroup (const struct plan *p)
{
    return !p->cgroup.disabled;
}

bool plan_wants_make_cgroup (const struct plan *p)
{
    return !p->cgroup.disabled && !p->is_exec && !p->cgroup.unit;
}

bool plan_wants_delegate_cgroup (const struct plan *p)
{
    return p->cgroup.delegated && !p->cgroup.unit;
}

bool plan_wants_unit (const struct plan *p)
{
    return p->cgroup.unit != NULL;
}

bool plan_wants_delegate_unit (const struct plan *p)
{
    return p->cgroup.delegated && p->cgroup.unit;
}

bool plan_wants_make_userns (const struct plan *p)
{
    return makes (p, NS_USER);
}

bool plan_wants_runtime_hooks (const struct plan *p)
{
    return p->hooks && !p->is_exec && p->hooks->n_prestart + p->hooks->n_create_runtime > 0;
}

bool plan_wants_container_hooks (const struct plan *p)
{
    return p->hooks && !p->is_exec && p->hooks->n_create_container > 0;
}

bool plan_wants_start_hooks (const struct plan *p)
{
    return p->hooks && !p->is_exec && p->hooks->n_start_container > 0;
}

bool plan_wants_exec_scheduler (const struct plan *p)
{
    return p->is_exec && p->process.scheduler;
}

bool plan_wants_raise_rlimits (const struct plan *p)
{
    return p->process.raises_rlimits;
}

bool plan_wants_pid_file (const struct plan *p)
{
    return p->pid_file != NULL;
}

bool plan_wants_pidfd_socket (const struct plan *p)
{
    return p->pidfd_socket != NULL;
}

bool plan_wants_oom_score (const struct plan *p)
{
    return p->process.has_oom_score_adj;
}

bool plan_wants_make_timens (const struct plan *p)
{
    return makes (p, NS_TIME);
}

bool plan_wants_join_late (const struct plan *p)
{
    for (int kind = 0; kind < NS_COUNT; kind++)
        if (p->ns[kind].mode == NS_JOIN)
            return true;
    return p->is_exec;
}

bool plan_wants_make_cgroupns (const struct plan *p)
{
    return makes (p, NS_CGROUP);
}

bool plan_wants_keyring (const struct plan *p)
{
    return p->new_keyring;
}

bool plan_wants_hostname (const struct plan *p)
{
    return p->hostname || p->domainname;
}

bool plan_wants_make_netns (const struct plan *p)
{
    return makes (p, NS_NET);
}

bool plan_wants_own_network (const struct plan *p)
{
    return p->own_network && !p->is_exec;
}

bool plan_wants_net_devices (const struct plan *p)
{
    return p->n_net_devices > 0;
}

bool plan_wants_sysctl (const struct plan *p)
{
    return p->n_sysctls > 0;
}

/* Made or joined: in both, what is mounted must not reach the host. */
bool plan_wants_own_mountns (const struct plan *p)
{
    return p->ns[NS_MOUNT].mode != NS_INHERIT;
}

bool plan_wants_rootfs (const struct plan *p)
{
    return !p->is_exec;
}

bool plan_wants_mounts (const struct plan *p)
{
    return !p->is_exec && p->n_mounts > 0;
}

bool plan_wants_terminal (const struct plan *p)
{
    return p->process.terminal;
}

bool plan_wants_root_propagation (const struct plan *p)
{
    return !p->is_exec && p->rootfs_propagation != 0;
}

bool plan_wants_readonly_paths (const struct plan *p)
{
    return !p->is_exec && p->n_readonly > 0;
}

bool plan_wants_masked_paths (const struct plan *p)
{
    return !p->is_exec && p->n_masked > 0;
}

bool plan_wants_root_readonly (const struct plan *p)
{
    return !p->is_exec && p->rootfs_readonly;
}

bool plan_wants_root_flags (const struct plan *p)
{
    return !p->is_exec && (p->rootfs_nosuid || p->rootfs_nodev);
}

bool plan_wants_scheduling (const struct plan *p)
{
    return p->process.scheduler || p->process.io_priority || p->process.cpu_affinity ||
           p->memory_policy || p->has_personality;
}

bool plan_wants_lsm (const struct plan *p)
{
    return p->process.apparmor || p->process.selinux;
}

bool plan_wants_stdio (const struct plan *p)
{
    return !p->process.terminal;
}

bool plan_wants_no_new_privs (const struct plan *p)
{
    return p->process.no_new_privs;
}

bool plan_wants_seccomp_floor_early (const struct plan *p)
{
    return p->seccomp_floor && !p->process.no_new_privs && !plan_wants_own_network (p);
}

bool plan_wants_seccomp_floor_swapped (const struct plan *p)
{
    return p->seccomp_floor && !p->process.no_new_privs && plan_wants_own_network (p);
}

bool plan_wants_seccomp_floor (const struct plan *p)
{
    return p->seccomp_floor && p->process.no_new_privs;
}

bool plan_wants_seccomp_early (const struct plan *p)
{
    return p->seccomp && !p->process.no_new_privs && !plan_wants_own_network (p);
}

bool plan_wants_seccomp_swapped (const struct plan *p)
{
    return p->seccomp && !p->process.no_new_privs && plan_wants_own_network (p);
}

bool plan_wants_seccomp (const struct plan *p)
{
    return p->seccomp && p->process.no_new_privs;
}

bool plan_wants_agent (const struct plan *p)
{
    return p->seccomp && spec_seccomp_notifies (p->seccomp);
}

bool plan_wants_early_listener (const struct plan *p)
{
    return plan_wants_seccomp_early (p) && plan_wants_agent (p);
}

bool plan_wants_rlimits (const struct plan *p)
{
    return p->process.n_rlimits > 0;
}
