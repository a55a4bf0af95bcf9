#pragma once
/*
 * Mount options: what one entry of config.json's "mounts" asks of the kernel.
 *
 * Owns the table of every option name (runtime-spec "Mounts", mount(8)) and the translation of
 * type, source and options into struct plan_mount. Pure: opens nothing, looks at no file system
 * and knows nothing of other mounts.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libocispec/arena.h"
#include "libocispec/err.h"
#include "libocispec/ocispec.h"

struct plan_idmap {
    uint32_t inside, outside, count;
};

struct plan_idmaps {
    const struct plan_idmap *uid, *gid;
    size_t n_uid, n_gid;
};

enum plan_mount_kind {
    MOUNT_BIND,    /* bind or rbind of SOURCE */
    MOUNT_NEW,     /* a new instance of file system FSTYPE */
    MOUNT_REMOUNT, /* change the flags of what is mounted at DEST */
};

struct plan_mount {
    size_t index; /* in config.json's mounts, for messages; SIZE_MAX for the runtime's own */
    enum plan_mount_kind kind;
    const char *source;      /* bind: absolute host path; else the text for mountinfo, never NULL */
    const char *dest;        /* absolute, cleaned (no "..", no "//") */
    const char *fstype;      /* MOUNT_NEW */
    const char *const *data; /* "key=value" or "flag" for the file system, NULL-terminated */
    const char *label;       /* SELinux label for the "context" option (mountLabel), or NULL */
    bool recursive;          /* rbind */
    bool tmpcopyup;          /* start the tmpfs with a copy of what DEST held */
    bool src_nofollow, dest_nofollow;
    bool has_idmap; /* idmap or ridmap, or mappings given */
    bool idmap_recursive;
    struct plan_idmaps idmaps; /* empty with has_idmap: the container's own user namespace */

    /* MOUNT_ATTR_* of the mount itself, and (r...) of it and all below. The clear ones have all of
     * MOUNT_ATTR__ATIME when an access time mode was chosen. */
    uint64_t set, clear;
    uint64_t rset, rclear;
    /* MS_* of the file system of a new mount: SYNCHRONOUS, DIRSYNC, LAZYTIME, MANDLOCK, I_VERSION,
     * SILENT, RDONLY. */
    uint64_t sb_set, sb_clear;
    /* MS_PRIVATE, MS_SHARED, MS_SLAVE or MS_UNBINDABLE. 0: private, the mount and all below. */
    uint64_t propagation;
    bool propagation_recursive;
};

/* What a mount is read with, beside itself. */
struct mntopt_context {
    size_t index;       /* in config.json's mounts */
    const char *bundle; /* absolute: where a relative bind source counts from */
    const char *label;  /* linux.mountLabel or NULL */
};

/* Translates M. Later options win over earlier ones. What the table does not know is data for the
 * file system of a new mount, and an error for a bind, where nobody would look at it. Strings of
 * the result are M's or in the arena. Errors name "/mounts[N]". */
int mntopt_parse (const struct oci_mount *m, const struct mntopt_context *where, struct arena *a,
                  struct plan_mount *ret, struct err *e);

/* All option names, sorted, for the features document; ends with NULL. */
extern const char *const mntopt_names[];
