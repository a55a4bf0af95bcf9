#include "json.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yajl/yajl_parse.h>

#include "ocispec.h"
#include "utf8.h"

/* ---- before yajl: what it would take, or crash on ---- */

/*
 * One pass over the bytes. It only knows strings from the rest, which is enough to bound the depth
 * and the number of values, and to see what yajl 2.1.0 gets wrong inside strings (CVE-2017-16516:
 * broken \u escapes; lone surrogates become '?'; overlong UTF-8 passes).
 */
struct scan {
    const char *buf;
    size_t len, at; /* at: where the problem is */
    size_t depth;
    size_t n_values;     /* at most so many nodes */
    const char *problem; /* NULL: none */
};

static bool problem (struct scan *s, size_t at, const char *what)
{
    s->at = at;
    s->problem = what;
    return false;
}

/* The code unit of the \uXXXX at AT, or -1. */
static int unicode_escape (const struct scan *s, size_t at)
{
    int v = 0;

    if (s->len - at < 6 || s->buf[at] != '\\' || s->buf[at + 1] != 'u')
        return -1;
    for (size_t i = at + 2; i < at + 6; i++) {
        char c = s->buf[i];

        if (!isxdigit ((unsigned char)c))
            return -1;
        v = v * 16 + (c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
    }
    return v;
}

static bool scan_unicode (struct scan *s, size_t *at)
{
    int v = unicode_escape (s, *at);

    if (v < 0)
        return problem (s, *at, "broken \\u escape");
    if (v == 0)
        return problem (s, *at, "\\u0000 in a string");
    if (v < 0xd800 || v > 0xdfff) {
        *at += 6;
        return true;
    }
    if (v <= 0xdbff && s->len - *at >= 12) {
        int low = unicode_escape (s, *at + 6);

        if (low >= 0xdc00 && low <= 0xdfff) {
            *at += 12;
            return true;
        }
    }
    return problem (s, *at, "\\u escape of half a surrogate pair");
}

/* One character of a string. */
static bool scan_char (struct scan *s, size_t *at)
{
    unsigned char c = (unsigned char)s->buf[*at];
    size_t n;

    if (c < 0x20)
        return problem (s, *at, c ? "control character in a string" : "NUL byte");
    if (c == '\\' && s->len - *at >= 2) {
        if (s->buf[*at + 1] == 'u')
            return scan_unicode (s, at);
        *at += (unsigned char)s->buf[*at + 1] < 0x80 ? 2 : 1;
        return true;
    }
    n = utf8_sequence (s->buf + *at, s->len - *at);
    if (n == 0)
        return problem (s, *at, "invalid UTF-8");
    *at += n;
    return true;
}

/* From behind the opening quote to behind the closing one; the end of the text is yajl's to
 * report. */
static bool scan_string (struct scan *s, size_t *at)
{
    while (*at < s->len && s->buf[*at] != '"')
        if (!scan_char (s, at))
            return false;
    (*at)++;
    return true;
}

static bool scan_structure (struct scan *s, size_t at)
{
    switch (s->buf[at]) {
    case '[':
    case '{':
        s->n_values++;
        if (s->depth++ == OCI_MAX_DEPTH)
            return problem (s, at, "nested too deep");
        return true;
    case ']':
    case '}':
        s->depth -= s->depth > 0;
        return true;
    case ',':
    case ':':
        s->n_values++;
        return true;
    case '\0':
        return problem (s, at, "NUL byte");
    case '\v':
    case '\f': /* blanks to yajl, not to RFC 8259 */
        return problem (s, at, "control character");
    default:
        return true;
    }
}

static void scan_text (struct scan *s)
{
    size_t at = 0;

    if (s->len >= 3 && memcmp (s->buf, "\xef\xbb\xbf", 3) == 0) {
        (void)problem (s, 0, "byte order mark");
        return;
    }
    while (at < s->len) {
        bool in_string = s->buf[at] == '"';

        if (!in_string && !scan_structure (s, at))
            return;
        at++;
        if (in_string && !scan_string (s, &at))
            return;
    }
}

/* ---- yajl's events to nodes ---- */

struct build {
    struct json_node
        *nodes; /* one more than can be used: the place of the next value, for messages */
    size_t n, cap;
    size_t open[OCI_MAX_DEPTH]; /* indices of the containers that are not closed yet */
    size_t depth;
    bool key_pending;
    const char *buf;
    size_t len;
    struct arena *scratch;
    const struct json_node *duplicate; /* a key that stands twice */
    bool oom;
};

/* Counts the value or key that comes next in the innermost container. */
static void count_child (struct build *b)
{
    struct json_node *in = b->depth ? &b->nodes[b->open[b->depth - 1]] : NULL;

    if (in && !b->key_pending)
        in->n++;
    b->key_pending = false;
}

static struct json_node *add (struct build *b, enum json_kind kind)
{
    struct json_node *n = &b->nodes[b->n];

    if (b->n >= b->cap) /* cannot happen: each value follows one of "[{,:" or is the first */
        return NULL;
    count_child (b);
    b->n++;
    *n = (struct json_node){ .kind = kind, .size = 1 };
    return n;
}

/* yajl hands out its own buffer for strings with escapes; that text must be copied. */
static int add_text (struct build *b, enum json_kind kind, const char *text, size_t len)
{
    struct json_node *n = add (b, kind);

    if (!n)
        return 0;
    n->text = text;
    n->len = (uint32_t)len;
    if ((uintptr_t)text - (uintptr_t)b->buf < b->len)
        return 1;
    n->text = arena_strndup (b->scratch, text, len);
    b->oom = !n->text;
    return n->text != NULL;
}

static int on_null (void *ctx)
{
    return add (ctx, JSON_NULL) != NULL;
}

static int on_bool (void *ctx, int truth)
{
    struct json_node *n = add (ctx, JSON_BOOL);

    if (n)
        n->truth = truth;
    return n != NULL;
}

static int on_number (void *ctx, const char *text, size_t len)
{
    return add_text (ctx, JSON_NUMBER, text, len);
}

static int on_string (void *ctx, const unsigned char *text, size_t len)
{
    return add_text (ctx, JSON_STRING, (const char *)text, len);
}

static int on_key (void *ctx, const unsigned char *text, size_t len)
{
    struct build *b = ctx;
    int r = add_text (b, JSON_STRING, (const char *)text, len);

    b->key_pending = true;
    return r;
}

static int open_container (struct build *b, enum json_kind kind)
{
    if (b->depth == OCI_MAX_DEPTH || !add (b, kind))
        return 0;
    b->open[b->depth++] = b->n - 1;
    return 1;
}

static int on_array (void *ctx)
{
    return open_container (ctx, JSON_ARRAY);
}

static int on_object (void *ctx)
{
    return open_container (ctx, JSON_OBJECT);
}

static struct json_node *close_container (struct build *b)
{
    struct json_node *c = &b->nodes[b->open[--b->depth]];

    c->size = (uint32_t)(&b->nodes[b->n] - c);
    return c;
}

static int on_array_end (void *ctx)
{
    (void)close_container (ctx);
    return 1;
}

/* ---- keys that stand twice ---- */

static bool same_text (const struct json_node *a, const struct json_node *b)
{
    return a->len == b->len && memcmp (a->text, b->text, a->len) == 0;
}

/* By text, then by place, so that of two equal ones the later is named. */
static int by_text (const void *pa, const void *pb)
{
    const struct json_node *a = *(const struct json_node *const *)pa;
    const struct json_node *b = *(const struct json_node *const *)pb;
    int r = memcmp (a->text, b->text, a->len < b->len ? a->len : b->len);

    if (r == 0)
        r = (a->len > b->len) - (a->len < b->len);
    return r ? r : (a > b) - (a < b);
}

/* Sorting stays fast whatever the keys are; a hash table would need a secret to promise that. */
static const struct json_node *duplicate_of (const struct json_node **keys, size_t n)
{
    qsort (keys, n, sizeof *keys, by_text);
    for (size_t i = 1; i < n; i++)
        if (same_text (keys[i - 1], keys[i]))
            return keys[i];
    return NULL;
}

static int on_object_end (void *ctx)
{
    enum { FEW = 32 };
    struct build *b = ctx;
    const struct json_node *few[FEW], **keys = few;
    const struct json_node *o = close_container (b), *k = o + 1;

    if (o->n > FEW)
        keys = arena_calloc (b->scratch, o->n, sizeof *keys);
    b->oom = !keys;
    if (!keys)
        return 0;
    for (size_t i = 0; i < o->n; i++, k += 1 + k[1].size)
        keys[i] = k;
    b->duplicate = duplicate_of (keys, o->n);
    return b->duplicate == NULL;
}

static const yajl_callbacks callbacks = {
    .yajl_null = on_null,
    .yajl_boolean = on_bool,
    .yajl_number = on_number, /* as text: the only way to get 2^64-1 exactly */
    .yajl_string = on_string,
    .yajl_start_map = on_object,
    .yajl_map_key = on_key,
    .yajl_end_map = on_object_end,
    .yajl_start_array = on_array,
    .yajl_end_array = on_array_end,
};

/* ---- paths and messages ---- */

struct line {
    char *s;
    size_t len, size; /* size leaves room for "..." and the NUL */
};

/* Control characters would break the one line, and a terminal (security.md R16). */
static void line_add (struct line *l, const char *s, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        char c = (unsigned char)s[i] < 0x20 || s[i] == 0x7f ? '?' : s[i];

        if (l->len >= l->size) {
            memcpy (l->s + l->len, "...", 4);
            return;
        }
        l->s[l->len++] = c;
    }
    l->s[l->len] = '\0';
}

