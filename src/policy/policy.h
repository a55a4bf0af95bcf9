#pragma once
/*
 * Policy: the pure function from a config to the effective config and the decisions that explain
 * every difference between the two.
 *
 * Owns all hardening decisions; nothing else in agentrt tightens or refuses on its own. Asks the
 * host nothing. This version knows one policy, `oci`: the config as given, nothing added or taken.
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

enum policy_action { POLICY_KEPT, POLICY_TIGHTENED, POLICY_ADDED };
extern const char *const policy_action_names[];

struct policy_decision {
    const char *path; /* JSON path in the config: "/process/noNewPrivileges" */
    enum policy_action action;
    const char *before, *after; /* text forms; NULL: absent */
    const char *reason;
};

struct policy_result {
    const char *policy;              /* name */
    const struct oci_config *config; /* the effective config */
    const struct policy_decision *decisions;
    size_t n_decisions;
};

/* -ENOENT for a policy that does not exist, with the names of those that do. */
int policy_apply (const char *policy, const struct oci_config *config, struct arena *a,
                  struct policy_result *ret, struct err *e);
