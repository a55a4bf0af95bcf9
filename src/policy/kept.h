#pragma once
/*
 * A policy that was kept with a container: whatever has become of its file since.
 */
#include "policy/policy.h"

/* RET from KEPT, the merged document as it was kept, whose digest must be DIGEST (-EUCLEAN: a file
 * was changed, or written by a version that knows more keys). Keys that this version knows and the
 * document does not say are those of `strict`. `file` is left NULL. */
int policy_from_kept (const struct oci_policy *kept, const char *digest, struct arena *a,
                      struct policy *ret, struct err *e);
