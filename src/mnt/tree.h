#pragma once
/*
 * Mounts by descriptor: cloning, flags, attaching, and what the kernel says of one.
 *
 * Thin and without policy; each function is one idea of the mount API of Linux 5.2 to 5.12. A
 * detached tree belongs to its descriptor and vanishes with it; once attached, the descriptor
 * still names it.
 */
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "libocispec/err.h"

/* Who a folder or file is: the same object in the same mount, whatever path leads to it. */
struct tree_id {
    uint64_t mount; /* never used again from Linux 6.8 on, before that it may be after an umount */
    uint64_t inode;
    uint32_t dev_major, dev_minor;
    uint32_t rdev_major, rdev_minor;
    uint32_t mode; /* type and permissions */
    uid_t uid;
    gid_t gid;
    bool is_mount_root; /* not a folder somewhere inside its mount */
};

/* Looks at PATH below DIRFD ("" is DIRFD itself) without following a last link. */
int tree_identify (int dirfd, const char *path, struct tree_id *ret, struct err *e);
bool tree_id_equal (const struct tree_id *a, const struct tree_id *b);

enum tree_clone_flags {
    TREE_RECURSIVE = 1, /* with all mounts below it */
    TREE_NOFOLLOW = 2,  /* a link at the end of the path is itself what is cloned */
};

/* Clones what PATH below DIRFD ("" is DIRFD itself) names into a detached mount. Returns its
 * descriptor. Before Linux 6.15 it must be in the caller's mount namespace. */
int tree_clone (int dirfd, const char *path, unsigned int flags, struct err *e);

struct tree_flags {
    uint64_t set, clear;  /* MOUNT_ATTR_* */
    uint64_t propagation; /* MS_PRIVATE, ...; 0: leave */
};

/* Changes the flags of the mount FD, with RECURSIVE of all below it too, as one act. Flags that a
 * user namespace may not change (mount_namespaces(7), "locked") are an error that says so. */
int tree_set (int fd, bool recursive, const struct tree_flags *f, struct err *e);

/* Puts the (detached or attached) mount FD over TARGET. */
int tree_attach (int fd, int target, struct err *e);

/* Magic number (f_type) and ST_* flags of the file system and mount of FD. */
int tree_statfs (int fd, uint64_t *ret_magic, uint64_t *ret_flags, struct err *e);

/* The propagation of the mount with FD in it, as MS_*. *RET is 0 where the kernel cannot tell
 * (before Linux 6.8). */
int tree_propagation (int fd, uint64_t *ret, struct err *e);
