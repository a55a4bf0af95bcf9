#include "policy/merge.h"

static const struct oci_policy_allow nothing = { 0 };

int policy_merge (const struct oci_policy *base, const struct oci_policy *own, struct arena *a,
                  const struct oci_policy **ret, struct err *e)
{
    struct oci_policy *merged = arena_alloc (a, sizeof *merged);
    const void *both = own;

    if (!merged)
        return err_oom (e);
    if (base && oci_merge (&oci_policy_type, base, own, a, &both, e) < 0)
        return -e->code;
    *merged = *(const struct oci_policy *)both;
    merged->name = own->name;
    merged->description = own->description;
    merged->extend = NULL;
    merged->allow = own->allow ?: &nothing;
    *ret = merged;
    return 0;
}
