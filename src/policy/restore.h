#pragma once
/*
 * Whether a policy lets a container be restored from a checkpoint's files.
 */
#include "policy/policy.h"

/* -EPERM unless P confines nothing but by cgroups: it says what `oci` says. What is in the files,
 * credentials, mounts and filters included, is taken as it is and cannot be held against a
 * policy. */
int policy_allows_restore (const struct policy *p, struct err *e);
