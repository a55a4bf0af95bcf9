#include "spec/unitprop.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/str.h"

static const struct known {
    const char *name;
    enum unitprop_type type;
    bool harmless;
} known[] = {
    { "After", UNITPROP_STRINGS, true },
    { "Before", UNITPROP_STRINGS, true },
    { "BindsTo", UNITPROP_STRINGS, false },
    { "CollectMode", UNITPROP_STRING, true },
    { "DefaultDependencies", UNITPROP_BOOL, true },
    { "Description", UNITPROP_STRING, true },
    { "FinalKillSignal", UNITPROP_I32, true },
    { "KillMode", UNITPROP_STRING, true },
    { "KillSignal", UNITPROP_I32, true },
    { "OOMPolicy", UNITPROP_STRING, false },
    { "PartOf", UNITPROP_STRINGS, false },
    { "Requires", UNITPROP_STRINGS, false },
    { "RuntimeMaxUSec", UNITPROP_U64, true },
    { "SendSIGHUP", UNITPROP_BOOL, true },
    { "SendSIGKILL", UNITPROP_BOOL, true },
    { "TimeoutStopUSec", UNITPROP_U64, true },
    { "Wants", UNITPROP_STRINGS, false },
};

static const char *const type_examples[] = {
    [UNITPROP_BOOL] = "true",    [UNITPROP_STRING] = "'text'", [UNITPROP_I32] = "int32 1",
    [UNITPROP_U32] = "uint32 1", [UNITPROP_U64] = "uint64 1",  [UNITPROP_STRINGS] = "['a', 'b']",
};

static const struct known *find (const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN (known); i++)
        if (strcmp (known[i].name, name) == 0)
            return &known[i];
    return NULL;
}

/* "TimeoutStopSec" is "TimeoutStopUSec" in seconds. NULL: NAME is of no such kind. */
static const struct known *find_seconds (const char *name)
{
    char with_unit[64];
    size_t n = strlen (name);

    if (n < 4 || n + 2 > sizeof with_unit || strcmp (name + n - 3, "Sec") != 0)
        return NULL;
    memcpy (with_unit, name, n - 3);
    memcpy (with_unit + n - 3, "USec", sizeof "USec");
    return find (with_unit);
}

bool unitprop_is_harmless (const char *key)
{
    const char *name = key + strlen (UNITPROP_PREFIX);
    const struct known *k = find (name) ?: find_seconds (name);

    return k && k->harmless;
}

/* ---- values ---- */
static const char *skip_blanks (const char *text)
{
    return text + strspn (text, " \t\n");
}

/* 'text' or "text", with \ before a quote or a backslash. NULL: it is none. */
static char *parse_quoted (const char **at, struct arena *a)
{
    const char *c = *at;
    const char quote = *c++;
    char *out = arena_alloc (a, strlen (c) + 1);
    size_t n = 0;

    if (!out || (quote != '\'' && quote != '"'))
        return NULL;
    for (; *c && *c != quote; c++) {
        if (*c == '\\' && !strchr ("\\'\"", *++c))
            return NULL;
        if (!*c)
            return NULL;
        out[n++] = *c;
    }
    if (*c != quote)
        return NULL;
    out[n] = '\0';
    *at = skip_blanks (c + 1);
    return out;
}

static bool parse_string (const char *text, struct arena *a, struct unitprop *ret)
{
    ret->text = parse_quoted (&text, a);
    return ret->text && !*text;
}

static bool parse_strings (const char *text, struct arena *a, struct unitprop *ret)
{
    const char **list = arena_calloc (a, strlen (text) + 1, sizeof *list);

    if (str_has_prefix (text, "@as"))
        text = skip_blanks (text + strlen ("@as"));
    if (!list || *text != '[')
        return false;
    text = skip_blanks (text + 1);
    while (*text && *text != ']') {
        list[ret->n] = parse_quoted (&text, a);
        if (!list[ret->n++] || (*text != ',' && *text != ']'))
            return false;
        if (*text == ',')
            text = skip_blanks (text + 1);
    }
    ret->list = list;
    return *text == ']' && !*skip_blanks (text + 1);
}

