#include "spec/mntopt.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>

#include "base/cleanup.h"
#include "base/str.h"

struct parser {
    struct plan_mount m;
    bool bind, remount;
    const char **data;
    size_t n_data;
};

/* What an option does; VALUE says to which flag. */
enum act {
    NOTHING,
    ATTR_ON, /* MOUNT_ATTR_* of the mount */
    ATTR_OFF,
    ATIME, /* its access time mode becomes VALUE */
    NOT_ATIME,
    R_ATTR_ON, /* the same four, of the mount and all below */
    R_ATTR_OFF,
    R_ATIME,
    R_NOT_ATIME,
    SB_ON, /* MS_* of the file system */
    SB_OFF,
    PROPAGATION,
    R_PROPAGATION,
    BIND,  /* VALUE: recursively */
    IDMAP, /* VALUE: recursively */
    SET,   /* VALUE: offset of a bool in struct parser */
};

/* Every option, sorted by name: runtime-spec 1.3 (config.md, "Linux mount options"), tmpcopyup of
 * runc, the nofollow options of crun. */
#define OPTIONS(X)                                                                                 \
    X ("async", SB_OFF, MS_SYNCHRONOUS)                                                            \
    X ("atime", NOT_ATIME, MOUNT_ATTR_NOATIME)                                                     \
    X ("bind", BIND, false)                                                                        \
    X ("defaults", NOTHING, 0)                                                                     \
    X ("dest-nofollow", SET, offsetof (struct parser, m.dest_nofollow))                            \
    X ("dev", ATTR_OFF, MOUNT_ATTR_NODEV)                                                          \
    X ("diratime", ATTR_OFF, MOUNT_ATTR_NODIRATIME)                                                \
    X ("dirsync", SB_ON, MS_DIRSYNC)                                                               \
    X ("exec", ATTR_OFF, MOUNT_ATTR_NOEXEC)                                                        \
    X ("idmap", IDMAP, false)                                                                      \
    X ("iversion", SB_ON, MS_I_VERSION)                                                            \
    X ("lazytime", SB_ON, MS_LAZYTIME)                                                             \
    X ("loud", SB_OFF, MS_SILENT)                                                                  \
    X ("mand", SB_ON, MS_MANDLOCK)                                                                 \
    X ("noatime", ATIME, MOUNT_ATTR_NOATIME)                                                       \
    X ("nodev", ATTR_ON, MOUNT_ATTR_NODEV)                                                         \
    X ("nodiratime", ATTR_ON, MOUNT_ATTR_NODIRATIME)                                               \
    X ("noexec", ATTR_ON, MOUNT_ATTR_NOEXEC)                                                       \
    X ("noiversion", SB_OFF, MS_I_VERSION)                                                         \
    X ("nolazytime", SB_OFF, MS_LAZYTIME)                                                          \
    X ("nomand", SB_OFF, MS_MANDLOCK)                                                              \
    X ("norelatime", NOT_ATIME, MOUNT_ATTR_RELATIME)                                               \
    X ("nostrictatime", NOT_ATIME, MOUNT_ATTR_STRICTATIME)                                         \
    X ("nosuid", ATTR_ON, MOUNT_ATTR_NOSUID)                                                       \
    X ("nosymfollow", ATTR_ON, MOUNT_ATTR_NOSYMFOLLOW)                                             \
    X ("private", PROPAGATION, MS_PRIVATE)                                                         \
    X ("ratime", R_NOT_ATIME, MOUNT_ATTR_NOATIME)                                                  \
    X ("rbind", BIND, true)                                                                        \
    X ("rdev", R_ATTR_OFF, MOUNT_ATTR_NODEV)                                                       \
    X ("rdiratime", R_ATTR_OFF, MOUNT_ATTR_NODIRATIME)                                             \
    X ("relatime", ATIME, MOUNT_ATTR_RELATIME)                                                     \
    X ("remount", SET, offsetof (struct parser, remount))                                          \
    X ("rexec", R_ATTR_OFF, MOUNT_ATTR_NOEXEC)                                                     \
    X ("ridmap", IDMAP, true)                                                                      \
    X ("rnoatime", R_ATIME, MOUNT_ATTR_NOATIME)                                                    \
    X ("rnodev", R_ATTR_ON, MOUNT_ATTR_NODEV)                                                      \
    X ("rnodiratime", R_ATTR_ON, MOUNT_ATTR_NODIRATIME)                                            \
    X ("rnoexec", R_ATTR_ON, MOUNT_ATTR_NOEXEC)                                                    \
    X ("rnorelatime", R_NOT_ATIME, MOUNT_ATTR_RELATIME)                                            \
    X ("rnostrictatime", R_NOT_ATIME, MOUNT_ATTR_STRICTATIME)                                      \
    X ("rnosuid", R_ATTR_ON, MOUNT_ATTR_NOSUID)                                                    \
    X ("rnosymfollow", R_ATTR_ON, MOUNT_ATTR_NOSYMFOLLOW)                                          \
    X ("ro", ATTR_ON, MOUNT_ATTR_RDONLY)                                                           \
    X ("rprivate", R_PROPAGATION, MS_PRIVATE)                                                      \
    X ("rrelatime", R_ATIME, MOUNT_ATTR_RELATIME)                                                  \
    X ("rro", R_ATTR_ON, MOUNT_ATTR_RDONLY)                                                        \
    X ("rrw", R_ATTR_OFF, MOUNT_ATTR_RDONLY)                                                       \
    X ("rshared", R_PROPAGATION, MS_SHARED)                                                        \
    X ("rslave", R_PROPAGATION, MS_SLAVE)                                                          \
    X ("rstrictatime", R_ATIME, MOUNT_ATTR_STRICTATIME)                                            \
    X ("rsuid", R_ATTR_OFF, MOUNT_ATTR_NOSUID)                                                     \
    X ("rsymfollow", R_ATTR_OFF, MOUNT_ATTR_NOSYMFOLLOW)                                           \
    X ("runbindable", R_PROPAGATION, MS_UNBINDABLE)                                                \
    X ("rw", ATTR_OFF, MOUNT_ATTR_RDONLY)                                                          \
    X ("shared", PROPAGATION, MS_SHARED)                                                           \
    X ("silent", SB_ON, MS_SILENT)                                                                 \
    X ("slave", PROPAGATION, MS_SLAVE)                                                             \
    X ("src-nofollow", SET, offsetof (struct parser, m.src_nofollow))                              \
    X ("strictatime", ATIME, MOUNT_ATTR_STRICTATIME)                                               \
    X ("suid", ATTR_OFF, MOUNT_ATTR_NOSUID)                                                        \
    X ("symfollow", ATTR_OFF, MOUNT_ATTR_NOSYMFOLLOW)                                              \
    X ("sync", SB_ON, MS_SYNCHRONOUS)                                                              \
    X ("tmpcopyup", SET, offsetof (struct parser, m.tmpcopyup))                                    \
    X ("unbindable", PROPAGATION, MS_UNBINDABLE)

