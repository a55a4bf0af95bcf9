/*
 * Rules of the file system: root, mounts, and the two places where anybody may write.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>

#include "base/cleanup.h"
#include "base/str.h"
#include "policy/rules.h"
#include "spec/mntopt.h"

#define PAGE_BYTES 4096 /* what nr_blocks of tmpfs counts on both architectures */

/* Mount I as the plan will read it. Fails where plan_build would. */
static int read_mount (struct draft *d, size_t i, struct plan_mount *ret)
{
    const struct mntopt_context where = {
        .index = d->mount_origin[i] == SIZE_MAX ? i : d->mount_origin[i], .bundle = "."
    };

    return mntopt_parse (&d->mounts[i], &where, d->a, ret, d->e);
}

/* Runs ACT on each mount. */
static int each_mount (struct draft *d,
                       int (*act) (struct draft *d, size_t i, const struct plan_mount *m))
{
    for (size_t i = 0, n; i < d->config.n_mounts; i += n == d->config.n_mounts) {
        struct plan_mount m;

        n = d->config.n_mounts;
        if (read_mount (d, i, &m) < 0 || act (d, i, &m) < 0)
            return -d->e->code;
    }
    return 0;
}

static bool is_new (const struct plan_mount *m, const char *fstype)
{
    return m->kind == MOUNT_NEW && strcmp (m->fstype, fstype) == 0;
}

/* ---- the root ---- */
int rule_rootfs_readonly (struct draft *d)
{
    if (!d->doc.rootfs->readonly || !d->config.root)
        return 0;
    return draft_set_bool (d, "/root/readonly", &d->root.has_readonly, &d->root.readonly, true);
}

static bool passes_mounts (int propagation)
{
    return propagation == OCI_PROP_SHARED || propagation == OCI_PROP_RSHARED ||
           propagation == OCI_PROP_SLAVE || propagation == OCI_PROP_RSLAVE;
}

int rule_rootfs_propagation (struct draft *d)
{
    struct oci_linux *l = &d->linux_;
    struct policy_decision x = { .path = "/linux/rootfsPropagation", .action = POLICY_TIGHTENED };

    if (!rules_owns (d, OCI_NS_MOUNT) || !l->has_rootfs_propagation ||
        !passes_mounts (l->rootfs_propagation))
        return 0;
    x.before = oci_enum_name (&oci_propagation_enum, l->rootfs_propagation);
    l->rootfs_propagation = OCI_PROP_RPRIVATE;
    x.after = oci_enum_name (&oci_propagation_enum, OCI_PROP_RPRIVATE);
    return draft_note (d, &x);
}

/* ---- mounts of the host ---- */

/* What engines bind when a namespace of the host is shared, and for ordinary users: the container
 * gets a new file system there. Without a type: none, a rule adds what is needed. */
static const struct {
    const char *place, *type;
} host_views[] = {
    { "/proc", "proc" },         { "/sys", "sysfs" },  { "/sys/fs/cgroup", "cgroup" },
    { "/dev/mqueue", "mqueue" }, { "/dev/shm", NULL },
};

static int replace_view (struct draft *d, size_t i, const char *type)
{
    static const char *const options[] = { "nosuid", "noexec", "nodev", NULL };
    struct policy_decision x = { .path = draft_mount_path (d, i), .action = POLICY_TIGHTENED };
    struct oci_mount *m = &d->mounts[i];

    x.before = draft_mount_text (d, i);
    *m = (struct oci_mount){ .destination = m->destination,
                             .type = type,
                             .source = type,
                             .options = options,
                             .n_options = ARRAY_LEN (options) - 1 };
    x.after = draft_mount_text (d, i);
    d->config.mounts = d->mounts;
    return x.before && x.after ? draft_note (d, &x) : err_oom (d->e);
}

static int host_view (struct draft *d, size_t i, const struct plan_mount *m)
{
    for (size_t k = 0; m->kind == MOUNT_BIND && k < ARRAY_LEN (host_views); k++) {
        if (strcmp (m->source, host_views[k].place) != 0 ||
            strcmp (m->dest, host_views[k].place) != 0)
            continue;
        return host_views[k].type ? replace_view (d, i, host_views[k].type)
                                  : draft_mount_drop (d, i, NULL);
    }
    return 0;
}

