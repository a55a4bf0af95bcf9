#include "libocispec/strbuf.h"

#include "libocispec/utf8.h"
#include "tap.h"

static void check_add (void)
{
    AUTO_STRBUF b = { 0 };

    strbuf_add (&b, "ab\0cd", 5);
    ok (b.len == 5 && memcmp (b.s, "ab\0cd", 6) == 0, "bytes are kept as they are, a NUL behind");
    for (int i = 0; i < 10000; i++)
        strbuf_addf (&b, "%d,", i % 10);
    ok (b.len == 20005 && !b.failed, "it grows");
    strbuf_adds (&b, "");
    ok (b.len == 20005, "nothing adds nothing");
    strbuf_free (&b);
    ok (!b.s && !b.len, "a freed one is empty");
    strbuf_add (&b, "x", SIZE_MAX);
    ok (b.failed, "a length that cannot be makes it fail");
    strbuf_adds (&b, "y");
    ok (b.failed && b.len == 0, "and it stays failed");
}

static void check_json (void)
{
    static const struct {
        const char *in, *out, *what;
    } cases[] = {
        { "", "\"\"", "an empty string" },
        { "a/b", "\"a/b\"", "a slash is not escaped" },
        { "\"\\\b\f\n\r\t", "\"\\\"\\\\\\b\\f\\n\\r\\t\"", "short escapes" },
        { "\x01\x1f\x7f", "\"\\u0001\\u001f\\u007f\"", "other control characters" },
        { "\xc3\xa9\xf0\x9f\x98\x80", "\"\xc3\xa9\xf0\x9f\x98\x80\"", "UTF-8 stays" },
        { "a\xff"
          "b\xc3",
          "\"a\xef\xbf\xbd"
          "b\xef\xbf\xbd\"",
          "what is no UTF-8 is replaced" },
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        AUTO_STRBUF b = { 0 };

        strbuf_add_json (&b, cases[i].in);
        tap_is (b.s, cases[i].out, cases[i].what);
    }
}

static void check_utf8 (void)
{
    static const struct {
        const char *in;
        size_t n;
        const char *what;
    } cases[] = {
        { "a", 1, "ASCII" },
        { "\xc2\x80", 2, "the first of two bytes" },
        { "\xdf\xbf", 2, "the last of two bytes" },
        { "\xe0\xa0\x80", 3, "the first of three bytes" },
        { "\xed\x9f\xbf", 3, "the last before the surrogates" },
        { "\xf4\x8f\xbf\xbf", 4, "U+10FFFF" },
        { "\xc0\x80", 0, "overlong NUL" },
        { "\xc1\xbf", 0, "overlong two bytes" },
        { "\xe0\x9f\xbf", 0, "overlong three bytes" },
        { "\xf0\x8f\xbf\xbf", 0, "overlong four bytes" },
        { "\xed\xa0\x80", 0, "a surrogate" },
        { "\xf4\x90\x80\x80", 0, "above U+10FFFF" },
        { "\xf5\x80\x80\x80", 0, "a lead that is none" },
        { "\x80", 0, "a tail alone" },
        { "\xe2\x82", 0, "cut off" },
        { "\xe2\x82\x28", 0, "a tail that is none" },
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        ok (utf8_sequence (cases[i].in, strlen (cases[i].in)) == cases[i].n, "utf8: %s",
            cases[i].what);
}

int main (void)
{
    check_add ();
    check_json ();
    check_utf8 ();
    return tap_done ();
}
