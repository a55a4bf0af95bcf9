#include <errno.h>
#include <linux/limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "check.h"
#include "sysctl.h"

/* ---- namespaces ---- */

static int check_namespaces (const struct oci_linux *l, struct err *e)
{
    unsigned int seen = 0;

    for (size_t i = 0; i < l->n_namespaces; i++) {
        const struct oci_namespace *ns = &l->namespaces[i];

        if (seen >> ns->type & 1)
            return err_set (e, EINVAL, "/linux/namespaces[%zu]/type: %s stands there twice", i,
                            oci_enum_name (&oci_namespace_enum, ns->type));
        if (ns->path && ns->path[0] && !spec_is_absolute (ns->path)) /* "": see plan/build.c */
            return err_set (e, EINVAL, "/linux/namespaces[%zu]/path: must be absolute", i);
        seen |= 1u << ns->type;
    }
    return 0;
}

/* All of mnt/ relies on it: without one, the container's mounts would be the host's. */
static int check_mount_namespace (const struct oci_linux *l, struct err *e)
{
    if (spec_has_ns (l, OCI_NS_MOUNT))
        return 0;
    return err_set (e, EINVAL, "/linux/namespaces: a mount namespace is needed");
}

/* Mappings of a joined user namespace are allowed: containerd repeats those it has. */
static int check_user_namespace (const struct oci_linux *l, struct err *e)
{
    static const char needs[] = "needs a user namespace of its own";

    if (spec_check_id_maps (l->uid_mappings, l->n_uid_mappings, "/linux/uidMappings", e) < 0 ||
        spec_check_id_maps (l->gid_mappings, l->n_gid_mappings, "/linux/gidMappings", e) < 0)
        return -e->code;
    if (l->n_uid_mappings && !spec_has_ns (l, OCI_NS_USER))
        return err_set (e, EINVAL, "/linux/uidMappings: %s", needs);
    if (l->n_gid_mappings && !spec_has_ns (l, OCI_NS_USER))
        return err_set (e, EINVAL, "/linux/gidMappings: %s", needs);
    if (spec_makes_ns (l, OCI_NS_USER) && !l->n_uid_mappings)
        return err_set (e, EINVAL, "/linux/uidMappings: required for a new user namespace");
    if (spec_makes_ns (l, OCI_NS_USER) && !l->n_gid_mappings)
        return err_set (e, EINVAL, "/linux/gidMappings: required for a new user namespace");
    return 0;
}

/* Offsets can only be set before anybody is in the namespace (time_namespaces(7)). */
static int check_time_offsets (const struct oci_linux *l, struct err *e)
{
    if (!l->time_offsets || spec_makes_ns (l, OCI_NS_TIME))
        return 0;
    return err_set (e, EINVAL, "/linux/timeOffsets: needs a new time namespace");
}

/* ---- network devices ---- */

#define NET_DEVICES_MAX 64 /* what plan/ has room for */
#define NET_NAME_MAX    15 /* IFNAMSIZ and its NUL */

/* dev_valid_name of the kernel. */
static bool is_link_name (const char *name)
{
    size_t n = strlen (name);

    return n > 0 && n <= NET_NAME_MAX && strcmp (name, ".") != 0 && strcmp (name, "..") != 0 &&
           !name[strcspn (name, "/: \f\n\r\t\v")];
}

/* "%d" in the new name stands for a number. */
static int check_net_devices (const struct oci_linux *l, struct err *e)
{
    if (l->n_net_devices && !spec_has_ns (l, OCI_NS_NETWORK))
        return err_set (e, EINVAL, "/linux/netDevices: needs a network namespace of its own");
    if (l->n_net_devices > NET_DEVICES_MAX)
        return err_set (e, EINVAL, "/linux/netDevices: more than %d", NET_DEVICES_MAX);
    for (size_t i = 0; i < l->n_net_devices; i++) {
        const struct oci_net_device *d = &l->net_devices[i];

        if (!is_link_name (d->key))
            return err_set (e, EINVAL, "/linux/netDevices: '%.32s' is no device's name", d->key);
        if (d->name && *d->name && !is_link_name (d->name))
            return err_set (e, EINVAL, "/linux/netDevices/%s/name: '%.32s' is no device's name",
                            d->key, d->name);
    }
    return 0;
}

/* ---- devices ---- */

/* dev_t of the kernel: 12 bits of major, 20 of minor. mknod(2) would cut off the rest. */
#define MAJOR_MAX 0xfff
#define MINOR_MAX 0xfffff

static int check_device (const struct oci_device *d, size_t i, struct err *e)
{
    if (!spec_is_absolute (d->path))
        return err_set (e, EINVAL, "/linux/devices[%zu]/path: must be absolute", i);
    if (d->type == OCI_DEV_FIFO)
        return 0;
    if (!d->has_major || d->major > MAJOR_MAX)
        return err_set (e, EINVAL, "/linux/devices[%zu]/major: 0 to %d is needed", i, MAJOR_MAX);
    if (!d->has_minor || d->minor > MINOR_MAX)
        return err_set (e, EINVAL, "/linux/devices[%zu]/minor: 0 to %d is needed", i, MINOR_MAX);
    return 0;
}

static int by_path (const void *pa, const void *pb)
{
    const struct oci_device *a = *(const struct oci_device *const *)pa;
    const struct oci_device *b = *(const struct oci_device *const *)pb;
    int r = strcmp (a->path, b->path);

    return r ? r : (a > b) - (a < b);
}

