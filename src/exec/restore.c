/*
 * restore: a container made again by criu from a checkpoint's files.
 *
 * The rows of a start up to its cgroup, then criu in the place of the child's list: it brings the
 * namespaces, mounts and credentials that were written down. Nothing here can say what they are, so
 * only a policy that confines nothing lets it (policy/restore.h).
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "base/num.h"
#include "base/str.h"
#include "exec/criu.h"
#include "hook/hook.h"
#include "mnt/tree.h"
#include "plan/steps.h"
#include "policy/restore.h"

#define ROOT_NAME "criu-root"
#define PID_NAME  "criu.pid"

/* Below the state directory, which is ours alone. */
static const char *state_path (struct run *r, const char *name)
{
    return arena_printf (r->arena, "%s/%s/%s", r->env->root, r->create->id, name);
}

/* ---- what is not done ---- */
static int row_possible (struct run *r, struct err *e)
{
    static const int runtime_hooks[] = { HOOK_PRESTART, HOOK_CREATE_RUNTIME };
    size_t n;

    if (policy_allows_restore (&r->given_policy, e) < 0)
        return -e->code;
    if (r->plan.is_rootless)
        return err_set (e, EPERM, "restore: needs the host's root");
    if (r->plan.process.terminal)
        return err_set (e, ENOTSUP, "/process/terminal: a terminal cannot be restored");
    for (size_t i = 0; i < ARRAY_LEN (runtime_hooks); i++) {
        (void)hook_list (r->plan.hooks, runtime_hooks[i], &n);
        if (n > 0)
            return err_set (e, ENOTSUP, "/hooks/%s: cannot run in a restore",
                            hook_names[runtime_hooks[i]]);
    }
    return 0;
}

/* ---- the root ---- */
/* criu wants the root to be a mount, whose parent nothing covers. */
static int mount_root (struct run *r, struct err *e)
{
    const struct tree_flags private = { .propagation = MS_PRIVATE };
    AUTO_FD tree = tree_clone (AT_FDCWD, r->plan.rootfs, TREE_RECURSIVE, e);
    AUTO_FD target = -1;

    if (tree < 0)
        return err_add (e, "/root/path");
    if (mkdirat (r->state.dir, ROOT_NAME, 0700) < 0)
        return err_sys (e, "make a folder for the root");
    target = fd_open (r->state.dir, ROOT_NAME, O_PATH | O_DIRECTORY, FD_BENEATH, e);
    if (target < 0 || tree_set (tree, true, &private, e) < 0)
        return -e->code;
    return tree_attach (tree, target, e);
}

static void unmount_root (struct run *r)
{
    const char *path = state_path (r, ROOT_NAME);

    if (r->state.dir < 0 || !path)
        return;
    (void)umount2 (path, MNT_DETACH | UMOUNT_NOFOLLOW); /* not mounted is fine */
    (void)unlinkat (r->state.dir, ROOT_NAME, AT_REMOVEDIR);
    (void)unlinkat (r->state.dir, PID_NAME, 0);
}

/* Where binds go: a start made these places, in the root of the day. What lies in another mount
 * comes back with it. */
static bool lies_in_mount (const struct plan *p, const struct plan_mount *pm)
{
    for (size_t i = 0; i < p->n_mounts; i++) {
        size_t n = strlen (p->mounts[i].dest);

        if (&p->mounts[i] != pm && strncmp (pm->dest, p->mounts[i].dest, n) == 0 &&
            pm->dest[n] == '/')
            return true;
    }
    return false;
}

static int make_place (struct run *r, int root, const struct plan_mount *pm, struct err *e)
{
    AUTO_FD made = -1;
    struct stat st;
    int fd;
    int result;

    if (pm->kind != MOUNT_BIND || lies_in_mount (&r->plan, pm))
        return 0;
    if (stat (pm->source, &st) < 0)
        return err_set (e, errno, "source '%s' cannot be looked at", pm->source);
    result = S_ISDIR (st.st_mode) ? fd_mkdir_p (root, pm->dest, 0755, &fd, e)
                                  : fd_make_file (root, pm->dest, 0644, &fd, e);
    made = result < 0 ? -1 : fd;
    return result;
}