struct option {
    const char *name;
    enum act act;
    uint64_t value;
};

static const struct option options[] = {
#define X(name, act, value) { name, act, value },
    OPTIONS (X)
#undef X
};

const char *const mntopt_names[] = {
#define X(name, act, value) name,
    OPTIONS (X)
#undef X
        NULL,
};

/* These bring their own labels, or none: the kernel refuses a "context" for them. */
static const char *const unlabelled[] = { "proc", "sysfs", "mqueue", "cgroup", "cgroup2", NULL };

static int compare_names (const void *name, const void *option)
{
    return strcmp (name, ((const struct option *)option)->name);
}

static void switch_bits (uint64_t *on, uint64_t *off, uint64_t bits)
{
    *on |= bits;
    *off &= ~bits;
}

static void choose_atime (uint64_t *set, uint64_t *clear, uint64_t mode)
{
    *set = (*set & ~(uint64_t)MOUNT_ATTR__ATIME) | mode;
    *clear |= MOUNT_ATTR__ATIME; /* it is an enumeration: mount_setattr wants all of it cleared */
}

/* "no MODE": the kernel's default, relatime, unless another mode was chosen before. */
static void unchoose_atime (uint64_t *set, uint64_t *clear, uint64_t mode)
{
    if (!(*clear & MOUNT_ATTR__ATIME) || (*set & MOUNT_ATTR__ATIME) == mode)
        choose_atime (set, clear, MOUNT_ATTR_RELATIME);
}

static void apply_attr (struct plan_mount *m, const struct option *o)
{
    if (o->act == ATTR_ON)
        switch_bits (&m->set, &m->clear, o->value);
    else if (o->act == ATTR_OFF)
        switch_bits (&m->clear, &m->set, o->value);
    else if (o->act == ATIME)
        choose_atime (&m->set, &m->clear, o->value);
    else
        unchoose_atime (&m->set, &m->clear, o->value);
}

