/*
 * libocispec: every row is parsed strictly and emitted as it was, whatever the input.
 */
#include "libocispec/ocispec.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <time.h>

#include "libocispec/json.h"
#include "libocispec/type.h"
#include "golden.h"
#include "tap.h"

static const struct oci_type *const all_types[] = {
#define OCI_STRUCT(s, doc) &s##_type,
#define OCI_STRING(...)
#define OCI_BOOL(...)
#define OCI_NUMBER(...)
#define OCI_CHOICE(...)
#define OCI_OBJECT(...)
#define OCI_STRINGS(...)
#define OCI_NUMBERS(...)
#define OCI_CHOICES(...)
#define OCI_OBJECTS(...)
#define OCI_STRING_MAP(...)
#define OCI_OBJECT_MAP(...)
#define OCI_MAP_KEY(...)
#define OCI_STRUCT_END(s)
#include "libocispec/rows.def"
#include "libocispec/rows_undef.def"
};
#define N_TYPES (sizeof all_types / sizeof all_types[0])

static char *read_golden (const char *name, struct arena *a, size_t *ret_len)
{
    return golden_read (golden_path ("configs", name, a), a, ret_len);
}

/* The message of parsing TEXT, "" when it is taken. In the arena. */
static const char *message (const struct oci_type *t, const char *text, struct arena *a)
{
    struct err e = { 0 };
    const void *doc;

    return oci_parse (t, text, strlen (text), a, &doc, NULL, &e) < 0 ? arena_strdup (a, e.msg) : "";
}

/* ---- there and back ---- */

static const struct oci_type *type_of_file (const char *name)
{
    static const struct {
        const char *prefix;
        const struct oci_type *type;
    } kinds[] = {
        { "config-", &oci_config_type },
        { "full", &oci_config_type },
        { "process-", &oci_process_type },
        { "update-", &oci_linux_resources_type },
    };

    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (strncmp (name, kinds[i].prefix, strlen (kinds[i].prefix)) == 0)
            return kinds[i].type;
    return NULL;
}

static bool same_json (const struct json_node *a, const struct json_node *b);

static const struct json_node *member (const struct json_node *o, const struct json_node *key)
{
    const struct json_node *k = o + 1;

    for (size_t i = 0; i < o->n; i++, k += 1 + k[1].size)
        if (k->len == key->len && memcmp (k->text, key->text, k->len) == 0)
            return k + 1;
    return NULL;
}

static bool same_members (const struct json_node *a, const struct json_node *b)
{
    const struct json_node *k = a + 1;

    for (size_t i = 0; i < a->n; i++, k += 1 + k[1].size) {
        const struct json_node *other = member (b, k);

        if (!other || !same_json (k + 1, other))
            return false;
    }
    return true;
}

static bool same_elements (const struct json_node *a, const struct json_node *b)
{
    const struct json_node *x = a + 1, *y = b + 1;

    for (size_t i = 0; i < a->n; i++, x += x->size, y += y->size)
        if (!same_json (x, y))
            return false;
    return true;
}

static bool same_json (const struct json_node *a, const struct json_node *b)
{
    if (a->kind != b->kind || a->n != b->n || a->len != b->len || a->truth != b->truth)
        return false;
    if (a->kind == JSON_OBJECT)
        return same_members (a, b);
    if (a->kind == JSON_ARRAY)
        return same_elements (a, b);
    return a->len == 0 || memcmp (a->text, b->text, a->len) == 0;
}

static void check_round_trip (const char *name, enum oci_emit_style style)
{
    const struct oci_type *t = type_of_file (name);
    AUTO_ARENA a = { 0 };
    AUTO_STRBUF once = { 0 }, twice = { 0 };
    struct oci_parse_info info;
    const struct json_node *in = NULL, *out = NULL;
    struct err e = { 0 };
    const void *doc = NULL;
    size_t len;
    char *text = read_golden (name, &a, &len);

    if (!ok (oci_parse (t, text, len, &a, &doc, &info, &e) == 0, "%s is read %s", name, e.msg))
        return;
    ok (info.n_unknown == 0, "%s: every property has a row", name);
    ok (oci_emit (t, doc, style, &once, &e) == 0, "%s is written", name);
    ok (oci_parse (t, once.s, once.len, &a, &doc, NULL, &e) == 0, "%s is read again", name);
    ok (oci_emit (t, doc, style, &twice, &e) == 0 && strcmp (once.s, twice.s) == 0,
        "%s: the same bytes again", name);
    ok (json_read (text, len, &a, &in, &e) == 0 &&
            json_read (once.s, once.len, &a, &out, &e) == 0 && same_json (in, out),
        "%s: what is written is what was read", name);
}

