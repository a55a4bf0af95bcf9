/*
 * New limits for a container that runs: all of them, or none.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/str.h"
#include "cgroup/internal.h"
#include "cgroup/unit.h"
#include "cgroup/limits.h"

/* ---- which ---- */

/* The file has a line for each device (or interface), which its first word names. */
static bool is_keyed (const struct limit *m)
{
    size_t n = strcspn (m->value, " ");

    return m->value[n] && (memchr (m->value, ':', n) || strcmp (m->controller, "rdma") == 0 ||
                           strcmp (m->controller, "net_prio") == 0);
}

static bool is_same_word (const char *a, const char *b)
{
    size_t n = strcspn (a, " \n");

    return n == strcspn (b, " \n") && memcmp (a, b, n) == 0;
}

/* Both are about the same number; a limit that another host could not set has no file. */
static bool is_same_place (const struct limit *a, const struct limit *b)
{
    if (!a->file || !b->file)
        return strcmp (a->key, b->key) == 0;
    return strcmp (a->file, b->file) == 0 && (!is_keyed (a) || is_same_word (a->value, b->value));
}

static bool is_named (const struct limits *l, const struct limit *m)
{
    for (const struct limit *x = l->first; x; x = x->next)
        if (is_same_place (m, x))
            return true;
    return false;
}

static bool is_kept (const struct limits *l, const struct limit *m)
{
    for (const struct limit *x = l->first; x; x = x->next)
        if (!x->problem && is_same_place (m, x) && strcmp (x->value, m->value) == 0)
            return true;
    return false;
}

/* The same resources, as each kind of hierarchy has them. */
struct views {
    struct limits v1, v2;
};

static void view (struct views *v, const struct oci_linux_resources *res, struct arena *a)
{
    *v = (struct views){ { .a = a }, { .a = a } };
    if (!res)
        return;
    limits_v1 (&v->v1, res);
    limits_v2 (&v->v2, res);
}

/* Leaves of ALL what has to be written. */
static void select_writes (struct limits *all, const struct views *asked, const struct views *kept)
{
    struct limit **to = &all->first;

    for (struct limit *m = all->first; m; m = m->next) {
        bool is_v2 = cgroup_is_v2 (m->h);

        if (!is_named (is_v2 ? &asked->v2 : &asked->v1, m) &&
            is_kept (is_v2 ? &kept->v2 : &kept->v1, m))
            continue;
        *to = m;
        to = &m->next;
    }
    *to = NULL;
}

/* ---- what there was ---- */

/* The line of TEXT whose first word is that of LIKE, without its newline; NULL: none. */
static const char *find_line (const char *text, const char *like, struct arena *a)
{
    while (*text) {
        size_t n = strcspn (text, "\n");

        if (is_same_word (text, like))
            return arena_strndup (a, text, n);
        text += n + (text[n] != '\0');
    }
    return NULL;
}

/* A device without a line has no limit: "8:0 rbps=1 wiops=2" becomes "8:0 rbps=max wiops=max". */
static const char *no_limit (const struct limit *m, struct arena *a)
{
    int key = (int)strcspn (m->value, " ");
    const char *out;

    if (!strchr (m->value, '='))
        return arena_printf (a, "%.*s %s", key, m->value,
                             strstr (m->file, "weight") ? "default" : "0");
    out = arena_strndup (a, m->value, (size_t)key);
    for (const char *w = m->value + key; out && *(w += strspn (w, " ")); w += strcspn (w, " "))
        out = arena_printf (a, "%s %.*s=max", out, (int)strcspn (w, "= "), w);
    return out;
}

const char *limit_old_value (const struct limit *m, const char *text, struct arena *a)
{
    const char *line;

    if (m->expect) { /* "oom_kill_disable 1" */
        line = find_line (text, m->expect, a);
        return line ? line + strcspn (line, " ") + 1 : NULL;
    }
    if (!is_keyed (m))
        return arena_strndup (a, text, strcspn (text, "\n"));
    line = find_line (text, m->value, a);
    return line ?: no_limit (m, a);
}

