#include "base/num.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>

/* The magnitude that the digits of TEXT spell; false on anything else or above UINT64_MAX. */
static bool parse_digits (const char *text, uint64_t *ret)
{
    uint64_t n = 0;

    if (*text == '\0')
        return false;
    for (; *text; text++) {
        if (*text < '0' || *text > '9')
            return false;
        if (__builtin_mul_overflow (n, 10U, &n) || __builtin_add_overflow (n, *text - '0', &n))
            return false;
    }
    *ret = n;
    return true;
}

static bool parse_signed (const char *text, int64_t *ret)
{
    bool negative = *text == '-';
    uint64_t n;

    if (!parse_digits (text + negative, &n))
        return false;
    if (n > (uint64_t)INT64_MAX + negative)
        return false;
    *ret = negative ? (int64_t)(0 - n) : (int64_t)n;
    return true;
}

int num_u64 (const char *text, const char *what, uint64_t min, uint64_t max, uint64_t *ret,
             struct err *e)
{
    uint64_t n;

    if (!parse_digits (text, &n) || n < min || n > max)
        return err_set (e, EINVAL, "%s: '%.64s' is not a number from %" PRIu64 " to %" PRIu64, what,
                        text, min, max);
    *ret = n;
    return 0;
}

int num_i64 (const char *text, const char *what, int64_t min, int64_t max, int64_t *ret,
             struct err *e)
{
    int64_t n;

    if (!parse_signed (text, &n) || n < min || n > max)
        return err_set (e, EINVAL, "%s: '%.64s' is not a number from %" PRId64 " to %" PRId64, what,
                        text, min, max);
    *ret = n;
    return 0;
}
