/*
 * The child's rows of plan/steps.def, in the list's order. Nothing here parses, looks up names,
 * logs or allocates, but for the container's own passwd file (HOME) and the state for hooks that
 * run here.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/signals.h"
#include "exec/run.h"
#include "exec/sync.h"
#include "hook/hook.h"
#include "plan/steps.h"
#include "tty/tty.h"

#define CAP_FOR_SWAP (UINT64_C (1) << CAP_SYS_ADMIN)

static int check_nothing (struct run *r, struct err *e)
{
    (void)r;
    (void)e;
    return 0; /* the act itself ends only with an answer */
}

/* ---- die_with_parent ---- */
/* The parent may have ended before the call: its end of the socket is closed then. (getppid says
 * nothing in a new pid namespace.) */
static int arm_death_signal (struct run *r, struct err *e)
{
    struct pollfd pfd = { .fd = r->sync, .events = 0 };

    if (prctl (PR_SET_PDEATHSIG, SIGKILL) < 0)
        return err_sys (e, "PR_SET_PDEATHSIG");
    if (poll (&pfd, 1, 0) > 0 && (pfd.revents & POLLHUP))
        return err_set (e, EPIPE, "the runtime ended");
    return 0;
}

/* A change of ids or capabilities takes the death signal back, and makes the process visible again
 * where fs.suid_dumpable is 1. */
int child_arm_again (struct run *r, struct err *e)
{
    int result = arm_death_signal (r, e);

    return result < 0 ? result : self_hide (e);
}

static int child_die_with_parent (struct run *r, struct err *e)
{
    return arm_death_signal (r, e);
}

static int child_die_with_parent_check (struct run *r, struct err *e)
{
    int sig = 0;

    (void)r;
    if (prctl (PR_GET_PDEATHSIG, &sig) < 0 || sig != SIGKILL)
        return err_set (e, EINVAL, "the death signal is %d", sig);
    return 0;
}

/* ---- session ---- */
static int child_session (struct run *r, struct err *e)
{
    (void)r;
    return tty_session (e);
}

static int child_session_check (struct run *r, struct err *e)
{
    (void)r;
    return tty_session_check (e);
}

/* ---- cgroup_enter ---- */
static int child_cgroup_enter (struct run *r, struct err *e)
{
    const struct oci_exec_cpu_affinity *cpus = r->plan.process.cpu_affinity;
    int result = cpus && cpus->initial ? sched_set_affinity (0, cpus->initial, e) : 0;

    if (result == 0 && r->cgroup.unit.is_awaited) /* the parent has it put in */
        result = sync_expect (r->sync, SYNC_GO, e);
    if (result == 0)
        result = cgroup_enter (&r->cgroup, e);
    /* The runtime's own CPU mask is not handed on (runc#4041); the cpuset is what counts. */
    return result < 0 ? result : sched_reset_affinity (0, e);
}

static int child_cgroup_enter_check (struct run *r, struct err *e)
{
    return cgroup_enter_check (&r->cgroup, r->procfs, 0, e);
}

/* ---- idmaps ---- */
static int child_idmaps (struct run *r, struct err *e)
{
    int result = sync_expect (r->sync, SYNC_GO, e);

    return result < 0 ? result : ns_become_root (&r->plan, e);
}

static int child_idmaps_check (struct run *r, struct err *e)
{
    int result = ns_idmaps_check (&r->plan, r->procfs, 0, e);

    return result < 0 ? result : child_arm_again (r, e); /* becoming root changed the credentials */
}

/* ---- time ---- */
static int child_time (struct run *r, struct err *e)
{
    return ns_time (&r->plan, r->procfs, e);
}

static int child_time_check (struct run *r, struct err *e)
{
    return ns_time_check (&r->plan, r->procfs, e);
}

/* ---- hide ---- */
static int child_hide (struct run *r, struct err *e)
{
    (void)r;
    return self_hide (e);
}

static int child_hide_check (struct run *r, struct err *e)
{
    (void)r;
    return self_hide_check (e);
}

/* ---- join ---- */
static int join_container (struct run *r, struct err *e)
{
    int result = ns_join_process (r->init_pidfd, r->join_flags, e);

    if (result == 0 && (r->join_flags & CLONE_NEWUSER))
        result = ns_become_root (&r->plan, e);
    return result < 0 ? result : child_arm_again (r, e);
}

