/*
 * spec/: what a bundle's config may say beyond its rows.
 */
#include "spec/resources.h"
#include "spec/spec.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "golden.h"
#include "spec/sysctl.h"
#include "tap.h"

/* The message of reading and checking TEXT, "" when it is taken. In the arena. */
static const char *message (const char *text, size_t len, struct arena *a)
{
    struct err e = { 0 };
    const void *doc;
    int r = oci_parse (&oci_config_type, text, len, a, &doc, NULL, &e);

    if (r == 0)
        r = spec_check (doc, &e);
    return r < 0 ? arena_strdup (a, e.msg) : "";
}

/* ---- tests/golden/broken: NAME.json is refused with what NAME.expect says ---- */

static void check_broken_one (const char *file)
{
    int stem = (int)(strrchr (file, '.') - file);
    AUTO_ARENA a = { 0 };
    size_t len, want_len;
    char *text = golden_read (golden_path ("broken", file, &a), &a, &len);
    char *expect = arena_printf (&a, "%.*s.expect", stem, file);
    char *want = golden_read (golden_path ("broken", expect, &a), &a, &want_len);
    const char *got = message (text, len, &a);

    want[strcspn (want, "\n")] = '\0';
    if (!ok (*want && strstr (got, want) && !strchr (got, '\n'), "%s: %s", file, want))
        (void)printf ("# got '%s'\n", got);
}

static void check_broken (void)
{
    AUTO_ARENA a = { 0 };
    AUTO_DIR *dir = opendir (golden_path ("broken", "", &a));
    size_t n = 0;

    for (struct dirent *d; dir && (d = readdir (dir));) {
        if (!strstr (d->d_name, ".json"))
            continue;
        check_broken_one (d->d_name);
        n++;
    }
    ok (n >= 60, "%zu broken configs", n);
}

/* ---- what engines write is taken ---- */

static void check_recordings (void)
{
    AUTO_ARENA a = { 0 };
    AUTO_DIR *dir = opendir (golden_path ("configs", "", &a));
    size_t n = 0;

    for (struct dirent *d; dir && (d = readdir (dir));) {
        size_t len;
        char *text;

        if (strncmp (d->d_name, "config-", 7) != 0)
            continue;
        text = golden_read (golden_path ("configs", d->d_name, &a), &a, &len);
        tap_is (message (text, len, &a), "", d->d_name);
        n++;
    }
    ok (n >= 8, "%zu recordings", n);
}

/* ---- the good side of each rule ---- */

#define HEAD "{\"ociVersion\":\"1.0.0\",\"root\":{\"path\":\"r\"},"
#define LINUX(...)                                                                                 \
    HEAD "\"linux\":{\"namespaces\":[{\"type\":\"mount\"},{\"type\":\"network\"},{\"type\":"       \
         "\"ipc\"},"                                                                               \
         "{\"type\":\"uts\"},{\"type\":\"time\"}]," __VA_ARGS__ "}}"
#define PROCESS(...)                                                                               \
    HEAD "\"process\":{\"cwd\":\"/\",\"args\":[\"x\"]," __VA_ARGS__ "},"                           \
         "\"linux\":{\"namespaces\":[{\"type\":\"mount\"}]}}"
#define USERNS(maps)                                                                               \
    HEAD "\"linux\":{\"namespaces\":[{\"type\":\"mount\"},{\"type\":\"user\"}],"                   \
         "\"uidMappings\":[" maps "],\"gidMappings\":[" maps "]}}"

