/*
 * What engines bring into a container passes, at their own data roots and at others, and nothing
 * else of their data does. The sources are those of real configs of these engines.
 */
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "guard_box.h"
#include "tap.h"

#define ID    "496c7c73ad48c45ba0f432a070522a6c9eed14aca64fc51024775f8967d32cb9"
#define UID   "6f1c2a3e-0d1b-4f57-9d1d-0c2f9a8f7b11"
#define DEEP  "/srv/engine/data" /* a data root that nobody knows by name */
#define LINES 24

struct engine {
    const char *name;
    const char *root;           /* of its data */
    const char *marks[LINES];   /* what there is in it besides; ending in '/': a folder */
    const char *brought[LINES]; /* passes */
    const char *hidden[LINES];  /* does not; what is made for these is a file, too */
    const char *rootfs;         /* the container's, as config.json has it; NULL: elsewhere */
};

static const struct engine engines[] = {
    { .name = "Docker 20 and 28",
      .root = "/var/lib/docker",
      .marks = { "containers/", "volumes/metadata.db", "network/files/local-kv.db" },
      .brought = { "containers/" ID "/hosts", "containers/" ID "/hostname",
                   "containers/" ID "/resolv.conf", "containers/" ID "/mounts/shm/",
                   "containers/" ID "/mounts/secrets/key", "volumes/named/_data/",
                   "volumes/" ID "/_data/part/", "buildkit/executor/hosts.9",
                   "buildkit/executor/resolv.conf", "plugins/" ID "/propagated-mount/v/",
                   "overlay2/" ID "/merged/etc/" },
      .hidden = { "containers/" ID "/config.v2.json", "containers/" ID "/" ID "-json.log",
                  "containers/x/hosts", "containers/hosts", "hosts", "volumes/named/", "volumes/",
                  "volumes/metadata.db", "overlay2/other/merged/", "overlay2/", "containers/",
                  "image/", "swarm/x/_data/", "containers/" ID "/hosts.bak" },
      .rootfs = "overlay2/" ID "/merged" },
    { .name = "Podman 4 and 5: data, CRI-O",
      .root = "/var/lib/containers/storage",
      .marks = { "overlay-containers/", "storage.lock" },
      .brought = { "overlay-containers/" ID "/userdata/shm/", "volumes/v/_data/",
                   "volumes/v/_data/part/", "overlay-containers/" ID "/userdata/secrets/s",
                   "overlay-containers/" ID "/userdata/overlay/7/merge/",
                   "overlay-containers/" ID "/volumes/v/" },
      .hidden = { "overlay-containers/" ID "/userdata/config.json", "volumes/v/",
                  "overlay-containers/" ID "/", "overlay/", "libpod/db.sql",
                  "overlay-containers/containers.json", "secrets/filedriver/secretsdata.json" },
      .rootfs = "overlay/" ID "/merged" },
    { .name = "Podman 4 and 5: run files, CRI-O",
      .root = "/run/containers/storage",
      .marks = { "overlay-containers/" },
      .brought = { "overlay-containers/" ID "/userdata/hosts",
                   "overlay-containers/" ID "/userdata/hostname",
                   "overlay-containers/" ID "/userdata/resolv.conf",
                   "overlay-containers/" ID "/userdata/.containerenv",
                   "overlay-containers/" ID "/userdata/run/secrets/",
                   "overlay-containers/" ID "/userdata/passwd",
                   "overlay-containers/" ID "/userdata/group",
                   "overlay-containers/" ID "/userdata/localtime",
                   "overlay-containers/" ID "/userdata/notify/",
                   "overlay-containers/" ID "/userdata/shm/" },
      .hidden = { "overlay-containers/" ID "/userdata/attach", "overlay-containers/",
                  "overlay-containers/" ID "/userdata/hosts/x" } },
    { .name = "Podman with vfs",
      .root = DEEP,
      .marks = { "vfs-containers/" },
      .brought = { "vfs-containers/" ID "/userdata/hosts",
                   "vfs-containers/" ID "/userdata/hostname",
                   "vfs-containers/" ID "/userdata/resolv.conf",
                   "vfs-containers/" ID "/userdata/.containerenv",
                   "vfs-containers/" ID "/userdata/shm/", "vfs-containers/" ID "/userdata/run/x",
                   "volumes/v/_data/" },
      .hidden = { "vfs-containers/" ID "/userdata/config.json", "vfs/dir/" ID "/" } },
    { .name = "rootless Podman",
      .root = "/home/ann/.local/share/containers/storage",
      .marks = { "overlay-containers/" },
      .brought = { "overlay-containers/" ID "/userdata/shm/", "volumes/v/_data/" },
      .hidden = { "overlay-containers/" ID "/userdata/config.json", "volumes/", "overlay/x/" } },
    { .name = "rootless Docker",
      .root = "/home/ann/.local/share/docker",
      .marks = { "containers/" },
      .brought = { "containers/" ID "/hosts", "volumes/v/_data/" },
      .hidden = { "containers/" ID "/config.v2.json", "volumes/" } },
    { .name = "containerd 1.6 and 2: data",
      .root = "/var/lib/containerd",
      .marks = { "io.containerd.metadata.v1.bolt/meta.db", "io.containerd.runtime.v2.task/" },
      .brought = { "io.containerd.grpc.v1.cri/sandboxes/" ID "/hosts",
                   "io.containerd.grpc.v1.cri/sandboxes/" ID "/hostname",
                   "io.containerd.grpc.v1.cri/sandboxes/" ID "/resolv.conf",
                   "io.containerd.grpc.v1.cri/containers/" ID "/volumes/" ID "/",
                   "io.containerd.cri.v1.runtime/sandboxes/" ID "/hosts" },
      .hidden = { "io.containerd.grpc.v1.cri/sandboxes/" ID "/status", "io.containerd.grpc.v1.cri/",
                  "io.containerd.content.v1.content/blobs/",
                  "io.containerd.snapshotter.v1.overlayfs/snapshots/1/fs/",
                  "io.containerd.metadata.v1.bolt/meta.db", "sandboxes/" ID "/hosts" } },
    { .name = "containerd 1.6 and 2: run files",
      .root = "/run/containerd",
      .marks = { "io.containerd.runtime.v2.task/" },
      .brought = { "io.containerd.grpc.v1.cri/sandboxes/" ID "/shm/" },
      .hidden = { "io.containerd.runtime.v2.task/k8s.io/" ID "/rootfs/", "runc/",
                  "io.containerd.grpc.v1.cri/sandboxes/" ID "/shm/x" } },
    { .name = "kubelet",
      .root = "/var/lib/kubelet",
      .marks = { "pods/", "plugins_registry/" },
      .brought = { "pods/" UID "/volumes/kubernetes.io~empty-dir/v/",
                   "pods/" UID "/volumes/kubernetes.io~projected/kube-api-access-x/",
                   "pods/" UID "/volume-subpaths/v/c/0/", "pods/" UID "/etc-hosts",
                   "pods/" UID "/containers/c/1a2b3c4d", "plugins/kubernetes.io/csi/v/" },
      .hidden = { "pods/" UID "/plugins/x/", "pods/" UID "/", "pods/", "pki/kubelet.key",
                  "config.yaml", "cpu_manager_state", "device-plugins/x" } },
};

