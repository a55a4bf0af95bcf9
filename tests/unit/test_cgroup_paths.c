/* Where a container's cgroup is: paths of configs, and of /proc/PID/cgroup. */
#include <fcntl.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "cgroup/internal.h"
#include "tap.h"

static void test_paths (void)
{
    static const struct {
        const char *path, *clean;
    } t[] = {
        { "/a", "/a" }, { "//a/./b//", "/a/b" }, { "a/...", "/a/..." }, { "/", NULL },
        { "", NULL },   { "/..", NULL },         { "/a/../b", NULL },   { "/./.", NULL },
    };
    struct cgroup_hierarchy cpu = { .controllers = "cpu,cpuacct" };
    struct cgroup_hierarchy named = { .controllers = "name=systemd" };
    struct cgroup_hierarchy v2 = { .controllers = "" };
    const char *text = "5:cpuset:/set\n4:cpuacct,cpu:/time\n1:name=systemd:/a:b\n0::/two\n";
    size_t n = 0;
    const char *p;

    for (size_t i = 0; i < ARRAY_LEN (t); i++) {
        AUTO_ARENA a = { 0 };
        struct err e;
        const char *clean = NULL;

        (void)cgroup_clean_path (t[i].path, &a, &clean, &e);
        (void)tap_is (clean, t[i].clean, t[i].path);
    }
    p = proc_cgroup_path (text, &cpu, &n);
    ok (p && n == 5 && strncmp (p, "/time", n) == 0, "co-mounted controllers in another order");
    p = proc_cgroup_path (text, &named, &n);
    ok (p && n == 4 && strncmp (p, "/a:b", n) == 0, "a path with a colon");
    p = proc_cgroup_path (text, &v2, &n);
    ok (p && n == 4 && strncmp (p, "/two", n) == 0, "cgroup2");
    ok (!proc_cgroup_path ("5:cpuset:/set\n", &cpu, &n), "cpu is not cpuset");
}

static void test_relative (void)
{
    AUTO_ARENA a = { 0 };
    struct err e = { 0 };
    struct cgroup cg = { 0 };
    struct plan_cgroup pc = { .path = "agentrt-test-relative", .given = true };
    bool below = true;
    char *text = NULL;

    ok (cgroup_locate (&pc, &a, &cg, &e) >= 0, "a relative path %s", e.msg);
    (void)fd_read_file (AT_FDCWD, "/proc/self/cgroup", 65536, FD_HOST, &a, &text, NULL, &e);
    for (size_t i = 0; text && i < cg.n; i++) {
        size_t len = 0;
        const char *own = proc_cgroup_path (text, &cg.h[i], &len);

        len = len == 1 ? 0 : len;
        below = below && own && strncmp (cg.h[i].path, own, len) == 0 &&
                strcmp (cg.h[i].path + len, "/agentrt-test-relative") == 0;
    }
    ok (text && cg.n > 0 && below, "counts from the own cgroup in each hierarchy");
    pc.disabled = true;
    ok (cgroup_locate (&pc, &a, &cg, &e) >= 0 && cg.layout == CGROUP_NONE && cg.n == 0,
        "disabled is no cgroup");
    ok (cgroup_create (&cg, NULL, &e) >= 0, "which is made at no cost");
}

int main (void)
{
    test_paths ();
    test_relative ();
    return tap_done ();
}