static bool parse_bool (const char *text, struct arena *a, struct unitprop *ret)
{
    (void)a;
    ret->number = strcmp (text, "true") == 0;
    return ret->number || strcmp (text, "false") == 0;
}

/* PREFIX and a blank may stand before the number; one without it is an int32, as in GVariant. */
static bool parse_number (const char *text, const char *prefix, uint64_t max, uint64_t *ret)
{
    size_t len = strlen (prefix);
    char *end;

    if (strncmp (text, prefix, len) == 0 && text[len] == ' ')
        text = skip_blanks (text + len);
    else if (max != INT32_MAX)
        return false;
    errno = 0;
    *ret = strtoull (text, &end, 10);
    return text[0] >= '0' && text[0] <= '9' && errno == 0 && !*end && *ret <= max;
}

static bool parse_i32 (const char *text, struct arena *a, struct unitprop *ret)
{
    (void)a;
    return parse_number (text, "int32", INT32_MAX, &ret->number);
}

static bool parse_u32 (const char *text, struct arena *a, struct unitprop *ret)
{
    (void)a;
    return parse_number (text, "uint32", UINT32_MAX, &ret->number);
}

static bool parse_u64 (const char *text, struct arena *a, struct unitprop *ret)
{
    (void)a;
    return parse_number (text, "uint64", UINT64_MAX, &ret->number);
}

/* Seconds of any type of number, with a fraction; "inf" and "nan" are none. */
static bool parse_seconds (const char *text, struct unitprop *ret)
{
    static const char *const prefixes[] = { "int32", "uint32", "int64", "uint64", "double" };
    double seconds;
    char *end;

    for (size_t i = 0; i < ARRAY_LEN (prefixes); i++) {
        size_t len = strlen (prefixes[i]);

        if (strncmp (text, prefixes[i], len) == 0 && text[len] == ' ')
            text = skip_blanks (text + len);
    }
    if (text[0] < '0' || text[0] > '9')
        return false;
    seconds = strtod (text, &end);
    ret->number = seconds < 1e12 ? (uint64_t)(seconds * 1e6 + 0.5) : UINT64_MAX;
    return !*end;
}

static bool parse (const char *text, struct arena *a, struct unitprop *ret)
{
    static bool (*const parsers[]) (const char *text, struct arena *a, struct unitprop *ret) = {
        [UNITPROP_BOOL] = parse_bool, [UNITPROP_STRING] = parse_string,
        [UNITPROP_I32] = parse_i32,   [UNITPROP_U32] = parse_u32,
        [UNITPROP_U64] = parse_u64,   [UNITPROP_STRINGS] = parse_strings,
    };

    return parsers[ret->type](text, a, ret);
}

int unitprop_parse (const char *key, const char *value, struct arena *a, struct unitprop *ret,
                    struct err *e)
{
    const char *name = key + strlen (UNITPROP_PREFIX);
    const char *text = skip_blanks (value);
    const struct known *k = find (name);
    const struct known *seconds = k ? NULL : find_seconds (name);
    struct unitprop p = { 0 };

    if (!k)
        k = seconds;
    if (!k)
        return err_set (e, EINVAL,
                        "/annotations/%.200s: a property of the unit that agentrt does not set: "
                        "leave it out (limits are /linux/resources)",
                        key);
    p.name = k->name;
    p.type = k->type;
    if (seconds ? parse_seconds (text, &p) : parse (text, a, &p)) {
        *ret = p;
        return 0;
    }
    return err_set (e, EINVAL, "/annotations/%.200s: '%.100s' is no value for it: write %s", key,
                    value, seconds ? "seconds, such as 1.5" : type_examples[k->type]);
}
