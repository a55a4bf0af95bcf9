#include "self.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/kernel.h"

#define SEALS (F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE)

/* Nothing that is opened through this one (by way of /proc/PID/exe) can be written. */
static bool is_sealed (int exe)
{
    int seals = fcntl (exe, F_GET_SEALS);
    struct statvfs fs;

    /* A file of a tmpfs has seals too, none but F_SEAL_SEAL: its mount must still be asked. */
    if (seals >= 0 && (seals & SEALS) == SEALS)
        return true;
    return fstatvfs (exe, &fs) == 0 && fs.f_flag & ST_RDONLY;
}

/* A magic link of a procfs of our own: the running file itself, whatever its path leads to now. */
static int open_exe (int procfs)
{
    return openat (procfs, "self/exe", O_RDONLY | O_CLOEXEC);
}

bool self_is_sealed (int procfs)
{
    AUTO_FD exe = open_exe (procfs);

    return exe >= 0 && is_sealed (exe);
}

/* A read-only mount of EXE that is nowhere in the tree, so nobody can remount it. Costs two system
 * calls and no copy, but needs CAP_SYS_ADMIN. */
static int detached_mount (int exe)
{
    struct mount_attr attr = { .attr_set = MOUNT_ATTR_RDONLY };
    AUTO_FD fd = open_tree (exe, "", OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_EMPTY_PATH);

    if (fd < 0 || mount_setattr (fd, "", AT_EMPTY_PATH, &attr, sizeof attr) < 0)
        return -1;
    return TAKE_FD (fd);
}

static int copy_all (int from, int to)
{
    struct stat st;
    off_t at = 0;

    if (fstat (from, &st) < 0)
        return -1;
    while (at < st.st_size)
        if (sendfile (to, from, &at, (size_t)(st.st_size - at)) <= 0)
            return -1;
    return 0;
}

static int new_memfd (void)
{
    int fd = memfd_create ("agentrt", MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_EXEC);

    if (fd < 0 && errno == EINVAL) /* MFD_EXEC is of 6.3 */
        fd = memfd_create ("agentrt", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    return fd;
}

static int sealed_copy (int exe)
{
    AUTO_FD fd = new_memfd ();

    if (fd < 0 || copy_all (exe, fd) < 0 || fcntl (fd, F_ADD_SEALS, SEALS) < 0)
        return -1;
    return TAKE_FD (fd);
}

int self_seal (int procfs, char *const argv[], struct err *e)
{
    AUTO_FD exe = open_exe (procfs);
    AUTO_FD sealed = -1;

    if (exe < 0)
        return err_sys (e, "open the running program");
    sealed = detached_mount (exe);
    if (sealed < 0)
        sealed = sealed_copy (exe);
    if (sealed < 0)
        return err_sys (e, "copy the running program (vm.memfd_noexec must be below 2)");
    if (!is_sealed (sealed))
        return err_set (e, EPERM, "the copy of the running program is not sealed");
    (void)syscall (SYS_execveat, sealed, "", argv, environ, AT_EMPTY_PATH);
    return err_sys (e, "run the sealed copy of the program");
}

int self_hide (struct err *e)
{
    if (prctl (PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
        return err_sys (e, "hide the process");
    return 0;
}

int self_hide_check (struct err *e)
{
    if (prctl (PR_GET_DUMPABLE, 0, 0, 0, 0) != 0)
        return err_set (e, EPERM, "the process is not hidden");
    return 0;
}

void self_forget_environment (void)
{
    for (char **entry = environ; *entry; entry++)
        explicit_bzero (*entry, strlen (*entry));
    *environ = NULL;
}
