#include "exec/criu.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "base/signals.h"
#include "base/str.h"

#define LOG_MAX ((size_t)64 << 20)

/* ---- the command line ---- */
static bool grow (struct criu_args *args)
{
    size_t max = args->max ? 2 * args->max : 64;
    char **more = arena_calloc (args->arena, max + 1, sizeof *more);

    if (!more)
        return false;
    if (args->n > 0)
        memcpy (more, args->v, args->n * sizeof *more);
    args->v = more;
    args->max = max;
    return true;
}

void criu_add (struct criu_args *args, const char *fmt, ...)
{
    AUTO_FREE char *text = NULL;
    va_list ap;

    va_start (ap, fmt);
    if (vasprintf (&text, fmt, ap) < 0)
        text = NULL;
    va_end (ap);
    if (!text || (args->n == args->max && !grow (args)) ||
        !(args->v[args->n++] = arena_strdup (args->arena, text)))
        args->failed = true;
}

static int find_criu (struct arena *a, const char **ret, struct err *e)
{
    const char *dir = getenv ("PATH") ?: "/usr/local/sbin:/usr/sbin:/sbin:/usr/bin";

    while (*dir) {
        int len = (int)strcspn (dir, ":");
        const char *file = arena_printf (a, "%.*s/criu", len, dir);

        if (!file)
            return err_oom (e);
        if (*dir == '/' && access (file, X_OK) == 0) {
            *ret = file;
            return 0;
        }
        dir += len + (dir[len] == ':');
    }
    return err_set (e, ENOENT, "the program criu is not in PATH: install criu to use %s",
                    "checkpoint and restore");
}

/* ---- folders ---- */
static const char *absolute (const char *path, struct arena *a)
{
    AUTO_FREE char *cwd = path[0] == '/' ? NULL : getcwd (NULL, 0);

    if (path[0] == '/')
        return path;
    return cwd ? arena_printf (a, "%s/%s", cwd, path) : NULL;
}

static int make_folder (const char **path, struct arena *a, struct err *e)
{
    AUTO_FD root = fd_open (AT_FDCWD, "/", O_PATH | O_DIRECTORY, FD_HOST, e);
    AUTO_FD made = -1;
    int fd;

    *path = absolute (*path, a);
    if (!*path)
        return err_oom (e);
    if (root < 0 || fd_mkdir_p (root, *path, 0700, &fd, e) < 0)
        return -e->code;
    made = fd;
    return 0;
}

/* As criu has it: counted from the images. */
static int check_parent (const char *path, struct err *e)
{
    if (!path || path[0] != '/')
        return 0;
    return err_set (e, EINVAL, "--parent-path: must be relative to --image-path");
}

/* ---- what both take ---- */
static void add_flags (struct criu_args *args, const struct container_criu_options *o)
{
    const struct {
        bool given;
        const char *name;
    } flags[] = {
        { o->tcp_established, "--tcp-established" },
        { o->tcp_skip_in_flight, "--skip-in-flight" },
        { o->tcp_close, "--tcp-close" },
        { o->link_remap, "--link-remap" },
        { o->ext_unix_sk, "--ext-unix-sk" },
        { o->shell_job, "--shell-job" },
        { o->file_locks, "--file-locks" },
        { o->lazy_pages, "--lazy-pages" },
        { o->auto_dedup, "--auto-dedup" },
    };
    const struct {
        const char *value, *name;
    } values[] = {
        { o->manage_cgroups ?: "soft", "--manage-cgroups" },
        { o->network_lock, "--network-lock" },
        { o->lsm_profile, "--lsm-profile" },
        { o->lsm_mount_context, "--lsm-mount-context" },
    };

    for (size_t i = 0; i < ARRAY_LEN (flags); i++)
        if (flags[i].given)
            criu_add (args, "%s", flags[i].name);
    for (size_t i = 0; i < ARRAY_LEN (values); i++)
        if (values[i].value)
            criu_add (args, "%s=%s", values[i].name, values[i].value);
}

