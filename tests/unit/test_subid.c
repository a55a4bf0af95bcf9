/* Pieces of /etc/subuid, and the names of pods: pure, so any user can run it. */
#include "exec/pod.h"
#include "exec/subid.h"
#include "tests/unit/tap.h"

#include "base/cleanup.h"

static const struct {
    const char *text;
    size_t n;
    uint32_t first, last;
    const char *error;
} cases[] = {
    { "agentrt:100000:65536\n", 1, 100000, 100000, NULL },
    { "agentrt:100000:65536", 1, 100000, 100000, NULL },
    { "agentrt:100000:200000\n", 3, 100000, 231072, NULL },
    { "root:1:9\nagentrt:100000:65536\nagentrt:900000:131072\n", 3, 100000, 965536, NULL },
    { "containers:5:65536\nagentrt:100000:65536\n", 1, 100000, 100000, NULL },
    { "containers:500000:65536\nagentrt:100000:65535\n", 1, 500000, 500000, NULL },
    { "agentrt:4294901759:65536\n", 1, 4294901759, 4294901759, NULL },
    { "", 0, 0, 0, "f has no 65536 ids for the user 'agentrt': add a line such as" },
    { "xagentrt:100000:65536\nagentrt2:1:65536\n", 0, 0, 0, "f has no 65536 ids" },
    { "agentrt:100000:65535\n", 0, 0, 0, "f has no 65536 ids" },
    { "agentrt:100000\n", 0, 0, 0, "f: '100000' is no START:COUNT" },
    { "agentrt:\n", 0, 0, 0, "f: '' is no START:COUNT" },
    { "agentrt:0:65536\n", 0, 0, 0, "f: " },
    { "agentrt:-1:65536\n", 0, 0, 0, "f: " },
    { "agentrt:100000:65536:1\n", 0, 0, 0, "f: " },
    { "agentrt:4294901760:65536\n", 0, 0, 0, "f: " },
    { "agentrt:4294967295:1\n", 0, 0, 0, "f: " },
};

static void test_pieces (void)
{
    for (size_t i = 0; i < ARRAY_LEN (cases); i++) {
        AUTO_ARENA a = { 0 };
        struct subid_pieces p = { 0 };
        struct err e = { 0 };
        int r = subid_parse (cases[i].text, "f", &a, &p, &e);

        if (cases[i].error)
            ok (r < 0 && strstr (e.msg, cases[i].error), "%zu: %s", i, e.msg);
        else
            ok (r == 0 && p.n == cases[i].n && p.first[0] == cases[i].first &&
                    p.first[p.n - 1] == cases[i].last,
                "%zu: %zu pieces from %u: %s", i, p.n, cases[i].first, e.msg);
    }
}

static void test_pod_name (void)
{
    static const struct oci_kv kv[] = { { "a", "b" },
                                        { "io.kubernetes.cri.sandbox-idx", "no" },
                                        { "io.kubernetes.cri.sandbox-id", "p1" },
                                        { "io.kubernetes.cri-o.SandboxID", "p2" } };

    (void)tap_is (pod_name (kv, 4), "p1", "containerd's name of a pod");
    (void)tap_is (pod_name (kv + 3, 1), "p2", "CRI-O's, which is Podman's");
    (void)tap_is (pod_name (kv, 2), NULL, "no pod");
    (void)tap_is (pod_name (NULL, 0), NULL, "no annotations");
}

int main (void)
{
    test_pieces ();
    test_pod_name ();
    return tap_done ();
}
