#pragma once
/*
 * Questions about strings that more than one module asks. Owns nothing.
 */
#include <stdbool.h>

bool str_is_in (const char *s, const char *const *list); /* LIST ends with NULL */
bool str_has_prefix (const char *s, const char *prefix);

/* A container id: 1 to 255 (NAME_MAX) characters of [A-Za-z0-9_+.-], not starting with '.' or '-' (runc's set;
 * crun refuses the leading dot too; a leading '-' would read as an option). */
bool str_is_id (const char *s);
