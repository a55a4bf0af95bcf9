/* The built-in policies as documents, and what merging and comparing documents does. */
#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "libocispec/type.h"
#include "policy/builtin.h"
#include "policy/compare.h"
#include "policy/merge.h"
#include "tap.h"

static struct arena arena;

static const struct oci_policy *parsed (const char *text)
{
    const void *doc = NULL;
    struct err e = { 0 };

    if (oci_parse (&oci_policy_type, text, strlen (text), &arena, &doc, NULL, &e) < 0) {
        printf ("# %s\n", e.msg);
        exit (EXIT_FAILURE);
    }
    return doc;
}

static const char *emitted (const struct oci_policy *doc)
{
    AUTO_STRBUF b = { 0 };
    struct err e = { 0 };

    if (oci_emit (&oci_policy_type, doc, OCI_COMPACT, &b, &e) < 0)
        return e.msg[0] ? arena_strdup (&arena, e.msg) : "";
    return arena_strdup (&arena, b.s);
}

/* ---- the built-in ones ---- */

/* Leaves of TYPE that DOC does not have; prints them. */
static unsigned int missing (const struct oci_type *type, const void *doc, const char *above)
{
    unsigned int n = 0;

    for (size_t i = 0; i < type->n_props; i++) {
        const struct oci_prop *prop = &type->props[i];
        const char *path = arena_printf (&arena, "%s/%s", above, prop->name);

        if (!oci_prop_is_present (prop, doc)) {
            printf ("# missing: %s\n", path);
            n++;
        } else if (prop->kind == OCI_KIND_OBJECT && prop->type != &oci_policy_allow_type) {
            n += missing (prop->type, *(const void *const *)oci_at_const (doc, prop->offset), path);
        }
    }
    return n;
}

static void test_complete (void)
{
    for (const char *const *name = policy_names (); *name; name++) {
        struct policy p = { 0 };
        struct err e = { 0 };
        const char *text;

        (void)ok (policy_from_builtin (*name, &arena, &p, &e) == 0 && strcmp (p.name, *name) == 0,
                  "%s is built in", *name);
        (void)ok (missing (&oci_policy_type, p.doc, "") == 1 && !p.doc->extend,
                  "%s has every key but `extend`", *name);
        text = emitted (p.doc);
        (void)ok (strcmp (text, emitted (parsed (text))) == 0, "%s is what its text says", *name);
    }
}

static void test_unknown (void)
{
    struct policy p = { 0 };
    struct err e = { 0 };

    (void)ok (policy_from_builtin ("open", &arena, &p, &e) == -ENOENT && !p.doc,
              "no other name is built in");
}

/* ---- merging ---- */
static const struct oci_policy *merged (const char *base, const char *own)
{
    const struct oci_policy *doc = NULL;
    struct err e = { 0 };

    (void)policy_merge (parsed (base), parsed (own), &arena, &doc, &e);
    return doc;
}

static void test_merge (void)
{
    static const struct {
        const char *name, *base, *own, *want;
    } rows[] = {
        { "nothing said", "{\"sysctl\":\"any\"}", "{}", "{\"sysctl\":\"any\",\"allow\":{}}" },
        { "a scalar", "{\"sysctl\":\"any\"}", "{\"sysctl\":\"own\"}",
          "{\"sysctl\":\"own\",\"allow\":{}}" },
        { "false over true", "{\"noNewPrivileges\":true}", "{\"noNewPrivileges\":false}",
          "{\"noNewPrivileges\":false,\"allow\":{}}" },
        { "null says nothing", "{\"noNewPrivileges\":true}", "{\"noNewPrivileges\":null}",
          "{\"noNewPrivileges\":true,\"allow\":{}}" },
        { "an object key by key", "{\"limits\":{\"memory\":1,\"pids\":2}}",
          "{\"limits\":{\"pids\":3,\"core\":0}}",
          "{\"limits\":{\"memory\":1,\"pids\":3,\"core\":0},\"allow\":{}}" },
        { "objects in objects", "{\"rootfs\":{\"readonly\":true,\"tmp\":{\"size\":1}}}",
          "{\"rootfs\":{\"tmp\":{\"inodes\":2}}}",
          "{\"rootfs\":{\"readonly\":true,\"tmp\":{\"size\":1,\"inodes\":2}},\"allow\":{}}" },
        { "a list as a whole", "{\"capabilities\":[\"A\",\"B\"]}", "{\"capabilities\":[\"C\"]}",
          "{\"capabilities\":[\"C\"],\"allow\":{}}" },
        { "an empty list", "{\"capabilities\":[\"A\"]}", "{\"capabilities\":[]}",
          "{\"capabilities\":[],\"allow\":{}}" },
        { "allow is not inherited", "{\"allow\":{\"memory\":5}}", "{}", "{\"allow\":{}}" },
        { "not key by key either", "{\"allow\":{\"memory\":5}}", "{\"allow\":{\"pids\":5}}",
          "{\"allow\":{\"pids\":5}}" },
        { "null allows nothing", "{\"allow\":{\"memory\":5}}", "{\"allow\":{\"memory\":null}}",
          "{\"allow\":{}}" },
        { "a name is one's own", "{\"name\":\"n\",\"description\":\"d\"}", "{}", "{\"allow\":{}}" },
        { "extend is done", "{}", "{\"name\":\"n\",\"extend\":\"oci\"}",
          "{\"name\":\"n\",\"allow\":{}}" },
    };

    for (size_t i = 0; i < ARRAY_LEN (rows); i++) {
        const char *got = emitted (merged (rows[i].base, rows[i].own));

        if (!ok (strcmp (got, rows[i].want) == 0, "merge: %s", rows[i].name))
            printf ("# %s\n", got);
    }
}

