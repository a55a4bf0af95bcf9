#include "rtnl.h"

#include <errno.h>
#include <linux/if_addr.h>
#include <linux/rtnetlink.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define REPLY_MAX 32768 /* the kernel fills at most so much of a dump at once */

struct request {
    struct nlmsghdr head;
    union {
        struct ifinfomsg link;
        struct ifaddrmsg address;
    };
    char attributes[256];
};

union reply {
    struct nlmsghdr head;
    char bytes[REPLY_MAX];
};

int rtnl_open (void)
{
    const struct sockaddr_nl self = { .nl_family = AF_NETLINK };
    int sock = socket (AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
    int code;

    if (sock < 0 || bind (sock, (const struct sockaddr *)&self, sizeof self) == 0)
        return sock < 0 ? -errno : sock;
    code = errno;
    (void)close (sock);
    return -code;
}

static void begin (struct request *r, int type, int flags, size_t body)
{
    r->head = (struct nlmsghdr){ .nlmsg_len = (uint32_t)NLMSG_LENGTH (body),
                                 .nlmsg_type = (uint16_t)type,
                                 .nlmsg_flags = (uint16_t)(NLM_F_REQUEST | flags) };
}

static void add (struct request *r, int type, const void *data, size_t len)
{
    struct rtattr a = { .rta_len = (unsigned short)RTA_LENGTH (len),
                        .rta_type = (unsigned short)type };
    char *to = (char *)r + NLMSG_ALIGN (r->head.nlmsg_len);

    if (len == 0)
        return;
    memcpy (to, &a, sizeof a);
    memcpy (to + RTA_LENGTH (0), data, len);
    r->head.nlmsg_len = (uint32_t)(NLMSG_ALIGN (r->head.nlmsg_len) + RTA_ALIGN (a.rta_len));
}

static int ask (int sock, const struct request *r)
{
    return send (sock, r, r->head.nlmsg_len, 0) < 0 ? -errno : 0;
}

/* What stands OFFSET bytes behind P. The kernel aligns what it sends; the macros of its headers
 * cast that away, and const too. */
static const void *behind (const void *p, size_t offset)
{
    return (const char *)p + offset;
}

static ssize_t hear (int sock, union reply *ret)
{
    ssize_t n;

    do
        n = recv (sock, ret, sizeof *ret, 0);
    while (n < 0 && errno == EINTR);
    return n < 0 ? -errno : n;
}

/* 0, or what an NLMSG_ERROR says. */
static int error_of (const struct nlmsghdr *h)
{
    const struct nlmsgerr *error = behind (h, NLMSG_HDRLEN);

    return h->nlmsg_type == NLMSG_ERROR ? error->error : 0;
}

/* Sends R and waits for the acknowledgement. */
static int command (int sock, struct request *r)
{
    union reply reply;
    ssize_t n;
    int result;

    r->head.nlmsg_flags |= NLM_F_ACK;
    result = ask (sock, r);
    if (result < 0)
        return result;
    n = hear (sock, &reply);
    if (n < 0)
        return (int)n;
    return NLMSG_OK (&reply.head, (size_t)n) ? error_of (&reply.head) : -EPROTO;
}

int rtnl_find (int sock, const char *name, struct rtnl_link *ret)
{
    struct request r = { 0 };
    const struct ifinfomsg *link;
    union reply reply;
    ssize_t n;
    int result;

    begin (&r, RTM_GETLINK, 0, sizeof r.link);
    add (&r, IFLA_IFNAME, name, strlen (name) + 1);
    result = ask (sock, &r);
    n = result < 0 ? result : hear (sock, &reply);
    if (n < 0)
        return (int)n;
    if (!NLMSG_OK (&reply.head, (size_t)n))
        return -EPROTO;
    if (reply.head.nlmsg_type != RTM_NEWLINK)
        return error_of (&reply.head) ?: -EPROTO;
    link = behind (&reply.head, NLMSG_HDRLEN);
    *ret = (struct rtnl_link){ .index = link->ifi_index, .is_up = link->ifi_flags & IFF_UP };
    return 0;
}

/* ---- addresses ---- */
static void take_bytes (const struct rtattr *a, unsigned char to[16], unsigned char *ret_len)
{
    size_t len = RTA_PAYLOAD (a);

    if (len > 16)
        return;
    memcpy (to, behind (a, RTA_LENGTH (0)), len);
    *ret_len = (unsigned char)len;
}

static void take_attribute (const struct rtattr *a, struct rtnl_address *ret)
{
    switch (a->rta_type) {
    case IFA_LOCAL:
        take_bytes (a, ret->local, &ret->local_len);
        break;
    case IFA_ADDRESS:
        take_bytes (a, ret->peer, &ret->peer_len);
        break;
    case IFA_BROADCAST:
        take_bytes (a, ret->broadcast, &ret->broadcast_len);
        break;
    case IFA_FLAGS:
        memcpy (&ret->flags, behind (a, RTA_LENGTH (0)), sizeof ret->flags);
        break;
    default:
        break; /* the label has the old name in it, the rest are counters */
    }
}

/* Whether H is one of INDEX's that goes with it. */
static bool take_address (const struct nlmsghdr *h, int index, struct rtnl_address *ret)
{
    const struct ifaddrmsg *m = behind (h, NLMSG_HDRLEN);
    const struct rtattr *a = behind (m, NLMSG_ALIGN (sizeof *m));
    size_t len = h->nlmsg_len - NLMSG_SPACE (sizeof *m);

    if (h->nlmsg_type != RTM_NEWADDR || h->nlmsg_len < NLMSG_SPACE (sizeof *m) ||
        m->ifa_index != (uint32_t)index || m->ifa_scope != RT_SCOPE_UNIVERSE)
        return false;
    *ret = (struct rtnl_address){ .family = m->ifa_family,
                                  .prefix = m->ifa_prefixlen,
                                  .scope = m->ifa_scope,
                                  .flags = m->ifa_flags };
    while (RTA_OK (a, len)) {
        size_t step = RTA_ALIGN (a->rta_len);

        take_attribute (a, ret);
        len -= step < len ? step : len;
        a = behind (a, step);
    }
    return ret->flags & IFA_F_PERMANENT;
}

/* 1: the dump goes on. */
static int take_dump (const union reply *reply, size_t n, int index, struct rtnl_address *ret,
                      int *count)
{
    const struct nlmsghdr *h = &reply->head;

    for (size_t step; NLMSG_OK (h, n); n -= step < n ? step : n, h = behind (h, step)) {
        step = NLMSG_ALIGN (h->nlmsg_len);
        if (h->nlmsg_type == NLMSG_DONE || h->nlmsg_type == NLMSG_ERROR)
            return error_of (h);
        if (*count == RTNL_ADDRESSES_MAX)
            return -E2BIG;
        *count += take_address (h, index, &ret[*count]);
    }
    return 1;
}

int rtnl_addresses (int sock, int index, struct rtnl_address ret[RTNL_ADDRESSES_MAX])
{
    struct request r = { 0 };
    union reply reply;
    int count = 0;
    int result;

    begin (&r, RTM_GETADDR, NLM_F_DUMP, sizeof r.address);
    result = ask (sock, &r);
    if (result < 0)
        return result;
    do {
        ssize_t n = hear (sock, &reply);

        result = n < 0 ? (int)n : take_dump (&reply, (size_t)n, index, ret, &count);
    } while (result > 0);
    return result < 0 ? result : count;
}

int rtnl_add_address (int sock, int index, const struct rtnl_address *a)
{
    const uint32_t flags = a->flags & ~(uint32_t)IFA_F_PERMANENT; /* of its lifetime, not asked */
    struct request r = { 0 };

    begin (&r, RTM_NEWADDR, NLM_F_CREATE | NLM_F_EXCL, sizeof r.address);
    r.address = (struct ifaddrmsg){ .ifa_family = a->family,
                                    .ifa_prefixlen = a->prefix,
                                    .ifa_scope = a->scope,
                                    .ifa_index = (uint32_t)index };
    add (&r, IFA_LOCAL, a->local, a->local_len);
    add (&r, IFA_ADDRESS, a->peer, a->peer_len);
    add (&r, IFA_BROADCAST, a->broadcast, a->broadcast_len);
    add (&r, IFA_FLAGS, &flags, sizeof flags);
    return command (sock, &r);
}

/* ---- devices ---- */
int rtnl_move (int sock, int index, int netns, const char *name)
{
    struct request r = { 0 };

    begin (&r, RTM_NEWLINK, 0, sizeof r.link);
    r.link.ifi_index = index;
    add (&r, IFLA_NET_NS_FD, &netns, sizeof netns);
    add (&r, IFLA_IFNAME, name, strlen (name) + 1);
    return command (sock, &r);
}

int rtnl_up (int sock, int index)
{
    struct request r = { 0 };

    begin (&r, RTM_NEWLINK, 0, sizeof r.link);
    r.link = (struct ifinfomsg){ .ifi_index = index, .ifi_flags = IFF_UP, .ifi_change = IFF_UP };
    return command (sock, &r);
}
