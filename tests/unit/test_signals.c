#include <signal.h>

#include "cmd/signals.h"
#include "tap.h"

static const struct {
    const char *text;
    int sig;
} good[] = {
    { "9", SIGKILL },
    { "0", 0 },
    { "64", 64 },
    { "KILL", SIGKILL },
    { "SIGKILL", SIGKILL },
    { "sigterm", SIGTERM },
    { "Hup", SIGHUP },
    { "SIGUSR1", SIGUSR1 },
    { "WINCH", SIGWINCH },
    { "CHLD", SIGCHLD },
    { "CLD", SIGCHLD },
    { "IO", SIGIO },
    { "POLL", SIGPOLL },
    { "IOT", SIGABRT },
    { "SYS", SIGSYS },
    { "UNUSED", SIGSYS },
    { "STKFLT", SIGSTKFLT },
    { "RTMIN", 34 },
    { "SIGRTMIN+3", 37 },
    { "rtmin+30", 64 },
    { "RTMAX", 64 },
    { "SIGRTMAX-1", 63 },
    { "RTMIN+0", 34 },
};

static const char *const bad[] = {
    "",        "65",      "-9",       "+9",     "9 ",         " 9",
    "0x9",     "SIG",     "KIL",      "KILLS",  "SIGSIGKILL", "RTMIN+31",
    "RTMIN-1", "RTMAX+1", "RTMAX-31", "RTMIN+", "RTMIN3",     "99999999999999999999",
    "--all",   "%s%n",
};

int main (void)
{
    struct err e = {};

    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        (void)ok (signal_parse (good[i].text, &e) == good[i].sig, "'%s' is %d", good[i].text,
                  good[i].sig);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        e = (struct err){};
        (void)ok (signal_parse (bad[i], &e) < 0 && strstr (e.msg, "invalid signal"), "'%s' is none",
                  bad[i]);
    }
    return tap_done ();
}
