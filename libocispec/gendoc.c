/*
 * Prints docs/config-reference.md: what the rows say, for people.
 */
#include <inttypes.h>
#include <stdio.h>

#include "type.h"

/* Structs that already have their section, in the order of it. */
struct sections {
    const struct oci_type *types[128];
    size_t n;
};

/* Depth first, so that a part comes right after the whole that uses it. */
static void collect (struct sections *s, const struct oci_type *t)
{
    for (size_t i = 0; i < s->n; i++)
        if (s->types[i] == t)
            return;
    if (s->n == sizeof s->types / sizeof s->types[0])
        return;
    s->types[s->n++] = t;
    for (size_t i = 0; i < t->n_props; i++)
        if (t->props[i].kind == OCI_KIND_OBJECT)
            collect (s, t->props[i].type);
}

/* "oci_linux_resources" is "linux_resources" here. */
static const char *title (const struct oci_type *t)
{
    return t->name + sizeof "oci_" - 1;
}

static void print_element (const struct oci_prop *p)
{
    switch (p->kind) {
    case OCI_KIND_STRING:
        (void)printf ("string");
        break;
    case OCI_KIND_BOOL:
        (void)printf ("boolean");
        break;
    case OCI_KIND_NUMBER:
        (void)printf ("integer, %" PRId64 " to %" PRIu64, p->min, p->max);
        break;
    case OCI_KIND_CHOICE:
        (void)printf ("one of");
        for (int i = 0; i < p->values->n; i++)
            (void)printf ("%s `%s`", i ? "," : "", p->values->names[i]);
        break;
    case OCI_KIND_OBJECT:
        (void)printf ("[%s](#%s)", title (p->type), title (p->type));
        break;
    }
}

static void print_row (const struct oci_prop *p)
{
    static const char *const shapes[] = {
        [OCI_ONE] = "", [OCI_ARRAY] = "array: ", [OCI_MAP] = "map: "
    };

    (void)printf ("| `%s` | %s", p->name, shapes[p->shape]);
    print_element (p);
    (void)printf (" | %s | %s |\n", p->required ? "yes" : "no", p->doc);
}

static void print_section (const struct oci_type *t)
{
    (void)printf ("\n### %s\n\n%s\n\n", title (t), t->doc);
    (void)printf ("| property | value | required | meaning |\n|---|---|---|---|\n");
    for (size_t i = 0; i < t->n_props; i++)
        print_row (&t->props[i]);
}

int main (void)
{
    static const struct {
        const char *heading;
        const struct oci_type *type;
    } documents[] = {
        { "config.json", &oci_config_type },
        { "State", &oci_state_type },
        { "Features", &oci_features_type },
        { "state.json of the state directory", &oci_saved_state_type },
        { "Policy", &oci_policy_type },
        { "What `policy show` prints", &oci_policy_shown_type },
    };
    struct sections s = { .n = 0 };

    (void)printf ("# Reference of the documents\n\n"
                  "Made by `libocispec/gendoc` from the rows in `libocispec/*.def`; `make "
                  "docs-reference` writes it anew.\n\n"
                  "Runtime specification %s. Unknown properties are ignored. `null` stands for an "
                  "absent optional object, array or map\n(in features for any optional property). "
                  "Rules that span properties are in `src/spec/`.\n",
                  OCI_VERSION);
    for (size_t i = 0, done = 0; i < sizeof documents / sizeof documents[0]; i++) {
        (void)printf ("\n## %s\n", documents[i].heading);
        for (collect (&s, documents[i].type); done < s.n; done++)
            print_section (s.types[done]);
    }
    return ferror (stdout) || fflush (stdout) ? 1 : 0;
}
