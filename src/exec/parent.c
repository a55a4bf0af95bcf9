/*
 * The parent's rows of plan/steps.def: act, check and undo of each, in the list's order.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "base/log.h"
#include "exec/facts.h"
#include "exec/pidfile.h"
#include "exec/run.h"
#include "exec/sync.h"
#include "hook/hook.h"
#include "plan/build.h"
#include "plan/steps.h"
#include "spec/spec.h"

static void undo_nothing (struct run *r)
{
    (void)r; /* the row has no effect on the host */
}

/* ---- load ---- */
static int create_load (struct run *r, struct err *e)
{
    const char *bundle = r->create->bundle;
    const char *file = r->create->config;
    int result;

    r->bundle_dir = fd_open (AT_FDCWD, bundle, O_PATH | O_DIRECTORY, FD_HOST, e);
    if (r->bundle_dir < 0)
        return err_add (e, "bundle");
    result = spec_load (file ? AT_FDCWD : r->bundle_dir, file ?: "config.json", r->arena,
                        &r->config, NULL, e);
    if (result == -ENOENT && !file)
        return err_set (e, ENOENT, "there is no config.json in the bundle '%s' (see --bundle)",
                        bundle);
    return result;
}

static int create_check (struct run *r, struct err *e)
{
    int result = spec_check (r->config, e);

    if (result == 0 && !r->config->process)
        result = err_set (e, EINVAL, "/process: is required to run a container");
    return result < 0 ? err_add (e, "config.json") : 0;
}

static int parent_load (struct run *r, struct err *e)
{
    int result = r->exec ? exec_load (r, e) : create_load (r, e);

    if (result < 0)
        return result;
    return r->exec ? spec_check_process (r->process, "", e) : create_check (r, e);
}

static int parent_load_check (struct run *r, struct err *e)
{
    (void)r;
    (void)e;
    return 0; /* the act holds the document against every rule itself: a clearer message */
}

/* ---- policy ---- */
static int parent_policy (struct run *r, struct err *e)
{
    return run_decide (r, e);
}

static int parent_policy_check (struct run *r, struct err *e)
{
    return run_decide_check (r, e);
}

/* ---- plan ---- */
static int create_plan (struct run *r, struct err *e)
{
    struct plan_input in = { .id = r->create->id,
                             .config = r->policy.config,
                             .controls = r->policy.controls,
                             .guard = r->guard,
                             .pid_file = r->create->pid_file,
                             .pidfd_socket = r->create->pidfd_socket,
                             .no_pivot = r->create->no_pivot,
                             .no_cgroup = r->env->no_cgroup,
                             .systemd_cgroup = r->env->systemd_cgroup,
                             .new_keyring = !r->create->no_new_keyring };
    int result = facts_path (r->bundle_dir, r->arena, &in.bundle, e);

    if (result == 0)
        result = facts_look (r->create->preserve_fds, r->arena, &in.host, e);
    return result < 0 ? result : plan_build (&in, r->arena, &r->plan, e);
}

static int parent_plan (struct run *r, struct err *e)
{
    return r->exec ? exec_plan (r, e) : create_plan (r, e);
}

static int parent_plan_check (struct run *r, struct err *e)
{
    (void)r;
    if (steps_misplaced (parent_step_texts, n_parent_steps) >= 0 ||
        steps_misplaced (child_step_texts, n_child_steps) >= 0)
        return err_set (e, EINVAL, "a step stands before the one that it relies on");
    return 0;
}

/* ---- seal ---- */
int run_seal (struct run *r, struct err *e)
{
    int result = run_need_procfs (r, e);

    if (result < 0 || self_is_sealed (r->procfs))
        return result;
    return self_seal (r->procfs, r->env->argv, e);
}

#define parent_seal run_seal

static int parent_seal_check (struct run *r, struct err *e)
{
    if (self_is_sealed (r->procfs))
        return 0;
    return err_set (e, EPERM, "this program can be written by its container");
}

/* ---- hide ---- */
/* The child is born hidden: in exec, and in the pid namespace of a pod, hostile processes see it
 * from its first moment. Not where an ordinary user has to write the child's id maps, as its /proc
 * files would be root's: that one is alone in its new user namespace, and hides after the maps. */
static bool is_born_hidden (const struct plan *p)
{
    return !p->is_rootless || p->ns[NS_USER].mode != NS_MAKE;
}

/* An ordinary user cannot open that file of a hidden process: this one takes the value before it
 * hides, and hands it down. */
static int take_oom_score (struct run *r, struct err *e)
{
    return r->plan.is_rootless ? oom_set (&r->plan.process, r->procfs, 0, e) : 0;
}

static int parent_hide (struct run *r, struct err *e)
{
    if (take_oom_score (r, e) < 0)
        return -e->code;
    return is_born_hidden (&r->plan) ? self_hide (e) : 0;
}