char *json_quote (const struct json_node *n, char *buf)
{
    struct line l = { .s = buf, .size = JSON_QUOTE_MAX - 4 };

    line_add (&l, n->text, n->len);
    return buf;
}

/* One step from the container IN towards NODE, which lies in it. */
static const struct json_node *path_step (const struct json_node *in, const struct json_node *node,
                                          struct line *l)
{
    const struct json_node *c = in + 1, *key = NULL;
    char index[24];
    size_t i;

    for (i = 0;; i++, c += c->size) {
        if (in->kind == JSON_OBJECT)
            key = c++;
        if (node < c + c->size)
            break;
    }
    (void)snprintf (index, sizeof index, "[%zu]", i);
    line_add (l, key ? "/" : index, key ? 1 : strlen (index));
    if (key)
        line_add (l, key->text, key->len);
    return node == key ? key : c; /* a key stands for its member */
}

char *json_path (const struct json_node *root, const struct json_node *node, char *buf)
{
    struct line l = { .s = buf, .size = JSON_PATH_MAX - 4 };

    buf[0] = '\0';
    while (root != node)
        root = path_step (root, node, &l);
    return buf;
}

/* Where the value that comes next will be, seen from the containers that are still open. */
static const struct json_node *next_place (struct build *b)
{
    struct json_node *in = b->depth ? &b->nodes[b->open[b->depth - 1]] : b->nodes;

    b->nodes[b->n] = (struct json_node){ .size = 1 };
    for (size_t i = 0; i < b->depth; i++)
        b->nodes[b->open[i]].size = (uint32_t)(b->n - b->open[i] + 1);
    if (b->depth && (in->kind == JSON_ARRAY || b->key_pending))
        return &b->nodes[b->n];
    return in;
}

