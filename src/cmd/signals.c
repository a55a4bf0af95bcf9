#include "cmd/signals.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>

#include "base/cleanup.h"
#include "base/num.h"

static const struct {
    const char *name;
    int sig;
} aliases[] = { { "CLD", SIGCHLD }, { "IO", SIGIO }, { "IOT", SIGIOT }, { "UNUSED", SIGSYS } };

static int from_name (const char *name)
{
    for (int sig = 1; sig < SIGRTMIN; sig++) {
        const char *known = sigabbrev_np (sig);

        if (known && strcasecmp (name, known) == 0)
            return sig;
    }
    for (size_t i = 0; i < ARRAY_LEN (aliases); i++)
        if (strcasecmp (name, aliases[i].name) == 0)
            return aliases[i].sig;
    return -EINVAL;
}

/* "RTMIN", "RTMIN+N", "RTMAX", "RTMAX-N". */
static int from_realtime (const char *name)
{
    bool up = strncasecmp (name, "RTMIN", 5) == 0;
    uint64_t span = (uint64_t)(SIGRTMAX - SIGRTMIN), n = 0;
    struct err ignored;

    if (!up && strncasecmp (name, "RTMAX", 5) != 0)
        return -EINVAL;
    name += 5;
    if (*name && (*name != (up ? '+' : '-') || num_u64 (name + 1, "", 0, span, &n, &ignored) < 0))
        return -EINVAL;
    return up ? SIGRTMIN + (int)n : SIGRTMAX - (int)n;
}

int signal_parse (const char *text, struct err *e)
{
    const char *name = strncasecmp (text, "SIG", 3) == 0 ? text + 3 : text;
    struct err ignored;
    uint64_t n;
    int sig;

    if (num_u64 (text, "", 0, (uint64_t)SIGRTMAX, &n, &ignored) == 0)
        return (int)n;
    sig = from_name (name);
    if (sig < 0)
        sig = from_realtime (name);
    if (sig < 0)
        return err_set (e, EINVAL, "invalid signal '%s': a number, or a name such as TERM", text);
    return sig;
}
