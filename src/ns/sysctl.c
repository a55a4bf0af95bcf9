#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "ns.h"

#define VALUE_MAX 4096 /* the kernel takes and gives one page */

/* Keys whose value the kernel gives back in its own spelling: lists of ranges that it merges, bit
 * masks, keys and addresses, and times that it rounds to its clock tick. */
static const char *const respelled[] = {
    "net/ipv4/ip_local_reserved_ports", "net/ipv4/tcp_fastopen_key",     "net/core/*_mask",
    "net/core/flow_limit_cpu_bitmap",   "net/ipv6/conf/*/stable_secret", "net/*_ms",
};

static bool is_respelled (const char *path)
{
    for (size_t i = 0; i < ARRAY_LEN (respelled); i++)
        if (fnmatch (respelled[i], path, 0) == 0)
            return true;
    return false;
}

static size_t word_len (const char *s)
{
    size_t len = 0;

    while (s[len] && !isspace ((unsigned char)s[len]))
        len++;
    return len;
}

static const char *skip_space (const char *s)
{
    while (isspace ((unsigned char)*s))
        s++;
    return s;
}

/* "0x10" is 16: the kernel takes numbers in any base and shows them in ten. */
static bool same_word (const char *a, size_t a_len, const char *b, size_t b_len)
{
    char *a_end, *b_end;
    long long x, y;

    if (a_len == b_len && memcmp (a, b, a_len) == 0)
        return true;
    x = strtoll (a, &a_end, 0);
    y = strtoll (b, &b_end, 0);
    return a_len && b_len && a_end == a + a_len && b_end == b + b_len && x == y;
}

/* Words are compared: the kernel shows tabs for blanks and ends with a newline. */
static bool same_value (const char *a, const char *b)
{
    while (true) {
        size_t a_len, b_len;

        a = skip_space (a);
        b = skip_space (b);
        if (!*a || !*b)
            return !*a && !*b;
        a_len = word_len (a);
        b_len = word_len (b);
        if (!same_word (a, a_len, b, b_len))
            return false;
        a += a_len;
        b += b_len;
    }
}

/* SYS is /proc/sys itself, so that no key leads out of it. */
static int open_sysctl (const struct plan_sysctl *s, int sys, int flags, struct err *e)
{
    int fd = fd_open (sys, s->path, flags, FD_PROC, e);

    if (fd == -ENOENT)
        return err_set (e, ENOENT, "/linux/sysctl/%s: this kernel has no such key", s->key);
    if (fd < 0) {
        errno = -fd;
        return err_sys (e, "/linux/sysctl/%s: open", s->key);
    }
    return fd;
}

static int set_one (const struct plan_sysctl *s, int sys, struct err *e)
{
    AUTO_FD fd = open_sysctl (s, sys, O_WRONLY, e);
    size_t len = strlen (s->value);

    if (fd < 0)
        return fd;
    errno = 0;
    if (write (fd, s->value, len) == (ssize_t)len)
        return 0;
    if (errno == EINVAL && strcmp (s->path, "net/ipv4/ping_group_range") == 0)
        return err_set (e, EINVAL,
                        "/linux/sysctl/%s: write '%s': EINVAL (both groups must be mapped by "
                        "/linux/gidMappings)",
                        s->key, s->value);
    return err_sys (e, "/linux/sysctl/%s: write '%s'", s->key, s->value);
}

static int check_one (const struct plan_sysctl *s, int sys, struct err *e)
{
    AUTO_FD fd = open_sysctl (s, sys, O_RDONLY, e);
    char have[VALUE_MAX];
    ssize_t n;

    if (fd == -EACCES || fd == -EPERM)
        return 0; /* a key that can only be written, such as net.ipv4.route.flush */
    if (fd < 0)
        return fd;
    n = read (fd, have, sizeof have - 1);
    if (n < 0)
        return err_sys (e, "/linux/sysctl/%s: read", s->key);
    have[n] = '\0';
    if (same_value (have, s->value) || is_respelled (s->path))
        return 0;
    have[strcspn (have, "\n")] = '\0';
    return err_set (e, EINVAL, "/linux/sysctl/%s: the kernel made '%s' of '%s'", s->key, have,
                    s->value);
}

/* Keys of the network go to the namespace that the workload will be in. */
static bool belongs (const struct plan *p, const struct plan_sysctl *s, bool own_network)
{
    bool net = strncmp (s->path, "net/", 4) == 0;

    return own_network ? net : !(net && p->own_network);
}

struct round {
    const struct plan *plan;
    bool own_network; /* the caller is in that of plan->own_network */
    int (*act) (const struct plan_sysctl *s, int sys, struct err *e);
};

static int for_each (const struct round *round, int procfs, struct err *e)
{
    const struct plan *p = round->plan;
    AUTO_FD sys = fd_open (procfs, "sys", O_PATH | O_DIRECTORY, FD_PROC, e);
    int r = sys < 0 ? sys : 0;

    for (size_t i = 0; i < p->n_sysctls && r == 0; i++)
        if (belongs (p, &p->sysctls[i], round->own_network))
            r = round->act (&p->sysctls[i], sys, e);
    return r;
}

int ns_sysctls (const struct plan *p, int procfs, struct err *e)
{
    return for_each (&(struct round){ .plan = p, .act = set_one }, procfs, e);
}

int ns_sysctls_check (const struct plan *p, int procfs, struct err *e)
{
    return for_each (&(struct round){ .plan = p, .act = check_one }, procfs, e);
}

int ns_network_sysctls (const struct plan *p, int procfs, struct err *e)
{
    return for_each (&(struct round){ p, true, set_one }, procfs, e);
}

int ns_network_sysctls_check (const struct plan *p, int procfs, struct err *e)
{
    return for_each (&(struct round){ p, true, check_one }, procfs, e);
}
