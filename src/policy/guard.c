#include "policy/guard.h"

#include <errno.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/str.h"
#include "policy/guard_judge.h"
#include "spec/mntopt.h"

/* One bind mount while it is looked at. */
struct bind {
    struct plan_mount pm;
    const char *source; /* as the config has it */
    struct guard_source s;
    int fd; /* -1: could not be opened, WHY says why */
    struct err why;
};

struct binds {
    struct bind *list;
    size_t n;
};

static void close_binds (const struct binds *b)
{
    for (size_t i = 0; i < b->n; i++)
        cleanup_fd (&b->list[i].fd);
}

#define AUTO_BINDS __attribute__ ((cleanup (close_binds))) struct binds

static int find_binds (const struct guard_request *rq, struct arena *a, struct binds *ret,
                       struct err *e)
{
    const struct oci_config *c = rq->config;

    ret->list = arena_calloc (a, c->n_mounts, sizeof *ret->list);
    if (!ret->list)
        return err_oom (e);
    for (size_t i = 0; i < c->n_mounts; i++) {
        const struct mntopt_context where = { .index = i, .bundle = rq->bundle };
        struct bind *b = &ret->list[ret->n];
        int r = mntopt_parse (&c->mounts[i], &where, a, &b->pm, e);

        if (r < 0)
            return r;
        b->fd = -1;
        b->source = c->mounts[i].source;
        ret->n += b->pm.kind == MOUNT_BIND;
    }
    return 0;
}

/* The mount itself; what a recursive one brings along is as it was on the host. */
static bool is_readonly (const struct plan_mount *m)
{
    return (m->set | (m->rset & ~m->clear)) & MOUNT_ATTR_RDONLY;
}

static int open_bind (struct guard_scene *c, struct bind *b, struct err *e)
{
    b->fd = guard_open (&c->host, b->pm.source, b->pm.src_nofollow, &b->s.o, &b->why);
    if (b->fd == -ENOMEM)
        return err_oom (e);
    b->s.off = c->off;
    b->s.writable = !is_readonly (&b->pm);
    if (b->fd < 0)
        return 0;
    for (size_t i = 0; i < c->n_own; i++)
        if (guard_rest (b->s.o.place, c->own[i].place))
            b->s.own = c->own[i].place;
    return guard_scene_visit (c, b->s.o.place, e);
}

/* ---- what comes along with a recursive bind ---- */
static int judge_below (struct guard_scene *c, const struct bind *b, struct guard_finding *ret,
                        struct err *e)
{
    if (!b->pm.recursive || !S_ISDIR (b->s.o.mode))
        return 0;
    if (guard_list (&c->host, e) < 0)
        return -e->code;
    for (size_t i = 0; !ret->rule && i < c->host.n_list; i++) {
        const struct guard_mount *m = &c->host.list[i];
        const char *rest = guard_rest (m->point, b->s.o.place);
        struct guard_source s = b->s;

        if (!rest || !*rest)
            continue;
        s.below = true;
        s.o = (struct guard_object){ .place = m->point, .inner = m->root, .mount = m };
        guard_judge (c, &s, -1, ret);
    }
    return 0;
}

/* ---- what an overlay shows is what lies in its layers ---- */
static int judge_layer (struct guard_scene *c, const struct bind *b, const char *layer,
                        struct guard_finding *ret, struct err *e)
{
    const char *path = arena_printf (c->host.arena, "%s%s", layer, b->s.o.inner);
    struct guard_source s = b->s;
    struct err ignored; /* a layer that is not there any more shows nothing */
    AUTO_FD fd = -1;

    if (!path)
        return err_oom (e);
    fd = guard_open (&c->host, path, true, &s.o, &ignored);
    if (fd >= 0)
        guard_judge (c, &s, fd, ret);
    return fd == -ENOMEM ? err_oom (e) : 0;
}

/* The next of LAYERS, "a:b\:c::d", in place; backslashes hide colons and themselves. */
static char *next_layer (char **layers)
{
    char *out = *layers, *start = *layers;

    while (**layers == ':')
        start = out = ++*layers;
    for (; **layers && **layers != ':'; (*layers)++) {
        if (**layers == '\\' && (*layers)[1])
            (*layers)++;
        *out++ = **layers;
    }
    *layers += **layers == ':';
    *out = '\0';
    return *start ? start : NULL;
}

static int judge_layers (struct guard_scene *c, const struct bind *b, const char *options,
                         struct guard_finding *ret, struct err *e)
{
    static const char *const names[] = { "lowerdir=", "lowerdir+=", "upperdir=", "datadir+=" };
    char *list = arena_strdup (c->host.arena, options);
    int r = list ? 0 : err_oom (e);

