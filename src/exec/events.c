/*
 * events: what a container uses, and that it ran out of memory, until it ends.
 */
#include <errno.h>
#include <poll.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "cgroup/stats.h"
#include "exec/run.h"

static int require_running (struct run *r, struct err *e)
{
    enum state_status status;
    int result = run_status (r, &status, e);

    if (result == 0 && (status == STATUS_STOPPED || status == STATUS_CREATING))
        result = err_set (e, ESRCH, "container with id %s is not running", r->saved.id);
    if (result == 0 && r->plan.cgroup.disabled)
        result = err_set (e, ENOTSUP, "the container has no cgroup that counts what it uses");
    return result;
}

/* One line of JSON; DATA false: there is none. */
static int report (struct run *r, const struct container_events_options *o, const char *type,
                   bool data, struct err *e)
{
    AUTO_STRBUF line = { 0 };

    strbuf_addf (&line, "{\"type\":\"%s\",\"id\":", type);
    strbuf_add_json (&line, r->saved.id);
    if (data) {
        strbuf_adds (&line, ",\"data\":");
        if (cgroup_stats (&r->cgroup, &line, e) < 0)
            return -e->code;
    }
    strbuf_adds (&line, "}\n");
    return line.failed ? err_oom (e) : o->report (&line, e);
}

/* Every kill counts once, however often we are woken up: a v1 eventfd also wakes up when the cgroup
 * goes. */
static int tell_kills (struct run *r, const struct container_events_options *o, uint64_t *seen,
                       struct err *e)
{
    struct err ignored;
    uint64_t n;

    if (cgroup_oom_kills (&r->cgroup, &n, &ignored) < 0)
        return 0;
    for (; *seen < n; ++*seen)
        if (report (r, o, "oom", false, e) < 0)
            return -e->code;
    return 0;
}

/* How long to look for the kill that an alarm announced, and how often. */
#define KILL_PATIENCE_MS 2000
#define KILL_LOOK_MS     10
#define WAIT_MAX_MS      60000

/* A v1 eventfd says so before the kernel chooses whom to kill, and once. */
static void take_alarm (const struct pollfd *oom, int64_t *look_until)
{
    char text[512];

    if (!(oom->revents & oom->events))
        return;
    /* Reading stills the alarm; what it says is read elsewhere. */
    if (oom->events == POLLIN)
        (void)!read (oom->fd, text, sizeof (uint64_t));
    else
        (void)!pread (oom->fd, text, sizeof text, 0);
    *look_until = clock_ms () + KILL_PATIENCE_MS;
}

/* Milliseconds to wait. */
static int patience (int64_t due, int64_t look_until)
{
    int64_t now = clock_ms ();
    int64_t left = due > now ? due - now : 0;

    if (now < look_until && left > KILL_LOOK_MS)
        return KILL_LOOK_MS;
    return left < WAIT_MAX_MS ? (int)left : WAIT_MAX_MS;
}

/* The end of init ends it; what was killed with it is told first. */
static int follow (struct run *r, const struct container_events_options *o, int pidfd,
                   struct err *e)
{
    short events = 0;
    AUTO_FD oom = cgroup_oom_watch (&r->cgroup, &events, e);
    struct pollfd fds[] = { { .fd = pidfd, .events = POLLIN }, { .fd = oom, .events = events } };
    int64_t due = clock_ms () + o->interval_ms;
    int64_t look_until = 0;
    uint64_t seen = 0;

    if (oom < 0 || cgroup_oom_kills (&r->cgroup, &seen, e) < 0)
        return -e->code;
    for (;;) {
        int n = poll (fds, ARRAY_LEN (fds), patience (due, look_until));

        if (n < 0 && errno != EINTR)
            return err_sys (e, "wait for events");
        take_alarm (&fds[1], &look_until);
        if (tell_kills (r, o, &seen, e) < 0)
            return -e->code;
        if (n > 0 && fds[0].revents)
            return 0;
        if (clock_ms () < due)
            continue;
        if (report (r, o, "stats", true, e) < 0)
            return -e->code;
        due = clock_ms () + o->interval_ms;
    }
}

static int watch (struct run *r, const struct container_events_options *o, struct err *e)
{
    AUTO_FD pidfd = state_pidfd (&r->saved, e);

    if (pidfd < 0)
        return pidfd;
    return o->stats ? report (r, o, "stats", true, e) : follow (r, o, pidfd, e);
}

int container_events (const struct container_env *env, const struct container_events_options *o,
                      struct err *e)
{
    AUTO_ARENA a = { 0 };
    struct run r;
    int result;

    run_init (&r, env, &a);
    result = run_reopen (&r, o->id, 0, e);
    if (result == 0)
        result = require_running (&r, e);
    if (result == 0)
        result = watch (&r, o, e);
    run_close (&r);
    return result;
}
