#pragma once
/*
 * Signals of a process that is about to become somebody else's program.
 */

/* Every disposition at its default and no signal blocked: the state that a program may expect,
 * whatever our caller's was. Goes past glibc, which keeps 32 and 33 to itself and so would hand
 * on a caller's SIG_IGN for them. Cannot fail for a valid signal but KILL and STOP, which need
 * nothing. */
void signals_reset (void);