/* ---- comparing ---- */
static const char *compared (const char *before, const char *after)
{
    const struct oci_difference *d = NULL;
    AUTO_STRBUF b = { 0 };
    struct err e = { 0 };
    size_t n = 0;

    if (oci_diff (&oci_policy_type, parsed (before), parsed (after), &arena, &d, &n, &e) < 0)
        return e.msg[0] ? arena_strdup (&arena, e.msg) : "";
    for (size_t i = 0; i < n; i++)
        strbuf_addf (&b, "%s%s %s>%s %d", i ? "; " : "", d[i].path, d[i].before ?: "-",
                     d[i].after ?: "-", d[i].order);
    return arena_strdup (&arena, b.s ?: "");
}

static void test_diff (void)
{
    static const struct {
        const char *before, *after, *want;
    } rows[] = {
        { "{\"sysctl\":\"any\"}", "{\"sysctl\":\"any\"}", "" },
        { "{}", "{\"limits\":{}}", "" },
        { "{\"sysctl\":\"any\"}", "{\"sysctl\":\"own\"}", "/sysctl \"any\">\"own\" -1" },
        { "{\"noNewPrivileges\":false}", "{\"noNewPrivileges\":true}",
          "/noNewPrivileges false>true 1" },
        { "{}", "{\"limits\":{\"pids\":3}}", "/limits/pids ->3 0" },
        { "{\"limits\":{\"pids\":3}}", "{}", "/limits/pids 3>- 0" },
        { "{\"limits\":{\"pids\":3,\"core\":1}}", "{\"limits\":{\"pids\":-1,\"core\":2}}",
          "/limits/pids 3>-1 -1; /limits/core 1>2 1" },
        { "{\"name\":\"a\"}", "{\"name\":\"b\"}", "/name \"a\">\"b\" 1" },
        { "{\"capabilities\":[\"A\"]}", "{\"capabilities\":[\"B\",\"A\"]}",
          "/capabilities [\"A\"]>[\"B\",\"A\"] 1" },
        { "{\"capabilities\":[\"A\",\"B\"]}", "{\"capabilities\":[]}",
          "/capabilities [\"A\",\"B\"]>[] -1" },
        { "{\"capabilities\":[\"A\"]}", "{\"capabilities\":[\"B\"]}",
          "/capabilities [\"A\"]>[\"B\"] 0" },
        { "{\"namespaces\":{\"own\":[\"pid\"]}}", "{\"namespaces\":{\"own\":[\"pid\",\"uts\"]}}",
          "/namespaces/own [\"pid\"]>[\"pid\",\"uts\"] 1" },
    };

    for (size_t i = 0; i < ARRAY_LEN (rows); i++) {
        const char *got = compared (rows[i].before, rows[i].after);

        if (!ok (strcmp (got, rows[i].want) == 0, "diff: %s %s", rows[i].before, rows[i].after))
            printf ("# %s\n", got);
    }
}

