#pragma once
/*
 * Properties of a systemd unit: those that a config may ask for by an annotation, and their values
 * in the text form of GVariant that Podman, CRI-O and people write.
 *
 * An allow list: a property that is not in it is refused. Those that would set what linux.resources
 * sets, move processes, run programs or stop other units are not in it (CVE-2024-3154).
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libocispec/arena.h"
#include "libocispec/err.h"

#define UNITPROP_PREFIX "org.systemd.property."

enum unitprop_type {
    UNITPROP_BOOL,    /* number */
    UNITPROP_STRING,  /* text */
    UNITPROP_I32,     /* number */
    UNITPROP_U32,     /* number */
    UNITPROP_U64,     /* number */
    UNITPROP_STRINGS, /* list */
    UNITPROP_BYTES,   /* bytes */
    UNITPROP_PIDS,    /* number: an array of one */
    UNITPROP_PAIRS,   /* list: an array of pairs, two of it after the other */
    UNITPROP_RATE,    /* text and number: an array of one pair */
};

struct unitprop {
    const char *name;
    enum unitprop_type type;
    uint64_t number;
    const char *text;
    const char *const *list;
    const uint8_t *bytes;
    size_t n; /* of list or bytes */
};

/* The annotation KEY=VALUE as a property. "XSec" with a number becomes "XUSec". Strings of RET lie
 * in A. Errors name the annotation. */
int unitprop_parse (const char *key, const char *value, struct arena *a, struct unitprop *ret,
                    struct err *e);

/* Does the annotation KEY, which begins with the prefix, only say how the unit itself ends and when
 * in a shutdown? Others of the list start other units or set bounds. */
bool unitprop_is_harmless (const char *key);
