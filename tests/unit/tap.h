#pragma once
/*
 * TAP for unit tests: one line a check, a plan at the end. main() of a test calls its checks and
 * returns tap_done ().
 */
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int tap_count, tap_failures;

/* Prints one result; on failure also where. Returns COND. */
#define ok(cond, ...) tap_ok ((cond), __FILE__, __LINE__, #cond, __VA_ARGS__)

__attribute__ ((format (printf, 5, 6))) static inline bool tap_ok (bool cond, const char *file,
                                                                   int line, const char *expr,
                                                                   const char *fmt, ...)
{
    va_list ap;

    (void)printf ("%sok %d - ", cond ? "" : "not ", ++tap_count);
    va_start (ap, fmt);
    (void)vprintf (fmt, ap);
    va_end (ap);
    (void)putchar ('\n');
    if (!cond) {
        tap_failures++;
        (void)printf ("# %s:%d: %s\n", file, line, expr);
    }
    (void)fflush (stdout);
    return cond;
}

/* Equal strings (NULL equals NULL only); shows both when not. */
static inline bool tap_is (const char *got, const char *want, const char *name)
{
    bool same = got && want ? strcmp (got, want) == 0 : got == want;

    (void)ok (same, "%s", name);
    if (!same)
        (void)printf ("# got  %s\n# want %s\n", got ? got : "(null)", want ? want : "(null)");
    return same;
}

static inline int tap_done (void)
{
    (void)printf ("1..%d\n", tap_count);
    return tap_failures ? EXIT_FAILURE : EXIT_SUCCESS;
}
