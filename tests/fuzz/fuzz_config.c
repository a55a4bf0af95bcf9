/*
 * libFuzzer: any bytes as any document. What is taken must be written, read again and written to
 * the same bytes.
 *
 * The first byte of an input chooses the document, the rest is the text (tests/fuzz/corpus.sh).
 */
#include <stdlib.h>
#include <string.h>

#include "libocispec/ocispec.h"
#include "policy/builtin.h"
#include "policy/compare.h"
#include "policy/document.h"
#include "policy/merge.h"
#include "spec/spec.h"

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);

static const struct oci_type *const types[] = {
    &oci_config_type,   &oci_process_type,     &oci_linux_resources_type, &oci_state_type,
    &oci_features_type, &oci_saved_state_type, &oci_policy_type,
};

static void must (int r)
{
    if (r < 0)
        abort ();
}

static void there_and_back (const struct oci_type *t, const void *doc, enum oci_emit_style style)
{
    AUTO_ARENA a = { 0 };
    AUTO_STRBUF once = { 0 }, twice = { 0 };
    struct err e = { 0 };
    const void *again;

    must (oci_emit (t, doc, style, &once, &e));
    if (once.len > OCI_MAX_BYTES) /* indenting can make it too large to be read */
        return;
    must (oci_parse (t, once.s, once.len, &a, &again, NULL, &e));
    must (oci_emit (t, again, style, &twice, &e));
    if (once.len != twice.len || memcmp (once.s, twice.s, once.len) != 0)
        abort ();
}

/* Merged with another one, a policy has every key, and differs from itself in none. */
static void merge (const struct oci_policy *own)
{
    AUTO_ARENA a = { 0 };
    const struct oci_policy *merged;
    const struct policy_change *changes;
    struct err e = { 0 };
    size_t n;

    (void)policy_document_check (own, &e);
    must (policy_merge (policy_builtin ("strict"), own, &a, &merged, &e));
    must (policy_compare (policy_builtin ("strict"), merged, &a, &changes, &n, &e));
    must (policy_compare (merged, merged, &a, &changes, &n, &e));
    if (n != 0 || !merged->limits || !merged->rootfs->tmp || !merged->has_network)
        abort ();
}

static void check_message (const struct err *e)
{
    if (e->code <= 0 || !memchr (e->msg, '\0', sizeof e->msg) || strpbrk (e->msg, "\r\n\t"))
        abort ();
}

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
    AUTO_ARENA a = { 0 };
    struct oci_parse_info info;
    struct err e = { 0 };
    const struct oci_type *t;
    const void *doc;

    if (size == 0)
        return 0;
    t = types[data[0] % (sizeof types / sizeof types[0])];
    if (oci_parse (t, (const char *)data + 1, size - 1, &a, &doc, &info, &e) < 0) {
        check_message (&e);
        return 0;
    }
    there_and_back (t, doc, OCI_COMPACT);
    there_and_back (t, doc, OCI_PRETTY);
    if (t == &oci_config_type)
        (void)spec_check (doc, &e);
    if (t == &oci_policy_type)
        merge (doc);
    return 0;
}
