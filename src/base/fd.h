#pragma once
/*
 * Files by descriptor: every path is resolved once, below a descriptor, and acted on through the
 * descriptor that came out of it.
 *
 * Owns openat2 and its resolve rules, whole-file reads and writes with a cap, descriptors over
 * sockets. Every descriptor made here is close-on-exec. Never follows a magic link that the caller
 * did not name.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "libocispec/arena.h"
#include "libocispec/err.h"

/* How a path below DIRFD may be resolved. */
enum fd_resolve {
    FD_IN_ROOT,  /* DIRFD is the root: absolute links and .. stay inside (RESOLVE_IN_ROOT) */
    FD_NO_LINKS, /* like FD_IN_ROOT, and a symbolic link anywhere is -ELOOP */
    FD_BENEATH,  /* leaving DIRFD is an error (RESOLVE_BENEATH) */
    FD_PROC,     /* BENEATH and never onto another mount: for procfs, cgroupfs and sysfs */
    FD_HOST,     /* plain resolution, magic links too (/proc/PID/ns/net), of a path that the caller
                   (not the container) named */
};

/* openat2 (DIRFD, PATH, FLAGS | O_CLOEXEC, MODE). EAGAIN is retried (a bounded number of times:
 * a rename beside an IN_ROOT walk). Returns the descriptor or a negative errno; sets "open
 * 'PATH'". */
int fd_open (int dirfd, const char *path, int flags, enum fd_resolve how, struct err *e);
/* FD_PROC for files of PROCFS that the kernel alone made, also below a seccomp filter that knows no
 * openat2 (profiles older than Linux 5.6): where that is denied by openat, as nothing can be put in
 * the way of such a path. */
int fd_open_proc (int procfs, const char *path, int flags, struct err *e);
int fd_open_mode (int dirfd, const char *path, int flags, mode_t mode, enum fd_resolve how,
                  struct err *e);

/* The whole file below DIRFD as a NUL-terminated string in the arena; *RET_LEN (may be NULL)
 * counts without that NUL. More than MAX bytes is -EFBIG. Works for procfs and cgroupfs files.
 * Unless HOW is FD_HOST (where a pipe is fine), anything but a regular file is -EINVAL and never
 * blocks. */
int fd_read_file (int dirfd, const char *path, size_t max, enum fd_resolve how, struct arena *a,
                  char **ret, size_t *ret_len, struct err *e);

/* The rest of an open descriptor, likewise. NAME is for messages. */
int fd_read_all (int fd, const char *name, size_t max, struct arena *a, char **ret, size_t *ret_len,
                 struct err *e);

/* All of BUF into FD, across short writes and EINTR. Returns 0 or a negative errno, sets no
 * text. */
int fd_write_all (int fd, const void *buf, size_t len);

/* One write of TEXT to an existing kernel file (procfs, cgroupfs, sysfs) below DIRFD. A short write
 * is an error. Sets "write 'TEXT' to 'PATH'". */
int fd_write_kernel (int dirfd, const char *path, const char *text, enum fd_resolve how,
                     struct err *e);

/* Makes FILE (a host path, relative to DIRFD) with LEN bytes and exactly mode MODE: written
 * under a temporary name in the same folder, then renamed over FILE, so a reader sees the old or
 * the new bytes and never a part. */
int fd_write_atomic (int dirfd, const char *file, const void *buf, size_t len, mode_t mode,
                     struct err *e);

/* mkdir -p of PATH below ROOTFD, resolved like FD_IN_ROOT at each component, new ones with
 * exactly MODE (whatever the umask). *RET is an O_PATH descriptor of the last one. A component
 * that is no directory, or a link that leads nowhere, is an error; one that somebody else makes
 * meanwhile is not. CVE-2024-45310: nothing is ever made outside ROOTFD, whatever is renamed
 * beside us. */
int fd_mkdir_p (int rootfd, const char *path, mode_t mode, int *ret, struct err *e);

/* Makes PATH's parents as above (mode 0755) and PATH itself as an empty regular file if nothing
 * is there. *RET is an O_PATH descriptor of it, or of whatever was there before. A last
 * component that is a link leading nowhere is -ELOOP. */
int fd_make_file (int rootfd, const char *path, mode_t mode, int *ret, struct err *e);

/* Sends one message of LEN >= 1 bytes with descriptor FD (or none if -1) over a UNIX socket. */
int fd_send (int sock, const void *buf, size_t len, int fd);

/* Receives one message; *RET_FD is -1 when none came. Returns its length, 0 at end of file, or a
 * negative errno (-EPROTO when it was cut off). */
ssize_t fd_recv (int sock, void *buf, size_t len, int *ret_fd);

/* connect() to a UNIX stream socket at PATH, of any length (a long one through /proc/self/fd).
 * Waits at most 5 s for a listener with a full backlog (-ETIMEDOUT), and so do later sends.
 * Returns the connection. */
int fd_connect_unix (const char *path, struct err *e);

/* Opens /proc of the caller's pid namespace as a mount of its own that nobody else can reach or
 * cover (fsopen "proc"); an ordinary user gets the host's /proc after a check that it is procfs
 * and its root. CVE-2019-19921, CVE-2025-52881: nothing below it is ever reached by a path. */
int fd_procfs (struct err *e);

/* "/proc/self/fd/N" into BUF (at least 32 bytes); returns BUF. For system calls that take no fd. */
char *fd_path (char *buf, int fd);
#define FD_PATH_MAX 32
