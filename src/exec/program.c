/*
 * The workload's program: its working directory, HOME and the file that execve gets. Runs in the
 * child, inside the container's root.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "exec/passwd.h"
#include "exec/run.h"

/* First as root, because a parent folder may be closed to the user; where that fails (a network
 * file system that trusts no root) again as the user (runc#2712). exec's child is not in the
 * container's pid namespace yet: what lies below /proc/self is found later. */
int program_chdir (struct run *r, struct err *e)
{
    int code = chdir (r->plan.process.cwd) < 0 ? errno : 0;
    bool later = code == EACCES || (code == ENOENT && r->plan.is_exec);

    r->chdir_error = code;
    r->cwd_checked = false;
    if (code && !later)
        return err_set (e, code, "/process/cwd: cannot change to '%s': %s", r->plan.process.cwd,
                        strerrordesc_np (code));
    return 0;
}

static int chdir_again (struct run *r, struct err *e)
{
    int result = program_chdir (r, e);
    int code = r->chdir_error;

    if (result == 0 && code)
        result = err_set (e, code, "/process/cwd: the user cannot enter '%s': %s",
                          r->plan.process.cwd, strerrordesc_np (code));
    return result;
}

/* The kernel says "(unreachable)/..." for a folder outside the root: CVE-2024-21626. A filter that
 * stands early may deny the question, in other words than the kernel's; who did not move since the
 * last answer is where it was. */
int program_cwd_check (struct run *r, struct err *e)
{
    char cwd[PATH_MAX];

    if (syscall (SYS_getcwd, cwd, sizeof cwd) < 0) {
        if (errno != ENOENT && r->cwd_checked)
            return 0;
        return err_set (e, EPERM, "/process/cwd: is not below the container's root");
    }
    if (cwd[0] != '/')
        return err_set (e, EPERM, "/process/cwd: lies outside the container's root");
    r->cwd_checked = true;
    return 0;
}

int program_set_home (struct run *r, struct err *e)
{
    static const char prefix[] = "HOME=";
    size_t len = sizeof prefix - 1;

    (void)e;
    if (!r->plan.process.home_slot)
        return 0;
    memcpy (r->home, prefix, sizeof prefix);
    if (passwd_home (r->plan.process.uid, r->home + len, sizeof r->home - len) < 0)
        (void)snprintf (r->home + len, sizeof r->home - len, "/");
    *r->plan.process.home_slot = r->home;
    return 0;
}

/* 0, or the errno that execve would give for a file that is there but cannot be run. */
static int try_file (const char *path)
{
    struct stat st;

    if (stat (path, &st) < 0)
        return errno;
    if (S_ISDIR (st.st_mode))
        return EISDIR;
    if (!S_ISREG (st.st_mode))
        return EACCES;
    /* access() counts the capabilities of root alone; a user may have CAP_DAC_OVERRIDE. A filter
     * that is in force may not know the second call's (5.8). */
    if (access (path, X_OK) == 0 || faccessat (AT_FDCWD, path, X_OK, AT_EACCESS) == 0)
        return 0;
    return errno == ENOSYS ? EACCES : errno;
}

/* The texts that dockerd and podman turn into 126 and 127 (oci-matrix 1.6). */
int program_error (const char *name, int code, struct err *e)
{
    if (code == ENOENT || code == ENOTDIR)
        return err_set (e, code, "exec: \"%s\": stat %s: %s", name, name,
                        code == ENOENT ? "no such file or directory" : "not a directory");
    if (code == EISDIR)
        return err_set (e, code, "exec: \"%s\": is a directory: permission denied", name);
    if (code == EACCES || code == EPERM)
        return err_set (e, EACCES, "exec: \"%s\": permission denied", name);
    errno = code;
    return err_sys (e, "exec: \"%s\"", name);
}

/* One entry of PATH, an empty one being the working directory. */
static int candidate (char *buf, size_t size, const char *dir, size_t len, const char *name)
{
    int n = len ? snprintf (buf, size, "%.*s/%s", (int)len, dir, name)
                : snprintf (buf, size, "./%s", name);

    return n < 0 || (size_t)n >= size ? ENAMETOOLONG : try_file (buf);
}

/* As execvp: the first that can be run; a file that is there but cannot be is remembered. */
static int find_in_path (struct run *r, const char *name, struct err *e)
{
    const char *dir = r->plan.process.path ?: "";
    int seen = 0;

    for (const char *end; *dir; dir = *end ? end + 1 : end) {
        int code;

        end = strchrnul (dir, ':');
        code =
            candidate (r->executable_buf, sizeof r->executable_buf, dir, (size_t)(end - dir), name);
        if (code == 0) {
            r->executable = r->executable_buf;
            return 0;
        }
        if (code == EACCES)
            seen = code;
    }
    if (seen)
        return program_error (name, seen, e);
    return err_set (e, ENOENT, "exec: \"%s\": executable file not found in $PATH", name);
}

static int find (struct run *r, struct err *e)
{
    const char *name = r->plan.process.args[0];
    int code;

    if (name[0] != '\0' && !strchr (name, '/'))
        return find_in_path (r, name, e);
    code = name[0] ? try_file (name) : ENOENT;
    if (code)
        return program_error (name, code, e);
    r->executable = name;
    return 0;
}

int program_locate (struct run *r, struct err *e)
{
    int result = r->chdir_error ? chdir_again (r, e) : 0;

    return result < 0 ? result : find (r, e);
}
