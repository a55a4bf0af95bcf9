/* plan_build, the step lists, policy and explain: pure, so any user can run it. */
#include <errno.h>
#include <sys/mount.h>

#include "base/cleanup.h"
#include "plan/build.h"
#include "plan/explain.h"
#include "plan/steps.h"
#include "policy/builtin.h"
#include "tests/unit/tap.h"

static const char *const env[] = { "A=1", "PATH=/x", "B=2", "A=3", "HOME=", NULL };
static const char *const args[] = { "sh", "-c", "true", NULL };
static const struct oci_process process = {
    .args = args, .n_args = 3, .env = env, .n_env = 5, .cwd = "/"
};
static const struct oci_root root = { .path = "rootfs" };

static struct plan_input input_of (const struct oci_config *c)
{
    return (struct plan_input){
        .id = "x", .bundle = "/b", .config = c, .host = { .permitted = UINT64_MAX }
    };
}

static void test_env (void)
{
    const struct oci_config c = { .root = &root, .process = &process };
    struct plan_input in = input_of (&c);
    AUTO_ARENA a = { 0 };
    struct err e = { 0 };
    struct plan p;

    in.host.listen_fds = 2;
    if (!ok (plan_build (&in, &a, &p, &e) == 0, "a small config gives a plan: %s", e.msg))
        return;
    (void)tap_is (p.process.env[0], "A=3", "of equal names the last counts, where the first was");
    (void)tap_is (p.process.env[1], "PATH=/x", "others keep their order");
    (void)tap_is (p.process.path, "/x", "PATH is found");
    (void)tap_is (p.process.env[4], "LISTEN_FDS=2", "LISTEN_FDS is added");
    (void)tap_is (p.process.env[5], "LISTEN_PID=1", "LISTEN_PID is init");
    (void)ok (p.process.home_slot && strcmp (*p.process.home_slot, "HOME=") == 0,
              "an empty HOME is to be filled in");
    (void)tap_is (p.rootfs, "/b/rootfs", "a relative root lies below the bundle");
    (void)tap_is (p.cgroup.path, "/x", "without cgroupsPath the id names the cgroup");
}

static void test_groups (void)
{
    static const uint32_t groups[] = { 30, 4000000000U, 5, 30, 0 };
    static const struct oci_user user = { .additional_gids = groups, .n_additional_gids = 5 };
    struct oci_process grouped = process;
    const struct oci_config c = { .root = &root, .process = &grouped };
    struct plan_input in = input_of (&c);
    AUTO_ARENA a = { 0 };
    struct err e = { 0 };
    struct plan p;
    bool ascending = true;

    grouped.user = &user;
    if (!ok (plan_build (&in, &a, &p, &e) == 0 && p.process.n_gids == 5, "groups: %s", e.msg))
        return;
    for (size_t i = 1; i < p.process.n_gids; i++)
        ascending = ascending && p.process.gids[i - 1] <= p.process.gids[i];
    (void)ok (ascending && p.process.gids[3] == 30 && p.process.gids[4] == 4000000000U,
              "are sorted, all of them");
}

static void test_many_env (void)
{
    enum { N = 100000 };
    AUTO_ARENA a = { 0 };
    const char **many = arena_calloc (&a, N + 1, sizeof *many);
    struct oci_process big = process;
    const struct oci_config c = { .root = &root, .process = &big };
    struct plan_input in = input_of (&c);
    struct err e = { 0 };
    struct plan p;

    for (int i = 0; i < N; i++)
        many[i] = arena_printf (&a, "V%d=%d", i % (N / 2), i);
    big.env = many;
    big.n_env = N;
    (void)ok (plan_build (&in, &a, &p, &e) == 0 && !p.process.env[N / 2 + 1],
              "100000 variables with 50000 names: one entry each, and room for HOME");
    (void)tap_is (p.process.env[7], "V7=50007", "the last one counts");
}

static void test_caps (void)
{
    static const char *const names[] = { "CAP_KILL", "CAP_SYS_RESOURCE", "CAP_NO_SUCH", NULL };
    const struct oci_capabilities caps = { .bounding = names, .n_bounding = 3 };
    struct oci_process with = process;
    const struct oci_config c = { .root = &root, .process = &with };
    struct plan_input in = input_of (&c);
    AUTO_ARENA a = { 0 };
    struct err e = { 0 };
    struct plan p;

    with.capabilities = &caps;
    in.host.permitted = ~(UINT64_C (1) << 24);
    (void)ok (plan_build (&in, &a, &p, &e) == 0 && p.process.caps[CAPS_BOUNDING] == UINT64_C (1)
                                                                                        << 5,
              "unknown capabilities and those that the caller lacks are left out");
    (void)ok (p.process.caps_withheld == UINT64_C (1) << 24, "and the latter are remembered");
}

