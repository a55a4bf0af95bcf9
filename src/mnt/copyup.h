#pragma once
/*
 * tmpcopyup: a tmpfs that starts with a copy of what it covers.
 *
 * Copied are folders, regular files and symbolic links with owner, mode, times and extended
 * attributes; hard links become files of their own. Sockets, FIFOs and devices are left out, and
 * so is what other file systems have mounted below. The size of the tmpfs is the limit of the
 * bytes.
 */
#include "libocispec/err.h"

/* Copies the contents and attributes of folder FROM to folder TO. Runs with umask 0. */
int copyup (int from, int to, struct err *e);
