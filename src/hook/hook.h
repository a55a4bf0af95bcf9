#pragma once
/*
 * OCI hooks: run one list in order, with the container's state on stdin.
 *
 * A hook gets exactly its own env (none if unset: security.md A24, B87), descriptors 0-2 only, its
 * own process group, cwd = bundle, and dies with the runtime (PDEATHSIG). The timeout covers
 * stdin, output and exit; at the end of it the hook and everything that it started is killed and
 * reaped, in whatever session. Output is kept for the error text, capped at 4 KiB.
 */
#include <sys/types.h>

#include "libocispec/ocispec.h"

enum hook_kind {
    HOOK_PRESTART,
    HOOK_CREATE_RUNTIME,
    HOOK_CREATE_CONTAINER,
    HOOK_START_CONTAINER,
    HOOK_POSTSTART,
    HOOK_POSTSTOP,
    HOOK_COUNT
};

extern const char *const hook_names[HOOK_COUNT]; /* "prestart", "createRuntime", ... */

/* The list of KIND in HOOKS (which may be NULL). Borrowed. */
const struct oci_hook *hook_list (const struct oci_hooks *hooks, enum hook_kind kind,
                                  size_t *ret_n);

struct hook_call {
    enum hook_kind kind;
    const char *state_json; /* compact; status as oci-matrix 2.4 says for this kind */
    const char *cwd;        /* NULL: stay */
    /* startContainer: the env of its process, for a hook that has none (as runc); else NULL. */
    char *const *default_env;
    /* startContainer: what the hook's process does to itself before execve; else NULL. */
    int (*confine) (const void *data, struct err *e);
    const void *data;
    int signals;  /* a signalfd: what comes ends the hook, -EINTR; 0, -1: none */
    pid_t others; /* a child of the caller that is none of the hook's; 0: none */
};

/* Runs each hook in order; the first that fails ends the list ("error running createRuntime hook
 * #1: ..."). Of poststop hooks all run, and the first failure is returned. */
int hook_run (const struct oci_hooks *hooks, const struct hook_call *call, struct err *e);
