#include <string.h>

#include "type.h"

struct diff {
    struct arena *arena;
    struct oci_difference *found; /* NULL: count only */
    size_t n;
    struct err *e;
};

/* What a property holds, or nothing: `value` is NULL then. */
struct side {
    const void *value; /* the first element; of a single object the object */
    size_t n;
};

static struct side side_of (const struct oci_prop *prop, const void *doc)
{
    const void *member;

    if (!doc || !oci_prop_is_present (prop, doc))
        return (struct side){ 0 };
    member = oci_at_const (doc, prop->offset);
    if (prop->shape != OCI_ONE)
        return (struct side){ *(const void *const *)member,
                              *(const size_t *)oci_at_const (doc, prop->aux) };
    return (struct side){ prop->kind == OCI_KIND_OBJECT ? *(const void *const *)member : member,
                          1 };
}

/* ---- order ---- */

static int sign (bool less, bool more)
{
    return (int)more - (int)less;
}

static int order_string (const struct oci_prop *prop, const void *a, const void *b)
{
    int r = strcmp (*(const char *const *)a, *(const char *const *)b);

    (void)prop;
    return sign (r > 0, r < 0);
}

static int order_bool (const struct oci_prop *prop, const void *a, const void *b)
{
    (void)prop;
    return (int)*(const bool *)b - (int)*(const bool *)a;
}

static int order_number (const struct oci_prop *prop, const void *a, const void *b)
{
    uint64_t x = oci_prop_load (prop, a);
    uint64_t y = oci_prop_load (prop, b);

    return prop->is_signed ? sign ((int64_t)x > (int64_t)y, (int64_t)x < (int64_t)y)
                           : sign (x > y, x < y);
}

static int order_choice (const struct oci_prop *prop, const void *a, const void *b)
{
    int x = *(const int *)a;
    int y = *(const int *)b;

    (void)prop;
    return sign (x > y, x < y);
}

static int (*const order[]) (const struct oci_prop *prop, const void *a, const void *b) = {
    [OCI_KIND_STRING] = order_string,
    [OCI_KIND_BOOL] = order_bool,
    [OCI_KIND_NUMBER] = order_number,
    [OCI_KIND_CHOICE] = order_choice,
};

/* Every element of A is in B. */
static bool is_within (const struct oci_prop *prop, struct side a, struct side b)
{
    size_t size = oci_prop_size (prop);

    for (size_t i = 0; i < a.n; i++) {
        size_t k = 0;

        while (k < b.n && order[prop->kind](prop, oci_at_const (a.value, i * size),
                                            oci_at_const (b.value, k * size)) != 0)
            k++;
        if (k == b.n)
            return false;
    }
    return true;
}

static int order_sides (const struct oci_prop *prop, struct side a, struct side b)
{
    if (!a.value || !b.value || prop->shape == OCI_MAP || prop->kind == OCI_KIND_OBJECT)
        return 0;
    if (prop->shape == OCI_ONE)
        return order[prop->kind](prop, a.value, b.value);
    return (int)is_within (prop, a, b) - (int)is_within (prop, b, a);
}

/* ---- properties ---- */

static int add (struct diff *d, const struct oci_difference *x)
{
    if (!x->path)
        return err_oom (d->e);
    if (d->found)
        d->found[d->n] = *x;
    d->n++;
    return 0;
}

static int text_of (const struct diff *d, const struct oci_prop *prop, const void *doc,
                    const char **ret)
{
    AUTO_STRBUF b = { 0 };

    if (!doc || !oci_prop_is_present (prop, doc))
        return 0;
    if (oci_emit_prop (prop, doc, &b, d->e) < 0)
        return -d->e->code;
    *ret = arena_strndup (d->arena, b.s, b.len);
    return *ret ? 0 : err_oom (d->e);
}

static int diff_struct (struct diff *d, const struct oci_type *t, const char *above, const void *a,
                        const void *b);

static int diff_prop (struct diff *d, const struct oci_prop *prop, const char *above, const void *a,
                      const void *b)
{
    struct side before = side_of (prop, a), after = side_of (prop, b);
    struct oci_difference x = { .path = arena_printf (d->arena, "%s/%s", above, prop->name) };

    if (!before.value && !after.value)
        return 0;
    if (prop->shape == OCI_ONE && prop->kind == OCI_KIND_OBJECT)
        return x.path ? diff_struct (d, prop->type, x.path, before.value, after.value)
                      : err_oom (d->e);
    if (text_of (d, prop, a, &x.before) < 0 || text_of (d, prop, b, &x.after) < 0)
        return -d->e->code;
    if (x.before && x.after && strcmp (x.before, x.after) == 0)
        return 0;
    x.order = order_sides (prop, before, after);
    return add (d, &x);
}

static int diff_struct (struct diff *d, const struct oci_type *t, const char *above, const void *a,
                        const void *b)
{
    int r = 0;

    for (size_t i = 0; i < t->n_props && r == 0; i++)
        r = diff_prop (d, &t->props[i], above, a, b);
    return r;
}

int oci_diff (const struct oci_type *type, const void *before, const void *after, struct arena *a,
              const struct oci_difference **ret, size_t *ret_n, struct err *e)
{
    struct diff d = { .arena = a, .e = e };
    int r = diff_struct (&d, type, "", before, after);

    if (r < 0)
        return r;
    d.found = arena_calloc (a, d.n + 1, sizeof *d.found);
    if (!d.found)
        return err_oom (e);
    d.n = 0;
    r = diff_struct (&d, type, "", before, after);
    if (r < 0)
        return r;
    *ret = d.found;
    *ret_n = d.n;
    return 0;
}
