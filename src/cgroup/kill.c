#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "cgroup/internal.h"

#define PAUSE_MAX_MS 50

struct pid_list {
    struct arena *a;
    pid_t *v;
    size_t n, cap;
};

static int add_pid (struct pid_list *l, pid_t pid, struct err *e)
{
    if (l->n == l->cap) {
        size_t cap = l->cap ? l->cap * 2 : 64;
        pid_t *v = arena_calloc (l->a, cap, sizeof *v);

        if (!v)
            return err_oom (e);
        if (l->n)
            memcpy (v, l->v, l->n * sizeof *v);
        l->v = v;
        l->cap = cap;
    }
    l->v[l->n++] = pid;
    return 0;
}

static int collect (int dir, void *data, struct err *e)
{
    AUTO_ARENA a = { 0 };
    struct pid_list *l = data;
    char *text;
    char *rest = NULL;
    int r = cgfile_read (dir, "cgroup.procs", &a, &text, e);

    /* Gone meanwhile; or threaded, then the threads' processes are listed further up. */
    if (r == -ENOENT || r == -ENODEV || r == -EOPNOTSUPP)
        return 0;
    if (r < 0)
        return r;
    for (char *w = strtok_r (text, "\n", &rest); w && r >= 0; w = strtok_r (NULL, "\n", &rest)) {
        pid_t pid = (pid_t)strtol (w, NULL, 10);

        if (pid > 0) /* 0: a process of a pid namespace that is not below ours */
            r = add_pid (l, pid, e);
    }
    return r;
}

static int compare (const void *a, const void *b)
{
    pid_t x = *(const pid_t *)a;
    pid_t y = *(const pid_t *)b;

    return (x > y) - (x < y);
}

int pids_below (int dir, struct arena *a, pid_t **ret, size_t *ret_n, struct err *e)
{
    struct pid_list l = { .a = a };
    size_t n = 0;
    int r = walk_tree (dir, &(struct walk){ .visit = collect, .data = &l }, e);

    if (r < 0)
        return r;
    if (l.n)
        qsort (l.v, l.n, sizeof *l.v, compare);
    for (size_t i = 0; i < l.n; i++) /* one that moved during the walk was seen twice */
        if (n == 0 || l.v[n - 1] != l.v[i])
            l.v[n++] = l.v[i];
    *ret = l.v;
    *ret_n = n;
    return 0;
}

/* Where the processes are listed: where they are frozen, if it is still there. */
static const struct cgroup_hierarchy *list_home (const struct cgroup *cg)
{
    const struct cgroup_hierarchy *h = cgroup_freezer_home (cg);

    if (h && h->dir >= 0)
        return h;
    for (size_t i = 0; i < cg->n; i++)
        if (cg->h[i].dir >= 0)
            return &cg->h[i];
    return NULL;
}

int cgroup_pids (const struct cgroup *cg, struct arena *a, pid_t **ret, size_t *ret_n,
                 struct err *e)
{
    const struct cgroup_hierarchy *h = list_home (cg);

    if (!h) {
        *ret = NULL;
        *ret_n = 0;
        return 0;
    }
    if (pids_below (h->dir, a, ret, ret_n, e) < 0)
        return err_add (e, "cgroup '%s%s'", h->mountpoint, h->path);
    return 0;
}

static int signal_list (const pid_t *pids, size_t n, int sig, struct err *e)
{
    int r = 0;

    for (size_t i = 0; i < n; i++)
        if (kill (pids[i], sig) < 0 && errno != ESRCH)
            r = err_sys (e, "signal %d to process %d", sig, (int)pids[i]);
    return r;
}

static int signal_each (const struct cgroup *cg, int sig, struct err *e)
{
    AUTO_ARENA a = { 0 };
    pid_t *pids;
    size_t n;
    int r = cgroup_pids (cg, &a, &pids, &n, e);

    return r < 0 ? r : signal_list (pids, n, sig, e);
}

/* Frozen processes cannot fork away between the list and the signal; and their ids stay theirs. */
static int signal_frozen (struct cgroup *cg, int sig, struct err *e)
{
    struct err ignored;
    int r;

    (void)cgroup_freeze (cg, true, &ignored); /* a signal that some miss is better than none */
    r = signal_each (cg, sig, e);
    freeze_thaw_tree (cg);
    return r;
}

/* SIGKILL over every hierarchy, as a process may have been moved out of some. *RET_LEFT is how many
 * were there. */
static int kill_listed (const struct cgroup *cg, size_t *ret_left, struct err *e)
{
    AUTO_ARENA a = { 0 };
    int r = 0;

    *ret_left = 0;
    for (size_t i = 0; r >= 0 && i < cg->n; i++) {
        pid_t *pids;
        size_t n = 0;

        if (cg->h[i].dir >= 0)
            r = pids_below (cg->h[i].dir, &a, &pids, &n, e);
        if (r >= 0 && n > 0)
            r = signal_list (pids, n, SIGKILL, e);
        *ret_left += n;
    }
    return r;
}

/* First as they are: who waits for memory cannot be frozen, but can die. Then frozen, so that no
 * fork is faster. */
static int kill_round (struct cgroup *cg, size_t *ret_left, struct err *e)
{
    struct err ignored;
    int r = kill_listed (cg, ret_left, e);

    if (r < 0 || *ret_left == 0)
        return r;
    (void)cgroup_freeze (cg, true, &ignored); /* without it, the next round gets the rest */
    r = kill_listed (cg, ret_left, e);
    freeze_thaw_tree (cg);
    return r;
}

static int kill_in_rounds (struct cgroup *cg, struct err *e)
{
    int64_t deadline = deadline_in (CGROUP_PATIENCE_MS);
    size_t left = 0;

    for (long pause = 1; !deadline_is_over (deadline); pause *= 2) {
        int r = kill_round (cg, &left, e);

        if (r < 0 || left == 0)
            return r;
        sleep_ms (pause < PAUSE_MAX_MS ? pause : PAUSE_MAX_MS);
    }
    return err_set (e, EBUSY, "processes are still there %d s after SIGKILL",
                    CGROUP_PATIENCE_MS / 1000);
}

/* One write reaches everything below at once, forks in flight included (Linux 5.14). On a hybrid
 * host a process that v1 froze dies only when it is thawed. Not for a cgroup that outlives the
 * container: since 6.13 the kernel kills whatever is cloned into one (CLONE_INTO_CGROUP) whose
 * cgroup.kill was ever written, as it compares the count of such writes with that of the parent's
 * cgroup. */
static int kill_at_once (struct cgroup *cg, struct err *e)
{
    const struct cgroup_hierarchy *v2 = cgroup_v2_home (cg);
    int r;

    if (!v2 || v2->dir < 0 || !v2->made)
        return -EOPNOTSUPP;
    r = cgfile_write (v2->dir, "cgroup.kill", "1", e);
    freeze_thaw_tree (cg);
    return r;
}

int cgroup_signal (struct cgroup *cg, int sig, struct err *e)
{
    bool was_frozen;
    int r;

    if (sig == SIGKILL)
        return kill_at_once (cg, e) >= 0 ? 0 : kill_in_rounds (cg, e);
    r = cgroup_is_frozen (cg, &was_frozen, e);
    if (r < 0)
        return r;
    if (was_frozen) /* stays so: the signal is delivered when somebody thaws it */
        return signal_each (cg, sig, e);
    return signal_frozen (cg, sig, e);
}

int kill_everywhere (struct cgroup *cg, struct err *e)
{
    (void)kill_at_once (cg, e); /* the rounds see what is left */
    return kill_in_rounds (cg, e);
}
