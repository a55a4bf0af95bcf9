#pragma once
/*
 * The OCI seccomp profile: compiled by libseccomp (which has no other home than this folder),
 * cached, loaded by a plain seccomp(2). Never sets no_new_privs itself.
 *
 * Semantics: those of runc. null or empty `architectures` is the native one; an unknown syscall
 * name is skipped (the spec), an unknown anything else is an error; two conditions on one argument
 * are alternatives; a rule whose action is the default one is kept, so that an explicit refusal is
 * never lost (containerd#13330); SPEC_ALLOW only when asked for; other architectures are killed.
 */
#include <stddef.h>

#include "plan/plan.h"

struct seccomp_filter {
    void *insns; /* struct sock_filter[], in the arena; NULL: none */
    unsigned short count;
    unsigned int flags; /* SECCOMP_FILTER_FLAG_*; NEW_LISTENER when a rule notifies */
    bool from_cache;
};

/* Compiles SECCOMP, or takes it from the cache below CACHE_DIR (a folder that only its owner, us,
 * can write; -1: no cache). An entry holds every byte that the filter was made from, and all of
 * them are compared, so two profiles can never share one. A damaged or foreign entry is made anew.
 * System calls newer than any the profile names give ENOSYS, unless its default action lets calls
 * pass (runc's rule). Errors name "/linux/seccomp...". */
int seccomp_prepare (const struct oci_linux_seccomp *seccomp, int cache_dir, struct arena *a,
                     struct seccomp_filter *ret, struct err *e);

/* -EINVAL for the first call that SECCOMP names and nobody knows: one that it should deny, say, and
 * that seccomp_prepare would leave out. */
int seccomp_check_names (const struct oci_linux_seccomp *seccomp, struct err *e);

/* Needs no_new_privs or CAP_SYS_ADMIN. *RET_LISTENER is the notification descriptor
 * (close-on-exec) when the flags ask for one, else -1. */
int seccomp_install (const struct seccomp_filter *f, int *ret_listener, struct err *e);

/* PID (0: the caller, whose filter must then allow openat and read) is in filter mode and has at
 * least N filters. */
int seccomp_check (int procfs, pid_t pid, unsigned int n, struct err *e);

/* Compile-time facts for `features`, NULL-terminated. */
const char *const *seccomp_actions (void);
const char *const *seccomp_operators (void);
const char *const *seccomp_archs (void);
const char *const *seccomp_known_flags (void);
const char *const *seccomp_supported_flags (void);