/* create: in a joined user namespace the host's root may have no id, so it cannot even make a
 * file. */
static int join_namespaces (struct run *r, struct err *e)
{
    int result = 0;

    if (r->plan.ns[NS_USER].mode == NS_JOIN)
        result = ns_become_root (&r->plan, e);
    if (result == 0)
        result = ns_join (&r->plan, &r->ns, e);
    return result < 0 ? result : child_arm_again (r, e);
}

static int child_join (struct run *r, struct err *e)
{
    return r->exec ? join_container (r, e) : join_namespaces (r, e);
}

static int child_join_check (struct run *r, struct err *e)
{
    if (r->exec)
        return ns_join_process_check (r->init_pidfd, r->saved.pid, r->procfs, e);
    return ns_join_check (&r->plan, &r->ns, r->procfs, e);
}

/* ---- cgroup_ns ---- */
static int child_cgroup_ns (struct run *r, struct err *e)
{
    return ns_cgroup (&r->plan, e);
}

static int child_cgroup_ns_check (struct run *r, struct err *e)
{
    return ns_cgroup_check (&r->plan, r->procfs, e);
}

/* ---- keyring ---- */
static int child_keyring (struct run *r, struct err *e)
{
    return keyring_join (&r->plan, r->procfs, &r->no_keyrings, e);
}

static int child_keyring_check (struct run *r, struct err *e)
{
    return r->no_keyrings ? 0 : keyring_check (&r->plan, e);
}

/* ---- hostname, loopback, network_own, sysctl ---- */
static int child_hostname (struct run *r, struct err *e)
{
    return ns_hostname (&r->plan, e);
}

static int child_hostname_check (struct run *r, struct err *e)
{
    return ns_hostname_check (&r->plan, e);
}

static int child_loopback (struct run *r, struct err *e)
{
    return ns_loopback (&r->plan, e);
}

static int child_loopback_check (struct run *r, struct err *e)
{
    return ns_loopback_check (&r->plan, e);
}

static int child_net_devices (struct run *r, struct err *e)
{
    return sync_expect (r->sync, SYNC_GO, e);
}
#define child_net_devices_check check_nothing

static int child_network_own (struct run *r, struct err *e)
{
    r->mnt.network = &r->network;
    return ns_network_make (&r->plan, r->procfs, &r->network, e);
}

static int child_network_own_check (struct run *r, struct err *e)
{
    return ns_network_make_check (&r->network, r->procfs, e);
}

static int child_sysctl (struct run *r, struct err *e)
{
    return ns_sysctls (&r->plan, r->procfs, e);
}

static int child_sysctl_check (struct run *r, struct err *e)
{
    return ns_sysctls_check (&r->plan, r->procfs, e);
}

/* ---- the mounts: one row, one function of mnt/ ---- */
#define MOUNT_ROW(row, act_fn, check_fn)                                                           \
    static int child_##row (struct run *r, struct err *e)                                          \
    {                                                                                              \
        return act_fn (&r->mnt, e);                                                                \
    }                                                                                              \
    static int child_##row##_check (struct run *r, struct err *e)                                  \
    {                                                                                              \
        return check_fn (&r->mnt, e);                                                              \
    }
MOUNT_ROW (root_attach, mnt_root_attach, mnt_root_attach_check)
MOUNT_ROW (root_flags, mnt_root_flags, mnt_root_flags_check)
MOUNT_ROW (mounts, mnt_mounts, mnt_mounts_check)
MOUNT_ROW (devices, mnt_devices, mnt_devices_check)
MOUNT_ROW (cwd_make, mnt_cwd_make, mnt_cwd_make_check)
MOUNT_ROW (pivot, mnt_pivot, mnt_pivot_check)
MOUNT_ROW (root_propagation, mnt_root_propagation, mnt_root_propagation_check)
MOUNT_ROW (readonly_paths, mnt_readonly_paths, mnt_readonly_paths_check)
MOUNT_ROW (masked_paths, mnt_masked, mnt_masked_check)
MOUNT_ROW (late_readonly, mnt_late_readonly, mnt_late_readonly_check)
MOUNT_ROW (root_readonly, mnt_root_readonly, mnt_root_readonly_check)

