#pragma once
/*
 * Where a cgroup v1 controller is mounted, as libcgroup finds it. v1.c is that library's only
 * home; its header and ours both speak of `struct cgroup`, so v1.c includes this header and not
 * cgroup.h.
 */
#include <stdbool.h>

#include "libocispec/arena.h"
#include "libocispec/err.h"

/* Is the root of a v1 hierarchy, or a part of it, mounted at PATH? The kernel tells. */
bool v1_is_mounted (const char *path);

/* The first place where CONTROLLER ("memory", "name=elogind") is mounted; *RET is NULL when it is
 * not mounted anywhere. Slow: see v1.c. */
int v1_find (const char *controller, struct arena *a, const char **ret, struct err *e);