    for (char *option; r == 0 && !ret->rule && (option = strsep (&list, ","));)
        for (size_t i = 0; i < ARRAY_LEN (names); i++) {
            char *layers = option + strlen (names[i]);

            if (!str_has_prefix (option, names[i]))
                continue;
            for (char *l; r == 0 && !ret->rule && (l = next_layer (&layers));)
                r = judge_layer (c, b, l, ret, e);
        }
    return r;
}

/* The host's own root may be one: what is to be protected in it is found by its place. */
static int judge_overlay (struct guard_scene *c, const struct bind *b, struct guard_finding *ret,
                          struct err *e)
{
    const struct guard_mount *m = b->s.o.mount;
    const char *options;

    if (b->s.own || strcmp (m->type, "overlay") != 0 ||
        (m->major == c->root.mount->major && m->minor == c->root.mount->minor))
        return 0;
    if (guard_list (&c->host, e) < 0)
        return -e->code;
    options = guard_options (&c->host, m);
    return options ? judge_layers (c, b, options, ret, e) : 0;
}

/* ---- all ---- */
static int judge_bind (struct guard_scene *c, const struct bind *b, struct guard_finding *ret,
                       struct err *e)
{
    int r = 0;

    if (b->fd == -ENOENT)
        return 0;
    if (b->fd < 0) {
        ret->rule = "unseen";
        ret->what = arena_strdup (c->host.arena, b->why.msg);
        ret->how = "cannot be looked at";
        ret->thing = ret->shown = b->pm.source;
        return ret->what ? 0 : err_oom (e);
    }
    guard_judge (c, &b->s, b->fd, ret);
    if (!ret->rule)
        r = judge_overlay (c, b, ret, e);
    return r < 0 || ret->rule ? r : judge_below (c, b, ret, e);
}

static struct guard_seen seen_of (const struct bind *b)
{
    return (struct guard_seen){ .source = b->pm.source,
                                .nofollow = b->pm.src_nofollow,
                                .missing = b->fd < 0,
                                .inode = b->s.o.inode,
                                .dev_major = b->s.o.dev_major,
                                .dev_minor = b->s.o.dev_minor };
}

static int judge_all (struct guard_scene *c, const struct binds *b, struct guard_findings *ret,
                      struct err *e)
{
    struct guard_finding *list = arena_calloc (c->host.arena, b->n, sizeof *list);
    struct guard_seen *seen = arena_calloc (c->host.arena, b->n, sizeof *seen);
    size_t n = 0;

    if (!list || !seen)
        return err_oom (e);
    for (size_t i = 0; i < b->n; i++) {
        int r = judge_bind (c, &b->list[i], &list[n], e);

        if (r < 0)
            return r;
        list[n].mount = b->list[i].pm.index;
        list[n].source = b->list[i].source;
        n += list[n].rule != NULL;
        seen[i] = seen_of (&b->list[i]);
    }
    *ret = (struct guard_findings){ .list = list, .n = n, .seen = seen, .n_seen = b->n };
    return 0;
}

/* All sources are opened before the first is judged: each may lead to an engine's data root, which
 * another one may hold. */
int guard_look_without (const struct guard_request *rq, const bool *off, struct arena *a,
                        struct guard_findings *ret, struct err *e)
{
    struct guard_scene c = { .host = { .arena = a }, .rq = rq, .off = off, .root_fd = -1 };
    AUTO_BINDS binds = { 0 };
    int r = find_binds (rq, a, &binds, e);

    if (r == 0 && binds.n == 0)
        *ret = (struct guard_findings){ 0 };
    if (r < 0 || binds.n == 0)
        return r;
    r = guard_scene_make (&c, e);
    for (size_t i = 0; r == 0 && i < binds.n; i++)
        r = open_bind (&c, &binds.list[i], e);
    if (r == 0)
        r = judge_all (&c, &binds, ret, e);
    cleanup_fd (&c.root_fd);
    return r < 0 ? err_add (e, "mount guard") : 0;
}

int guard_look (const struct guard_request *rq, struct arena *a, struct guard_findings *ret,
                struct err *e)
{
    return guard_look_without (rq, NULL, a, ret, e);
}

const struct guard_finding *guard_finding_of (const struct guard_findings *f, size_t index)
{
    for (size_t i = 0; i < f->n; i++)
        if (f->list[i].mount == index)
            return &f->list[i];
    return NULL;
}

const char *guard_text (const struct guard_finding *f, struct arena *a)
{
    return arena_printf (a, "'%s' %s '%s', %s (mount guard, %s)", f->shown, f->how, f->thing,
                         f->what, f->rule);
}

const struct guard_seen *guard_seen_of (const struct guard_findings *f, const char *source,
                                        bool nofollow)
{
    for (size_t i = 0; i < f->n_seen; i++)
        if (strcmp (f->seen[i].source, source) == 0 && f->seen[i].nofollow == nofollow)
            return &f->seen[i];
    return NULL;
}
