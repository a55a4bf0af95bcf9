#include "policy/guard.h"

#include <string.h>

int guard_look (const struct guard_request *rq, struct arena *a, struct guard_findings *ret,
                struct err *e)
{
    (void)rq;
    (void)a;
    (void)e;
    *ret = (struct guard_findings){ 0 };
    return 0;
}

const struct guard_finding *guard_finding_of (const struct guard_findings *f, size_t index)
{
    for (size_t i = 0; i < f->n; i++)
        if (f->list[i].mount == index)
            return &f->list[i];
    return NULL;
}

const char *guard_text (const struct guard_finding *f, struct arena *a)
{
    return arena_printf (a, "'%s' %s '%s', %s (mount guard, %s)", f->shown, f->how, f->thing,
                         f->what, f->rule);
}

const struct guard_seen *guard_seen_of (const struct guard_findings *f, const char *source,
                                        bool nofollow)
{
    for (size_t i = 0; i < f->n_seen; i++)
        if (strcmp (f->seen[i].source, source) == 0 && f->seen[i].nofollow == nofollow)
            return &f->seen[i];
    return NULL;
}
