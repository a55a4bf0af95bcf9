#include "policy/draft.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/cleanup.h"

/* What all rules together may add to a list. */
#define SPARE 16

/* ---- the policy's part ---- */
static void begin_policy (struct draft *d)
{
    const struct oci_policy *doc = d->policy->doc;

    d->doc = *doc;
    d->doc_rootfs = *doc->rootfs;
    d->doc_tmp = *doc->rootfs->tmp;
    d->doc_shm = *doc->rootfs->shm;
    d->doc_mounts = *doc->mounts;
    d->doc_devices = *doc->devices;
    d->doc_limits = *doc->limits;
    d->doc.rootfs = &d->doc_rootfs;
    d->doc_rootfs.tmp = &d->doc_tmp;
    d->doc_rootfs.shm = &d->doc_shm;
    d->doc.mounts = &d->doc_mounts;
    d->doc.devices = &d->doc_devices;
    d->doc.limits = &d->doc_limits;
}

/* ---- the config's part ---- */

/* The draft's own copy of an object that is there. */
#define OWN(owner, member, copy)                                                                   \
    if ((owner).member) {                                                                          \
        (copy) = *(owner).member;                                                                  \
        (owner).member = &(copy);                                                                  \
    }

static void begin_process (struct draft *d)
{
    if (d->in->process)
        d->config.process = d->in->process;
    OWN (d->config, process, d->process)
    OWN (d->process, user, d->user)
    OWN (d->process, capabilities, d->caps)
    OWN (d->process, scheduler, d->scheduler)
}

static void begin_linux (struct draft *d)
{
    OWN (d->config, linux_, d->linux_)
    OWN (d->linux_, resources, d->resources)
    OWN (d->linux_, seccomp, d->seccomp)
    OWN (d->resources, memory, d->memory)
    OWN (d->resources, cpu, d->cpu)
    OWN (d->resources, pids, d->pids)
}

static void *copy_array (struct arena *a, const void *from, size_t n, size_t size)
{
    void *to = arena_calloc (a, n + SPARE, size);

    if (to && n > 0)
        memcpy (to, from, n * size);
    return to;
}

static int begin_arrays (struct draft *d)
{
    d->mounts = copy_array (d->a, d->config.mounts, d->config.n_mounts, sizeof *d->mounts);
    d->mount_origin = arena_calloc (d->a, d->config.n_mounts + SPARE, sizeof *d->mount_origin);
    d->namespaces =
        copy_array (d->a, d->linux_.namespaces, d->linux_.n_namespaces, sizeof *d->namespaces);
    d->rlimits = copy_array (d->a, d->process.rlimits, d->process.n_rlimits, sizeof *d->rlimits);
    if (!d->mounts || !d->mount_origin || !d->namespaces || !d->rlimits)
        return err_oom (d->e);
    for (size_t i = 0; i < d->config.n_mounts; i++)
        d->mount_origin[i] = i;
    return 0;
}

int draft_begin (struct draft *d)
{
    d->config = *d->in->config;
    begin_policy (d);
    begin_process (d);
    begin_linux (d);
    OWN (d->config, root, d->root)
    return begin_arrays (d);
}

/* ---- parts ---- */
struct oci_process *draft_process (struct draft *d)
{
    d->config.process = &d->process;
    return &d->process;
}

struct oci_linux *draft_linux (struct draft *d)
{
    d->config.linux_ = &d->linux_;
    return &d->linux_;
}

struct oci_linux_resources *draft_resources (struct draft *d)
{
    draft_linux (d)->resources = &d->resources;
    return &d->resources;
}

struct oci_memory *draft_memory (struct draft *d)
{
    draft_resources (d)->memory = &d->memory;
    return &d->memory;
}

struct oci_cpu *draft_cpu (struct draft *d)
{
    draft_resources (d)->cpu = &d->cpu;
    return &d->cpu;
}

struct oci_pids *draft_pids (struct draft *d)
{
    draft_resources (d)->pids = &d->pids;
    return &d->pids;
}

bool draft_had_namespace (const struct draft *d, int kind)
{
    const struct oci_linux *l = d->in->config->linux_;

    for (size_t i = 0; l && i < l->n_namespaces; i++)
        if (l->namespaces[i].type == kind)
            return true;
    return false;
}

/* ---- decisions ---- */
static int grow (struct draft *d)
{
    size_t max = d->max_decisions ? 2 * d->max_decisions : 64;
    struct policy_decision *more = arena_calloc (d->a, max, sizeof *more);

    if (!more)
        return err_oom (d->e);
    if (d->n_decisions > 0)
        memcpy (more, d->decisions, d->n_decisions * sizeof *more);
    d->decisions = more;
    d->max_decisions = max;
    return 0;
}

