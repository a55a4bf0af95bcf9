#pragma once
/*
 * Inside policy/: the rows of guard.def and what they say of a source. Pure: nothing here looks at
 * the host; what was found there comes as struct guard_object.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* A mount, as the kernel tells of it. */
struct guard_mount {
    uint64_t id;
    uint32_t major, minor; /* of the superblock: for btrfs not those of a file's */
    const char *root;      /* what of its file system it shows */
    const char *point;     /* where in the host's tree */
    const char *type;      /* "ext4" */
    const char *options;   /* of the file system; NULL where the kernel was not asked */
};

/* What a path leads to. */
struct guard_object {
    const char *place; /* in the host's tree, without links; never NULL */
    const char *inner; /* in its file system, whatever is mounted where; NULL: not known */
    const struct guard_mount *mount; /* NULL: not known */
    bool has_id;                     /* what follows is known */
    uint32_t dev_major, dev_minor;
    uint64_t inode;
    uint32_t mode; /* type and permissions */
    uint32_t rdev_major, rdev_minor;
    uint32_t nlink;
    uid_t uid;
};

enum guard_kind {
    GUARD_KIND,   /* a type of file */
    GUARD_TYPE,   /* a type of file system */
    GUARD_DEVICE, /* passes: a character device that opens nothing */
    GUARD_PATH,   /* something at a fixed place */
    GUARD_HOME,   /* the homes of passwd */
    GUARD_OWN,    /* what agentrt itself lives in */
    GUARD_ENGINE, /* the data of an engine: at a fixed place, or known by its marks */
    GUARD_NAME,   /* a name anywhere */
    GUARD_SOCKET, /* the name of a socket that makes its folder a way out */
    GUARD_MARK,   /* what an engine's data root has in it */
    GUARD_PASS,   /* what an engine brings from there */
};

/* What of a thing a row refuses, beside the thing itself and what holds it. */
enum guard_scope {
    GUARD_SELF,     /* nothing else */
    GUARD_TREE,     /* all below */
    GUARD_CHILDREN, /* what lies directly in it */
    GUARD_WRITABLE, /* all below, unless the bind is read-only */
    GUARD_FILE,     /* all below; but not what holds it: projects have such files */
};

enum guard_layout {
    GUARD_NO_LAYOUT,
    GUARD_DOCKER,
    GUARD_STORAGE,     /* containers/storage: Podman, CRI-O, Buildah */
    GUARD_STORAGE_VFS, /* likewise, with folders that are copied */
    GUARD_CONTAINERD,
    GUARD_CONTAINERD_RUN,
    GUARD_KUBELET,
    GUARD_NERDCTL,
    GUARD_LAYOUTS
};

struct guard_row {
    enum guard_kind kind;
    enum guard_scope scope;
    enum guard_layout layout;
    const char *rule; /* what the finding is called */
    const char *text; /* path, name, pattern or type, by KIND */
    const char *what;
    uint32_t number[2]; /* GUARD_KIND: S_IFMT bits; GUARD_DEVICE: major, minor */
};

extern const struct guard_row guard_rows[];
extern const size_t guard_n_rows;

/* A bind mount's source. */
struct guard_source {
    struct guard_object o;
    bool writable;
    bool below;      /* a mount below the source: only mount and place are known */
    const char *own; /* the container's own bundle or rootfs when it lies in one; its place */
    const bool *off; /* rows that are switched off, by index; NULL: none. Tests alone set it */
};

bool guard_row_is_on (const struct guard_source *s, const struct guard_row *row);

/* The rest of PATH below TOP: "" for TOP itself, "a/b"; NULL when PATH is not below TOP. */
const char *guard_rest (const char *path, const char *top);

/* PATH has the components NAME ("a/b") in it, one after another: what is behind them, else NULL. */
const char *guard_after_name (const char *path, const char *name);

/* REST fits PATTERN: "*" and the like within one component, "@" for an id (12 or more hexadecimal
 * digits), "**" at the end for all below and the folder itself. */
bool guard_fits (const char *rest, const char *pattern);

bool guard_same (const struct guard_object *a, const struct guard_object *b);

/* How S stands to THING where ROW refuses that: "is", "lies in", "is a parent of", ...; NULL: the
 * row has nothing against it. THING is what a row of kind PATH, HOME, OWN or ENGINE protects. */
const char *guard_relation (const struct guard_row *row, const struct guard_source *s,
                            const struct guard_object *thing);

/* S is a character device that opens nothing. */
bool guard_is_harmless_device (const struct guard_source *s);

/* A row of kind KIND or TYPE refuses S for what it is. */
bool guard_is_type (const struct guard_row *row, const struct guard_source *s);

/* A row of kind NAME refuses S for a name on its way there. */
bool guard_is_named (const struct guard_row *row, const struct guard_source *s);
