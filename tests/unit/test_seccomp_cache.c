/* The cache of compiled filters: nothing that is not exactly what was asked for comes out of it. */
#include <dirent.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "seccomp_profile.h"

static const char *const cached = "{\"defaultAction\":\"SCMP_ACT_ERRNO\",\"syscalls\":["
                                  "{\"names\":[\"open\",\"read\"],\"action\":\"SCMP_ACT_ERRNO\","
                                  "\"errnoRet\":2}]}";

static bool same_filter (const struct seccomp_filter *a, const struct seccomp_filter *b)
{
    return a->count == b->count && a->insns && b->insns &&
           memcmp (a->insns, b->insns, a->count * sizeof (struct sock_filter)) == 0;
}

static void test_cache_keys (int dir)
{
    static const char *const others[] = {
        "{\"defaultAction\":\"SCMP_ACT_ERRNO\",\"syscalls\":[{\"names\":[\"open\",\"read\"],"
        "\"action\":\"SCMP_ACT_ERRNO\",\"errnoRet\":3}]}",
        "{\"defaultAction\":\"SCMP_ACT_ERRNO\",\"syscalls\":[{\"names\":[\"openread\"],"
        "\"action\":\"SCMP_ACT_ERRNO\",\"errnoRet\":2}]}",
        "{\"defaultAction\":\"SCMP_ACT_ERRNO\",\"defaultErrnoRet\":1,\"syscalls\":[{\"names\":["
        "\"open\",\"read\"],\"action\":\"SCMP_ACT_ERRNO\",\"errnoRet\":2}]}",
        "{\"defaultAction\":\"SCMP_ACT_ERRNO\",\"architectures\":[\"SCMP_ARCH_X86\"],\"syscalls\":"
        "[{\"names\":[\"open\",\"read\"],\"action\":\"SCMP_ACT_ERRNO\",\"errnoRet\":2}]}",
        "{\"defaultAction\":\"SCMP_ACT_ERRNO\",\"syscalls\":[{\"names\":[\"open\",\"read\"],"
        "\"action\":\"SCMP_ACT_ERRNO\",\"errnoRet\":2,\"args\":[{\"index\":0,\"value\":0,"
        "\"op\":\"SCMP_CMP_EQ\"}]}]}",
        "{\"defaultAction\":\"SCMP_ACT_ERRNO\",\"syscalls\":[{\"names\":[\"open\"],\"action\":"
        "\"SCMP_ACT_ERRNO\",\"errnoRet\":2},{\"names\":[\"read\"],\"action\":\"SCMP_ACT_ERRNO\","
        "\"errnoRet\":2}]}",
    };
    struct seccomp_filter first = compile (parse (cached), dir);
    struct seccomp_filter again = compile (parse (cached), dir);

    ok (!first.from_cache && again.from_cache && same_filter (&first, &again),
        "cache: the second time it is found and the same");
    for (size_t i = 0; i < ARRAY_LEN (others); i++) {
        struct seccomp_filter f = compile (parse (others[i]), dir);

        ok (f.insns && !f.from_cache, "cache: another profile does not share the entry (%zu)", i);
    }
}

