#pragma once
/*
 * Mount targets: a path in the container, resolved and made below its root.
 *
 * The container's file system is hostile: each component may be a link to anywhere, and somebody
 * may swap it meanwhile. Everything is opened from the root's descriptor and stays below it; what
 * is missing is made in the folder that is already open (CVE-2021-30465, CVE-2024-45310).
 */
#include "libocispec/err.h"

enum target_flags {
    TARGET_FILE = 1,     /* what is missing is made as an empty file, not as a folder */
    TARGET_NO_LINKS = 2, /* a link anywhere in the path is an error (CVE-2019-19921) */
    TARGET_NOFOLLOW = 4, /* a link at the end is the target itself */
};

/* Opens (O_PATH) what PATH names below ROOT. Links are followed inside ROOT, also one that leads to
 * nothing: then what it names is made there, as folders 0755 or, last, a file 0644. Returns the
 * descriptor. Errors name PATH. */
int target_open (int root, const char *path, unsigned int flags, struct err *e);
