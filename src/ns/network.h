#pragma once
/*
 * The empty network namespace that takes the place of the one that an engine prepared.
 *
 * It is made while the process still has the right to, and entered when init has been let go:
 * engines act on /proc/PID/ns/net in their hooks, and dockerd from 28 on even between `create` and
 * `start`, so until then the process is in the namespace that they expect. What they put into that
 * one the workload never sees.
 */
#include <sys/stat.h>

#include "plan/plan.h"

struct ns_network {
    int fd;             /* the own namespace, close-on-exec; -1: none */
    struct stat engine; /* identity of the namespace that it takes the place of */
};

/* Child, as root of its user namespace: makes it, with lo up and the plan's net.* sysctls in it,
 * by a short-lived task, so that the process itself stays where it is. */
int ns_network_make (const struct plan *p, int procfs, struct ns_network *ret, struct err *e);
int ns_network_make_check (const struct ns_network *n, int procfs, struct err *e);

/* fsopen in it, before it is entered: a sysfs shows the links of the namespace that it was opened
 * in. */
int ns_network_fsopen (const struct ns_network *n, const char *type, struct err *e);

/* An rtnetlink socket (rtnl.h) in the namespace behind NETNS, over which the caller needs
 * CAP_SYS_ADMIN. */
int ns_network_rtnl (int netns, struct err *e);

/* Enters it for good. Needs CAP_SYS_ADMIN in effect, in the user namespace it was made in. */
int ns_network_enter (struct ns_network *n, struct err *e);
/* The caller is in it, not in the engine's, and no link but lo is there. */
int ns_network_check (const struct ns_network *n, int procfs, struct err *e);

/* TEXT as /proc/self/net/dev shows it: the name of a link that a new namespace does not have, as
 * text of *RET_LEN bytes, or NULL. What loaded tunnel modules put into every new namespace
 * ("tunl0", ...) is none: nothing can reach through it, and without CAP_NET_ADMIN it stays down. */
const char *ns_network_foreign_link (const char *text, size_t *ret_len);
