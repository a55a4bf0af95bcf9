/*
 * Annotations io.agentrt.KEY: what a config asks for beyond what the policy gives, as far as the
 * policy's `allow` lets it.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/str.h"
#include "policy/rules.h"
#include "spec/unitprop.h"

#define PREFIX "io.agentrt."

/* What agentrt itself says in a state's annotations. */
static const char *const results[] = { "policy", "policy.file", "policy.digest", "tightened",
                                       NULL };

struct request {
    const char *key;
    int (*grant) (struct draft *d, const struct request *r, const char *value);
    size_t gives;          /* what the policy gives: offset in struct draft */
    size_t max;            /* how far it may go: offset in struct oci_policy_allow */
    size_t has_max;        /* numbers: likewise */
    int64_t least;         /* numbers: 0 lifts some limits instead of being the lowest of all */
    size_t n_gives, n_max; /* lists: of their lengths */
};

static const struct oci_policy_allow nothing = { 0 };

static const struct oci_policy_allow *allow_of (const struct draft *d)
{
    return d->doc.allow ?: &nothing;
}

/* The rule that a request's decision names. */
static const char *rule_name (const struct draft *d, const struct request *r)
{
    return arena_printf (d->a, "allow.%s", r->key);
}

/* Something is added to a container that is there. */
static bool comes_later (const struct draft *d)
{
    return d->in->process || d->in->adds_mounts || d->in->update;
}

static int note (struct draft *d, const struct request *r, const char *value,
                 enum policy_action action, const char *reason)
{
    struct policy_decision x = { .action = action, .before = value, .reason = reason };

    if (comes_later (d))
        return 0; /* what the container was given holds for what is added to it */
    x.path = arena_printf (d->a, "/annotations/" PREFIX "%s", r->key);
    x.after = action == POLICY_KEPT ? value : NULL;
    x.rule = rule_name (d, r);
    return x.rule && reason ? draft_note (d, &x) : err_oom (d->e);
}

static int granted (struct draft *d, const struct request *r, const char *value)
{
    return note (d, r, value, POLICY_KEPT, "asked for, and within what the policy allows");
}

/* ---- numbers ---- */

/* Digits, and k, m or g for powers of 1024; "-1" is none. False: no such number. */
static bool parse_number (const char *text, int64_t *ret)
{
    static const char units[] = "kmg";
    size_t digits = strspn (text, "0123456789");
    const char *unit = text[digits] ? strchr (units, text[digits] | 0x20) : NULL;

    if (strcmp (text, "-1") == 0) {
        *ret = -1;
        return true;
    }
    if (digits == 0 || digits > 18 || (text[digits] && (!unit || text[digits + 1])))
        return false;
    *ret = strtoll (text, NULL, 10);
    for (const char *u = units; unit && u <= unit; u++)
        if (__builtin_mul_overflow (*ret, 1024, ret))
            return false;
    return true;
}

/* -1 is more than any number. */
static bool is_at_most (int64_t n, int64_t max)
{
    return max < 0 || (n >= 0 && n <= max);
}

static int grant_number (struct draft *d, const struct request *r, const char *value)
{
    const char *allow = (const char *)allow_of (d);
    int64_t *gives = (int64_t *)(void *)((char *)d + r->gives);
    int64_t n, max;
    bool has;

    memcpy (&has, allow + r->has_max, sizeof has);
    memcpy (&max, allow + r->max, sizeof max);
    if (!parse_number (value, &n))
        return note (d, r, value, POLICY_REFUSED, "not a number: digits, and k, m or g behind");
    if (n >= 0 && n < r->least)
        return note (d, r, value, POLICY_REFUSED, "0 would be no limit at all");
    if (!is_at_most (n, *gives) && !has)
        return note (
            d, r, value, POLICY_REFUSED,
            arena_printf (d->a, "the policy gives %" PRId64 " and allows no more", *gives));
    if (!is_at_most (n, *gives) && !is_at_most (n, max))
        return note (d, r, value, POLICY_REFUSED,
                     arena_printf (d->a, "the policy allows up to %" PRId64, max));
    if (n >= 0 || has)
        *gives = n;
    return granted (d, r, value);
}

