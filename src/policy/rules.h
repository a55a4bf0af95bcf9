#pragma once
/*
 * The functions of rules.def, one a row. Each makes its part of the draft as strict as the policy
 * says and leaves a decision for everything that it changed; what is within the policy stays
 * untouched. 0, or a negative errno when the config cannot be read or memory is out.
 */
#include "policy/draft.h"

#define POLICY_RULE(name, scope, governs, function, why) int rule_##function (struct draft *d);
#include "policy/rules.def"
#undef POLICY_RULE

/* The entry of linux.namespaces of KIND in the draft, or NULL. */
struct oci_namespace *rules_namespace (struct draft *d, int kind);
/* It names a namespace file. */
bool rules_is_joined (const struct oci_namespace *ns);
/* The policy says that the container never has the host's namespace of KIND. */
bool rules_owns (const struct draft *d, int kind);
/* A new namespace of KIND, instead of the host's or of one that is joined. Leaves the decision. */
int rules_add_namespace (struct draft *d, int kind);
