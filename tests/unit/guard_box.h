#pragma once
/*
 * A host of the test's own: a tmpfs in a mount namespace of its own, made the root with chroot, so
 * that /etc, /var/lib/docker and the like can be made, mounted and bound without touching the
 * machine. Everything here is below that root.
 */
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "policy/guard_judge.h"
#include "tap.h"

/* False: no right to. */
bool box_start (void);

/* Makes PATH and what leads to it. */
void box_folder (const char *path);
void box_file (const char *path);
void box_socket (const char *path);
void box_link (const char *target, const char *path);
void box_hard_link (const char *from, const char *to);
void box_bind (const char *from, const char *to); /* TO is made a folder or file as FROM is */
bool box_mount (const char *type, const char *to, const char *options);
void box_unmount (const char *path);
void box_remove (const char *path); /* with all in it */
const char *box_join (const char *folder, const char *name);

/* What the guard says. */
struct box_look {
    const char *source, *options; /* options: separated by commas, NULL: "rbind" */
    const bool *off;
    const char *rootfs; /* NULL: /bundle/rootfs */
    const char *accept, *own;
};
const struct guard_finding *box_look (const struct box_look *l, struct guard_finding *ret);

/* All rows off but ROW (guard_n_rows: all are off). */
const bool *box_only (size_t row);

/* SOURCE is refused by RULE, under the rows of OFF; RULE NULL: it passes. */
static inline void box_expect (const char *source, const char *rule, const bool *off,
                               const char *name)
{
    const struct box_look l = { .source = source, .off = off };
    struct guard_finding f = { 0 };
    bool found = box_look (&l, &f);

    if (!ok (rule ? found && strcmp (f.rule, rule) == 0 : !found, "%s: %s", source, name))
        (void)printf ("# %s\n", found ? f.what : "passes");
}
