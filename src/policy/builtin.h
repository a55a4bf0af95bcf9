#pragma once
/*
 * The built-in policies as documents: `strict`, `oci`, `system`. Constant; asks nothing.
 */
#include "policy/policy.h"

/* The document called NAME as it is written: `extend`, where it has one, is not followed. NULL:
 * there is none. */
const struct oci_policy *policy_builtin (const char *name);

/* The same as a policy that can be applied: merged, `file` and `digest` NULL. -ENOENT. */
int policy_from_builtin (const char *name, struct arena *a, struct policy *ret, struct err *e);

/* The names, NULL-terminated. */
const char *const *policy_names (void);