/* Flags of the mount and all below it. The top one is among them: what was said of it alone before
 * is overruled. */
static void apply_recursive (struct plan_mount *m, const struct option *o)
{
    bool is_flag = o->act == R_ATTR_ON || o->act == R_ATTR_OFF;
    uint64_t bits = is_flag ? o->value : MOUNT_ATTR__ATIME;

    m->set &= ~bits;
    m->clear &= ~bits;
    if (o->act == R_ATTR_ON)
        switch_bits (&m->rset, &m->rclear, o->value);
    else if (o->act == R_ATTR_OFF)
        switch_bits (&m->rclear, &m->rset, o->value);
    else if (o->act == R_ATIME)
        choose_atime (&m->rset, &m->rclear, o->value);
    else
        unchoose_atime (&m->rset, &m->rclear, o->value);
}

static void apply (struct parser *p, const struct option *o)
{
    struct plan_mount *m = &p->m;

    switch (o->act) {
    case NOTHING:
        break;
    case ATTR_ON:
    case ATTR_OFF:
    case ATIME:
    case NOT_ATIME:
        apply_attr (m, o);
        break;
    case R_ATTR_ON:
    case R_ATTR_OFF:
    case R_ATIME:
    case R_NOT_ATIME:
        apply_recursive (m, o);
        break;
    case SB_ON:
        switch_bits (&m->sb_set, &m->sb_clear, o->value);
        break;
    case SB_OFF:
        switch_bits (&m->sb_clear, &m->sb_set, o->value);
        break;
    case PROPAGATION:
    case R_PROPAGATION:
        m->propagation = o->value;
        m->propagation_recursive = o->act == R_PROPAGATION;
        break;
    case BIND:
        p->bind = true;
        m->recursive |= o->value;
        break;
    case IDMAP:
        m->has_idmap = true;
        m->idmap_recursive |= o->value;
        break;
    case SET:
        *(bool *)((char *)p + o->value) = true;
        break;
    }
}

static int read_options (struct parser *p, const struct oci_mount *m, struct arena *a,
                         struct err *e)
{
    p->data = arena_calloc (a, m->n_options + 1, sizeof *p->data);
    if (!p->data)
        return err_oom (e);
    for (size_t i = 0; i < m->n_options; i++) {
        const char *text = m->options[i];
        const struct option *o =
            bsearch (text, options, ARRAY_LEN (options), sizeof options[0], compare_names);

        if (o)
            apply (p, o);
        else if (text[0])
            p->data[p->n_data++] = text;
    }
    /* A read-only file system as well as a read-only mount of it: what mount(2) made of "ro". */
    p->m.sb_set |= p->m.set & MOUNT_ATTR_RDONLY ? MS_RDONLY : 0;
    p->m.sb_clear |= p->m.clear & MOUNT_ATTR_RDONLY ? MS_RDONLY : 0;
    p->m.data = p->data;
    return 0;
}

/* PATH as an absolute path without ".", ".." and empty components; ".." stops at the root. */
static char *clean_path (struct arena *a, const char *path)
{
    char *out = arena_alloc (a, strlen (path) + 2);
    size_t len = 0;

    for (size_t n; out && *path; path += n) {
        path += strspn (path, "/");
        n = strcspn (path, "/");
        if (n == 2 && path[0] == '.' && path[1] == '.') {
            while (len > 0 && out[--len] != '/')
                ;
        } else if (n > 0 && !(n == 1 && path[0] == '.')) {
            out[len++] = '/';
            memcpy (out + len, path, n);
            len += n;
        }
    }
    if (!out)
        return NULL;
    if (len == 0)
        out[len++] = '/';
    out[len] = '\0';
    return out;
}

static int read_idmaps (const struct oci_id_mapping *maps, size_t n, struct arena *a,
                        const struct plan_idmap **ret, struct err *e)
{
    struct plan_idmap *out = arena_calloc (a, n, sizeof *out);

    if (!out)
        return err_oom (e);
    for (size_t i = 0; i < n; i++) {
        if (maps[i].size == 0)
            return err_set (e, EINVAL, "an id mapping has size 0");
        out[i] = (struct plan_idmap){ maps[i].container_id, maps[i].host_id, maps[i].size };
    }
    *ret = out;
    return 0;
}

static int read_mappings (const struct oci_mount *m, struct arena *a, struct plan_mount *pm,
                          struct err *e)
{
    int r;

