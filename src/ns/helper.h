#pragma once
/*
 * Runs one of the host's setuid helpers (newuidmap, newgidmap). Internal to ns/.
 */
#include "libocispec/err.h"

/* Runs ARGV[0] (an absolute path) with a clean environment and no descriptor but 0-2, waits for it
 * (at most 10 s) and makes its failure, with the start of what it wrote, an error. */
int helper_run (char *const argv[], struct err *e);
