#include "strbuf.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "utf8.h"

/* Makes room for MORE bytes and a NUL. */
static bool reserve (struct strbuf *b, size_t more)
{
    size_t need, cap;
    char *s;

    if (b->failed || __builtin_add_overflow (b->len, more, &need) || need > SIZE_MAX / 2 - 1) {
        b->failed = true;
        return false;
    }
    if (need < b->cap)
        return true;
    cap = b->cap * 2 > need + 1 ? b->cap * 2 : need + 1;
    cap = cap < 128 ? 128 : cap;
    s = realloc (b->s, cap);
    if (!s) {
        b->failed = true;
        return false;
    }
    b->s = s;
    b->cap = cap;
    return true;
}

void strbuf_add (struct strbuf *b, const char *s, size_t len)
{
    if (!reserve (b, len))
        return;
    if (len)
        memcpy (b->s + b->len, s, len);
    b->len += len;
    b->s[b->len] = '\0';
}

void strbuf_adds (struct strbuf *b, const char *s)
{
    strbuf_add (b, s, strlen (s));
}

void strbuf_addf (struct strbuf *b, const char *fmt, ...)
{
    va_list ap;
    int n;

    va_start (ap, fmt);
    n = vsnprintf (NULL, 0, fmt, ap);
    va_end (ap);
    if (n < 0 || !reserve (b, (size_t)n)) {
        b->failed = true;
        return;
    }
    va_start (ap, fmt);
    (void)vsnprintf (b->s + b->len, (size_t)n + 1, fmt, ap);
    va_end (ap);
    b->len += (size_t)n;
}

static const char *short_escape (char c)
{
    static const char *const escapes[128] = {
        ['"'] = "\\\"", ['\\'] = "\\\\", ['\b'] = "\\b", ['\f'] = "\\f",
        ['\n'] = "\\n", ['\r'] = "\\r",  ['\t'] = "\\t",
    };

    return (unsigned char)c < 128 ? escapes[(unsigned char)c] : NULL;
}

static bool is_plain (char c)
{
    return (unsigned char)c >= 0x20 && (unsigned char)c < 0x7f && c != '"' && c != '\\';
}

/* The one character at S, escaped or replaced as needed. Returns the bytes it took. */
static size_t add_special (struct strbuf *b, const char *s, size_t len)
{
    size_t n = utf8_sequence (s, len);

    if (short_escape (*s))
        strbuf_adds (b, short_escape (*s));
    else if ((unsigned char)*s < 0x20 || *s == 0x7f)
        strbuf_addf (b, "\\u%04x", (unsigned char)*s);
    else if (n == 0)
        strbuf_adds (b, "\xef\xbf\xbd");
    else
        strbuf_add (b, s, n);
    return n ? n : 1;
}

void strbuf_add_json (struct strbuf *b, const char *s)
{
    const char *end = s + strlen (s);

    strbuf_add (b, "\"", 1);
    while (s < end) {
        size_t plain = 0;

        while (is_plain (s[plain]))
            plain++;
        strbuf_add (b, s, plain);
        s += plain;
        if (s < end)
            s += add_special (b, s, (size_t)(end - s));
    }
    strbuf_add (b, "\"", 1);
}

void strbuf_free (struct strbuf *b)
{
    free (b->s);
    *b = (struct strbuf){ 0 };
}
