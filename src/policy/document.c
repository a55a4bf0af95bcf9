#include "policy/document.h"

#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/str.h"
#include "policy/builtin.h"
#include "spec/names.h"

struct strings {
    const char *path;
    const char *const *list;
    size_t n;
};

#define STRINGS(path, s, m)                                                                        \
    {                                                                                              \
        path, s->m, s->n_##m                                                                       \
    }

/* ---- paths ---- */

static int check_path (const struct strings *s, size_t i, struct err *e)
{
    if (s->list[i][0] == '/')
        return 0;
    return err_set (e, EINVAL, "%s[%zu]: '%.64s' is not an absolute path", s->path, i, s->list[i]);
}

static int check_paths (const struct oci_policy *p, struct err *e)
{
    static const struct oci_policy_mounts no_mounts = { 0 };
    static const struct oci_policy_devices no_devices = { 0 };
    static const struct oci_policy_paths no_paths = { 0 };
    static const struct oci_policy_allow no_allow = { 0 };
    const struct oci_policy_mounts *mounts = p->mounts ?: &no_mounts;
    const struct oci_policy_devices *devices = p->devices ?: &no_devices;
    const struct oci_policy_paths *paths = p->paths ?: &no_paths;
    const struct oci_policy_allow *allow = p->allow ?: &no_allow;
    const struct strings all[] = {
        STRINGS ("/mounts/accept", mounts, accept), STRINGS ("/devices/allowed", devices, allowed),
        STRINGS ("/paths/masked", paths, masked),   STRINGS ("/paths/readonly", paths, readonly),
        STRINGS ("/allow/devices", allow, devices), STRINGS ("/allow/mounts", allow, mounts),
    };
    int r = 0;

    for (size_t k = 0; k < ARRAY_LEN (all); k++)
        for (size_t i = 0; i < all[k].n && r == 0; i++)
            r = check_path (&all[k], i, e);
    return r;
}

/* ---- capabilities ---- */

static int check_caps (const struct strings *s, bool takes_all, struct err *e)
{
    for (size_t i = 0; i < s->n; i++) {
        bool is_all = takes_all && strcmp (s->list[i], "ALL") == 0;

        if (is_all && s->n > 1)
            return err_set (e, EINVAL, "%s: ALL stands alone or not at all", s->path);
        if (!is_all && names_cap (s->list[i]) < 0)
            return err_set (e, EINVAL, "%s[%zu]: there is no capability '%.64s'", s->path, i,
                            s->list[i]);
    }
    return 0;
}

static int check_capabilities (const struct oci_policy *p, struct err *e)
{
    const struct strings ceiling = STRINGS ("/capabilities", p, capabilities);
    const struct strings asked = { "/allow/capabilities", p->allow ? p->allow->capabilities : NULL,
                                   p->allow ? p->allow->n_capabilities : 0 };
    int r = check_caps (&ceiling, true, e);

    return r < 0 ? r : check_caps (&asked, false, e);
}

/* ---- ceilings ---- */

/* A container cannot run with 0 of these, and to a tmpfs 0 means "no limit". */
static int check_ceilings (const struct oci_policy *p, struct err *e)
{
    static const struct oci_policy_limits no_limits = { 0 };
    static const struct oci_policy_rootfs no_rootfs = { 0 };
    static const struct oci_policy_tmpfs no_tmpfs = { 0 };
    const struct oci_policy_limits *l = p->limits ?: &no_limits;
    const struct oci_policy_rootfs *root = p->rootfs ?: &no_rootfs;
    const struct oci_policy_tmpfs *tmp = root->tmp ?: &no_tmpfs;
    const struct oci_policy_tmpfs *shm = root->shm ?: &no_tmpfs;
    const struct {
        const char *path;
        bool is_zero;
    } all[] = {
        { "/limits/memory", l->has_memory && l->memory == 0 },
        { "/limits/milliCpus", l->has_milli_cpus && l->milli_cpus == 0 },
        { "/limits/pids", l->has_pids && l->pids == 0 },
        { "/limits/nofile", l->has_nofile && l->nofile == 0 },
        { "/rootfs/tmp/size", tmp->has_size && tmp->size == 0 },
        { "/rootfs/tmp/inodes", tmp->has_inodes && tmp->inodes == 0 },
        { "/rootfs/shm/size", shm->has_size && shm->size == 0 },
        { "/rootfs/shm/inodes", shm->has_inodes && shm->inodes == 0 },
    };

    for (size_t i = 0; i < ARRAY_LEN (all); i++)
        if (all[i].is_zero)
            return err_set (e, EINVAL, "%s: 0 is too little; no ceiling is -1", all[i].path);
    return 0;
}

/* ---- the whole ---- */

static int check_name (const struct oci_policy *p, struct err *e)
{
    if (!p->name)
        return 0;
    if (!str_is_id (p->name))
        return err_set (e, EINVAL,
                        "/name: '%.64s' is no name: up to 255 of [A-Za-z0-9_+.-], the first not "
                        "'.' or '-'",
                        p->name);
    if (policy_builtin (p->name))
        return err_set (e, EINVAL, "/name: '%s' is the name of a built-in policy", p->name);
    return 0;
}

int policy_document_check (const struct oci_policy *p, struct err *e)
{
    static int (*const rules[]) (const struct oci_policy *p, struct err *e) = {
        check_name,
        check_paths,
        check_capabilities,
        check_ceilings,
    };
    int r = 0;

    for (size_t i = 0; i < ARRAY_LEN (rules) && r == 0; i++)
        r = rules[i](p, e);
    return r;
}