static int child_mount_private (struct run *r, struct err *e)
{
    return mnt_private (&r->mnt, e);
}

static int child_mount_private_check (struct run *r, struct err *e)
{
    return mnt_private_check (&r->mnt, e);
}

/* ---- mounted ---- */
static int child_mounted (struct run *r, struct err *e)
{
    int result = sync_send (r->sync, SYNC_MOUNTED, e);

    return result < 0 ? result : sync_expect (r->sync, SYNC_GO, e);
}

#define child_mounted_check check_nothing

/* ---- hooks_container ---- */
/* The pid as the container sees it: 1 in a pid namespace of its own. They start in the container's
 * root, as under runc: it is where they have something to do. */
static int child_hooks_container (struct run *r, struct err *e)
{
    if (r->mnt.root >= 0 && fchdir (r->mnt.root) < 0)
        return err_sys (e, "enter the container's root for its hooks");
    return run_hooks (r, HOOK_CREATE_CONTAINER, STATUS_CREATING, getpid (), e);
}
#define child_hooks_container_check check_nothing

/* ---- terminal ---- */
static int child_terminal (struct run *r, struct err *e)
{
    const struct plan_process *p = &r->plan.process;
    AUTO_FD ptmx = -1;
    AUTO_FD master = -1;
    int peer = -1;
    int result;

    ptmx = mnt_open_ptmx (&r->mnt, e);
    if (ptmx < 0)
        return ptmx;
    result = tty_open (ptmx, p->rows, p->cols, &master, &peer, e);
    if (result == 0 && r->tty_parent >= 0)
        result = tty_keep_newlines (master, e);
    if (result == 0 && !r->plan.is_exec)
        result = mnt_console (&r->mnt, peer, e);
    if (result == 0)
        result = tty_send (r->console, master, e);
    if (result == 0)
        result = tty_wear (peer, p->uid, e);
    if (result == 0 && !r->plan.is_exec) /* whose session begins later: see enter.c */
        result = tty_control (e);
    if (peer > STDERR_FILENO)
        (void)close (peer);
    return result;
}

static int child_terminal_check (struct run *r, struct err *e)
{
    return r->plan.is_exec ? tty_stdio_check (e) : tty_control_check (e);
}

/* ---- scheduling ---- */
/* exec: the scheduler is a row of the parent's list. */
static int child_scheduling (struct run *r, struct err *e)
{
    const struct plan *p = &r->plan;
    const struct oci_exec_cpu_affinity *cpus = p->process.cpu_affinity;
    int result = p->is_exec ? 0 : sched_set (&p->process, 0, e);

    if (result == 0)
        result = sched_set_io (&p->process, e);
    if (result == 0 && cpus && cpus->final)
        result = sched_set_affinity (0, cpus->final, e); /* reads back what it set */
    if (result == 0 && p->memory_policy)
        result = mempolicy_set (&r->mempolicy, e);
    if (result == 0 && p->has_personality)
        result = personality_set (p->personality, e);
    return result;
}

static int child_scheduling_check (struct run *r, struct err *e)
{
    const struct plan *p = &r->plan;
    int result = p->is_exec ? 0 : sched_check (&p->process, 0, e);

    if (result == 0)
        result = sched_check_io (&p->process, e);
    if (result == 0 && p->memory_policy)
        result = mempolicy_check (&r->mempolicy, e);
    if (result == 0 && p->has_personality)
        result = personality_check (p->personality, e);
    return result;
}

/* ---- lsm ---- */
static int child_lsm (struct run *r, struct err *e)
{
    return lsm_set_exec (&r->plan.process, r->procfs, e);
}

static int child_lsm_check (struct run *r, struct err *e)
{
    return lsm_check (&r->plan.process, r->procfs, e);
}

/* ---- stdio ---- */
static int child_stdio (struct run *r, struct err *e)
{
    return tty_chown_stdio (r->plan.process.uid, e);
}

static int child_stdio_check (struct run *r, struct err *e)
{
    (void)r;
    return tty_stdio_check (e);
}

/* ---- chdir ---- */
static int child_chdir (struct run *r, struct err *e)
{
    int result = program_chdir (r, e);

    return result < 0 ? result : program_set_home (r, e);
}

