#pragma once
/*
 * The container's cgroup as systemd's: a transient scope that holds it. Nobody but this folder
 * includes it.
 */
#include "cgroup/cgroup.h"
#include "cgroup/limits.h"
#include "spec/unitprop.h"

/* What the limits mean for the unit, as properties: an addition to what is written into cgroupfs,
 * so that systemd does not undo it when it writes its own. Pure. RET has room for UNIT_LIMITS_MAX.
 * What systemd has no property for is cgroupfs's alone. */
#define UNIT_LIMITS_MAX 64
struct unit_asked {
    const struct oci_linux_resources *resources; /* may be NULL */
    bool v2, devices;
    const char *cpu_max; /* "QUOTA PERIOD" as the kernel has it; NULL: what is asked for */
};
int unit_limits (const struct unit_asked *asked, struct arena *a, struct unitprop *ret,
                 size_t *ret_n, struct err *e);

/* cgroup_locate's part: asks the manager where the cgroup will be, "/a.slice/x.scope/sub". */
int unit_locate (const struct plan_cgroup *pc, struct arena *a, struct cgroup *cg,
                 const char **ret_path, struct err *e);
/* Refuses a unit whose cgroup is there already. */
int unit_refuse_used (const struct cgroup *cg, struct arena *a, struct err *e);
/* cgroup_update's part, after cgroupfs. RES are all limits, as they shall be. */
int unit_update (struct cgroup *cg, const struct oci_linux_resources *res, struct err *e);
/* Stops the unit, whose processes have been killed. Gone already is success. */
int unit_stop (struct cgroup *cg, struct err *e);

/* Does systemd itself make the folders of H's path down to the unit's? */
bool unit_makes (const struct cgroup *cg, const struct cgroup_hierarchy *h);
