#pragma once
/*
 * What the tests of the seccomp filter share: profiles from text and from tests/data.
 */
#include <fcntl.h>
#include <stdlib.h>

#include "base/fd.h"
#include "harden/seccomp.h"
#include "libocispec/ocispec.h"
#include "tap.h"

static struct arena arena;

static inline const struct oci_linux_seccomp *parse (const char *json)
{
    struct err e = { 0 };
    const void *doc = NULL;

    if (oci_parse (&oci_linux_seccomp_type, json, strlen (json), &arena, &doc, NULL, &e) < 0)
        printf ("# %s\n", e.msg);
    return doc;
}

static inline struct seccomp_filter compile (const struct oci_linux_seccomp *s, int cache)
{
    struct seccomp_filter f = { 0 };
    struct err e = { 0 };

    if (seccomp_prepare (s, cache, &arena, &f, &e) < 0)
        printf ("# %s\n", e.msg);
    return f;
}

static inline char *read_data (const char *name)
{
    struct err e = { 0 };
    char *text = NULL;
    char path[4096];

    (void)snprintf (path, sizeof path, "%s/tests/data/%s", getenv ("TOP") ?: ".", name);
    if (fd_read_file (AT_FDCWD, path, 1 << 20, FD_HOST, &arena, &text, NULL, &e) < 0)
        printf ("# %s\n", e.msg);
    return text;
}

static inline const struct oci_linux_seccomp *docker_profile (void)
{
    const char *text = read_data ("seccomp-docker28.json");

    return text ? parse (text) : NULL;
}
