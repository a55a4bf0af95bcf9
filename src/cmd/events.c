/* events: what a container uses, line by line. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/num.h"
#include "cmd/cmd.h"

#define INTERVAL_DEFAULT_MS 5000
#define INTERVAL_MAX_MS     ((uint64_t)1 << 40)

struct events_options {
    bool stats;
    const char *interval;
};

#define AT(member) offsetof (struct events_options, member)

static const struct opt events_table[] = {
    { "stats", 0, OPT_FLAG, AT (stats), NULL, "what it uses now, once" },
    { "interval", 0, OPT_TEXT, AT (interval), "TIME",
      "between two lines, e.g. 500ms; default: 5s" },
    {},
};

/* TEXT: a number and ms, s, m or h, as Go writes durations; without fractions and sums. */
static int parse_interval (const char *text, int64_t *ret, struct err *e)
{
    static const struct {
        const char *unit;
        uint64_t ms;
    } units[] = { { "ms", 1 }, { "s", 1000 }, { "m", 60000 }, { "h", 3600000 } };
    size_t digits = strspn (text, "0123456789");
    char number[16] = "";
    uint64_t n = 0;

    if (digits > 0 && digits < sizeof number)
        memcpy (number, text, digits);
    for (size_t i = 0; i < ARRAY_LEN (units); i++) {
        if (strcmp (text + digits, units[i].unit) != 0)
            continue;
        if (num_u64 (number, "--interval", 1, INTERVAL_MAX_MS / units[i].ms, &n, e) < 0)
            return err_set (e, EINVAL, "duration interval must be greater than 0, and a number");
        *ret = (int64_t)(n * units[i].ms);
        return 0;
    }
    return err_set (e, EINVAL, "--interval: '%.64s' is no number with ms, s, m or h", text);
}

static int print_line (const struct strbuf *line, struct err *e)
{
    if (print_text (line, e) < 0)
        return -e->code;
    return fflush (stdout) == 0 ? 0 : err_sys (e, "write to standard output");
}

static int run_events (const struct call *c, struct err *e)
{
    const struct events_options *o = c->options;
    struct container_events_options events = { .id = c->operands[0],
                                               .stats = o->stats,
                                               .interval_ms = INTERVAL_DEFAULT_MS,
                                               .report = print_line };

    if (o->interval && parse_interval (o->interval, &events.interval_ms, e) < 0)
        return -e->code;
    return container_events (&c->env, &events, e);
}

const struct command cmd_events = {
    .name = "events",
    .summary = "Tells what a container uses, and when its memory is out",
    .rule = { .tables = { events_table }, .usage = "ID", .min = 1, .max = 1 },
    .options_size = sizeof (struct events_options),
    .needs_env = true,
    .takes_id = true,
    .run = run_events,
};
