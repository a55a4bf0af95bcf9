#pragma once
/*
 * Policy: what is hardened, and how far a config may go.
 *
 * src/policy/ owns all hardening decisions; nothing else in agentrt tightens or refuses on its own.
 * A policy is a document (libocispec/policy.def); what it does to a config is in apply.h.
 */
#include <stddef.h>

#include "libocispec/arena.h"
#include "libocispec/err.h"
#include "libocispec/ocispec.h"

/* A policy that can be applied. */
struct policy {
    /* Merged: every section is there, and every key of it but those of `allow`. */
    const struct oci_policy *doc;
    const char *name;
    const char *file;   /* NULL: built in */
    const char *digest; /* of the merged document: "sha256:" and 64 hexadecimal digits */
};
