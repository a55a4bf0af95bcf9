/*
 * exec: one more process in a running container, with what the container is confined by.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/num.h"
#include "exec/facts.h"
#include "exec/run.h"
#include "exec/sync.h"
#include "spec/spec.h"

/* ---- the process ---- */
static size_t count (const char *const *list)
{
    size_t n = 0;

    while (list && list[n])
        n++;
    return n;
}

/* OLD followed by MORE. */
static const char *const *joined (const char *const *old, size_t n_old, const char *const *more,
                                  struct arena *a)
{
    size_t n = count (more);
    const char **out = arena_calloc (a, n_old + n + 1, sizeof *out);

    for (size_t i = 0; out && i < n_old; i++)
        out[i] = old[i];
    for (size_t i = 0; out && i < n; i++)
        out[n_old + i] = more[i];
    return out;
}

static int set_user (const char *text, struct arena *a, struct oci_user *ret, struct err *e)
{
    char *copy = arena_strdup (a, text);
    char *colon = copy ? strchr (copy, ':') : NULL;
    uint64_t id;

    if (!copy)
        return err_oom (e);
    if (colon)
        *colon = '\0';
    if (num_u64 (copy, "--user", 0, UINT32_MAX - 1, &id, e) < 0)
        return -e->code;
    ret->uid = (uint32_t)id;
    if (colon && num_u64 (colon + 1, "--user", 0, UINT32_MAX - 1, &id, e) < 0)
        return -e->code;
    if (colon)
        ret->gid = (uint32_t)id;
    return 0;
}

/* --cap: into bounding, effective and permitted, as runc does; never inheritable
 * (CVE-2022-29162). Ambient needs inheritable: it is only asked for where the config has such a
 * set, and the plan leaves out what is not in that. */
static int add_caps (const char *const *caps, struct arena *a, struct oci_process *p)
{
    static const struct oci_capabilities none = { 0 };
    struct oci_capabilities *c = arena_alloc (a, sizeof *c);
    size_t n = count (caps);

    if (!c)
        return -1;
    *c = *(p->capabilities ?: &none);
    c->bounding = joined (c->bounding, c->n_bounding, caps, a);
    c->effective = joined (c->effective, c->n_effective, caps, a);
    c->permitted = joined (c->permitted, c->n_permitted, caps, a);
    if (c->n_inheritable > 0) {
        c->ambient = joined (c->ambient, c->n_ambient, caps, a);
        c->n_ambient += n;
    }
    c->n_bounding += n;
    c->n_effective += n;
    c->n_permitted += n;
    p->capabilities = c;
    return c->bounding && c->effective && c->permitted && (c->ambient || !c->n_ambient) ? 0 : -1;
}

static int set_identity (const struct container_exec_options *o, struct arena *a,
                         struct oci_process *p, struct err *e)
{
    static const struct oci_user root = { 0 };
    struct oci_user *u = arena_alloc (a, sizeof *u);

    if (!u)
        return err_oom (e);
    *u = *(p->user ?: &root);
    if (o->user) {
        *u = (struct oci_user){ .has_gid = true, .has_umask = u->has_umask, .umask = u->umask };
        if (set_user (o->user, a, u, e) < 0)
            return -e->code;
    }
    if (o->n_gids > 0) {
        u->additional_gids = o->gids;
        u->n_additional_gids = o->n_gids;
    }
    p->user = u;
    return o->caps && add_caps (o->caps, a, p) < 0 ? err_oom (e) : 0;
}

/* The container's own process with what the options say instead. */
static int process_from_options (const struct container_exec_options *o,
                                 const struct oci_process *base, struct arena *a,
                                 const struct oci_process **ret, struct err *e)
{
    struct oci_process *p = arena_alloc (a, sizeof *p);

    if (!p)
        return err_oom (e);
    *p = *base;
    p->args = (const char *const *)o->args;
    p->n_args = count (p->args);
    p->env = joined (base->env, base->n_env, o->env, a);
    p->n_env = base->n_env + count (o->env);
    p->cwd = o->cwd ?: base->cwd;
    p->has_terminal = true;
    p->terminal = o->tty;
    p->apparmor_profile = o->apparmor ?: base->apparmor_profile;
    p->selinux_label = o->process_label ?: base->selinux_label;
    if (o->no_new_privs)
        p->has_no_new_privileges = p->no_new_privileges = true;
    *ret = p;
    return p->env ? set_identity (o, a, p, e) : err_oom (e);
}

