#pragma once
/*
 * Mounts: the container's file system tree, from detached mount trees to the pivoted root.
 *
 * Owns the rootfs, every mount, the device nodes, masked and read-only paths and the switch of the
 * root. Everything is reached once, by descriptor: sources are cloned by the parent while the host
 * is reachable (open_tree), targets are resolved inside the root with openat2 (RESOLVE_IN_ROOT)
 * and then only used through that descriptor (move_mount). Never mounts by a path that the
 * container can change (CVE-2021-30465, CVE-2024-45310), never in the host's mount namespace.
 */
#include "mnt/tree.h"
#include "ns/network.h"
#include "plan/plan.h"

/* One cgroup hierarchy of the host, for mounts of type cgroup. */
struct mnt_hierarchy {
    const char *controllers; /* "memory", "cpu,cpuacct", "name=systemd"; "" for cgroup v2 */
    const char *mountpoint;  /* on the host, NULL where it is not mounted or not looked for */
    const char *root;        /* the cgroup that is mounted there: "/" but for nested containers */
};

/* What the parent prepares before clone3. All descriptors are close-on-exec, -1 where unused. */
struct mnt_sources {
    int root; /* detached clone of the rootfs tree; without a mount namespace the rootfs itself */
    int *
        mounts; /* [n_mounts] detached clones of what is bound; in the child then the mounts made */
    size_t n_mounts;
    int null;           /* detached clone of the host's /dev/null, for masks */
    uint64_t host_root; /* mount id of the caller's own "/" */
    bool in_child;      /* the caller may not clone: the child opens the above for itself */
    const struct mnt_hierarchy *cgroups; /* only if a mount of type cgroup is asked for */
    size_t n_cgroups;
    const char *const *revealing; /* --no-pivot: where the host's procfs and sysfs are mounted */
    size_t n_revealing;
};
#define MNT_SOURCES_NONE                                                                           \
    (struct mnt_sources)                                                                           \
    {                                                                                              \
        .root = -1, .null = -1                                                                     \
    }

/* Clones the rootfs and every bind source, with their flags already set. Runs in the host's
 * namespaces. Without the right to clone (a rootless run) it opens nothing and leaves that to the
 * child, in its own user namespace. Binds for which no descriptor is left are left to the child as
 * well, where it sees and may do the same as the caller. Errors name "/root/path" or "/mounts[N]".
 * RET is MNT_SOURCES_NONE before; what is in it afterwards, also on failure, is closed by
 * mnt_sources_close. */
int mnt_prepare (const struct plan *p, struct arena *a, struct mnt_sources *ret, struct err *e);
void mnt_sources_close (struct mnt_sources *s);

/* The same for mounts that a running container gets, which are all of P's: opens their binds. */
int mnt_live_prepare (const struct plan *p, struct arena *a, struct mnt_sources *ret,
                      struct err *e);

/* The child's view while it builds: descriptors in the new mount namespace. */
struct mnt {
    const struct plan *plan;
    struct mnt_sources *src;
    const struct ns_network *network; /* the own one, if there is to be one: for sysfs */
    int root;                         /* O_PATH descriptor of the container's root, once attached */
    int dev;                          /* O_PATH descriptor of its /dev, once mnt_devices ran */
    struct tree_id root_id;           /* of the root, for the checks */
    struct tree_id mask_id; /* of the folder that covers masked folders, once there is one */
};

/* The steps, in their order. Each runs in the child, in the new mount namespace; PLAN and SRC are
 * set, ROOT and DEV are -1. Without a mount namespace of its own mnt_private does not run, and a
 * plan that mounts anything is refused by mnt_prepare. */

/* The mounts of the namespace get no event from the host's and send none. */
int mnt_private (struct mnt *m, struct err *e);
int mnt_private_check (struct mnt *m, struct err *e);

/* The rootfs tree becomes a mount of the namespace. */
int mnt_root_attach (struct mnt *m, struct err *e);
int mnt_root_attach_check (struct mnt *m, struct err *e);
int mnt_root_flags (struct mnt *m, struct err *e);
int mnt_root_flags_check (struct mnt *m, struct err *e);

/* plan->mounts, in their order. Read-only tmpfs stay writable until mnt_late_readonly. */
int mnt_mounts (struct mnt *m, struct err *e);
int mnt_mounts_check (struct mnt *m, struct err *e);

/* Nodes, /dev/fd and the like, /dev/ptmx. Nothing is touched where the config binds a /dev. */
int mnt_devices (struct mnt *m, struct err *e);
int mnt_devices_check (struct mnt *m, struct err *e);

/* process.cwd as folders 0755 where they are missing. */
int mnt_cwd_make (struct mnt *m, struct err *e);
int mnt_cwd_make_check (struct mnt *m, struct err *e);

/* pivot_root; with no_pivot a move over "/" and chroot; without a mount namespace chroot alone. */
int mnt_pivot (struct mnt *m, struct err *e);
int mnt_pivot_check (struct mnt *m, struct err *e); /* "/", "/.." and "." are the root's mount */

/* Each path and all mounts below it become read-only, keeping their other flags. Missing ones are
 * skipped. */
int mnt_readonly_paths (struct mnt *m, struct err *e);
int mnt_readonly_paths_check (struct mnt *m, struct err *e);

/* Files are covered by the host's /dev/null (verified, CVE-2025-31133), folders by one empty
 * read-only folder that all of them share. Missing ones are skipped. */
int mnt_masked (struct mnt *m, struct err *e);
int mnt_masked_check (struct mnt *m, struct err *e);

/* tmpfs that are asked to be read-only become so, after mounts, devices, the console and hooks put
 * their files there. */
int mnt_late_readonly (struct mnt *m, struct err *e);
int mnt_late_readonly_check (struct mnt *m, struct err *e);

/* The root's own mount, not what is mounted below it. */
int mnt_root_readonly (struct mnt *m, struct err *e);
int mnt_root_readonly_check (struct mnt *m, struct err *e);

/* linux.rootfsPropagation, last of all: what is unbindable can no longer be cloned for masks. */
int mnt_root_propagation (struct mnt *m, struct err *e);
int mnt_root_propagation_check (struct mnt *m, struct err *e);

/* Mounts the pty (its peer descriptor) over /dev/console, made in-root without following a link
 * (CVE-2025-52565). Called by the terminal step. */
int mnt_console (struct mnt *m, int pty_peer, struct err *e);

/* Opens and verifies /dev/pts/ptmx of the container: devpts, character device 5:2 (CVE-2025-52565).
 * With ROOT -1 (exec) the container is the one whose root is "/". */
int mnt_open_ptmx (struct mnt *m, struct err *e);

/* ---- live.c: in a process that has joined the namespaces of a running container ----
 * Its "/" is the container's root; PROCFS is the host's. The masked and read-only paths of PLAN
 * stay covered: nothing is mounted or removed over, below or at one. */

/* PLAN's mounts, all or none. Those of the kinds that only a start can make are refused. */
int mnt_live_add (struct mnt *m, int procfs, struct err *e);
/* What is mounted at the destinations of PLAN's mounts, last one first, goes; MADE are those of the
 * container's config, which stay. */
int mnt_live_remove (struct mnt *m, int procfs, const struct oci_config *made, struct err *e);
