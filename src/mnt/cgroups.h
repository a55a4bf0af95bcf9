#pragma once
/*
 * Mounts of type cgroup: what a container sees of the control groups.
 *
 * On v2 one cgroup2 file system; on v1 and hybrid hosts a tmpfs with one folder per hierarchy, as
 * systemd lays it out. With a cgroup namespace they are mounted anew and begin at its root;
 * without one the container's own folder of each hierarchy is bound. What turns out to be a root
 * of the host is read-only whatever the config says (CVE-2022-0492, CVE-2023-25809).
 */
#include "mnt/mnt.h"

/* True for a new mount of type cgroup or cgroup2. */
bool cgroups_is_asked (const struct plan_mount *pm);

/* Parent: the host's hierarchies into RET->cgroups, if P mounts cgroups at all. */
int cgroups_find (const struct plan *p, struct arena *a, struct mnt_sources *ret, struct err *e);

/* Child: mounts over TARGET. Returns the mount, to be made read-only by the caller if asked. */
int cgroups_mount (const struct mnt *m, const struct plan_mount *pm, int target, struct err *e);
