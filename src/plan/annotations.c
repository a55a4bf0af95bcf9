/*
 * Annotations of crun's that engines use. Others mean nothing here, as the specification has it.
 */
#include <errno.h>
#include <string.h>

#include "base/str.h"
#include "plan/build.h"

static int keep_groups (const struct plan_input *in, const char *value, struct plan *ret,
                        struct err *e)
{
    (void)value;
    if (!in->host.is_rootless)
        return err_set (e, EINVAL, "only in a container of an ordinary user");
    ret->process.keep_groups = true;
    return 0;
}

/* How a mountLabel is given to a file system, mount(8). */
static int context_type (const struct plan_input *in, const char *value, struct plan *ret,
                         struct err *e)
{
    static const char *const types[] = { "context", "fscontext", "defcontext", "rootcontext",
                                         NULL };

    (void)in;
    if (!str_is_in (value, types))
        return err_set (
            e, EINVAL, "'%.100s' is not one of context, fscontext, defcontext, rootcontext", value);
    ret->label_option = value;
    return 0;
}

static int known_syscalls (const struct plan_input *in, const char *value, struct plan *ret,
                           struct err *e)
{
    (void)in;
    (void)e;
    ret->seccomp_names = strcmp (value, "0") != 0;
    return 0;
}

static int delegate (const struct plan_input *in, const char *value, struct plan *ret,
                     struct err *e)
{
    (void)in;
    (void)value;
    (void)ret;
    return err_set (e, ENOTSUP,
                    "is not supported: policy 'system' gives the container its own cgroup");
}

static const struct {
    const char *key;
    int (*take) (const struct plan_input *in, const char *value, struct plan *ret, struct err *e);
} known[] = {
    { "run.oci.keep_original_groups", keep_groups },
    { "run.oci.mount_context_type", context_type },
    { "run.oci.seccomp_fail_unknown_syscall", known_syscalls },
    { "run.oci.delegate-cgroup", delegate },
};

static int take (const struct plan_input *in, const struct oci_kv *kv, struct plan *ret,
                 struct err *e)
{
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strcmp (known[i].key, kv->key) == 0 && known[i].take (in, kv->value, ret, e) < 0)
            return err_add (e, "/annotations/%s", kv->key);
    return 0;
}

int plan_build_annotations (const struct plan_input *in, struct plan *ret, struct err *e)
{
    for (size_t i = 0; i < in->config->n_annotations; i++)
        if (take (in, &in->config->annotations[i], ret, e) < 0)
            return -e->code;
    return 0;
}