static int child_chdir_check (struct run *r, struct err *e)
{
    return r->chdir_error ? 0
                          : program_cwd_check (r, e); /* tried again after ids, and checked then */
}

/* ---- seccomp_floor and seccomp, early and last ---- */
static int child_seccomp_floor (struct run *r, struct err *e)
{
    (void)r;
    return strict_install (e);
}

static int child_seccomp_floor_check (struct run *r, struct err *e)
{
    return strict_check (r->procfs, e);
}
#define child_seccomp_floor_early         child_seccomp_floor
#define child_seccomp_floor_early_check   child_seccomp_floor_check
#define child_seccomp_floor_swapped       child_seccomp_floor
#define child_seccomp_floor_swapped_check child_seccomp_floor_check

static int child_seccomp_early (struct run *r, struct err *e)
{
    return listener_install_filter (r, e);
}

static int child_seccomp_early_check (struct run *r, struct err *e)
{
    return seccomp_check (r->procfs, 0, r->plan.seccomp_floor ? 2 : 1, e);
}

static int child_seccomp (struct run *r, struct err *e)
{
    return listener_install_filter (r, e);
}
#define child_seccomp_check check_nothing

/* ---- identity and capabilities ---- */
static int child_bounding (struct run *r, struct err *e)
{
    int result = caps_drop_bounding (&r->plan.process, e);

    return result < 0 ? result : caps_keep (e);
}

static int child_bounding_check (struct run *r, struct err *e)
{
    return caps_drop_bounding_check (&r->plan.process, r->procfs, e);
}

static int child_ids (struct run *r, struct err *e)
{
    bool userns = r->plan.is_rootless || r->plan.ns[NS_USER].mode != NS_INHERIT ||
                  (r->join_flags & CLONE_NEWUSER);
    int result = userns ? ns_setgroups_denied (r->procfs, 0, &r->plan.setgroups_denied, e) : 0;

    return result < 0 ? result : ids_set (&r->plan.process, r->plan.setgroups_denied, e);
}

static int child_ids_check (struct run *r, struct err *e)
{
    int result = ids_check (&r->plan.process, r->plan.setgroups_denied, e);

    return result < 0 ? result : child_arm_again (r, e);
}

/* What the capabilities are until capabilities_last: network_swap needs one. */
static struct plan_process caps_until_swap (const struct plan *p)
{
    struct plan_process until = p->process;

    if (p->own_network)
        until.caps[CAPS_PERMITTED] |= CAP_FOR_SWAP;
    return until;
}

static int child_capabilities (struct run *r, struct err *e)
{
    const struct plan_process until = caps_until_swap (&r->plan);

    return caps_set (&until, e);
}

static int child_capabilities_check (struct run *r, struct err *e)
{
    const struct plan_process until = caps_until_swap (&r->plan);
    int result = caps_check (&until, r->procfs, e);

    return result < 0 ? result : child_arm_again (r, e);
}

static int child_no_new_privs (struct run *r, struct err *e)
{
    (void)r;
    return nnp_set (e);
}

static int child_no_new_privs_check (struct run *r, struct err *e)
{
    (void)r;
    return nnp_check (e);
}

/* ---- executable ---- */
static int child_executable (struct run *r, struct err *e)
{
    int result = program_locate (r, e);

    r->look_again = r->plan.is_exec && result == -ENOENT;
    return r->look_again ? 0 : result;
}

static int child_executable_check (struct run *r, struct err *e)
{
    return r->look_again ? 0 : program_cwd_check (r, e);
}

/* ---- fds, enter ---- */
/* Init waits at the gate in the container's namespaces: what it does not need for the rest of its
 * way is closed, not only close-on-exec. exec's child still needs the host, until `enter`. */
static int child_fds (struct run *r, struct err *e)
{
    const unsigned int first = STDERR_FILENO + 1 + r->plan.preserve_fds;
    const int fds[] = { r->sync,      r->procfs,       r->gate.listener,
                        r->gate.lock, r->gate.signals, r->network.fd };
    const struct fds_kept kept = { fds, ARRAY_LEN (fds) };

    if (r->exec)
        return fds_cloexec_from (first, r->procfs, e);
    if (fds_close_from (first, &kept, r->procfs, e) < 0 ||
        fds_close_check (first, &kept, r->procfs, e) < 0)
        return -e->code;
    r->root_dir = r->bundle_dir = r->console = r->tty_parent = -1;
    return 0;
}

