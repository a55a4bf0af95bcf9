#include "type.h"

#include <string.h>

/* ---- enumerations ---- */
#define OCI_ENUM(name)      static const char *const name##_names[] = {
#define OCI_VALUE(id, text) [id] = text,
#define OCI_ENUM_END(name)                                                                         \
    }                                                                                              \
    ;                                                                                              \
    const struct oci_enum oci_##name##_enum = {                                                    \
        .names = name##_names,                                                                     \
        .n = (int)(sizeof name##_names / sizeof name##_names[0]),                                  \
    };
#include "enums.def"

const char *oci_enum_name (const struct oci_enum *en, int value)
{
    return value >= 0 && value < en->n ? en->names[value] : NULL;
}

int oci_enum_value (const struct oci_enum *en, const char *text, size_t len)
{
    for (int i = 0; i < en->n; i++)
        if (strlen (en->names[i]) == len && memcmp (en->names[i], text, len) == 0)
            return i;
    return -1;
}

/* ---- properties ---- */
#define HAS_REQUIRED(s, m) 0
#define HAS_OPTIONAL(s, m) offsetof (struct s, has_##m)
#define IS_REQUIRED        true
#define IS_OPTIONAL        false

#define PROP(s, m, json, req, text, a)                                                             \
    .name = json, .doc = text, .required = IS_##req, .offset = offsetof (struct s, m), .aux = a
#define SCALAR(s, m, json, req, doc) PROP (s, m, json, req, doc, HAS_##req (s, m))
#define SINGLE(s, m, json, req, doc) PROP (s, m, json, req, doc, 0)
#define LIST(s, m, json, req, doc)   PROP (s, m, json, req, doc, offsetof (struct s, n_##m))
#define RANGE(t, low, high)                                                                        \
    .kind = OCI_KIND_NUMBER, .width = sizeof (t), .is_signed = (t)-1 < (t)1, .min = low, .max = high

#define OCI_STRUCT(s, text)                                                                        \
    static const char s##_doc[] = text;                                                            \
    static const struct oci_prop s##_props[] = {
#define OCI_STRING(s, m, json, req, doc) { SINGLE (s, m, json, req, doc), .kind = OCI_KIND_STRING },
#define OCI_BOOL(s, m, json, req, doc)   { SCALAR (s, m, json, req, doc), .kind = OCI_KIND_BOOL },
#define OCI_NUMBER(s, t, m, json, req, low, high, doc)                                             \
    { SCALAR (s, m, json, req, doc), RANGE (t, low, high) },
#define OCI_CHOICE(s, e, m, json, req, doc)                                                        \
    { SCALAR (s, m, json, req, doc), .kind = OCI_KIND_CHOICE, .values = &oci_##e##_enum },
#define OCI_OBJECT(s, t, m, json, req, doc)                                                        \
    { SINGLE (s, m, json, req, doc), .kind = OCI_KIND_OBJECT, .type = &t##_type },
#define OCI_STRINGS(s, m, json, req, doc)                                                          \
    { LIST (s, m, json, req, doc), .shape = OCI_ARRAY, .kind = OCI_KIND_STRING },
#define OCI_NUMBERS(s, t, m, json, req, low, high, doc)                                            \
    { LIST (s, m, json, req, doc), .shape = OCI_ARRAY, RANGE (t, low, high) },
#define OCI_CHOICES(s, e, m, json, req, doc)                                                       \
    { LIST (s, m, json, req, doc), .shape = OCI_ARRAY, .kind = OCI_KIND_CHOICE,                    \
      .values = &oci_##e##_enum },
#define OCI_OBJECTS(s, t, m, json, req, doc)                                                       \
    { LIST (s, m, json, req, doc), .shape = OCI_ARRAY, .kind = OCI_KIND_OBJECT, .type = &t##_type },
#define OCI_STRING_MAP(s, m, json, req, doc)                                                       \
    { LIST (s, m, json, req, doc), .shape = OCI_MAP, .kind = OCI_KIND_STRING },
#define OCI_OBJECT_MAP(s, t, m, json, req, doc)                                                    \
    { LIST (s, m, json, req, doc), .shape = OCI_MAP, .kind = OCI_KIND_OBJECT, .type = &t##_type },
#define OCI_MAP_KEY(s, m) /* no property: the key stands before the object */
#define OCI_STRUCT_END(s)                                                                          \
    }                                                                                              \
    ;                                                                                              \
    _Static_assert(sizeof s##_props / sizeof s##_props[0] <= OCI_MAX_PROPS, "one bit each");       \
    const struct oci_type s##_type = {                                                             \
        .name = #s,                                                                                \
        .doc = s##_doc,                                                                            \
        .size = sizeof (struct s),                                                                 \
        .props = s##_props,                                                                        \
        .n_props = sizeof s##_props / sizeof s##_props[0],                                         \
    };
#include "rows.def"
#include "rows_undef.def"

/* A map's element starts with its key, whatever the struct. */
#define OCI_STRUCT(s, doc)
#define OCI_STRING(...)
#define OCI_BOOL(...)
#define OCI_NUMBER(...)
#define OCI_CHOICE(...)
#define OCI_OBJECT(...)
#define OCI_STRINGS(...)
#define OCI_NUMBERS(...)
#define OCI_CHOICES(...)
#define OCI_OBJECTS(...)
#define OCI_STRING_MAP(...)
#define OCI_OBJECT_MAP(...)
#define OCI_MAP_KEY(s, m) _Static_assert(offsetof (struct s, m) == 0, "the key comes first");
#define OCI_STRUCT_END(s)
#include "rows.def"
#include "rows_undef.def"

size_t oci_prop_size (const struct oci_prop *prop)
{
    switch (prop->kind) {
    case OCI_KIND_STRING:
        return prop->shape == OCI_MAP ? sizeof (struct oci_kv) : sizeof (char *);
    case OCI_KIND_BOOL:
        return sizeof (bool);
    case OCI_KIND_NUMBER:
        return prop->width;
    case OCI_KIND_CHOICE:
        return sizeof (int);
    case OCI_KIND_OBJECT:
        return prop->type->size;
    }
    return 0;
}

bool oci_prop_is_present (const struct oci_prop *prop, const void *doc)
{
    if (prop->required)
        return true;
    if (prop->shape == OCI_ONE && prop->aux)
        return *(const bool *)oci_at_const (doc, prop->aux);
    return *(const void *const *)oci_at_const (doc, prop->offset) != NULL;
}

static uint64_t load_unsigned (const void *slot, unsigned char width)
{
    if (width == sizeof (uint16_t))
        return *(const uint16_t *)slot;
    return width == sizeof (uint32_t) ? *(const uint32_t *)slot : *(const uint64_t *)slot;
}

static int64_t load_signed (const void *slot, unsigned char width)
{
    return width == sizeof (int32_t) ? *(const int32_t *)slot : *(const int64_t *)slot;
}

uint64_t oci_prop_load (const struct oci_prop *prop, const void *slot)
{
    return prop->is_signed ? (uint64_t)load_signed (slot, prop->width)
                           : load_unsigned (slot, prop->width);
}