/* ---- looser and tighter ---- */
static const char *directions (const char *before, const char *after)
{
    const struct policy_change *x = NULL;
    AUTO_STRBUF b = { 0 };
    struct err e = { 0 };
    size_t n = 0;

    if (policy_compare (parsed (before), parsed (after), &arena, &x, &n, &e) < 0)
        return "failed";
    for (size_t i = 0; i < n; i++)
        strbuf_addf (&b, "%s%s", i ? " " : "", policy_direction_names[x[i].direction]);
    return arena_strdup (&arena, b.s ?: "");
}

static void test_compare (void)
{
    static const struct {
        const char *before, *after, *want;
    } rows[] = {
        { "{\"limits\":{\"pids\":5}}", "{\"limits\":{\"pids\":6}}", "looser" },
        { "{\"limits\":{\"pids\":5}}", "{\"limits\":{\"pids\":4}}", "tighter" },
        { "{\"limits\":{\"pids\":5}}", "{\"limits\":{\"pids\":-1}}", "looser" },
        { "{\"limits\":{\"pids\":-1}}", "{\"limits\":{\"pids\":5}}", "tighter" },
        { "{\"mounts\":{\"guard\":true}}", "{\"mounts\":{\"guard\":false}}", "looser" },
        { "{\"devices\":{\"any\":true}}", "{\"devices\":{\"any\":false}}", "tighter" },
        { "{\"capabilities\":[\"A\"]}", "{\"capabilities\":[\"A\",\"B\"]}", "looser" },
        { "{\"capabilities\":[\"A\"]}", "{\"capabilities\":[\"B\"]}", "looser" },
        { "{\"paths\":{\"masked\":[\"A\"]}}", "{\"paths\":{\"masked\":[\"B\"]}}", "looser" },
        { "{\"paths\":{\"masked\":[\"A\"]}}", "{\"paths\":{\"masked\":[\"A\",\"B\"]}}", "tighter" },
        { "{\"namespaces\":{\"own\":[\"pid\"]}}", "{\"namespaces\":{\"own\":[]}}", "looser" },
        { "{\"identity\":\"engine\"}", "{\"identity\":\"userns\"}", "tighter" },
        { "{\"conflict\":\"tighten\"}", "{\"conflict\":\"refuse\"}", "tighter" },
        { "{}", "{\"allow\":{\"memory\":1}}", "looser" },
        { "{\"allow\":{\"memory\":1}}", "{}", "tighter" },
        { "{}", "{\"allow\":{\"capabilities\":[],\"writableRoot\":false,\"network\":\"none\"}}",
          "" },
        { "{\"name\":\"a\"}", "{\"name\":\"b\",\"description\":\"c\"}", "" },
    };

    for (size_t i = 0; i < ARRAY_LEN (rows); i++)
        (void)tap_is (directions (rows[i].before, rows[i].after), rows[i].want,
                      arena_printf (&arena, "%s %s", rows[i].before, rows[i].after));
}

/* `oci` hardens nothing, so whatever differs from it is tighter in `strict`; all but the kind of
 * conflict, the paths that are let pass and who the process is differs. */
static void test_all_directions (void)
{
    struct policy strict, oci;
    const struct policy_change *x = NULL;
    struct err e = { 0 };
    size_t n = 0;

    (void)policy_from_builtin ("strict", &arena, &strict, &e);
    (void)policy_from_builtin ("oci", &arena, &oci, &e);
    (void)ok (policy_compare (strict.doc, oci.doc, &arena, &x, &n, &e) == 0 && n > 25,
              "oci differs from strict in %zu keys", n);
    for (size_t i = 0; i < n; i++)
        (void)ok ((x[i].direction == POLICY_LOOSER) ==
                      (strcmp (x[i].path, "/devices/allowed") != 0),
                  "%s is %s in oci", x[i].path, policy_direction_names[x[i].direction]);
    (void)policy_compare (oci.doc, strict.doc, &arena, &x, &n, &e);
    for (size_t i = 0; i < n; i++)
        (void)ok ((x[i].direction == POLICY_TIGHTER) ==
                      (strcmp (x[i].path, "/devices/allowed") != 0),
                  "%s is %s in strict", x[i].path, policy_direction_names[x[i].direction]);
}

int main (void)
{
    test_compare ();
    test_all_directions ();
    test_complete ();
    test_unknown ();
    test_merge ();
    test_diff ();
    arena_free (&arena);
    return tap_done ();
}