static size_t list_entries (int dir, char names[][256], size_t max)
{
    AUTO_DIR *d = fdopendir (openat (dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    const struct dirent *e;
    size_t n = 0;

    while ((e = readdir (d)))
        if (e->d_name[0] != '.' && n < max)
            (void)snprintf (names[n++], 256, "%s", e->d_name);
    return n;
}

static void flip (int dir, const char *name, off_t at)
{
    AUTO_FD fd = openat (dir, name, O_RDWR | O_CLOEXEC);
    char c = 0;

    (void)!pread (fd, &c, 1, at);
    c = (char)~c;
    (void)!pwrite (fd, &c, 1, at);
}

/* The one entry, damaged or not ours in one way: is made anew, and found again after that. */
static bool heals (int dir, const struct seccomp_filter *want)
{
    struct seccomp_filter f = compile (parse (cached), dir);
    struct seccomp_filter again = compile (parse (cached), dir);

    return !f.from_cache && same_filter (&f, want) && again.from_cache &&
           same_filter (&again, want);
}

static void test_cache_damage (int dir)
{
    struct seccomp_filter want = compile (parse (cached), dir);
    char names[4][256];
    struct stat st;
    int bad = 0;

    if (!ok (list_entries (dir, names, 4) == 1 && fstatat (dir, names[0], &st, 0) == 0,
             "cache: one entry"))
        return;
    ok ((st.st_mode & 07777) == 0600, "cache: mode 0600");
    for (off_t at = 0; at < st.st_size; at++) {
        flip (dir, names[0], at);
        bad += !heals (dir, &want);
    }
    ok (bad == 0, "cache: an entry with any one byte changed is made anew (%lld bytes)",
        (long long)st.st_size);
    for (off_t len = 0; len < st.st_size; len += 7) {
        AUTO_FD fd = openat (dir, names[0], O_RDWR | O_CLOEXEC);

        bad += ftruncate (fd, len) < 0 || !heals (dir, &want);
    }
    ok (bad == 0, "cache: one cut off anywhere too");
    (void)!fchmodat (dir, names[0], 0622, 0);
    ok (heals (dir, &want), "cache: one that others can write is not trusted");
    if (geteuid () == 0) {
        (void)!fchownat (dir, names[0], 12345, 0, 0);
        ok (heals (dir, &want), "cache: one of another owner is not trusted");
    }
    (void)unlinkat (dir, names[0], 0);
    (void)!symlinkat ("/dev/zero", dir, names[0]);
    ok (heals (dir, &want), "cache: a link is replaced, not followed");
    (void)fchmod (dir, 0777);
    ok (!compile (parse (cached), dir).from_cache, "cache: nor is a folder that others can write");
    (void)fchmod (dir, 0700);
}

static void test_cache_eviction (int dir)
{
    static char names[256][256];
    size_t n;

    for (int i = 0; i < 140; i++) {
        char json[256];

        (void)snprintf (json, sizeof json,
                        "{\"defaultAction\":\"SCMP_ACT_ERRNO\",\"defaultErrnoRet\":%d}", i);
        (void)compile (parse (json), dir);
        (void)compile (parse ("{\"defaultAction\":\"SCMP_ACT_ERRNO\",\"defaultErrnoRet\":0}"), dir);
    }
    n = list_entries (dir, names, ARRAY_LEN (names));
    ok (n == 128, "cache: %zu entries are kept", n);
    ok (compile (parse ("{\"defaultAction\":\"SCMP_ACT_ERRNO\",\"defaultErrnoRet\":0}"), dir)
                .from_cache &&
            !compile (parse ("{\"defaultAction\":\"SCMP_ACT_ERRNO\",\"defaultErrnoRet\":1}"), dir)
                 .from_cache,
        "cache: what was used longest ago went");
}

static void with_cache (void (*test) (int dir))
{
    static char names[256][256];
    char path[] = "/tmp/test_seccomp.XXXXXX";
    AUTO_FD dir = mkdtemp (path) ? open (path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    size_t n;

    test (dir);
    n = list_entries (dir, names, ARRAY_LEN (names));
    for (size_t i = 0; i < n; i++)
        (void)unlinkat (dir, names[i], 0);
    ok (rmdir (path) == 0, "cache: nothing else is left in the folder");
}

/* ---- time ---- */

static double now_us (void)
{
    struct timespec t;

    (void)clock_gettime (CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static void test_time (int dir)
{
    const struct oci_linux_seccomp *s = docker_profile ();
    double cold = 1e9, warm = 1e9;

    if (!s)
        return;
    for (int i = 0; i < 5; i++) {
        double t = now_us ();

        (void)compile (s, -1);
        cold = now_us () - t < cold ? now_us () - t : cold;
    }
    (void)compile (s, dir);
    for (int i = 0; i < 50; i++) {
        double t = now_us ();

        (void)compile (s, dir);
        warm = now_us () - t < warm ? now_us () - t : warm;
    }
    ok (warm < cold, "Docker's profile: cold %.0f us, from the cache %.0f us", cold, warm);
}

int main (void)
{
    with_cache (test_cache_keys);
    with_cache (test_cache_damage);
    with_cache (test_cache_eviction);
    with_cache (test_time);
    arena_free (&arena);
    return tap_done ();
}
