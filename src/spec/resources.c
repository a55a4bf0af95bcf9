#include "resources.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "check.h"

int spec_load_resources (const char *file, struct arena *a, const struct oci_linux_resources **ret,
                         struct err *e)
{
    bool is_stdin = strcmp (file, "-") == 0;
    const char *name = is_stdin ? "standard input" : file;
    const void *doc;
    size_t len;
    char *text;
    int r = is_stdin ? fd_read_all (STDIN_FILENO, name, OCI_MAX_BYTES, a, &text, &len, e)
                     : fd_read_file (AT_FDCWD, file, OCI_MAX_BYTES, FD_HOST, a, &text, &len, e);

    if (r == 0)
        r = oci_parse (&oci_linux_resources_type, text, len, a, &doc, NULL, e);
    if (r < 0)
        return err_add (e, "%s", name);
    *ret = doc;
    return 0;
}

int spec_check_limits (const struct oci_linux_resources *r, struct err *e)
{
    return spec_check_resources (&(struct oci_linux){ .resources = r }, e);
}

/* ---- what is asked for ---- */

/* KEPT may be NULL. Only where swap had a limit must that go with the memory's. */
static int ask_memory (const struct oci_memory *kept, const struct oci_memory **memory,
                       struct arena *a)
{
    struct oci_memory *m = arena_alloc (a, sizeof *m);

    if (!m || !*memory)
        return m ? 0 : -1;
    *m = **memory;
    m->has_limit = m->has_limit && m->limit != 0;
    m->has_swap = m->has_swap && m->swap != 0;
    m->has_reservation = m->has_reservation && m->reservation != 0;
    m->has_disable_oom_killer = m->has_disable_oom_killer && m->disable_oom_killer;
    if (m->has_limit && m->limit < 0 && !m->has_swap && kept && kept->has_swap) {
        m->has_swap = true;
        m->swap = -1;
    }
    *memory = m;
    return 0;
}

static int ask_cpu (const struct oci_cpu **cpu, struct arena *a)
{
    struct oci_cpu *c = arena_alloc (a, sizeof *c);

    if (!c || !*cpu)
        return c ? 0 : -1;
    *c = **cpu;
    c->has_shares = c->has_shares && c->shares != 0;
    c->has_quota = c->has_quota && c->quota != 0;
    c->has_period = c->has_period && c->period != 0;
    c->has_realtime_runtime = c->has_realtime_runtime && c->realtime_runtime != 0;
    c->has_realtime_period = c->has_realtime_period && c->realtime_period != 0;
    if (c->cpus && !*c->cpus)
        c->cpus = NULL;
    if (c->mems && !*c->mems)
        c->mems = NULL;
    *cpu = c;
    return 0;
}

static int ask_network (const struct oci_network **network, struct arena *a)
{
    struct oci_network *n = arena_alloc (a, sizeof *n);

    if (!n || !*network)
        return n ? 0 : -1;
    *n = **network;
    n->has_class_id = n->has_class_id && n->class_id != 0;
    *network = n;
    return 0;
}

static int ask_io (const struct oci_block_io **block_io, struct arena *a)
{
    struct oci_block_io *io = arena_alloc (a, sizeof *io);

    if (!io || !*block_io)
        return io ? 0 : -1;
    *io = **block_io;
    io->has_weight = io->has_weight && io->weight != 0;
    io->has_leaf_weight = io->has_leaf_weight && io->leaf_weight != 0;
    *block_io = io;
    return 0;
}

/* ---- lists ---- */

static bool is_same_throttle (const void *a, const void *b)
{
    const struct oci_throttle_device *x = a, *y = b;

    return x->major == y->major && x->minor == y->minor;
}

static bool is_same_weight (const void *a, const void *b)
{
    const struct oci_weight_device *x = a, *y = b;

    return x->major == y->major && x->minor == y->minor;
}

static bool is_same_page (const void *a, const void *b)
{
    const struct oci_hugepage_limit *x = a, *y = b;

    return strcmp (x->page_size, y->page_size) == 0;
}

static bool is_same_interface (const void *a, const void *b)
{
    const struct oci_interface_priority *x = a, *y = b;

    return strcmp (x->name, y->name) == 0;
}

static bool is_same_device (const void *a, const void *b)
{
    const struct oci_rdma *x = a, *y = b;

    return strcmp (x->key, y->key) == 0;
}

static bool is_same_file (const void *a, const void *b)
{
    const struct oci_kv *x = a, *y = b;

    return strcmp (x->key, y->key) == 0;
}

struct list {
    const void *v;
    size_t n, size;
    bool (*is_same) (const void *a, const void *b);
};

static bool has (const struct list *l, const void *element)
{
    for (size_t i = 0; i < l->n; i++)
        if (l->is_same ((const char *)l->v + i * l->size, element))
            return true;
    return false;
}

/* ASKED (all of it, in its order) behind those of KEPT that are about something else. NULL: memory
 * ran out. */
