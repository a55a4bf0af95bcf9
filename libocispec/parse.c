#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "json.h"
#include "type.h"

struct parse {
    const struct json_node *root;
    struct arena *arena;
    struct oci_parse_info *info;
    bool null_any; /* in features and policies null is absent for scalars too */
    struct err *e;
};

/* "PATH: WHAT"; NODE is what PATH leads to, MEMBER (may be NULL) one more key. */
static int fail (const struct parse *p, const struct json_node *node, const char *member,
                 const char *what)
{
    char path[JSON_PATH_MAX];

    (void)json_path (p->root, node, path);
    return err_set (p->e, EINVAL, "%s%s%s: %s", path, member || !*path ? "/" : "", member ?: "",
                    what);
}

static int fail_type (const struct parse *p, const struct json_node *n, const char *expected)
{
    static const char *const found[] = {
        [JSON_NULL] = "null",       [JSON_BOOL] = "a boolean", [JSON_NUMBER] = "a number",
        [JSON_STRING] = "a string", [JSON_ARRAY] = "an array", [JSON_OBJECT] = "an object",
    };
    char what[80];

    (void)snprintf (what, sizeof what, "expected %s, found %s", expected, found[n->kind]);
    return fail (p, n, NULL, what);
}

/* ---- scalars: each stores into SLOT ---- */

static int parse_string (const struct parse *p, const struct oci_prop *prop,
                         const struct json_node *n, void *slot)
{
    (void)prop;
    if (n->kind != JSON_STRING)
        return fail_type (p, n, "a string");
    *(const char **)slot = arena_strndup (p->arena, n->text, n->len);
    return *(const char **)slot ? 0 : err_oom (p->e);
}

static int parse_bool (const struct parse *p, const struct oci_prop *prop,
                       const struct json_node *n, void *slot)
{
    (void)prop;
    if (n->kind != JSON_BOOL)
        return fail_type (p, n, "a boolean");
    *(bool *)slot = n->truth;
    return 0;
}

/* Digits only: JSON's grammar leaves fractions, exponents and "-0" to refuse. */
static bool is_integer (const struct json_node *n)
{
    size_t sign = n->text[0] == '-';

    for (size_t i = sign; i < n->len; i++)
        if (n->text[i] < '0' || n->text[i] > '9')
            return false;
    return !sign || n->text[1] != '0';
}

/* The magnitude; false when it does not fit. */
static bool magnitude (const struct json_node *n, uint64_t *ret)
{
    uint64_t v = 0;

    for (size_t i = n->text[0] == '-'; i < n->len; i++)
        if (__builtin_mul_overflow (v, 10u, &v) ||
            __builtin_add_overflow (v, (uint64_t)(n->text[i] - '0'), &v))
            return false;
    *ret = v;
    return true;
}

static bool in_range (const struct json_node *n, const struct oci_prop *prop, uint64_t *ret)
{
    uint64_t v;

    if (!magnitude (n, &v))
        return false;
    if (n->text[0] != '-') {
        *ret = v;
        return v <= prop->max && (prop->min <= 0 || v >= (uint64_t)prop->min);
    }
    *ret = -v;
    return prop->min < 0 && v <= -(uint64_t)prop->min;
}

static void store (void *slot, uint64_t v, unsigned char width)
{
    if (width == sizeof (uint16_t))
        *(uint16_t *)slot = (uint16_t)v;
    else if (width == sizeof (uint32_t))
        *(uint32_t *)slot = (uint32_t)v;
    else
        *(uint64_t *)slot = v;
}

static int parse_number (const struct parse *p, const struct oci_prop *prop,
                         const struct json_node *n, void *slot)
{
    char quote[JSON_QUOTE_MAX];
    char what[JSON_QUOTE_MAX + 80];
    uint64_t v;

    if (n->kind != JSON_NUMBER)
        return fail_type (p, n, "an integer");
    if (!is_integer (n)) {
        (void)snprintf (what, sizeof what, "expected an integer, found %s", json_quote (n, quote));
        return fail (p, n, NULL, what);
    }
    if (!in_range (n, prop, &v)) {
        (void)snprintf (what, sizeof what, "%s is out of range (%" PRId64 " to %" PRIu64 ")",
                        json_quote (n, quote), prop->min, prop->max);
        return fail (p, n, NULL, what);
    }
    store (slot, v, prop->width);
    return 0;
}