static int parent_hide_check (struct run *r, struct err *e)
{
    return is_born_hidden (&r->plan) ? self_hide_check (e) : 0;
}

/* ---- claim ---- */
static int parent_claim (struct run *r, struct err *e)
{
    int result = state_open_root (r->env->root, true, &r->root_dir, e);

    if (result == 0)
        result = state_claim (r->root_dir, r->create->id, &r->state, e);
    cleanup_fd (&r->ids_lock); /* the state is there */
    r->ids_lock = -1;
    return result;
}

static int parent_claim_check (struct run *r, struct err *e)
{
    struct stat st;

    if (fstat (r->state.dir, &st) < 0)
        return err_sys (e, "look at the state directory");
    if (st.st_uid != geteuid () || (st.st_mode & 077))
        return err_set (e, EPERM, "the state directory is open to others");
    return 0;
}

static void undo_claim (struct run *r)
{
    struct err ignored = { 0 };

    if (r->state.dir < 0)
        return; /* another create holds the id: its directory is not ours to remove */
    if (r->poststop_due)
        (void)run_hooks (r, HOOK_POSTSTOP, STATUS_STOPPED, 0,
                         &ignored); /* the first error counts */
    if (r->left.code == 0)
        (void)state_remove (&r->state, &r->left); /* told by run_tell_left */
}

/* ---- prepare ---- */
static int parent_prepare (struct run *r, struct err *e)
{
    facts_note (r); /* after the seal, which does all rows before it twice */
    return r->exec ? prepare_exec (r, e) : prepare_create (r, e);
}

static int parent_prepare_check (struct run *r, struct err *e)
{
    bool rootfs = r->plan.is_exec || r->plan.is_rootless || r->sources.root >= 0;

    if (r->procfs < 0 || r->sync < 0 || r->sync_child < 0 || !rootfs)
        return err_set (e, EBADF, "a descriptor that the child needs is not open");
    return 0;
}

static void undo_prepare (struct run *r)
{
    mnt_sources_close (&r->sources);
    ns_fds_close (&r->ns);
}

/* ---- agent ---- */
static int parent_agent (struct run *r, struct err *e)
{
    return agent_look (r->plan.seccomp, e);
}

static int parent_agent_check (struct run *r, struct err *e)
{
    (void)r;
    (void)e;
    return 0; /* the act is a look, and the connection is made when there is something to send */
}

/* ---- intent ---- */
static int parent_intent (struct run *r, struct err *e)
{
    int result = 0;

    if (!r->plan.cgroup.disabled)
        result = cgroup_locate (&r->plan.cgroup, r->arena, &r->cgroup, e);
    r->cgroup.no_clone_into = r->no_clone_into;
    if (result == 0)
        result = facts_saved_state (r, &r->saved, e);
    if (result == 0)
        result = state_write (&r->state, &r->saved, e);
    if (result == 0)
        result = state_write_config (&r->state, r->policy.config, e);
    return result < 0 ? result : state_write_policy (&r->state, r->given_policy.doc, e);
}

static int parent_intent_check (struct run *r, struct err *e)
{
    return state_write_check (&r->state, &r->saved, r->arena, e);
}

/* ---- cgroup ---- */
/* As runc warns: `kill` then reaches the first process only. */
static void note_unbound (const struct run *r)
{
    if (r->cgroup.n == 0 && r->plan.ns[NS_PID].mode == NS_INHERIT && r->env->note)
        r->env->note (LOG_WARN, "the container has neither a cgroup nor a pid namespace: processes "
                                "that outlive its first one are not found");
}

static int parent_cgroup (struct run *r, struct err *e)
{
    const struct oci_linux_resources *res = r->plan.cgroup.resources;
    int result = cgroup_create (&r->cgroup, res, e);

    /* `intent` named every hierarchy: an ordinary user may have to do without some. */
    if (result == 0)
        result = facts_saved_cgroup (r, &r->saved, e);
    if (result == 0)
        result = cgroup_limit (&r->cgroup, res, e);
    if (result == 0)
        note_unbound (r);
    return decide_limit_error (r, result, e);
}

static int parent_cgroup_check (struct run *r, struct err *e)
{
    int result = cgroup_limit_check (&r->cgroup, r->plan.cgroup.resources, e);

    return decide_limit_error (r, result, e);
}

static int parent_cgroup_owner (struct run *r, struct err *e)
{
    return cgroup_delegate (&r->cgroup, &r->plan.cgroup, e);
}

static int parent_cgroup_owner_check (struct run *r, struct err *e)
{
    return cgroup_delegate_check (&r->cgroup, &r->plan.cgroup, e);
}

