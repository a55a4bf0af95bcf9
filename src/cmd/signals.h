#pragma once
/*
 * Signals as people and engines write them.
 */
#include "libocispec/err.h"

/* TEXT is a number (0 to 64), or a name in any case with or without SIG: "9", "KILL", "sigterm",
 * "RTMIN+3", "RTMAX-1". Returns the number or -EINVAL with "invalid signal 'TEXT'". 0 only looks
 * whether the process is there. */
int signal_parse (const char *text, struct err *e);
