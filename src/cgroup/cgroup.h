#pragma once
/*
 * One container's control group: found, made, limited, entered, frozen, counted, killed, removed.
 *
 * Works on cgroup v2, on v1 and on hybrid hosts (v1 controllers plus a cgroup2 hierarchy, which
 * then only serves cgroup.kill and what v1 has not). v1 hierarchies are found at their usual
 * places, else by libcgroup (which has no other home than v1.c); everything that touches a cgroup
 * goes through directory descriptors and openat2 BENEATH, so a path in a config cannot leave its
 * hierarchy (oci-matrix 2.3, security.md A46). Never moves a process other than the container's
 * own, never removes a cgroup that it did not make.
 */
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "plan/plan.h"

enum cgroup_layout { CGROUP_NONE, CGROUP_V1, CGROUP_HYBRID, CGROUP_V2 };

#define CGROUP_MAX_HIERARCHIES 16

struct bus;

struct cgroup_hierarchy {
    const char *controllers; /* v1: "memory" or "cpu,cpuacct" or "name=systemd"; v2: "" */
    const char *mountpoint;  /* /sys/fs/cgroup/memory */
    const char *path; /* of the container's cgroup, below the mount point, starting with '/' */
    int dir;          /* directory descriptor of that cgroup, -1 until made or opened */
    int tasks;        /* what cgroup_enter writes to, once that is prepared; else -1 */
    /* cgroup_create made (and cgroup_remove removes) it. Told by cgroup_locate already: it was
     * not there yet. One that the config names and that was there, empty, is used and stays
     * (runtime.md, "Delete": only what create made), as do the folders on the way, which other
     * containers share. One at the default path is a left-over of ours, and made anew. */
    bool made;
};

/* The systemd unit that holds the container's cgroup. systemd makes it for a process that lives, so
 * the order is another one: locate, clone, cgroup_unit_start, cgroup_create, which puts the process
 * into what it makes, cgroup_limit; meanwhile the process waits. */
struct cgroup_unit {
    const char *name; /* NULL: there is none */
    const char *address;
    struct bus *bus; /* connection, NULL until needed */
    size_t path_len; /* of its own cgroup's path; the container's may lie below */
    pid_t pid;       /* the process that it is made for */
    bool is_awaited; /* it is yet to be started */
};

struct cgroup {
    enum cgroup_layout layout;
    struct cgroup_unit unit;
    struct cgroup_hierarchy h[CGROUP_MAX_HIERARCHIES]; /* with HYBRID, the cgroup2 one comes last */
    size_t n;
    bool given;           /* the path was in the config: not being allowed to make it is an error */
    bool fresh;           /* cgroup_create came first: no process is in it yet */
    bool no_clone_into;   /* set by the caller: enter without CLONE_INTO_CGROUP, see below */
    uint32_t device_prog; /* v2: id of the device filter that cgroup_limit attached, 0 = none */
};

/* Which layout this host has and where the container's cgroup would be in each hierarchy: an
 * absolute path counts from the mount point, a relative one from the caller's own cgroup, and the
 * default one of whoever is not root of the host from where that user may make cgroups. Changes
 * nothing, but what it found is fit for cgroup_save: a create that is killed half-way can be
 * cleaned up. A default path that is in use is refused here. */
int cgroup_locate (const struct plan_cgroup *pc, struct arena *a, struct cgroup *ret,
                   struct err *e);

/* Located: the path of the cgroup above CG's that holds processes of another pid namespace than the
 * caller's, so is another container's (whoever made that one); NULL: none. The one that the caller
 * is in, as seen in PROCFS, does not count. */
int cgroup_outer (const struct cgroup *cg, int procfs, struct arena *a, const char **ret,
                  struct err *e);

/* From what the state directory kept (the same paths), without looking at any config. Opens what
 * still exists. */
int cgroup_reopen (const struct oci_saved_cgroup *saved, struct arena *a, struct cgroup *ret,
                   struct err *e);
/* systemd makes the unit and puts PID into it, with the limits as its properties. */
int cgroup_unit_start (struct cgroup *cg, const struct plan_cgroup *pc, pid_t pid, struct err *e);
/* For exec: systemd puts PID into the container's cgroup. */
int cgroup_unit_attach (struct cgroup *cg, pid_t pid, struct err *e);
/* PROCFS/PID/cgroup says so, in the hierarchies that are systemd's. */
int cgroup_unit_check (const struct cgroup *cg, int procfs, pid_t pid, struct err *e);

/* The part of the state that cgroup_reopen needs. */
int cgroup_save (const struct cgroup *cg, struct arena *a, struct oci_saved_cgroup *ret,
                 struct err *e);

/* Makes the cgroup in each hierarchy. One that exists and is not empty, or is frozen, is refused
 * (as runc does). v2: controllers are enabled from the top down. v1: cpuset.cpus and mems are
 * inherited. Where the caller may not make it (EACCES, EPERM, EROFS) and neither a path nor a
 * limit of one of its controllers was asked for, the hierarchy is left out; with all left out the
 * layout is NONE. RES may be NULL. A failure leaves nothing behind, or open what could not be
 * removed. */
