#include "exec/run.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "exec/sync.h"

/* From the end of a child's descriptors to its own. */
#define END_TIMEOUT_MS 10000

void run_init (struct run *r, const struct container_env *env, struct arena *a)
{
    *r = (struct run){ .env = env, .arena = a, .begun = clock_us () };
    r->root_dir = r->bundle_dir = r->procfs = r->console = r->tty_parent = r->init_pidfd = -1;
    r->sync = r->sync_child = r->pidfd = r->gate_conn = r->signals = -1;
    r->network.fd = r->state.dir = r->state.root = -1;
    r->gate.listener = r->gate.lock = r->gate.signals = -1;
    r->sources = MNT_SOURCES_NONE;
    r->mnt = (struct mnt){ .plan = &r->plan, .src = &r->sources, .root = -1, .dev = -1 };
    r->ids_lock = -1;
    netdev_none (&r->netdev);
    pod_init (&r->pod);
    for (int kind = 0; kind < NS_COUNT; kind++)
        r->ns.fd[kind] = -1;
}

void run_close (struct run *r)
{
    const int fds[] = { r->root_dir,   r->bundle_dir, r->procfs,     r->console, r->sync,
                        r->sync_child, r->tty_parent, r->init_pidfd, r->pidfd,   r->signals };

    for (size_t i = 0; i < ARRAY_LEN (fds); i++)
        cleanup_fd (&fds[i]);
    cleanup_fd (&r->ids_lock);
    netdev_end (&r->netdev);
    pod_close (&r->pod);
    ns_fds_close (&r->ns);
    mnt_sources_close (&r->sources);
    state_gate_close (&r->gate);
    cgroup_close (&r->cgroup);
    state_close (&r->state);
    if (r->born)
        (void)munmap (r->born, sizeof *r->born);
    r->born = NULL;
}

