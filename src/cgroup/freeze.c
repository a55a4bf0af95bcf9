#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>

#include "base/cleanup.h"
#include "cgroup/internal.h"

/* v1: a cgroup can stay FREEZING while processes are added or forked beside the freezer; thawing
 * it for a moment lets them come to where they can be frozen. */
#define V1_TRIES_BEFORE_THAW 50
#define V1_PAUSE_MS          1

static int v1_thaw (int dir, struct err *e)
{
    return cgfile_write (dir, "freezer.state", "THAWED", e);
}

static int v1_freeze (int dir, struct err *e)
{
    int64_t deadline = deadline_in (CGROUP_PATIENCE_MS);

    for (unsigned int i = 1; !deadline_is_over (deadline); i++) {
        AUTO_ARENA a = { 0 };
        char *state;
        int r = cgfile_write (dir, "freezer.state", "FROZEN", e);

        if (r >= 0)
            r = cgfile_read (dir, "freezer.state", &a, &state, e);
        if (r < 0)
            return r;
        if (strcmp (state, "FROZEN\n") == 0)
            return 0;
        if (i % V1_TRIES_BEFORE_THAW == 0 && v1_thaw (dir, e) < 0)
            return -e->code;
        sleep_ms (V1_PAUSE_MS);
    }
    return err_set (e, ETIMEDOUT, "its processes did not freeze within %d s",
                    CGROUP_PATIENCE_MS / 1000);
}

/* cgroup.events tells by POLLPRI that it has changed. */
static int v2_wait (int dir, bool frozen, struct err *e)
{
    int64_t deadline = deadline_in (CGROUP_PATIENCE_MS);
    AUTO_FD events = cgfile_open (dir, "cgroup.events", O_RDONLY, e);

    if (events < 0)
        return events;
    while (!deadline_is_over (deadline)) {
        struct pollfd p = { .fd = events, .events = POLLPRI };
        char text[256];
        ssize_t n = pread (events, text, sizeof text - 1, 0);

        if (n < 0)
            return err_sys (e, "read 'cgroup.events'");
        text[n] = '\0';
        if (strstr (text, frozen ? "frozen 1\n" : "frozen 0\n"))
            return 0;
        (void)poll (&p, 1, 100); /* whatever woke us up, the file tells */
    }
    return err_set (e, ETIMEDOUT, "%s within %d s",
                    frozen ? "its processes did not freeze"
                           : "it did not thaw (is a cgroup above it frozen?)",
                    CGROUP_PATIENCE_MS / 1000);
}

static int v2_set (int dir, bool frozen, struct err *e)
{
    int r = cgfile_write (dir, "cgroup.freeze", frozen ? "1" : "0", e);

    return r < 0 ? r : v2_wait (dir, frozen, e);
}

int cgroup_freeze (struct cgroup *cg, bool frozen, struct err *e)
{
    const struct cgroup_hierarchy *h = cgroup_freezer_home (cg);
    struct err ignored;
    int r;

    if (!h || h->dir < 0)
        return err_set (e, EOPNOTSUPP, "the container has no cgroup that could be frozen");
    if (cgroup_is_v2 (h))
        r = v2_set (h->dir, frozen, e);
    else
        r = frozen ? v1_freeze (h->dir, e) : v1_thaw (h->dir, e);
    if (r >= 0)
        return 0;
    if (frozen && !cgroup_is_v2 (h))
        (void)v1_thaw (h->dir, &ignored); /* half frozen is worse than not, and E tells why */
    else if (frozen)
        (void)cgfile_write (h->dir, "cgroup.freeze", "0", &ignored);
    return err_add (e, "%s cgroup '%s%s'", frozen ? "freeze" : "thaw", h->mountpoint, h->path);
}

/* A file is missing where the hierarchy has no freezer; a cgroup without a freezer is never
 * frozen. */
static int read_flag (int dir, const char *file, const char *key, bool *ret, struct err *e)
{
    uint64_t n = 0;
    int r = cgfile_number (dir, file, key, &n, e);

    if (r == -ENOENT || r == -ENODEV)
        r = 0;
    if (r >= 0)
        *ret = *ret || n != 0;
    return r;
}

int freeze_look (const struct cgroup_hierarchy *h, bool self_only, bool *ret, struct err *e)
{
    bool frozen = false;
    int r;

    if (cgroup_is_v2 (h)) {
        r = read_flag (h->dir, "cgroup.freeze", NULL, &frozen, e);
        if (r >= 0 && !self_only)
            r = read_flag (h->dir, "cgroup.events", "frozen", &frozen, e);
    } else {
        r = read_flag (h->dir, "freezer.self_freezing", NULL, &frozen, e);
        if (r >= 0 && !self_only)
            r = read_flag (h->dir, "freezer.parent_freezing", NULL, &frozen, e);
    }
    if (r >= 0)
        *ret = frozen;
    return r;
}

int cgroup_is_frozen (const struct cgroup *cg, bool *ret, struct err *e)
{
    const struct cgroup_hierarchy *h = cgroup_freezer_home (cg);

    if (!h || h->dir < 0) {
        *ret = false;
        return 0;
    }
    return freeze_look (h, true, ret, e);
}

int cgroup_is_held (const struct cgroup *cg, bool *ret, struct err *e)
{
    const struct cgroup_hierarchy *h = cgroup_freezer_home (cg);

    if (h && h->dir >= 0)
        return freeze_look (h, false, ret, e);
    *ret = false;
    return 0;
}

static int thaw_one (int dir, void *data, struct err *e)
{
    const bool *is_v2 = data;

    (void)(*is_v2 ? cgfile_write (dir, "cgroup.freeze", "0", e) : v1_thaw (dir, e));
    return 0; /* one that is just going away need not be thawed */
}

void freeze_thaw_tree (const struct cgroup *cg)
{
    const struct cgroup_hierarchy *h = cgroup_freezer_home (cg);
    struct err ignored;
    bool is_v2;

    if (!h || h->dir < 0)
        return;
    is_v2 = cgroup_is_v2 (h);
    (void)walk_tree (h->dir, &(struct walk){ .visit = thaw_one, .data = &is_v2 }, &ignored);
}
