#pragma once
/*
 * What the rows of the policy document cannot say of one property alone. Pure.
 */
#include "libocispec/ocispec.h"

/* Holds a policy as it is written against all of it. -EINVAL, with the JSON path. */
int policy_document_check (const struct oci_policy *p, struct err *e);
