#include "hook/hook.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/signals.h"
#include "hook/tree.h"

#define OUTPUT_MAX 4096

/* After the hook's end its output is already in the pipe; only a process that it left behind can
 * keep the pipe open, and nobody waits for that one. */
#define DRAIN_MS 100

const char *const hook_names[HOOK_COUNT] = {
    [HOOK_PRESTART] = "prestart",
    [HOOK_CREATE_RUNTIME] = "createRuntime",
    [HOOK_CREATE_CONTAINER] = "createContainer",
    [HOOK_START_CONTAINER] = "startContainer",
    [HOOK_POSTSTART] = "poststart",
    [HOOK_POSTSTOP] = "poststop",
};

const struct oci_hook *hook_list (const struct oci_hooks *hooks, enum hook_kind kind, size_t *ret_n)
{
    static const struct oci_hooks none;
    const struct oci_hooks *h = hooks ? hooks : &none;
    const struct {
        const struct oci_hook *list;
        size_t n;
    } lists[HOOK_COUNT] = {
        [HOOK_PRESTART] = { h->prestart, h->n_prestart },
        [HOOK_CREATE_RUNTIME] = { h->create_runtime, h->n_create_runtime },
        [HOOK_CREATE_CONTAINER] = { h->create_container, h->n_create_container },
        [HOOK_START_CONTAINER] = { h->start_container, h->n_start_container },
        [HOOK_POSTSTART] = { h->poststart, h->n_poststart },
        [HOOK_POSTSTOP] = { h->poststop, h->n_poststop },
    };

    *ret_n = lists[kind].n;
    return lists[kind].list;
}

/* ---- the hook's process ---- */

/* The child's ends of the three pipes. */
struct child_fds {
    int in, out, status;
};