static int fail_at (struct build *b, size_t offset, const char *what, struct err *e)
{
    char path[JSON_PATH_MAX];
    size_t line = 1;

    for (size_t i = 0; i < offset && i < b->len; i++)
        line += b->buf[i] == '\n';
    (void)json_path (b->nodes, next_place (b), path);
    return err_set (e, EINVAL, "%s: %s (line %zu)", *path ? path : "/", what, line);
}

static int fail_yajl (struct build *b, yajl_handle h, struct err *e)
{
    unsigned char *text;
    const char *what;
    int r;

    if (b->oom)
        return err_oom (e);
    if (b->duplicate) {
        char path[JSON_PATH_MAX];

        (void)next_place (b);
        return err_set (e, EINVAL, "%s: duplicate key", json_path (b->nodes, b->duplicate, path));
    }
    text = yajl_get_error (h, 0, NULL, 0);
    if (!text)
        return err_oom (e);
    text[strcspn ((char *)text, ".\n")] = '\0';
    what = strstr ((char *)text, "error: "); /* "parse error: ", "lexical error: " */
    r = fail_at (b, yajl_get_bytes_consumed (h), what ? what + strlen ("error: ") : (char *)text,
                 e);
    yajl_free_error (h, text);
    return r;
}

/* ---- the whole ---- */

/* What the scan found wrong is reported last: feeding yajl up to there gives its path, or an
 * earlier error. */
static int build (struct build *b, const struct scan *s, yajl_handle h, struct err *e)
{
    const unsigned char *text = (const unsigned char *)s->buf;

    if (yajl_parse (h, text, s->problem ? s->at : s->len) != yajl_status_ok)
        return fail_yajl (b, h, e);
    if (s->problem)
        return fail_at (b, s->at, s->problem, e);
    if (yajl_complete_parse (h) != yajl_status_ok)
        return fail_yajl (b, h, e);
    return 0;
}

int json_read (const char *buf, size_t len, struct arena *scratch, const struct json_node **ret,
               struct err *e)
{
    struct scan s = { .buf = buf, .len = len, .n_values = 1 };
    struct build b = { .buf = buf, .len = len, .scratch = scratch };
    yajl_handle h;
    int r;

    if (len > OCI_MAX_BYTES)
        return err_set (e, EINVAL, "/: larger than %zu bytes", OCI_MAX_BYTES);
    scan_text (&s);
    b.cap = s.n_values;
    b.nodes = arena_calloc (scratch, b.cap + 1, sizeof *b.nodes);
    h = b.nodes ? yajl_alloc (&callbacks, NULL, &b) : NULL;
    if (!h)
        return err_oom (e);
    r = build (&b, &s, h, e);
    yajl_free (h);
    if (r < 0)
        return r;
    *ret = b.nodes;
    return 0;
}
