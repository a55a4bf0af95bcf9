#pragma once
/*
 * New instances of file systems: fsopen, fsconfig, fsmount.
 *
 * The result is a detached mount. What the file system has to say about a bad option ("tmpfs: Bad
 * value for 'size'") is read back from the kernel and becomes the error.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libocispec/err.h"
#include "ns/network.h"

struct newfs {
    const char *type;
    const char *source;       /* NULL: as TYPE */
    const char *const *data;  /* "key=value" or "flag", NULL-terminated; NULL: none */
    const char *label;        /* SELinux label for all files, or NULL */
    const char *label_option; /* how it is given; NULL: "context" */
    const char *mode;         /* octal permissions of a tmpfs root, or NULL */
    uint64_t sb_set;          /* MS_* of the file system itself */
    uint64_t sb_clear;
    uint64_t attrs;                   /* MOUNT_ATTR_* of the mount */
    const struct ns_network *network; /* the network namespace that a sysfs shows; NULL: ours */
};

/* Returns the descriptor of the mount. -EPERM from fsopen, the file system or fsmount comes back as
 * such, for callers that know another way. */
int newfs_mount (const struct newfs *nf, struct err *e);

/* True when NF has something that only mount(2) can say: a text beyond the limit (overlay's
 * lowerdir), or MS_I_VERSION. */
bool newfs_needs_classic (const struct newfs *nf);

/* The same through mount(2), over the folder TARGET (a descriptor: no path is looked up). */
int newfs_mount_classic (const struct newfs *nf, int target, struct err *e);

/* Changes options of the file system that the mount FD is of (MS_REMOUNT without MS_BIND). */
int newfs_reconfigure (int fd, const struct newfs *nf, struct err *e);