static const void *join (const struct list *kept, const struct list *asked, struct arena *a,
                         size_t *ret_n)
{
    char *out = arena_calloc (a, kept->n + asked->n + 1, asked->size);
    size_t n = 0;

    for (size_t i = 0; out && i < kept->n; i++) {
        const char *element = (const char *)kept->v + i * asked->size;

        if (!has (asked, element))
            memcpy (out + n++ * asked->size, element, asked->size);
    }
    if (out)
        memcpy (out + n * asked->size, asked->v, asked->n * asked->size);
    *ret_n = n + asked->n;
    return out;
}

/* TO's list M becomes KEPT's and its own; none asked for: KEPT's stays, by oci_merge. */
#define JOIN(to, kept, m, same)                                                                    \
    if ((to)->n_##m > 0) {                                                                         \
        const struct list one = { (kept)->m, (kept)->n_##m, sizeof *(to)->m, same };               \
        const struct list two = { (to)->m, (to)->n_##m, sizeof *(to)->m, same };                   \
                                                                                                   \
        (to)->m = join (&one, &two, a, &(to)->n_##m);                                              \
        if (!(to)->m)                                                                              \
            return -1;                                                                             \
    }

static int join_io (const struct oci_block_io *kept, struct oci_block_io *io, struct arena *a)
{
    static const struct oci_block_io none = { 0 };

    kept = kept ?: &none;
    JOIN (io, kept, weight_device, is_same_weight)
    JOIN (io, kept, throttle_read_bps_device, is_same_throttle)
    JOIN (io, kept, throttle_write_bps_device, is_same_throttle)
    JOIN (io, kept, throttle_read_iops_device, is_same_throttle)
    JOIN (io, kept, throttle_write_iops_device, is_same_throttle)
    return 0;
}

static int join_network (const struct oci_network *kept, struct oci_network *n, struct arena *a)
{
    static const struct oci_network none = { 0 };

    kept = kept ?: &none;
    JOIN (n, kept, priorities, is_same_interface)
    return 0;
}

static int join_lists (const struct oci_linux_resources *kept, struct oci_linux_resources *r,
                       struct arena *a)
{
    struct oci_block_io *io = arena_alloc (a, sizeof *io);
    struct oci_network *network = arena_alloc (a, sizeof *network);

    if (!io || !network)
        return -1;
    JOIN (r, kept, hugepage_limits, is_same_page)
    JOIN (r, kept, rdma, is_same_device)
    JOIN (r, kept, unified, is_same_file)
    if (r->block_io) {
        *io = *r->block_io;
        r->block_io = io;
    }
    if (r->network) {
        *network = *r->network;
        r->network = network;
    }
    return join_io (kept->block_io, io, a) < 0 ? -1 : join_network (kept->network, network, a);
}

/* ---- the whole ---- */

static int ask (const struct oci_linux_resources *kept, struct oci_linux_resources *r,
                struct arena *a)
{
    r->devices = NULL;
    r->n_devices = 0;
    if (ask_memory (kept->memory, &r->memory, a) < 0 || ask_cpu (&r->cpu, a) < 0)
        return -1;
    return ask_io (&r->block_io, a) < 0 ? -1 : ask_network (&r->network, a);
}

/* KEPT with MORE in its place. */
static const struct oci_config *merge (const struct oci_config *kept,
                                       const struct oci_linux_resources *old,
                                       const struct oci_linux_resources *more, struct arena *a)
{
    struct oci_linux *linux_ = arena_alloc (a, sizeof *linux_);
    struct oci_config *c = arena_alloc (a, sizeof *c);
    const void *merged;
    struct err e;

    if (!linux_ || !c || oci_merge (&oci_linux_resources_type, old, more, a, &merged, &e) < 0)
        return NULL;
    if (kept->linux_)
        *linux_ = *kept->linux_;
    linux_->resources = merged;
    *c = *kept;
    c->linux_ = linux_;
    return c;
}

int spec_update_make (const struct oci_config *kept, const struct oci_linux_resources *asked,
                      struct arena *a, struct spec_update *ret, struct err *e)
{
    static const struct oci_linux_resources none = { 0 };
    const struct oci_linux_resources *old = kept->linux_ ? kept->linux_->resources : NULL;
    struct oci_linux_resources *r = arena_alloc (a, sizeof *r), *more = arena_alloc (a, sizeof *r);
    const struct oci_config *c;

    if (spec_check_limits (asked, e) < 0)
        return -e->code;
    if (!r || !more)
        return err_oom (e);
    *r = *asked;
    if (ask (old ?: &none, r, a) < 0)
        return err_oom (e);
    *more = *r;
    if (join_lists (old ?: &none, more, a) < 0 || !(c = merge (kept, old ?: &none, more, a)))
        return err_oom (e);
    *ret = (struct spec_update){ .asked = r, .config = c };
    return 0;
}