static void test_namespaces (void)
{
    static const struct oci_namespace ns[] = { { .type = OCI_NS_USER },
                                               { .type = OCI_NS_NETWORK, .path = "/n" },
                                               { .type = OCI_NS_UTS, .path = "" } };
    static const struct oci_id_mapping maps[] = { { 0, 100000, 65536 } };
    const struct oci_linux l = { .namespaces = ns,
                                 .n_namespaces = 3,
                                 .uid_mappings = maps,
                                 .n_uid_mappings = 1,
                                 .gid_mappings = maps,
                                 .n_gid_mappings = 1 };
    const struct oci_config c = { .root = &root, .process = &process, .linux_ = &l };
    struct plan_input in = input_of (&c);
    AUTO_ARENA a = { 0 };
    struct err e = { 0 };
    struct plan p;

    if (!ok (plan_build (&in, &a, &p, &e) == 0, "namespaces are planned: %s", e.msg))
        return;
    (void)ok (p.ns[NS_USER].mode == NS_MAKE && p.ns[NS_NET].mode == NS_JOIN &&
                  p.ns[NS_UTS].mode == NS_MAKE && p.ns[NS_PID].mode == NS_INHERIT,
              "listed: made; with a path: joined; not listed: the caller's");
    (void)ok (p.host_root_is_outside && !plan_wants_seal (&p),
              "a root that is not the host's needs no sealed program");
    in.is_exec = true;
    (void)ok (plan_build (&in, &a, &p, &e) == 0 && p.ns[NS_USER].mode == NS_INHERIT &&
                  p.host_root_is_outside,
              "exec makes no namespace and keeps what the maps mean");
}

/* Each of the conditions alone is seen to matter. */
static void test_delegation (void)
{
    static const char *const rw[] = { "rw", "nosuid", NULL };
    static const char *const ro[] = { "ro", "nosuid", NULL };
    static const struct oci_namespace ns[] = { { .type = OCI_NS_MOUNT },
                                               { .type = OCI_NS_CGROUP },
                                               { .type = OCI_NS_USER } };
    static const struct oci_id_mapping map[] = {
        { .container_id = 0, .host_id = 5000, .size = 9 }
    };
    static const struct {
        const char *const *options;
        size_t n_ns;
        uint32_t uid;
        bool rootless, want;
    } cases[] = {
        { rw, 3, 2, false, true },  { ro, 3, 2, false, false }, { rw, 2, 2, false, false },
        { rw, 3, 9, false, false }, { rw, 3, 2, true, false },
    };

    for (size_t i = 0; i < ARRAY_LEN (cases); i++) {
        const struct oci_mount m = { .destination = "/sys/fs/cgroup",
                                     .type = "cgroup",
                                     .options = cases[i].options,
                                     .n_options = 2 };
        const struct oci_user user = { .uid = cases[i].uid, .gid = 1 };
        const struct oci_linux l = { .namespaces = ns,
                                     .n_namespaces = cases[i].n_ns,
                                     .uid_mappings = map,
                                     .n_uid_mappings = 1,
                                     .gid_mappings = map,
                                     .n_gid_mappings = 1 };
        struct oci_process proc = process;
        const struct oci_config c = {
            .root = &root, .process = &proc, .linux_ = &l, .mounts = &m, .n_mounts = 1
        };
        struct plan_input in = input_of (&c);
        AUTO_ARENA a = { 0 };
        struct err e = { 0 };
        struct plan p;
        int r;

        proc.user = &user;
        in.host.is_rootless = cases[i].rootless;
        r = plan_build (&in, &a, &p, &e);
        ok (r == 0 && p.cgroup.delegated == cases[i].want &&
                (!cases[i].want || (p.cgroup.owner_uid == 5002 && p.cgroup.owner_gid == 5001)),
            "delegation %zu: %s", i, e.msg);
    }
}