/* Sorted, not compared each with each: the caller decides how many there are. */
static int check_device_paths (const struct oci_linux *l, struct err *e)
{
    AUTO_FREE const struct oci_device **d = calloc (l->n_devices + 1, sizeof *d);

    if (!d)
        return err_oom (e);
    for (size_t i = 0; i < l->n_devices; i++)
        d[i] = &l->devices[i];
    qsort (d, l->n_devices, sizeof *d, by_path);
    for (size_t i = 1; i < l->n_devices; i++)
        if (strcmp (d[i - 1]->path, d[i]->path) == 0)
            return err_set (e, EINVAL, "/linux/devices[%td]/path: stands there twice",
                            d[i] - l->devices);
    return 0;
}

static int check_devices (const struct oci_linux *l, struct err *e)
{
    for (size_t i = 0; i < l->n_devices; i++)
        if (check_device (&l->devices[i], i, e) < 0)
            return -e->code;
    return check_device_paths (l, e);
}

/* ---- paths ---- */

static int check_absolute (const char *const *paths, size_t n, const char *at, struct err *e)
{
    for (size_t i = 0; i < n; i++)
        if (!spec_is_absolute (paths[i]))
            return err_set (e, EINVAL, "%s[%zu]: must be absolute", at, i);
    return 0;
}

static int check_paths (const struct oci_linux *l, struct err *e)
{
    if (check_absolute (l->masked_paths, l->n_masked_paths, "/linux/maskedPaths", e) < 0)
        return -e->code;
    return check_absolute (l->readonly_paths, l->n_readonly_paths, "/linux/readonlyPaths", e);
}

static bool has_dot_dot (const char *path)
{
    for (const char *p = path; *p; p += strspn (p, "/")) {
        size_t n = strcspn (p, "/");

        if (n == 2 && p[0] == '.' && p[1] == '.')
            return true;
        p += n;
    }
    return false;
}

/* security.md A46. The descriptors of cgroup/ would stop it too; here the message names the
 * place. */
static int check_cgroups_path (const struct oci_linux *l, struct err *e)
{
    if (!l->cgroups_path)
        return 0;
    if (has_dot_dot (l->cgroups_path))
        return err_set (e, EINVAL, "/linux/cgroupsPath: must not contain '..'");
    if (strlen (l->cgroups_path) >= PATH_MAX)
        return err_set (e, EINVAL, "/linux/cgroupsPath: longer than %d bytes", PATH_MAX - 1);
    return 0;
}

/* ---- memory policy and personality ---- */

enum nodes { NODES_NONE, NODES_MAY, NODES_MUST };

/* set_mempolicy(2). */
static const enum nodes nodes_of_mode[] = {
    [OCI_MPOL_DEFAULT] = NODES_NONE,    [OCI_MPOL_BIND] = NODES_MUST,
    [OCI_MPOL_INTERLEAVE] = NODES_MUST, [OCI_MPOL_WEIGHTED_INTERLEAVE] = NODES_MUST,
    [OCI_MPOL_PREFERRED] = NODES_MAY,   [OCI_MPOL_PREFERRED_MANY] = NODES_MUST,
    [OCI_MPOL_LOCAL] = NODES_NONE,
};

/* LIST is one by spec_is_list. */
static unsigned long long count_nodes (const char *list)
{
    unsigned long long n = 0;

    for (char *at = NULL; *list; list = *at ? at + 1 : at) {
        unsigned long long first = strtoull (list, &at, 10);
        unsigned long long last = *at == '-' ? strtoull (at + 1, &at, 10) : first;

        n += last - first + 1;
    }
    return n;
}

static int check_memory_policy (const struct oci_linux *l, struct err *e)
{
    const struct oci_memory_policy *m = l->memory_policy;
    bool has_nodes = m && m->nodes && *m->nodes;

    if (!m)
        return 0;
    if (has_nodes && !spec_is_list (m->nodes))
        return err_set (e, EINVAL, "/linux/memoryPolicy/nodes: not a node list");
    if (has_nodes && nodes_of_mode[m->mode] == NODES_NONE)
        return err_set (e, EINVAL,
                        "/linux/memoryPolicy/nodes: %s takes none: mode requires 0 nodes but got "
                        "%llu",
                        oci_enum_name (&oci_memory_mode_enum, m->mode), count_nodes (m->nodes));
    if (!has_nodes && nodes_of_mode[m->mode] == NODES_MUST)
        return err_set (e, EINVAL, "/linux/memoryPolicy/nodes: required for %s",
                        oci_enum_name (&oci_memory_mode_enum, m->mode));
    return 0;
}

/* config-linux.md names no flag that would be valid. */
static int check_personality (const struct oci_linux *l, struct err *e)
{
    if (!l->personality || !l->personality->n_flags)
        return 0;
    return err_set (e, EINVAL, "/linux/personality/flags[0]: no flag is supported");
}

int (*const spec_linux_rules[]) (const struct oci_linux *l, struct err *e) = {
    check_namespaces,     check_mount_namespace,
    check_user_namespace, check_time_offsets,
    sysctl_check,         check_net_devices,
    check_devices,        check_paths,
    check_cgroups_path,   spec_check_resources,
    spec_check_seccomp,   check_memory_policy,
    check_personality,    NULL,
};
