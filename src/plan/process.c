/*
 * The process of the plan: arguments, environment, identity, limits.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "plan/build.h"
#include "spec/names.h"

#define DEFAULT_UMASK 0022 /* what runc and crun use when the config says nothing */

static char *const *copy_strings (struct arena *a, const char *const *list, size_t n)
{
    char **out = arena_calloc (a, n + 1, sizeof *out);

    for (size_t i = 0; out && i < n; i++) {
        out[i] = arena_strdup (a, list[i]);
        if (!out[i])
            return NULL;
    }
    return out;
}

/* ---- environment ---- */
static size_t name_length (const char *entry)
{
    return (size_t)(strchrnul (entry, '=') - entry);
}

/* Hash of an entry's name, to find equal names without comparing all with all (100k variables). */
static size_t name_hash (const char *entry)
{
    size_t h = 5381;

    for (size_t i = 0, n = name_length (entry); i < n; i++)
        h = h * 33 + (unsigned char)entry[i];
    return h;
}

static bool same_name (const char *a, const char *b)
{
    size_t n = name_length (a);

    return n == name_length (b) && memcmp (a, b, n) == 0;
}

struct env_table {
    char **list; /* the environment so far */
    size_t n;
    size_t *slots; /* index + 1 into list, by hash; 0: free */
    size_t mask;
};

/* Of equal names the last one wins, at the place of the first (as runc). */
static void env_add (struct env_table *t, char *entry)
{
    size_t slot = name_hash (entry) & t->mask;

    while (t->slots[slot] && !same_name (t->list[t->slots[slot] - 1], entry))
        slot = (slot + 1) & t->mask;
    if (!t->slots[slot]) {
        t->list[t->n++] = entry;
        t->slots[slot] = t->n;
    } else {
        t->list[t->slots[slot] - 1] = entry;
    }
}

static int env_table_make (struct env_table *t, size_t n, struct arena *a)
{
    size_t size = 16;

    while (size < n * 2)
        size *= 2;
    *t = (struct env_table){ .list = arena_calloc (a, n + 1, sizeof *t->list),
                             .slots = arena_calloc (a, size, sizeof *t->slots),
                             .mask = size - 1 };
    return t->list && t->slots ? 0 : -1;
}

static const char *env_value (char *const *env, const char *name)
{
    size_t n = strlen (name);

    for (; *env; env++)
        if (strncmp (*env, name, n) == 0 && (*env)[n] == '=')
            return *env + n + 1;
    return NULL;
}

/* HOME comes from the container's passwd when it is missing or empty (as runc). */
static char **home_slot (char **env)
{
    for (; *env && strcmp (*env, "HOME=") != 0; env++)
        if (strncmp (*env, "HOME=", 5) == 0)
            return NULL;
    return env;
}

#define SPARE_ENV 3 /* LISTEN_FDS, LISTEN_PID, and HOME that the child fills in */

static int build_env (const struct plan_input *in, const struct oci_process *p, struct arena *a,
                      struct plan_process *ret)
{
    char *const *given = copy_strings (a, p->env, p->n_env);
    struct env_table t;

    if (!given || env_table_make (&t, p->n_env + SPARE_ENV, a) < 0)
        return -1;
    for (size_t i = 0; i < p->n_env; i++)
        env_add (&t, given[i]);
    if (in->host.listen_fds > 0) {
        char *count = arena_printf (a, "LISTEN_FDS=%u", in->host.listen_fds);
        char *pid = arena_strdup (a, "LISTEN_PID=1");

        if (!count || !pid)
            return -1;
        env_add (&t, count);
        env_add (&t, pid);
    }
    ret->env = t.list;
    ret->path = env_value (ret->env, "PATH");
    ret->home_slot = home_slot (ret->env);
    return 0;
}

/* ---- capabilities ---- */
/* Names that this build does not know are left out: the spec wants a warning, which exec/ gives.
 * What the caller does not have cannot be handed on; it is left out too, and noted. */
static uint64_t cap_bits (const char *const *names, size_t n)
{
    uint64_t bits = 0;

    for (size_t i = 0; i < n; i++) {
        int cap = names_cap (names[i]);

        if (cap >= 0)
            bits |= UINT64_C (1) << cap;
    }
    return bits;
}

/* A user namespace starts with every capability, whatever the caller has. */
static uint64_t givable_caps (const struct plan_input *in, const struct plan *p)
{
    return p->ns[NS_USER].mode == NS_INHERIT ? in->host.permitted : UINT64_MAX;
}

static void build_caps (uint64_t givable, const struct oci_capabilities *c,
                        struct plan_process *ret)
{
    uint64_t all;