/* ---- words ---- */
static int grant_writable_root (struct draft *d, const struct request *r, const char *value)
{
    if (strcmp (value, "true") != 0 && strcmp (value, "false") != 0)
        return note (d, r, value, POLICY_REFUSED, "neither true nor false");
    if (value[0] == 't' && d->doc_rootfs.readonly && !allow_of (d)->writable_root)
        return note (d, r, value, POLICY_REFUSED, "the policy does not allow a writable root");
    if (value[0] == 't')
        d->doc_rootfs.readonly = false;
    return granted (d, r, value);
}

static int grant_network (struct draft *d, const struct request *r, const char *value)
{
    const struct oci_policy_allow *allow = allow_of (d);
    int network = oci_enum_value (&oci_policy_network_enum, value, strlen (value));

    if (network < 0)
        return note (d, r, value, POLICY_REFUSED, "neither none nor engine");
    if (network == OCI_NETWORK_ENGINE && d->doc.network == OCI_NETWORK_NONE &&
        !(allow->has_network && allow->network == OCI_NETWORK_ENGINE))
        return note (d, r, value, POLICY_REFUSED, "the policy does not allow the engine's network");
    d->doc.network = network;
    return granted (d, r, value);
}

/* ---- lists ---- */

struct list {
    const char *const *v;
    size_t n;
};

/* The words between the commas of VALUE. */
static int split (struct arena *a, const char *value, struct list *ret)
{
    size_t max = 1;
    const char **out;
    size_t n = 0;

    for (const char *c = value; *c; c++)
        max += *c == ',';
    out = arena_calloc (a, max + 1, sizeof *out);
    for (size_t len; out && *value; value += len + (value[len] == ',')) {
        len = strcspn (value, ",");
        if (len > 0 && !(out[n++] = arena_strndup (a, value, len)))
            return -1;
    }
    *ret = (struct list){ out, n };
    return out ? 0 : -1;
}

static struct list list_at (const void *base, size_t v, size_t n)
{
    return (struct list){ *(const char *const *const *)(const void *)((const char *)base + v),
                          *(const size_t *)(const void *)((const char *)base + n) };
}

/* What the policy gives gets what of VALUE may be asked for. */
static int grant_list (struct draft *d, const struct request *r, const char *value)
{
    const struct list given = list_at (d, r->gives, r->n_gives);
    const struct list may = list_at (allow_of (d), r->max, r->n_max);
    struct list asked;
    const char **out;
    size_t n = given.n;

    if (split (d->a, value, &asked) < 0)
        return err_oom (d->e);
    out = arena_calloc (d->a, given.n + asked.n + 1, sizeof *out);
    if (!out)
        return err_oom (d->e);
    if (n > 0)
        memcpy (out, given.v, n * sizeof *out);
    for (size_t i = 0; i < asked.n; i++) {
        if (draft_has (given.v, given.n, asked.v[i]))
            continue;
        if (!draft_has (may.v, may.n, asked.v[i]) && !draft_has (may.v, may.n, "ALL"))
            return note (d, r, value, POLICY_REFUSED,
                         arena_printf (d->a, "the policy does not allow '%s'", asked.v[i]));
        out[n++] = asked.v[i];
    }
    *(const char *const **)(void *)((char *)d + r->gives) = out;
    *(size_t *)(void *)((char *)d + r->n_gives) = n;
    return granted (d, r, value);
}