static void check_good (void)
{
    static const struct {
        const char *what, *text;
    } cases[] = {
        { "no process before start", LINUX ("\"devices\":[]") },
        { "a pre-release", "{\"ociVersion\":\"1.0.2-dev+x.1\",\"root\":{\"path\":\"r\"},\"linux\":{"
                           "\"namespaces\":[{\"type\":\"mount\"}]}}" },
        { "a later 1.x", "{\"ociVersion\":\"1.99.0\",\"root\":{\"path\":\"r\"},\"linux\":{"
                         "\"namespaces\":[{\"type\":\"mount\"}]}}" },
        { "sysctl of own namespaces",
          LINUX ("\"sysctl\":{\"net.ipv4.ip_forward\":\"1\",\"net/ipv4/conf/eth0.1/forwarding\":"
                 "\"1\",\"net.ipv4.conf.eth0/1.forwarding\":\"1\",\"kernel.shmmax\":\"1\","
                 "\"fs.mqueue.msg_max\":\"5\",\"kernel.sem\":\"1 2 3 4\"}") },
        { "offsets of a new time namespace",
          LINUX ("\"timeOffsets\":{\"boottime\":{\"secs\":-1}}") },
        { "a FIFO without numbers", LINUX ("\"devices\":[{\"type\":\"p\",\"path\":\"/dev/f\"}]") },
        { "no limit of swap",
          LINUX ("\"resources\":{\"memory\":{\"limit\":1048576,\"swap\":-1}}") },
        { "page sizes",
          LINUX ("\"resources\":{\"hugepageLimits\":[{\"pageSize\":\"2MB\",\"limit\":0},"
                 "{\"pageSize\":\"64KB\",\"limit\":1}]}") },
        { "errno of an action that has one",
          LINUX ("\"seccomp\":{\"defaultAction\":\"SCMP_ACT_ERRNO\",\"defaultErrnoRet\":4095,"
                 "\"syscalls\":[{\"names\":[\"execve\"],\"action\":\"SCMP_ACT_TRACE\",\"errnoRet\":"
                 "65535}]}") },
        { "an empty table of devices", LINUX ("\"netDevices\":{}") },
        { "console size without a terminal",
          PROCESS ("\"consoleSize\":{\"height\":70000,\"width\":70000}") },
        { "unknown capabilities", PROCESS ("\"capabilities\":{\"bounding\":[\"CAP_NOT_YET\"]}") },
        { "soft equal to hard",
          PROCESS ("\"rlimits\":[{\"type\":\"RLIMIT_CORE\",\"soft\":1,\"hard\":1}]") },
        { "an empty value in env", PROCESS ("\"env\":[\"A=\",\"B==\"]") },
        { "round robin", PROCESS ("\"scheduler\":{\"policy\":\"SCHED_RR\",\"priority\":1}") },
        { "id maps side by side", USERNS ("{\"containerID\":0,\"hostID\":1000,\"size\":1},"
                                          "{\"containerID\":1,\"hostID\":100000,\"size\":65536}") },
        { "maps up to the last id",
          USERNS ("{\"containerID\":0,\"hostID\":0,\"size\":4294967295}") },
        { "maps of a joined user namespace", HEAD
          "\"linux\":{\"namespaces\":[{\"type\":\"mount\"},{\"type\":\"user\",\"path\":\"/u\"}],"
          "\"uidMappings\":[{\"containerID\":0,\"hostID\":1,\"size\":1}]}}" },
    };
    AUTO_ARENA a = { 0 };

    for (size_t i = 0; i < ARRAY_LEN (cases); i++)
        tap_is (message (cases[i].text, strlen (cases[i].text), &a), "", cases[i].what);
}

static void check_sysctl_names (void)
{
    static const struct {
        const char *key, *path;
    } cases[] = {
        { "net.ipv4.ip_forward", "net/ipv4/ip_forward" },
        { "net.ipv4.conf.eth0/1.forwarding", "net/ipv4/conf/eth0.1/forwarding" },
        { "net/ipv4/conf/eth0.1/forwarding", "net/ipv4/conf/eth0.1/forwarding" },
        { "plain", "plain" },
        { "", "" },
    };

    for (size_t i = 0; i < ARRAY_LEN (cases); i++) {
        char buf[64];

        (void)snprintf (buf, sizeof buf, "%s", cases[i].key);
        sysctl_to_path (buf);
        tap_is (buf, cases[i].path, "sysctl name as a path");
    }
}

/* As many as fit a document must not take quadratic time. */
static void check_many_devices (void)
{
    AUTO_STRBUF b = { 0 };
    AUTO_ARENA a = { 0 };

    strbuf_adds (&b, HEAD "\"linux\":{\"namespaces\":[{\"type\":\"mount\"}],\"devices\":[");
    for (unsigned int i = 0; i < 100000; i++)
        strbuf_addf (&b, "%s{\"type\":\"p\",\"path\":\"/%u\"}", i ? "," : "", i);
    strbuf_adds (&b, "]}}");
    tap_is (message (b.s, b.len, &a), "", "a hundred thousand devices");
}

/* ---- the default config ---- */

static const struct oci_mount *mount_at (const struct oci_config *c, const char *dest)
{
    for (size_t i = 0; i < c->n_mounts; i++)
        if (strcmp (c->mounts[i].destination, dest) == 0)
            return &c->mounts[i];
    return NULL;
}

