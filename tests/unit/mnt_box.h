#pragma once
/*
 * A container without the rest of the runtime: runs the steps of mnt/ on a scratch rootfs in
 * namespaces of their own, then a busybox script inside, and gives back what it printed or the
 * error of a step.
 *
 * "The host" is a mount namespace of the test with a shared tmpfs in it, so that whatever leaks
 * out of a box shows in its mountinfo, and so that nothing else on the machine does.
 */
#include <stdbool.h>

enum box_flags {
    BOX_USERNS = 1,   /* ids 0.. are 100000.. outside */
    BOX_ROOTLESS = 2, /* the caller is user 1000 with no capability */
    BOX_NO_PIVOT = 4,
    BOX_READONLY = 8, /* root.readonly */
    BOX_NO_MOUNTNS = 16,
    BOX_CGROUPNS = 32,
    BOX_TERMINAL = 64, /* opens a terminal and mounts it on /dev/console */
    BOX_NETNS = 128,
    BOX_NO_STD = 256, /* without /proc, /dev and /dev/pts before MOUNTS */
};

struct box {
    const char *prepare; /* shell script on the host, run in the scratch folder */
    const char *mounts;  /* "DEST TYPE SOURCE OPTIONS; ...": "-" is absent, $D the scratch folder */
    const char *masked;  /* paths separated by blanks */
    const char *readonly; /* likewise */
    const char *cwd;      /* NULL: "/" */
    unsigned long propagation;
    unsigned int flags;
    const char *devices; /* "PATH c MAJOR MINOR OCTAL_MODE UID GID; ..." beside the default ones */
    const char *script;  /* NULL: none */
};

struct box_result {
    bool failed;
    char text[16384]; /* what the script printed, or the error */
};

/* Makes the scratch folder and "the host". False: no right to. */
bool box_start (void);
void box_end (void);
const char *box_dir (void);

void box_run (const struct box *b, struct box_result *ret);

/* True when host mounts and canary are as they were after box_start. */
bool box_host_is_unchanged (void);