#define NERDCTL "/var/lib/nerdctl"

static void make (const char *path)
{
    size_t n = strlen (path);
    char copy[512];

    (void)snprintf (copy, sizeof copy, "%s", path);
    if (path[n - 1] != '/') {
        box_file (path);
        return;
    }
    copy[n - 1] = '\0';
    box_folder (copy);
}

static void make_all (const char *root, const char *const *list)
{
    for (; *list; list++)
        if (!strstr (*list, "/hosts/x")) /* below a file */
            make (box_join (root, *list));
}

static bool is_refused (const char *source, const char *rootfs, const bool *off,
                        struct guard_finding *ret)
{
    const struct box_look l = { .source = source, .rootfs = rootfs, .off = off };

    return box_look (&l, ret);
}

/* ENGINE's data at ROOT. */
static void check_engine (const struct engine *engine, const char *root)
{
    const char *rootfs = engine->rootfs ? strdup (box_join (root, engine->rootfs)) : NULL;
    struct guard_finding f;

    make_all (root, engine->marks);
    make_all (root, engine->brought);
    make_all (root, engine->hidden);
    (void)ok (is_refused (root, rootfs, NULL, &f), "%s: %s", engine->name, root);
    for (const char *const *b = engine->brought; *b; b++)
        if (!ok (!is_refused (box_join (root, *b), rootfs, NULL, &f), "%s: %s passes", root, *b))
            (void)printf ("# %s\n", f.what);
    for (const char *const *h = engine->hidden; *h; h++)
        if (!strstr (*h, "/hosts/x"))
            (void)ok (
                is_refused (box_join (root, *h), rootfs, NULL, &f) &&
                    (strcmp (f.rule, "engine-data") == 0 || strcmp (f.rule, "credentials") == 0),
                "%s: %s does not", root, *h);
    free ((void *)(uintptr_t)rootfs);
    box_remove (root);
}

static void check_engines (void)
{
    for (size_t i = 0; i < sizeof engines / sizeof *engines; i++) {
        check_engine (&engines[i], engines[i].root);
        if (!strstr (engines[i].root, "/home/"))
            check_engine (&engines[i], DEEP);
    }
}

