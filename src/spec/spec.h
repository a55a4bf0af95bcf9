#pragma once
/*
 * A bundle's config: loaded by directory descriptor, and held against the rules that span
 * properties.
 *
 * Owns what the rows of libocispec cannot say: which properties need, exclude or bound each other,
 * and what this version refuses because it cannot do it yet. Everything is refused before any
 * effect. Looks at nothing but the document: whether a path or a namespace exists is found out by
 * who opens it. Names of capabilities are no matter of this check (unknown ones are warned about;
 * config.md).
 */
#include "libocispec/arena.h"
#include "libocispec/err.h"
#include "libocispec/ocispec.h"

/* Reads file NAME below BUNDLE_DIR (AT_FDCWD: NAME is a path that the caller named) into the
 * arena: a regular file of at most OCI_MAX_BYTES, opened once. INFO may be NULL. Errors start
 * with NAME. */
int spec_load (int bundle_dir, const char *name, struct arena *a, const struct oci_config **ret,
               struct oci_parse_info *info, struct err *e);

/* Likewise the process document of `exec --process`; FILE may be a pipe. */
int spec_load_process (const char *file, struct arena *a, const struct oci_process **ret,
                       struct err *e);

/* Likewise the array of mounts of `mounts add`. */
int spec_load_mounts (const char *file, struct arena *a, const struct oci_mount **ret,
                      size_t *ret_n, struct err *e);

/* All rules but those for start. -EINVAL with one line that starts with the JSON path. */
int spec_check (const struct oci_config *c, struct err *e);

/* The rules of the process alone; AT is where it stands in its document: "/process", or "" for a
 * document of its own. */
int spec_check_process (const struct oci_process *p, const char *at, struct err *e);

/* A rule of the filter asks the listener. */
bool spec_seccomp_notifies (const struct oci_linux_seccomp *s);

/* The config that `agentrt spec` writes: a shell on a terminal in ./rootfs with nothing that it
 * does not need. ROOTLESS: for an ordinary user, with UID and GID as root of a new user namespace.
 * In the arena; NULL when memory is out. */
struct spec_default_options {
    bool rootless;
    bool cgroup_namespace;
    uint32_t uid, gid; /* of the caller; rootless only */
};
const struct oci_config *spec_default (const struct spec_default_options *o, struct arena *a);
