#pragma once
/*
 * A string that grows. It fails once and then stays failed: callers append freely and look at
 * `failed` at the end. Owns its memory; AUTO_STRBUF releases it.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct strbuf {
    char *s; /* NUL-terminated once anything was appended */
    size_t len, cap;
    bool failed; /* memory ran out: the contents are not complete */
};

void strbuf_add (struct strbuf *b, const char *s, size_t len);
void strbuf_adds (struct strbuf *b, const char *s);
void strbuf_addf (struct strbuf *b, const char *fmt, ...) __attribute__ ((format (printf, 2, 3)));
/* S as a JSON string with its quotes; '/' is not escaped; control characters are; invalid UTF-8
 * becomes U+FFFD, so the output is always valid JSON. */
void strbuf_add_json (struct strbuf *b, const char *s);
void strbuf_free (struct strbuf *b);

#define AUTO_STRBUF __attribute__ ((cleanup (strbuf_free))) struct strbuf