/* ---- each pattern alone ---- */
/* A path that fits PATTERN; with BROKEN one that nearly does. */
static const char *example (const char *pattern, bool broken, char buf[512])
{
    static const struct {
        const char *part, *text;
    } parts[] = {
        { "io.containerd.*cri*", "io.containerd.grpc.v1.cri" },
        { "*-containers", "overlay-containers" },
        { "hosts*", "hosts.1" },
        { "resolv*.conf", "resolv.conf" },
        { "**", "a/b" },
        { "*", "x" },
        { "@", ID },
    };
    size_t n = 0;
    char copy[256], *rest = copy;

    (void)snprintf (copy, sizeof copy, "%s", pattern);
    for (char *c; (c = strsep (&rest, "/"));) {
        const char *text = c;

        for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
            if (strcmp (parts[i].part, c) == 0)
                text = parts[i].text;
        n += (size_t)snprintf (buf + n, 512 - n, "%s%s", n ? "/" : "", text);
    }
    if (broken)
        (void)strcpy (buf + n - 1, "~");
    return buf;
}

static const struct guard_row *root_of (enum guard_layout layout)
{
    for (size_t i = 0; i < guard_n_rows; i++)
        if (guard_rows[i].layout == layout && guard_rows[i].kind == GUARD_ENGINE)
            return &guard_rows[i];
    return NULL;
}

/* With VFS there is no root by name. */
static const char *make_root (enum guard_layout layout)
{
    if (root_of (layout))
        return root_of (layout)->text;
    for (size_t i = 0; i < guard_n_rows; i++)
        if (guard_rows[i].kind == GUARD_MARK && guard_rows[i].layout == layout)
            box_folder (box_join (DEEP, guard_rows[i].text));
    return DEEP;
}

/* More than one pattern of a layout may fit, so all others are off. */
static void check_pass (size_t i)
{
    const char *root = make_root (guard_rows[i].layout);
    struct guard_finding f;
    char buf[512], path[512];
    bool off[1024] = { false };

    for (size_t j = 0; j < guard_n_rows; j++)
        off[j] = guard_rows[j].kind == GUARD_PASS && j != i;
    (void)snprintf (path, sizeof path, "%s/%s", root, example (guard_rows[i].text, false, buf));
    box_file (path);
    (void)ok (!is_refused (path, NULL, off, &f), "%s passes", path);
    off[i] = true;
    (void)ok (is_refused (path, NULL, off, &f), "%s does not without its row", path);
    off[i] = false;
    if (!strstr (guard_rows[i].text, "**") && !strstr (guard_rows[i].text, "hosts*")) {
        (void)snprintf (path, sizeof path, "%s/%s", root, example (guard_rows[i].text, true, buf));
        box_file (path);
        (void)ok (is_refused (path, NULL, off, &f), "%s does not", path);
    }
    box_remove (root);
}

/* A data root is one only with all of its marks. */
static void check_mark (size_t i)
{
    enum guard_layout layout = guard_rows[i].layout;
    bool off[1024] = { false }, alone = true;
    struct guard_finding f;

    for (size_t j = 0; j < guard_n_rows; j++) {
        if (guard_rows[j].kind != GUARD_MARK || guard_rows[j].layout != layout || j == i)
            continue;
        box_folder (box_join (DEEP, guard_rows[j].text));
        alone = false;
    }
    box_folder (DEEP "/inside");
    (void)ok (!is_refused (DEEP "/inside", NULL, NULL, &f), "without %s it is a folder",
              guard_rows[i].text);
    off[i] = true;
    (void)ok (is_refused (DEEP "/inside", NULL, off, &f) == !alone,
              "but not when nobody asks for that");
    box_folder (box_join (DEEP, guard_rows[i].text));
    (void)ok (is_refused (DEEP "/inside", NULL, NULL, &f), "with %s it is data of an engine",
              guard_rows[i].text);
    box_remove (DEEP);
}

static void check_rows (void)
{
    for (size_t i = 0; i < guard_n_rows; i++)
        if (guard_rows[i].kind == GUARD_PASS)
            check_pass (i);
        else if (guard_rows[i].kind == GUARD_MARK)
            check_mark (i);
}

/* ---- fakes ---- */
static void refused (const char *source, const char *rule, const char *name)
{
    struct guard_finding f;
    bool found = is_refused (source, NULL, NULL, &f);

    if (!ok (found && strcmp (f.rule, rule) == 0, "%s", name))
        (void)printf ("# %s\n", found ? f.what : "passes");
}

#define DOCKER "/var/lib/docker"