int rule_mounts_host (struct draft *d)
{
    return d->doc.mounts->guard ? each_mount (d, host_view) : 0;
}

/* A device that the policy lists, bound instead of made: ordinary users cannot make nodes. */
static bool is_listed_device (const struct draft *d, const struct plan_mount *m)
{
    return m->kind == MOUNT_BIND &&
           draft_has (d->doc.devices->allowed, d->doc.devices->n_allowed, m->source);
}

static int device_bind (struct draft *d, size_t i, const struct plan_mount *m)
{
    if (m->kind != MOUNT_BIND || !str_has_prefix (m->source, "/dev/") || is_listed_device (d, m))
        return 0;
    return draft_mount_drop (d, i, NULL);
}

int rule_mounts_devices (struct draft *d)
{
    return d->doc.devices->any ? 0 : each_mount (d, device_bind);
}

/* Says that nobody looked, where there was something to look at. */
static int guard_unknown (struct draft *d, size_t i, const struct plan_mount *m)
{
    if (m->kind != MOUNT_BIND)
        return 0;
    return draft_note (
        d, &(struct policy_decision){ .path = draft_mount_path (d, i),
                                      .action = POLICY_KEPT,
                                      .before = draft_mount_text (d, i),
                                      .reason = "the host was not looked at: a start looks at "
                                                "what this really is, and may refuse it" });
}

static int guard_mount (struct draft *d, size_t i, const struct plan_mount *m)
{
    const struct guard_finding *f;

    if (m->kind != MOUNT_BIND || d->mount_origin[i] == SIZE_MAX)
        return 0;
    f = guard_finding_of (d->facts->guard, d->mount_origin[i]);
    if (!f || draft_has (d->doc.mounts->accept, d->doc.mounts->n_accept, f->shown))
        return 0;
    return draft_refuse (d, draft_mount_path (d, i), draft_mount_text (d, i), guard_text (f, d->a));
}

/* What a root holds is an image's. But it must not be a place of the host, nor lie in one that is
 * kept from mounts: only an engine's data is where roots are. Nor above one, but for what passes
 * read-only: a root may be made of the host's programs. */
static bool is_no_root (const struct guard_finding *f)
{
    static const char *const hows[] = { "is", "goes by the name of", NULL };
    static const char *const pass_readonly[] = { "programs", "etc", NULL };

    return str_is_in (f->how, hows) ||
           (strcmp (f->how, "is a parent of") == 0 && !str_is_in (f->rule, pass_readonly)) ||
           (strcmp (f->how, "lies in") == 0 && strcmp (f->rule, "engine-data") != 0);
}

static int guard_root (struct draft *d)
{
    const struct guard_finding *f = guard_finding_of (d->facts->guard, d->in->config->n_mounts);

    if (!d->config.root || !f || !is_no_root (f) ||
        draft_has (d->doc.mounts->accept, d->doc.mounts->n_accept, f->shown))
        return 0;
    return draft_refuse (d, "/root/path", d->root.path, guard_text (f, d->a));
}

int rule_mounts_guard (struct draft *d)
{
    if (!d->doc.mounts->guard)
        return 0;
    if (d->facts->guard)
        return guard_root (d) < 0 ? -d->e->code : each_mount (d, guard_mount);
    return d->facts->known ? 0 : each_mount (d, guard_unknown);
}

/* "proc" and "sysfs" have one place, where masks and read-only paths lie over them. */
static const struct {
    const char *type, *place;
} file_systems[] = {
    { "proc", "/proc" }, { "sysfs", "/sys" }, { "cgroup", NULL }, { "cgroup2", NULL },
    { "tmpfs", NULL },   { "devpts", NULL },  { "mqueue", NULL },
};

static int mount_type (struct draft *d, size_t i, const struct plan_mount *m)
{
    const char *reason = NULL;

    if (m->kind != MOUNT_NEW)
        return 0;
    for (size_t k = 0; k < ARRAY_LEN (file_systems); k++) {
        if (strcmp (file_systems[k].type, m->fstype) != 0)
            continue;
        if (!file_systems[k].place || strcmp (file_systems[k].place, m->dest) == 0)
            return 0;
        reason = arena_printf (d->a, "a %s elsewhere than %s has no masked paths", m->fstype,
                               file_systems[k].place);
        return draft_refuse (d, draft_mount_path (d, i), draft_mount_text (d, i), reason);
    }
    reason = arena_printf (d->a, "file system '%s': %s", m->fstype, d->rule->why);
    return draft_refuse (d, draft_mount_path (d, i), draft_mount_text (d, i), reason);
}