static void check_default (bool rootless)
{
    const struct spec_default_options o = {
        .rootless = rootless, .cgroup_namespace = true, .uid = 1000, .gid = 1001
    };
    AUTO_ARENA a = { 0 };
    AUTO_STRBUF b = { 0 };
    struct err e = { 0 };
    const struct oci_config *c = spec_default (&o, &a);
    const char *kind = rootless ? "rootless" : "default";

    ok (oci_emit (&oci_config_type, c, OCI_PRETTY, &b, &e) == 0, "%s: is written", kind);
    tap_is (message (b.s, b.len, &a), "", "and passes its own check");
    ok (c->root->readonly && c->process->no_new_privileges && !c->process->capabilities->ambient &&
            !c->process->capabilities->inheritable && c->process->capabilities->n_bounding == 3,
        "%s: read-only, no new privileges, three capabilities", kind);
    ok (c->linux_->n_namespaces == (rootless ? 7 : 6), "%s: namespaces", kind);
    ok (mount_at (c, "/proc") && mount_at (c, "/dev") && mount_at (c, "/sys"), "%s: mounts", kind);
    ok ((c->linux_->n_uid_mappings == 1) == rootless, "%s: id maps", kind);
    ok (!rootless || (c->linux_->uid_mappings->host_id == 1000 &&
                      c->linux_->gid_mappings->host_id == 1001 && !c->linux_->resources),
        "%s: the caller is its root, and there are no cgroup limits", kind);
}

/* ---- loading ---- */

static void tap_load (int dir, const char *name, const char *want)
{
    AUTO_ARENA a = { 0 };
    struct err e = { 0 };
    const struct oci_config *c = NULL;

    if (spec_load (dir, name, &a, &c, NULL, &e) == 0)
        e.msg[0] = '\0';
    tap_is (e.msg, want, want && *want ? want : "loads");
}