static void check_fakes (void)
{
    box_folder (DOCKER "/volumes/v/_data");
    box_folder (DOCKER "/containers/" ID);
    box_file (DOCKER "/containers/" ID "/config.v2.json");
    box_file ("/etc/shadow");
    box_link ("/etc/shadow", DOCKER "/volumes/v/_data/link");
    refused (DOCKER "/volumes/v/_data/link", "credentials", "a link in a volume");
    box_link ("../../../containers/" ID, DOCKER "/volumes/v/_data/up");
    refused (DOCKER "/volumes/v/_data/up", "engine-data", "a link out of a volume");
    refused (DOCKER "/volumes/v/_data/..", "engine-data", "a path out of a volume");
    box_link ("/etc/shadow", DOCKER "/containers/" ID "/hosts");
    refused (DOCKER "/containers/" ID "/hosts", "credentials", "a link instead of hosts");
    box_bind ("/etc", DOCKER "/volumes/v/_data");
    refused (DOCKER "/volumes/v/_data", "etc", "another folder that is mounted over a volume");
    box_unmount (DOCKER "/volumes/v/_data");
    box_socket (DOCKER "/volumes/v/_data/s");
    refused (DOCKER "/volumes/v/_data/s", "socket", "a socket in a volume");
    box_folder (DOCKER "/volumes/v/_data/.ssh");
    refused (DOCKER "/volumes/v/_data/.ssh", "credentials", "credentials in a volume");
    box_bind (DOCKER "/containers/" ID, "/srv/x");
    refused ("/srv/x", "engine-data", "another mount of an engine's data");
    refused ("/srv/x/config.v2.json", "engine-data", "a file in it");
    box_unmount ("/srv/x");
    box_remove (DOCKER);
}

/* A folder that others can write to is no engine's data, whatever it looks like: neither do its
 * files pass anywhere that matters, nor can somebody make a folder of the host unusable. */
static void check_forged_root (void)
{
    struct guard_finding f;

    for (size_t i = 0; i < guard_n_rows; i++)
        if (guard_rows[i].kind == GUARD_MARK && guard_rows[i].layout == GUARD_DOCKER)
            box_folder (box_join ("/data/forged", guard_rows[i].text));
    box_folder ("/data/forged/containers/" ID);
    box_folder ("/data/forged/image");
    box_link ("/etc/shadow", "/data/forged/containers/" ID "/hosts");
    refused ("/data/forged/containers/" ID "/hosts", "credentials", "hosts of a forged engine");
    refused ("/data/forged/image", "engine-data", "root's folder with the marks");
    (void)ok (chown ("/data/forged", 1000, 1000) == 0, "chown");
    (void)ok (!is_refused ("/data/forged/image", NULL, NULL, &f), "a user's folder with the marks");
    (void)ok (chown ("/data/forged", 0, 0) == 0 && chmod ("/data/forged", 0775) == 0, "chmod");
    (void)ok (!is_refused ("/data/forged/image", NULL, NULL, &f), "one that others may write to");
    box_remove ("/data");
}

/* The engine's data is known from the rootfs and the bundle, so what holds it is refused. */
static void check_holder (void)
{
    const char *rootfs = DEEP "/overlay2/" ID "/merged";
    struct guard_finding f;

    for (size_t i = 0; i < guard_n_rows; i++)
        if (guard_rows[i].kind == GUARD_MARK && guard_rows[i].layout == GUARD_DOCKER)
            box_folder (box_join (DEEP, guard_rows[i].text));
    box_folder (rootfs);
    (void)ok (is_refused ("/srv", rootfs, NULL, &f) && strcmp (f.rule, "engine-data") == 0,
              "what holds the engine's data, as the rootfs shows it");
    (void)ok (!is_refused ("/srv", NULL, NULL, &f), "another container's engine is elsewhere");
    box_folder (box_join (rootfs, "etc"));
    (void)ok (!is_refused (box_join (rootfs, "etc"), rootfs, NULL, &f), "the rootfs is its own");
    (void)ok (is_refused (box_join (rootfs, "etc"), NULL, NULL, &f), "of nobody else");
    (void)ok (is_refused (DEEP, DEEP, NULL, &f), "an engine's data as the rootfs is still refused");
    box_remove (DEEP);
}

static void check_nerdctl (void)
{
    struct guard_finding f;

    box_folder (NERDCTL "/1935db59/volumes/default/v/_data");
    box_folder (NERDCTL "/1935db59/names/default");
    (void)ok (!is_refused (NERDCTL "/1935db59/volumes/default/v/_data", NULL, NULL, &f),
              "nerdctl's volume passes");
    refused (NERDCTL "/1935db59/names/default", "engine-data", "nerdctl's other data does not");
}

int main (void)
{
    if (!box_start ()) {
        (void)printf ("1..0 # SKIP needs root and a mount namespace\n");
        return 0;
    }
    check_engines ();
    check_rows ();
    check_fakes ();
    check_forged_root ();
    check_holder ();
    check_nerdctl ();
    return tap_done ();
}
