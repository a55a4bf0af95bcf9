/*
 * clone3, directly or from inside joined namespaces.
 *
 * A pid namespace that is joined takes effect for children only, and a joined user namespace must
 * own the ones that are made. So in these cases a short-lived task, the trampoline, joins them and
 * clones from there. It shares memory and descriptors with the runtime, which is suspended
 * meanwhile (CLONE_VFORK), so nothing has to be sent: results are simply there. The child's parent
 * is the runtime itself (CLONE_PARENT).
 */
#include <errno.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "exec/run.h"
#include "exec/sync.h"

/* What the deepest step of the child needs, with room: reading NGROUPS_MAX groups back takes 256
 * KiB alone. Untouched pages cost nothing. */
#define TRAMPOLINE_STACK ((size_t)1024 * 1024)

struct clone_request {
    uint64_t flags, exit_signal;
    int cgroup; /* for CLONE_INTO_CGROUP, -1: none */
};

/* clone3; 0 in the child. */
static long clone_new (const struct clone_request *c, int *pidfd)
{
    struct clone_args args = { .flags = c->flags | CLONE_PIDFD,
                               .pidfd = (uint64_t)(uintptr_t)pidfd,
                               .exit_signal = c->exit_signal };

    if (c->cgroup >= 0) {
        args.flags |= CLONE_INTO_CGROUP;
        args.cgroup = (uint64_t)c->cgroup;
    }
    return syscall (SYS_clone3, &args, sizeof args);
}

/* clone, for where a seccomp filter around us answers clone3 with ENOSYS because it cannot look
 * into its arguments, as Docker's does. It knows all flags that are used here but
 * CLONE_INTO_CGROUP. */
static long clone_old (const struct clone_request *c, int *pidfd)
{
    return syscall (SYS_clone, c->flags | CLONE_PIDFD | c->exit_signal, NULL, pidfd, NULL, NULL);
}

/* Without clone3 the child enters its cgroup by itself. */
static int prepare_clone_old (struct run *r, struct err *e)
{
    r->cgroup.no_clone_into = true;
    return r->plan.cgroup.disabled ? 0 : cgroup_enter_prepare (&r->cgroup, e);
}

/* An ordinary user outside of the own manager's cgroups (a login session) may not clone into one of
 * these: that manager moves the child, which waits for it. */
static bool is_for_systemd (const struct run *r, const struct clone_request *c, int error)
{
    return error == EACCES && c->cgroup >= 0 && r->cgroup.unit.name;
}

static int attach (struct run *r, struct err *e)
{
    int result = cgroup_unit_attach (&r->cgroup, r->pid, e);

    return result < 0 ? result : sync_send (r->sync, SYNC_GO, e);
}

/* Runs the child where it succeeds as such; returns its pid to the caller. May stand on the
 * trampoline's stack, which AddressSanitizer does not know: it would say so in the container's
 * output before run_child, which does not return. */
__attribute__ ((no_sanitize_address)) int clone_child (struct run *r, uint64_t more_flags,
                                                       uint64_t exit_signal, struct err *e)
{
    struct clone_request c = { .flags = more_flags | ns_clone3_flags (&r->plan),
                               .exit_signal = exit_signal,
                               .cgroup =
                                   r->plan.cgroup.disabled ? -1 : cgroup_clone_fd (&r->cgroup) };
    int pidfd = -1;
    long pid = clone_new (&c, &pidfd);

    if (pid < 0 && errno == ENOSYS) {
        int result = prepare_clone_old (r, e);

        if (result < 0)
            return result;
        pid = clone_old (&c, &pidfd);
    }
    if (pid < 0 && errno == EBUSY)
        return err_sys (e, "error adding pid of the new process to cgroups");
    if (pid < 0 && is_for_systemd (r, &c, errno)) {
        c.cgroup = -1;
        r->cgroup.unit.is_awaited = true;
        pid = clone_new (&c, &pidfd);
    }
    if (pid < 0)
        return err_sys (e, "clone a process with the container's namespaces");
    if (pid == 0)
        run_child (r);
    r->pid = (pid_t)pid;
    r->pidfd = pidfd;
    return r->exec && r->cgroup.unit.is_awaited ? attach (r, e) : 0;
}

struct trampoline {
    struct run *run;
    struct err *err;
    int result;
};

static int trampoline_main (void *arg)
{
    struct trampoline *t = arg;
    struct run *r = t->run;

    t->result = ns_join_early (&r->plan, &r->ns, t->err);
    if (t->result == 0)
        t->result = clone_child (r, CLONE_PARENT, 0, t->err);
    return 0;
}

static int clone_from_trampoline (struct run *r, struct err *e)
{
    struct trampoline t = { .run = r, .err = e, .result = -ECHILD };
    void *stack = mmap (NULL, TRAMPOLINE_STACK, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK | MAP_NORESERVE, -1, 0);
    pid_t pid;

    if (stack == MAP_FAILED)
        return err_sys (e, "map a stack");
    pid = clone (trampoline_main, (char *)stack + TRAMPOLINE_STACK,
                 CLONE_VM | CLONE_VFORK | CLONE_FILES | SIGCHLD, &t);
    if (pid < 0)
        t.result = err_sys (e, "clone");
    else
        while (waitpid (pid, NULL, 0) < 0 && errno == EINTR)
            ;
    (void)munmap (stack, TRAMPOLINE_STACK);
    return t.result;
}

int run_clone (struct run *r, struct err *e)
{
    if (r->exec)
        return enter_clone (r, e);
    if (ns_needs_trampoline (&r->plan))
        return clone_from_trampoline (r, e);
    return clone_child (r, 0, SIGCHLD, e);
}
