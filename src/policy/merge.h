#pragma once
/*
 * What a policy is once the one that it extends is known.
 */
#include "libocispec/ocispec.h"

/* *RET is BASE (a merged policy, or NULL: OWN has every key) with what OWN says instead; it shares
 * what it can with both. `name`, `description` and `allow` are OWN's alone: what one policy lets
 * people ask for is not for whoever extends it. `extend` is gone. -ENOMEM. */
int policy_merge (const struct oci_policy *base, const struct oci_policy *own, struct arena *a,
                  const struct oci_policy **ret, struct err *e);
