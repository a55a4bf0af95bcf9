#pragma once
/*
 * explain: prints, without privilege, what a start of this bundle would do: the decisions of the
 * policy and the two step lists, each row with what it must come after, how it is checked, what
 * undoes it and why it is there. Pure: reads the bundle, asks the kernel nothing, so its output
 * can be compared with golden files.
 */
#include "libocispec/strbuf.h"
#include "plan/plan.h"
#include "policy/apply.h"

/* P NULL: the policy refused the config, so there is no plan.
 *
 * Adds the text for people, or (JSON) one document, to OUT. */
int explain_print (const struct plan *p, const struct policy_result *d, bool json,
                   struct strbuf *out, struct err *e);
