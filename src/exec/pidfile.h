#pragma once
/*
 * The pid file: decimal, no newline (go-runc's Atoi fails on one), complete or not there.
 */
#include <sys/types.h>

#include "libocispec/err.h"

int pidfile_write (const char *path, pid_t pid, struct err *e);
int pidfile_check (const char *path, pid_t pid, struct err *e);
