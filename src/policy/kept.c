#include "policy/kept.h"

#include <errno.h>
#include <string.h>

#include "policy/builtin.h"
#include "policy/load.h"
#include "policy/merge.h"

int policy_from_kept (const struct oci_policy *kept, const char *digest, struct arena *a,
                      struct policy *ret, struct err *e)
{
    struct policy p = { .doc = kept, .name = kept->name };

    if (!p.name || !digest)
        return err_set (e, EUCLEAN, "nobody knows the policy that it was made under");
    if (policy_digest (&p, a, e) < 0)
        return -e->code;
    if (strcmp (p.digest, digest) != 0)
        return err_set (e, EUCLEAN, "policy '%s' is not what it was made under: %s, not %s", p.name,
                        p.digest, digest);
    if (policy_merge (policy_builtin ("strict"), kept, a, &p.doc, e) < 0)
        return -e->code;
    *ret = p;
    return 0;
}