static int share_birth (struct run *r, struct err *e)
{
    void *p =
        mmap (NULL, sizeof *r->born, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    if (p == MAP_FAILED)
        return err_sys (e, "map a byte that two processes share");
    r->born = p;
    return 0;
}

/* ---- signals ---- */
/* What the caller ignores (nohup), this command does, too. */
static void add_unless_ignored (sigset_t *set, int sig)
{
    struct sigaction now;

    if (sigaction (sig, NULL, &now) == 0 && now.sa_handler != SIG_IGN)
        (void)sigaddset (set, sig);
}

/* Signals wait while there are two processes to look after: a Ctrl-C must not come between a step
 * and what undoes it. The child unblocks them before execve. */
int run_block_signals (struct run *r, struct err *e)
{
    static const int ending[] = { SIGTERM, SIGINT, SIGHUP, SIGQUIT };
    sigset_t set;

    (void)sigfillset (&set);
    if (sigprocmask (SIG_SETMASK, &set, NULL) < 0)
        return err_sys (e, "block signals");
    (void)sigemptyset (&set);
    for (size_t i = 0; i < ARRAY_LEN (ending); i++)
        add_unless_ignored (&set, ending[i]);
    r->signals = signalfd (-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    return r->signals < 0 ? err_sys (e, "make a signal descriptor") : 0;
}

/* What FD brings goes first: a signal that came after the program began is the program's. */
int run_await (const struct run *r, int fd, struct err *e)
{
    struct pollfd fds[] = { { .fd = fd, .events = POLLIN },
                            { .fd = r->signals, .events = POLLIN } };
    struct signalfd_siginfo info;

    while (fds[0].revents == 0) {
        if (poll (fds, ARRAY_LEN (fds), -1) < 0 && errno != EINTR)
            return err_sys (e, "wait for the container");
        if (fds[0].revents == 0 && fds[1].revents &&
            read (r->signals, &info, sizeof info) == (ssize_t)sizeof info)
            return err_set (e, EINTR, "interrupted by SIG%s",
                            sigabbrev_np ((int)info.ssi_signo) ?: "?");
    }
    return 0;
}

/* A filter of the child asks an agent: it waits until that one has FD, which is closed here. */
static int serve_listener (const struct run *r, int fd, struct err *e)
{
    AUTO_FD listener = fd;
    int result = agent_hand_over (r, listener, e);

    return result < 0 ? result : sync_send (r->sync, SYNC_GO, e);
}

int run_expect (const struct run *r, int want, struct err *e)
{
    int fd = -1;
    int result;

    do {
        result = run_await (r, r->sync, e);
        if (result == 0)
            result = sync_expect_or_fd (r->sync, (enum sync_type)want, &fd, e);
        if (result == 0 && fd >= 0)
            result = serve_listener (r, fd, e);
    } while (result == 0 && fd >= 0 && want != SYNC_LISTENER);
    return result;
}

static int expect_exec (const struct run *r, struct err *e)
{
    int fd = -1;
    int result;

    do {
        result = run_await (r, r->sync, e);
        if (result == 0)
            result = sync_exec_result (r->sync, &fd, e);
        if (result == 0 && fd >= 0)
            result = serve_listener (r, fd, e);
    } while (result == 0 && fd >= 0);
    return result;
}

/* The end of the message's descriptor is either execve's doing or the end of the process. A filter
 * that forbids execve, or to report that it failed, leaves only the latter. */
static int describe_no_exec (const struct run *r, struct err *e)
{
    struct pollfd ends = { .fd = r->pidfd, .events = POLLIN };
    siginfo_t info = { 0 };

    if (!state_has_not_executed (r->pid) || poll (&ends, 1, END_TIMEOUT_MS) <= 0 ||
        waitid (P_PIDFD, (id_t)r->pidfd, &info, WEXITED | WNOWAIT) < 0)
        return 0;
    return err_set (e, ECANCELED, "the process ended before its program ran: %s %d%s",
                    info.si_code == CLD_EXITED ? "exit status" : "signal", info.si_status,
                    r->plan.seccomp ? " (/linux/seccomp: the filter must allow execve)" : "");
}

int run_await_exec (const struct run *r, struct err *e)
{
    int result = run_expect (r, SYNC_EXECUTING, e);

    if (result == 0)
        result = expect_exec (r, e);
    return result < 0 ? result : describe_no_exec (r, e);
}

/* ---- the list ---- */

/* What runc --debug says at the same place: people and scripts look for it in a log. */
static const char *runc_words (const char *step, bool is_exec)
{
    static const struct {
        const char *step, *create, *exec;
    } words[] = {
        { "clone", "nsexec container setup", "nsexec container setup" },
        { "ready", "child process in init()", "child process in init()" },
        { "hand_over", "init: closing the pipe to signal completion", "setns_init: about to exec" },
    };

    for (size_t i = 0; i < ARRAY_LEN (words); i++)
        if (strcmp (words[i].step, step) == 0)
            return is_exec ? words[i].exec : words[i].create;
    return NULL;
}

/* The CPUs that the process of exec begins on, before it enters the cgroup. */
static void tell_affinity (const struct run *r)
{
    const struct oci_exec_cpu_affinity *cpus = r->plan.process.cpu_affinity;
    AUTO_STRBUF text = { 0 };

    if (!cpus || !cpus->initial)
        return;
    strbuf_adds (&text, "nsexec: affinity: ");
    sched_mask_text (cpus->initial, &text);
    if (!text.failed)
        r->env->note (LOG_DEBUG, text.s);
}

/* For --debug: each of the parent's rows, when it begins. The child says nothing: between clone and
 * execve nothing is written but its last word. */
static void tell_step (const struct run *r, const struct step *s)
{
    int64_t at = clock_us () - r->begun;
    char text[192];
    const char *known;

    if (!r->env->note || !s->undo)
        return;
    known = runc_words (s->name, r->exec != NULL);
    (void)snprintf (text, sizeof text, "+%lld.%03lld ms: step %s%s%s", (long long)(at / 1000),
                    (long long)(at % 1000), s->name, known ? ": " : "", known ?: "");
    r->env->note (LOG_DEBUG, text);
    if (r->exec && strcmp (s->name, "clone") == 0)
        tell_affinity (r);
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
        int result;

        if (!s->wanted (&r->plan))
            continue;
        tell_step (r, s);
        result = step_do (s, r, e);
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

/* How a child ended that said nothing: most often the memory limit was too small for it. One that
 * the kernel killed at its birth (see cgroup_clone_fd) is told apart by that it never ran: who runs
 * and is killed, by delete --force say, must not come again. */
void run_describe_end (struct run *r, int pidfd, struct err *e)
{
    struct pollfd ends = { .fd = pidfd, .events = POLLIN };
    siginfo_t info = { 0 };
    uint64_t kills = 0;
    struct err ignored = { 0 };
    bool cgroup = !r->plan.cgroup.disabled;

    if (poll (&ends, 1, END_TIMEOUT_MS) <= 0 ||
        waitid (P_PIDFD, (id_t)pidfd, &info, WEXITED | WNOWAIT) < 0)
        return;
    if (cgroup)
        (void)cgroup_oom_kills (&r->cgroup, &kills, &ignored);
    r->died_at_birth = cgroup && !*r->born && cgroup_clone_fd (&r->cgroup) >= 0 && kills == 0 &&
                       info.si_code == CLD_KILLED && info.si_status == SIGKILL;
    (void)err_set (e, EPIPE, "container init ended during its set-up: %s %d%s",
                   info.si_code == CLD_EXITED ? "exit status" : "signal", info.si_status,
                   kills ? " (out of memory: the memory limit is too low)" : "");
}

void run_reap (int pidfd)
{
    siginfo_t info;

    while (waitid (P_PIDFD, (id_t)pidfd, &info, WEXITED) < 0 && errno == EINTR)
        ;
}

/* What the child said before it ended is the better error. One that has not ended is waiting for
 * us. */
static void prefer_child_error (struct run *r, struct err *e)
{
    struct pollfd gone = { .fd = r->sync };

    if (r->pidfd < 0 || sync_pending_error (r->sync, e) || e->code != EPIPE)
        return;
    if (poll (&gone, 1, 0) > 0 && gone.revents & POLLHUP)
        run_describe_end (r, r->pidfd, e);
}

/* What was opened for the child is of no use now, and undoing needs descriptors, which may be what
 * ran out. */
static void release_prepared (struct run *r)
{
    cleanup_fd (&r->bundle_dir);
    cleanup_fd (&r->procfs);
    r->bundle_dir = r->procfs = -1;
    mnt_sources_close (&r->sources);
    ns_fds_close (&r->ns);
    state_gate_close (&r->gate);
}

void run_tell_left (const struct run *r, struct err *e)
{
    struct err first = *e;

    if (r->left.code)
        (void)err_set (e, first.code, "%.300s; not undone: %.120s (delete --force %.40s does it)",
                       first.msg, r->left.msg, r->create->id);
}

int run_steps (struct run *r, const struct step *steps, size_t n, struct err *e)
{
    size_t done = 0;

    if (steps_walk (steps, n, r, &done, e) == 0)
        return 0;
    prefer_child_error (r, e);
    release_prepared (r);
    steps_undo (steps, done, r);
    run_tell_left (r, e);
    return -e->code;
}

static int run_parent_once (struct run *r, struct err *e)
{
    int result = share_birth (r, e);

    return result < 0 ? result : run_steps (r, parent_steps, n_parent_step_functions, e);
}

int run_parent (struct run *r, struct err *e)
{
    const struct run unused = *r;
    int result = run_parent_once (r, e);

    if (result == 0 || !r->died_at_birth)
        return result;
    r->signals = -1; /* stays open: it is the next attempt's */
    run_close (r);
    *r = unused;
    r->no_clone_into = true;
    return run_parent_once (r, e);
}

static void child_execute (struct run *r, struct err *e)
{
    const struct plan_process *p = &r->plan.process;

    (void)execve (r->executable, p->args, p->env);
    if (errno == ENOENT) /* the file was there a moment ago */
        (void)err_set (e, ENOENT,
                       "exec %s: no such file or directory: its interpreter or loader is missing",
                       p->args[0]);
    else
        (void)program_error (p->args[0], errno, e);
}

/* Lets go of what is the parent's: its end of the socket (or its death would not be seen) and its
 * lock of the state. */
static void become_child (struct run *r)
{
    cleanup_fd (&r->sync);
    r->sync = r->sync_child;
    r->sync_child = -1;
    cleanup_fd (&r->signals);
    r->signals = -1;
    if (r->state.dir >= 0)
        state_disown (&r->state);
}

void run_child (struct run *r)
{
    struct err e = { 0 };
    size_t done;

    *r->born = true;
    become_child (r);
    if (steps_walk (child_steps, n_child_step_functions, r, &done, &e) == 0)
        child_execute (r, &e);
    if (r->gate_conn >= 0)
        (void)state_gate_fail (r->gate_conn, &e); /* nobody else to tell */
    else
        sync_send_error (r->sync, &e);
    _exit (1);
}
