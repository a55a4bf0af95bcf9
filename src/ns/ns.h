#pragma once
/*
 * Namespaces: which are made, which are joined, and what is set in a new one before anything else
 * looks at it (id maps, hostname, time offsets, sysctl, loopback).
 *
 * Never decides: the plan says what is made and joined. All namespace files are opened by the
 * parent before clone3 and checked to be namespaces of their kind.
 */
#include <sys/types.h>

#include "plan/plan.h"

struct ns_fds {
    int fd[NS_COUNT]; /* NS_JOIN: the namespace file, else -1 */
};

extern const char *const ns_names[NS_COUNT]; /* as in config.json: "user", "mount", "pid", ... */
extern const char *const ns_proc_names[NS_COUNT]; /* as in /proc/PID/ns */
extern const uint64_t ns_clone_flags[NS_COUNT];   /* CLONE_NEW* */

/* Opens the files of all joined namespaces and checks their type (NS_GET_NSTYPE). Errors name
 * "/linux/namespaces[KIND]/path". */
int ns_prepare (const struct plan *p, struct ns_fds *ret, struct err *e);
void ns_fds_close (struct ns_fds *f);

/* The CLONE_NEW* flags that clone3 itself takes: all made ones but cgroup (must come after the
 * attach, or the namespace's root would be the parent's cgroup) and time (offsets are written
 * first). */
uint64_t ns_clone3_flags (const struct plan *p);

/* True when namespaces must be joined before the clone: a pid namespace takes effect for children
 * only, a joined user namespace must own the ones made, and from inside a new user namespace
 * nothing that belongs to the host can be joined. */
bool ns_needs_trampoline (const struct plan *p);

/* In the trampoline (a task of its own, which may share memory but not file system state): joins
 * all of them but time, which an address space of one's own is needed for. Those that fail with
 * EPERM are tried again after the user namespace (they may belong to it). Allocates nothing. */
int ns_join_early (const struct plan *p, const struct ns_fds *f, struct err *e);

/* In the child: joins what ns_join_early left; without a trampoline, all of them. */
int ns_join (const struct plan *p, const struct ns_fds *f, struct err *e);
int ns_join_check (const struct plan *p, const struct ns_fds *f, int procfs, struct err *e);

/* exec. Parent: which namespaces of process PID (= PIDFD) are not the caller's, as CLONE_NEW*
 * flags. The init's real ones, whatever a config says (security.md R8). PROCFS is the host's. */
int ns_prepare_process (int pidfd, pid_t pid, int procfs, uint64_t *ret_flags, struct err *e);

/* Child: joins those namespaces of process PIDFD, in one setns. A pid namespace is then that of its
 * children. */
int ns_join_process (int pidfd, uint64_t flags, struct err *e);
/* No namespace of the caller (of its children, for pid) differs from PID's, as seen through the
 * host's PROCFS. */
int ns_join_process_check (int pidfd, pid_t pid, int procfs, struct err *e);

/* Parent: writes setgroups, uid_map and gid_map of PID (through PROCFS, see fd_procfs), each in one
 * write: directly when privileged or for one's own id alone, else through /usr/bin/newuidmap and
 * newgidmap, whose output becomes part of the error. */
int ns_write_idmaps (const struct plan *p, int procfs, pid_t pid, struct err *e);
/* True when the user namespace of PID (0: the caller) forbids setgroups: see ids_set. */
int ns_setgroups_denied (int procfs, pid_t pid, bool *ret, struct err *e);
/* Child: becomes uid and gid 0 of the user namespace that it made or joined, without any
 * supplementary group where the namespace allows setgroups. Makes the process not dumpable (the
 * kernel's rule). */
int ns_become_root (const struct plan *p, struct err *e);
/* The maps of PID (0: the caller) read back as planned. Seen from the namespace the plan was made
 * in. */
int ns_idmaps_check (const struct plan *p, int procfs, pid_t pid, struct err *e);

/* Child, in its new uts namespace. */
int ns_hostname (const struct plan *p, struct err *e);
int ns_hostname_check (const struct plan *p, struct err *e);
/* Child: unshare(CLONE_NEWTIME), timens_offsets, then enters it. The offsets file is root's in a
 * process that is not dumpable: with a new user namespace (nobody else is in it) the process is
 * made dumpable for the write. */
int ns_time (const struct plan *p, int procfs, struct err *e);
int ns_time_check (const struct plan *p, int procfs, struct err *e);
/* Child: unshare(CLONE_NEWCGROUP) after the attach. */
int ns_cgroup (const struct plan *p, struct err *e);
int ns_cgroup_check (const struct plan *p, int procfs, struct err *e);
/* Child: lo up in a network namespace of its own. */
int ns_loopback (const struct plan *p, struct err *e);
int ns_loopback_check (const struct plan *p, struct err *e);
/* The same for whatever network namespace the caller is in. */
int ns_lo_up (struct err *e);
int ns_lo_check (struct err *e);
/* Child: sysctls through PROCFS, read back. Errors name "/linux/sysctl/KEY". With an own network
 * (network.h) those of the network are left to the other two, whose caller is in it. */
int ns_sysctls (const struct plan *p, int procfs, struct err *e);
int ns_sysctls_check (const struct plan *p, int procfs, struct err *e);
int ns_network_sysctls (const struct plan *p, int procfs, struct err *e);
int ns_network_sysctls_check (const struct plan *p, int procfs, struct err *e);
