#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "type.h"
#include "utf8.h"

struct emit {
    struct strbuf *out;
    enum oci_emit_style style;
    unsigned int depth;
    struct err *e;
};

static void new_line (const struct emit *em)
{
    if (em->style == OCI_COMPACT)
        return;
    strbuf_add (em->out, "\n", 1);
    for (unsigned int i = 0; i < em->depth; i++)
        strbuf_add (em->out, "  ", 2);
}

static void open_with (struct emit *em, const char *bracket)
{
    strbuf_add (em->out, bracket, 1);
    em->depth++;
}

/* Before the Nth value of a container. */
static void separate (const struct emit *em, size_t n)
{
    if (n > 0)
        strbuf_add (em->out, ",", 1);
    new_line (em);
}

/* An empty container stays on one line. */
static void close_with (struct emit *em, const char *bracket, size_t n)
{
    em->depth--;
    if (n > 0)
        new_line (em);
    strbuf_add (em->out, bracket, 1);
}

/* Errors start as ": WHAT"; each level puts its step of the JSON path before that. */
static int fail (const struct emit *em, const char *what)
{
    return err_set (em->e, EINVAL, ": %s", what);
}

static int add_step (const struct emit *em, const char *step, size_t n)
{
    char *msg = em->e->msg;

    n = n < ERR_MSG_MAX / 2 ? n : ERR_MSG_MAX / 2;
    memmove (msg + n, msg, ERR_MSG_MAX - n);
    msg[ERR_MSG_MAX - 1] = '\0';
    memcpy (msg, step, n);
    return -em->e->code;
}

static int add_key (const struct emit *em, const char *key)
{
    (void)add_step (em, key, strlen (key));
    return add_step (em, "/", 1);
}

static int add_index (const struct emit *em, size_t i)
{
    char step[24];

    return add_step (em, step, (size_t)snprintf (step, sizeof step, "[%zu]", i));
}

/* ---- scalars ---- */

/* The parser takes UTF-8 only, so nothing else may be written (a bundle path can be such). */
static int emit_text (const struct emit *em, const char *s)
{
    const char *end = s + strlen (s);
    size_t n;

    for (const char *p = s; p < end; p += n) {
        n = utf8_sequence (p, (size_t)(end - p));
        if (n == 0)
            return fail (em, "not valid UTF-8");
    }
    strbuf_add_json (em->out, s);
    return 0;
}

static int emit_key (const struct emit *em, const char *key)
{
    int r = emit_text (em, key);

    strbuf_adds (em->out, em->style == OCI_COMPACT ? ":" : ": ");
    return r;
}

static int emit_string (struct emit *em, const struct oci_prop *prop, const void *slot)
{
    const char *s = *(const char *const *)slot;

    (void)prop;
    return s ? emit_text (em, s) : fail (em, "required, but missing");
}

static int emit_bool (struct emit *em, const struct oci_prop *prop, const void *slot)
{
    (void)prop;
    strbuf_adds (em->out, *(const bool *)slot ? "true" : "false");
    return 0;
}

static int emit_number (struct emit *em, const struct oci_prop *prop, const void *slot)
{
    if (prop->is_signed)
        strbuf_addf (em->out, "%" PRId64, (int64_t)oci_prop_load (prop, slot));
    else
        strbuf_addf (em->out, "%" PRIu64, oci_prop_load (prop, slot));
    return 0;
}

static int emit_choice (struct emit *em, const struct oci_prop *prop, const void *slot)
{
    const char *name = oci_enum_name (prop->values, *(const int *)slot);

    return name ? emit_text (em, name) : fail (em, "no such value");
}

static int emit_struct (struct emit *em, const struct oci_type *t, const void *doc);

static int emit_object (struct emit *em, const struct oci_prop *prop, const void *slot)
{
    return emit_struct (em, prop->type, slot);
}

static int (*const emit_element[]) (struct emit *em, const struct oci_prop *prop,
                                    const void *slot) = {
    [OCI_KIND_STRING] = emit_string, [OCI_KIND_BOOL] = emit_bool,
    [OCI_KIND_NUMBER] = emit_number, [OCI_KIND_CHOICE] = emit_choice,
    [OCI_KIND_OBJECT] = emit_object,
};