static void check_recordings (void)
{
    AUTO_ARENA a = { 0 };
    DIR *dir = opendir (golden_path ("configs", "", &a));
    size_t n = 0;

    for (struct dirent *d; dir && (d = readdir (dir));) {
        if (!type_of_file (d->d_name))
            continue;
        check_round_trip (d->d_name, n++ % 2 ? OCI_COMPACT : OCI_PRETTY);
    }
    if (dir)
        (void)closedir (dir);
    ok (n >= 10, "there are %zu recordings", n);
}

/* ---- full.json has every property there is ---- */

static bool is_set (const struct oci_prop *prop, const void *doc)
{
    if (prop->shape == OCI_ONE && prop->aux)
        return *(const bool *)oci_at_const (doc, prop->aux);
    if (prop->shape == OCI_ONE && prop->kind != OCI_KIND_STRING && prop->kind != OCI_KIND_OBJECT)
        return true;
    return *(const void *const *)oci_at_const (doc, prop->offset) != NULL;
}

static void check_covered (const struct oci_type *t, const void *doc)
{
    for (const struct oci_prop *p = t->props; p < t->props + t->n_props; p++) {
        const void *member_at = oci_at_const (doc, p->offset);

        if (!is_set (p, doc)) {
            ok (false, "full.json has %s.%s", t->name, p->name);
            continue;
        }
        if (p->kind == OCI_KIND_OBJECT) /* of a list, the first element is the full one */
            check_covered (p->type, *(const void *const *)member_at);
    }
}

static void check_full (void)
{
    AUTO_ARENA a = { 0 };
    struct err e = { 0 };
    const void *doc = NULL;
    size_t len;
    char *text = read_golden ("full.json", &a, &len);
    const struct oci_config *c;

    if (!ok (oci_parse (&oci_config_type, text, len, &a, &doc, NULL, &e) == 0, "full.json is read"))
        return;
    check_covered (&oci_config_type, doc);
    c = doc;
    ok (c->process->rlimits[0].hard == UINT64_MAX, "2^64-1 is exact");
    ok (c->linux_->seccomp->syscalls[0].args[0].value_two == (uint64_t)1 << 63, "so is 2^63");
    ok (c->linux_->time_offsets->boottime->secs == INT64_MIN, "so is -2^63");
    tap_is (c->process->args[2], "echo \"\xc3\xbc\xf0\x9f\x98\x80/\\\t\"", "escapes are decoded");
    ok (!c->process->args[3] && c->process->n_args == 3, "strings end with NULL");
    ok (c->linux_->readonly_paths && !c->linux_->n_readonly_paths, "empty is not absent");
    tap_is (c->linux_->net_devices[1].key, "ens4", "maps keep their order");
}

/* ---- each row by itself ---- */

static const char *expected_type (const struct oci_prop *p)
{
    static const char *const one[] = {
        [OCI_KIND_STRING] = "a string",   [OCI_KIND_BOOL] = "a boolean",
        [OCI_KIND_NUMBER] = "an integer", [OCI_KIND_CHOICE] = "a string",
        [OCI_KIND_OBJECT] = "an object",
    };

    return p->shape == OCI_ARRAY ? "an array" : p->shape == OCI_MAP ? "an object" : one[p->kind];
}

