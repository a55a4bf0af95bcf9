#pragma once
/*
 * Names of the config that stand for numbers of the kernel: capabilities, resource limits. The one
 * table of each; by number and by name. Exact case, as the spec writes them.
 */
#include <stddef.h>

/* "CAP_SYS_ADMIN" -> 21; -1 when there is no such name. */
int names_cap (const char *name);
/* 21 -> "CAP_SYS_ADMIN"; NULL when this build knows no such number. */
const char *names_cap_text (unsigned int cap);

/* "RLIMIT_NOFILE" -> RLIMIT_NOFILE; -1 when there is no such name. */
int names_rlimit (const char *name);

/* All capability names in number order, NULL-terminated (for `features`). */
extern const char *const names_caps[];