int draft_note (struct draft *d, const struct policy_decision *x)
{
    struct policy_decision *to;

    if (!x->path || (d->n_decisions == d->max_decisions && grow (d) < 0))
        return err_oom (d->e);
    to = &d->decisions[d->n_decisions++];
    *to = *x;
    if (d->rule) {
        to->rule = x->rule ?: d->rule->name;
        to->reason = x->reason ?: d->rule->why;
    }
    if (x->action == POLICY_TIGHTENED && d->doc.conflict == OCI_CONFLICT_REFUSE)
        to->action = POLICY_REFUSED;
    return 0;
}

int draft_drop_annotations (struct draft *d, bool (*is_dropped) (const char *key),
                            const struct policy_decision *like)
{
    struct oci_kv *kept = arena_calloc (d->a, d->config.n_annotations + 1, sizeof *kept);
    size_t n = 0;

    if (!kept)
        return err_oom (d->e);
    for (size_t i = 0; i < d->config.n_annotations; i++) {
        const struct oci_kv *kv = &d->config.annotations[i];
        struct policy_decision x = { .action = POLICY_TIGHTENED, .before = kv->value };

        if (!is_dropped (kv->key)) {
            kept[n++] = *kv;
            continue;
        }
        x.path = arena_printf (d->a, "/annotations/%s", kv->key);
        x.rule = like ? like->rule : NULL;
        x.reason = like ? like->reason : NULL;
        if (draft_note (d, &x) < 0)
            return -d->e->code;
    }
    if (n < d->config.n_annotations) {
        d->config.annotations = kept;
        d->config.n_annotations = n;
    }
    return 0;
}

int draft_refuse (struct draft *d, const char *path, const char *before, const char *reason)
{
    if (!reason)
        return err_oom (d->e);
    return draft_note (
        d, &(struct policy_decision){
               .path = path, .action = POLICY_REFUSED, .before = before, .reason = reason });
}

/* ---- setting ---- */
int draft_set_bool (struct draft *d, const char *path, bool *has, bool *value, bool want)
{
    const struct policy_decision x = { .path = path,
                                       .action = *has ? POLICY_TIGHTENED : POLICY_ADDED,
                                       .before = !*has    ? NULL
                                                 : *value ? "true"
                                                          : "false",
                                       .after = want ? "true" : "false" };

    if (*has && *value == want)
        return 0;
    *has = true;
    *value = want;
    return draft_note (d, &x);
}

int draft_cap_number (struct draft *d, const char *path, bool *has, int64_t *value, int64_t low,
                      int64_t ceiling)
{
    struct policy_decision x = { .path = path, .action = *has ? POLICY_TIGHTENED : POLICY_ADDED };

    if (ceiling < 0 || (*has && *value >= low && *value <= ceiling))
        return 0;
    x.before = *has ? draft_number (d->a, *value) : NULL;
    x.after = draft_number (d->a, ceiling);
    if ((*has && !x.before) || !x.after)
        return err_oom (d->e);
    *has = true;
    *value = ceiling;
    return draft_note (d, &x);
}

/* OUT (N) in the place of L. */
static int replace_strings (struct draft *d, const struct draft_list *l, const char **out, size_t n,
                            const struct policy_decision *x)
{
    if ((*l->list && !x->before) || !x->after)
        return err_oom (d->e);
    *l->list = out;
    *l->n = n;
    return draft_note (d, x);
}

int draft_add_strings (struct draft *d, const struct draft_list *l, const char *const *more,
                       size_t n_more)
{
    const char **out = arena_calloc (d->a, *l->n + n_more + 1, sizeof *out);
    struct policy_decision x = { .path = l->path, .action = POLICY_ADDED };
    size_t n = 0;

    if (!out)
        return err_oom (d->e);
    for (size_t i = 0; i < *l->n; i++)
        out[n++] = (*l->list)[i];
    for (size_t i = 0; i < n_more; i++)
        if (!draft_has (*l->list, *l->n, more[i]))
            out[n++] = more[i];
    if (n == *l->n)
        return 0;
    x.before = *l->list ? arena_printf (d->a, "%zu listed", *l->n) : NULL;
    x.after = draft_words (d->a, out + *l->n, n - *l->n);
    if (x.before && x.after)
        x.after = arena_printf (d->a, "%s, and %s", x.before, x.after);
    return replace_strings (d, l, out, n, &x);
}