static int child_fds_check (struct run *r, struct err *e)
{
    return fds_check (STDERR_FILENO + 1 + r->plan.preserve_fds, r->procfs, e);
}

static int child_enter (struct run *r, struct err *e)
{
    return enter_container (r, e);
}

static int child_enter_check (struct run *r, struct err *e)
{
    return enter_container_check (r, e);
}

/* ---- ready, gate ---- */
static int child_ready (struct run *r, struct err *e)
{
    int result = r->gate.lock >= 0 ? state_gate_lock (&r->gate, e) : 0;

    if (result == 0)
        result = sync_send (r->sync, SYNC_READY, e);
    if (result == 0)
        result = sync_expect (r->sync, SYNC_GO, e);
    if (result == 0 && prctl (PR_SET_PDEATHSIG, 0) < 0)
        result = err_sys (e, "PR_SET_PDEATHSIG");
    return result < 0 ? result : sync_send (r->sync, SYNC_HANDED, e);
}
#define child_ready_check check_nothing

static int child_gate (struct run *r, struct err *e)
{
    int conn;

    if (r->starts_at_once)
        return sync_expect (r->sync, SYNC_GO, e);
    conn = state_gate_wait (&r->gate, e);
    if (conn < 0)
        return conn;
    r->gate_conn = conn;
    return 0;
}
#define child_gate_check check_nothing

/* ---- network_swap, seccomp_swapped, capabilities_last ---- */
static int child_network_swap (struct run *r, struct err *e)
{
    struct plan_process now = caps_until_swap (&r->plan);
    int result;

    now.caps[CAPS_EFFECTIVE] |= CAP_FOR_SWAP;
    result = caps_set (&now, e);
    return result < 0 ? result : ns_network_enter (&r->network, e);
}

static int child_network_swap_check (struct run *r, struct err *e)
{
    return ns_network_check (&r->network, r->procfs, e);
}

#define child_seccomp_swapped       child_seccomp_early
#define child_seccomp_swapped_check child_seccomp_early_check

static int child_capabilities_last (struct run *r, struct err *e)
{
    return caps_set (&r->plan.process, e);
}

static int child_capabilities_last_check (struct run *r, struct err *e)
{
    return caps_check (&r->plan.process, r->procfs, e);
}

/* ---- hooks_start ---- */
static int child_hooks_start (struct run *r, struct err *e)
{
    return run_hooks (r, HOOK_START_CONTAINER, STATUS_CREATED, getpid (), e);
}
#define child_hooks_start_check check_nothing

/* ---- signals, rlimits, announce ---- */
static int child_signals (struct run *r, struct err *e)
{
    (void)r;
    (void)e;
    signals_reset ();
    return 0;
}

static int child_signals_check (struct run *r, struct err *e)
{
    sigset_t now;

    (void)r;
    if (sigprocmask (SIG_SETMASK, NULL, &now) < 0 || !sigisemptyset (&now))
        return err_set (e, EINVAL, "signals are still blocked");
    return 0;
}

static int child_rlimits (struct run *r, struct err *e)
{
    return rlimit_set (&r->plan.process, 0, e);
}

static int child_rlimits_check (struct run *r, struct err *e)
{
    return rlimit_check (&r->plan.process, 0, e);
}

static int child_announce (struct run *r, struct err *e)
{
    if (r->gate_conn >= 0)
        return state_gate_passed (r->gate_conn, e);
    return sync_send (r->sync, SYNC_EXECUTING, e);
}
#define child_announce_check check_nothing

#define PARENT_STEP(name, want, after, checked, undone, why)
#define CHILD_STEP(name, want, after, checked, undone, why)                                        \
    { #name, plan_wants_##want, child_##name, child_##name##_check, NULL },
const struct step child_steps[] = {
#include "plan/steps.def"
};
#undef PARENT_STEP
#undef CHILD_STEP

const size_t n_child_step_functions = ARRAY_LEN (child_steps);
