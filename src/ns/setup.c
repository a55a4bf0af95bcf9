#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "join.h"

/* ---- uts ---- */

int ns_hostname (const struct plan *p, struct err *e)
{
    if (p->hostname && sethostname (p->hostname, strlen (p->hostname)) < 0)
        return err_sys (e, "/hostname: set '%s'", p->hostname);
    if (p->domainname && setdomainname (p->domainname, strlen (p->domainname)) < 0)
        return err_sys (e, "/domainname: set '%s'", p->domainname);
    return 0;
}

int ns_hostname_check (const struct plan *p, struct err *e)
{
    struct utsname u;

    if (uname (&u) < 0)
        return err_sys (e, "uname");
    if (p->hostname && strcmp (u.nodename, p->hostname) != 0)
        return err_set (e, EPERM, "/hostname: it is '%s', wanted '%s'", u.nodename, p->hostname);
    if (p->domainname && strcmp (u.domainname, p->domainname) != 0)
        return err_set (e, EPERM, "/domainname: it is '%s', wanted '%s'", u.domainname,
                        p->domainname);
    return 0;
}

/* ---- time ---- */

static int write_offset (int fd, const char *clock, const struct plan_time_offset *o, struct err *e)
{
    char line[64];
    int len;

    if (!o->set)
        return 0;
    len = snprintf (line, sizeof line, "%s %lld %u\n", clock, (long long)o->secs, o->nanosecs);
    if (write (fd, line, (size_t)len) != len)
        return err_sys (e, "/linux/timeOffsets/%s: write", clock);
    return 0;
}

static int write_offsets (const struct plan *p, int procfs, struct err *e)
{
    AUTO_FD fd = fd_open (procfs, "self/timens_offsets", O_WRONLY, FD_PROC, e);
    int r;

    if (fd < 0)
        return err_add (e, "/linux/timeOffsets");
    r = write_offset (fd, "monotonic", &p->monotonic, e);
    return r < 0 ? r : write_offset (fd, "boottime", &p->boottime, e);
}

