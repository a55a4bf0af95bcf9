#pragma once
/*
 * Questions about strings that more than one module asks. Owns nothing.
 */
#include <stdbool.h>

bool str_is_in (const char *s, const char *const *list); /* LIST ends with NULL */
bool str_has_prefix (const char *s, const char *prefix);
/* PATH is TOP or lies below it, both as they are written; TOP has no slash at its end. */
bool str_is_at_or_below (const char *path, const char *top);

/* A container id: 1 to 255 (NAME_MAX) characters of [A-Za-z0-9_+.-], not starting with '.' or
 * '-' (runc's set; crun refuses the leading dot too; a leading '-' would read as an option). */
bool str_is_id (const char *s);

/* Now, in RFC 3339, UTC, with nanoseconds ("2026-01-02T03:04:05.000000006Z"), into BUF (at least
 * STR_TIMESTAMP_MAX bytes); returns BUF. */
char *str_timestamp (char *buf);
#define STR_TIMESTAMP_MAX 40

/* In place: mountinfo writes blank, tab, newline and backslash as three octal digits. */
void str_unescape_octal (char *s);
