#pragma once
/*
 * --no-pivot: the host's tree stays in the container's mount namespace, below the moved root and
 * out of reach. The kernel still sees its procfs and sysfs there: each of them would justify a new
 * one, with nothing masked, in a nested user namespace (mount_too_revealing). So they are taken
 * away.
 */
#include "mnt/mnt.h"

/* Parent: where all of them are, into RET->revealing. */
int unpivoted_find (const struct plan *p, struct arena *a, struct mnt_sources *ret, struct err *e);
/* Child, before its root is moved over "/". */
int unpivoted_hide (const struct mnt *m, struct err *e);
