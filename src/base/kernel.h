#pragma once
/*
 * Constants of kernels newer than the headers of Debian 12 (Linux 6.1, glibc 2.36), each with the
 * version that brought it. Whoever uses one handles a kernel that does not know it.
 */
#include <stdint.h>
#include <sys/syscall.h>

#ifndef MOVE_MOUNT_BENEATH
#define MOVE_MOUNT_BENEATH 0x00000200 /* 6.5 */
#endif

#ifndef SYS_fchmodat2
#define SYS_fchmodat2 452 /* 6.6 */
#endif

#ifndef STATX_MNT_ID_UNIQUE
#define STATX_MNT_ID_UNIQUE 0x00004000U /* 6.8: a mount id that is never used again */
#endif

#ifndef MFD_EXEC
#define MFD_EXEC 0x0010U /* 6.3 */
#endif

/* 6.8: what the kernel knows of one mount. The first bytes of the kernel's structs, under names
 * of our own since newer headers have theirs. */
#ifndef SYS_statmount
#define SYS_statmount 457
#endif
#ifndef STATMOUNT_MNT_BASIC
#define STATMOUNT_SB_BASIC  0x00000001U
#define STATMOUNT_MNT_BASIC 0x00000002U
#define STATMOUNT_MNT_ROOT  0x00000008U
#define STATMOUNT_MNT_POINT 0x00000010U
#define STATMOUNT_FS_TYPE   0x00000020U
#endif

struct statmount_request {
    uint32_t size, spare;
    uint64_t mnt_id; /* the unique one */
    uint64_t param;
};
_Static_assert(sizeof (struct statmount_request) == 24, "MNT_ID_REQ_SIZE_VER0");

struct statmount_basic {
    uint32_t size, spare;
    uint64_t mask;
    uint32_t sb_dev_major, sb_dev_minor;
    uint64_t sb_magic;
    uint32_t sb_flags, fs_type;
    uint64_t mnt_id, mnt_parent_id;
    uint32_t mnt_id_old, mnt_parent_id_old;
    uint64_t mnt_attr, mnt_propagation, mnt_peer_group, mnt_master;
};

/* All of it; the strings are offsets into what follows. */
struct statmount_full {
    struct statmount_basic basic;
    uint64_t propagate_from;
    uint32_t mnt_root, mnt_point;
    uint64_t spare[50];
    char str[];
};
_Static_assert(sizeof (struct statmount_full) == 512, "struct statmount");