    if (!c)
        return;
    ret->caps[CAPS_BOUNDING] = cap_bits (c->bounding, c->n_bounding);
    ret->caps[CAPS_EFFECTIVE] = cap_bits (c->effective, c->n_effective);
    ret->caps[CAPS_INHERITABLE] = cap_bits (c->inheritable, c->n_inheritable);
    ret->caps[CAPS_PERMITTED] = cap_bits (c->permitted, c->n_permitted);
    ret->caps[CAPS_AMBIENT] = cap_bits (c->ambient, c->n_ambient);
    for (int set = 0; set < CAPS_COUNT; set++) {
        all = ret->caps[set];
        ret->caps[set] &= givable;
        ret->caps_withheld |= all & ~givable;
    }
    /* The kernel's rule (capabilities(7)); the spec wants a warning, not an error. */
    all = ret->caps[CAPS_AMBIENT];
    ret->caps[CAPS_AMBIENT] &= ret->caps[CAPS_PERMITTED] & ret->caps[CAPS_INHERITABLE];
    ret->ambient_withheld = all & ~ret->caps[CAPS_AMBIENT];
}

/* ---- limits ---- */
static bool raises (const struct plan_host *host, int resource, uint64_t hard)
{
    return host->rlimits && hard > host->rlimits[resource].rlim_max;
}

static int build_rlimits (const struct plan_input *in, const struct oci_process *p, struct arena *a,
                          struct plan_process *ret)
{
    struct plan_rlimit *out = arena_calloc (a, p->n_rlimits, sizeof *out);

    if (!out)
        return -1;
    for (size_t i = 0; i < p->n_rlimits; i++) {
        const struct oci_rlimit *r = &p->rlimits[i];

        out[i] = (struct plan_rlimit){
            .resource = names_rlimit (r->type), .name = r->type, .soft = r->soft, .hard = r->hard
        };
        if (raises (&in->host, out[i].resource, r->hard))
            ret->raises_rlimits = true;
    }
    ret->rlimits = out;
    ret->n_rlimits = p->n_rlimits;
    return 0;
}

static int compare_ids (const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a;
    uint32_t y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

/* Sorted, so that the child can compare tens of thousands with the kernel's at once. */
static int build_groups (const struct oci_user *u, struct arena *a, struct plan_process *ret)
{
    uint32_t *gids = arena_calloc (a, u->n_additional_gids + 1, sizeof *gids);

    if (!gids)
        return -ENOMEM;
    if (u->n_additional_gids) {
        memcpy (gids, u->additional_gids, u->n_additional_gids * sizeof *gids);
        qsort (gids, u->n_additional_gids, sizeof *gids, compare_ids);
    }
    ret->gids = gids;
    ret->n_gids = u->n_additional_gids;
    return 0;
}

static int build_identity (const struct oci_process *p, struct arena *a, struct plan_process *ret)
{
    static const struct oci_user root = { 0 };
    const struct oci_user *u = p->user ?: &root;

    ret->uid = u->uid;
    ret->gid = u->gid;
    ret->umask = u->has_umask ? u->umask : DEFAULT_UMASK;
    return build_groups (u, a, ret);
}

static void build_scalars (const struct oci_process *p, struct plan_process *ret)
{
    ret->cwd = p->cwd;
    ret->terminal = p->has_terminal && p->terminal;
    if (ret->terminal && p->console_size) {
        ret->rows = (uint16_t)p->console_size->height;
        ret->cols = (uint16_t)p->console_size->width;
    }
    ret->no_new_privs = p->has_no_new_privileges && p->no_new_privileges;
    ret->has_oom_score_adj = p->has_oom_score_adj;
    ret->oom_score_adj = p->oom_score_adj;
    ret->apparmor = p->apparmor_profile && p->apparmor_profile[0] ? p->apparmor_profile : NULL;
    ret->selinux = p->selinux_label && p->selinux_label[0] ? p->selinux_label : NULL;
    ret->scheduler = p->scheduler;
    ret->io_priority = p->io_priority;
    ret->cpu_affinity = p->exec_cpu_affinity;
}

int plan_build_process (const struct plan_input *in, struct arena *a, struct plan *ret,
                        struct err *e)
{
    const struct oci_process *p = in->process ?: in->config->process;
    struct plan_process *out = &ret->process;

    if (p->n_args == 0)
        return err_set (e, EINVAL, "/process/args: must not be empty");
    out->args = copy_strings (a, p->args, p->n_args);
    if (!out->args || build_env (in, p, a, out) < 0)
        return err_oom (e);
    if (build_identity (p, a, out) < 0)
        return err_oom (e);
    build_scalars (p, out);
    build_caps (givable_caps (in, ret), p->capabilities, out);
    return build_rlimits (in, p, a, out) < 0 ? err_oom (e) : 0;
}
