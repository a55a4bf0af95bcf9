#pragma once
/*
 * Test data below tests/golden, read with stdio (valgrind 3.19 has no openat2).
 */
#include <stdio.h>
#include <stdlib.h>

#include "libocispec/arena.h"

/* "TOP/tests/golden/FOLDER/NAME" in the arena; TOP is set by make check. */
static inline char *golden_path (const char *folder, const char *name, struct arena *a)
{
    return arena_printf (a, "%s/tests/golden/%s/%s", getenv ("TOP") ?: ".", folder, name);
}

/* The whole file, at most 1 MiB, with a NUL behind it. A test without its data ends here. */
static inline char *golden_read (const char *path, struct arena *a, size_t *ret_len)
{
    size_t max = (size_t)1 << 20;
    char *text = arena_alloc (a, max + 1);
    FILE *f = fopen (path, "re");

    if (!f || !text) {
        (void)printf ("Bail out! cannot read %s\n", path);
        exit (EXIT_FAILURE);
    }
    *ret_len = fread (text, 1, max, f);
    (void)fclose (f);
    return text;
}