/* ---- all of them ---- */
#define NUMBER(key_, least_, gives_, max_)                                                         \
    {                                                                                              \
        .key = key_, .grant = grant_number, .gives = offsetof (struct draft, gives_),              \
        .max = offsetof (struct oci_policy_allow, max_),                                           \
        .has_max = offsetof (struct oci_policy_allow, has_##max_), .least = least_                 \
    }
#define LIST(key_, section, gives_, max_)                                                          \
    {                                                                                              \
        .key = key_, .grant = grant_list, .gives = offsetof (struct draft, section.gives_),        \
        .max = offsetof (struct oci_policy_allow, max_),                                           \
        .n_gives = offsetof (struct draft, section.n_##gives_),                                    \
        .n_max = offsetof (struct oci_policy_allow, n_##max_)                                      \
    }
static const struct request requests[] = {
    NUMBER ("memory", 1, doc_limits.memory, memory),
    NUMBER ("swap", 0, doc_limits.swap, swap),
    NUMBER ("milliCpus", 1, doc_limits.milli_cpus, milli_cpus),
    NUMBER ("pids", 1, doc_limits.pids, pids),
    NUMBER ("nofile", 1, doc_limits.nofile, nofile),
    NUMBER ("core", 0, doc_limits.core, core),
    NUMBER ("tmpSize", 1, doc_tmp.size, tmp_size),
    NUMBER ("shmSize", 1, doc_shm.size, shm_size),
    { .key = "writableRoot", .grant = grant_writable_root },
    { .key = "network", .grant = grant_network },
    LIST ("capabilities", doc, capabilities, capabilities),
    LIST ("devices", doc_devices, allowed, devices),
    LIST ("mounts", doc_mounts, accept, mounts),
};

static const struct request *find (const char *key)
{
    for (size_t i = 0; i < ARRAY_LEN (requests); i++)
        if (strcmp (requests[i].key, key) == 0)
            return &requests[i];
    return NULL;
}

static int refuse_unknown (struct draft *d, const char *key, const char *value)
{
    const struct request unknown = { .key = key };
    AUTO_STRBUF b = { 0 };

    strbuf_addf (&b, "there is no such request; these are known:");
    for (size_t i = 0; i < ARRAY_LEN (requests); i++)
        strbuf_addf (&b, " %s", requests[i].key);
    return note (d, &unknown, value, POLICY_REFUSED, b.failed ? NULL : arena_strdup (d->a, b.s));
}

static int take (struct draft *d, const struct oci_kv *kv)
{
    const char *key = kv->key + strlen (PREFIX);
    const struct request *r = find (key);

    return r ? r->grant (d, r, kv->value) : refuse_unknown (d, key, kv->value);
}

static bool is_result (const char *key)
{
    return str_has_prefix (key, PREFIX) && str_is_in (key + strlen (PREFIX), results);
}

/* Nobody may speak for agentrt: the state's annotations are read as what it did. */
static int drop_results (struct draft *d)
{
    static const struct policy_decision like = { .rule = "annotations",
                                                 .reason =
                                                     "what agentrt did, not what is asked of it" };

    return draft_drop_annotations (d, is_result, &like);
}

static bool is_harmful_property (const char *key)
{
    return str_has_prefix (key, UNITPROP_PREFIX) && !unitprop_is_harmless (key);
}

/* With the cgroup as the engine says, so is its unit: cgroup/ sets what is in its list. */
int rule_cgroup_properties (struct draft *d)
{
    if (d->doc.cgroup == OCI_CGROUP_ENGINE)
        return 0;
    return draft_drop_annotations (d, is_harmful_property, NULL);
}

/* `oci` gives everything that can be asked for, and takes a config as it is. */
static bool takes_all (const struct draft *d)
{
    return !d->policy->file && strcmp (d->policy->name, "oci") == 0;
}

int draft_take_requests (struct draft *d)
{
    if (takes_all (d))
        return 0;
    if (!comes_later (d) && drop_results (d) < 0)
        return -d->e->code;
    for (size_t i = 0; i < d->config.n_annotations; i++)
        if (str_has_prefix (d->config.annotations[i].key, PREFIX) &&
            take (d, &d->config.annotations[i]) < 0)
            return -d->e->code;
    return 0;
}
