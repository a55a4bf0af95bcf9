#pragma once
/*
 * Inside policy/: what the guard asks the host. Opens paths with O_PATH and reads what the kernel
 * says of them; changes nothing.
 */
#include "libocispec/arena.h"
#include "libocispec/err.h"
#include "policy/guard_table.h"

struct guard_host {
    struct arena *arena;
    struct guard_known *known; /* mounts that were asked for singly */
    struct guard_mount *list;  /* all mounts, once somebody needed them */
    size_t n_list;
    bool listed;
    bool by_list; /* single mounts are looked up there too: before Linux 6.8 */
};

/* Opens PATH as the kernel will when it is mounted. Returns an O_PATH descriptor with *RET about
 * it, or a negative errno. A kernel that cannot tell its mount is an error. */
int guard_open (struct guard_host *h, const char *path, bool nofollow, struct guard_object *ret,
                struct err *e);

/* What is open as FD. PLACE is its place in the host's tree where that is known already (RET
 * keeps it), else NULL. */
int guard_describe (struct guard_host *h, int fd, const char *place, struct guard_object *ret,
                    struct err *e);

/* All mounts of the host (mountinfo), read once. */
int guard_list (struct guard_host *h, struct err *e);

/* The options of M's file system, from the list; NULL when it has none. */
const char *guard_options (const struct guard_host *h, const struct guard_mount *m);

/* PATH, in its place, belongs to root (or to the caller) and nobody else may write there. */
bool guard_is_trusted (const char *path);