/* ---- shapes ---- */

static int emit_one (struct emit *em, const struct oci_prop *prop, const void *doc)
{
    const void *slot = oci_at_const (doc, prop->offset);

    if (prop->kind == OCI_KIND_OBJECT)
        slot = *(const void *const *)slot;
    if (!slot)
        return fail (em, "required, but missing");
    return emit_element[prop->kind](em, prop, slot);
}

static int emit_array (struct emit *em, const struct oci_prop *prop, const void *doc)
{
    const void *slot = *(const void *const *)oci_at_const (doc, prop->offset);
    size_t n = *(const size_t *)oci_at_const (doc, prop->aux), size = oci_prop_size (prop);

    open_with (em, "[");
    for (size_t i = 0; i < n; i++, slot = oci_at_const (slot, size)) {
        separate (em, i);
        if (emit_element[prop->kind](em, prop, slot) < 0)
            return add_index (em, i);
    }
    close_with (em, "]", n);
    return 0;
}

static int emit_map (struct emit *em, const struct oci_prop *prop, const void *doc)
{
    const void *slot = *(const void *const *)oci_at_const (doc, prop->offset);
    size_t n = *(const size_t *)oci_at_const (doc, prop->aux), size = oci_prop_size (prop);
    size_t value = prop->kind == OCI_KIND_STRING ? offsetof (struct oci_kv, value) : 0;

    open_with (em, "{");
    for (size_t i = 0; i < n; i++, slot = oci_at_const (slot, size)) {
        const char *key = *(const char *const *)slot;

        separate (em, i);
        if (emit_key (em, key) < 0 ||
            emit_element[prop->kind](em, prop, oci_at_const (slot, value)) < 0)
            return add_key (em, key);
    }
    close_with (em, "}", n);
    return 0;
}

static int (*const emit_shape[]) (struct emit *em, const struct oci_prop *prop, const void *doc) = {
    [OCI_ONE] = emit_one,
    [OCI_ARRAY] = emit_array,
    [OCI_MAP] = emit_map,
};

/* ---- objects ---- */

static int emit_struct (struct emit *em, const struct oci_type *t, const void *doc)
{
    size_t n = 0;

    open_with (em, "{");
    for (const struct oci_prop *prop = t->props; prop < t->props + t->n_props; prop++) {
        if (!oci_prop_is_present (prop, doc))
            continue;
        separate (em, n++);
        if (emit_key (em, prop->name) < 0 || emit_shape[prop->shape](em, prop, doc) < 0)
            return add_key (em, prop->name);
    }
    close_with (em, "}", n);
    return 0;
}

static int finish (const struct emit *em, int r)
{
    if (r < 0)
        return r;
    if (em->style == OCI_PRETTY)
        strbuf_add (em->out, "\n", 1);
    return em->out->failed ? err_oom (em->e) : 0;
}

int oci_emit_prop (const struct oci_prop *prop, const void *doc, struct strbuf *out, struct err *e)
{
    struct emit em = { .out = out, .style = OCI_COMPACT, .e = e };

    return finish (&em, emit_shape[prop->shape](&em, prop, doc));
}

int oci_emit (const struct oci_type *type, const void *doc, enum oci_emit_style style,
              struct strbuf *out, struct err *e)
{
    struct emit em = { .out = out, .style = style, .e = e };

    return finish (&em, emit_struct (&em, type, doc));
}

int oci_emit_list (const struct oci_type *type, const void *const *docs, size_t n,
                   enum oci_emit_style style, struct strbuf *out, struct err *e)
{
    struct emit em = { .out = out, .style = style, .e = e };

    open_with (&em, "[");
    for (size_t i = 0; i < n; i++) {
        separate (&em, i);
        if (emit_struct (&em, type, docs[i]) < 0)
            return add_index (&em, i);
    }
    close_with (&em, "]", n);
    return finish (&em, 0);
}