/* Without power over the host a container needs a user namespace; explain is nobody's start. */
static void test_privilege (void)
{
    static const struct oci_namespace user_ns[] = { { .type = OCI_NS_USER } };
    static const struct {
        uint32_t uid;
        uint64_t permitted;
        size_t n_ns;
        bool is_exec;
        int want;
    } cases[] = {
        { 1000, 0, 0, false, -EPERM },     { 1000, 0, 1, false, 0 }, { 1000, 0, 0, true, 0 },
        { 1000, UINT64_MAX, 0, false, 0 }, { 0, 0, 0, false, 0 },
    };

    for (size_t i = 0; i < ARRAY_LEN (cases); i++) {
        const struct oci_linux l = { .namespaces = user_ns, .n_namespaces = cases[i].n_ns };
        const struct oci_config c = { .root = &root, .process = &process, .linux_ = &l };
        struct plan_input in = input_of (&c);
        AUTO_ARENA a = { 0 };
        struct err e = { 0 };
        struct plan p;

        in.is_exec = cases[i].is_exec;
        in.host.uid = cases[i].uid;
        in.host.permitted = cases[i].permitted;
        ok (plan_build (&in, &a, &p, &e) == cases[i].want, "privilege %zu: %s", i, e.msg);
    }
}

static void test_sysctls (void)
{
    static const struct oci_kv kv[] = { { "net.ipv4.ip_forward", "1" },
                                        { "net/ipv4/conf/eth0.1/forwarding", "1" },
                                        { "net.ipv4.conf.eth0/1.forwarding", "1" } };
    const struct oci_linux l = { .sysctl = kv, .n_sysctl = 3 };
    const struct oci_config c = { .root = &root, .process = &process, .linux_ = &l };
    struct plan_input in = input_of (&c);
    AUTO_ARENA a = { 0 };
    struct err e = { 0 };
    struct plan p;

    if (!ok (plan_build (&in, &a, &p, &e) == 0, "sysctls are planned"))
        return;
    (void)tap_is (p.sysctls[0].path, "net/ipv4/ip_forward", "dots separate");
    (void)tap_is (p.sysctls[1].path, "net/ipv4/conf/eth0.1/forwarding", "a slash first: a path");
    (void)tap_is (p.sysctls[2].path, "net/ipv4/conf/eth0.1/forwarding",
                  "a slash after a dot is a dot");
}

static void test_steps (void)
{
    static const struct step_text wrong[] = { { .name = "a", .after = "b" },
                                              { .name = "b", .after = "" } };

    (void)ok (steps_misplaced (parent_step_texts, n_parent_steps) == -1,
              "each parent row stands after what it relies on");
    (void)ok (steps_misplaced (child_step_texts, n_child_steps) == -1, "each child row too");
    (void)ok (steps_misplaced (wrong, ARRAY_LEN (wrong)) == 0, "a wrong order is noticed");
}

static size_t row (const char *name)
{
    for (size_t i = 0; i < n_child_steps; i++)
        if (strcmp (child_step_texts[i].name, name) == 0)
            return i;
    return SIZE_MAX;
}

/* What the rows' texts cannot say: orders that security rests on. */
static void test_order (void)
{
    static const char *const orders[][2] = {
        { "cgroup_enter", "cgroup_ns" },
        { "mounts", "pivot" },
        { "pivot", "terminal" },
        { "sysctl", "readonly_paths" },
        { "cwd_make", "root_readonly" },
        { "bounding", "ids" },
        { "ids", "capabilities" },
        { "lsm", "ids" },
        { "capabilities", "no_new_privs" },
        { "seccomp_early", "bounding" },
        { "no_new_privs", "seccomp" },
        { "fds", "gate" },
        { "gate", "hooks_start" },
        { "hooks_start", "seccomp" },
        { "rlimits", "seccomp" },
    };

    for (size_t i = 0; i < ARRAY_LEN (orders); i++)
        (void)ok (row (orders[i][0]) < row (orders[i][1]) && row (orders[i][1]) != SIZE_MAX,
                  "%s before %s", orders[i][0], orders[i][1]);
    (void)ok (row ("seccomp") == n_child_steps - 1, "the filter comes last");
}

static void test_explain (void)
{
    const struct oci_config c = { .root = &root, .process = &process };
    const struct policy_input given = { .config = &c };
    struct plan_input in = input_of (&c);
    AUTO_ARENA a = { 0 };
    AUTO_STRBUF text = { 0 };
    struct policy oci;
    struct policy_result result;
    struct err e = { 0 };
    struct plan p;

    (void)ok (policy_from_builtin ("oci", &a, &oci, &e) == 0 &&
                  policy_apply (&oci, &given, &a, &result, &e) == 0 && result.config == &c,
              "policy oci changes nothing");
    (void)ok (plan_build (&in, &a, &p, &e) == 0 &&
                  explain_print (&p, &result, false, &text, &e) == 0 && strstr (text.s, "pivot"),
              "explain prints the rows");
}

int main (void)
{
    test_env ();
    test_groups ();
    test_many_env ();
    test_caps ();
    test_namespaces ();
    test_delegation ();
    test_privilege ();
    test_sysctls ();
    test_steps ();
    test_order ();
    test_explain ();
    return tap_done ();
}
