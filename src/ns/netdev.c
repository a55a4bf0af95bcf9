#include "netdev.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "network.h"
#include "rtnl.h"

#define AT          "/linux/netDevices/%s"
#define NUMBERS_MAX 1000

void netdev_none (struct netdev_move *ret)
{
    *ret = (struct netdev_move){ .here = -1, .there = -1, .netns_here = -1, .netns_there = -1 };
}

int netdev_begin (int netns, int procfs, struct netdev_move *ret, struct err *e)
{
    ret->netns_here = fd_open (procfs, "self/ns/net", O_RDONLY, FD_HOST, e);
    if (ret->netns_here < 0)
        return err_add (e, "/linux/netDevices");
    ret->netns_there = fcntl (netns, F_DUPFD_CLOEXEC, 3);
    if (ret->netns_there < 0)
        return err_sys (e, "/linux/netDevices: keep the network namespace");
    ret->here = rtnl_open ();
    errno = -ret->here;
    if (ret->here < 0)
        return err_sys (e, "/linux/netDevices: rtnetlink");
    ret->there = ns_network_rtnl (netns, e);
    return ret->there < 0 ? err_add (e, "/linux/netDevices") : 0;
}

void netdev_end (struct netdev_move *m)
{
    const int fds[] = { m->here, m->there, m->netns_here, m->netns_there };

    for (size_t i = 0; i < ARRAY_LEN (fds); i++)
        cleanup_fd (&fds[i]);
    m->here = m->there = m->netns_here = m->netns_there = -1;
}

/* ---- one device ---- */
static bool is_taken (int sock, const char *name)
{
    struct rtnl_link link;

    return rtnl_find (sock, name, &link) != -ENODEV;
}

/* WANTED, or the first free name of it: "%d" stands for a number. */
static int choose_name (int sock, const char *wanted, char ret[IFNAMSIZ], struct err *e)
{
    const char *sign = strstr (wanted, "%d");
    int number = 0;
    int n = snprintf (ret, IFNAMSIZ, "%s", wanted);

    while (is_taken (sock, ret) || sign) {
        if (!sign || number == NUMBERS_MAX)
            return err_set (e, EEXIST, "the name '%s' is taken in the container's network", wanted);
        n = snprintf (ret, IFNAMSIZ, "%.*s%d%s", (int)(sign - wanted), wanted, number++, sign + 2);
        if (!is_taken (sock, ret))
            break;
    }
    return n < IFNAMSIZ ? 0 : err_set (e, ENAMETOOLONG, "the name '%s' is too long", ret);
}

struct transfer {
    int from, to; /* sockets */
    int netns;    /* to go to */
    const char *name, *new_name;
    bool up; /* afterwards */
};

static int settle (const struct transfer *t, const struct rtnl_address *addresses, int n)
{
    struct rtnl_link link;
    int result = rtnl_find (t->to, t->new_name, &link);

    for (int i = 0; result == 0 && i < n; i++)
        result = rtnl_add_address (t->to, link.index, &addresses[i]);
    return result == 0 && t->up ? rtnl_up (t->to, link.index) : result;
}

/* *RET_MOVED: it has left, whatever comes then. */
static int transfer (const struct transfer *t, struct rtnl_link *ret, bool *ret_moved)
{
    struct rtnl_address addresses[RTNL_ADDRESSES_MAX];
    int result = rtnl_find (t->from, t->name, ret);
    int n = result < 0 ? result : rtnl_addresses (t->from, ret->index, addresses);

    if (n < 0)
        return n;
    result = rtnl_move (t->from, ret->index, t->netns, t->new_name);
    *ret_moved = result == 0;
    return result < 0 ? result : settle (t, addresses, n);
}

static int move_one (const struct oci_net_device *d, struct netdev_move *m, struct err *e)
{
    const char *wanted = d->name && *d->name ? d->name : d->key;
    struct transfer t = { .from = m->here,
                          .to = m->there,
                          .netns = m->netns_there,
                          .name = d->key,
                          .new_name = m->names[m->n_moved],
                          .up = true };
    struct rtnl_link link;
    bool moved = false;
    int result = choose_name (m->there, wanted, m->names[m->n_moved], e);

    if (result < 0)
        return err_add (e, AT, d->key);
    result = transfer (&t, &link, &moved);
    if (moved)
        m->was_up[m->n_moved++] = link.is_up;
    if (result == -ENODEV && !moved)
        return err_set (e, ENODEV, AT ": the host has no such network device", d->key);
    errno = -result;
    return result < 0 ? err_sys (e, AT ": move it into the container", d->key) : 0;
}

int netdev_move (const struct plan *p, struct netdev_move *m, struct err *e)
{
    for (size_t i = 0; i < p->n_net_devices; i++)
        if (move_one (&p->net_devices[i], m, e) < 0)
            return -e->code;
    return 0;
}

int netdev_check (const struct plan *p, const struct netdev_move *m, struct err *e)
{
    struct rtnl_link link;

    for (size_t i = 0; i < p->n_net_devices; i++)
        if (rtnl_find (m->there, m->names[i], &link) < 0 || !link.is_up)
            return err_set (e, ENODEV, AT ": it is not up in the container", p->net_devices[i].key);
    return 0;
}

/* What has gone meanwhile, by whoever's hand, cannot come back. */
void netdev_undo (const struct plan *p, struct netdev_move *m)
{
    struct rtnl_link link;
    bool moved;

    while (m->n_moved > 0) {
        size_t i = --m->n_moved;
        const struct transfer t = { .from = m->there,
                                    .to = m->here,
                                    .netns = m->netns_here,
                                    .name = m->names[i],
                                    .new_name = p->net_devices[i].key,
                                    .up = m->was_up[i] };

        (void)transfer (&t, &link, &moved);
    }
}
