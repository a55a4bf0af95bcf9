#include "base/userns.h"

#include <sys/stat.h>

/* The initial user namespace has this inode number, always (PROC_USER_INIT_INO). */
#define INITIAL_USERNS_INODE 0xEFFFFFFDU

bool userns_is_initial (void)
{
    struct stat st;

    return stat ("/proc/self/ns/user", &st) == 0 && st.st_ino == INITIAL_USERNS_INODE;
}
