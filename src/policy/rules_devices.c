/*
 * Rules of devices: the nodes, and what may be opened.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/cleanup.h"
#include "policy/rules.h"

/* Character devices whose numbers are the kernel's for ever (admin-guide/devices.txt): a path alone
 * says nothing about what a node opens. */
static const struct known {
    const char *path;
    int64_t major, minor;
} known_devices[] = {
    { "/dev/null", 1, 3 },    { "/dev/zero", 1, 5 },    { "/dev/full", 1, 7 },
    { "/dev/random", 1, 8 },  { "/dev/urandom", 1, 9 }, { "/dev/tty", 5, 0 },
    { "/dev/console", 5, 1 }, { "/dev/ptmx", 5, 2 },    { "/dev/net/tun", 10, 200 },
    { "/dev/fuse", 10, 229 }, { "/dev/kvm", 10, 232 },  { "/dev/vhost-net", 10, 238 },
};

/* Of the terminals, which are the container's own. */
#define PTS_MAJOR 136

static bool is_known (const char *path, int64_t major, int64_t minor)
{
    for (size_t i = 0; i < ARRAY_LEN (known_devices); i++)
        if (strcmp (known_devices[i].path, path) == 0)
            return known_devices[i].major == major && known_devices[i].minor == minor;
    return false;
}

/* The node of that name is the host's console until the container's terminal lies over it. */
static bool is_allowed (const struct draft *d, const struct oci_device *dev)
{
    const struct oci_policy_devices *p = d->doc.devices;

    if (dev->type != OCI_DEV_CHAR && dev->type != OCI_DEV_UNBUFFERED)
        return false;
    return is_known (dev->path, dev->major, dev->minor) &&
           (draft_has (p->allowed, p->n_allowed, dev->path) ||
            (d->process.terminal && strcmp (dev->path, "/dev/console") == 0));
}

static const char *device_text (struct arena *a, const struct oci_device *dev)
{
    return arena_printf (a, "%s (%s %" PRId64 ":%" PRId64 ")", dev->path,
                         oci_enum_name (&oci_device_enum, dev->type), dev->major, dev->minor);
}

static int drop_device (struct draft *d, size_t i)
{
    struct policy_decision x = { .action = POLICY_TIGHTENED };

    x.path = arena_printf (d->a, "/linux/devices[%zu]", i);
    x.before = device_text (d->a, &d->linux_.devices[i]);
    return x.before ? draft_note (d, &x) : err_oom (d->e);
}

int rule_devices (struct draft *d)
{
    struct oci_linux *l = &d->linux_;
    struct oci_device *kept = arena_calloc (d->a, l->n_devices + 1, sizeof *kept);
    size_t n = 0;

    if (!kept)
        return err_oom (d->e);
    for (size_t i = 0; !d->doc.devices->any && i < l->n_devices; i++) {
        if (is_allowed (d, &l->devices[i]))
            kept[n++] = l->devices[i];
        else if (drop_device (d, i) < 0)
            return -d->e->code;
    }
    if (!d->doc.devices->any && n < l->n_devices) {
        l->devices = kept;
        l->n_devices = n;
    }
    return 0;
}

/* ---- rules of the cgroup ---- */
static bool is_all (const struct oci_device_cgroup *r)
{
    return (!r->type || !r->type[0] || strcmp (r->type, "a") == 0) &&
           (!r->has_major || r->major == -1) && (!r->has_minor || r->minor == -1);
}

static bool has_all_access (const struct oci_device_cgroup *r)
{
    return r->access && strchr (r->access, 'r') && strchr (r->access, 'w') &&
           strchr (r->access, 'm');
}

static bool is_listed (const struct draft *d, int64_t major, int64_t minor)
{
    const struct oci_policy_devices *p = d->doc.devices;

    for (size_t i = 0; i < ARRAY_LEN (known_devices); i++)
        if (known_devices[i].major == major && known_devices[i].minor == minor)
            return major == 5 || draft_has (p->allowed, p->n_allowed, known_devices[i].path);
    return false;
}

static bool is_rule_fine (const struct draft *d, const struct oci_device_cgroup *r)
{
    if (!r->allow)
        return true;
    if (!r->type || strcmp (r->type, "c") != 0 || !r->has_major)
        return false;
    return r->major == PTS_MAJOR || (r->has_minor && is_listed (d, r->major, r->minor));
}

/* All is denied first, and what is allowed after it is listed. */
static bool are_rules_fine (const struct draft *d)
{
    const struct oci_device_cgroup *r = d->resources.devices;

    if (d->resources.n_devices == 0 || r->allow || !is_all (r) || !has_all_access (r))
        return false;
    for (size_t i = 1; i < d->resources.n_devices; i++)
        if (!is_rule_fine (d, &r[i]))
            return false;
    return true;
}

/* Nothing, then what is left of the config's devices; the runtime adds the default ones. */
static int make_rules (struct draft *d, const struct oci_device_cgroup **ret, size_t *ret_n)
{
    const struct oci_linux *l = &d->linux_;
    struct oci_device_cgroup *rules = arena_calloc (d->a, l->n_devices + 1, sizeof *rules);

    if (!rules)
        return err_oom (d->e);
    rules[0] = (struct oci_device_cgroup){ .access = "rwm" };
    for (size_t i = 0; i < l->n_devices; i++)
        rules[i + 1] = (struct oci_device_cgroup){ .allow = true,
                                                   .type = "c",
                                                   .major = l->devices[i].major,
                                                   .has_major = true,
                                                   .minor = l->devices[i].minor,
                                                   .has_minor = true,
                                                   .access = "rwm" };
    *ret = rules;
    *ret_n = l->n_devices + 1;
    return 0;
}

int rule_device_rules (struct draft *d)
{
    struct oci_linux_resources *r = &d->resources;
    struct policy_decision x = { .path = "/linux/resources/devices",
                                 .action = r->devices ? POLICY_TIGHTENED : POLICY_ADDED };

    if (d->doc.devices->any || are_rules_fine (d))
        return 0;
    (void)draft_resources (d);
    x.before = r->devices ? arena_printf (d->a, "%zu rules", r->n_devices) : NULL;
    if (make_rules (d, &r->devices, &r->n_devices) < 0)
        return -d->e->code;
    x.after = arena_printf (d->a, "all denied, then %zu allowed", r->n_devices - 1);
    return x.after && (x.before || x.action == POLICY_ADDED) ? draft_note (d, &x) : err_oom (d->e);
}
