#pragma once
/*
 * plan_build: the effective config and a few facts of the host become the plan. Pure: everything
 * that it needs to know of the host is in its input, so `explain` and the tests give the same plan
 * anywhere.
 */
#include "plan/plan.h"
#include "policy/apply.h"

/* What plan_build must know of the host. */
struct plan_host {
    bool is_rootless; /* the caller is not root of the initial user namespace */
    uid_t uid;        /* of the caller */
    gid_t gid;
    uint64_t permitted; /* capabilities that the caller could hand on; bit N = capability N */
    const struct rlimit *rlimits; /* the caller's own, [RLIMIT_NLIMITS]; NULL: unlimited */
    unsigned int preserve_fds;    /* --preserve-fds and LISTEN_FDS */
    unsigned int listen_fds;      /* LISTEN_FDS of the caller, 0: none */
    bool has_user_bus;            /* an ordinary user with a message bus of the own session */
};

struct plan_input {
    const char *id, *bundle; /* bundle: absolute */
    const struct oci_config *config;
    const struct oci_process *process;  /* exec: the process; NULL: the config's own */
    const struct guard_findings *guard; /* NULL: the policy does not ask */
    struct policy_controls controls;    /* what CONFIG cannot say */
    const char *pid_file, *pidfd_socket;
    bool is_exec, no_pivot, no_cgroup, systemd_cgroup, new_keyring;
    struct plan_host host;
};

/* Errors name the JSON path. Strings of RET are the config's or in the arena. */
int plan_build (const struct plan_input *in, struct arena *a, struct plan *ret, struct err *e);

/* process.c: the part that create and exec share. */
int plan_build_process (const struct plan_input *in, struct arena *a, struct plan *ret,
                        struct err *e);
/* annotations.c: what crun's annotations ask for (run.oci.*), of those that mean something here. */
int plan_build_annotations (const struct plan_input *in, struct plan *ret, struct err *e);
/* filesystem.c: root, mounts, devices, masked and read-only paths. */
int plan_build_filesystem (const struct plan_input *in, struct arena *a, struct plan *ret,
                           struct err *e);
/* unit.c: the systemd unit, from linux.cgroupsPath and annotations. */
int plan_build_unit (const struct plan_input *in, struct arena *a, struct plan *ret, struct err *e);
