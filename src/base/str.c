#include "base/str.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#define ID_MAX 255 /* NAME_MAX: the id is the name of its state folder */

bool str_is_in (const char *s, const char *const *list)
{
    for (; *list; list++)
        if (strcmp (s, *list) == 0)
            return true;
    return false;
}

bool str_has_prefix (const char *s, const char *prefix)
{
    return strncmp (s, prefix, strlen (prefix)) == 0;
}

bool str_is_at_or_below (const char *path, const char *top)
{
    size_t n = strlen (top);

    return strncmp (path, top, n) == 0 && (path[n] == '\0' || path[n] == '/');
}

bool str_is_id (const char *s)
{
    static const char allowed[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_+.-";
    size_t len = strspn (s, allowed);

    return len > 0 && len <= ID_MAX && s[len] == '\0' && s[0] != '.' && s[0] != '-';
}

char *str_timestamp (char *buf)
{
    struct timespec ts = { 0 };
    struct tm tm = { 0 };
    size_t len;

    (void)clock_gettime (CLOCK_REALTIME, &ts);
    (void)gmtime_r (&ts.tv_sec, &tm);
    len = strftime (buf, STR_TIMESTAMP_MAX, "%Y-%m-%dT%H:%M:%S", &tm);
    (void)snprintf (buf + len, STR_TIMESTAMP_MAX - len, ".%09ldZ", ts.tv_nsec);
    return buf;
}

void str_unescape_octal (char *s)
{
    char *out = s;

    for (; *s; s++) {
        unsigned int c;

        if (s[0] == '\\' && sscanf (s + 1, "%3o", &c) == 1) {
            *out++ = (char)c;
            s += 3;
        } else {
            *out++ = *s;
        }
    }
    *out = '\0';
}
