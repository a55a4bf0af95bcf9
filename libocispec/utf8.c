#include "utf8.h"

#include <stdint.h>

/* By lead byte: how many bytes follow, and the range of the first of them (RFC 3629, section 4). */
struct lead {
    unsigned char from, to, more, low, high;
};

static const struct lead leads[] = {
    { 0xc2, 0xdf, 1, 0x80, 0xbf }, { 0xe0, 0xe0, 2, 0xa0, 0xbf }, { 0xe1, 0xec, 2, 0x80, 0xbf },
    { 0xed, 0xed, 2, 0x80, 0x9f }, { 0xee, 0xef, 2, 0x80, 0xbf }, { 0xf0, 0xf0, 3, 0x90, 0xbf },
    { 0xf1, 0xf3, 3, 0x80, 0xbf }, { 0xf4, 0xf4, 3, 0x80, 0x8f },
};

static const struct lead *find_lead (unsigned char c)
{
    for (size_t i = 0; i < sizeof leads / sizeof leads[0]; i++)
        if (c >= leads[i].from && c <= leads[i].to)
            return &leads[i];
    return NULL;
}

size_t utf8_sequence (const char *s, size_t len)
{
    const unsigned char *p = (const unsigned char *)s;
    const struct lead *l;

    if (p[0] < 0x80)
        return 1;
    l = find_lead (p[0]);
    if (!l || len <= l->more || p[1] < l->low || p[1] > l->high)
        return 0;
    for (size_t i = 2; i <= l->more; i++)
        if ((p[i] & 0xc0) != 0x80)
            return 0;
    return (size_t)l->more + 1;
}
