/* update: other limits for a container that is there. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/num.h"
#include "cmd/cmd.h"

/* As given; NULL: not given. */
struct update_options {
    const char *resources;
    const char *blkio_weight, *cpu_period, *cpu_quota, *cpu_burst, *cpu_share, *cpu_idle;
    const char *cpu_rt_period, *cpu_rt_runtime, *cpuset_cpus, *cpuset_mems;
    const char *memory, *memory_reservation, *memory_swap, *kernel_memory, *kernel_memory_tcp;
    const char *pids_limit, *l3_cache_schema, *mem_bw_schema;
};

#define AT(member) offsetof (struct update_options, member)

static const struct opt update_table[] = {
    { "resources", 'r', OPT_TEXT, AT (resources), "FILE",
      "read the resources from FILE; \"-\": standard input" },
    { "blkio-weight", 0, OPT_TEXT, AT (blkio_weight), "N", "weight of block I/O, 10 to 1000" },
    { "cpu-period", 0, OPT_TEXT, AT (cpu_period), "US", "length of a period" },
    { "cpu-quota", 0, OPT_TEXT, AT (cpu_quota), "US", "time in a period; -1: no limit" },
    { "cpu-burst", 0, OPT_TEXT, AT (cpu_burst), "US", "time that may be saved up" },
    { "cpu-share", 0, OPT_TEXT, AT (cpu_share), "N", "relative share, 2 to 262144" },
    { "cpu-idle", 0, OPT_TEXT, AT (cpu_idle), "0|1", "1: only when nothing else runs" },
    { "cpu-rt-period", 0, OPT_TEXT, AT (cpu_rt_period), "US", "period of real-time scheduling" },
    { "cpu-rt-runtime", 0, OPT_TEXT, AT (cpu_rt_runtime), "US", "time of real-time scheduling" },
    { "cpuset-cpus", 0, OPT_TEXT, AT (cpuset_cpus), "LIST", "processors, e.g. 0-3,7" },
    { "cpuset-mems", 0, OPT_TEXT, AT (cpuset_mems), "LIST", "memory nodes" },
    { "memory", 0, OPT_TEXT, AT (memory), "SIZE", "memory, e.g. 64m; -1: no limit" },
    { "memory-reservation", 0, OPT_TEXT, AT (memory_reservation), "SIZE", "soft limit of memory" },
    { "memory-swap", 0, OPT_TEXT, AT (memory_swap), "SIZE", "memory and swap together" },
    { "pids-limit", 0, OPT_TEXT, AT (pids_limit), "N", "most tasks; -1: no limit" },
    { "l3-cache-schema", 0, OPT_TEXT, AT (l3_cache_schema), "TEXT", "needs Intel RDT" },
    { "mem-bw-schema", 0, OPT_TEXT, AT (mem_bw_schema), "TEXT", "needs Intel RDT" },
    { "kernel-memory", 0, OPT_TEXT, AT (kernel_memory), "SIZE", "accepted without effect" },
    { "kernel-memory-tcp", 0, OPT_TEXT, AT (kernel_memory_tcp), "SIZE", "accepted without effect" },
    {},
};

/* The resources that the options spell. */
struct built {
    struct oci_linux_resources resources;
    struct oci_memory memory;
    struct oci_cpu cpu;
    struct oci_block_io io;
    struct oci_pids pids;
};

enum number_kind { NUM_SIGNED, NUM_UNSIGNED, NUM_U16, NUM_SIZE };

