#include "err.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

int err_set (struct err *e, int code, const char *fmt, ...)
{
    va_list ap;

    e->code = code;
    va_start (ap, fmt);
    (void)vsnprintf (e->msg, sizeof e->msg, fmt, ap);
    va_end (ap);
    return -code;
}

/* Docker and Podman search a runtime's message for the system's texts and take them for an answer
 * about the workload: "no such file or directory" becomes exit code 127, "permission denied" 126
 * (oci-matrix 1.6). Those of the runtime's own failures are in other words. */
static const struct {
    int code;
    const char *text;
} own_words[] = {
    { ENOENT, "it is not there" }, { EACCES, "access refused" },
    { EPERM, "not allowed" },      { ENOTDIR, "something on the path is no folder" },
    { EISDIR, "it is a folder" },
};

static const char *describe (int code)
{
    for (size_t i = 0; i < sizeof own_words / sizeof own_words[0]; i++)
        if (own_words[i].code == code)
            return own_words[i].text;
    return strerrordesc_np (code) ?: "unknown error";
}

int err_sys (struct err *e, const char *fmt, ...)
{
    int code = errno ?: EIO;
    const char *name = strerrorname_np (code) ?: "unnamed";
    size_t len;
    va_list ap;

    e->code = code;
    va_start (ap, fmt);
    (void)vsnprintf (e->msg, sizeof e->msg, fmt, ap);
    va_end (ap);
    len = strlen (e->msg);
    (void)snprintf (e->msg + len, sizeof e->msg - len, ": %s (%s)", describe (code), name);
    if (len + 2 < sizeof e->msg && e->msg[len + 2] >= 'A' && e->msg[len + 2] <= 'Z')
        e->msg[len + 2] = (char)(e->msg[len + 2] - 'A' + 'a'); /* one sentence, one spelling */
    return -code;
}

__attribute__ ((format (printf, 3, 0))) static int put_before (struct err *e, const char *joint,
                                                               const char *fmt, va_list ap)
{
    char text[ERR_MSG_MAX];
    size_t len;

    (void)vsnprintf (text, sizeof text, fmt, ap);
    len = strlen (text);
    if (snprintf (text + len, sizeof text - len, "%s%s", joint, e->msg) > 0) /* cut off is fine */
        memcpy (e->msg, text, sizeof text);
    return -e->code;
}

int err_add (struct err *e, const char *fmt, ...)
{
    va_list ap;
    int r;

    va_start (ap, fmt);
    r = put_before (e, ": ", fmt, ap);
    va_end (ap);
    return r;
}

int err_at (struct err *e, const char *fmt, ...)
{
    va_list ap;
    int r;

    va_start (ap, fmt);
    r = put_before (e, e->msg[0] == '/' ? "" : ": ", fmt, ap);
    va_end (ap);
    return r;
}

int err_oom (struct err *e)
{
    return err_set (e, ENOMEM, "out of memory");
}