static bool is_like (const struct oci_prop *p, const char *json)
{
    switch (json[0]) {
    case '[':
        return p->shape == OCI_ARRAY;
    case '{':
        return p->shape == OCI_MAP || (p->shape == OCI_ONE && p->kind == OCI_KIND_OBJECT);
    case '"':
        return p->shape == OCI_ONE && (p->kind == OCI_KIND_STRING || p->kind == OCI_KIND_CHOICE);
    case 't':
        return p->shape == OCI_ONE && p->kind == OCI_KIND_BOOL;
    default:
        return p->shape == OCI_ONE && p->kind == OCI_KIND_NUMBER;
    }
}

static bool refuses_other_types (const struct oci_type *t, const struct oci_prop *p)
{
    static const char *const values[] = { "[]", "{}", "\"x\"", "true", "7" };
    AUTO_ARENA a = { 0 };
    char *want = arena_printf (&a, "/%s: expected %s, found ", p->name, expected_type (p));

    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        char *text = arena_printf (&a, "{\"%s\":%s}", p->name, values[i]);

        if (!is_like (p, values[i]) && strncmp (message (t, text, &a), want, strlen (want)) != 0)
            return false;
    }
    return true;
}

/* Only an optional object, array or map may be null; in features and policies any optional
 * property. */
static bool null_is_right (const struct oci_type *t, const struct oci_prop *p)
{
    AUTO_ARENA a = { 0 };
    char *text = arena_printf (&a, "{\"%s\":null}", p->name);
    char *path = arena_printf (&a, "/%s: expected", p->name);
    bool refused = strncmp (message (t, text, &a), path, strlen (path)) == 0;
    bool is_lenient = t == &oci_features_type || t == &oci_policy_type;
    bool nullable = p->shape != OCI_ONE || p->kind == OCI_KIND_OBJECT || is_lenient;

    return refused == (p->required || !nullable);
}

static bool null_elements_are_refused (const struct oci_type *t, const struct oci_prop *p)
{
    AUTO_ARENA a = { 0 };
    bool is_map = p->shape == OCI_MAP;
    char *text = arena_printf (&a, is_map ? "{\"%s\":{\"k\":null}}" : "{\"%s\":[null]}", p->name);
    char *path = arena_printf (&a, is_map ? "/%s/k: expected" : "/%s[0]: expected", p->name);

    return p->shape == OCI_ONE || strncmp (message (t, text, &a), path, strlen (path)) == 0;
}

static const char *value_message (const struct oci_type *t, const struct oci_prop *p,
                                  const char *value, struct arena *a)
{
    bool is_array = p->shape == OCI_ARRAY;

    return message (t,
                    arena_printf (a, "{\"%s\":%s%s%s}", p->name, is_array ? "[" : "", value,
                                  is_array ? "]" : ""),
                    a);
}

static bool has_range (const struct oci_type *t, const struct oci_prop *p)
{
    AUTO_ARENA a = { 0 };
    char *above = p->max == UINT64_MAX ? arena_strdup (&a, "18446744073709551616")
                                       : arena_printf (&a, "%" PRIu64, p->max + 1);
    char *below = p->min == INT64_MIN ? arena_strdup (&a, "-9223372036854775809")
                                      : arena_printf (&a, "%" PRId64, p->min - 1);

    if (p->kind != OCI_KIND_NUMBER)
        return true;
    return strstr (value_message (t, p, above, &a), "out of range") &&
           strstr (value_message (t, p, below, &a), "out of range") &&
           !strstr (value_message (t, p, arena_printf (&a, "%" PRIu64, p->max), &a), "range") &&
           !strstr (value_message (t, p, arena_printf (&a, "%" PRId64, p->min), &a), "range") &&
           strstr (value_message (t, p, "1.5", &a), "expected an integer, found 1.5") &&
           strstr (value_message (t, p, "1e3", &a), "expected an integer, found 1e3") &&
           strstr (value_message (t, p, "-0", &a), "expected an integer, found -0");
}

static const char *choice_message (const struct oci_type *t, const struct oci_prop *p,
                                   const char *value, struct arena *a)
{
    return value_message (t, p, arena_printf (a, "\"%s\"", value), a);
}

