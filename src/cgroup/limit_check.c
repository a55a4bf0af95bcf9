#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cgroup/limits.h"

/* CPUs or memory nodes; the kernel's own maximum is 8192 CPUs. */
#define SET_BITS 8192

/* Above this a number of bytes means "no limit": the kernel cuts off at LONG_MAX pages or bytes. */
#define BYTES_UNLIMITED ((uint64_t)1 << 62)

/* Are all words of EXPECT among those of LINE (LEN bytes)? */
static bool line_has (const char *line, size_t len, const char *expect)
{
    while (*(expect += strspn (expect, " "))) {
        size_t want = strcspn (expect, " ");
        bool found = false;

        for (size_t i = 0; i < len && !found;) {
            size_t n = strcspn (line + i, " \n");

            found = n == want && memcmp (line + i, expect, n) == 0;
            i += n + 1;
        }
        if (!found)
            return false;
        expect += want;
    }
    return true;
}

static bool has_tokens (const char *text, const char *expect)
{
    while (*text) {
        size_t len = strcspn (text, "\n");

        if (line_has (text, len, expect))
            return true;
        text += len + (text[len] != '\0');
    }
    return false;
}

/* A number of bytes or a word for "no limit". */
static uint64_t bytes (const char *text)
{
    if (text[0] == '-' || strncmp (text, "max", 3) == 0)
        return UINT64_MAX;
    return strtoull (text, NULL, 10);
}

static bool is_rounded (const char *text, const char *value, uint64_t granule)
{
    uint64_t want = bytes (value);
    uint64_t got = bytes (text);

    if (want >= BYTES_UNLIMITED)
        return got >= BYTES_UNLIMITED - (uint64_t)getpagesize ();
    if (granule == 0)
        granule = (uint64_t)getpagesize ();
    return got <= want && want - got < granule;
}

/* "0-2,5" as bits. False for what is no such list: the kernel knows more ("0-31:2/4", "all"). */
static bool parse_set (const char *text, uint8_t bits[SET_BITS / 8])
{
    memset (bits, 0, SET_BITS / 8);
    while (*text && *text != '\n') {
        char *end;
        unsigned long first = strtoul (text, &end, 10);
        unsigned long last = *end == '-' ? strtoul (end + 1, &end, 10) : first;

        if (end == text || first > last || last >= SET_BITS || !strchr (",\n", *end))
            return false;
        for (unsigned long i = first; i <= last; i++)
            bits[i / 8] |= (uint8_t)(1U << i % 8);
        text = *end == ',' ? end + 1 : end;
    }
    return true;
}

static bool is_same_set (const char *text, const char *value)
{
    uint8_t got[SET_BITS / 8];
    uint8_t want[SET_BITS / 8];

    if (!parse_set (value, want))
        return true; /* the kernel took it, and knows how to read it */
    return parse_set (text, got) && memcmp (got, want, sizeof got) == 0;
}

bool limit_is_kept (const struct limit *m, const char *value, const char *text)
{
    switch (m->check) {
    case CHECK_TOKENS:
        return has_tokens (text, m->expect ? m->expect : value);
    case CHECK_BYTES:
        return is_rounded (text, value, m->granule);
    case CHECK_LIST:
        return is_same_set (text, value);
    case CHECK_NONE:
        break;
    }
    return true;
}