static int parse_choice (const struct parse *p, const struct oci_prop *prop,
                         const struct json_node *n, void *slot)
{
    char quote[JSON_QUOTE_MAX];
    char what[JSON_QUOTE_MAX + 24];
    int v;

    if (n->kind != JSON_STRING)
        return fail_type (p, n, "a string");
    v = oci_enum_value (prop->values, n->text, n->len);
    if (v < 0) {
        (void)snprintf (what, sizeof what, "unknown value '%s'", json_quote (n, quote));
        return fail (p, n, NULL, what);
    }
    *(int *)slot = v;
    return 0;
}

static int parse_struct (const struct parse *p, const struct oci_type *t, const struct json_node *n,
                         void *doc);

static int parse_object (const struct parse *p, const struct oci_prop *prop,
                         const struct json_node *n, void *slot)
{
    return parse_struct (p, prop->type, n, slot);
}

static int (*const parse_element[]) (const struct parse *p, const struct oci_prop *prop,
                                     const struct json_node *n, void *slot) = {
    [OCI_KIND_STRING] = parse_string, [OCI_KIND_BOOL] = parse_bool,
    [OCI_KIND_NUMBER] = parse_number, [OCI_KIND_CHOICE] = parse_choice,
    [OCI_KIND_OBJECT] = parse_object,
};

/* ---- shapes: one, array, map ---- */

static int parse_one (const struct parse *p, const struct oci_prop *prop, const struct json_node *n,
                      void *doc)
{
    void *slot = oci_at (doc, prop->offset);

    if (prop->aux)
        *(bool *)oci_at (doc, prop->aux) = true;
    if (prop->kind == OCI_KIND_OBJECT) {
        void *object = arena_alloc (p->arena, prop->type->size);

        if (!object)
            return err_oom (p->e);
        *(void **)slot = object;
        slot = object;
    }
    return parse_element[prop->kind](p, prop, n, slot);
}

/* One element more than N has: the NULL behind strings, and a pointer for an empty array. */
static void *new_elements (const struct parse *p, const struct oci_prop *prop,
                           const struct json_node *n, void *doc)
{
    void *elements = arena_calloc (p->arena, (size_t)n->n + 1, oci_prop_size (prop));

    *(void **)oci_at (doc, prop->offset) = elements;
    *(size_t *)oci_at (doc, prop->aux) = n->n;
    return elements;
}

static int parse_array (const struct parse *p, const struct oci_prop *prop,
                        const struct json_node *n, void *doc)
{
    const struct json_node *c = n + 1;
    size_t size = oci_prop_size (prop);
    void *slot;
    int r = 0;

    if (n->kind != JSON_ARRAY)
        return fail_type (p, n, "an array");
    slot = new_elements (p, prop, n, doc);
    if (!slot)
        return err_oom (p->e);
    for (size_t i = 0; i < n->n && r == 0; i++, c += c->size, slot = oci_at (slot, size))
        r = parse_element[prop->kind](p, prop, c, slot);
    return r;
}

static int parse_map (const struct parse *p, const struct oci_prop *prop, const struct json_node *n,
                      void *doc)
{
    const struct json_node *key = n + 1;
    size_t size = oci_prop_size (prop);
    size_t value = prop->kind == OCI_KIND_STRING ? offsetof (struct oci_kv, value) : 0;
    void *slot;
    int r = 0;

    if (n->kind != JSON_OBJECT)
        return fail_type (p, n, "an object");
    slot = new_elements (p, prop, n, doc);
    if (!slot)
        return err_oom (p->e);
    for (size_t i = 0; i < n->n && r == 0;
         i++, key += 1 + key[1].size, slot = oci_at (slot, size)) {
        *(const char **)slot = arena_strndup (p->arena, key->text, key->len);
        if (!*(const char **)slot)
            return err_oom (p->e);
        r = parse_element[prop->kind](p, prop, key + 1, oci_at (slot, value));
    }
    return r;
}

