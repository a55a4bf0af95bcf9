/*
 * Prints the keys of a policy as the list of a manual page (mdoc), from the rows.
 */
#include <inttypes.h>
#include <stdio.h>

#include "type.h"

#define PATH_MAX_CHARS 128

/* `x` is bold here, and a sentence starts a line. */
static void print_text (const char *text)
{
    bool bold = false;
    char was = 0;

    for (; *text; text++) {
        if (*text == '`')
            bold = !bold;
        switch (*text) {
        case '`':
            (void)fputs (bold ? "\\fB" : "\\fP", stdout);
            break;
        case '\\':
            (void)fputs ("\\e", stdout);
            break;
        case ' ':
            (void)putchar (was == '.' ? '\n' : ' ');
            break;
        default:
            (void)putchar (*text);
        }
        was = *text;
    }
    (void)putchar ('\n');
}

static void print_number (const struct oci_prop *p)
{
    if (p->max == INT64_MAX || p->max == UINT64_MAX)
        (void)printf ("A number, at least %" PRId64 ".\n", p->min);
    else
        (void)printf ("A number, %" PRId64 " to %" PRIu64 ".\n", p->min, p->max);
}

static void print_choice (const struct oci_prop *p)
{
    (void)fputs (p->shape == OCI_ONE ? "One of" : "A list of", stdout);
    for (int i = 0; i < p->values->n; i++)
        (void)printf ("%s \\fB%s\\fP", i ? "," : "", p->values->names[i]);
    (void)puts (".");
}

static void print_kind (const struct oci_prop *p)
{
    switch (p->kind) {
    case OCI_KIND_STRING:
        (void)puts (p->shape == OCI_ONE ? "Text." : "A list of texts.");
        break;
    case OCI_KIND_BOOL:
        (void)puts ("\\fBtrue\\fP or \\fBfalse\\fP.");
        break;
    case OCI_KIND_NUMBER:
        print_number (p);
        break;
    case OCI_KIND_CHOICE:
        print_choice (p);
        break;
    case OCI_KIND_OBJECT:
        break;
    }
}

static void print_keys (const struct oci_type *t, const char *above)
{
    for (const struct oci_prop *p = t->props; p < t->props + t->n_props; p++) {
        char path[PATH_MAX_CHARS];

        (void)snprintf (path, sizeof path, "%s%s%s", above, *above ? "." : "", p->name);
        (void)printf (".It Cm %s\n", path);
        print_text (p->kind == OCI_KIND_OBJECT ? p->type->doc : p->doc);
        print_kind (p);
        if (p->kind == OCI_KIND_OBJECT)
            print_keys (p->type, path);
    }
}

int main (void)
{
    (void)puts (".Bl -tag -width Ds");
    print_keys (&oci_policy_type, "");
    (void)puts (".El");
    return ferror (stdout) || fflush (stdout) ? 1 : 0;
}