/* In a user namespace that was just made nobody can look into us yet. */
static int write_offsets_dumpable (const struct plan *p, int procfs, struct err *e)
{
    int old = prctl (PR_GET_DUMPABLE, 0, 0, 0, 0);
    bool raise = old == 0 && p->ns[NS_USER].mode == NS_MAKE;
    int r;

    if (raise && prctl (PR_SET_DUMPABLE, 1, 0, 0, 0) < 0)
        return err_sys (e, "/linux/timeOffsets: open up the process");
    r = write_offsets (p, procfs, e);
    if (raise && prctl (PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
        return err_sys (e, "/linux/timeOffsets: hide the process");
    return r;
}

/* unshare makes the namespace for children only. A single-threaded process may enter it itself,
 * which saves the fork that would else be needed. */
static int enter_time (int procfs, struct err *e)
{
    AUTO_FD fd = openat (procfs, "self/ns/time_for_children", O_RDONLY | O_CLOEXEC);

    if (fd < 0)
        return err_sys (e, "open the new time namespace");
    if (setns (fd, (int)ns_clone_flags[NS_TIME]) < 0)
        return err_sys (e, "enter the new time namespace");
    return 0;
}

int ns_time (const struct plan *p, int procfs, struct err *e)
{
    int r = 0;

    if (unshare ((int)ns_clone_flags[NS_TIME]) < 0)
        return err_sys (e, "make the time namespace");
    if (p->monotonic.set || p->boottime.set)
        r = write_offsets_dumpable (p, procfs, e);
    return r < 0 ? r : enter_time (procfs, e);
}

static bool shows_offset (const char *text, const char *clock, const struct plan_time_offset *o)
{
    const char *at = strstr (text, clock);
    char *end;

    if (!o->set)
        return true;
    return at && strtoll (at + strlen (clock), &end, 10) == o->secs &&
           strtoul (end, NULL, 10) == o->nanosecs;
}

int ns_time_check (const struct plan *p, int procfs, struct err *e)
{
    AUTO_FD fd = fd_open (procfs, "self/timens_offsets", O_RDONLY, FD_PROC, e);
    struct stat here, children;
    char text[256];
    ssize_t n;
    int r;

    if (fd < 0)
        return fd;
    r = ns_stat (procfs, 0, NS_TIME, &here, e);
    if (r < 0)
        return r;
    if (fstatat (procfs, "self/ns/time_for_children", &children, 0) < 0)
        return err_sys (e, "look at the time namespace");
    if (!ns_is_same (&here, &children))
        return err_set (e, EPERM, "/linux/namespaces[time]: this process is not in the new one");
    n = read (fd, text, sizeof text - 1);
    if (n < 0)
        return err_sys (e, "/linux/timeOffsets: read");
    text[n] = '\0';
    if (!shows_offset (text, "monotonic", &p->monotonic) ||
        !shows_offset (text, "boottime", &p->boottime))
        return err_set (e, EPERM,
                        "/linux/timeOffsets: the kernel has other offsets than asked for");
    return 0;
}

/* ---- cgroup ---- */

int ns_cgroup (const struct plan *p, struct err *e)
{
    if (p->ns[NS_CGROUP].mode == NS_MAKE && unshare (CLONE_NEWCGROUP) < 0)
        return err_sys (e, "make the cgroup namespace");
    return 0;
}

/* Every hierarchy shows "/": the namespace's root is where we are. */
int ns_cgroup_check (const struct plan *p, int procfs, struct err *e)
{
    AUTO_FD fd = fd_open (procfs, "self/cgroup", O_RDONLY, FD_PROC, e);
    char text[4096];
    ssize_t n;

    if (fd < 0 || p->ns[NS_CGROUP].mode != NS_MAKE)
        return fd < 0 ? fd : 0;
    n = read (fd, text, sizeof text - 1);
    if (n < 0)
        return err_sys (e, "read the cgroups");
    text[n] = '\0';
    for (char *line = text; *line;) {
        char *end = strchrnul (line, '\n');

        if (end - line < 2 || end[-1] != '/' || end[-2] != ':')
            return err_set (e, EPERM, "the cgroup namespace shows '%.*s', not its root",
                            (int)(end - line), line);
        line = *end ? end + 1 : end;
    }
    return 0;
}

/* ---- network ---- */

/* Interface ioctls work on any socket; a UNIX one is there in every kernel (crun#929: no
 * netlink). */
static int lo_flags (unsigned long request, struct ifreq *ifr, struct err *e)
{
    AUTO_FD fd = socket (AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

    if (fd < 0 || ioctl (fd, request, ifr) < 0)
        return err_sys (e, "loopback interface");
    return 0;
}

int ns_lo_up (struct err *e)
{
    struct ifreq ifr = { .ifr_name = "lo" };
    int r = lo_flags (SIOCGIFFLAGS, &ifr, e);

    if (r < 0)
        return r;
    ifr.ifr_flags |= IFF_UP;
    return lo_flags (SIOCSIFFLAGS, &ifr, e);
}

int ns_lo_check (struct err *e)
{
    struct ifreq ifr = { .ifr_name = "lo" };
    int r = lo_flags (SIOCGIFFLAGS, &ifr, e);

    if (r == 0 && !(ifr.ifr_flags & IFF_UP))
        return err_set (e, ENETDOWN, "the loopback interface is not up");
    return r;
}

int ns_loopback (const struct plan *p, struct err *e)
{
    return p->ns[NS_NET].mode == NS_MAKE ? ns_lo_up (e) : 0;
}

int ns_loopback_check (const struct plan *p, struct err *e)
{
    return p->ns[NS_NET].mode == NS_MAKE ? ns_lo_check (e) : 0;
}