static int add_empty (struct criu_args *args, const char *const *list, struct err *e)
{
    for (; list && *list; list++) {
        if (strcmp (*list, "network") != 0)
            return err_set (e, EINVAL, "--empty-ns: criu knows this of the network only, not '%s'",
                            *list);
        criu_add (args, "--empty-ns=net");
    }
    return 0;
}

const char *criu_images (const struct container_criu_options *o)
{
    return o->image_path ?: "checkpoint";
}

const struct criu_outside criu_outside[CRIU_OUTSIDE] = { { NS_NET, "net", "extRootNetNS" },
                                                         { NS_PID, "pid", "extRootPidNS" } };

int criu_begin (struct run *r, const char *verb, const struct container_criu_options *o,
                struct criu_args *args, const char **ret_log, struct err *e)
{
    const char *images = criu_images (o);
    const char *work = o->work_path ?: images;
    const char *program = NULL;

    *args = (struct criu_args){ .arena = r->arena };
    if (check_parent (o->parent_path, e) < 0 || find_criu (r->arena, &program, e) < 0 ||
        make_folder (&images, r->arena, e) < 0 || make_folder (&work, r->arena, e) < 0)
        return -e->code;
    criu_add (args, "%s", program);
    criu_add (args, "%s", verb);
    criu_add (args, "--images-dir=%s", images);
    criu_add (args, "--work-dir=%s", work);
    criu_add (args, "--log-file=%s.log", verb);
    criu_add (args, "-v4");
    if (o->parent_path)
        criu_add (args, "--prev-images-dir=%s", o->parent_path);
    add_flags (args, o);
    if (add_empty (args, o->empty_ns, e) < 0)
        return -e->code;
    *ret_log = arena_printf (r->arena, "%s/%s.log", work, verb);
    return *ret_log ? 0 : err_oom (e);
}

/* ---- its life ---- */
static void hand_on (const struct criu_call *c)
{
    for (size_t i = 0; i < c->n_keep; i++)
        (void)fcntl (c->keep[i], F_SETFD, 0); /* one that is not open is criu's to tell */
}

static void without_streams (void)
{
    int null = open ("/dev/null", O_RDWR | O_CLOEXEC);

    for (int fd = 0; null >= 0 && fd <= STDERR_FILENO; fd++)
        (void)dup2 (null, fd);
}

static void become_criu (struct run *r, const struct criu_args *args, const struct criu_call *c)
{
    struct err ignored;

    if (c->enter && !r->plan.cgroup.disabled && cgroup_enter (&r->cgroup, &ignored) < 0)
        _exit (126);
    if (!c->enter)
        without_streams ();
    hand_on (c);
    signals_reset ();
    (void)execv (args->v[0], args->v);
    _exit (127);
}

/* The last line with "Error" of the log, after its time, or NULL. */
static const char *last_error (const char *log, struct arena *a)
{
    struct err ignored;
    const char *found = NULL;
    char *text;

    if (fd_read_file (AT_FDCWD, log, LOG_MAX, FD_HOST, a, &text, NULL, &ignored) < 0)
        return NULL;
    for (char *line; (line = strsep (&text, "\n"));) {
        const char *at = strstr (line, "Error");

        found = at ?: found;
    }
    return found;
}

int criu_run (struct run *r, const struct criu_args *args, const struct criu_call *c, struct err *e)
{
    const char *why;
    int status;
    pid_t pid;

    if (args->failed)
        return err_oom (e);
    pid = fork ();
    if (pid == 0)
        become_criu (r, args, c);
    if (pid < 0)
        return err_sys (e, "start criu");
    while (waitpid (pid, &status, 0) < 0)
        if (errno != EINTR)
            return err_sys (e, "wait for criu");
    if (WIFEXITED (status) && WEXITSTATUS (status) == 0)
        return 0;
    why = last_error (c->log, r->arena);
    return err_set (e, EIO, "criu failed: %s %d%s%.200s (log file: %.200s)",
                    WIFEXITED (status) ? "exit status" : "signal",
                    WIFEXITED (status) ? WEXITSTATUS (status) : WTERMSIG (status), why ? ": " : "",
                    why ?: "", c->log);
}
