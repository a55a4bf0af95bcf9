#include "cgroup/stats.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "cgroup/internal.h"

#define NS_PER_US 1000
#define NS_PER_S  1000000000

/* One cgroup and what is told of it. */
struct view {
    const struct cgroup_hierarchy *h; /* NULL: nobody counts this */
    bool v2;
    struct strbuf *out;
    struct arena *a;
};

static struct view view_of (const struct cgroup *cg, const char *controller, struct strbuf *out,
                            struct arena *a)
{
    const struct cgroup_hierarchy *h = cgroup_v1_home (cg, controller);
    struct view v = { .h = h ?: cgroup_v2_home (cg), .out = out, .a = a };

    if (v.h && v.h->dir < 0)
        v.h = NULL;
    v.v2 = v.h && cgroup_is_v2 (v.h);
    return v;
}

/* The file; "" where it is not there: what is not counted is 0. */
static const char *text_of (const struct view *v, const char *file)
{
    struct err ignored;
    char *text;

    return v->h && cgfile_read (v->h->dir, file, v->a, &text, &ignored) >= 0 ? text : "";
}

/* "max" and what is not there are 0. */
static uint64_t number_of (const struct view *v, const char *file)
{
    return strtoull (text_of (v, file), NULL, 10);
}

/* The number behind KEY in a file of "KEY NUMBER" lines. */
static uint64_t value_of (const struct view *v, const char *file, const char *key)
{
    struct err ignored;
    uint64_t n = 0;

    return v->h && cgfile_number (v->h->dir, file, key, &n, &ignored) >= 0 ? n : 0;
}

/* ---- cpu ---- */

static void add_percpu (const struct view *v)
{
    const char *text = v->v2 ? "" : text_of (v, "cpuacct.usage_percpu");
    const char *sep = ",\"percpu\":[";

    if (!*text || *text == '\n')
        return;
    for (char *end; *text && *text != '\n'; text = end + strspn (end, " ")) {
        strbuf_addf (v->out, "%s%" PRIu64, sep, (uint64_t)strtoull (text, &end, 10));
        sep = ",";
        if (end == text)
            break;
    }
    strbuf_adds (v->out, "]");
}

static uint64_t ticks (const struct view *v, const char *key)
{
    return value_of (v, "cpuacct.stat", key) * NS_PER_S / (uint64_t)sysconf (_SC_CLK_TCK);
}

static void add_cpu (const struct cgroup *cg, struct strbuf *out, struct arena *a)
{
    const struct view use = view_of (cg, "cpuacct", out, a);
    const struct view cpu = view_of (cg, "cpu", out, a);
    uint64_t total = use.v2 ? value_of (&use, "cpu.stat", "usage_usec") * NS_PER_US
                            : number_of (&use, "cpuacct.usage");
    uint64_t user =
        use.v2 ? value_of (&use, "cpu.stat", "user_usec") * NS_PER_US : ticks (&use, "user");
    uint64_t kernel =
        use.v2 ? value_of (&use, "cpu.stat", "system_usec") * NS_PER_US : ticks (&use, "system");

    strbuf_addf (out, "\"cpu\":{\"usage\":{\"total\":%" PRIu64, total);
    add_percpu (&use);
    strbuf_addf (out, ",\"kernel\":%" PRIu64 ",\"user\":%" PRIu64 "},", kernel, user);
    strbuf_addf (out,
                 "\"throttling\":{\"periods\":%" PRIu64 ",\"throttledPeriods\":%" PRIu64
                 ",\"throttledTime\":%" PRIu64 "}}",
                 value_of (&cpu, "cpu.stat", "nr_periods"),
                 value_of (&cpu, "cpu.stat", "nr_throttled"),
                 cpu.v2 ? value_of (&cpu, "cpu.stat", "throttled_usec") * NS_PER_US
                        : value_of (&cpu, "cpu.stat", "throttled_time"));
}

/* ---- memory ---- */

static void add_entry (struct strbuf *out, const char *name, const uint64_t n[4])
{
    strbuf_addf (out,
                 "\"%s\":{\"limit\":%" PRIu64 ",\"usage\":%" PRIu64 ",\"max\":%" PRIu64
                 ",\"failcnt\":%" PRIu64 "},",
                 name, n[0], n[1], n[2], n[3]);
}

static void add_v1_entry (const struct view *v, const char *name, const char *prefix)
{
    static const char *const files[] = { "limit_in_bytes", "usage_in_bytes", "max_usage_in_bytes",
                                         "failcnt" };
    uint64_t n[4];

    for (size_t i = 0; i < ARRAY_LEN (files); i++) {
        char file[64];

        (void)snprintf (file, sizeof file, "%s.%s", prefix, files[i]);
        n[i] = number_of (v, file);
    }
    add_entry (v->out, name, n);
}