int rule_mounts_type (struct draft *d)
{
    return d->doc.mounts->guard ? each_mount (d, mount_type) : 0;
}

static int remount (struct draft *d, size_t i, const struct plan_mount *m)
{
    const uint64_t attrs = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOEXEC;

    if (m->kind != MOUNT_REMOUNT || !((m->clear | m->rclear) & attrs))
        return 0;
    return draft_refuse (d, draft_mount_path (d, i), draft_mount_text (d, i), d->rule->why);
}

/* Whatever it is that is mounted there: a link of the image gives it any name. */
int rule_mounts_remount (struct draft *d)
{
    bool matters = d->doc.mounts->guard || d->doc.cgroup == OCI_CGROUP_READONLY;

    return matters ? each_mount (d, remount) : 0;
}

/* ---- flags ---- */

/* What is below the mount needs ATTR as well: it is bound along, or would lose it. */
static bool needs_below (const struct plan_mount *m, uint64_t attr)
{
    return (m->kind == MOUNT_BIND && m->recursive) || m->rclear & attr;
}

static bool has_attr (const struct plan_mount *m, uint64_t attr)
{
    bool all = m->rset & attr && !(m->clear & attr);

    return all || (!needs_below (m, attr) && m->set & attr);
}

static int want_attr (struct draft *d, size_t i, const struct plan_mount *m, uint64_t attr,
                      const char *const names[2])
{
    if (has_attr (m, attr))
        return 0;
    return draft_mount_add (d, i, names[needs_below (m, attr)]);
}

static int nosuid (struct draft *d, size_t i, const struct plan_mount *m)
{
    static const char *const names[2] = { "nosuid", "rnosuid" };

    return want_attr (d, i, m, MOUNT_ATTR_NOSUID, names);
}

/* The root is a mount as well, which no config can give flags to. */
static int root_flag (struct draft *d, bool *control, const char *name)
{
    *control = true;
    return draft_note (
        d, &(struct policy_decision){ .path = "/root", .action = POLICY_ADDED, .after = name });
}

int rule_mounts_nosuid (struct draft *d)
{
    if (!d->doc.mounts->nosuid)
        return 0;
    if (root_flag (d, &d->controls.root_nosuid, "nosuid") < 0)
        return -d->e->code;
    return each_mount (d, nosuid);
}

static bool is_public (const struct draft *d, const struct plan_mount *m)
{
    const struct oci_policy_rootfs *r = d->doc.rootfs;

    return (r->tmp->private_ && strcmp (m->dest, "/tmp") == 0) ||
           (r->shm->private_ && strcmp (m->dest, "/dev/shm") == 0);
}

static int noexec (struct draft *d, size_t i, const struct plan_mount *m)
{
    static const char *const names[2] = { "noexec", "rnoexec" };

    if (!is_public (d, m) || m->kind == MOUNT_BIND)
        return 0;
    return want_attr (d, i, m, MOUNT_ATTR_NOEXEC, names);
}

/* What somebody binds there is theirs; a tmpfs is where everybody writes. */
int rule_mounts_noexec (struct draft *d)
{
    return each_mount (d, noexec);
}

/* The nodes of the container are in these. */
static bool holds_devices (const struct draft *d, const struct plan_mount *m)
{
    return is_new (m, "devpts") || (is_new (m, "tmpfs") && strcmp (m->dest, "/dev") == 0) ||
           is_listed_device (d, m);
}

static int nodev (struct draft *d, size_t i, const struct plan_mount *m)
{
    static const char *const names[2] = { "nodev", "rnodev" };

    return holds_devices (d, m) ? 0 : want_attr (d, i, m, MOUNT_ATTR_NODEV, names);
}

int rule_mounts_nodev (struct draft *d)
{
    if (!d->doc.mounts->nodev)
        return 0;
    if (root_flag (d, &d->controls.root_nodev, "nodev") < 0)
        return -d->e->code;
    return each_mount (d, nodev);
}

