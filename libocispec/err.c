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

/* Engines match "no such file or directory" and "permission denied" in lower case (docker's exit
 * codes 126 and 127), so the system's own texts are lowered: one spelling everywhere. */
static void append_strerror (char *msg, size_t size, int code)
{
    size_t len = strlen (msg);

    (void)snprintf (msg + len, size - len, ": %s", strerrordesc_np (code) ?: "unknown error");
    if (len + 2 < size && msg[len + 2] >= 'A' && msg[len + 2] <= 'Z')
        msg[len + 2] = (char)(msg[len + 2] - 'A' + 'a');
}

int err_sys (struct err *e, const char *fmt, ...)
{
    int code = errno ?: EIO;
    va_list ap;

    e->code = code;
    va_start (ap, fmt);
    (void)vsnprintf (e->msg, sizeof e->msg, fmt, ap);
    va_end (ap);
    append_strerror (e->msg, sizeof e->msg, code);
    return -code;
}

int err_sym (struct err *e, const char *fmt, ...)
{
    int code = errno ?: EIO;
    size_t len;
    va_list ap;

    e->code = code;
    va_start (ap, fmt);
    (void)vsnprintf (e->msg, sizeof e->msg, fmt, ap);
    va_end (ap);
    len = strlen (e->msg);
    (void)snprintf (e->msg + len, sizeof e->msg - len, ": %s", strerrorname_np (code) ?: "unknown");
    return -code;
}

int err_add (struct err *e, const char *fmt, ...)
{
    char text[ERR_MSG_MAX];
    size_t len;
    va_list ap;

    va_start (ap, fmt);
    (void)vsnprintf (text, sizeof text, fmt, ap);
    va_end (ap);
    len = strlen (text);
    if (snprintf (text + len, sizeof text - len, ": %s", e->msg) > 0) /* cut off is fine */
        memcpy (e->msg, text, sizeof text);
    return -e->code;
}

int err_oom (struct err *e)
{
    return err_set (e, ENOMEM, "out of memory");
}
