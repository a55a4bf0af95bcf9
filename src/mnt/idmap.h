#pragma once
/*
 * Id-mapped mounts: user namespaces that only carry a mapping, and mounts that use it.
 */
#include <stdbool.h>

#include "libocispec/err.h"
#include "spec/mntopt.h"

/* A user namespace with MAPS in it and no process, as a descriptor. Needs the right to write any
 * mapping: for the host's root. PROCFS: see fd_procfs. */
int idmap_userns (const struct plan_idmaps *maps, int procfs, struct err *e);

/* Ids of the detached mount FD are shown through USERNS. A file system that cannot is named in the
 * error. */
int idmap_apply (int fd, int userns, bool recursive, struct err *e);