int cgroup_create (struct cgroup *cg, const struct oci_linux_resources *res, struct err *e);

/* Writes every limit. Used by create. A controller that is missing is an error that
 * names it and the config key ("/linux/resources/memory/limit: ..."). After cgroup_create also the
 * device rules, with RES NULL the default ones: v1 devices.allow, v2 an eBPF program, attached
 * before any older one is detached. */
int cgroup_limit (struct cgroup *cg, const struct oci_linux_resources *res, struct err *e);
/* Reads all of it back. A value that the kernel changed is an error, but for rounding to pages. */
int cgroup_limit_check (const struct cgroup *cg, const struct oci_linux_resources *res,
                        struct err *e);

/* New limits for a container that runs. */
struct cgroup_update {
    const struct oci_linux_resources *kept;   /* as they are said to be; may be NULL */
    const struct oci_linux_resources *asked;  /* what the update names, to know which */
    const struct oci_linux_resources *wanted; /* all of them, as they shall be */
    int (*commit) (void *data, struct err *e);
    void *data;
};
/* Writes what is asked for, and what else is wanted otherwise than it was; reads it back; commits.
 * All or nothing: when one of these fails, every file gets back what it had, and if that fails,
 * too, E says so. With checkBeforeUpdate less memory than is in use is -EBUSY. Device rules stay,
 * as with runc. */
int cgroup_update (struct cgroup *cg, const struct cgroup_update *u, struct err *e);

/* Gives what cgroup_create made to PC's owner (config-linux.md, "Cgroup ownership"; v1 likewise).
 * Its limits stay root's: only folder and membership change hands. */
int cgroup_delegate (const struct cgroup *cg, const struct plan_cgroup *pc, struct err *e);
int cgroup_delegate_check (const struct cgroup *cg, const struct plan_cgroup *pc, struct err *e);

/* exec, after cgroup_reopen: CG becomes what SPECS (NULL-terminated) choose below it. Either one
 * "PATH", for all hierarchies, or "CONTROLLER[,CONTROLLER...]:PATH" for some of them (v1). ".." and
 * what is not there are errors. */
int cgroup_choose (struct cgroup *cg, const char *const *specs, struct arena *a, struct err *e);
/* exec without a choice: an init that made cgroups of its own and controllers for them has left the
 * container's, which then takes no process (cgroups(7), "no internal processes"). CG becomes the
 * one that process PID, the init, is in, if that lies below. */
int cgroup_follow (struct cgroup *cg, int procfs, pid_t pid, struct arena *a, struct err *e);

/* v2 (and the cgroup2 part of hybrid): the descriptor for CLONE_INTO_CGROUP, else -1. Borrowed.
 * Linux 6.13 and later kill the child at its birth when cgroup.kill was written in the one cgroup
 * and not in the other, in the caller's own or in this one (kill_seq is compared across the two):
 * a child that dies so is cloned again with no_clone_into set, and enters by itself. */
int cgroup_clone_fd (const struct cgroup *cg);

/* Opens what cgroup_enter writes to: the v1 tasks files, and with no_clone_into v2's cgroup.procs.
 * cgroup_create has done so; exec calls it after cgroup_reopen. Opens nothing twice. The kernel
 * checks the opener's rights, so entering works from a new user namespace. */
int cgroup_enter_prepare (struct cgroup *cg, struct err *e);

/* In the child, first thing: writes "0" to each prepared file. Moving oneself as a
 * single thread needs no global lock in the kernel, so this costs microseconds where moving
 * another process costs an RCU grace period. Allocates nothing. */
int cgroup_enter (const struct cgroup *cg, struct err *e);
/* True membership, read from PROCFS/PID/cgroup. PID 0 is the caller. */
int cgroup_enter_check (const struct cgroup *cg, int procfs, pid_t pid, struct err *e);

/* Freezes or thaws and waits until it is so (at most 10 s). */
int cgroup_freeze (struct cgroup *cg, bool frozen, struct err *e);
int cgroup_is_frozen (const struct cgroup *cg, bool *ret, struct err *e);
/* Whether nothing in it runs: it is frozen, or one above it. */
int cgroup_is_held (const struct cgroup *cg, bool *ret, struct err *e);

/* All process ids in it and below, as the caller's pid namespace sees them, ascending. */
int cgroup_pids (const struct cgroup *cg, struct arena *a, pid_t **ret, size_t *ret_n,
                 struct err *e);

/* SIG to every process in it and below. SIGKILL uses cgroup.kill, else freezes, kills and thaws
 * until nothing is left (a frozen v1 cgroup is always thawed, also on errors). */
int cgroup_signal (struct cgroup *cg, int sig, struct err *e);

/* Kills what is left and removes the folders that cgroup_create made, children first, in every
 * hierarchy, whatever becomes of the others, and stops the unit; EBUSY is retried with back-off for
 * at most 10 s. The first error is told. Gone already is success. */
int cgroup_remove (struct cgroup *cg, struct err *e);

/* memory.events / memory.oom_control: how many OOM kills there were. */
int cgroup_oom_kills (const struct cgroup *cg, uint64_t *ret, struct err *e);

void cgroup_close (struct cgroup *cg);
