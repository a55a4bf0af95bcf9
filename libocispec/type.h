#pragma once
/*
 * What a row says, as data: the descriptors that the parser, the emitter and gendoc walk.
 * Private to libocispec.
 */
#include "libocispec/ocispec.h"

enum oci_kind { OCI_KIND_STRING, OCI_KIND_BOOL, OCI_KIND_NUMBER, OCI_KIND_CHOICE, OCI_KIND_OBJECT };

enum oci_shape { OCI_ONE, OCI_ARRAY, OCI_MAP };

struct oci_prop {
    const char *name; /* JSON name */
    const char *doc;
    enum oci_kind kind; /* of the value, or of the elements of an array or map */
    enum oci_shape shape;
    bool required;
    bool is_signed;        /* numbers */
    unsigned char width;   /* bytes of a number */
    unsigned short offset; /* of the member */
    unsigned short aux;    /* of its has_ (scalars) or n_ (arrays, maps); 0 when there is none */
    int64_t min;           /* numbers */
    uint64_t max;
    const struct oci_type *type;   /* objects */
    const struct oci_enum *values; /* choices */
};

struct oci_type {
    const char *name; /* of the C struct */
    const char *doc;
    size_t size;
    const struct oci_prop *props;
    size_t n_props;
};

/* The parser keeps one bit per property. */
#define OCI_MAX_PROPS 64

/* Bytes of one element of PROP in an array or map, or of a number. */
size_t oci_prop_size (const struct oci_prop *prop);

/* Whether DOC, the struct that PROP is a property of, has it. */
bool oci_prop_is_present (const struct oci_prop *prop, const void *doc);

/* The number at SLOT; one that is signed as two's complement. */
uint64_t oci_prop_load (const struct oci_prop *prop, const void *slot);

/* Appends the value that DOC has for PROP, compact and without its name. */
int oci_emit_prop (const struct oci_prop *prop, const void *doc, struct strbuf *out, struct err *e);

/* What lies OFFSET bytes into the struct or element at P. */
static inline void *oci_at (void *p, size_t offset)
{
    return (char *)p + offset;
}

static inline const void *oci_at_const (const void *p, size_t offset)
{
    return (const char *)p + offset;
}
