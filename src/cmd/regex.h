#pragma once
/*
 * Commands on every container whose id matches a pattern: --regex of kill and delete, as in crun.
 */
#include "cmd/cmd.h"

/* Calls ACT for each container of the state root whose id, or a part of it, matches operand 0, an
 * extended regular expression (regex(7)). All get their turn: one that fails is told as a warning,
 * and then the whole is an error. None at all is no error. */
int regex_each (const struct call *c,
                int (*act) (const struct call *c, const char *id, struct err *e), struct err *e);