/* ---- the parent's rows, where exec differs from create ---- */

/* Before the start init is still in the network namespace that engines work on; whether it is
 * frozen there does not matter. */
static int require_own_network (const struct run *r, struct err *e)
{
    enum state_status status;
    int result = state_status (&r->state, &status, e);

    if (result < 0 || status != STATUS_CREATED || !r->saved.own_network)
        return result;
    return err_set (e, EBUSY,
                    "cannot exec in a container that has not been started: it gets its own network "
                    "namespace (policy: network none) when it is");
}

static int require_running (struct run *r, struct err *e)
{
    enum state_status status;
    int result = run_status (r, &status, e);

    if (result == 0)
        result = require_own_network (r, e);
    if (result < 0 || status == STATUS_RUNNING || status == STATUS_CREATED)
        return result;
    if (status != STATUS_PAUSED)
        return err_set (e, ESRCH, "cannot exec in a stopped container");
    if (r->exec->ignore_paused)
        return 0;
    return err_set (e, EBUSY,
                    "cannot exec in a paused container (use --ignore-paused to override)");
}

/* A pipe, as of a shell's <(...). */
static bool is_read_once (const char *path)
{
    struct stat st;

    return stat (path, &st) == 0 && !S_ISREG (st.st_mode);
}

int exec_load (struct run *r, struct err *e)
{
    int result = run_reopen (r, r->exec->id, 0, e);

    if (result == 0)
        result = require_running (r, e);
    if (result == 0)
        result = run_read_config (r, e);
    if (result == 0 && r->exec->process_file && is_read_once (r->exec->process_file))
        result = run_seal (r, e); /* or the copy would find nothing left to read */
    if (result == 0)
        result = r->exec->process_file
                     ? spec_load_process (r->exec->process_file, r->arena, &r->process, e)
                     : process_from_options (r->exec, r->config->process, r->arena, &r->process, e);
    if (result < 0)
        return result;
    r->init_pidfd = state_pidfd (&r->saved, e);
    return r->init_pidfd < 0 ? err_set (e, ESRCH, "cannot exec in a stopped container") : 0;
}

int exec_plan (struct run *r, struct err *e)
{
    struct plan_input in = { .id = r->saved.id,
                             .bundle = r->saved.bundle,
                             .config = r->config,
                             .process = r->policy.process,
                             .controls = r->policy.controls,
                             .pid_file = r->exec->pid_file,
                             .pidfd_socket = r->exec->pidfd_socket,
                             .is_exec = true,
                             .no_cgroup = !r->saved.cgroup,
                             .new_keyring = true };
    int result = facts_look (r->exec->preserve_fds, r->arena, &in.host, e);

    return result < 0 ? result : plan_build (&in, r->arena, &r->plan, e);
}

/* ---- the command ---- */
static int run_process (struct run *r, int *ret_status, struct err *e)
{
    int result = run_await_exec (r, e);

    if (result == 0)
        return r->exec->detach ? 0 : run_wait (r, ret_status, e);
    (void)syscall (SYS_pidfd_send_signal, r->pidfd, SIGKILL, NULL, 0); /* ended already is fine */
    run_reap (r->pidfd);
    if (r->exec->pid_file)
        (void)unlink (r->exec->pid_file); /* not there is fine */
    return result;
}

int container_exec (const struct container_env *env, const struct container_exec_options *o,
                    int *ret_status, struct err *e)
{
    AUTO_ARENA a = { 0 };
    struct run r;
    int result;

    run_init (&r, env, &a);
    r.exec = o;
    result = run_block_signals (&r, e);
    if (result == 0)
        result = run_parent (&r, e);
    if (result == 0)
        result = run_process (&r, ret_status, e);
    run_close (&r);
    return result;
}
