#include <errno.h>
#include <string.h>

#include "check.h"

#define AT "/linux/resources"

static int check_device_rules (const struct oci_linux_resources *r, struct err *e)
{
    for (size_t i = 0; i < r->n_devices; i++) {
        const struct oci_device_cgroup *d = &r->devices[i];
        const char *type = d->type ?: "", *access = d->access ?: "";

        if (strlen (type) > 1 || (*type && !strchr ("abc", *type)))
            return err_set (e, EINVAL, AT "/devices[%zu]/type: must be a, b or c", i);
        if (access[strspn (access, "rwm")])
            return err_set (e, EINVAL, AT "/devices[%zu]/access: must be of r, w and m", i);
    }
    return 0;
}

static int check_memory (const struct oci_linux_resources *r, struct err *e)
{
    const struct oci_memory *m = r->memory;

    if (m && m->limit > 0 && m->swap > 0 && m->swap < m->limit)
        return err_set (e, EINVAL, AT "/memory/swap: less than the limit, which it includes");
    return 0;
}

static int check_cpu (const struct oci_linux_resources *r, struct err *e)
{
    const struct oci_cpu *c = r->cpu;

    if (!c)
        return 0;
    if (c->quota > 0 && c->burst > (uint64_t)c->quota)
        return err_set (e, EINVAL, AT "/cpu/burst: more than the quota");
    if (c->cpus && !spec_is_list (c->cpus))
        return err_set (e, EINVAL, AT "/cpu/cpus: not a CPU list");
    if (c->mems && !spec_is_list (c->mems))
        return err_set (e, EINVAL, AT "/cpu/mems: not a node list");
    return 0;
}

static int check_weights (const struct oci_linux_resources *r, struct err *e)
{
    const struct oci_block_io *b = r->block_io;

    for (size_t i = 0; b && i < b->n_weight_device; i++)
        if (!b->weight_device[i].has_weight && !b->weight_device[i].has_leaf_weight)
            return err_set (e, EINVAL,
                            AT "/blockIO/weightDevice[%zu]: weight or leafWeight is needed", i);
    return 0;
}

/* ^[1-9][0-9]*[KMG]B$: it becomes part of a file name (security.md A46). */
static bool is_page_size (const char *s)
{
    size_t n = strspn (s, "0123456789");

    return n > 0 && n < 16 && *s != '0' && s[n] && strchr ("KMG", s[n]) &&
           strcmp (s + n + 1, "B") == 0;
}

static int check_hugepages (const struct oci_linux_resources *r, struct err *e)
{
    for (size_t i = 0; i < r->n_hugepage_limits; i++)
        if (!is_page_size (r->hugepage_limits[i].page_size))
            return err_set (e, EINVAL,
                            AT "/hugepageLimits[%zu]/pageSize: not of the form 64KB, 2MB, 1GB", i);
    return 0;
}

/* A key becomes the first word of a line. */
static int check_rdma (const struct oci_linux_resources *r, struct err *e)
{
    for (size_t i = 0; i < r->n_rdma; i++)
        if (!*r->rdma[i].key || r->rdma[i].key[strcspn (r->rdma[i].key, "/ =\t\n")])
            return err_set (e, EINVAL, AT "/rdma: '%.64s' is no device's name", r->rdma[i].key);
    return 0;
}

/* A key is the name of a file of the container's own cgroup. */
static int check_unified (const struct oci_linux_resources *r, struct err *e)
{
    for (size_t i = 0; i < r->n_unified; i++) {
        const char *key = r->unified[i].key;

        if (!*key || strchr (key, '/') || key[0] == '.')
            return err_set (e, EINVAL, AT "/unified: '%.64s' is not a file name", key);
    }
    return 0;
}

static int (*const rules[]) (const struct oci_linux_resources *r, struct err *e) = {
    check_device_rules, check_memory, check_cpu,     check_weights,
    check_hugepages,    check_rdma,   check_unified,
};

int spec_check_resources (const struct oci_linux *l, struct err *e)
{
    for (size_t i = 0; l->resources && i < sizeof rules / sizeof rules[0]; i++)
        if (rules[i](l->resources, e) < 0)
            return -e->code;
    return 0;
}
