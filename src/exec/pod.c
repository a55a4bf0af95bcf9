#include "exec/pod.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "base/str.h"
#include "state/gate.h"
#include "state/state.h"

struct member {
    const char *id;
    const struct oci_saved_state *saved;
    const char *network; /* the path in its config's place of the network namespace, or NULL */
    bool has_started, is_sandbox;
    bool says_pod; /* its own annotations name the pod */
};

struct search {
    const struct pod_query *q;
    const char *pod;
    struct arena *a;
    struct policy_join *joins;
    struct pod *found;
};

void pod_init (struct pod *p)
{
    *p = (struct pod){ 0 };
    for (int kind = 0; kind < NS_COUNT; kind++)
        p->fd[kind] = -1;
}

void pod_close (struct pod *p)
{
    for (int kind = 0; kind < NS_COUNT; kind++)
        cleanup_fd (&p->fd[kind]);
    pod_init (p);
}

static const char *const pod_keys[] = { "io.kubernetes.cri.sandbox-id",
                                        "io.kubernetes.cri-o.SandboxID", NULL };

static const char *const type_keys[] = { "io.kubernetes.cri.container-type",
                                         "io.kubernetes.cri-o.ContainerType", NULL };
static const char *const manager_keys[] = { "io.container.manager", NULL };

/* The value of the first annotation with one of KEYS, or NULL. */
static const char *annotation (const struct oci_kv *annotations, size_t n, const char *const *keys)
{
    for (size_t i = 0; i < n; i++)
        if (str_is_in (annotations[i].key, keys))
            return annotations[i].value;
    return NULL;
}

static bool has_annotation (const struct oci_kv *annotations, size_t n, const char *const *keys,
                            const char *value)
{
    const char *found = annotation (annotations, n, keys);

    return found && strcmp (found, value) == 0;
}

const char *pod_name (const struct oci_kv *annotations, size_t n)
{
    return annotation (annotations, n, pod_keys);
}

/* ---- the containers of the pod ---- */

static const char *network_path (const struct oci_config *c)
{
    for (size_t i = 0; c->linux_ && i < c->linux_->n_namespaces; i++)
        if (c->linux_->namespaces[i].type == OCI_NS_NETWORK)
            return c->linux_->namespaces[i].path;
    return NULL;
}

/* Podman's infra container does not say that it is one: its id is the pod's name, for containers
 * that Podman has made as well. */
static bool may_be_infra (const struct search *s, const struct oci_saved_state *saved)
{
    const struct oci_config *c = s->q->config;

    return strcmp (saved->id, s->pod) == 0 &&
           has_annotation (saved->annotations, saved->n_annotations, manager_keys, "libpod") &&
           has_annotation (c->annotations, c->n_annotations, manager_keys, "libpod");
}

/* What names no pod is in none, whoever gives its id as a pod's name; and the container of that id
 * has to say that it is a sandbox. */
static bool is_in_pod (const struct search *s, const struct oci_saved_state *saved)
{
    const char *pod = pod_name (saved->annotations, saved->n_annotations);

    if (!pod)
        return may_be_infra (s, saved);
    return strcmp (pod, s->pod) == 0 &&
           (strcmp (saved->id, s->pod) != 0 ||
            has_annotation (saved->annotations, saved->n_annotations, type_keys, "sandbox"));
}

static bool is_member (const struct search *s, const struct oci_saved_state *saved)
{
    return is_in_pod (s, saved) && saved->owner == geteuid () && !saved->creating &&
           saved->policy_digest && strcmp (saved->policy_digest, s->q->policy->digest) == 0;
}

/* False: it is none, or what it is cannot be found out. */
static bool read_member (const struct search *s, const char *id, struct member *ret)
{
    struct err ignored = { 0 };
    const struct oci_config *config = NULL;
    struct state st;
    bool good;

    if (state_open (s->q->root, id, 0, s->a, &st, &ignored) < 0)
        return false;
    good = is_member (s, st.saved) && state_read_config (&st, s->a, &config, &ignored) == 0;
    *ret = (struct member){ .id = id,
                            .saved = st.saved,
                            .network = good ? network_path (config) : NULL,
                            .is_sandbox = strcmp (id, s->pod) == 0,
                            .has_started = !state_gate_is_locked (&st),
                            .says_pod = pod_name (st.saved->annotations, st.saved->n_annotations) };
    state_close (&st);
    return good;
}

/* ---- its namespaces ---- */

static int kind_of (int type)
{
    const char *name = oci_enum_name (&oci_namespace_enum, type);
    int kind = 0;

    while (kind < NS_COUNT && strcmp (ns_names[kind], name) != 0)
        kind++;
    return kind;
}

static bool is_same_file (const char *path, int fd)
{
    struct stat a, b;

    return stat (path, &a) == 0 && fstat (fd, &b) == 0 && a.st_dev == b.st_dev &&
           a.st_ino == b.st_ino;
}

/* The sandbox's network counts once it is its own, and no other container's: what any other has is
 * that one, or none that was given to it. Before `start` init is in the engine's. */
