#pragma once
/*
 * Which user namespace this process is in. Owns nothing.
 */
#include <stdbool.h>

/* That of the machine, in which user ids mean what they say. */
bool userns_is_initial (void);
