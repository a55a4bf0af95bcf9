#include "network.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdalign.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "join.h"
#include "rtnl.h"

#define TASK_STACK   ((size_t)64 * 1024)
#define NET_DEV_MAX  8192
#define HEADER_LINES 2

/* ---- making it ---- */

struct maker {
    const struct plan *plan;
    int procfs;
    int fd;
    int result;
    struct err *err;
};

static int set_up (const struct maker *m)
{
    int r = ns_lo_up (m->err);

    if (r == 0)
        r = ns_lo_check (m->err);
    if (r == 0)
        r = ns_network_sysctls (m->plan, m->procfs, m->err);
    return r == 0 ? ns_network_sysctls_check (m->plan, m->procfs, m->err) : r;
}

/* Born in the new namespace. The descriptor it opens is the caller's too. */
static int maker_main (void *arg)
{
    struct maker *m = arg;

    m->result = set_up (m);
    if (m->result == 0) /* a magic link, of our own procfs */
        m->result = m->fd = fd_open (m->procfs, "self/ns/net", O_RDONLY, FD_HOST, m->err);
    return 0;
}

/* A task that shares memory and descriptors with the caller, which waits for it. The caller must
 * not go there and back itself: the namespace to return to may belong to the host, over which the
 * root of a user namespace has no right. */
static int run_task (int (*task) (void *), void *arg, int flags, struct err *e)
{
    alignas (16) char stack[TASK_STACK];
    pid_t pid =
        clone (task, stack + sizeof stack, flags | CLONE_VM | CLONE_VFORK | CLONE_FILES, arg);

    if (pid < 0)
        return err_sys (e, "own network namespace: start a task in it");
    while (waitpid (pid, NULL, __WALL) < 0 && errno == EINTR)
        ;
    return 0;
}

int ns_network_make (const struct plan *p, int procfs, struct ns_network *ret, struct err *e)
{
    struct maker m = { .plan = p, .procfs = procfs, .fd = -1, .result = -ECHILD, .err = e };
    int r = ns_stat (procfs, 0, NS_NET, &ret->engine, e);

    if (r == 0)
        r = run_task (maker_main, &m, CLONE_NEWNET, e);
    if (r < 0)
        return r;
    if (m.result < 0)
        return err_add (e, "own network namespace");
    ret->fd = m.fd;
    return 0;
}

struct opener {
    int network;
    const char *type; /* of a file system */
    int fd, code;
};

static int opener_main (void *arg)
{
    struct opener *o = arg;

    if (setns (o->network, CLONE_NEWNET) == 0)
        o->fd = fsopen (o->type, FSOPEN_CLOEXEC);
    o->code = errno;
    return 0;
}

int ns_network_fsopen (const struct ns_network *n, const char *type, struct err *e)
{
    struct opener o = { .network = n->fd, .type = type, .fd = -1 };
    int r = run_task (opener_main, &o, 0, e);

    if (r < 0 || o.fd >= 0)
        return r < 0 ? r : o.fd;
    errno = o.code;
    return err_sys (e, "file system %s of the own network namespace", type);
}

static int rtnl_main (void *arg)
{
    struct opener *o = arg;

    o->fd = setns (o->network, CLONE_NEWNET) == 0 ? rtnl_open () : -errno;
    return 0;
}

int ns_network_rtnl (int netns, struct err *e)
{
    struct opener o = { .network = netns, .fd = -ECHILD };
    int r = run_task (rtnl_main, &o, 0, e);

    errno = -o.fd;
    return r < 0 ? r : o.fd >= 0 ? o.fd : err_sys (e, "rtnetlink in the network namespace");
}

int ns_network_make_check (const struct ns_network *n, int procfs, struct err *e)
{
    struct stat own, here;
    int r = ns_stat (procfs, 0, NS_NET, &here, e);

    if (r < 0)
        return r;
    if (fstat (n->fd, &own) < 0)
        return err_sys (e, "look at the own network namespace");
    if (ns_is_same (&own, &n->engine) || !ns_is_same (&here, &n->engine))
        return err_set (e, EPERM, "the own network namespace is no other than the engine's");
    return 0;
}

/* ---- entering it ---- */

int ns_network_enter (struct ns_network *n, struct err *e)
{
    return setns (n->fd, CLONE_NEWNET) < 0 ? err_sys (e, "enter the own network namespace") : 0;
}

/* What the tunnel drivers make in each namespace while net.core.fb_tunnels_only_for_init_net is
 * 0. */
static const char *const fallback_links[] = { "tunl0",    "gre0", "gretap0", "erspan0", "ip_vti0",
                                              "ip6_vti0", "sit0", "ip6tnl0", "ip6gre0" };

static bool is_expected (const char *name, size_t len)
{
    if (len == 2 && memcmp (name, "lo", 2) == 0)
        return true;
    for (size_t i = 0; i < ARRAY_LEN (fallback_links); i++)
        if (strlen (fallback_links[i]) == len && memcmp (fallback_links[i], name, len) == 0)
            return true;
    return false;
}

const char *ns_network_foreign_link (const char *text, size_t *ret_len)
{
    const char *line = text;

    for (int number = 0; *line; number++) {
        const char *end = strchrnul (line, '\n');
        const char *name = line + strspn (line, " ");
        size_t len = strcspn (name, ":\n");

        if (number >= HEADER_LINES && !is_expected (name, len)) {
            *ret_len = len;
            return name;
        }
        line = *end ? end + 1 : end;
    }
    return NULL;
}

static int check_links (int procfs, struct err *e)
{
    AUTO_FD fd = fd_open (procfs, "self/net/dev", O_RDONLY, FD_HOST, e);
    char text[NET_DEV_MAX];
    const char *foreign;
    size_t len;
    ssize_t n;

    if (fd < 0)
        return fd;
    n = read (fd, text, sizeof text - 1);
    if (n < 0)
        return err_sys (e, "read the network links");
    text[n] = '\0';
    foreign = ns_network_foreign_link (text, &len);
    return foreign ? err_set (e, EPERM, "a link '%.*s' is in the own network namespace", (int)len,
                              foreign)
                   : 0;
}

int ns_network_check (const struct ns_network *n, int procfs, struct err *e)
{
    struct stat own, here;
    int r = ns_stat (procfs, 0, NS_NET, &here, e);

    if (r < 0)
        return r;
    if (fstat (n->fd, &own) < 0)
        return err_sys (e, "look at the own network namespace");
    if (!ns_is_same (&here, &own) || ns_is_same (&here, &n->engine))
        return err_set (e, EPERM, "this process is not in its own network namespace");
    return check_links (procfs, e);
}
