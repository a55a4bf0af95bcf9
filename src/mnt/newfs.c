#include "mnt/newfs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "libocispec/strbuf.h"

#define VALUE_MAX 256 /* the kernel's limit for text in fsconfig, with its NUL */

/* MS_* that every file system takes, by the names that fsconfig has for them. MS_SILENT has none:
 * it keeps messages out of the kernel's log, and here they come to us. MS_I_VERSION has none
 * either since file systems decide it themselves. */
static const struct {
    uint64_t flag;
    const char *on, *off;
} sb_flags[] = {
    { MS_RDONLY, "ro", "rw" },         { MS_SYNCHRONOUS, "sync", "async" },
    { MS_DIRSYNC, "dirsync", NULL },   { MS_LAZYTIME, "lazytime", "nolazytime" },
    { MS_MANDLOCK, "mand", "nomand" },
};

/* The kernel's message about the context FS behind the error of the call that failed. Messages
 * start with their level, 'e', 'w' or 'i', and a blank. */
static int context_error (int fs, const char *type, const char *what, struct err *e)
{
    char text[256] = "";
    char line[256];
    ssize_t n;
    int code = errno;

    while ((n = read (fs, line, sizeof line - 1)) > 0) {
        line[n] = '\0';
        line[strcspn (line, "\n")] = '\0';
        if (line[0] == 'e' && line[1] == ' ')
            (void)snprintf (text, sizeof text, "%s", line + 2);
    }
    if (text[0])
        return err_set (e, code, "file system %s, %s: %s", type, what, text);
    errno = code;
    return err_sys (e, "file system %s, %s", type, what);
}

static int set_string (int fs, const struct newfs *nf, const char *key, const char *value,
                       struct err *e)
{
    if (fsconfig (fs, FSCONFIG_SET_STRING, key, value, 0) < 0)
        return context_error (fs, nf->type, key, e);
    return 0;
}

static int set_flag (int fs, const struct newfs *nf, const char *key, struct err *e)
{
    if (fsconfig (fs, FSCONFIG_SET_FLAG, key, NULL, 0) < 0)
        return context_error (fs, nf->type, key, e);
    return 0;
}

/* OPTION is "key=value" or "flag". */
static int set_option (int fs, const struct newfs *nf, const char *option, struct err *e)
{
    const char *eq = strchr (option, '=');
    char key[VALUE_MAX];

    if (!eq)
        return set_flag (fs, nf, option, e);
    if ((size_t)(eq - option) >= sizeof key)
        return err_set (e, EINVAL, "option '%.40s...' is too long", option);
    memcpy (key, option, (size_t)(eq - option));
    key[eq - option] = '\0';
    return set_string (fs, nf, key, eq + 1, e);
}

static int set_sb_flags (int fs, const struct newfs *nf, struct err *e)
{
    for (size_t i = 0; i < ARRAY_LEN (sb_flags); i++) {
        bool off = nf->sb_clear & sb_flags[i].flag && sb_flags[i].off;
        int r = 0;

        if (nf->sb_set & sb_flags[i].flag)
            r = set_flag (fs, nf, sb_flags[i].on, e);
        else if (off)
            r = set_flag (fs, nf, sb_flags[i].off, e);
        if (r < 0)
            return r;
    }
    return 0;
}

static int set_all (int fs, const struct newfs *nf, struct err *e)
{
    int r = set_sb_flags (fs, nf, e);

    if (r == 0 && nf->mode)
        r = set_string (fs, nf, "mode", nf->mode, e);
    if (r == 0 && nf->label)
        r = set_string (fs, nf, nf->label_option ?: "context", nf->label, e);
    for (size_t i = 0; r == 0 && nf->data && nf->data[i]; i++)
        r = set_option (fs, nf, nf->data[i], e);
    return r;
}

