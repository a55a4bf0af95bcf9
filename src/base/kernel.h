#pragma once
/*
 * Constants of kernels newer than the headers of Debian 12 (Linux 6.1, glibc 2.36), each with the
 * version that brought it. Whoever uses one handles a kernel that does not know it.
 */
#ifndef MOVE_MOUNT_BENEATH
#define MOVE_MOUNT_BENEATH 0x00000200 /* 6.5 */
#endif

#ifndef STATX_MNT_ID_UNIQUE
#define STATX_MNT_ID_UNIQUE 0x00004000U /* 6.8: a mount id that is never used again */
#endif

#ifndef MFD_EXEC
#define MFD_EXEC 0x0010U /* 6.3 */
#endif