#define NUMBER(option, kind, section, member)                                                      \
    {                                                                                              \
        AT (option), kind, offsetof (struct built, section.member),                                \
            offsetof (struct built, section.has_##member)                                          \
    }

static const struct number {
    size_t option;
    enum number_kind kind;
    size_t value, has;
} numbers[] = {
    NUMBER (blkio_weight, NUM_U16, io, weight),
    NUMBER (cpu_period, NUM_UNSIGNED, cpu, period),
    NUMBER (cpu_quota, NUM_SIGNED, cpu, quota),
    NUMBER (cpu_burst, NUM_UNSIGNED, cpu, burst),
    NUMBER (cpu_share, NUM_UNSIGNED, cpu, shares),
    NUMBER (cpu_idle, NUM_SIGNED, cpu, idle),
    NUMBER (cpu_rt_period, NUM_UNSIGNED, cpu, realtime_period),
    NUMBER (cpu_rt_runtime, NUM_SIGNED, cpu, realtime_runtime),
    NUMBER (memory, NUM_SIZE, memory, limit),
    NUMBER (memory_reservation, NUM_SIZE, memory, reservation),
    NUMBER (memory_swap, NUM_SIZE, memory, swap),
    NUMBER (kernel_memory, NUM_SIZE, memory, kernel),
    NUMBER (kernel_memory_tcp, NUM_SIZE, memory, kernel_tcp),
    NUMBER (pids_limit, NUM_SIGNED, pids, limit),
};

static const char *text_of (const struct update_options *o, size_t option)
{
    const char *text;

    memcpy (&text, (const char *)o + option, sizeof text);
    return text;
}

/* "--cpu-quota": its name in the table. */
static const char *name_of (size_t option, char *buf, size_t size)
{
    const struct opt *o = update_table;

    while (o->offset != option)
        o++;
    (void)snprintf (buf, size, "--%s", o->name);
    return buf;
}

static int set_number (const struct number *n, const char *text, struct built *to, struct err *e)
{
    char name[32];
    const char *what = name_of (n->option, name, sizeof name);
    void *at = (char *)to + n->value;
    uint64_t u = 0;
    int r;

    if (n->kind == NUM_SIZE)
        r = num_size (text, what, at, e);
    else if (n->kind == NUM_SIGNED)
        r = num_i64 (text, what, n->option == AT (cpu_idle) ? 0 : INT64_MIN,
                     n->option == AT (cpu_idle) ? 1 : INT64_MAX, at, e);
    else
        r = num_u64 (text, what, 0, n->kind == NUM_U16 ? UINT16_MAX : UINT64_MAX, &u, e);
    if (r < 0)
        return r;
    if (n->kind == NUM_UNSIGNED)
        memcpy (at, &u, sizeof u);
    if (n->kind == NUM_U16)
        *(uint16_t *)at = (uint16_t)u;
    *(bool *)((char *)to + n->has) = true;
    return 0;
}

static int build (const struct update_options *o, struct built *to, struct err *e)
{
    *to = (struct built){ .cpu = { .cpus = o->cpuset_cpus, .mems = o->cpuset_mems } };
    for (size_t i = 0; i < ARRAY_LEN (numbers); i++) {
        const char *text = text_of (o, numbers[i].option);

        if (text && set_number (&numbers[i], text, to, e) < 0)
            return -e->code;
    }
    to->resources = (struct oci_linux_resources){
        .memory = &to->memory, .cpu = &to->cpu, .pids = &to->pids, .block_io = &to->io
    };
    return 0;
}

/* A container has no class of its own there: /linux/intelRdt is refused when it is made. */
static int refuse_rdt (const struct update_options *o, struct err *e)
{
    if (o->l3_cache_schema)
        return err_set (e, ENOTSUP,
                        "--l3-cache-schema: Intel RDT/CAT: l3 cache schema is not enabled");
    if (o->mem_bw_schema)
        return err_set (e, ENOTSUP,
                        "--mem-bw-schema: Intel RDT/MBA: memory bandwidth schema is not enabled");
    return 0;
}

static int run_update (const struct call *c, struct err *e)
{
    const struct update_options *o = c->options;
    struct built built;
    const struct container_update_options update = { .id = c->operands[0],
                                                     .file = o->resources,
                                                     .resources = &built.resources };

    if (refuse_rdt (o, e) < 0 || build (o, &built, e) < 0)
        return -e->code;
    return container_update (&c->env, &update, e);
}

const struct command cmd_update = {
    .name = "update",
    .summary = "Changes the limits of a container",
    .rule = { .tables = { update_table }, .usage = "ID", .min = 1, .max = 1 },
    .options_size = sizeof (struct update_options),
    .needs_env = true,
    .takes_id = true,
    .run = run_update,
};
