#include "policy/restore.h"

#include <errno.h>

#include "base/cleanup.h"
#include "base/str.h"
#include "policy/builtin.h"

/* What holds for a restored container, too, or is about no container. */
static const char *const may_differ[] = {
    "/name",        "/description",      "/extend",      "/allow", "/limits/memory",
    "/limits/swap", "/limits/milliCpus", "/limits/pids", NULL,
};

static bool matters (const char *path)
{
    for (size_t i = 0; may_differ[i]; i++)
        if (str_has_prefix (path, may_differ[i]))
            return false;
    return true;
}

int policy_allows_restore (const struct policy *p, struct err *e)
{
    AUTO_ARENA a = { 0 };
    const struct oci_difference *found;
    size_t n;

    if (oci_diff (&oci_policy_type, policy_builtin ("oci"), p->doc, &a, &found, &n, e) < 0)
        return -e->code;
    for (size_t i = 0; i < n; i++)
        if (matters (found[i].path))
            return err_set (e, EPERM,
                            "restore: refused by rule '%s' of policy '%s' (%s): a checkpoint's "
                            "files say what its processes may do, and nobody can hold them against "
                            "a policy",
                            found[i].path + 1, p->name, p->file ?: "built in");
    return 0;
}
