/*
 * mounts add, mounts remove: a running container's mounts.
 *
 * What is bound is opened by the runtime on the host, as create does. A child then joins the
 * container's namespaces, all but the pid namespace, in which it would be seen, and mounts.
 */
#include <errno.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/userns.h"
#include "exec/run.h"
#include "exec/sync.h"
#include "plan/build.h"
#include "spec/spec.h"

/* ---- the child ---- */
static int join (struct run *r, struct err *e)
{
    int result = child_arm_again (r, e);

    if (result == 0)
        result = ns_join_process (r->init_pidfd, r->join_flags & ~(uint64_t)CLONE_NEWPID, e);
    if (result == 0 && (r->join_flags & CLONE_NEWUSER))
        result = ns_become_root (&r->plan, e);
    return result < 0 ? result : child_arm_again (r, e);
}

static void live_child (struct run *r, bool add)
{
    struct err e = { 0 };
    int result;

    cleanup_fd (&r->sync);
    r->sync = r->sync_child;
    state_disown (&r->state);
    result = join (r, &e);
    if (result == 0)
        result = add ? mnt_live_add (&r->mnt, r->procfs, &e)
                     : mnt_live_remove (&r->mnt, r->procfs, r->config, &e);
    if (result == 0)
        result = sync_send (r->sync, SYNC_MOUNTED, &e);
    if (result < 0)
        sync_send_error (r->sync, &e);
    _exit (result < 0);
}

static int run_live_child (struct run *r, bool add, struct err *e)
{
    pid_t pid = fork ();
    int result;

    if (pid == 0)
        live_child (r, add);
    cleanup_fd (&r->sync_child);
    r->sync_child = -1;
    if (pid < 0)
        return err_sys (e, "start a process");
    result = sync_expect (r->sync, SYNC_MOUNTED, e);
    while (waitpid (pid, NULL, 0) < 0 && errno == EINTR)
        ;
    return result;
}

/* ---- the runtime ---- */
static int require_running (struct run *r, struct err *e)
{
    enum state_status status;
    int result = run_status (r, &status, e);

    if (result < 0 || status == STATUS_RUNNING || status == STATUS_PAUSED)
        return result;
    return err_set (e, ESRCH, "container not running: mounts belong to one that has been started");
}

/* Nobody of a container that shares the host's pid namespace writes this program. */
static int protect (struct run *r, struct err *e)
{
    int result = run_seal (r, e);

    return result < 0 ? result : self_hide (e);
}

static int reopen (struct run *r, const char *id, struct err *e)
{
    int result = run_reopen (r, id, STATE_LOCK, e);

    if (result == 0)
        result = require_running (r, e);
    if (result == 0)
        result = run_read_config (r, e);
    if (result < 0)
        return result;
    r->init_pidfd = state_pidfd (&r->saved, e);
    if (r->init_pidfd < 0)
        return err_set (e, ESRCH, "container not running");
    return ns_prepare_process (r->init_pidfd, r->saved.pid, r->procfs, &r->join_flags, e);
}

/* The plan that a start with these mounts would have. */
static int plan (struct run *r, const struct oci_config *c, struct err *e)
{
    const struct plan_input in = { .id = r->saved.id,
                                   .bundle = r->saved.bundle,
                                   .config = c,
                                   .guard = r->guard,
                                   .no_cgroup = true,
                                   .host.permitted = UINT64_MAX };

    return plan_build (&in, r->arena, &r->plan, e);
}

static int prepare_add (struct run *r, const struct oci_mount *mounts, size_t n, struct err *e)
{
    int result = run_decide_mounts (r, mounts, n, e);

    if (result == 0)
        result = plan (r, r->policy.config, e);
    return result < 0 ? result : mnt_live_prepare (&r->plan, r->arena, &r->sources, e);
}

/* Only the destinations count. */
static int prepare_remove (struct run *r, const struct oci_mount *mounts, size_t n, struct err *e)
{
    struct oci_config *c = arena_alloc (r->arena, sizeof *c);
    struct oci_mount *places = arena_calloc (r->arena, n, sizeof *places);

    if (!c || !places)
        return err_oom (e);
    for (size_t i = 0; i < n; i++)
        places[i] = (struct oci_mount){ .destination = mounts[i].destination, .type = "tmpfs" };
    *c = *r->config;
    c->mounts = places;
    c->n_mounts = n;
    return plan (r, c, e);
}

static int change (struct run *r, const struct container_mounts_options *o, struct err *e)
{
    const struct oci_mount *mounts;
    size_t n;
    int result = protect (r, e);

    if (result == 0)
        result = spec_load_mounts (o->file, r->arena, &mounts, &n, e);
    if (result == 0)
        result = reopen (r, o->id, e);
    if (result == 0)
        result = o->remove ? prepare_remove (r, mounts, n, e) : prepare_add (r, mounts, n, e);
    if (result == 0)
        result = sync_pair (&r->sync, &r->sync_child, e);
    return result < 0 ? result : run_live_child (r, !o->remove, e);
}

int container_mounts (const struct container_env *env, const struct container_mounts_options *o,
                      struct err *e)
{
    AUTO_ARENA a = { 0 };
    struct run r;
    int result;

    run_init (&r, env, &a);
    if (geteuid () != 0 || !userns_is_initial ())
        result = err_set (e, EPERM, "mounts: only the host's root can mount in a container");
    else
        result = run_block_signals (&r, e);
    if (result == 0)
        result = change (&r, o, e);
    if (result == 0 && !o->remove)
        decide_note (&r);
    run_close (&r);
    return result;
}
