#pragma once
/*
 * Limits of a container that exists and what an update asks for: which of its numbers mean
 * something, and what the two are together. Looks at nothing but the documents.
 */
#include "libocispec/arena.h"
#include "libocispec/err.h"
#include "libocispec/ocispec.h"

/* Reads the resources of `update --resources`; FILE "-" is standard input. */
int spec_load_resources (const char *file, struct arena *a, const struct oci_linux_resources **ret,
                         struct err *e);

struct spec_update {
    const struct oci_linux_resources *asked; /* without what says nothing: see spec_update_make */
    const struct oci_config *config;         /* KEPT with all of it in its place */
};

/* ASKED on top of KEPT. Members are replaced one by one, entries of a list by what they are about
 * (a device, a page size, a file). Engines write 0 for what they do not mean, so where it is no
 * limit of its own it is not asked for. Nor are device rules: containerd sends "deny all" with
 * each update, which would take away what the container was given (runc skips them, too). Memory
 * without a limit is memory and swap without one, unless the latter is said. -EINVAL as
 * spec_check; the whole is not checked, as a policy may have to adapt it. */
int spec_update_make (const struct oci_config *kept, const struct oci_linux_resources *asked,
                      struct arena *a, struct spec_update *ret, struct err *e);

/* The rules of the resources alone, as spec_check. */
int spec_check_limits (const struct oci_linux_resources *r, struct err *e);
