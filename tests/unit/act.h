#pragma once
/*
 * Acts that are tried in a process of their own: they succeed, or fail with a certain text.
 */
#include "child.h"
#include "tap.h"

static inline bool expect (child_fn *f, const void *arg, const char *name)
{
    struct err e = in_child (f, arg);

    return ok (e.code == 0, "%s%s%s", name, e.code ? ": " : "", e.code ? e.msg : "");
}

/* F fails with a text that has TEXT in it. */
static inline bool expect_error (child_fn *f, const void *arg, const char *text, const char *name)
{
    struct err e = in_child (f, arg);

    return ok (e.code > 0 && e.code != ECHILD && strstr (e.msg, text), "%s: %s", name, e.msg);
}

static inline int check (bool cond, const char *what, struct err *e)
{
    return cond ? 0 : err_set (e, EPROTO, "not so: %s", what);
}

/* In an act: leaves it when COND does not hold. */
#define CHECK(cond)                                                                                \
    do {                                                                                           \
        int check_ = check (cond, #cond, e);                                                       \
        if (check_ < 0)                                                                            \
            return check_;                                                                         \
    } while (0)

/* In an act: leaves it with the result of a call that failed. */
#define TRY(call)                                                                                  \
    do {                                                                                           \
        int try_ = (call);                                                                         \
        if (try_ < 0)                                                                              \
            return try_;                                                                           \
    } while (0)
