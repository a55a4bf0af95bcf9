#include "lsm.h"

#include <errno.h>
#include <fcntl.h>
#include <selinux/selinux.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"

#define LABEL_MAX 4096 /* a page: what the attr files take and give */

#define EXEC_FILE     "thread-self/attr/exec"
#define KEY_FILE      "thread-self/attr/keycreate"
#define APPARMOR_DIR  "thread-self/attr/apparmor" /* Linux 5.1 */
#define APPARMOR_FILE APPARMOR_DIR "/exec"

bool lsm_selinux_is_enabled (void)
{
    return is_selinux_enabled () == 1;
}

bool lsm_apparmor_is_enabled (void)
{
    AUTO_FD fd = open ("/sys/module/apparmor/parameters/enabled", O_RDONLY | O_CLOEXEC);
    char c = 0;

    return fd >= 0 && read (fd, &c, 1) == 1 && c == 'Y';
}

static int check_selinux (const char *label, struct err *e)
{
    if (!lsm_selinux_is_enabled ())
        return err_set (e, ENOTSUP,
                        "/process/selinuxLabel: selinux label given but SELinux is disabled");
    if (security_check_context (label) < 0)
        return err_set (
            e, EINVAL, "/process/selinuxLabel: the loaded SELinux policy has no label '%s'", label);
    return 0;
}

int lsm_prepare (const struct plan_process *p, struct err *e)
{
    int r = p->selinux ? check_selinux (p->selinux, e) : 0;

    if (r < 0 || !p->apparmor)
        return r;
    if (!lsm_apparmor_is_enabled ())
        return err_set (
            e, ENOTSUP,
            "/process/apparmorProfile: apparmor profile given but AppArmor is disabled");
    return 0;
}

/* Backticks and the full path: the form by which podman tells an SELinux failure (oci-matrix
 * 1.6). */
static int write_attr (int procfs, const char *file, const char *text, struct err *e)
{
    AUTO_FD fd = fd_open (procfs, file, O_WRONLY, FD_PROC, e);
    ssize_t n;

    if (fd < 0)
        return err_add (e, "open `/proc/%s`", file);
    n = write (fd, text, strlen (text));
    if (n < 0)
        return err_sys (e, "write '%s' to `/proc/%s`", text, file);
    return 0;
}

static int read_attr (int procfs, const char *file, char buf[LABEL_MAX], struct err *e)
{
    AUTO_FD fd = fd_open (procfs, file, O_RDONLY, FD_PROC, e);
    ssize_t n;

    if (fd < 0)
        return err_add (e, "open `/proc/%s`", file);
    n = read (fd, buf, LABEL_MAX - 1);
    if (n < 0)
        return err_sys (e, "read `/proc/%s`", file);
    buf[n] = '\0';
    buf[strcspn (buf, "\n")] = '\0';
    return 0;
}

/* ---- AppArmor ---- */

/* With another LSM stacked below it, only the folder of its own is sure to be AppArmor's. */
static const char *apparmor_file (int procfs)
{
    return faccessat (procfs, APPARMOR_DIR, F_OK, 0) == 0 ? APPARMOR_FILE : EXEC_FILE;
}

static bool is_confined (int procfs, const char *exec_file)
{
    const char *file =
        strcmp (exec_file, EXEC_FILE) == 0 ? "thread-self/attr/current" : APPARMOR_DIR "/current";
    char label[LABEL_MAX];
    struct err ignored;

    /* Cannot be read: "stack" is right for the unconfined too, only less clear to look at. */
    return read_attr (procfs, file, label, &ignored) < 0 || strcmp (label, "unconfined") != 0;
}

/* Under no_new_privs a confined process may only tighten its profile: by stacking (crun#1385). */
static int apparmor_set (const struct plan_process *p, int procfs, struct err *e)
{
    const char *file = apparmor_file (procfs);
    bool stack = p->no_new_privs && is_confined (procfs, file);
    char text[LABEL_MAX];

    if (snprintf (text, sizeof text, "%s %s", stack ? "stack" : "exec", p->apparmor) >=
        (int)sizeof text)
        return err_set (e, ENAMETOOLONG, "/process/apparmorProfile: the name is too long");
    return write_attr (procfs, file, text, e);
}

/* Shown as "PROFILE (MODE)", or with stacking "OWN//&PROFILE (MODE)". */
static int apparmor_check (const struct plan_process *p, int procfs, struct err *e)
{
    char label[LABEL_MAX];
    int r = read_attr (procfs, apparmor_file (procfs), label, e);
    char *last;

    if (r < 0)
        return r;
    label[strcspn (label, " ")] = '\0';
    last = strstr (label, "//&");
    if (strcmp (last ? last + 3 : label, p->apparmor) != 0)
        return err_set (e, EPERM, "the profile for the next execve is '%s', wanted '%s'", label,
                        p->apparmor);
    return 0;
}

/* ---- SELinux ---- */

static int selinux_check (const struct plan_process *p, int procfs, struct err *e)
{
    char label[LABEL_MAX];
    int r = read_attr (procfs, EXEC_FILE, label, e);

    if (r < 0)
        return r;
    if (strcmp (label, p->selinux) != 0)
        return err_set (e, EPERM, "the label in `/proc/" EXEC_FILE "` is '%s', wanted '%s'", label,
                        p->selinux);
    return 0;
}

int lsm_set_exec (const struct plan_process *p, int procfs, struct err *e)
{
    if (p->selinux && write_attr (procfs, EXEC_FILE, p->selinux, e) < 0)
        return err_add (e, "/process/selinuxLabel");
    if (p->apparmor && apparmor_set (p, procfs, e) < 0)
        return err_add (e, "/process/apparmorProfile");
    return 0;
}

int lsm_check (const struct plan_process *p, int procfs, struct err *e)
{
    if (p->selinux && selinux_check (p, procfs, e) < 0)
        return err_add (e, "/process/selinuxLabel");
    if (p->apparmor && apparmor_check (p, procfs, e) < 0)
        return err_add (e, "/process/apparmorProfile");
    return 0;
}

int lsm_set_keycreate (const char *label, int procfs, struct err *e)
{
    return write_attr (procfs, KEY_FILE, label ?: "", e);
}
