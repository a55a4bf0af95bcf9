#pragma once
/*
 * What the files of this folder share. Nobody else includes it.
 */
#include <stdbool.h>
#include <stdint.h>

#include "cgroup/cgroup.h"

struct limit;
struct limits;

/* ---- files.c: cgroupfs by descriptor ----
 * fd.h's calls with FD_PROC. */
int cgfile_open (int dir, const char *path, int flags, struct err *e);
int cgfile_write (int dir, const char *file, const char *text, struct err *e);
int cgfile_read (int dir, const char *file, struct arena *a, char **ret, struct err *e);
/* The number behind KEY in a file of "KEY NUMBER" lines; KEY NULL: the file is the number. */
int cgfile_number (int dir, const char *file, const char *key, uint64_t *ret, struct err *e);

/* The mount point of H, O_PATH, once the kernel says that it is a cgroup hierarchy of the right
 * kind. */
int cgfile_mount (const struct cgroup_hierarchy *h, struct err *e);

/* Time is up at a deadline in CLOCK_MONOTONIC milliseconds. */
int64_t deadline_in (int64_t ms);
bool deadline_is_over (int64_t deadline);
void sleep_ms (long ms);
#define CGROUP_PATIENCE_MS 10000

/* ---- discover.c ---- */
bool cgroup_is_v2 (const struct cgroup_hierarchy *h);
/* LIST is words separated by any of SEPARATORS; is WORD one of them? */
bool has_word (const char *list, const char *separators, const char *word);
/* In /proc/PID/cgroup (TEXT): the path in H's hierarchy, *RET_LEN bytes; NULL when it has no
 * line. */
const char *proc_cgroup_path (const char *text, const struct cgroup_hierarchy *h, size_t *ret_len);
/* The hierarchy with v1 controller NAME; NULL when there is none. */
const struct cgroup_hierarchy *cgroup_v1_home (const struct cgroup *cg, const char *name);
/* The cgroup2 hierarchy; NULL when there is none. */
const struct cgroup_hierarchy *cgroup_v2_home (const struct cgroup *cg);
/* Where processes are frozen: v1 freezer, else cgroup2, else NULL. */
const struct cgroup_hierarchy *cgroup_freezer_home (const struct cgroup *cg);
/* PATH without empty and "." components; -EINVAL for ".." and for the root. */
int cgroup_clean_path (const char *path, struct arena *a, const char **ret, struct err *e);
/* A process without power over the host: it can neither make device nodes nor load filters. */
bool cgroup_is_unprivileged (void);
/* A cgroup's folder that is another user's, to such a process. */
bool cgroup_is_foreign (int dir);

/* ---- update.c ---- */
/* What to write to M's file to have what it says now, which is TEXT. NULL: memory ran out. */
const char *limit_old_value (const struct limit *m, const char *text, struct arena *a);

/* ---- v2.c ---- */
/* Enables controllers for the children of the cgroup DIR: on a pure cgroup2 host all that DIR has
 * (as engines read the counters of each), on a hybrid one only what a limit needs. A refusal is
 * no error: whoever needs the controller misses its files. */
void v2_enable (const struct cgroup *cg, const struct oci_linux_resources *res, int dir);
/* Likewise in all cgroups above the container's, which is there: what its first limits did not
 * need, an update may. */
void v2_enable_above (const struct cgroup *cg, const struct oci_linux_resources *res);

/* ---- walk.c ---- */
struct walk {
    /* Each cgroup from the top down; may be NULL. */
    int (*visit) (int dir, void *data, struct err *e);
    /* Each cgroup below the top, children first, by name in its parent; may be NULL. */
    int (*leave) (int parent, const char *name, void *data, struct err *e);
    void *data;
};
/* The cgroup TOP and all below, with a handful of descriptors however deep they nest. What vanishes
 * meanwhile is skipped. Ends at the first negative result. */
int walk_tree (int top, const struct walk *w, struct err *e);

/* ---- kill.c ---- */
/* The processes in the cgroup DIR and below. */
int pids_below (int dir, struct arena *a, pid_t **ret, size_t *ret_n, struct err *e);

/* SIGKILL until nothing is left in any hierarchy. */
int kill_everywhere (struct cgroup *cg, struct err *e);

/* ---- freeze.c ---- */
/* Is the cgroup DIR of H frozen, by itself or (unless SELF_ONLY) by one above? */
int freeze_look (const struct cgroup_hierarchy *h, bool self_only, bool *ret, struct err *e);
/* Thaws the whole tree, also what a container froze itself. */
void freeze_thaw_tree (const struct cgroup *cg);

/* ---- cgroup.c ---- */
/* Opens the cgroup of H; one that is gone leaves dir at -1. */
int hierarchy_reopen (struct cgroup_hierarchy *h, struct err *e);

/* ---- create.c ---- */
/* Refuses a cgroup (its dir is open) that has processes in it, other than OWN, or is frozen. */
int refuse_used (const struct cgroup_hierarchy *h, pid_t own, struct err *e);

/* ---- remove.c ---- */
/* rmdir of the cgroup and all below. Returns 1 while something in it is busy. */
int remove_tree (struct cgroup_hierarchy *h, struct err *e);
/* Takes back what cgroup_create made so far; what cannot be removed stays open. */
void remove_made (struct cgroup *cg);

/* ---- limits.c ---- */
/* All writes that RES asks for, each with its cgroup. */
int limits_collect (struct limits *l, const struct cgroup *cg,
                    const struct oci_linux_resources *res, struct err *e);
int limits_write (const struct limits *l, struct err *e);
int limits_check (const struct limits *l, struct err *e);
/* May the file be missing? */
bool limit_can_miss (const struct limit *m);
/* E says why H's cgroup cannot be made. Widened to an error with the key of the first limit that
 * needs it; 0: RES has none. Device rules do not count. */
int limits_do_without (const struct cgroup *cg, const struct cgroup_hierarchy *h,
                       const struct oci_linux_resources *res, struct err *e);
/* Does a limit need the v2 CONTROLLER on a host whose v1 hierarchies lack it? */
bool limits_need_v2 (const struct cgroup *cg, const struct oci_linux_resources *res,
                     const char *controller);

/* ---- devices.c ---- */
int devices_apply (struct cgroup *cg, const struct oci_linux_resources *res, struct err *e);
int devices_check (const struct cgroup *cg, const struct oci_linux_resources *res, struct err *e);
