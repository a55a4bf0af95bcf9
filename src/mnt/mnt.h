#pragma once
/*
 * Mounts: the container's file system tree, from detached mount trees to the pivoted root.
 *
 * Owns the rootfs, every mount, the device nodes, masked and read-only paths and the switch of the
 * root. Everything is reached once, by descriptor: sources are cloned by the parent while the host is
 * reachable (open_tree), targets are resolved inside the root with openat2 (RESOLVE_IN_ROOT) and then
 * only used through that descriptor (move_mount). Never mounts by a path that the container can change
 * (CVE-2021-30465, CVE-2024-45310), never in the host's mount namespace.
 */
#include "plan/plan.h"

/* What the parent prepares before clone3. All descriptors are close-on-exec, -1 where unused. */
struct mnt_sources {
    int root;    /* detached clone of the rootfs tree */
    int *mounts; /* [plan->n_mounts]: detached clone of a bind's source; -1 for other mounts */
    int *
        devices; /* [plan->n_devices]: detached clone of the host's node where mknod cannot be used (user namespace); else -1 */
    size_t n_mounts, n_devices;
};

/* Clones the rootfs and every bind source, with their attributes already set. Runs in the host's
 * namespaces. Needs CAP_SYS_ADMIN over the mount namespace. In a rootless run (no such capability) it
 * opens nothing and the child does the same in its own user namespace. Errors name "root.path" or
 * "mounts[N]". Undone by mnt_sources_close. */
int mnt_prepare (const struct plan *p, struct arena *a, struct mnt_sources *ret, struct err *e);
void mnt_sources_close (struct mnt_sources *s);

/* The child's view while it builds: descriptors in the new mount namespace. */
struct mnt {
    const struct plan *plan;
    struct mnt_sources *src;
    int root;             /* O_PATH descriptor of the container's root, once attached */
    int dev;              /* O_PATH descriptor of its /dev */
    uint64_t root_mnt_id; /* statx mount id of the root, for mnt_pivot_check */
};

/* The steps, in their order. Each runs in the child, in the new mount namespace. */
int mnt_private (struct mnt *m,
                 struct err *e); /* no propagation to the host (rslave or rprivate) */
int mnt_private_check (struct mnt *m, struct err *e);
int mnt_root_attach (struct mnt *m, struct err *e); /* the rootfs tree becomes a mount; sets root */
int mnt_root_attach_check (struct mnt *m, struct err *e);
int mnt_mounts (struct mnt *m, struct err *e); /* plan->mounts, in order */
int mnt_mounts_check (struct mnt *m, struct err *e);
int mnt_devices (struct mnt *m, struct err *e); /* nodes, /dev/fd & co., /dev/ptmx */
int mnt_devices_check (struct mnt *m, struct err *e);
int mnt_cwd_make (struct mnt *m, struct err *e); /* process.cwd, 0755, if it is missing */
int mnt_cwd_make_check (struct mnt *m, struct err *e);
int mnt_pivot (struct mnt *m, struct err *e);       /* or chroot with no_pivot */
int mnt_pivot_check (struct mnt *m, struct err *e); /* / is the root's mount, the host's is gone */
int mnt_root_propagation (struct mnt *m, struct err *e);
int mnt_root_propagation_check (struct mnt *m, struct err *e);
int mnt_masked (struct mnt *m,
                struct err *e); /* files: empty read-only; folders: one shared empty one */
int mnt_masked_check (struct mnt *m, struct err *e);
int mnt_readonly_paths (struct mnt *m, struct err *e);
int mnt_readonly_paths_check (struct mnt *m, struct err *e);
int mnt_root_readonly (struct mnt *m, struct err *e);
int mnt_root_readonly_check (struct mnt *m, struct err *e);

/* Mounts the pty (its peer descriptor) over /dev/console, made in-root without following a link
 * (CVE-2025-52565). Called by the terminal step. */
int mnt_console (struct mnt *m, int pty_peer, struct err *e);

/* Opens and verifies /dev/pts/ptmx of the container: devpts, character device 5:2 (CVE-2025-52565). */
int mnt_open_ptmx (struct mnt *m, struct err *e);
