#include "cmd/regex.h"

#include <errno.h>
#include <regex.h>

#include "base/cleanup.h"
#include "base/log.h"

struct matches {
    const char *const *ids;
    size_t n;
    regex_t pattern;
};

static int read_ids (const struct call *c, struct matches *m, struct err *e)
{
    AUTO_FD root = -1;

    if (state_open_root (c->env.root, false, &root, e) < 0)
        return -e->code;
    return root < 0 ? 0 : state_list (root, c->arena, &m->ids, &m->n, e);
}

static int compile (const char *text, regex_t *ret, struct err *e)
{
    char why[128];
    int r = regcomp (ret, text, REG_EXTENDED | REG_NOSUB);

    if (r == 0)
        return 0;
    (void)regerror (r, ret, why, sizeof why);
    return err_set (e, r == REG_ESPACE ? ENOMEM : EINVAL, "--regex: '%.200s': %s", text, why);
}

int regex_each (const struct call *c,
                int (*act) (const struct call *c, const char *id, struct err *e), struct err *e)
{
    struct matches m = { 0 };
    size_t matched = 0;
    size_t failed = 0;

    if (read_ids (c, &m, e) < 0 || compile (c->operands[0], &m.pattern, e) < 0)
        return -e->code;
    for (size_t i = 0; i < m.n; i++) {
        struct err why = { 0 };

        if (regexec (&m.pattern, m.ids[i], 0, NULL, 0) != 0)
            continue;
        matched++;
        if (act (c, m.ids[i], &why) == 0)
            continue;
        failed++;
        log_line (LOG_WARN, "%s: %s", m.ids[i], why.msg);
    }
    regfree (&m.pattern);
    if (failed > 0)
        return err_set (e, EIO, "--regex: failed for %zu of %zu containers", failed, matched);
    return 0;
}
