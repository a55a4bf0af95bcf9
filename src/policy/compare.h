#pragma once
/*
 * What one policy says other than another one, and whether that is looser or tighter. Pure.
 */
#include <stddef.h>

#include "libocispec/ocispec.h"

enum policy_direction { POLICY_TIGHTER, POLICY_LOOSER };
extern const char *const policy_direction_names[];

struct policy_change {
    const char *path;           /* JSON path */
    const char *before, *after; /* compact JSON; NULL: not said */
    enum policy_direction direction;
};

/* How DOC differs from BASE, both merged, in row order; names and descriptions do not count. What
 * is neither more nor less (another list of devices) has something new in it: looser. */
int policy_compare (const struct oci_policy *base, const struct oci_policy *doc, struct arena *a,
                    const struct policy_change **ret, size_t *ret_n, struct err *e);
