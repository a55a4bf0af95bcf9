#pragma once
/*
 * What each rule of a policy is for, said a second time and without the rules' code: a claim about
 * the effective config that is broken when the rule is not there.
 */
#include "policy/apply.h"

/* One case and what became of it. */
struct view {
    const struct oci_policy *doc;
    const struct policy_input *in;
    const struct policy_result *out;
    const struct oci_config *c;
    const struct oci_linux *l;
    const struct oci_linux_resources *r;
    const struct oci_process *p;
    struct arena *a;
};

struct claim {
    const char *rule; /* its name in rules.def */
    enum policy_scope scope;
    bool (*is_broken) (const struct view *v);
};

extern const struct claim policy_claims[];
extern const size_t n_policy_claims;

/* NULL: nobody says what RULE is for. */
const struct claim *policy_claim_of (const char *rule);
