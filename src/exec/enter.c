/*
 * exec's process: born inside, when nothing of the host is left in it.
 *
 * A process of the container that holds CAP_SYS_PTRACE can seize whatever appears in its pid
 * namespace at once, and no hiding helps where there is no user namespace. So the child that joins,
 * that holds the host's descriptors and its privileges, never enters the pid namespace: it stays
 * invisible. It takes all that the process is to have, closes what is the host's, and then clones
 * the process, which has only to begin. The runtime is the parent of both (CLONE_PARENT).
 */
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "exec/run.h"
#include "exec/sync.h"
#include "plan/steps.h"
#include "tty/tty.h"

/* ---- the child outside ---- */
/* What is left are descriptors 0-2, those that are handed on, and the socket to the runtime. */
static int leave_host (struct run *r, struct err *e)
{
    const unsigned int first = STDERR_FILENO + 1 + r->plan.preserve_fds;
    const int fds[] = { r->sync, r->procfs };
    const struct fds_kept kept = { fds, ARRAY_LEN (fds) };
    int result = fds_close_from (first, &kept, r->procfs, e);

    if (result == 0)
        result = fds_close_check (first, &kept, r->procfs, e);
    cleanup_fd (&r->procfs);
    r->procfs = r->init_pidfd = r->console = r->root_dir = -1;
    self_forget_environment ();
    return result;
}

/* The first of its rows count for the process, too. */
static int begin (struct run *r, struct err *e)
{
    int result = child_arm_again (r, e);

    if (result == 0)
        result = tty_session (e);
    if (result == 0 && r->plan.process.terminal)
        result = tty_control (e);
    if (result == 0 && r->look_again)
        result = program_locate (r, e);
    return result;
}

/* The kernel writes the pid for the runtime before the process runs, so neither can be killed
 * between the two. The process itself does not get that memory. */
int enter_container (struct run *r, struct err *e)
{
    int result = leave_host (r, e);
    long pid;

    if (result < 0)
        return result;
    if (madvise (r->entered, sizeof *r->entered, MADV_DONTFORK) < 0)
        return err_sys (e, "keep the pid's memory from the process");
    pid = syscall (SYS_clone, CLONE_PARENT | CLONE_PARENT_SETTID, NULL, r->entered, NULL, NULL);
    if (pid > 0)
        _exit (0);
    if (pid < 0)
        return err_sys (e, "clone the process into the container%s",
                        errno == EAGAIN ? " (limit of pids)" : "");
    r->entered = NULL;
    return begin (r, e);
}

int enter_container_check (struct run *r, struct err *e)
{
    int result = tty_session_check (e);

    if (result == 0 && r->plan.process.terminal)
        result = tty_control_check (e);
    if (result == 0 && r->look_again)
        result = program_cwd_check (r, e);
    return result;
}

/* ---- the runtime ---- */
/* PID is a child of ours: it cannot be anybody else's by the time that it is opened. */
static int adopt (struct run *r, pid_t pid, struct err *e)
{
    siginfo_t info;

    r->pidfd = (int)syscall (SYS_pidfd_open, pid, 0);
    if (r->pidfd < 0)
        return err_sys (e, "open the new process");
    r->pid = pid;
    if (waitid (P_PIDFD, (id_t)r->pidfd, &info, WEXITED | WNOHANG | WNOWAIT) < 0)
        return err_sys (e, "process %d is not the one that entered", pid);
    return 0;
}

/* Without no_new_privs a filter that asks an agent is loaded early. A child that ends without a
 * word is described by how it ended. */
static int await_end (const struct run *r, int child, struct err *e)
{
    int result = r->listener_page ? listener_fetch (r, child, e) : 0;

    return result < 0 && result != -EPIPE ? result : run_await (r, child, e);
}

/* R's pid and pidfd, which are the child's, become the process's. */
static int exchange (struct run *r, struct err *e)
{
    AUTO_FD child = TAKE_FD (r->pidfd);
    struct err other;
    int result = await_end (r, child, e);

    if (result < 0)
        (void)syscall (SYS_pidfd_send_signal, child, SIGKILL, NULL, 0); /* ended already is fine */
    if (result == 0 && *r->entered == 0 && !sync_pending_error (r->sync, e))
        run_describe_end (r, child, e);
    run_reap (child);
    if (*r->entered == 0)
        return -e->code;
    /* Whatever came in between, the process that entered is to be undone, too. */
    if (adopt (r, *r->entered, result < 0 ? &other : e) < 0 && result == 0)
        result = -e->code;
    return result;
}

int enter_clone (struct run *r, struct err *e)
{
    void *page =
        mmap (NULL, sizeof *r->entered, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int result;

    if (page == MAP_FAILED)
        return err_sys (e, "map memory for a pid");
    r->entered = page;
    result = plan_wants_early_listener (&r->plan) ? listener_page_make (r, e) : 0;
    if (result == 0)
        result = clone_child (r, 0, SIGCHLD, e);
    if (result == 0)
        result = exchange (r, e);
    listener_page_free (r);
    (void)munmap (page, sizeof *r->entered);
    r->entered = NULL;
    return result;
}
