#pragma once
/*
 * Self-protection: the running program cannot be written through /proc/PID/exe (CVE-2019-5736),
 * and a process in set-up cannot be looked into (CVE-2016-9962).
 */
#include <stdbool.h>

#include "libocispec/err.h"

/* True when the running program is a sealed memfd or on a read-only mount. PROCFS: see fd_procfs,
 * so a missing /proc is no matter. When it cannot be told, it is false. */
bool self_is_sealed (int procfs);

/* Runs the same command again from a detached read-only mount of the program, else from a sealed
 * memfd. What will be executed is put to the test of self_is_sealed first, so this never loops.
 * Returns only on failure. */
int self_seal (int procfs, char *const argv[], struct err *e);

/* PR_SET_DUMPABLE 0: files below /proc/PID become root's, ptrace needs CAP_SYS_PTRACE. execve ends
 * it. */
int self_hide (struct err *e);
int self_hide_check (struct err *e);

/* Overwrites the caller's environment in this process's memory. */
void self_forget_environment (void);