static int make_places (struct run *r, struct err *e)
{
    AUTO_FD root = fd_open (AT_FDCWD, r->plan.rootfs, O_PATH | O_DIRECTORY, FD_HOST, e);

    if (root < 0)
        return root;
    for (size_t i = 0; i < r->plan.n_mounts; i++)
        if (make_place (r, root, &r->plan.mounts[i], e) < 0)
            return err_add (e, "/mounts[%zu]", i);
    return 0;
}

/* ---- the command line ---- */
static void add_mounts (struct run *r, struct criu_args *args)
{
    for (size_t i = 0; i < r->plan.n_mounts; i++)
        if (r->plan.mounts[i].kind == MOUNT_BIND)
            criu_add (args, "--external=mnt[%s]:%s", r->plan.mounts[i].dest,
                      r->plan.mounts[i].source);
    if (r->plan.n_masked > 0)
        criu_add (args, "--external=mnt[/dev/null]:/dev/null");
}

static void add_cgroups (struct run *r, struct criu_args *args)
{
    for (size_t i = 0; !r->plan.cgroup.disabled && i < r->cgroup.n; i++) {
        const struct cgroup_hierarchy *h = &r->cgroup.h[i];

        if (h->controllers[0])
            criu_add (args, "--cgroup-root=%s:%s", h->controllers, h->path);
        else if (r->cgroup.layout == CGROUP_V2)
            criu_add (args, "--cgroup-root=%s", h->path);
    }
}

/* The pipes of then become ours of now. */
static int add_streams (struct run *r, const char *images, struct criu_args *args, struct err *e)
{
    const char *file = arena_printf (r->arena, "%s/descriptors.json", images);
    char *text;
    int fd = 0;

    if (!file)
        return err_oom (e);
    if (fd_read_file (AT_FDCWD, file, 65536, FD_HOST, r->arena, &text, NULL, e) < 0)
        return err_set (e, e->code, "--image-path: '%s' has no checkpoint: no descriptors.json",
                        images);
    for (char *word; fd <= STDERR_FILENO && (word = strsep (&text, ","));) {
        char *from = strchr (word, '"');
        char *to = from ? strchr (from + 1, '"') : NULL;

        if (to && str_has_prefix (from + 1, "pipe:["))
            criu_add (args, "--inherit-fd=fd[%d]:%.*s", fd, (int)(to - from - 1), from + 1);
        fd++;
    }
    return 0;
}

/* Namespaces of others; those of the container come from the files. FDS: to be handed on. */
static int add_namespaces (struct run *r, struct criu_args *args, int fds[CRIU_OUTSIDE],
                           struct err *e)
{
    for (size_t i = 0; i < CRIU_OUTSIDE; i++) {
        const struct plan_ns *ns = &r->plan.ns[criu_outside[i].kind];

        fds[i] = -1;
        if (ns->mode != NS_JOIN)
            continue;
        fds[i] = fd_open (AT_FDCWD, ns->path, O_RDONLY, FD_HOST, e);
        if (fds[i] < 0)
            return fds[i];
        criu_add (args, "--inherit-fd=fd[%d]:%s", fds[i], criu_outside[i].key);
    }
    return 0;
}

/* ---- the row ---- */
static int adopt (struct run *r, struct err *e)
{
    uint64_t pid;
    char *text;

    if (fd_read_file (r->state.dir, PID_NAME, 64, FD_BENEATH, r->arena, &text, NULL, e) < 0)
        return err_add (e, "criu told no pid");
    text[strcspn (text, "\n")] = '\0';
    if (num_u64 (text, "the pid that criu told", 1, INT32_MAX, &pid, e) < 0)
        return -e->code;
    r->pid = (pid_t)pid;
    r->pidfd = (int)syscall (SYS_pidfd_open, r->pid, 0);
    return r->pidfd < 0 ? err_sys (e, "open the restored process") : 0;
}

