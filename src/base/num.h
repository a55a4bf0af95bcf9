#pragma once
/*
 * Numbers from text: the one helper for all of them. Strict: no blanks, no sign where none is
 * allowed, no trailing bytes, no overflow. Units only for num_size.
 */
#include <stdint.h>

#include "libocispec/err.h"

/* TEXT as a decimal number in MIN..MAX. WHAT names it in the error ("--interval"). */
int num_u64 (const char *text, const char *what, uint64_t min, uint64_t max, uint64_t *ret,
             struct err *e);
int num_i64 (const char *text, const char *what, int64_t min, int64_t max, int64_t *ret,
             struct err *e);

/* TEXT as a number of bytes: "-1", or a number with or without a fraction and k, m, g, t or p (1024
 * each; in any case, also with "b" or "ib" behind it). */
int num_size (const char *text, const char *what, int64_t *ret, struct err *e);
