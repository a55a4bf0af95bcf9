/*
 * Limits as properties of a systemd unit: from the same list of writes that cgroupfs gets.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/str.h"
#include "cgroup/devices.h"
#include "cgroup/unit.h"

#define DEFAULT_PERIOD 100000U /* microseconds; the kernel's */
#define SECOND         1000000U
#define QUOTA_STEP     10000U /* systemd counts shares of a second in steps of 10 ms */

/* CPUs and memory nodes that a unit's bitmap may name. */
#define BITS_MAX 8192

struct filling {
    struct arena *a;
    struct unitprop *to;
    size_t n;
};

/* One of RET's properties; NULL when there is no room: more than any config of ours asks for. */
static struct unitprop *add (struct filling *f, const char *name, enum unitprop_type type)
{
    struct unitprop *p = &f->to[f->n];

    if (f->n == UNIT_LIMITS_MAX)
        return NULL;
    *p = (struct unitprop){ .name = name, .type = type };
    f->n++;
    return p;
}

static void add_number (struct filling *f, const char *name, uint64_t number)
{
    struct unitprop *p = add (f, name, UNITPROP_U64);

    if (p)
        p->number = number;
}

/* "max" and -1 are systemd's infinity. */
static uint64_t number_of (const char *text)
{
    return text[0] >= '0' && text[0] <= '9' ? strtoull (text, NULL, 10) : UINT64_MAX;
}

static void fill_number (struct filling *f, const char *name, const char *value)
{
    add_number (f, name, number_of (value));
}

/* An idle group is one of weight 0 (systemd 252); any other weight ends that. */
static void fill_idle (struct filling *f, const char *name, const char *value)
{
    if (strcmp (value, "1") == 0)
        add_number (f, name, 0);
}

/* "0-2,5" as a bitmap, lowest bit of the first byte first. */
static void fill_set (struct filling *f, const char *name, const char *value)
{
    uint8_t *bits = arena_alloc (f->a, BITS_MAX / 8);
    size_t n = 0;

    while (bits && *value >= '0' && *value <= '9') {
        char *end;
        uint64_t first = strtoull (value, &end, 10);
        uint64_t last = *end == '-' ? strtoull (end + 1, &end, 10) : first;

        for (uint64_t i = first; i <= last && i < BITS_MAX; i++) {
            bits[i / 8] |= (uint8_t)(1U << (i % 8));
            n = i / 8 + 1 > n ? i / 8 + 1 : n;
        }
        value = end + (*end == ',');
    }
    if (n > 0) {
        struct unitprop *p = add (f, name, UNITPROP_BYTES);

        if (p)
            *p = (struct unitprop){ .name = name, .type = UNITPROP_BYTES, .bytes = bits, .n = n };
    }
}

/* One line of io.max: "8:0 rbps=1024". */
static void fill_rate (struct filling *f, const char *name, const char *value)
{
    static const struct {
        const char *what, *property;
    } kinds[] = {
        { " rbps=", "IOReadBandwidthMax" },
        { " wbps=", "IOWriteBandwidthMax" },
        { " riops=", "IOReadIOPSMax" },
        { " wiops=", "IOWriteIOPSMax" },
    };

    (void)name;
    for (size_t i = 0; i < ARRAY_LEN (kinds); i++) {
        const char *rate = strstr (value, kinds[i].what);
        struct unitprop *p = rate ? add (f, kinds[i].property, UNITPROP_RATE) : NULL;

        if (!p)
            continue;
        p->text = arena_printf (f->a, "/dev/block/%.*s", (int)strcspn (value, " "), value);
        p->number = number_of (rate + strlen (kinds[i].what));
    }
}

static const struct row {
    const char *file, *property;
    void (*fill) (struct filling *f, const char *name, const char *value);
} rows[] = {
    { "memory.max", "MemoryMax", fill_number },
    { "memory.low", "MemoryLow", fill_number },
    { "memory.min", "MemoryMin", fill_number },
    { "memory.high", "MemoryHigh", fill_number },
    { "memory.swap.max", "MemorySwapMax", fill_number },
    { "memory.limit_in_bytes", "MemoryLimit", fill_number },
    { "pids.max", "TasksMax", fill_number },
    { "cpu.weight", "CPUWeight", fill_number },
    { "cpu.idle", "CPUWeight", fill_idle },
    { "cpu.shares", "CPUShares", fill_number },
    { "cpuset.cpus", "AllowedCPUs", fill_set },
    { "cpuset.mems", "AllowedMemoryNodes", fill_set },
    { "io.weight", "IOWeight", fill_number },
    { "blkio.weight", "BlockIOWeight", fill_number },
    { "io.max", NULL, fill_rate },
};