static int propagation (struct draft *d, size_t i, const struct plan_mount *m)
{
    return m->propagation & (MS_SHARED | MS_SLAVE) ? draft_mount_add (d, i, "rprivate") : 0;
}

int rule_mounts_propagation (struct draft *d)
{
    return rules_owns (d, OCI_NS_MOUNT) ? each_mount (d, propagation) : 0;
}

static const char *const readonly_names[2] = { "ro", "rro" };

/* A sysfs, or what changes the flags of one. */
static int sysfs (struct draft *d, size_t i, const struct plan_mount *m)
{
    bool is_it =
        is_new (m, "sysfs") || (m->kind == MOUNT_REMOUNT && str_is_at_or_below (m->dest, "/sys"));

    return is_it ? want_attr (d, i, m, MOUNT_ATTR_RDONLY, readonly_names) : 0;
}

int rule_mounts_sysfs (struct draft *d)
{
    return d->doc.paths->n_readonly > 0 ? each_mount (d, sysfs) : 0;
}

static int cgroup (struct draft *d, size_t i, const struct plan_mount *m)
{
    bool is_cgroup = is_new (m, "cgroup") || is_new (m, "cgroup2");
    bool want_ro = d->doc.cgroup == OCI_CGROUP_READONLY;

    if (!is_cgroup)
        return 0;
    if (want_ro)
        return want_attr (d, i, m, MOUNT_ATTR_RDONLY, readonly_names);
    return has_attr (m, MOUNT_ATTR_RDONLY) ? draft_mount_add (d, i, "rw") : 0;
}

int rule_mounts_cgroup (struct draft *d)
{
    return d->doc.cgroup == OCI_CGROUP_ENGINE ? 0 : each_mount (d, cgroup);
}

/* ---- a tmpfs of the container's own ---- */

/* Where a mount on PLACE goes: behind what is mounted above it, before what is mounted below it.
 * SIZE_MAX: there is one on PLACE already. */
static int find_slot (struct draft *d, const char *place, size_t *ret)
{
    size_t slot = d->config.n_mounts;

    for (size_t i = d->config.n_mounts; i-- > 0;) {
        struct plan_mount m;

        if (read_mount (d, i, &m) < 0)
            return -d->e->code;
        if (m.kind != MOUNT_REMOUNT && strcmp (m.dest, place) == 0) {
            *ret = SIZE_MAX;
            return 0;
        }
        if (m.kind != MOUNT_REMOUNT && str_is_at_or_below (place, m.dest))
            break;
        if (str_is_at_or_below (m.dest, place))
            slot = i;
    }
    *ret = slot;
    return 0;
}

static int own_tmpfs (struct draft *d, const char *place, const struct oci_policy_tmpfs *t)
{
    const char **options = arena_calloc (d->a, 7, sizeof *options);
    size_t n = 0;
    size_t slot;

    if (!t->private_)
        return 0;
    if (find_slot (d, place, &slot) < 0)
        return -d->e->code;
    if (slot == SIZE_MAX)
        return 0;
    if (!options)
        return err_oom (d->e);
    options[n++] = "nosuid";
    options[n++] = "nodev";
    options[n++] = "noexec";
    options[n++] = "mode=1777";
    if (t->size >= 0)
        options[n++] = arena_printf (d->a, "size=%" PRId64, t->size);
    if (t->inodes >= 0)
        options[n++] = arena_printf (d->a, "nr_inodes=%" PRId64, t->inodes);
    return draft_mount_new (d, slot,
                            &(struct oci_mount){ .destination = place,
                                                 .type = "tmpfs",
                                                 .source = "tmpfs",
                                                 .options = options,
                                                 .n_options = n });
}

int rule_mounts_tmp (struct draft *d)
{
    return own_tmpfs (d, "/tmp", d->doc.rootfs->tmp);
}

int rule_mounts_shm (struct draft *d)
{
    return own_tmpfs (d, "/dev/shm", d->doc.rootfs->shm);
}

/* ---- ceilings of a tmpfs ---- */

