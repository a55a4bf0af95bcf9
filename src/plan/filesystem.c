/*
 * The file system of the plan: root, mounts, devices, masked and read-only paths.
 */
#include <errno.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "plan/build.h"
#include "spec/mntopt.h"

#define DEVICE_MODE 0666 /* of the default devices, and of one that says nothing (as runc) */

/* runtime-spec, "Default Devices"; /dev/console and /dev/ptmx are made by the terminal and device
 * steps. */
static const struct plan_device default_devices[] = {
    { "/dev/null", S_IFCHR, 1, 3, DEVICE_MODE, 0, 0, true },
    { "/dev/zero", S_IFCHR, 1, 5, DEVICE_MODE, 0, 0, true },
    { "/dev/full", S_IFCHR, 1, 7, DEVICE_MODE, 0, 0, true },
    { "/dev/random", S_IFCHR, 1, 8, DEVICE_MODE, 0, 0, true },
    { "/dev/urandom", S_IFCHR, 1, 9, DEVICE_MODE, 0, 0, true },
    { "/dev/tty", S_IFCHR, 5, 0, DEVICE_MODE, 0, 0, true },
};

static const mode_t device_types[] = {
    [OCI_DEV_CHAR] = S_IFCHR,
    [OCI_DEV_BLOCK] = S_IFBLK,
    [OCI_DEV_UNBUFFERED] = S_IFCHR,
    [OCI_DEV_FIFO] = S_IFIFO,
};

static const unsigned long propagation_flags[] = {
    [OCI_PROP_PRIVATE] = MS_PRIVATE,
    [OCI_PROP_SHARED] = MS_SHARED,
    [OCI_PROP_SLAVE] = MS_SLAVE,
    [OCI_PROP_UNBINDABLE] = MS_UNBINDABLE,
    [OCI_PROP_RPRIVATE] = MS_PRIVATE | MS_REC,
    [OCI_PROP_RSHARED] = MS_SHARED | MS_REC,
    [OCI_PROP_RSLAVE] = MS_SLAVE | MS_REC,
    [OCI_PROP_RUNBINDABLE] = MS_UNBINDABLE | MS_REC,
};

static int build_root (const struct plan_input *in, struct arena *a, struct plan *ret,
                       struct err *e)
{
    const struct oci_root *root = in->config->root;

    if (!root)
        return err_set (e, EINVAL, "/root: is required on Linux");
    ret->rootfs =
        root->path[0] == '/' ? root->path : arena_printf (a, "%s/%s", in->bundle, root->path);
    ret->rootfs_readonly = root->has_readonly && root->readonly;
    return ret->rootfs ? 0 : err_oom (e);
}

static int build_mounts (const struct plan_input *in, struct arena *a, struct plan *ret,
                         struct err *e)
{
    const struct oci_config *c = in->config;
    struct plan_mount *out = arena_calloc (a, c->n_mounts, sizeof *out);

    if (!out)
        return err_oom (e);
    for (size_t i = 0; i < c->n_mounts; i++) {
        const struct mntopt_context where = { .index = i,
                                              .bundle = in->bundle,
                                              .label = ret->mount_label };
        int result = mntopt_parse (&c->mounts[i], &where, a, &out[i], e);

        if (result < 0)
            return result;
    }
    ret->mounts = out;
    ret->n_mounts = c->n_mounts;
    ret->guard = in->guard;
    return 0;
}

static bool config_has_device (const struct oci_linux *l, const char *path)
{
    for (size_t i = 0; i < l->n_devices; i++)
        if (strcmp (l->devices[i].path, path) == 0)
            return true;
    return false;
}

static struct plan_device device_of (const struct oci_device *d)
{
    return (struct plan_device){ .path = d->path,
                                 .type = device_types[d->type],
                                 .major = (uint32_t)d->major,
                                 .minor = (uint32_t)d->minor,
                                 .mode = d->has_file_mode ? d->file_mode & 07777 : DEVICE_MODE,
                                 .uid = d->uid,
                                 .gid = d->gid };
}

/* The default devices, unless the config brings its own of that name, then the config's. */
static int build_devices (const struct oci_linux *l, struct arena *a, struct plan *ret)
{
    size_t max = ARRAY_LEN (default_devices) + l->n_devices;
    struct plan_device *out = arena_calloc (a, max, sizeof *out);
    size_t n = 0;

    if (!out)
        return -1;
    for (size_t i = 0; i < ARRAY_LEN (default_devices); i++)
        if (!config_has_device (l, default_devices[i].path))
            out[n++] = default_devices[i];
    for (size_t i = 0; i < l->n_devices; i++)
        out[n++] = device_of (&l->devices[i]);
    ret->devices = out;
    ret->n_devices = n;
    return 0;
}

int plan_build_filesystem (const struct plan_input *in, struct arena *a, struct plan *ret,
                           struct err *e)
{
    static const struct oci_linux none = { 0 };
    const struct oci_linux *l = in->config->linux_ ?: &none;
    int result = build_root (in, a, ret, e);

    if (result < 0)
        return result;
    ret->mount_label = l->mount_label && l->mount_label[0] ? l->mount_label : NULL;
    if (l->has_rootfs_propagation)
        ret->rootfs_propagation = propagation_flags[l->rootfs_propagation];
    ret->masked = l->masked_paths;
    ret->n_masked = l->n_masked_paths;
    ret->readonly = l->readonly_paths;
    ret->n_readonly = l->n_readonly_paths;
    if (build_devices (l, a, ret) < 0)
        return err_oom (e);
    return build_mounts (in, a, ret, e);
}