int draft_keep_strings (struct draft *d, const struct draft_list *l, const char *const *keep,
                        size_t n_keep)
{
    const char **out = arena_calloc (d->a, *l->n + 1, sizeof *out);
    struct policy_decision x = { .path = l->path, .action = POLICY_TIGHTENED };
    size_t n = 0;

    if (!out)
        return err_oom (d->e);
    for (size_t i = 0; i < *l->n; i++)
        if (draft_has (keep, n_keep, (*l->list)[i]))
            out[n++] = (*l->list)[i];
    if (n == *l->n)
        return 0;
    x.before = draft_words (d->a, *l->list, *l->n);
    x.after = draft_words (d->a, out, n);
    return replace_strings (d, l, out, n, &x);
}

/* ---- mounts ---- */
const char *draft_mount_path (const struct draft *d, size_t i)
{
    if (d->mount_origin[i] == SIZE_MAX)
        return "/mounts";
    return arena_printf (d->a, "/mounts[%zu]", d->mount_origin[i]);
}

const char *draft_mount_text (const struct draft *d, size_t i)
{
    const struct oci_mount *m = &d->mounts[i];
    const char *options = draft_words (d->a, m->options, m->n_options);

    if (!options)
        return NULL;
    return arena_printf (d->a, "%s on %s: %s", m->source ?: m->type ?: "(nothing)", m->destination,
                         options);
}

/* What of mount I an option changes. */
static const char *options_text (const struct draft *d, size_t i)
{
    const struct oci_mount *m = &d->mounts[i];
    const char *options = draft_words (d->a, m->options, m->n_options);

    return options ? arena_printf (d->a, "%s: %s", m->destination, options) : NULL;
}

static int mounts_changed (struct draft *d, size_t n, const struct policy_decision *x)
{
    d->config.mounts = d->mounts;
    d->config.n_mounts = n;
    return draft_note (d, x);
}

int draft_mount_options (struct draft *d, size_t i, const char *const *options, size_t n)
{
    struct policy_decision x = { .path = draft_mount_path (d, i), .action = POLICY_TIGHTENED };

    x.before = options_text (d, i);
    d->mounts[i].options = options;
    d->mounts[i].n_options = n;
    x.after = options_text (d, i);
    return x.before && x.after ? mounts_changed (d, d->config.n_mounts, &x) : err_oom (d->e);
}

int draft_mount_add (struct draft *d, size_t i, const char *option)
{
    const struct oci_mount *m = &d->mounts[i];
    const char **out = arena_calloc (d->a, m->n_options + 2, sizeof *out);

    if (!out || !option)
        return err_oom (d->e);
    for (size_t k = 0; k < m->n_options; k++)
        out[k] = m->options[k];
    out[m->n_options] = option;
    return draft_mount_options (d, i, out, m->n_options + 1);
}

int draft_mount_drop (struct draft *d, size_t i, const char *reason)
{
    const struct policy_decision x = { .path = draft_mount_path (d, i),
                                       .action = POLICY_TIGHTENED,
                                       .before = draft_mount_text (d, i),
                                       .reason = reason };
    size_t left = d->config.n_mounts - i - 1;

    memmove (&d->mounts[i], &d->mounts[i + 1], left * sizeof d->mounts[0]);
    memmove (&d->mount_origin[i], &d->mount_origin[i + 1], left * sizeof d->mount_origin[0]);
    return x.before ? mounts_changed (d, d->config.n_mounts - 1, &x) : err_oom (d->e);
}

int draft_mount_new (struct draft *d, size_t i, const struct oci_mount *m)
{
    size_t behind = d->config.n_mounts - i;
    struct policy_decision x = { .path = "/mounts", .action = POLICY_ADDED };

    memmove (&d->mounts[i + 1], &d->mounts[i], behind * sizeof d->mounts[0]);
    memmove (&d->mount_origin[i + 1], &d->mount_origin[i], behind * sizeof d->mount_origin[0]);
    d->mounts[i] = *m;
    d->mount_origin[i] = SIZE_MAX;
    x.after = draft_mount_text (d, i);
    return x.after ? mounts_changed (d, d->config.n_mounts + 1, &x) : err_oom (d->e);
}

/* ---- text ---- */
const char *draft_words (struct arena *a, const char *const *list, size_t n)
{
    AUTO_STRBUF b = { 0 };

    for (size_t i = 0; i < n; i++)
        strbuf_addf (&b, i ? " %s" : "%s", list[i]);
    if (b.failed)
        return NULL;
    return b.len ? arena_strdup (a, b.s) : "(none)";
}

const char *draft_number (struct arena *a, int64_t n)
{
    return arena_printf (a, "%" PRId64, n);
}

bool draft_has (const char *const *list, size_t n, const char *s)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp (list[i], s) == 0)
            return true;
    return false;
}
