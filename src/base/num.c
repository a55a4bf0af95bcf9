#include "base/num.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>

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

/* More of a fraction than this is no size that anybody means. */
#define FRACTION_DIGITS 9

/* The digits at *TEXT, which then stands behind them; false: none, or too many. */
static bool take_digits (const char **text, uint64_t *ret)
{
    char digits[24] = "";
    size_t n = strspn (*text, "0123456789");

    if (n == 0 || n >= sizeof digits)
        return false;
    memcpy (digits, *text, n);
    *text += n;
    return parse_digits (digits, ret);
}

/* *RET: how often to shift by 10. */
static bool parse_unit (const char *text, unsigned int *ret)
{
    static const char units[] = "kmgtp";
    const char *unit = *text ? strchr (units, *text | 0x20) : NULL;

    *ret = unit ? (unsigned int)(unit - units) + 1 : 0;
    text += unit != NULL;
    return *text == '\0' || strcasecmp (text, "b") == 0 || (unit && strcasecmp (text, "ib") == 0);
}

static bool parse_size (const char *text, int64_t *ret)
{
    uint64_t whole = 0;
    uint64_t part = 0;
    uint64_t scale = 1;
    unsigned int unit;
    size_t len;

    if (!take_digits (&text, &whole))
        return false;
    len = *text == '.' ? strspn (text + 1, "0123456789") : 0;
    if (*text == '.' && (len > FRACTION_DIGITS || (++text, !take_digits (&text, &part))))
        return false;
    for (; len > 0; len--)
        scale *= 10;
    text += text[0] == ' ' && text[1] != '\0';
    if (!parse_unit (text, &unit) || whole > (uint64_t)INT64_MAX >> 10 * unit)
        return false;
    /* below 2^30 * 2^50: in 128 bits */
    whole = (whole << 10 * unit) + (uint64_t)(((unsigned __int128)part << 10 * unit) / scale);
    *ret = (int64_t)whole;
    return whole <= INT64_MAX;
}

int num_size (const char *text, const char *what, int64_t *ret, struct err *e)
{
    int64_t n = -1;

    if (strcmp (text, "-1") != 0 && !parse_size (text, &n))
        return err_set (e, EINVAL,
                        "%s: '%.64s' is not a size: a number and k, m or g for multiples of 1024, "
                        "or -1 for no limit",
                        what, text);
    *ret = n;
    return 0;
}
