#pragma once
/*
 * UTF-8, as RFC 3629 has it: no overlong forms, no surrogates, nothing above U+10FFFF. yajl 2.1.0's
 * own check lets all three pass, so this one stands before it.
 */
#include <stddef.h>

/* Bytes of the sequence that S (LEN bytes, at least 1) starts with; 0 when it is no valid one. */
size_t utf8_sequence (const char *s, size_t len);