/* What cannot be removed is written down, as it was made. */
static void undo_cgroup (struct run *r)
{
    struct err ignored = { 0 };
    struct err e = { 0 }; /* of a first try, it may be, whose second succeeded */
    struct oci_saved_cgroup *made = arena_alloc (r->arena, sizeof *made);

    if (cgroup_remove (&r->cgroup, &e) == 0)
        return;
    r->left = e;
    if (made && cgroup_save (&r->cgroup, r->arena, made, &ignored) == 0) {
        r->saved.cgroup = made;
        (void)state_write (&r->state, &r->saved, &ignored); /* `intent` wrote nearly the same */
    }
}

/* ---- clone ---- */
static int record_init (struct run *r, struct err *e)
{
    int result = state_start_time (r->pid, &r->saved.pid_start_time, e);

    if (result < 0)
        return result;
    r->saved.pid = r->pid;
    return state_write (&r->state, &r->saved, e);
}

/* Only who has such hooks pays for the write: should this command be killed before `record`, delete
 * --force has to know that there was an init. */
static bool has_poststop (const struct run *r)
{
    size_t n;

    (void)hook_list (r->plan.hooks, HOOK_POSTSTOP, &n);
    return !r->exec && n > 0;
}

static int parent_clone (struct run *r, struct err *e)
{
    int result = run_clone (r, e);

    r->poststop_due = result == 0;
    if (result == 0 && has_poststop (r))
        result = record_init (r, e);
    cleanup_fd (&r->sync_child); /* or the end of the child would not be seen */
    r->sync_child = -1;
    return result;
}

static int parent_clone_check (struct run *r, struct err *e)
{
    /* A child that ended at once left its own, better error on the socket: `ready` reads it. */
    if (syscall (SYS_pidfd_send_signal, r->pidfd, 0, NULL, 0) < 0 && errno != ESRCH)
        return err_sys (e, "look at the new process");
    return 0;
}

static void undo_clone (struct run *r)
{
    if (r->pidfd < 0)
        return;
    (void)syscall (SYS_pidfd_send_signal, r->pidfd, SIGKILL, NULL, 0); /* gone already is fine */
    run_reap (r->pidfd);
}

/* ---- unit ---- */
static int parent_unit (struct run *r, struct err *e)
{
    return cgroup_unit_start (&r->cgroup, &r->plan.cgroup, r->pid, e);
}

static int parent_unit_check (struct run *r, struct err *e)
{
    return cgroup_unit_check (&r->cgroup, r->procfs, r->pid, e);
}

/* The child first: systemd would only ask it to end. */
static void undo_unit (struct run *r)
{
    if (r->pidfd >= 0)
        (void)syscall (SYS_pidfd_send_signal, r->pidfd, SIGKILL, NULL, 0); /* gone is fine */
    undo_cgroup (r);
}

static int parent_unit_cgroup (struct run *r, struct err *e)
{
    return parent_cgroup (r, e);
}

static int parent_unit_cgroup_check (struct run *r, struct err *e)
{
    return parent_cgroup_check (r, e);
}

static int parent_unit_owner (struct run *r, struct err *e)
{
    return parent_cgroup_owner (r, e);
}

static int parent_unit_owner_check (struct run *r, struct err *e)
{
    return parent_cgroup_owner_check (r, e);
}

static int parent_unit_enter (struct run *r, struct err *e)
{
    return sync_send (r->sync, SYNC_GO, e);
}

static int parent_unit_enter_check (struct run *r, struct err *e)
{
    (void)r;
    (void)e;
    return 0; /* the child's own row, and `ready` */
}

/* ---- idmaps ---- */
static int parent_idmaps (struct run *r, struct err *e)
{
    int result = ns_write_idmaps (&r->plan, r->procfs, r->pid, e);

    return result < 0 ? result : sync_send (r->sync, SYNC_GO, e);
}

static int parent_idmaps_check (struct run *r, struct err *e)
{
    (void)r;
    (void)e;
    return 0; /* the child reads them back from inside, as its own row */
}

/* ---- net_devices ---- */
/* Of the child, or the one that it joins. */
static int open_netns (struct run *r, struct err *e)
{
    char path[48];

    if (r->plan.ns[NS_NET].mode == NS_JOIN)
        return fcntl (r->ns.fd[NS_NET], F_DUPFD_CLOEXEC, 3);
    (void)snprintf (path, sizeof path, "%d/ns/net", r->pid);
    return fd_open (r->procfs, path, O_RDONLY, FD_HOST, e);
}

static int parent_net_devices (struct run *r, struct err *e)
{
    AUTO_FD netns = open_netns (r, e);
    int result = netns < 0 ? err_set (e, EBADF, "/linux/netDevices: open the network namespace")
                           : netdev_begin (netns, r->procfs, &r->netdev, e);

    if (result == 0)
        result = netdev_move (&r->plan, &r->netdev, e);
    return result < 0 ? result : sync_send (r->sync, SYNC_GO, e);
}

