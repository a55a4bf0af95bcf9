#include <string.h>

#include "type.h"

static int merge_struct (const struct oci_type *t, const void *base, const void *over,
                         struct arena *a, void *ret);

/* Bytes of the member itself, which holds the value or points to it. */
static size_t member_size (const struct oci_prop *prop)
{
    bool is_pointer = prop->shape != OCI_ONE || prop->kind == OCI_KIND_OBJECT;

    return is_pointer ? sizeof (void *) : oci_prop_size (prop);
}

static void copy (const struct oci_prop *prop, const void *from, void *to)
{
    size_t aux = prop->shape == OCI_ONE ? sizeof (bool) : sizeof (size_t);

    memcpy (oci_at (to, prop->offset), oci_at_const (from, prop->offset), member_size (prop));
    if (prop->aux)
        memcpy (oci_at (to, prop->aux), oci_at_const (from, prop->aux), aux);
}

static int merge_object (const struct oci_type *t, const void *const *base, const void *const *over,
                         struct arena *a, const void **ret)
{
    void *merged = arena_alloc (a, t->size);

    if (!merged || merge_struct (t, *base, *over, a, merged) < 0)
        return -1;
    *ret = merged;
    return 0;
}

static int merge_prop (const struct oci_prop *prop, const void *base, const void *over,
                       struct arena *a, void *ret)
{
    bool in_base = oci_prop_is_present (prop, base), in_over = oci_prop_is_present (prop, over);

    if (in_base && in_over && prop->shape == OCI_ONE && prop->kind == OCI_KIND_OBJECT)
        return merge_object (prop->type, oci_at_const (base, prop->offset),
                             oci_at_const (over, prop->offset), a, oci_at (ret, prop->offset));
    copy (prop, in_over ? over : base, ret);
    return 0;
}

/* -1: memory ran out, the only thing that can fail here. */
static int merge_struct (const struct oci_type *t, const void *base, const void *over,
                         struct arena *a, void *ret)
{
    for (size_t i = 0; i < t->n_props; i++)
        if (merge_prop (&t->props[i], base, over, a, ret) < 0)
            return -1;
    return 0;
}

int oci_merge (const struct oci_type *type, const void *base, const void *over, struct arena *a,
               const void **ret, struct err *e)
{
    void *merged = arena_alloc (a, type->size);

    if (!merged || merge_struct (type, base, over, a, merged) < 0)
        return err_oom (e);
    *ret = merged;
    return 0;
}
