#pragma once
/*
 * The two step lists as data: names, order and reasons. What the rows do is in exec/, which fills
 * the same rows with functions; explain prints them.
 */
#include <stddef.h>

#include "plan/plan.h"

struct step_text {
    const char *name, *after, *check, *undo, *why;
    bool (*wanted) (const struct plan *p);
};

extern const struct step_text parent_step_texts[], child_step_texts[];
extern const size_t n_parent_steps, n_child_steps;

/* Each row's `after` names an earlier row of its list. Returns the index of the first that does
 * not, or -1. */
int steps_misplaced (const struct step_text *steps, size_t n);

/* The predicates, one for each word in the second column of steps.def. */
/* clang-format off */
#define STEP_PREDICATES(P) \
    P (always) P (seal) P (create) P (exec) P (cgroup) P (make_cgroup) P (delegate_cgroup) \
    P (unit) P (delegate_unit) \
    P (make_userns) P (runtime_hooks) P (raise_rlimits) P (exec_scheduler) P (pid_file) \
    P (pidfd_socket) P (oom_score) P (make_timens) P (join_late) P (make_cgroupns) P (keyring) \
    P (hostname) P (make_netns) P (own_network) P (sysctl) P (own_mountns) P (rootfs) \
    P (mounts) P (container_hooks) P (terminal) P (root_propagation) P (readonly_paths) \
    P (masked_paths) P (root_readonly) P (root_flags) P (scheduling) P (lsm) P (stdio) \
    P (seccomp_floor_early) P (seccomp_early) P (seccomp_floor_swapped) P (seccomp_swapped) \
    P (no_new_privs) P (start_hooks) P (rlimits) P (seccomp_floor) P (seccomp) P (agent) \
    P (net_devices)
/* clang-format on */
#define STEP_PREDICATE_DECLARE(name) bool plan_wants_##name (const struct plan *p);
STEP_PREDICATES (STEP_PREDICATE_DECLARE)
#undef STEP_PREDICATE_DECLARE

/* exec: the filter's agent is asked for by the child that sets the process up. */
bool plan_wants_early_listener (const struct plan *p);
