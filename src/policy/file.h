#pragma once
/*
 * A policy file as bytes that only those could have written who may decide what runs.
 *
 * Who can change a policy, or rename a folder above it, can loosen every container. So the way to
 * the file is walked by descriptor, component by component and link by link: each folder on it and
 * the file itself must belong to root (or to the caller, who then is no root), and must not be
 * writable by anybody else. A sticky folder is writable by others, too: they can make what is not
 * there yet. Group bits cover ACLs, whose mask they are. Decides nothing about what is in it.
 */
#include <sys/types.h>

#include "libocispec/arena.h"
#include "libocispec/err.h"

#define POLICY_FILE_MAX ((size_t)1024 * 1024)

struct policy_file {
    const char *path; /* absolute, without links */
    const char *text; /* NUL-terminated; lives in the arena */
    size_t len;
    dev_t dev; /* which file it is */
    ino_t ino;
};

/* Reads PATH, which counts from the current folder if it is relative. -ENOENT when it or a folder
 * above it is not there (a link that leads nowhere is another error); -EPERM with the folder or
 * file, what is wrong with it and the command that puts it right; -EINVAL for what is no regular
 * file; -EFBIG. */
int policy_file_read (const char *path, struct arena *a, struct policy_file *ret, struct err *e);