static int call (struct run *r, struct criu_args *args, const char *log, struct err *e)
{
    int fds[CRIU_OUTSIDE] = { -1, -1 };
    struct criu_call c = { .log = log, .enter = true, .keep = fds, .n_keep = ARRAY_LEN (fds) };
    int result = add_namespaces (r, args, fds, e);

    if (result == 0 && !r->plan.cgroup.disabled) {
        r->cgroup.no_clone_into = true; /* criu enters by itself, cgroup2 too */
        result = cgroup_enter_prepare (&r->cgroup, e);
    }
    if (result == 0)
        result = criu_run (r, args, &c, e);
    cleanup_fd (&fds[0]);
    cleanup_fd (&fds[1]);
    return result < 0 ? result : adopt (r, e);
}

static int row_criu (struct run *r, struct err *e)
{
    const char *root = state_path (r, ROOT_NAME);
    const char *pid = state_path (r, PID_NAME);
    struct criu_args args;
    const char *log;

    if (!root || !pid)
        return err_oom (e);
    if (criu_begin (r, "restore", r->criu, &args, &log, e) < 0 ||
        add_streams (r, criu_images (r->criu), &args, e) < 0 || make_places (r, e) < 0 ||
        mount_root (r, e) < 0)
        return -e->code;
    criu_add (&args, "--restore-detached");
    criu_add (&args, "--restore-sibling");
    criu_add (&args, "--pidfile=%s", pid);
    criu_add (&args, "--root=%s", root);
    add_mounts (r, &args);
    add_cgroups (r, &args);
    if (call (r, &args, log, e) < 0)
        return -e->code;
    unmount_root (r);
    return 0;
}

static int row_criu_check (struct run *r, struct err *e)
{
    if (r->plan.cgroup.disabled)
        return 0;
    return cgroup_enter_check (&r->cgroup, r->procfs, r->pid, e);
}

static void row_criu_undo (struct run *r)
{
    siginfo_t info;

    if (r->pidfd >= 0) {
        (void)syscall (SYS_pidfd_send_signal, r->pidfd, SIGKILL, NULL, 0); /* ended is fine */
        (void)waitid (P_PIDFD, (id_t)r->pidfd, &info, WEXITED); /* not a child of ours is fine */
    }
    unmount_root (r);
}

static int check_nothing (struct run *r, struct err *e)
{
    (void)r;
    (void)e;
    return 0; /* the act is the check */
}

static void undo_nothing (struct run *r)
{
    (void)r; /* the row has no effect on the host */
}

static const struct step own_steps[] = {
    { "possible", plan_wants_always, row_possible, check_nothing, undo_nothing },
    { "criu", plan_wants_always, row_criu, row_criu_check, row_criu_undo },
};

/* ---- the list ---- */
static const struct step *find_step (const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN (own_steps); i++)
        if (strcmp (own_steps[i].name, name) == 0)
            return &own_steps[i];
    for (size_t i = 0; i < n_parent_step_functions; i++)
        if (strcmp (parent_steps[i].name, name) == 0)
            return &parent_steps[i];
    return NULL;
}

int restore_container (struct run *r, const struct container_criu_options *o, struct err *e)
{
    static const char *const names[] = { "load",     "policy",       "plan",  "possible",
                                         "seal",     "hide",         "claim", "intent",
                                         "cgroup",   "cgroup_owner", "criu",  "record",
                                         "pid_file", "pidfd_socket" };
    struct step steps[ARRAY_LEN (names)];

    r->create = o->create;
    r->criu = o;
    for (size_t i = 0; i < ARRAY_LEN (names); i++) {
        const struct step *s = find_step (names[i]);

        if (!s)
            return err_set (e, EINVAL, "there is no step '%s'", names[i]);
        steps[i] = *s;
    }
    /* criu is not our child for long: what it leaves becomes ours. */
    if (!o->create->detach && prctl (PR_SET_CHILD_SUBREAPER, 1) < 0)
        return err_sys (e, "PR_SET_CHILD_SUBREAPER");
    return run_steps (r, steps, ARRAY_LEN (steps), e);
}
