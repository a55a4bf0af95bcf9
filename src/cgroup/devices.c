#include "cgroup/devices.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "cgroup/internal.h"

/* The kernel holds at most 64 programs a cgroup (BPF_CGROUP_MAX_PROGS). */
#define PROGS_MAX 64

/* The verifier gives up with EAGAIN when a signal is pending. */
#define LOAD_TRIES 30

/* ---- v1 ---- */

static int write_rule (int fd, const struct device_rule *rule, struct err *e)
{
    char text[DEVICE_TEXT_MAX];
    int r;

    device_text (rule, text);
    r = fd_write_all (fd, text, strlen (text));
    if (r >= 0)
        return 0;
    return err_set (e, -r, "'%s' is refused (%s)", text,
                    r == -EPERM ? "the cgroup above does not allow it either" : strerror (-r));
}

static int v1_apply (int dir, const struct device_exceptions *x, struct err *e)
{
    AUTO_FD fd = -1;
    /* "a" takes back what the parent's list gave, exceptions included. */
    int r = cgfile_write (dir, x->allow ? "devices.allow" : "devices.deny", "a", e);

    if (r < 0)
        return r;
    fd = cgfile_open (dir, x->allow ? "devices.deny" : "devices.allow", O_WRONLY, e);
    if (fd < 0)
        return fd;
    for (size_t i = 0; r >= 0 && i < x->n; i++)
        r = write_rule (fd, &x->v[i], e);
    return r;
}

/* With "all but" the kernel tells the default only. */
static int v1_check (int dir, const struct device_exceptions *x, struct err *e)
{
    AUTO_ARENA a = { 0 };
    size_t lines = 0;
    char *list;
    int r = cgfile_read (dir, "devices.list", &a, &list, e);

    if (r < 0)
        return r;
    for (const char *p = list; (p = strchr (p, '\n')); p++)
        lines++;
    if (x->allow)
        return strcmp (list, "a *:* rwm\n") == 0
                   ? 0
                   : err_set (e, EINVAL, "the kernel does not allow all devices");
    for (size_t i = 0; i < x->n; i++) {
        char text[DEVICE_TEXT_MAX];

        device_text (&x->v[i], text);
        if (!has_word (list, "\n", text))
            return err_set (e, EINVAL, "the kernel does not keep '%s'", text);
    }
    return lines == x->n
               ? 0
               : err_set (e, EINVAL, "the kernel allows %zu devices instead of %zu", lines, x->n);
}

/* ---- v2 ---- */

static int bpf (int cmd, union bpf_attr *attr)
{
    return (int)syscall (SYS_bpf, cmd, attr, sizeof *attr);
}

static int load (const struct device_program *p, struct err *e)
{
    union bpf_attr attr = { .prog_type = BPF_PROG_TYPE_CGROUP_DEVICE,
                            .insn_cnt = (uint32_t)p->n,
                            .insns = (uintptr_t)p->v,
                            .license = (uintptr_t) "Apache-2.0",
                            .prog_name = "agentrt_dev" };
    int fd = -1;

    for (int i = 0; i < LOAD_TRIES; i++) {
        fd = bpf (BPF_PROG_LOAD, &attr);
        if (fd >= 0 || errno != EAGAIN)
            break;
    }
    return fd >= 0 ? fd : err_sys (e, "load the device filter of %zu instructions", p->n);
}

static int prog_id (int prog, uint32_t *ret, struct err *e)
{
    struct bpf_prog_info info = { 0 };
    union bpf_attr attr = {
        .info = { .bpf_fd = (uint32_t)prog, .info_len = sizeof info, .info = (uintptr_t)&info }
    };

    if (bpf (BPF_OBJ_GET_INFO_BY_FD, &attr) < 0)
        return err_sys (e, "ask for the device filter's id");
    *ret = info.id;
    return 0;
}

/* The ids of the device filters of the cgroup DIR. */
static int attached (int dir, uint32_t ids[PROGS_MAX], size_t *ret_n, struct err *e)
{
    union bpf_attr attr = { .query = { .target_fd = (uint32_t)dir,
                                       .attach_type = BPF_CGROUP_DEVICE,
                                       .prog_ids = (uintptr_t)ids,
                                       .prog_cnt = PROGS_MAX } };

    if (bpf (BPF_PROG_QUERY, &attr) < 0)
        return err_sys (e, "ask for the device filters");
    *ret_n = attr.query.prog_cnt;
    return 0;
}

static int prog_by_id (uint32_t id, struct err *e)
{
    union bpf_attr attr = { .prog_id = id };
    int fd = bpf (BPF_PROG_GET_FD_BY_ID, &attr);

    return fd >= 0 ? fd : err_sys (e, "open device filter %u", id);
}