/* Returns only when something failed, with errno. */
static void become_hook (const struct oci_hook *hook, const struct hook_call *call,
                         const struct child_fds *fds, pid_t parent)
{
    static char *const no_env[] = { NULL };
    char *const argv0[] = { (char *)(uintptr_t)hook->path, NULL };
    char *const *args = hook->n_args > 0 ? (char *const *)(uintptr_t)hook->args : argv0;
    char *const *env = call->default_env ? call->default_env : no_env;
    struct err e = { 0 };

    if (hook->env)
        env = (char *const *)(uintptr_t)hook->env;
    if (prctl (PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid () != parent)
        return;
    (void)setsid (); /* cannot fail: a new process leads no group */
    signals_reset ();
    (void)umask (022); /* the runtime builds with 0 */
    if (dup2 (fds->in, STDIN_FILENO) < 0 || dup2 (fds->out, STDOUT_FILENO) < 0 ||
        dup2 (fds->out, STDERR_FILENO) < 0 ||
        close_range (STDERR_FILENO + 1, ~0U, CLOSE_RANGE_CLOEXEC) < 0)
        return;
    if (call->cwd && chdir (call->cwd) < 0)
        return;
    if (call->confine && call->confine (call->data, &e) < 0) {
        errno = e.code;
        return;
    }
    (void)execve (hook->path, args, env);
}

/* What the parent holds of a running hook. */
struct hook_process {
    pid_t pid; /* not reaped before we are done, so it and its group stay its own */
    int pidfd;
    int in, out;
    int status;         /* carries errno if execve failed, else only the end of file */
    const char *state;  /* what stdin has not got yet */
    struct timespec by; /* deadline; tv_sec 0: none */
    int signals;        /* ends the hook when it is readable, -1: nothing does */
    int exec_error;
    size_t output_len;
    char output[OUTPUT_MAX + 1];
};

static int spawn (struct hook_process *p, const struct oci_hook *hook, const struct hook_call *call,
                  const struct child_fds *fds, struct err *e)
{
    pid_t parent = getpid ();

    p->pid = fork ();
    if (p->pid < 0)
        return err_sys (e, "fork");
    if (p->pid == 0) {
        become_hook (hook, call, fds, parent);
        (void)!write (fds->status, &errno, sizeof errno); /* then the exit status alone must do */
        _exit (127);
    }
    p->pidfd = pidfd_open (p->pid, 0);
    if (p->pidfd >= 0)
        return 0;
    (void)err_sys (e, "pidfd_open");
    (void)kill (p->pid, SIGKILL); /* ours until we reap it */
    (void)waitpid (p->pid, NULL, 0);
    return -e->code;
}

/* Pipes of PARENT's and CHILD's ends; the parent's do not block. */
static int make_pipe (int *parent, int *child, bool child_reads)
{
    int ends[2];

    if (pipe2 (ends, O_CLOEXEC) < 0)
        return -1;
    *child = ends[child_reads ? 0 : 1];
    *parent = ends[child_reads ? 1 : 0];
    return fcntl (*parent, F_SETFL, O_NONBLOCK);
}

static void close_one (int *fd)
{
    cleanup_fd (fd);
    *fd = -1;
}

static int start_hook (struct hook_process *p, const struct oci_hook *hook,
                       const struct hook_call *call, struct err *e)
{
    struct child_fds child = { -1, -1, -1 };
    int r;

    if (make_pipe (&p->in, &child.in, true) < 0 || make_pipe (&p->out, &child.out, false) < 0 ||
        make_pipe (&p->status, &child.status, false) < 0)
        r = err_sys (e, "pipe");
    else
        r = spawn (p, hook, call, &child, e);
    close_one (&child.in);
    close_one (&child.out);
    close_one (&child.status);
    return r;
}

/* ---- feeding, listening, waiting ---- */

/* A hook that does not read its state is no failure (crun#1551). */
static void feed_state (struct hook_process *p)
{
    ssize_t n = write (p->in, p->state, strlen (p->state));

    if (n >= 0)
        p->state += n;
    if (*p->state == '\0' || (n < 0 && errno != EAGAIN && errno != EINTR))
        close_one (&p->in);
}

/* Keeps the head of the output and throws the rest away. */
static void take_output (struct hook_process *p)
{
    char spill[OUTPUT_MAX];
    bool full = p->output_len == OUTPUT_MAX;
    ssize_t n = full ? read (p->out, spill, sizeof spill)
                     : read (p->out, p->output + p->output_len, OUTPUT_MAX - p->output_len);

    if (n > 0 && !full)
        p->output_len += (size_t)n;
    if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
        close_one (&p->out);
}

static void take_status (struct hook_process *p)
{
    if (read (p->status, &p->exec_error, sizeof p->exec_error) < 0 &&
        (errno == EAGAIN || errno == EINTR))
        return;
    close_one (&p->status);
}

static struct timespec time_in (long sec, long ms)
{
    struct timespec ts = { 0 };

    (void)clock_gettime (CLOCK_MONOTONIC, &ts);
    ts.tv_sec += sec;
    ts.tv_nsec += ms * 1000000L;
    if (ts.tv_nsec >= 1000000000L) {
        ts.tv_sec++;
        ts.tv_nsec -= 1000000000L;
    }
    return ts;
}

/* -1: no deadline; 0: it has passed. */
static int ms_left (const struct timespec *by)
{
    struct timespec now = time_in (0, 0);
    int64_t ms;

    if (by->tv_sec == 0)
        return -1;
    ms = (by->tv_sec - now.tv_sec) * 1000 + (by->tv_nsec - now.tv_nsec + 999999) / 1000000;
    if (ms <= 0)
        return 0;
    return ms > INT32_MAX ? INT32_MAX : (int)ms;
}

/* -EINTR; 0 when the signal was another reader's. */
static int take_signal (const struct hook_process *p, struct err *e)
{
    struct signalfd_siginfo info;

    if (read (p->signals, &info, sizeof info) != (ssize_t)sizeof info)
        return 0;
    return err_set (e, EINTR, "interrupted by SIG%s", sigabbrev_np ((int)info.ssi_signo) ?: "?");
}

/* One round of poll. *RET_EXITED once the process has ended. */
static int serve (struct hook_process *p, bool *ret_exited, struct err *e)
{
    struct pollfd fds[] = { { .fd = p->pidfd, .events = POLLIN },
                            { .fd = p->in, .events = POLLOUT },
                            { .fd = p->out, .events = POLLIN },
                            { .fd = p->status, .events = POLLIN },
                            { .fd = p->signals, .events = POLLIN } };
    int left = ms_left (&p->by);
    int n = left == 0 ? 0 : poll (fds, ARRAY_LEN (fds), left);

    if (n == 0)
        return -ETIMEDOUT;
    if (n < 0)
        return errno == EINTR ? 0 : err_sys (e, "poll");
    if (fds[4].revents)
        return take_signal (p, e);
    if (fds[1].revents)
        feed_state (p);
    if (fds[2].revents)
        take_output (p);
    if (fds[3].revents)
        take_status (p);
    *ret_exited = fds[0].revents != 0;
    return 0;
}

static void drain (struct hook_process *p)
{
    struct timespec until = time_in (0, DRAIN_MS);

    while (p->out >= 0) {
        struct pollfd fd = { .fd = p->out, .events = POLLIN };
        int left = ms_left (&until);

        if (left == 0 || poll (&fd, 1, left) <= 0)
            return;
        take_output (p);
    }
}

/* ---- the outcome ---- */

/* And its group at once; what left that is found by tree_kill. */
static void kill_group (const struct hook_process *p)
{
    (void)kill (-p->pid, SIGKILL); /* ESRCH: it has not come to its setsid yet */
    (void)pidfd_send_signal (p->pidfd, SIGKILL, NULL, 0);
}

/* ", output: TEXT" without the newlines at its end; empty if there was none. */
static int add_output (struct hook_process *p, struct err *e)
{
    char what[64];

    while (p->output_len > 0 && p->output[p->output_len - 1] == '\n')
        p->output_len--;
    p->output[p->output_len] = '\0';
    if (p->output_len == 0)
        return -e->code;
    (void)snprintf (what, sizeof what, "%.63s", e->msg);
    return err_set (e, e->code, "%s, output: %s", what, p->output);
}

static int judge (struct hook_process *p, const siginfo_t *info, const struct oci_hook *hook,
                  struct err *e)
{
    char name[32];

    if (p->exec_error)
        return err_set (e, p->exec_error, "'%s' cannot be executed (%s)", hook->path,
                        strerrorname_np (p->exec_error) ?: "unknown error");
    if (info->si_code == CLD_EXITED && info->si_status == 0)
        return 0;
    if (info->si_code == CLD_EXITED) {
        (void)err_set (e, EIO, "exit status %d", info->si_status);
    } else {
        (void)snprintf (name, sizeof name, "%s", sigdescr_np (info->si_status) ?: "unknown");
        name[0] = (char)(name[0] | 0x20); /* "Killed" */
        (void)err_set (e, EIO, "signal: %s", name);
    }
    return add_output (p, e);
}

static int wait_hook (struct hook_process *p, const struct oci_hook *hook,
                      const struct hook_call *call, struct err *e)
{
    siginfo_t info = { 0 };
    bool exited = false;
    int r = 0;

    while (r == 0 && !exited)
        r = serve (p, &exited, e);
    if (r == -ETIMEDOUT)
        (void)err_set (e, ETIMEDOUT, "timed out after %lld s", (long long)hook->timeout);
    if (r < 0)
        kill_group (p);
    while (waitid (P_PIDFD, (id_t)p->pidfd, &info, WEXITED) < 0)
        if (errno != EINTR)
            return r < 0 ? r : err_sys (e, "waitid");
    if (r == 0)
        take_status (p);
    else if (tree_kill (call->others) < 0)
        (void)err_add (e, "something that it started does not end");
    drain (p);
    return r < 0 ? add_output (p, e) : judge (p, &info, hook, e);
}

static int run_one (const struct oci_hook *hook, const struct hook_call *call, struct err *e)
{
    struct hook_process p = {
        .pidfd = -1, .in = -1, .out = -1, .status = -1, .signals = -1, .state = call->state_json
    };
    int r;

    if (call->signals > STDERR_FILENO) /* 0: the caller said nothing */
        p.signals = call->signals;
    if (hook->has_timeout)
        p.by = time_in (hook->timeout, 0);
    r = start_hook (&p, hook, call, e);
    if (r == 0)
        r = wait_hook (&p, hook, call, e);
    close_one (&p.in);
    close_one (&p.out);
    close_one (&p.status);
    close_one (&p.pidfd);
    return r;
}

/* What is to be torn down is torn down: all of them run, whichever fails (runtime-spec,
 * lifecycle). */
static bool goes_on_after_failure (enum hook_kind kind)
{
    return kind == HOOK_POSTSTOP;
}

static int run_list (const struct oci_hook *list, size_t n, const struct hook_call *call,
                     struct err *e)
{
    struct err ignored;
    int first = 0;

    for (size_t i = 0; i < n; i++) {
        struct err *where = first < 0 ? &ignored : e;

        if (run_one (&list[i], call, where) == 0)
            continue;
        (void)err_add (where, "error running %s hook #%zu", hook_names[call->kind], i);
        if (first == 0)
            first = -e->code;
        if (!goes_on_after_failure (call->kind))
            break;
    }
    return first;
}

int hook_run (const struct oci_hooks *hooks, const struct hook_call *call, struct err *e)
{
    const struct sigaction ignore = { .sa_handler = SIG_IGN };
    struct sigaction before;
    size_t n = 0;
    const struct oci_hook *list = hook_list (hooks, call->kind, &n);
    int adopts = 0;
    int r;

    if (n == 0)
        return 0;
    (void)prctl (PR_GET_CHILD_SUBREAPER, &adopts);
    (void)prctl (PR_SET_CHILD_SUBREAPER, 1);     /* see tree.h */
    (void)sigaction (SIGPIPE, &ignore, &before); /* a hook may end without reading its stdin */
    r = run_list (list, n, call, e);
    (void)sigaction (SIGPIPE, &before, NULL);
    (void)prctl (PR_SET_CHILD_SUBREAPER, adopts);
    return r;
}
