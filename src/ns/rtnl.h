#pragma once
/*
 * rtnetlink: the few requests that moving a network device takes. A socket belongs to the network
 * namespace that it was made in; requests on it concern the devices there (rtnetlink(7)).
 *
 * Functions return a negative errno and set no text: who calls knows what it was for.
 */
#include <net/if.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct rtnl_link {
    int index;
    bool is_up;
};

/* An address as the kernel told it, for to be added again: RTM_NEWADDR's header and attributes. */
struct rtnl_address {
    unsigned char family, prefix, scope;
    uint32_t flags;
    unsigned char local[16], peer[16], broadcast[16];
    unsigned char local_len, peer_len, broadcast_len;
};

#define RTNL_ADDRESSES_MAX 64

/* A socket in the caller's namespace, close-on-exec. */
int rtnl_open (void);
/* -ENODEV: no device has this name. */
int rtnl_find (int sock, const char *name, struct rtnl_link *ret);
/* Its global, permanent addresses. Returns their number; -E2BIG: more than RTNL_ADDRESSES_MAX. */
int rtnl_addresses (int sock, int index, struct rtnl_address ret[RTNL_ADDRESSES_MAX]);
/* Into the namespace behind NETNS, where it is called NAME. The kernel takes it down. */
int rtnl_move (int sock, int index, int netns, const char *name);
int rtnl_add_address (int sock, int index, const struct rtnl_address *a);
int rtnl_up (int sock, int index);