static int attach (int dir, int prog, int replaced, struct err *e)
{
    union bpf_attr attr = { .target_fd = (uint32_t)dir,
                            .attach_bpf_fd = (uint32_t)prog,
                            .attach_type = BPF_CGROUP_DEVICE,
                            .attach_flags = BPF_F_ALLOW_MULTI };

    if (replaced >= 0) {
        attr.attach_flags |= BPF_F_REPLACE;
        attr.replace_bpf_fd = (uint32_t)replaced;
    }
    return bpf (BPF_PROG_ATTACH, &attr) < 0 ? err_sys (e, "attach the device filter") : 0;
}

static int detach (int dir, uint32_t id, struct err *e)
{
    AUTO_FD prog = prog_by_id (id, e);
    union bpf_attr attr = { .target_fd = (uint32_t)dir,
                            .attach_bpf_fd = (uint32_t)prog,
                            .attach_type = BPF_CGROUP_DEVICE };

    if (prog < 0)
        return prog;
    return bpf (BPF_PROG_DETACH, &attr) < 0 ? err_sys (e, "detach device filter %u", id) : 0;
}

/* One old filter is replaced in one act; several (all of which must allow an access) go when the
 * new one is there. There is no moment without a filter. */
static int v2_attach (int dir, int prog, struct err *e)
{
    uint32_t old[PROGS_MAX];
    AUTO_FD replaced = -1;
    size_t n = 0;
    int r = attached (dir, old, &n, e);

    if (r >= 0 && n == 1)
        r = replaced = prog_by_id (old[0], e);
    if (r >= 0)
        r = attach (dir, prog, replaced, e);
    for (size_t i = 0; r >= 0 && n > 1 && i < n; i++)
        r = detach (dir, old[i], e);
    return r;
}

static int v2_apply (struct cgroup *cg, int dir, const struct device_rules *rules, struct arena *a,
                     struct err *e)
{
    struct device_program p;
    AUTO_FD prog = -1;
    int r = device_program (rules, a, &p, e);

    if (r < 0)
        return r;
    prog = load (&p, e);
    r = prog;
    if (r >= 0)
        r = v2_attach (dir, prog, e);
    return r < 0 ? r : prog_id (prog, &cg->device_prog, e);
}

static int v2_check (int dir, uint32_t want, struct err *e)
{
    uint32_t ids[PROGS_MAX];
    size_t n = 0;
    int r = attached (dir, ids, &n, e);

    if (r < 0)
        return r;
    if (n != 1 || ids[0] != want)
        return err_set (e, EINVAL, "the cgroup has %zu device filters instead of the one attached",
                        n);
    return 0;
}

/* ---- both ---- */

/* v1 where it is, else cgroup2; NULL when there is neither. */
static const struct cgroup_hierarchy *device_home (const struct cgroup *cg)
{
    const struct cgroup_hierarchy *h = cgroup_v1_home (cg, "devices");

    return h ? h : cgroup_v2_home (cg);
}

static int apply (struct cgroup *cg, const struct oci_linux_resources *res, struct err *e)
{
    AUTO_ARENA a = { 0 };
    const struct cgroup_hierarchy *h = device_home (cg);
    struct device_exceptions x;
    struct device_rules rules;
    int r = device_rules (res, &a, &rules, e);

    if (r < 0)
        return r;
    if (!h)
        return err_set (e, EOPNOTSUPP,
                        "/linux/resources/devices: no cgroup here can keep the container from the "
                        "host's devices (--cgroup-manager disabled does without)");
    if (cgroup_is_v2 (h)) {
        r = v2_apply (cg, h->dir, &rules, &a, e);
    } else {
        r = device_exceptions (&rules, &a, &x, e);
        if (r < 0)
            return r;
        r = v1_apply (h->dir, &x, e);
    }
    return r < 0 ? err_add (e, "/linux/resources/devices: cgroup '%s%s'", h->mountpoint, h->path)
                 : 0;
}

/* Nobody without power over the host can filter devices; but neither can he make nodes, and those
 * that he can open he can open anyway. runc and crun let it go likewise. */
static bool is_excused (int r)
{
    return (r == -EPERM || r == -EACCES || r == -EOPNOTSUPP || r == -EROFS) &&
           cgroup_is_unprivileged ();
}

int devices_apply (struct cgroup *cg, const struct oci_linux_resources *res, struct err *e)
{
    int r = apply (cg, res, e);

    return is_excused (r) ? 0 : r;
}

int devices_check (const struct cgroup *cg, const struct oci_linux_resources *res, struct err *e)
{
    AUTO_ARENA a = { 0 };
    const struct cgroup_hierarchy *h = device_home (cg);
    struct device_exceptions x;
    struct device_rules rules;
    int r;

    if (cgroup_is_unprivileged ())
        return 0; /* see devices_apply */
    r = device_rules (res, &a, &rules, e);
    if (r < 0 || !h)
        return r;
    if (cgroup_is_v2 (h))
        return v2_check (h->dir, cg->device_prog, e);
    r = device_exceptions (&rules, &a, &x, e);
    return r < 0 ? r : v1_check (h->dir, &x, e);
}