/* "max" is what v1 says without a limit: the most that the kernel can count. */
static uint64_t v2_limit (const struct view *v, const char *file)
{
    return strncmp (text_of (v, file), "max", 3) == 0 ? UINT64_MAX : number_of (v, file);
}

/* As with v1, swap is memory and swap together. */
static void add_v2_entries (const struct view *v)
{
    uint64_t limit = v2_limit (v, "memory.max"), swap = v2_limit (v, "memory.swap.max");
    uint64_t usage = number_of (v, "memory.current");
    const uint64_t memory[] = { limit, usage, number_of (v, "memory.peak"),
                                value_of (v, "memory.events", "max") };
    const uint64_t both[] = { limit == UINT64_MAX || swap == UINT64_MAX ? UINT64_MAX : limit + swap,
                              usage + number_of (v, "memory.swap.current"), 0,
                              value_of (v, "memory.swap.events", "max") };

    add_entry (v->out, "usage", memory);
    add_entry (v->out, "swap", both);
}

static void add_raw (const struct view *v)
{
    const char *line = text_of (v, "memory.stat");
    const char *sep = "";

    strbuf_adds (v->out, "\"raw\":{");
    while (*line) {
        size_t len = strcspn (line, "\n"), key = strcspn (line, " \n");

        if (key < len) {
            strbuf_addf (v->out, "%s\"%.*s\":%" PRIu64, sep, (int)key, line,
                         (uint64_t)strtoull (line + key, NULL, 10));
            sep = ",";
        }
        line += len + (line[len] != '\0');
    }
    strbuf_adds (v->out, "}}");
}

static void add_memory (const struct cgroup *cg, struct strbuf *out, struct arena *a)
{
    const struct view v = view_of (cg, "memory", out, a);

    strbuf_addf (out, ",\"memory\":{\"cache\":%" PRIu64 ",",
                 value_of (&v, "memory.stat", v.v2 ? "file" : "cache"));
    if (v.v2) {
        add_v2_entries (&v);
    } else {
        add_v1_entry (&v, "usage", "memory");
        add_v1_entry (&v, "swap", "memory.memsw");
        add_v1_entry (&v, "kernel", "memory.kmem");
        add_v1_entry (&v, "kernelTCP", "memory.kmem.tcp");
    }
    add_raw (&v);
}

/* ---- pids, blkio, hugetlb ---- */

static void add_pids (const struct cgroup *cg, struct strbuf *out, struct arena *a)
{
    const struct view v = view_of (cg, "pids", out, a);

    strbuf_addf (out, ",\"pids\":{\"current\":%" PRIu64 ",\"limit\":%" PRIu64 "}",
                 number_of (&v, "pids.current"), number_of (&v, "pids.max"));
}

struct entry {
    unsigned int major, minor;
    const char *op;
    size_t op_len;
    uint64_t value;
};

static void add_io (struct strbuf *out, const char **sep, const struct entry *x)
{
    strbuf_addf (out, "%s{\"major\":%u,\"minor\":%u,\"op\":\"%.*s\",\"value\":%" PRIu64 "}", *sep,
                 x->major, x->minor, (int)x->op_len, x->op, x->value);
    *sep = ",";
}

/* Lines "8:0 Read 4096"; the last one, "Total 4096", is about no device. */
static void add_v1_io (const struct view *v, const char *file, const char **sep)
{
    const char *line = text_of (v, file);

    for (; *line; line += strcspn (line, "\n"), line += *line != '\0') {
        struct entry x;
        int at = 0;

        if (sscanf (line, "%u:%u %n", &x.major, &x.minor, &at) != 2 || at == 0)
            continue;
        x.op = line + at;
        x.op_len = strcspn (x.op, " \n");
        x.value = strtoull (x.op + x.op_len, NULL, 10);
        add_io (v->out, sep, &x);
    }
}

/* Lines "8:0 rbytes=1 wbytes=2 rios=3 wios=4 ...". */
static void add_v2_io (const struct view *v, const char *what, const char **sep)
{
    const char *line = text_of (v, "io.stat");

    for (; *line; line += strcspn (line, "\n"), line += *line != '\0') {
        static const char *const ops[] = { "Read", "Write" };
        struct entry x;

        if (sscanf (line, "%u:%u", &x.major, &x.minor) != 2)
            continue;
        for (size_t i = 0; i < ARRAY_LEN (ops); i++) {
            char key[16];
            const char *at;

            (void)snprintf (key, sizeof key, " %c%s=", i ? 'w' : 'r', what);
            at = strstr (line, key);
            if (!at || at > line + strcspn (line, "\n"))
                continue;
            x.op = ops[i];
            x.op_len = strlen (ops[i]);
            x.value = strtoull (at + strlen (key), NULL, 10);
            add_io (v->out, sep, &x);
        }
    }
}