static bool has_values (const struct oci_type *t, const struct oci_prop *p)
{
    AUTO_ARENA a = { 0 };

    if (p->kind != OCI_KIND_CHOICE)
        return true;
    for (int v = 0; v < p->values->n; v++)
        if (strstr (choice_message (t, p, p->values->names[v], &a), "unknown value"))
            return false;
    return strstr (choice_message (t, p, "x", &a), "unknown value 'x'");
}

static void check_rows (void)
{
    size_t n = 0;

    for (size_t i = 0; i < N_TYPES; i++) {
        const struct oci_type *t = all_types[i];

        for (const struct oci_prop *p = t->props; p < t->props + t->n_props; p++, n++)
            ok (refuses_other_types (t, p) && null_is_right (t, p) &&
                    null_elements_are_refused (t, p) && has_range (t, p) && has_values (t, p) &&
                    *p->doc,
                "%s.%s takes what its row says and nothing else", t->name, p->name);
    }
    ok (n > 200, "there are %zu rows", n);
}

/* ---- documents ---- */

static void check_unknown (void)
{
    const char *text =
        "{\"ociVersion\":\"1.0.0\",\"vm\":{\"x\":{}},\"root\":{\"path\":\"r\",\"Path\":1}}";
    AUTO_ARENA a = { 0 };
    struct oci_parse_info info;
    struct err e = { 0 };
    const void *doc;

    ok (oci_parse (&oci_config_type, text, strlen (text), &a, &doc, &info, &e) == 0,
        "unknown properties are ignored");
    ok (info.n_unknown == 2, "and counted");
    tap_is (info.first_unknown, "/vm", "the first one is named");
}

static void check_messages (void)
{
    static const struct {
        const char *text, *want;
    } cases[] = {
        { "{\"a\\nb\":{\"x\":1,\"x\":2}}", "/a?b/x: duplicate key" },
        { "[[[1,2,{\"k\":tru}]]]", "[0][0][2]/k: " },
        { "{\"linux\":{\"namespaces\":[{\"type\":\"pi\\nd\"}]}}",
          "/linux/namespaces[0]/type: unknown value 'pi?d'" },
        { "{\"ociVersion\":\"1.0.0\",\n\n}", "/: invalid object key (must be a string) (line 3)" },
    };
    AUTO_ARENA a = { 0 };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *got = message (&oci_config_type, cases[i].text, &a);

        if (!ok (strncmp (got, cases[i].want, strlen (cases[i].want)) == 0, "%s", cases[i].want))
            (void)printf ("# got %s\n", got);
    }
}

static void check_depth (void)
{
    char deep[2 * (OCI_MAX_DEPTH + 1) + 32];
    size_t levels = OCI_MAX_DEPTH - 1; /* one is the document itself */
    AUTO_ARENA a = { 0 };
    size_t n = (size_t)snprintf (deep, sizeof deep, "{\"ociVersion\":\"1.0.0\",\"x\":");

    memset (deep + n, '[', levels);
    memset (deep + n + levels, ']', levels);
    memcpy (deep + n + 2 * levels, "}", 2);
    tap_is (message (&oci_config_type, deep, &a), "", "64 levels are fine");
    levels++;
    memset (deep + n, '[', levels);
    memset (deep + n + levels, ']', levels);
    memcpy (deep + n + 2 * levels, "}", 2);
    ok (strstr (message (&oci_config_type, deep, &a), "nested too deep"), "65 are too many");
}

/* ---- hostile input ---- */

static bool is_one_line (const char *s)
{
    for (; *s; s++)
        if ((unsigned char)*s < ' ' || *s == 0x7f)
            return false;
    return true;
}

/* True when the parse ends in a result or in one line that starts with a path. */
static bool ends_well (const char *text, size_t len)
{
    AUTO_ARENA a = { 0 };
    struct err e = { 0 };
    const void *doc;
    int r = oci_parse (&oci_config_type, text, len, &a, &doc, NULL, &e);

    return r == 0 || (r == -EINVAL && (e.msg[0] == '/' || e.msg[0] == '[') && is_one_line (e.msg));
}

