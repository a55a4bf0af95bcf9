#pragma once
/*
 * The mount guard: which bind mounts of a config open the host.
 *
 * Owns the table of what must not be bound (guard.def) and the look at the host that says what a
 * source really is. A source is known by its object (device and inode), by its place in its file
 * system (superblock, root of its mount) and by its place in the host's tree, so that symbolic
 * links, other bind mounts, /proc/self/root, overlay views and hard links of files and sockets do
 * not help. Decides nothing: what a finding leads to is up to the rules. Changes nothing on the
 * host.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libocispec/arena.h"
#include "libocispec/err.h"
#include "libocispec/ocispec.h"

struct guard_request {
    const struct oci_config *config;
    const char *bundle;        /* absolute: where a relative source counts from */
    const char *const *accept; /* mounts.accept of the policy: host paths; what they name passes */
    const char *const *own;    /* agentrt's: state root, policy file, records. Both end with NULL,
                                  or are NULL */
};

/* A bind mount that opens the host, by one row. */
struct guard_finding {
    size_t mount;       /* index in the config's mounts */
    const char *rule;   /* name of the row: "docker-socket" */
    const char *what;   /* what the row is about: "Docker's control socket" */
    const char *how;    /* "is", "lies in", "is a parent of", ...: between SHOWN and THING */
    const char *thing;  /* host path of what the row protects */
    const char *source; /* as the config has it */
    const char *shown;  /* host path of what it really is */
};

/* What was looked at, for whoever mounts it: it must still be that. */
struct guard_seen {
    const char *source; /* absolute, as plan_mount has it */
    bool nofollow;      /* src-nofollow: a link at the end was not followed */
    bool missing;       /* nothing was there */
    uint64_t inode;
    uint32_t dev_major, dev_minor;
};

struct guard_findings {
    const struct guard_finding *list; /* at most one for each mount, in their order */
    size_t n;
    const struct guard_seen *seen; /* one for each bind mount */
    size_t n_seen;
};

/* Looks at the source of every bind mount. A source that cannot be looked at is a finding of the
 * rule "unseen"; one that does not exist is none (mounting it fails). Strings of RET are the
 * config's, constants or in the arena. Errors are of looking at all: out of memory, no procfs. */
int guard_look (const struct guard_request *rq, struct arena *a, struct guard_findings *ret,
                struct err *e);

/* The finding for mount INDEX, or NULL. */
const struct guard_finding *guard_finding_of (const struct guard_findings *f, size_t index);

/* One line: "'/x' is '/run/docker.sock', Docker's control socket (mount guard, docker-socket)".
 * NULL when memory is out. */
const char *guard_text (const struct guard_finding *f, struct arena *a);

/* What was seen of SOURCE; NULL: nobody looked. */
const struct guard_seen *guard_seen_of (const struct guard_findings *f, const char *source,
                                        bool nofollow);