    if (m->n_uid_mappings == 0 && m->n_gid_mappings == 0)
        return 0;
    if (m->n_uid_mappings == 0 || m->n_gid_mappings == 0)
        return err_set (e, EINVAL, "uidMappings and gidMappings only work together");
    r = read_idmaps (m->uid_mappings, m->n_uid_mappings, a, &pm->idmaps.uid, e);
    if (r == 0)
        r = read_idmaps (m->gid_mappings, m->n_gid_mappings, a, &pm->idmaps.gid, e);
    if (r < 0)
        return r;
    pm->idmaps.n_uid = m->n_uid_mappings;
    pm->idmaps.n_gid = m->n_gid_mappings;
    pm->has_idmap = true;
    return 0;
}

static int finish_bind (struct parser *p, const struct oci_mount *m,
                        const struct mntopt_context *where, struct arena *a, struct err *e)
{
    p->m.kind = MOUNT_BIND;
    p->m.sb_set = p->m.sb_clear = 0; /* the file system is somebody else's */
    if (p->n_data > 0)
        return err_set (e, EINVAL, "/options: '%s' is no option of a bind mount", p->data[0]);
    if (p->m.tmpcopyup)
        return err_set (e, EINVAL, "/options: 'tmpcopyup' is for tmpfs only");
    if (!m->source || !m->source[0])
        return err_set (e, EINVAL, "/source: missing: a bind mount needs one");
    p->m.source = m->source[0] == '/' ? arena_strdup (a, m->source)
                                      : arena_printf (a, "%s/%s", where->bundle, m->source);
    return p->m.source ? 0 : err_oom (e);
}

static int finish_new (struct parser *p, const struct oci_mount *m, const char *label,
                       struct err *e)
{
    p->m.kind = MOUNT_NEW;
    if (!m->type || !m->type[0] || strcmp (m->type, "none") == 0)
        return err_set (e, EINVAL, "/type: missing: neither a file system nor 'bind' is asked for");
    if (p->m.has_idmap)
        return err_set (e, EINVAL, "id mappings are for bind mounts only");
    if (p->m.tmpcopyup && strcmp (m->type, "tmpfs") != 0)
        return err_set (e, EINVAL, "/options: 'tmpcopyup' is for tmpfs only, this is %s", m->type);
    p->m.fstype = m->type;
    p->m.source = m->source && m->source[0] ? m->source : m->type;
    p->m.label = str_is_in (m->type, unlabelled) ? NULL : label;
    return 0;
}

static int finish_remount (struct parser *p, const struct oci_mount *m, struct err *e)
{
    p->m.kind = MOUNT_REMOUNT;
    p->m.source = m->source ?: "";
    if (p->m.has_idmap || p->m.tmpcopyup)
        return err_set (e, EINVAL, "/options: 'remount' takes neither id mappings nor 'tmpcopyup'");
    if (!p->bind)
        return 0;
    if (p->n_data > 0)
        return err_set (e, EINVAL, "/options: '%s' is no option of a bind mount", p->data[0]);
    p->m.sb_set = p->m.sb_clear = 0; /* "remount,bind" means the mount, not the file system */
    return 0;
}

static int read_mount (const struct oci_mount *m, const struct mntopt_context *where,
                       struct arena *a, struct parser *p, struct err *e)
{
    int r;

    if (!m->destination || !m->destination[0])
        return err_set (e, EINVAL, "/destination: empty");
    p->m.dest = clean_path (a, m->destination);
    if (!p->m.dest)
        return err_oom (e);
    if (strcmp (p->m.dest, "/") == 0)
        return err_set (e, EINVAL, "/destination: nothing can be mounted over the root");
    r = read_options (p, m, a, e);
    if (r == 0)
        r = read_mappings (m, a, &p->m, e);
    if (r < 0)
        return r;
    if (p->remount)
        return finish_remount (p, m, e);
    if (p->bind || (m->type && strcmp (m->type, "bind") == 0))
        return finish_bind (p, m, where, a, e);
    return finish_new (p, m, where->label, e);
}

int mntopt_parse (const struct oci_mount *m, const struct mntopt_context *where, struct arena *a,
                  struct plan_mount *ret, struct err *e)
{
    struct parser p = { .m.index = where->index };
    int r = read_mount (m, where, a, &p, e);

    if (r < 0)
        return err_at (e, "/mounts[%zu]", where->index);
    *ret = p.m;
    return 0;
}
