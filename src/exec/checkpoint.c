/*
 * checkpoint: a container's processes, written to files by criu.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "base/str.h"
#include "exec/criu.h"
#include "plan/build.h"

static int require_live (struct run *r, struct err *e)
{
    enum state_status status;
    int result = run_status (r, &status, e);

    if (result < 0 || status == STATUS_RUNNING || status == STATUS_PAUSED)
        return result;
    return err_set (e, ESRCH, "container cannot be checkpointed in %s state",
                    state_status_names[status]);
}

/* Who is what in the container, as a start has it. */
static int plan (struct run *r, struct err *e)
{
    const struct plan_input in = { .id = r->saved.id,
                                   .bundle = r->saved.bundle,
                                   .config = r->config,
                                   .no_cgroup = !r->saved.cgroup,
                                   .host.permitted = UINT64_MAX };

    return plan_build (&in, r->arena, &r->plan, e);
}

/* ---- what criu must not look into ---- */
static bool is_masked_file (int root, const char *path)
{
    struct err ignored;
    struct stat st;
    AUTO_FD fd = fd_open (root, path, O_PATH, FD_IN_ROOT, &ignored);

    return fd >= 0 && fstat (fd, &st) == 0 && !S_ISDIR (st.st_mode);
}

/* Binds come from the host and go back there; a masked file is a bind of /dev/null. */
static int add_mounts (struct run *r, struct criu_args *args, struct err *e)
{
    char link[32];
    AUTO_FD root = -1;

    for (size_t i = 0; i < r->plan.n_mounts; i++)
        if (r->plan.mounts[i].kind == MOUNT_BIND)
            criu_add (args, "--external=mnt[%s]:%s", r->plan.mounts[i].dest,
                      r->plan.mounts[i].dest);
    (void)snprintf (link, sizeof link, "%d/root", r->saved.pid);
    root = fd_open (r->procfs, link, O_PATH | O_DIRECTORY, FD_HOST, e);
    if (root < 0)
        return root;
    for (size_t i = 0; i < r->plan.n_masked; i++)
        if (is_masked_file (root, r->plan.masked[i]))
            criu_add (args, "--external=mnt[%s]:/dev/null", r->plan.masked[i]);
    return 0;
}

static int add_namespaces (struct run *r, struct criu_args *args, struct err *e)
{
    for (size_t i = 0; i < CRIU_OUTSIDE; i++) {
        const struct plan_ns *ns = &r->plan.ns[criu_outside[i].kind];
        struct stat st;

        if (ns->mode != NS_JOIN)
            continue;
        if (stat (ns->path, &st) < 0)
            return err_sys (e, "look at '%s'", ns->path);
        criu_add (args, "--external=%s[%llu]:%s", criu_outside[i].name,
                  (unsigned long long)st.st_ino, criu_outside[i].key);
    }
    return 0;
}

/* ---- standard streams ---- */
/* What restore connects anew: the pipes among descriptors 0 to 2, in runc's file. */
static int write_descriptors (struct run *r, const char *images, struct err *e)
{
    AUTO_STRBUF out = { 0 };
    const char *file = arena_printf (r->arena, "%s/descriptors.json", images);

    for (int fd = 0; fd <= STDERR_FILENO; fd++) {
        char link[32];
        char to[64];
        ssize_t n;

        (void)snprintf (link, sizeof link, "%d/fd/%d", r->saved.pid, fd);
        n = readlinkat (r->procfs, link, to, sizeof to - 1);
        to[n > 0 ? n : 0] = '\0';
        strbuf_addf (&out, "%s\"%s\"", fd ? "," : "[",
                     str_has_prefix (to, "pipe:[") ? to : "/dev/null");
    }
    strbuf_adds (&out, "]");
    if (out.failed || !file)
        return err_oom (e);
    return fd_write_atomic (AT_FDCWD, file, out.s, out.len, 0600, e);
}

/* ---- the dump ---- */
static int add_page_server (struct criu_args *args, const char *server, struct err *e)
{
    const char *colon = strrchr (server, ':');

    if (!colon || colon == server || !colon[1])
        return err_set (e, EINVAL, "--page-server: '%s' is not ADDRESS:PORT", server);
    criu_add (args, "--page-server");
    criu_add (args, "--address=%.*s", (int)(colon - server), server);
    criu_add (args, "--port=%s", colon + 1);
    return 0;
}

static int add_dump (struct run *r, const struct container_criu_options *o, struct criu_args *args,
                     struct err *e)
{
    criu_add (args, "--tree=%d", r->saved.pid);
    criu_add (args, "--root=%s", r->plan.rootfs);
    if (o->leave_running)
        criu_add (args, "--leave-running");
    if (o->pre_dump)
        criu_add (args, "--track-mem");
    if (o->status_fd)
        criu_add (args, "--status-fd=%u", o->status_fd);
    if (o->page_server && add_page_server (args, o->page_server, e) < 0)
        return -e->code;
    return add_mounts (r, args, e) < 0 || add_namespaces (r, args, e) < 0 ? -e->code : 0;
}

static int dump (struct run *r, const struct container_criu_options *o, struct err *e)
{
    const int keep[] = { (int)o->status_fd };
    struct criu_call c = { .keep = keep, .n_keep = o->status_fd ? 1 : 0 };
    struct criu_args args;

    if (criu_begin (r, o->pre_dump ? "pre-dump" : "dump", o, &args, &c.log, e) < 0 ||
        add_dump (r, o, &args, e) < 0)
        return -e->code;
    if (!o->pre_dump && write_descriptors (r, criu_images (o), e) < 0)
        return -e->code;
    return criu_run (r, &args, &c, e);
}

static int checkpoint (struct run *r, const struct container_criu_options *o, struct err *e)
{
    int result = run_reopen (r, o->id, STATE_LOCK, e);

    if (result == 0)
        result = require_live (r, e);
    if (result == 0)
        result = run_read_config (r, e);
    if (result == 0)
        result = plan (r, e);
    if (result == 0)
        result = run_need_procfs (r, e);
    if (result == 0)
        result = dump (r, o, e);
    if (result < 0 || o->leave_running || o->pre_dump)
        return result;
    return run_destroy (r, e); /* as runc: what is in the files is no longer here */
}

int container_checkpoint (const struct container_env *env, const struct container_criu_options *o,
                          struct err *e)
{
    AUTO_ARENA a = { 0 };
    struct run r;
    int result;

    run_init (&r, env, &a);
    result = run_block_signals (&r, e);
    if (result == 0)
        result = checkpoint (&r, o, e);
    run_close (&r);
    return result;
}
