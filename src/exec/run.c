#include "exec/run.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"

void run_init (struct run *r, const struct container_env *env, struct arena *a)
{
    *r = (struct run){ .env = env, .arena = a };
    r->root_dir = r->bundle_dir = r->procfs = r->console = r->tty_parent = r->init_pidfd = -1;
    r->sync = r->sync_child = r->pidfd = r->report = -1;
    r->state.dir = r->state.root = r->gate.listener = r->gate.lock = -1;
    r->sources.root = r->mnt.root = r->mnt.dev = -1;
    for (int kind = 0; kind < NS_COUNT; kind++)
        r->ns.fd[kind] = -1;
}

void run_close (struct run *r)
{
    const int fds[] = { r->root_dir, r->bundle_dir, r->procfs,       r->console,
                        r->sync,     r->sync_child, r->tty_parent,   r->init_pidfd,
                        r->pidfd,    r->gate.lock,  r->gate.listener };

    for (size_t i = 0; i < ARRAY_LEN (fds); i++)
        cleanup_fd (&fds[i]);
    ns_fds_close (&r->ns);
    mnt_sources_close (&r->sources);
    cgroup_close (&r->cgroup);
    state_close (&r->state);
}

/* One row: act, then ask the kernel. A check that fails is an error like any other. */
static int step_do (const struct step *s, struct run *r, struct err *e)
{
    int result = s->act (r, e);

    if (result < 0)
        return result;
    result = s->check (r, e);
    return result < 0 ? err_add (e, "check of step %s", s->name) : 0;
}

/* Walks the list; *RET_DONE counts the rows that were begun. */
static int steps_walk (const struct step *steps, size_t n, struct run *r, size_t *ret_done,
                       struct err *e)
{
    for (*ret_done = 0; *ret_done < n;) {
        const struct step *s = &steps[(*ret_done)++];
        int result = s->wanted (&r->plan) ? step_do (s, r, e) : 0;

        if (result < 0)
            return result;
    }
    return 0;
}

static void steps_undo (const struct step *steps, size_t done, struct run *r)
{
    while (done-- > 0)
        if (steps[done].wanted (&r->plan))
            steps[done].undo (r);
}

int run_parent (struct run *r, struct err *e)
{
    size_t done;
    int result = steps_walk (parent_steps, n_parent_step_functions, r, &done, e);

    if (result < 0)
        steps_undo (parent_steps, done, r);
    return result;
}

static void child_execute (struct run *r, struct err *e)
{
    const struct plan_process *p = &r->plan.process;

    (void)execve (r->executable, p->args, p->env);
    (void)err_sys (e, "exec %s", p->args[0]);
}

void run_child (struct run *r)
{
    struct err e = { 0 };
    size_t done;

    r->report = r->sync;
    if (steps_walk (child_steps, n_child_step_functions, r, &done, &e) == 0)
        child_execute (r, &e);
    sync_send_error (r->report, &e);
    _exit (1);
}
