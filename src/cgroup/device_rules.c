#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "cgroup/devices.h"

static const struct device_rule default_rules[] = {
    { true, true, true, DEVICE_ANY, DEVICE_ANY, BPF_DEVCG_ACC_MKNOD },
    { true, true, false, 1, 3, DEVICE_ALL_ACCESS },            /* null */
    { true, true, false, 1, 5, DEVICE_ALL_ACCESS },            /* zero */
    { true, true, false, 1, 7, DEVICE_ALL_ACCESS },            /* full */
    { true, true, false, 1, 8, DEVICE_ALL_ACCESS },            /* random */
    { true, true, false, 1, 9, DEVICE_ALL_ACCESS },            /* urandom */
    { true, true, false, 5, 0, DEVICE_ALL_ACCESS },            /* tty */
    { true, true, false, 5, 2, DEVICE_ALL_ACCESS },            /* ptmx */
    { true, true, false, 136, DEVICE_ANY, DEVICE_ALL_ACCESS }, /* pts */
};

static const struct {
    char letter;
    uint32_t bit;
} accesses[] = {
    { 'r', BPF_DEVCG_ACC_READ },
    { 'w', BPF_DEVCG_ACC_WRITE },
    { 'm', BPF_DEVCG_ACC_MKNOD },
};

static int parse_access (const char *text, size_t i, uint32_t *ret, struct err *e)
{
    uint32_t access = 0;

    for (const char *p = text ? text : ""; *p; p++) {
        uint32_t bit = 0;

        for (size_t k = 0; k < ARRAY_LEN (accesses); k++)
            if (accesses[k].letter == *p)
                bit = accesses[k].bit;
        if (!bit)
            return err_set (e, EINVAL,
                            "/linux/resources/devices[%zu]/access: '%.16s' has other letters than "
                            "r, w and m",
                            i, text);
        access |= bit;
    }
    if (!access)
        return err_set (e, EINVAL, "/linux/resources/devices[%zu]/access: must say r, w or m", i);
    *ret = access;
    return 0;
}

static int parse_rule (const struct oci_device_cgroup *d, size_t i, struct device_rule *ret,
                       struct err *e)
{
    const char *type = d->type && *d->type ? d->type : "a";
    struct device_rule rule = { .allow = d->allow,
                                .chr = *type != 'b',
                                .blk = *type != 'c',
                                .major = d->has_major ? d->major : DEVICE_ANY,
                                .minor = d->has_minor ? d->minor : DEVICE_ANY };

    if (!strchr ("abc", *type) || type[1])
        return err_set (e, EINVAL, "/linux/resources/devices[%zu]/type: '%.16s' is none of a, b, c",
                        i, type);
    if (parse_access (d->access, i, &rule.access, e) < 0)
        return -e->code;
    *ret = rule;
    return 0;
}

int device_rules (const struct oci_linux_resources *res, struct arena *a, struct device_rules *ret,
                  struct err *e)
{
    size_t n = res ? res->n_devices : 0;
    struct device_rule *v = arena_calloc (a, n + ARRAY_LEN (default_rules), sizeof *v);

    if (!v)
        return err_oom (e);
    for (size_t i = 0; i < n; i++)
        if (parse_rule (&res->devices[i], i, &v[i], e) < 0)
            return -e->code;
    memcpy (v + n, default_rules, sizeof default_rules);
    *ret = (struct device_rules){ v, n + ARRAY_LEN (default_rules) };
    return 0;
}

void device_text (const struct device_rule *rule, char buf[DEVICE_TEXT_MAX])
{
    char major[12] = "*";
    char minor[12] = "*";
    char access[ARRAY_LEN (accesses) + 1] = "";
    size_t n = 0;

    if (rule->major != DEVICE_ANY)
        (void)snprintf (major, sizeof major, "%" PRIu32, (uint32_t)rule->major);
    if (rule->minor != DEVICE_ANY)
        (void)snprintf (minor, sizeof minor, "%" PRIu32, (uint32_t)rule->minor);
    for (size_t k = 0; k < ARRAY_LEN (accesses); k++)
        if (rule->access & accesses[k].bit)
            access[n++] = accesses[k].letter;
    (void)snprintf (buf, DEVICE_TEXT_MAX, "%c %s:%s %s", rule->chr ? 'c' : 'b', major, minor,
                    access);
}

/* ---- v1 ---- */

static bool is_same_device (const struct device_rule *a, const struct device_rule *b)
{
    return a->chr == b->chr && a->major == b->major && a->minor == b->minor;
}

/* Do A and B name a common device? */
static bool overlaps (const struct device_rule *a, const struct device_rule *b)
{
    return a->chr == b->chr &&
           (a->major == b->major || a->major == DEVICE_ANY || b->major == DEVICE_ANY) &&
           (a->minor == b->minor || a->minor == DEVICE_ANY || b->minor == DEVICE_ANY);
}

/* Does A name every device that B names? */
static bool covers (const struct device_rule *a, const struct device_rule *b)
{
    return a->chr == b->chr && (a->major == DEVICE_ANY || a->major == b->major) &&
           (a->minor == DEVICE_ANY || a->minor == b->minor);
}

static void add_exception (struct device_exceptions *x, const struct device_rule *rule)
{
    for (size_t i = 0; i < x->n; i++) {
        if (is_same_device (&x->v[i], rule)) {
            x->v[i].access |= rule->access;
            return;
        }
    }
    x->v[x->n++] = *rule;
}

/* RULE goes back to the default. */
static int end_exceptions (struct device_exceptions *x, const struct device_rule *rule,
                           struct err *e)
{
    size_t n = 0;

    for (size_t i = 0; i < x->n; i++) {
        struct device_rule *old = &x->v[i];

        if (covers (rule, old)) {
            old->access &= ~rule->access;
        } else if (overlaps (rule, old) && (old->access & rule->access)) {
            char whole[DEVICE_TEXT_MAX];
            char part[DEVICE_TEXT_MAX];

            device_text (old, whole);
            device_text (rule, part);
            return err_set (e, EOPNOTSUPP,
                            "/linux/resources/devices: cgroup v1 cannot %s '%s' out of '%s'",
                            x->allow ? "allow" : "deny", part, whole);
        }
        if (old->access)
            x->v[n++] = *old;
    }
    x->n = n;
    return 0;
}

static bool is_everything (const struct device_rule *rule)
{
    return rule->chr && rule->blk && rule->major == DEVICE_ANY && rule->minor == DEVICE_ANY &&
           rule->access == DEVICE_ALL_ACCESS;
}

int device_exceptions (const struct device_rules *rules, struct arena *a,
                       struct device_exceptions *ret, struct err *e)
{
    struct device_exceptions x = { .v = arena_calloc (a, rules->n * 2 + 1, sizeof *x.v) };

    if (!x.v)
        return err_oom (e);
    for (size_t i = 0; i < rules->n; i++) {
        const struct device_rule *rule = &rules->v[i];

        if (is_everything (rule)) {
            x.allow = rule->allow;
            x.n = 0;
            continue;
        }
        for (int chr = 0; chr < 2; chr++) {
            struct device_rule one = *rule;

            if (!(chr ? rule->chr : rule->blk))
                continue;
            one.chr = chr;
            one.blk = !chr;
            if (one.allow != x.allow)
                add_exception (&x, &one);
            else if (end_exceptions (&x, &one, e) < 0)
                return -e->code;
        }
    }
    *ret = x;
    return 0;
}
