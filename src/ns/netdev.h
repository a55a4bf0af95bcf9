#pragma once
/*
 * linux.netDevices: devices of the host that become the container's.
 *
 * The runtime moves them, from its own network namespace, once the container's is there; they stay
 * until it ends (config-linux.md, "Network Devices"). A device is taken back only when the start
 * that moved it fails.
 */
#include "plan/plan.h"

struct netdev_move {
    int here, there; /* rtnetlink sockets in the two namespaces, -1: none */
    int netns_here, netns_there;
    size_t n_moved; /* of the plan's devices, from the first on */
    bool was_up[PLAN_NET_DEVICES_MAX];
    char names[PLAN_NET_DEVICES_MAX][16]; /* what they are called there */
};

/* Nothing is open. */
void netdev_none (struct netdev_move *ret);
/* Opens both sides: NETNS is a descriptor of the container's namespace, which stays the
 * caller's. */
int netdev_begin (int netns, int procfs, struct netdev_move *ret, struct err *e);
/* Moves the plan's devices: name, address (global and permanent ones), up. A name that is taken is
 * -EEXIST; "eth%d" becomes the first that is free. */
int netdev_move (const struct plan *p, struct netdev_move *m, struct err *e);
/* Each is in the container's namespace, and up. */
int netdev_check (const struct plan *p, const struct netdev_move *m, struct err *e);
/* Takes back what was moved. */
void netdev_undo (const struct plan *p, struct netdev_move *m);
void netdev_end (struct netdev_move *m);
