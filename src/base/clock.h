#pragma once
/*
 * Time that passes, for deadlines and pauses. Owns nothing.
 */
#include <stdint.h>

/* Microseconds and milliseconds of CLOCK_MONOTONIC. */
int64_t clock_us (void);
int64_t clock_ms (void);
