#pragma once
/*
 * Inside mnt/: opening what is mounted. The parent does it while the host is reachable; in a
 * rootless run the child does the same inside its user namespace.
 */
#include "mnt/mnt.h"

/* Opens the rootfs, the binds and /dev/null into S, whose array is there already. -EPERM before
 * anything is open means that the caller may not clone mounts at all. */
int sources_open (const struct plan *p, struct mnt_sources *s, struct err *e);

/* With more mounts than this no descriptor is kept open without need: a process may have no more
 * than 1024. */
#define MNT_MANY 128

/* In the child, a bind that the parent had no descriptor left for. */
int sources_open_late (const struct plan *p, const struct plan_mount *pm, struct err *e);

/* "/mounts[N]" before the error; the runtime's own mounts go by their destination. Returns the
 * code. */
int sources_blame (const struct plan_mount *pm, struct err *e);

/* All MOUNT_ATTR_* of the mount itself: those said of it alone come after those of all below it. */
uint64_t mount_attrs (const struct plan_mount *pm);