/* TEXT as memparse of the kernel reads it; -1: none that bounds (a percentage, 0, nonsense). */
static int64_t tmpfs_number (const char *text, int64_t unit)
{
    static const char suffixes[] = "kmgtpe";
    char *end;
    unsigned long long n = strtoull (text, &end, 0);
    const char *suffix = *end ? strchr (suffixes, *end | 0x20) : NULL;

    if (end == text || *text == '-')
        return -1;
    for (const char *s = suffixes; suffix && s <= suffix; s++)
        if (__builtin_mul_overflow (n, 1024, &n))
            return -1;
    end += suffix != NULL;
    if (*end || n == 0 || __builtin_mul_overflow (n, (unsigned long long)unit, &n))
        return -1;
    return n > INT64_MAX ? -1 : (int64_t)n;
}

/* An option that says how large, and what its number counts. */
struct tmpfs_key {
    const char *name;
    int64_t unit;
};

static const struct tmpfs_key size_keys[] = { { "size=", 1 }, { "nr_blocks=", PAGE_BYTES } };
static const struct tmpfs_key inode_keys[] = { { "nr_inodes=", 1 } };

static const struct tmpfs_key *find_key (const char *option, const struct tmpfs_key *keys, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (str_has_prefix (option, keys[i].name))
            return &keys[i];
    return NULL;
}

struct tmpfs_cap {
    const struct tmpfs_key *keys;
    size_t n;
    int64_t ceiling;
};

/* Every option of CAP's keys is within it, and (ABSENT_IS_FINE or) there is one. */
static bool is_capped (const struct oci_mount *m, const struct tmpfs_cap *cap, bool absent_is_fine)
{
    bool seen = absent_is_fine;

    for (size_t i = 0; i < m->n_options; i++) {
        const struct tmpfs_key *k = find_key (m->options[i], cap->keys, cap->n);
        int64_t n = k ? tmpfs_number (m->options[i] + strlen (k->name), k->unit) : 0;

        if (k && (n < 0 || n > cap->ceiling))
            return false;
        seen = seen || k;
    }
    return seen;
}

/* The options of CAP's keys give way to the ceiling. */
static int cap_tmpfs (struct draft *d, size_t i, const struct tmpfs_cap *cap)
{
    const struct oci_mount *m = &d->mounts[i];
    const char **out = arena_calloc (d->a, m->n_options + 2, sizeof *out);
    size_t n = 0;

    if (!out)
        return err_oom (d->e);
    for (size_t k = 0; k < m->n_options; k++)
        if (!find_key (m->options[k], cap->keys, cap->n))
            out[n++] = m->options[k];
    out[n] = arena_printf (d->a, "%s%" PRId64, cap->keys[0].name, cap->ceiling);
    return out[n] ? draft_mount_options (d, i, out, n + 1) : err_oom (d->e);
}

static int want_cap (struct draft *d, size_t i, const struct plan_mount *m,
                     const struct tmpfs_cap *cap)
{
    if (cap->ceiling < 0 || !(is_new (m, "tmpfs") || m->kind == MOUNT_REMOUNT) ||
        is_capped (&d->mounts[i], cap, m->kind == MOUNT_REMOUNT))
        return 0;
    return cap_tmpfs (d, i, cap);
}

static const struct oci_policy_tmpfs *ceilings_of (const struct draft *d,
                                                   const struct plan_mount *m)
{
    return strcmp (m->dest, "/dev/shm") == 0 ? d->doc.rootfs->shm : d->doc.rootfs->tmp;
}

static int tmpfs_size (struct draft *d, size_t i, const struct plan_mount *m)
{
    const struct tmpfs_cap cap = { size_keys, ARRAY_LEN (size_keys), ceilings_of (d, m)->size };

    return want_cap (d, i, m, &cap);
}

int rule_mounts_tmpfs_size (struct draft *d)
{
    return each_mount (d, tmpfs_size);
}

static int tmpfs_inodes (struct draft *d, size_t i, const struct plan_mount *m)
{
    const struct tmpfs_cap cap = { inode_keys, ARRAY_LEN (inode_keys), ceilings_of (d, m)->inodes };

    return want_cap (d, i, m, &cap);
}

int rule_mounts_tmpfs_inodes (struct draft *d)
{
    return each_mount (d, tmpfs_inodes);
}