static int parent_net_devices_check (struct run *r, struct err *e)
{
    return netdev_check (&r->plan, &r->netdev, e);
}

static void undo_net_devices (struct run *r)
{
    netdev_undo (&r->plan, &r->netdev);
}

/* ---- hooks ---- */
static int parent_mounted (struct run *r, struct err *e)
{
    return run_expect (r, SYNC_MOUNTED, e);
}

static int parent_mounted_check (struct run *r, struct err *e)
{
    (void)r;
    (void)e;
    return 0; /* the message is the check */
}

static int parent_hooks_runtime (struct run *r, struct err *e)
{
    int result;

    result = run_hooks (r, HOOK_PRESTART, STATUS_CREATING, r->pid, e);
    if (result == 0)
        result = run_hooks (r, HOOK_CREATE_RUNTIME, STATUS_CREATING, r->pid, e);
    return result < 0 ? result : sync_send (r->sync, SYNC_GO, e);
}

static int parent_hooks_runtime_check (struct run *r, struct err *e)
{
    (void)r;
    (void)e;
    return 0; /* run_hooks looked at every exit status */
}

/* ---- ready ---- */
static int parent_ready (struct run *r, struct err *e)
{
    return run_expect (r, SYNC_READY, e);
}

static int parent_ready_check (struct run *r, struct err *e)
{
    if (r->plan.cgroup.disabled)
        return 0;
    return cgroup_enter_check (&r->cgroup, r->procfs, r->pid, e);
}

/* ---- rlimit_raise ---- */
static int parent_rlimit_raise (struct run *r, struct err *e)
{
    return rlimit_raise (&r->plan.process, r->pid, e);
}

static int parent_rlimit_raise_check (struct run *r, struct err *e)
{
    (void)r;
    (void)e;
    return 0; /* the child sets the exact values later and reads them back */
}

/* ---- scheduler ---- */
static int parent_scheduler (struct run *r, struct err *e)
{
    return sched_set (&r->plan.process, r->pid, e);
}

static int parent_scheduler_check (struct run *r, struct err *e)
{
    return sched_check (&r->plan.process, r->pid, e);
}

/* ---- oom_score ---- */
static int parent_oom_score (struct run *r, struct err *e)
{
    return r->plan.is_rootless ? 0 : oom_set (&r->plan.process, r->procfs, r->pid, e);
}

static int parent_oom_score_check (struct run *r, struct err *e)
{
    return oom_check (&r->plan.process, r->procfs, r->pid, e);
}

/* ---- record ---- */
static int parent_record (struct run *r, struct err *e)
{
    r->saved.creating = false;
    return record_init (r, e);
}

static int parent_record_check (struct run *r, struct err *e)
{
    return state_write_check (&r->state, &r->saved, r->arena, e);
}

/* ---- pid_file ---- */
static int parent_pid_file (struct run *r, struct err *e)
{
    return pidfile_write (r->plan.pid_file, r->pid, e);
}

static int parent_pid_file_check (struct run *r, struct err *e)
{
    return pidfile_check (r->plan.pid_file, r->pid, e);
}

static void undo_pid_file (struct run *r)
{
    (void)unlink (r->plan.pid_file); /* not there is fine */
}

/* ---- pidfd_socket ---- */
static int parent_pidfd_socket (struct run *r, struct err *e)
{
    const char *kind = r->exec ? "setns" : "standard"; /* the payloads that runc sends */
    AUTO_FD sock = fd_connect_unix (r->plan.pidfd_socket, e);
    int result = sock < 0 ? sock : fd_send (sock, kind, strlen (kind), r->pidfd);

    if (sock >= 0 && result < 0)
        (void)err_set (e, -result, "send the pidfd");
    return result < 0 ? err_add (e, "--pidfd-socket") : 0;
}

static int parent_pidfd_socket_check (struct run *r, struct err *e)
{
    (void)r;
    (void)e;
    return 0; /* the kernel took the message */
}

/* ---- hand_over ---- */
static int parent_hand_over (struct run *r, struct err *e)
{
    int result = sync_send (r->sync, SYNC_GO, e);

    return result < 0 ? result : run_expect (r, SYNC_HANDED, e);
}

static int parent_hand_over_check (struct run *r, struct err *e)
{
    (void)r;
    (void)e;
    return 0; /* the message is the check */
}

#define PARENT_STEP(name, want, after, checked, undone, why)                                       \
    { #name, plan_wants_##want, parent_##name, parent_##name##_check, undo_##undone },
#define CHILD_STEP(name, want, after, checked, undone, why)
const struct step parent_steps[] = {
#include "plan/steps.def"
};
#undef PARENT_STEP
#undef CHILD_STEP

const size_t n_parent_step_functions = ARRAY_LEN (parent_steps);