/* The writes that undo those of L: the last one first. */
static int remember (const struct limits *l, struct limits *old, struct err *e)
{
    for (const struct limit *m = l->first; m; m = m->next) {
        struct limit *x = arena_alloc (old->a, sizeof *x);
        char *text;
        int r = cgfile_read (m->h->dir, m->file, old->a, &text, e);
        bool is_alt = r == -ENOENT && m->alt_file;

        if (!x)
            return err_oom (e);
        if (is_alt)
            r = cgfile_read (m->h->dir, m->alt_file, old->a, &text, e);
        if (r == -ENOENT)
            continue; /* there is nothing to undo; the write tells whether it may be missing */
        if (r < 0)
            return err_add (e, "/linux/resources/%s", m->key);
        *x = *m;
        x->file = is_alt ? m->alt_file : m->file;
        x->value = is_alt && m->alt_value ? m->alt_value : m->value;
        x->value = limit_old_value (x, text, old->a);
        x->alt_file = NULL;
        x->keep_first = false;
        x->next = old->first;
        old->first = x;
        if (!x->value)
            return err_oom (e);
    }
    return 0;
}

/* ---- the update ---- */

static bool writes (const struct limits *l, const char *key)
{
    for (const struct limit *m = l->first; m; m = m->next)
        if (strcmp (m->key, key) == 0)
            return true;
    return false;
}

static int refuse_less (const char *key, int64_t limit, uint64_t usage, struct err *e)
{
    if (limit <= 0 || (uint64_t)limit > usage)
        return 0;
    return err_set (e, EBUSY,
                    "/linux/resources/%s: %" PRId64 " is not above the %" PRIu64 " bytes in use",
                    key, limit, usage);
}

/* v2 takes any memory.max and kills for it; v1 refuses by itself. */
static int check_before (const struct cgroup *cg, const struct limits *l,
                         const struct oci_memory *m, struct err *e)
{
    const struct cgroup_hierarchy *h = cgroup_v2_home (cg);
    uint64_t usage = 0;
    struct err ignored;

    if (cg->layout != CGROUP_V2 || !m || !m->check_before_update ||
        cgfile_number (h->dir, "memory.current", NULL, &usage, &ignored) < 0)
        return 0;
    if (m->has_limit && writes (l, "memory/limit") &&
        refuse_less ("memory/limit", m->limit, usage, e) < 0)
        return -e->code;
    if (m->has_swap && writes (l, "memory/swap"))
        return refuse_less ("memory/swap", m->swap, usage, e);
    return 0;
}

static int apply (struct cgroup *cg, const struct cgroup_update *u, const struct limits *l,
                  struct err *e)
{
    int r = limits_write (l, e);

    if (r >= 0)
        r = limits_check (l, e);
    if (r >= 0 && cg->unit.name)
        r = unit_update (cg, u->wanted, e);
    return r < 0 ? r : u->commit (u->data, e);
}

/* E stays what went wrong; what cannot be undone is told behind it. */
static int undo (const struct limits *old, struct err *e)
{
    const struct err first = *e;
    struct err left = { 0 };

    if (limits_write (old, &left) < 0)
        return err_set (e, first.code, "%.300s; and not undone: %.150s", first.msg, left.msg);
    return -e->code;
}

int cgroup_update (struct cgroup *cg, const struct cgroup_update *u, struct err *e)
{
    AUTO_ARENA a = { 0 };
    struct limits want = { .a = &a };
    struct limits old = { .a = &a };
    struct views asked;
    struct views kept;
    int r;

    if (!cg->unit.name) /* what lies above is systemd's */
        v2_enable_above (cg, u->wanted);
    r = limits_collect (&want, cg, u->wanted, e);
    if (r < 0)
        return r;
    view (&asked, u->asked, &a);
    view (&kept, u->kept, &a);
    if (asked.v1.failed || asked.v2.failed || kept.v1.failed || kept.v2.failed)
        return err_oom (e);
    select_writes (&want, &asked, &kept);
    r = check_before (cg, &want, u->wanted->memory, e);
    if (r >= 0)
        r = remember (&want, &old, e);
    if (r < 0)
        return r;
    return apply (cg, u, &want, e) < 0 ? undo (&old, e) : 0;
}