static int open_context (const struct newfs *nf, struct err *e)
{
    int fs;

    if (nf->network)
        return ns_network_fsopen (nf->network, nf->type, e);
    fs = fsopen (nf->type, FSOPEN_CLOEXEC);
    if (fs < 0 && errno == ENODEV)
        return err_set (e, ENODEV, "this kernel has no file system '%s'", nf->type);
    return fs >= 0 ? fs : err_sys (e, "file system %s", nf->type);
}

int newfs_mount (const struct newfs *nf, struct err *e)
{
    AUTO_FD fs = open_context (nf, e);
    int mnt;
    int r;

    if (fs < 0)
        return fs;
    r = set_string (fs, nf, "source", nf->source ?: nf->type, e);
    if (r == 0)
        r = set_all (fs, nf, e);
    if (r < 0)
        return r;
    if (fsconfig (fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0) < 0)
        return context_error (fs, nf->type, "create", e);
    mnt = fsmount (fs, FSMOUNT_CLOEXEC, (unsigned int)nf->attrs);
    return mnt >= 0 ? mnt : context_error (fs, nf->type, "mount", e);
}

int newfs_reconfigure (int fd, const struct newfs *nf, struct err *e)
{
    AUTO_FD fs = fspick (fd, "", FSPICK_CLOEXEC | FSPICK_EMPTY_PATH);
    int r;

    if (fs < 0)
        return err_sys (e, "look at the mounted file system");
    r = set_all (fs, nf, e);
    if (r < 0)
        return r;
    if (fsconfig (fs, FSCONFIG_CMD_RECONFIGURE, NULL, NULL, 0) < 0)
        return context_error (fs, nf->type, "reconfigure", e);
    return 0;
}

/* ---- mount(2) ---- */

static const struct {
    uint64_t attr, flag;
} classic_flags[] = {
    { MOUNT_ATTR_RDONLY, MS_RDONLY },
    { MOUNT_ATTR_NOSUID, MS_NOSUID },
    { MOUNT_ATTR_NODEV, MS_NODEV },
    { MOUNT_ATTR_NOEXEC, MS_NOEXEC },
    { MOUNT_ATTR_NODIRATIME, MS_NODIRATIME },
    { MOUNT_ATTR_NOATIME, MS_NOATIME },
    { MOUNT_ATTR_STRICTATIME, MS_STRICTATIME },
    { MOUNT_ATTR_NOSYMFOLLOW, MS_NOSYMFOLLOW },
};

bool newfs_needs_classic (const struct newfs *nf)
{
    for (size_t i = 0; nf->data && nf->data[i]; i++)
        if (strlen (nf->data[i]) >= VALUE_MAX)
            return true;
    return nf->sb_set & MS_I_VERSION;
}

static void add_data (struct strbuf *b, const struct newfs *nf)
{
    for (size_t i = 0; nf->data && nf->data[i]; i++)
        strbuf_addf (b, "%s%s", b->len ? "," : "", nf->data[i]);
    if (nf->mode)
        strbuf_addf (b, "%smode=%s", b->len ? "," : "", nf->mode);
    if (nf->label)
        strbuf_addf (b, "%s%s=\"%s\"", b->len ? "," : "", nf->label_option ?: "context", nf->label);
}

/* mount(2) takes a path: "." with TARGET as the working directory is one that nobody can change. */
int newfs_mount_classic (const struct newfs *nf, int target, struct err *e)
{
    AUTO_STRBUF data = { 0 };
    AUTO_FD back = fd_open (AT_FDCWD, ".", O_PATH | O_DIRECTORY, FD_HOST, e);
    unsigned long flags = nf->sb_set;
    int r = 0;

    if (back < 0)
        return back;
    for (size_t i = 0; i < ARRAY_LEN (classic_flags); i++)
        if (nf->attrs & classic_flags[i].attr)
            flags |= classic_flags[i].flag;
    add_data (&data, nf);
    if (data.failed)
        return err_oom (e);
    if (fchdir (target) < 0 || mount (nf->source ?: nf->type, ".", nf->type, flags, data.s) < 0)
        r = err_sys (e, "file system %s, mount", nf->type);
    if (fchdir (back) < 0)
        return err_sys (e, "return to the working directory");
    return r;
}
