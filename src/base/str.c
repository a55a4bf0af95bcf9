#include "base/str.h"

#include <string.h>

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

bool str_is_id (const char *s)
{
    static const char allowed[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_+.-";
    size_t len = strspn (s, allowed);

    return len > 0 && len <= ID_MAX && s[len] == '\0' && s[0] != '.' && s[0] != '-';
}