static int (*const parse_shape[]) (const struct parse *p, const struct oci_prop *prop,
                                   const struct json_node *n, void *doc) = {
    [OCI_ONE] = parse_one,
    [OCI_ARRAY] = parse_array,
    [OCI_MAP] = parse_map,
};

/* ---- objects ---- */

static const struct oci_prop *find_prop (const struct oci_type *t, const struct json_node *key)
{
    for (size_t i = 0; i < t->n_props; i++)
        if (strncmp (t->props[i].name, key->text, key->len) == 0 && !t->props[i].name[key->len])
            return &t->props[i];
    return NULL;
}

/* Go programs write null for a nil slice, map or pointer; a scalar of theirs is never null. */
static bool is_absent (const struct parse *p, const struct oci_prop *prop,
                       const struct json_node *n)
{
    bool nullable = prop->shape != OCI_ONE || prop->kind == OCI_KIND_OBJECT || p->null_any;

    return n->kind == JSON_NULL && !prop->required && nullable;
}

static int note_unknown (const struct parse *p, const struct json_node *key)
{
    char path[JSON_PATH_MAX];

    if (!p->info || p->info->n_unknown++ > 0)
        return 0;
    p->info->first_unknown = arena_strdup (p->arena, json_path (p->root, key, path));
    return p->info->first_unknown ? 0 : err_oom (p->e);
}

static int parse_member (const struct parse *p, const struct oci_prop *prop,
                         const struct json_node *value, void *doc)
{
    if (is_absent (p, prop, value))
        return 0;
    return parse_shape[prop->shape](p, prop, value, doc);
}

static int parse_struct (const struct parse *p, const struct oci_type *t, const struct json_node *n,
                         void *doc)
{
    const struct json_node *key = n + 1;
    uint64_t seen = 0; /* one bit for each property */

    if (n->kind != JSON_OBJECT)
        return fail_type (p, n, "an object");
    for (size_t i = 0; i < n->n; i++, key += 1 + key[1].size) {
        const struct oci_prop *prop = find_prop (t, key);
        int r = prop ? parse_member (p, prop, key + 1, doc) : note_unknown (p, key);

        if (r < 0)
            return r;
        if (prop)
            seen |= (uint64_t)1 << (prop - t->props);
    }
    for (size_t i = 0; i < t->n_props; i++)
        if (t->props[i].required && !(seen >> i & 1))
            return fail (p, n, t->props[i].name, "required, but missing");
    return 0;
}

int oci_parse (const struct oci_type *type, const char *buf, size_t len, struct arena *a,
               const void **ret, struct oci_parse_info *info, struct err *e)
{
    AUTO_ARENA scratch = { 0 };
    struct parse p = { .arena = a, .info = info, .e = e };
    void *doc = arena_alloc (a, type->size);
    int r;

    if (!doc)
        return err_oom (e);
    p.null_any = type == &oci_features_type || type == &oci_policy_type;
    if (info)
        *info = (struct oci_parse_info){ 0 };
    r = json_read (buf, len, &scratch, &p.root, e);
    if (r < 0)
        return r;
    r = parse_struct (&p, type, p.root, doc);
    if (r < 0)
        return r;
    *ret = doc;
    return 0;
}

int oci_parse_list (const struct oci_type *type, const char *buf, size_t len, struct arena *a,
                    const void **ret, size_t *ret_n, struct err *e)
{
    struct list {
        const void *v;
        size_t n;
    } list = { 0 };
    const struct oci_prop prop = { .kind = OCI_KIND_OBJECT,
                                   .shape = OCI_ARRAY,
                                   .offset = offsetof (struct list, v),
                                   .aux = offsetof (struct list, n),
                                   .type = type };
    AUTO_ARENA scratch = { 0 };
    struct parse p = { .arena = a, .e = e };
    int r = json_read (buf, len, &scratch, &p.root, e);

    if (r == 0)
        r = parse_array (&p, &prop, p.root, &list);
    if (r < 0)
        return r;
    *ret = list.v;
    *ret_n = list.n;
    return 0;
}
