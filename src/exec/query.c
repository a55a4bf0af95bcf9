/*
 * kill, state, ps: looking at a container and signalling it.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "exec/run.h"

/* Whether init has a pid namespace of its own: then its death takes all others along. */
static bool has_own_pidns (pid_t pid)
{
    char path[sizeof "/proc/2147483647/ns/pid"];
    struct stat theirs;
    struct stat ours;

    (void)snprintf (path, sizeof path, "/proc/%d/ns/pid", pid);
    return stat (path, &theirs) == 0 && stat ("/proc/self/ns/pid", &ours) == 0 &&
           theirs.st_ino != ours.st_ino;
}

/* A frozen v1 cgroup keeps even SIGKILL waiting. */
static int thaw_for_kill (struct run *r, struct err *e)
{
    bool frozen = false;
    int result = cgroup_is_frozen (&r->cgroup, &frozen, e);

    return result < 0 || !frozen ? result : cgroup_freeze (&r->cgroup, false, e);
}

/* Init is gone. Without a pid namespace others can be there still: SIGKILL means the container, so
 * they go (runc#4047). Killing init would have ended those in a namespace of its own. */
static int signal_left_over (struct run *r, int sig, struct err *e)
{
    pid_t *pids = NULL;
    size_t n = 0;

    if (sig == SIGKILL && !r->plan.cgroup.disabled &&
        cgroup_pids (&r->cgroup, r->arena, &pids, &n, e) == 0 && n > 0)
        return cgroup_signal (&r->cgroup, sig, e);
    return err_set (e, ESRCH, "container not running");
}

int run_signal (struct run *r, int sig, struct err *e)
{
    AUTO_FD pidfd = state_pidfd (&r->saved, e);
    bool cgroup = !r->plan.cgroup.disabled;

    if (pidfd < 0 || r->saved.pid == 0)
        return signal_left_over (r, sig, e);
    if (sig == SIGKILL && cgroup && !has_own_pidns (r->saved.pid))
        return cgroup_signal (&r->cgroup, sig, e);
    if (syscall (SYS_pidfd_send_signal, pidfd, sig, NULL, 0) < 0)
        return errno == ESRCH ? err_set (e, ESRCH, "container not running")
                              : err_sys (e, "signal init");
    return sig == SIGKILL && cgroup ? thaw_for_kill (r, e) : 0;
}

static int signal_all (struct run *r, int sig, struct err *e)
{
    if (!r->plan.cgroup.disabled)
        return cgroup_signal (&r->cgroup, sig, e);
    return run_signal (r, sig, e) == -ESRCH ? 0 : -e->code;
}

int container_kill (const struct container_env *env, const char *id, int sig, bool all,
                    struct err *e)
{
    AUTO_ARENA a = { 0 };
    struct run r;
    int result;

    run_init (&r, env, &a);
    result = run_reopen (&r, id, 0, e);
    if (result == 0)
        result = all ? signal_all (&r, sig, e) : run_signal (&r, sig, e);
    run_close (&r);
    return result;
}

int container_state (const struct container_env *env, const char *id, struct arena *a,
                     struct oci_state *ret, struct err *e)
{
    enum state_status status;
    struct run r;
    int result;

    run_init (&r, env, a);
    result = run_reopen (&r, id, 0, e);
    if (result == 0)
        result = run_status (&r, &status, e);
    if (result == 0)
        state_oci (&r.state, status, ret);
    if (result == 0 && !(ret->owner = state_owner (r.state.saved, a)))
        result = err_oom (e);
    run_close (&r);
    return result;
}

static bool shares_pidns (const struct dirent *entry, ino_t ns)
{
    char path[sizeof "/proc//ns/pid" + NAME_MAX];
    struct stat st;

    (void)snprintf (path, sizeof path, "/proc/%s/ns/pid", entry->d_name);
    return entry->d_name[0] >= '1' && entry->d_name[0] <= '9' && stat (path, &st) == 0 &&
           st.st_ino == ns;
}

/* Everything in the pid namespace NS, in the order of /proc: ascending. Two walks: what appears
 * after the first is not in it. */
static int namespace_pids (ino_t ns, struct arena *a, pid_t **ret, size_t *ret_n, struct err *e)
{
    AUTO_DIR *dir = opendir ("/proc");
    const struct dirent *entry;
    size_t room = 0, n = 0;
    pid_t *pids;

    if (!dir)
        return err_sys (e, "list /proc");
    while ((entry = readdir (dir)))
        room += shares_pidns (entry, ns);
    pids = arena_calloc (a, room + 1, sizeof *pids);
    if (!pids)
        return err_oom (e);
    rewinddir (dir);
    while (n < room && (entry = readdir (dir)))
        if (shares_pidns (entry, ns))
            pids[n++] = (pid_t)strtol (entry->d_name, NULL, 10);
    *ret = pids;
    *ret_n = n;
    return 0;
}

/* Without a cgroup (--cgroup-manager disabled, or an ordinary user's) the processes are those of
 * the pid namespace, if it is the container's own. */
static int pids_without_cgroup (struct run *r, struct arena *a, pid_t **ret, size_t *ret_n,
                                struct err *e)
{
    AUTO_FD pidfd = state_pidfd (&r->saved, e);
    char path[sizeof "/proc/2147483647/ns/pid"];
    struct stat st;

    if (pidfd < 0 || r->saved.pid == 0)
        return err_set (e, ESRCH, "container not running");
    (void)snprintf (path, sizeof path, "/proc/%d/ns/pid", r->saved.pid);
    if (!has_own_pidns (r->saved.pid) || stat (path, &st) < 0)
        return err_set (e, ENOTSUP, "the container has no cgroup that knows its processes");
    return namespace_pids (st.st_ino, a, ret, ret_n, e);
}

int container_pids (const struct container_env *env, const char *id, struct arena *a, pid_t **ret,
                    size_t *ret_n, struct err *e)
{
    struct run r;
    int result;

    run_init (&r, env, a);
    result = run_reopen (&r, id, 0, e);
    if (result == 0 && r.plan.cgroup.disabled)
        result = pids_without_cgroup (&r, a, ret, ret_n, e);
    else if (result == 0)
        result = cgroup_pids (&r.cgroup, a, ret, ret_n, e);
    run_close (&r);
    return result;
}
