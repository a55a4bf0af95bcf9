#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "spec.h"

/* Docker and Podman read "no such file or directory" and "permission denied" as an answer about the
 * workload (oci-matrix 1.6), so these two are said in other words. */
static int fail_open (const char *name, struct err *e)
{
    if (e->code == ENOENT)
        return err_set (e, ENOENT, "%s: does not exist", name);
    if (e->code == EACCES)
        return err_set (e, EACCES, "%s: may not be read", name);
    return err_add (e, "%s", name);
}

/* Opened once and without blocking, so that neither a FIFO nor a device holds us up. */
static int open_config (int dir, const char *name, struct err *e)
{
    AUTO_FD fd = fd_open (dir, name, O_RDONLY | O_NONBLOCK | O_NOCTTY, FD_HOST, e);
    struct stat st;

    if (fd < 0)
        return fail_open (name, e);
    if (fstat (fd, &st) < 0)
        return err_sys (e, "%s: stat", name);
    if (!S_ISREG (st.st_mode))
        return err_set (e, EINVAL, "%s: not a regular file", name);
    return TAKE_FD (fd);
}

/* What is wrong with these is said in the words that runc's users know, before where it is. */
static int fail_parse (const char *name, struct err *e)
{
    static const char *const known[][2] = {
        { "/linux/memoryPolicy/mode", "invalid memory policy mode" },
        { "/linux/memoryPolicy/flags", "invalid memory policy flag" },
    };

    for (size_t i = 0; i < ARRAY_LEN (known); i++)
        if (strncmp (e->msg, known[i][0], strlen (known[i][0])) == 0)
            (void)err_add (e, "%s", known[i][1]);
    return err_add (e, "%s", name);
}

int spec_load (int bundle_dir, const char *name, struct arena *a, const struct oci_config **ret,
               struct oci_parse_info *info, struct err *e)
{
    AUTO_FD fd = open_config (bundle_dir, name, e);
    const void *doc;
    size_t len;
    char *text;

    if (fd < 0)
        return fd;
    if (fd_read_all (fd, name, OCI_MAX_BYTES, a, &text, &len, e) < 0)
        return -e->code;
    if (oci_parse (&oci_config_type, text, len, a, &doc, info, e) < 0)
        return fail_parse (name, e);
    *ret = doc;
    return 0;
}

int spec_load_process (const char *file, struct arena *a, const struct oci_process **ret,
                       struct err *e)
{
    const void *doc;
    size_t len;
    char *text;

    if (fd_read_file (AT_FDCWD, file, OCI_MAX_BYTES, FD_HOST, a, &text, &len, e) < 0)
        return fail_open (file, e);
    if (oci_parse (&oci_process_type, text, len, a, &doc, NULL, e) < 0)
        return err_add (e, "%s", file);
    *ret = doc;
    return 0;
}

int spec_load_mounts (const char *file, struct arena *a, const struct oci_mount **ret,
                      size_t *ret_n, struct err *e)
{
    const void *list;
    size_t len;
    char *text;

    if (fd_read_file (AT_FDCWD, file, OCI_MAX_BYTES, FD_HOST, a, &text, &len, e) < 0)
        return fail_open (file, e);
    if (oci_parse_list (&oci_mount_type, text, len, a, &list, ret_n, e) < 0)
        return err_add (e, "%s", file);
    *ret = list;
    return 0;
}
