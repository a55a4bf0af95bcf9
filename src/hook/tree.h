#pragma once
/*
 * What a hook has started: found by being children of ours, because the caller is a subreaper while
 * hooks run. A session or a group of its own hides nothing from that.
 */
#include <sys/types.h>

/* Kills and reaps all children but OTHERS (0: none), and theirs, which become ours, until there is
 * none; at most 5 s. 0, or a negative errno. */
int tree_kill (pid_t others);