static void check_truncation (void)
{
    AUTO_ARENA a = { 0 };
    size_t len, bad = 0;
    char *text = read_golden ("full.json", &a, &len);

    while (len > 0 && text[len - 1] != '}')
        len--;
    for (size_t n = 0; n < len; n++) {
        struct err e = { 0 };
        AUTO_ARENA scratch = { 0 };
        const void *doc;

        bad += oci_parse (&oci_config_type, text, n, &scratch, &doc, NULL, &e) != -EINVAL ||
               e.msg[0] != '/' || !is_one_line (e.msg);
    }
    ok (bad == 0 && len > 1000, "cut off at any of %zu bytes it is refused with a path", len);
}

static void check_mutation (void)
{
    static const char bytes[] = "\"\\{}[],:0-e.tn \x01\x7f\x80\xc3\xff";
    AUTO_ARENA a = { 0 };
    size_t len, bad = 0;
    char *text = read_golden ("config-containerd21-cri-container.json", &a, &len);

    for (size_t i = 0; i < len; i++) {
        char kept = text[i];

        for (size_t b = 0; b < sizeof bytes; b++) { /* the NUL too */
            text[i] = bytes[b];
            bad += !ends_well (text, len);
        }
        text[i] = kept;
    }
    ok (bad == 0, "any of %zu bytes changed, it ends well", len);
}

static void check_deletion (void)
{
    AUTO_ARENA a = { 0 };
    size_t len, bad = 0;
    char *text = read_golden ("config-containerd21-cri-container.json", &a, &len);

    for (size_t i = 0; i < len; i++) {
        AUTO_ARENA scratch = { 0 };
        char *shorter = arena_strndup (&scratch, text, len);

        memmove (shorter + i, shorter + i + 1, len - i);
        bad += !ends_well (shorter, len - 1);
    }
    ok (bad == 0, "any byte left out, it ends well");
}

/* UNIT as often as it fits, with numbers where it says so. */
static void check_hostile (const char *what, const char *head, const char *unit, const char *tail)
{
    AUTO_STRBUF b = { 0 };
    clock_t start = clock ();

    strbuf_adds (&b, head);
    for (unsigned int i = 0; b.len + 64 < OCI_MAX_BYTES; i++) {
        strbuf_adds (&b, i ? "," : "");
        for (const char *c = unit; *c; c++)
            *c == '#' ? strbuf_addf (&b, "%u", i) : strbuf_add (&b, c, 1);
    }
    strbuf_adds (&b, tail);
    ok (!b.failed && ends_well (b.s, b.len), "%s ends well", what);
    /* Linear: a third of a second. Quadratic: hours. */
    ok ((clock () - start) / CLOCKS_PER_SEC < 60, "and soon");
}

static void check_sizes (void)
{
    AUTO_ARENA a = { 0 };
    size_t n = OCI_MAX_BYTES + 1;
    char *blank = arena_strndup (&a, "", 0);
    struct err e = { 0 };
    const void *doc;

    blank = arena_alloc (&a, n);
    memset (blank, ' ', n);
    ok (oci_parse (&oci_config_type, blank, n, &a, &doc, NULL, &e) == -EINVAL, "too large");
    tap_is (e.msg, "/: larger than 4194304 bytes", "is said");
    check_hostile ("4 MiB of numbers", "[", "1", "]");
    check_hostile ("4 MiB of empty arrays", "[", "[]", "]");
    check_hostile ("4 MiB of keys", "{", "\"#\":1", "}");
    check_hostile ("4 MiB of one key", "{", "\"k\":1", "}");
    check_hostile ("4 MiB of small objects", "{\"x\":[", "{\"a\":{\"b\":\"\\n\"}}", "]}");
    check_hostile ("4 MiB of annotations", "{\"ociVersion\":\"1\",\"annotations\":{",
                   "\"#\":\"\\u00e9\"", "}}");
}

/* ---- emitting ---- */

