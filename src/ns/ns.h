#pragma once
/*
 * Namespaces: which are made, which are joined, and what is set in a new one before anything else
 * looks at it (id maps, hostname, time offsets, sysctl, loopback).
 *
 * Never decides: the plan says what is made and joined. All namespace files are opened by the parent
 * before clone3 and checked to be namespaces of their kind.
 */
#include <sys/types.h>

#include "plan/plan.h"

struct ns_fds {
    int fd[NS_COUNT]; /* NS_JOIN: the namespace file, else -1 */
};

extern const char *const ns_names[NS_COUNT];    /* as in config.json: "user", "mount", "pid", ... */
extern const uint64_t ns_clone_flags[NS_COUNT]; /* CLONE_NEW* */

/* Opens the files of all joined namespaces and checks their type (NS_GET_NSTYPE). Errors name
 * "linux.namespaces[KIND].path". */
int ns_prepare (const struct plan *p, struct ns_fds *ret, struct err *e);
void ns_fds_close (struct ns_fds *f);

/* The CLONE_NEW* flags that clone3 itself takes: all made ones but cgroup (must come after the attach,
 * or the namespace's root would be the parent's cgroup) and time (offsets are written first). */
uint64_t ns_clone3_flags (const struct plan *p);

/* True when the clone must happen from inside joined namespaces (a pid namespace takes effect for
 * children only; a joined user namespace must own the ones made). */
bool ns_needs_trampoline (const struct plan *p);

/* In the trampoline (its own task, shared memory): joins user and pid, as ns_needs_trampoline says. */
int ns_join_early (const struct plan *p, const struct ns_fds *f, struct err *e);

/* In the child: joins the remaining ones (net ipc uts mount cgroup time); those that fail with EPERM
 * are tried again after the user namespace. */
int ns_join (const struct plan *p, const struct ns_fds *f, struct err *e);
int ns_join_check (const struct plan *p, const struct ns_fds *f, struct err *e);

/* exec: joins every namespace of process PIDFD that differs from the caller's, in one setns. */
int ns_join_process (int pidfd, const struct plan *p, struct err *e);

/* Parent: writes setgroups, uid_map and gid_map of PID (through PROCFS, see fd_procfs), directly when
 * allowed, else through newuidmap and newgidmap (absolute paths from /usr/bin). Waits for them. */
int ns_write_idmaps (const struct plan *p, int procfs, pid_t pid, struct err *e);
/* Child: becomes uid and gid 0 of the new user namespace, and the maps read back as planned. */
int ns_become_root (const struct plan *p, struct err *e);
int ns_idmaps_check (const struct plan *p, int procfs, struct err *e);

/* Child, in its new uts namespace. */
int ns_hostname (const struct plan *p, struct err *e);
int ns_hostname_check (const struct plan *p, struct err *e);
/* Child: unshare(CLONE_NEWTIME), timens_offsets, then enters it. */
int ns_time (const struct plan *p, int procfs, struct err *e);
int ns_time_check (const struct plan *p, int procfs, struct err *e);
/* Child: unshare(CLONE_NEWCGROUP) after the attach. */
int ns_cgroup (const struct plan *p, struct err *e);
int ns_cgroup_check (const struct plan *p, int procfs, struct err *e);
/* Child: lo up in a network namespace of its own. */
int ns_loopback (const struct plan *p, struct err *e);
int ns_loopback_check (const struct plan *p, struct err *e);
/* Child: sysctls through PROCFS, read back. Errors name "linux.sysctl[KEY]". */
int ns_sysctls (const struct plan *p, int procfs, struct err *e);
int ns_sysctls_check (const struct plan *p, int procfs, struct err *e);
