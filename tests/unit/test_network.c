/* The own network namespace: made, entered late, and each check seen to fail. Needs root. */
#include "ns/network.h"
#include "ns/ns.h"

#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "act.h"

static int network_swap (const void *arg, struct err *e)
{
    AUTO_FD procfs = fd_procfs (e);
    struct ns_network n = { .fd = -1 };
    char ttl[8] = "";
    AUTO_FD fd = -1;

    CHECK (unshare (CLONE_NEWNET) == 0);
    TRY (ns_network_make (arg, procfs, &n, e));
    TRY (ns_network_make_check (&n, procfs, e));
    CHECK (ns_lo_check (e) < 0); /* still in the engine's, where lo is down */
    CHECK (ns_network_check (&n, procfs, e) < 0);
    TRY (ns_network_enter (&n, e));
    TRY (ns_lo_check (e));
    fd = open ("/proc/sys/net/ipv4/ip_default_ttl", O_RDONLY | O_CLOEXEC);
    CHECK (read (fd, ttl, sizeof ttl - 1) > 0 && strcmp (ttl, "77\n") == 0);
    CHECK (ns_network_make_check (&n, procfs, e) < 0);
    return ns_network_check (&n, procfs, e);
}

/* The root of a user namespace could not go back to the host's network. */
static int network_of_userns (const void *arg, struct err *e)
{
    AUTO_FD procfs = fd_procfs (e);
    struct ns_network n = { .fd = -1 };

    CHECK (unshare (CLONE_NEWUSER) == 0);
    TRY (ns_network_make (arg, procfs, &n, e));
    TRY (ns_network_enter (&n, e));
    return ns_network_check (&n, procfs, e);
}

static int network_without_right (const void *arg, struct err *e)
{
    AUTO_FD procfs = fd_procfs (e);
    struct ns_network n = { .fd = -1 };

    CHECK (setresuid (1234, 1234, 1234) == 0);
    return ns_network_make (arg, procfs, &n, e);
}

static int network_enter_without_right (const void *arg, struct err *e)
{
    AUTO_FD procfs = fd_procfs (e);
    struct ns_network n = { .fd = -1 };

    TRY (ns_network_make (arg, procfs, &n, e));
    CHECK (setresuid (1234, 1234, 1234) == 0);
    return ns_network_enter (&n, e);
}

static int network_bad_sysctl (const void *arg, struct err *e)
{
    static const struct plan_sysctl bad[] = { { "net.no", "net/no", "1" } };
    struct plan p = *(const struct plan *)arg;
    AUTO_FD procfs = fd_procfs (e);
    struct ns_network n = { .fd = -1 };

    p.sysctls = bad;
    p.n_sysctls = 1;
    return ns_network_make (&p, procfs, &n, e);
}

/* A link that an engine moved there is told. */
static int network_with_link (const void *arg, struct err *e)
{
    AUTO_FD procfs = fd_procfs (e);
    struct ns_network n = { .fd = -1 };

    TRY (ns_network_make (arg, procfs, &n, e));
    TRY (ns_network_enter (&n, e));
    CHECK (system ("ip link add v0 type veth peer name v1") == 0);
    return ns_network_check (&n, procfs, e);
}

static void test_network_swap (void)
{
    static const struct plan_sysctl ttl[] = { { "net.ipv4.ip_default_ttl",
                                                "net/ipv4/ip_default_ttl", "77" } };
    struct plan p = { .own_network = true, .sysctls = ttl, .n_sysctls = ARRAY_LEN (ttl) };
    struct plan bare = { .own_network = true };

    expect (network_swap, &p, "an own network: lo is up, its sysctl is set, it is entered late");
    expect (network_of_userns, &bare, "an own network of a user namespace, from the host's");
    expect_error (network_without_right, &p,
                  "own network namespace: start a task in it: not allowed (EPERM)",
                  "made without the right to");
    expect_error (network_enter_without_right, &bare, "enter the own network namespace: not all",
                  "entered without the right to");
    expect_error (network_bad_sysctl, &p, "own network namespace: /linux/sysctl/net.no",
                  "a sysctl that is not there");
    expect_error (network_with_link, &bare, "a link 'v", "a link beside lo");
}

static void test_foreign_links (void)
{
    static const struct {
        const char *text, *want;
    } cases[] = {
        { "H\nH\n    lo:  0 0\n", NULL },
        { "H\nH\n    lo:  0 0\n tunl0: 0\nip6tnl0: 0\n", NULL },
        { "H\nH\n  eth0: 0 0\n    lo:  0 0\n", "eth0" },
        { "H\nH\n    lo:  0 0\n   lo1: 0\n", "lo1" },
        { "H\nH\n    lo:  0 0\n     l: 0\n", "l" },
        { "H\nH\n    lo:  0 0\n sit01: 0", "sit01" },
        { "H\nH\n", NULL },
    };

    for (size_t i = 0; i < ARRAY_LEN (cases); i++) {
        size_t len = 0;
        const char *name = ns_network_foreign_link (cases[i].text, &len);
        const char *want = cases[i].want;

        ok (want ? name && strlen (want) == len && strncmp (name, want, len) == 0 : !name,
            "links %zu: %s", i, want ?: "only lo");
    }
}

int main (void)
{
    test_foreign_links ();
    if (geteuid () == 0)
        test_network_swap ();
    return tap_done ();
}