static void add_blkio (const struct cgroup *cg, struct strbuf *out, struct arena *a)
{
    static const struct {
        const char *name, *v1, *v2;
    } kinds[] = {
        { "ioServiceBytesRecursive", "blkio.throttle.io_service_bytes_recursive", "bytes" },
        { "ioServicedRecursive", "blkio.throttle.io_serviced_recursive", "ios" },
    };
    const struct view v = view_of (cg, "blkio", out, a);

    strbuf_adds (out, ",\"blkio\":{");
    for (size_t i = 0; i < ARRAY_LEN (kinds); i++) {
        const char *sep = "";

        strbuf_addf (out, "%s\"%s\":[", i ? "," : "", kinds[i].name);
        if (v.v2)
            add_v2_io (&v, kinds[i].v2, &sep);
        else
            add_v1_io (&v, kinds[i].v1, &sep);
        strbuf_adds (out, "]");
    }
    strbuf_adds (out, "}");
}

static void add_hugetlb (const struct cgroup *cg, struct strbuf *out, struct arena *a)
{
    static const char *const sizes[] = { "64KB", "2MB", "32MB", "512MB", "1GB", "16GB" };
    const struct view v = view_of (cg, "hugetlb", out, a);
    const char *sep = "";

    strbuf_adds (out, ",\"hugetlb\":{");
    for (size_t i = 0; i < ARRAY_LEN (sizes); i++) {
        char now[64], peak[64], fail[64];

        (void)snprintf (now, sizeof now, "hugetlb.%s.%s", sizes[i],
                        v.v2 ? "current" : "usage_in_bytes");
        (void)snprintf (peak, sizeof peak, "hugetlb.%s.max_usage_in_bytes", sizes[i]);
        (void)snprintf (fail, sizeof fail, "hugetlb.%s.%s", sizes[i], v.v2 ? "events" : "failcnt");
        if (!*text_of (&v, now))
            continue;
        strbuf_addf (out,
                     "%s\"%s\":{\"usage\":%" PRIu64 ",\"max\":%" PRIu64 ",\"failcnt\":%" PRIu64 "}",
                     sep, sizes[i], number_of (&v, now), number_of (&v, peak),
                     v.v2 ? value_of (&v, fail, "max") : number_of (&v, fail));
        sep = ",";
    }
    strbuf_adds (out, "}");
}

/* ---- the whole ---- */

int cgroup_stats (const struct cgroup *cg, struct strbuf *out, struct err *e)
{
    AUTO_ARENA a = { 0 };

    strbuf_adds (out, "{");
    add_cpu (cg, out, &a);
    add_memory (cg, out, &a);
    add_pids (cg, out, &a);
    add_blkio (cg, out, &a);
    add_hugetlb (cg, out, &a);
    strbuf_adds (out, ",\"intel_rdt\":{},\"network_interfaces\":null}");
    return out->failed ? err_oom (e) : 0;
}

/* cgroup v1 writes to an eventfd that is registered together with memory.oom_control. */
static int watch_v1 (int dir, struct err *e)
{
    AUTO_FD control = cgfile_open (dir, "memory.oom_control", O_RDONLY, e);
    AUTO_FD event = control < 0 ? -1 : eventfd (0, EFD_CLOEXEC | EFD_NONBLOCK);
    char line[32];

    if (control < 0)
        return control;
    if (event < 0)
        return err_sys (e, "eventfd");
    (void)snprintf (line, sizeof line, "%d %d", event, control);
    if (cgfile_write (dir, "cgroup.event_control", line, e) < 0)
        return -e->code;
    return TAKE_FD (event);
}

int cgroup_oom_watch (const struct cgroup *cg, short *ret_events, struct err *e)
{
    const struct cgroup_hierarchy *h = cgroup_v1_home (cg, "memory");
    bool v1 = h != NULL;

    h = h ?: cgroup_v2_home (cg);
    if (!h || h->dir < 0)
        return err_set (e, ESRCH, "there is no memory cgroup to watch");
    *ret_events = v1 ? POLLIN : POLLPRI;
    return v1 ? watch_v1 (h->dir, e) : cgfile_open (h->dir, "memory.events", O_RDONLY, e);
}
