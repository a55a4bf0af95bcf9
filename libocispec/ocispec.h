#pragma once
/*
 * The OCI documents as C structs: config.json, state, features, policies, and what the state
 * directory keeps.
 *
 * Owns the way from bytes to typed, immutable documents and back. Every property is declared once,
 * as a row in config.def, state.def, features.def or policy.def; its struct member, its presence,
 * the strict parser, the emitter, merging and docs/config-reference.md all come from that row.
 * Knows no rule that spans properties (src/spec/) and never opens a file.
 *
 * Members: strings are `const char *`, objects `const struct X *`, both NULL when absent. An
 * optional scalar m has a `bool has_m`. An array m has `size_t n_m` and is NULL when absent,
 * non-NULL with n_m 0 when empty; arrays of strings end with a NULL as well. A map is an array in
 * document order.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libocispec/arena.h"
#include "libocispec/err.h"
#include "libocispec/strbuf.h"

/* The version of the runtime specification that the rows describe, and the oldest accepted one. */
#define OCI_VERSION     "1.3.0"
#define OCI_VERSION_MIN "1.0.0"

/* A config is read as a whole, so its size is capped; the depth is capped because readers recurse
 * (yajl 2.1.0's tree crashes on a million '['). The deepest property of the spec lies at 6. */
#define OCI_MAX_BYTES ((size_t)4 * 1024 * 1024)
#define OCI_MAX_DEPTH 64

/* One entry of a map from strings to strings. */
struct oci_kv {
    const char *key, *value;
};

/* ---- enumerations: enum oci_NAME with its values, from 0 ---- */
#define OCI_ENUM(name)                                                                             \
    enum oci_##name##_value                                                                        \
    {
#define OCI_VALUE(id, text) id,
#define OCI_ENUM_END(name)                                                                         \
    }                                                                                              \
    ;                                                                                              \
    extern const struct oci_enum oci_##name##_enum;
struct oci_enum;
#include "enums.def"
#undef OCI_ENUM
#undef OCI_VALUE
#undef OCI_ENUM_END

struct oci_enum {
    const char *const *names; /* [value] */
    int n;
};

/* The JSON text of VALUE; NULL when there is no such value. */
const char *oci_enum_name (const struct oci_enum *en, int value);
/* The value of TEXT (LEN bytes), or -1. */
int oci_enum_value (const struct oci_enum *en, const char *text, size_t len);

/* ---- structs ---- */

/* A row is: struct, (C type, enum or struct), member, JSON name, REQUIRED or OPTIONAL, (min, max),
 * doc. */
#define OCI_HAS_REQUIRED(m)
#define OCI_HAS_OPTIONAL(m) bool has_##m;

#define OCI_STRUCT(s, doc)               struct s {
#define OCI_STRING(s, m, json, req, doc) const char *m;
#define OCI_BOOL(s, m, json, req, doc)                                                             \
    bool m;                                                                                        \
    OCI_HAS_##req (m)
#define OCI_NUMBER(s, t, m, json, req, l, h, doc)                                                  \
    t m;                                                                                           \
    OCI_HAS_##req (m)
#define OCI_CHOICE(s, e, m, json, req, doc)                                                        \
    int m;                                                                                         \
    OCI_HAS_##req (m)
#define OCI_OBJECT(s, t, m, json, req, doc) const struct t *m;
#define OCI_STRINGS(s, m, json, req, doc)                                                          \
    const char *const *m;                                                                          \
    size_t n_##m;
#define OCI_NUMBERS(s, t, m, json, req, l, h, doc)                                                 \
    const t *m;                                                                                    \
    size_t n_##m;
#define OCI_CHOICES(s, e, m, json, req, doc)                                                       \
    const int *m;                                                                                  \
    size_t n_##m;
#define OCI_OBJECTS(s, t, m, json, req, doc)                                                       \
    const struct t *m;                                                                             \
    size_t n_##m;
#define OCI_STRING_MAP(s, m, json, req, doc)                                                       \
    const struct oci_kv *m;                                                                        \
    size_t n_##m;
#define OCI_OBJECT_MAP(s, t, m, json, req, doc)                                                    \
    const struct t *m;                                                                             \
    size_t n_##m;
#define OCI_MAP_KEY(s, m) const char *m; /* of an OCI_OBJECT_MAP; first */
#define OCI_STRUCT_END(s)                                                                          \
    }                                                                                              \
    ;                                                                                              \
    extern const struct oci_type s##_type;
struct oci_type;
#include "rows.def"
#include "rows_undef.def"

/* ---- parsing ---- */

/* What a parse saw beside the document. */
struct oci_parse_info {
    size_t n_unknown;          /* properties that no row describes; they are ignored */
    const char *first_unknown; /* JSON path of the first one, in the arena; NULL when none */
};

/* Reads the one JSON document in BUF as a TYPE (of *RET) into the arena. Strict: any deviation from
 * RFC 8259 or from a row is -EINVAL with one line that starts with the JSON path
 * ("/process/args[2]: expected a string, found a number"); also duplicate keys, at every level.
 * Keys match by case. null stands for an absent optional object, array or map (what Go programs
 * write for a nil one); in features, where the spec allows it, and in policies for any optional
 * property. INFO may be NULL. */
int oci_parse (const struct oci_type *type, const char *buf, size_t len, struct arena *a,
               const void **ret, struct oci_parse_info *info, struct err *e);

/* Likewise a document that is one JSON array of TYPE. *RET: RET_N structs behind each other. */
int oci_parse_list (const struct oci_type *type, const char *buf, size_t len, struct arena *a,
                    const void **ret, size_t *ret_n, struct err *e);

/* ---- emitting ---- */

enum oci_emit_style {
    OCI_COMPACT, /* one line, no blanks, no newline at the end */
    OCI_PRETTY,  /* indented by two blanks, newline at the end */
};

/* Appends DOC (a TYPE) to OUT: keys in row order, maps in their order, absent properties left out,
 * '/' not escaped; the same document always gives the same bytes. Strings that are not UTF-8 and
 * enumerators out of range are -EINVAL with the JSON path. */
int oci_emit (const struct oci_type *type, const void *doc, enum oci_emit_style style,
              struct strbuf *out, struct err *e);

/* Appends N documents (an array of pointers) as one JSON array. */
int oci_emit_list (const struct oci_type *type, const void *const *docs, size_t n,
                   enum oci_emit_style style, struct strbuf *out, struct err *e);

/* ---- two documents of one type ---- */

/* *RET is BASE with what OVER has in its place: objects property by property, everything else
 * (arrays and maps too) as a whole. It shares what it can with both. -ENOMEM. */
int oci_merge (const struct oci_type *type, const void *base, const void *over, struct arena *a,
               const void **ret, struct err *e);

/* One property, or one of a contained object, in which two documents differ. */
struct oci_difference {
    const char *path;           /* JSON path */
    const char *before, *after; /* compact JSON; NULL where the document does not have it */
    int order; /* 1: AFTER is more (false < true, numbers, enumerators as they are numbered, text
                  as bytes, an array that holds all of the other), -1: less, 0: neither */
};

/* What turns BEFORE into AFTER, in row order. */
int oci_diff (const struct oci_type *type, const void *before, const void *after, struct arena *a,
              const struct oci_difference **ret, size_t *ret_n, struct err *e);