/* With BFQ's weights the one that systemd knows is the second choice's. */
static void fill (struct filling *f, const struct limit *m, bool v2)
{
    bool has_alt = m->alt_file && m->alt_value;
    const char *file = has_alt ? m->alt_file : m->file;
    const char *value = has_alt ? m->alt_value : m->value;

    if (!value || (!v2 && str_has_prefix (file, "cpuset.")))
        return; /* systemd leaves cpuset alone on v1 */
    for (size_t i = 0; i < ARRAY_LEN (rows); i++)
        if (strcmp (rows[i].file, file) == 0 && !strchr (value, ':') == (rows[i].property != NULL))
            rows[i].fill (f, rows[i].property, value);
}

/* CPU_MAX "QUOTA PERIOD" as a share of a second: rounded up, as the exact value is cgroupfs's. */
static void fill_cpu (struct filling *f, const char *cpu_max)
{
    uint64_t quota = number_of (cpu_max);
    const char *space = strchr (cpu_max, ' ');
    uint64_t period = space ? number_of (space + 1) : DEFAULT_PERIOD;
    uint64_t share;

    if (period == 0 || period > SECOND || (quota != UINT64_MAX && quota > UINT64_MAX / SECOND))
        return; /* the kernel refuses it */
    share = quota == UINT64_MAX ? UINT64_MAX : quota * SECOND / period;
    if (share != UINT64_MAX && share % QUOTA_STEP)
        share += QUOTA_STEP - share % QUOTA_STEP;
    add_number (f, "CPUQuotaPeriodUSec", period);
    add_number (f, "CPUQuotaPerSecUSec", share);
}

static const char *asked_cpu_max (const struct oci_cpu *cpu, struct arena *a)
{
    uint64_t period = cpu->has_period && cpu->period ? cpu->period : DEFAULT_PERIOD;

    if (!cpu->has_quota || cpu->quota <= 0)
        return arena_printf (a, "max %" PRIu64, period);
    return arena_printf (a, "%" PRId64 " %" PRIu64, cpu->quota, period);
}

/* systemd writes the device rules of v1 again at each reload, "all" if it knows none (runc#3551).
 * A device of any major with one minor has no form here. */
static int fill_devices (struct filling *f, const struct oci_linux_resources *res, struct err *e)
{
    struct device_rules rules;
    struct device_exceptions x;
    struct unitprop *policy = add (f, "DevicePolicy", UNITPROP_STRING);
    struct unitprop *allow = add (f, "DeviceAllow", UNITPROP_PAIRS);
    const char **list;

    if (device_rules (res, f->a, &rules, e) < 0 || device_exceptions (&rules, f->a, &x, e) < 0)
        return -e->code;
    list = arena_calloc (f->a, 2 * x.n + 1, sizeof *list);
    if (!list || !policy || !allow)
        return err_oom (e);
    policy->text = x.allow ? "auto" : "strict";
    allow->list = list;
    for (size_t i = 0; !x.allow && i < x.n; i++) {
        const struct device_rule *d = &x.v[i];
        const char *kind = d->chr ? "char" : "block";

        if (d->major == DEVICE_ANY && d->minor != DEVICE_ANY)
            continue;
        list[allow->n] =
            d->major == DEVICE_ANY ? arena_printf (f->a, "%s-*", kind)
            : d->minor == DEVICE_ANY
                ? arena_printf (f->a, "%s-%" PRId64, kind, d->major)
                : arena_printf (f->a, "/dev/%s/%" PRId64 ":%" PRId64, kind, d->major, d->minor);
        list[allow->n + 1] = arena_printf (
            f->a, "%s%s%s", d->access & BPF_DEVCG_ACC_READ ? "r" : "",
            d->access & BPF_DEVCG_ACC_WRITE ? "w" : "", d->access & BPF_DEVCG_ACC_MKNOD ? "m" : "");
        if (!list[allow->n] || !list[allow->n + 1])
            return err_oom (e);
        allow->n += 2;
    }
    return 0;
}

int unit_limits (const struct unit_asked *asked, struct arena *a, struct unitprop *ret,
                 size_t *ret_n, struct err *e)
{
    const struct oci_linux_resources *res = asked->resources;
    struct limits l = { .a = a };
    struct filling f = { .a = a, .to = ret };
    const struct oci_cpu *cpu = res ? res->cpu : NULL;
    const char *cpu_max = NULL;

    if (res && asked->v2)
        limits_v2 (&l, res);
    else if (res)
        limits_v1 (&l, res);
    for (const struct limit *m = l.first; m; m = m->next)
        fill (&f, m, asked->v2);
    if (cpu && (cpu->has_quota || cpu->has_period))
        cpu_max = asked->cpu_max ?: asked_cpu_max (cpu, a);
    if (cpu_max)
        fill_cpu (&f, cpu_max);
    if (asked->devices && !asked->v2 && fill_devices (&f, res, e) < 0)
        return -e->code;
    *ret_n = f.n;
    return l.failed ? err_oom (e) : 0;
}