static void check_emit (void)
{
    static const char *const args[] = { "a/b", "\n", NULL };
    struct oci_process p = { .args = args, .n_args = 2, .cwd = "/", .env = args, .terminal = true };
    struct oci_config c = { .oci_version = "1.0.0", .process = &p };
    AUTO_STRBUF b = { 0 };
    struct err e = { 0 };

    ok (oci_emit (&oci_config_type, &c, OCI_COMPACT, &b, &e) == 0, "compact");
    tap_is (b.s,
            "{\"ociVersion\":\"1.0.0\",\"process\":{\"args\":[\"a/b\",\"\\n\"],\"env\":[],"
            "\"cwd\":\"/\"}}",
            "is one line, with what is there");
    strbuf_free (&b);
    p.n_args = 1;
    ok (oci_emit (&oci_process_type, &p, OCI_PRETTY, &b, &e) == 0, "pretty");
    tap_is (b.s, "{\n  \"args\": [\n    \"a/b\"\n  ],\n  \"env\": [],\n  \"cwd\": \"/\"\n}\n",
            "is indented");
}

static void check_emit_list (void)
{
    struct oci_state s = { .oci_version = "1.3.0", .id = "x", .status = "stopped", .bundle = "/b" };
    const void *const two[] = { &s, &s };
    AUTO_STRBUF b = { 0 };
    struct err e = { 0 };

    s.has_pid = true;
    ok (oci_emit_list (&oci_state_type, two, 0, OCI_COMPACT, &b, &e) == 0, "no documents");
    tap_is (b.s, "[]", "are an empty array");
    strbuf_free (&b);
    ok (oci_emit_list (&oci_state_type, two, 2, OCI_COMPACT, &b, &e) == 0, "two documents");
    ok (b.len == 2 * (b.len / 2) + 1 && strstr (b.s, "\"pid\":0,\"status\":\"stopped\""),
        "are an array of two");
    s.id = "\xff";
    ok (oci_emit_list (&oci_state_type, two, 1, OCI_COMPACT, &b, &e) == -EINVAL, "a bad one");
    tap_is (e.msg, "[0]/id: not valid UTF-8", "is named");
}

static void check_emit_errors (void)
{
    struct oci_namespace ns[] = { { .type = OCI_NS_PID }, { .type = 99 } };
    struct oci_kv kv[] = { { "k", "\xc0\x80" } };
    struct oci_linux l = { .namespaces = ns, .n_namespaces = 2 };
    struct oci_config c = { .oci_version = "1.0.0", .linux_ = &l };
    AUTO_STRBUF b = { 0 };
    struct err e = { 0 };

    ok (oci_emit (&oci_config_type, &c, OCI_COMPACT, &b, &e) == -EINVAL, "no such enumerator");
    tap_is (e.msg, "/linux/namespaces[1]/type: no such value", "is named");
    l = (struct oci_linux){ .sysctl = kv, .n_sysctl = 1 };
    ok (oci_emit (&oci_config_type, &c, OCI_COMPACT, &b, &e) == -EINVAL, "not UTF-8");
    tap_is (e.msg, "/linux/sysctl/k: not valid UTF-8", "is named");
    c = (struct oci_config){ 0 };
    ok (oci_emit (&oci_config_type, &c, OCI_COMPACT, &b, &e) == -EINVAL, "a required one missing");
    tap_is (e.msg, "/ociVersion: required, but missing", "is named");
}

static void check_features (void)
{
    AUTO_ARENA a = { 0 };

    tap_is (
        message (&oci_features_type,
                 "{\"ociVersionMin\":\"1.0.0\",\"ociVersionMax\":\"1.3.0\",\"linux\":{\"cgroup\":"
                 "{\"v1\":null},\"seccomp\":{\"actions\":null}},\"annotations\":null}",
                 &a),
        "", "features may be null all over");
    tap_is (message (&oci_features_type, "{\"ociVersionMin\":null,\"ociVersionMax\":\"1\"}", &a),
            "/ociVersionMin: expected a string, found null", "but not what is required");
}

int main (void)
{
    check_recordings ();
    check_full ();
    check_rows ();
    check_unknown ();
    check_messages ();
    check_depth ();
    check_truncation ();
    check_mutation ();
    check_deletion ();
    check_sizes ();
    check_emit ();
    check_emit_list ();
    check_emit_errors ();
    check_features ();
    return tap_done ();
}