static bool may_share_network (const struct search *s, const struct member *m)
{
    return !s->q->without_network ||
           (m->is_sandbox && m->has_started && m->saved->has_own_network && m->saved->own_network);
}

/* PATH leads to what FD is, or it is the path of the network that the engine believes the sandbox
 * to be in. */
static bool is_meant (const struct member *m, int kind, const char *path, int fd)
{
    return is_same_file (path, fd) ||
           (kind == NS_NET && m->is_sandbox && m->network && strcmp (path, m->network) == 0);
}

/* Any container of Podman's looks like an infra container: what it shares is no way into it. */
static bool may_share (const struct search *s, const struct member *m, int kind)
{
    if (kind == NS_NET)
        return may_share_network (s, m);
    return m->says_pod || kind == NS_IPC || kind == NS_UTS;
}

static int try_one (const struct search *s, const struct member *m, size_t i, struct err *e)
{
    const struct oci_namespace *ns = &s->q->config->linux_->namespaces[i];
    int kind = kind_of (ns->type);
    struct err ignored = { 0 };
    const char *path;
    int fd;

    if (!may_share (s, m, kind))
        return 0;
    path = arena_printf (s->a, "/proc/%d/ns/%s", m->saved->pid, ns_proc_names[kind]);
    if (!path)
        return err_oom (e);
    fd = fd_open (AT_FDCWD, path, O_RDONLY, FD_HOST, &ignored);
    if (fd < 0 || s->found->fd[kind] >= 0 || !is_meant (m, kind, ns->path, fd)) {
        cleanup_fd (&fd);
        return 0;
    }
    s->found->fd[kind] = fd;
    s->joins[i] = (struct policy_join){ JOIN_POD, m->id, path };
    return 0;
}

static bool is_open (const struct search *s, size_t i)
{
    const char *path = s->q->config->linux_->namespaces[i].path;

    return path && path[0] && s->joins[i].whose != JOIN_POD;
}

static void forget (const struct search *s, const struct member *m)
{
    const struct oci_linux *l = s->q->config->linux_;

    for (size_t i = 0; i < l->n_namespaces; i++)
        if (s->joins[i].container == m->id) {
            int *fd = &s->found->fd[kind_of (l->namespaces[i].type)];

            cleanup_fd (fd);
            *fd = -1;
            s->joins[i] = (struct policy_join){ 0 };
        }
}

/* What was found counts if init is alive after the look: then the number was its own during it. */
static int try_member (const struct search *s, const char *id, struct err *e)
{
    struct err ignored = { 0 };
    struct member m;
    AUTO_FD pidfd = -1;

    if (!read_member (s, id, &m))
        return 0;
    for (size_t i = 0; i < s->q->config->linux_->n_namespaces; i++)
        if (is_open (s, i) && try_one (s, &m, i, e) < 0)
            return -e->code;
    pidfd = state_pidfd (m.saved, &ignored);
    if (pidfd < 0)
        forget (s, &m);
    return 0;
}

static bool any_open (const struct search *s)
{
    for (size_t i = 0; i < s->q->config->linux_->n_namespaces; i++)
        if (is_open (s, i))
            return true;
    return false;
}

/* All others: a pid namespace can be any container's of the pod (kubectl debug --target). */
static int try_others (const struct search *s, struct err *e)
{
    const char *const *ids;
    size_t n;
    int r = state_list (s->q->root, s->a, &ids, &n, e);

    for (size_t i = 0; r == 0 && i < n && any_open (s); i++)
        if (strcmp (ids[i], s->pod) != 0)
            r = try_member (s, ids[i], e);
    return r;
}

int pod_look (const struct pod_query *q, struct arena *a, struct pod *ret, struct err *e)
{
    const struct oci_linux *l = q->config->linux_;
    struct search s = { .q = q, .a = a, .found = ret };
    int r;

    pod_init (ret);
    s.joins = arena_calloc (a, l ? l->n_namespaces : 0, sizeof *s.joins);
    if (!s.joins)
        return err_oom (e);
    ret->joins = s.joins;
    s.pod = pod_name (q->config->annotations, q->config->n_annotations);
    if (q->root < 0 || !s.pod || !str_is_id (s.pod) || !l || !any_open (&s))
        return 0;
    r = try_member (&s, s.pod, e);
    return r == 0 && any_open (&s) ? try_others (&s, e) : r;
}

int pod_check (const struct pod *p, const struct plan *plan, const struct ns_fds *f, struct err *e)
{
    for (int kind = 0; kind < NS_COUNT; kind++) {
        struct stat found, opened;

        if (p->fd[kind] < 0 || plan->ns[kind].mode != NS_JOIN)
            continue;
        if (fstat (p->fd[kind], &found) < 0 || fstat (f->fd[kind], &opened) < 0)
            return err_sys (e, "look at the pod's %s namespace", ns_names[kind]);
        if (found.st_dev != opened.st_dev || found.st_ino != opened.st_ino)
            return err_set (e, ESTALE,
                            "/linux/namespaces[%s]: the container of the pod has gone meanwhile",
                            ns_names[kind]);
    }
    return 0;
}