static void check_load (void)
{
    char path[] = "/tmp/test-spec-XXXXXX";
    const char *good = HEAD "\"x\":1}";
    AUTO_FD dir = mkdtemp (path) ? open (path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    AUTO_FD file = openat (dir, "config.json", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    AUTO_FD big = openat (dir, "big", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    AUTO_FD bad = openat (dir, "bad", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

    ok (write (file, good, strlen (good)) > 0 && write (bad, "{}", 2) == 2 &&
            ftruncate (big, OCI_MAX_BYTES + 1) == 0 && mkfifoat (dir, "fifo", 0600) == 0 &&
            mkdirat (dir, "folder", 0700) == 0 && symlinkat ("config.json", dir, "link") == 0,
        "a bundle");
    tap_load (dir, "config.json", "");
    tap_load (dir, "link", "");
    tap_load (dir, "none", "none: does not exist");
    tap_load (dir, "fifo", "fifo: not a regular file");
    tap_load (dir, "folder", "folder: not a regular file");
    tap_load (dir, "big", "'big' is larger than 4194304 bytes");
    tap_load (dir, "bad", "bad: /ociVersion: required, but missing");
    ok (unlinkat (dir, "config.json", 0) == 0 && unlinkat (dir, "big", 0) == 0 &&
            unlinkat (dir, "bad", 0) == 0 && unlinkat (dir, "fifo", 0) == 0 &&
            unlinkat (dir, "folder", AT_REMOVEDIR) == 0 && unlinkat (dir, "link", 0) == 0 &&
            rmdir (path) == 0,
        "nothing is left");
}

/* ---- a process of its own ---- */

static void check_process (void)
{
    static const char *const args[] = { "x", NULL };
    struct oci_process p = { .cwd = "x", .args = args, .n_args = 1 };
    struct err e = { 0 };

    ok (spec_check_process (&p, "", &e) == -EINVAL, "a bad process document");
    tap_is (e.msg, "/cwd: must be absolute", "counts its paths from itself");
    p.cwd = "/";
    ok (spec_check_process (&p, "", &e) == 0, "a good one");
}

/* ---- updates ---- */

/* The limits of a container with KEPT after an update with ASKED. */
static const char *updated (const char *kept, const char *asked, struct arena *a)
{
    static const struct oci_linux none = { 0 };
    const void *old, *more;
    struct oci_linux l = none;
    struct oci_config c = { .oci_version = "1.0.0", .linux_ = &l };
    struct spec_update u;
    struct strbuf out = { 0 };
    struct err e = { 0 };
    const char *text;

    if (oci_parse (&oci_linux_resources_type, kept, strlen (kept), a, &old, NULL, &e) < 0 ||
        oci_parse (&oci_linux_resources_type, asked, strlen (asked), a, &more, NULL, &e) < 0)
        return arena_strdup (a, e.msg);
    l.resources = old;
    if (spec_update_make (&c, more, a, &u, &e) < 0 ||
        oci_emit (&oci_linux_resources_type, u.config->linux_->resources, OCI_COMPACT, &out, &e) <
            0)
        return arena_strdup (a, e.msg);
    text = arena_strdup (a, out.s);
    strbuf_free (&out);
    return text;
}

static void check_updates (void)
{
    static const struct {
        const char *kept, *asked, *want;
    } t[] = {
        { "{\"memory\":{\"limit\":4096}}", "{\"pids\":{\"limit\":0}}",
          "{\"memory\":{\"limit\":4096},\"pids\":{\"limit\":0}}" },
        { "{\"cpu\":{\"shares\":5,\"quota\":6,\"cpus\":\"0\"}}",
          "{\"cpu\":{\"shares\":0,\"quota\":7,\"period\":0,\"cpus\":\"\"}}",
          "{\"cpu\":{\"shares\":5,\"quota\":7,\"cpus\":\"0\"}}" },
        { "{\"memory\":{\"limit\":4096,\"swap\":4096}}", "{\"memory\":{\"limit\":-1}}",
          "{\"memory\":{\"limit\":-1,\"swap\":-1}}" },
        { "{\"memory\":{\"limit\":4096}}", "{\"memory\":{\"limit\":-1}}",
          "{\"memory\":{\"limit\":-1}}" },
        { "{\"memory\":{\"limit\":4096,\"swap\":4096,\"disableOOMKiller\":true}}",
          "{\"memory\":{\"limit\":0,\"swap\":0,\"kernel\":0,\"disableOOMKiller\":false}}",
          "{\"memory\":{\"limit\":4096,\"swap\":4096,\"kernel\":0,\"disableOOMKiller\":true}}" },
        { "{\"devices\":[{\"allow\":true,\"access\":\"rwm\"}]}",
          "{\"devices\":[{\"allow\":false,\"access\":\"rwm\"}]}",
          "{\"devices\":[{\"allow\":true,\"access\":\"rwm\"}]}" },
        { "{\"blockIO\":{\"weight\":10,\"throttleReadBpsDevice\":[{\"major\":8,\"minor\":0,"
          "\"rate\":1},"
          "{\"major\":8,\"minor\":16,\"rate\":2}]}}",
          "{\"blockIO\":{\"weight\":0,\"throttleReadBpsDevice\":[{\"major\":8,\"minor\":0,\"rate\":"
          "0}]}}",
          "{\"blockIO\":{\"weight\":10,\"throttleReadBpsDevice\":[{\"major\":8,\"minor\":16,"
          "\"rate\":2},"
          "{\"major\":8,\"minor\":0,\"rate\":0}]}}" },
        { "{\"hugepageLimits\":[{\"pageSize\":\"2MB\",\"limit\":1}],\"unified\":{\"a.b\":\"1\",\"c."
          "d\":\"2\"}}",
          "{\"hugepageLimits\":[{\"pageSize\":\"1GB\",\"limit\":2}],\"unified\":{\"c.d\":\"3\"}}",
          "{\"hugepageLimits\":[{\"pageSize\":\"2MB\",\"limit\":1},{\"pageSize\":\"1GB\",\"limit\":"
          "2}],"
          "\"unified\":{\"a.b\":\"1\",\"c.d\":\"3\"}}" },
        { "{\"network\":{\"classID\":7,\"priorities\":[{\"name\":\"a\",\"priority\":1}]}}",
          "{\"network\":{\"classID\":0,\"priorities\":[{\"name\":\"b\",\"priority\":2}]}}",
          "{\"network\":{\"classID\":7,\"priorities\":[{\"name\":\"a\",\"priority\":1},"
          "{\"name\":\"b\",\"priority\":2}]}}" },
        { "{}", "{\"unified\":{\"../x\":\"1\"}}",
          "/linux/resources/unified: '../x' is not a file name" },
    };

    for (size_t i = 0; i < ARRAY_LEN (t); i++) {
        AUTO_ARENA a = { 0 };

        tap_is (updated (t[i].kept, t[i].asked, &a), t[i].want, t[i].asked);
    }
}

int main (void)
{
    check_broken ();
    check_recordings ();
    check_good ();
    check_sysctl_names ();
    check_many_devices ();
    check_default (false);
    check_default (true);
    check_load ();
    check_process ();
    check_updates ();
    return tap_done ();
}
