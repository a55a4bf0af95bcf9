#pragma once
/*
 * JSON text to a flat tree of values. Private to libocispec; json.c is yajl's only home.
 *
 * Stricter than yajl: capped size and depth (seen before yajl sees a byte), no NUL in any spelling,
 * no lone surrogate, real UTF-8, no byte order mark, nothing after the document, no key twice in an
 * object.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libocispec/arena.h"
#include "libocispec/err.h"

enum json_kind { JSON_NULL, JSON_BOOL, JSON_NUMBER, JSON_STRING, JSON_ARRAY, JSON_OBJECT };

/* Values lie in document order: a container, then what it contains. In an object each value comes
 * after its key, which is a JSON_STRING. The next sibling of N is N + N->size. */
struct json_node {
    const char *text; /* strings (decoded) and numbers (as written); not NUL-terminated */
    uint32_t len;     /* of text */
    uint32_t size;    /* nodes from this one to the end of what it contains, itself included */
    uint32_t n;       /* elements of an array, members of an object */
    enum json_kind kind;
    bool truth; /* of a JSON_BOOL */
};

/* Reads BUF. *RET is the document's root; it points into BUF and into the scratch arena. Errors
 * (-EINVAL) start with the JSON path. */
int json_read (const char *buf, size_t len, struct arena *scratch, const struct json_node **ret,
               struct err *e);

#define JSON_PATH_MAX 256

/* Writes the path of NODE below ROOT ("/process/args[2]", "" for ROOT itself) into BUF, which has
 * JSON_PATH_MAX bytes: one line, cut off with "..." when it is longer. Returns BUF. */
char *json_path (const struct json_node *root, const struct json_node *node, char *buf);

/* As much of N's text as fits a message, one printable line, in BUF of JSON_QUOTE_MAX bytes. */
#define JSON_QUOTE_MAX 68
char *json_quote (const struct json_node *n, char *buf);
