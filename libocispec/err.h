#pragma once
/*
 * struct err: the one way a failure travels in agentrt.
 *
 * It lives in the caller's frame, holds no pointer (so it crosses a socket as one atomic message)
 * and is never allocated (so running out of memory is an error like any other). A function that can
 * fail returns 0 or a negative errno and fills the error exactly once; callers widen the text on
 * the way up ("mount 3: open '/x': ..."), and main prints it once. It never prints and never exits.
 */
#include <stdarg.h>

#define ERR_MSG_MAX 508

struct err {
    int code; /* positive errno value; 0 while nothing has failed */
    char msg[ERR_MSG_MAX];
};
_Static_assert(sizeof (struct err) == 512, "struct err is one 512-byte message");

/* Sets CODE (a positive errno) and the formatted text. Returns -CODE. */
int err_set (struct err *e, int code, const char *fmt, ...) __attribute__ ((format (printf, 3, 4)));

/* Like err_set with code errno, and ": <what errno means> (<its name>)" appended, in words that no
 * engine takes for an answer about the workload. Returns -errno (-EIO if errno is 0). */
int err_sys (struct err *e, const char *fmt, ...) __attribute__ ((format (printf, 2, 3)));

/* Puts "<formatted>: " before the text that is there. Keeps the code and returns -code. A text that
 * no longer fits loses its tail, never its head. */
int err_add (struct err *e, const char *fmt, ...) __attribute__ ((format (printf, 2, 3)));

/* Like err_add, for a place in a document: a text that begins with a place within it
 * ("/options: ...") is joined without ": ", so that both are one path. */
int err_at (struct err *e, const char *fmt, ...) __attribute__ ((format (printf, 2, 3)));

/* Sets ENOMEM. Returns -ENOMEM. */
int err_oom (struct err *e);
