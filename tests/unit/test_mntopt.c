/* The option table: each case is one mount as text, and what must come out of it as text. */
#include "tap.h"

#include <sys/mount.h>

#include "base/cleanup.h"
#include "libocispec/strbuf.h"
#include "spec/mntopt.h"

struct flag_name {
    uint64_t bit;
    const char *name;
};

static const struct flag_name attr_names[] = {
    { MOUNT_ATTR_RDONLY, "ro" },
    { MOUNT_ATTR_NOSUID, "nosuid" },
    { MOUNT_ATTR_NODEV, "nodev" },
    { MOUNT_ATTR_NOEXEC, "noexec" },
    { MOUNT_ATTR_NODIRATIME, "nodiratime" },
    { MOUNT_ATTR_NOSYMFOLLOW, "nosymfollow" },
    { MOUNT_ATTR_NOATIME, "noatime" },
    { MOUNT_ATTR_STRICTATIME, "strictatime" },
};

static const struct flag_name sb_names[] = {
    { MS_RDONLY, "ro" },         { MS_SYNCHRONOUS, "sync" }, { MS_DIRSYNC, "dirsync" },
    { MS_LAZYTIME, "lazytime" }, { MS_MANDLOCK, "mand" },    { MS_I_VERSION, "iversion" },
    { MS_SILENT, "silent" },
};

static const struct flag_name propagation_names[] = {
    { MS_PRIVATE, "private" },
    { MS_SHARED, "shared" },
    { MS_SLAVE, "slave" },
    { MS_UNBINDABLE, "unbindable" },
};

static const char *const kinds[] = { "bind", "new", "remount" };

static void add_flags (struct strbuf *b, const char *title, uint64_t bits,
                       const struct flag_name *names, size_t n)
{
    const char *sep = "";

    if (bits == 0)
        return;
    strbuf_addf (b, " %s=", title);
    for (size_t i = 0; i < n; i++)
        if (bits & names[i].bit) {
            strbuf_addf (b, "%s%s", sep, names[i].name);
            bits &= ~names[i].bit;
            sep = ",";
        }
    if (bits == MOUNT_ATTR__ATIME) /* what is left of a choice of the default mode */
        strbuf_addf (b, "%satime", sep);
    else if (bits)
        strbuf_addf (b, "%s%#llx", sep, (unsigned long long)bits);
}

/* The access time mode is one thing in two masks. */
static void add_attrs (struct strbuf *b, const char *prefix, uint64_t set, uint64_t clear)
{
    char title[16];

    (void)snprintf (title, sizeof title, "%sset", prefix);
    add_flags (b, title, set, attr_names, ARRAY_LEN (attr_names));
    (void)snprintf (title, sizeof title, "%sclear", prefix);
    if ((clear & MOUNT_ATTR__ATIME) == MOUNT_ATTR__ATIME)
        strbuf_addf (b, " %schosen", prefix);
    add_flags (b, title, clear & ~(uint64_t)MOUNT_ATTR__ATIME, attr_names, ARRAY_LEN (attr_names));
}

static void render (struct strbuf *b, const struct plan_mount *m)
{
    strbuf_addf (b, "%s%s %s -> %s", m->recursive ? "r" : "", kinds[m->kind], m->source, m->dest);
    if (m->fstype)
        strbuf_addf (b, " type=%s", m->fstype);
    add_attrs (b, "", m->set, m->clear);
    add_attrs (b, "r", m->rset, m->rclear);
    add_flags (b, "sb", m->sb_set, sb_names, ARRAY_LEN (sb_names));
    add_flags (b, "sbclear", m->sb_clear, sb_names, ARRAY_LEN (sb_names));
    if (m->propagation_recursive)
        strbuf_adds (b, " all");
    add_flags (b, "propagation", m->propagation, propagation_names, ARRAY_LEN (propagation_names));
    if (m->has_idmap)
        strbuf_addf (b, " %sidmap=%zu+%zu", m->idmap_recursive ? "r" : "", m->idmaps.n_uid,
                     m->idmaps.n_gid);
    strbuf_adds (b, m->tmpcopyup ? " copyup" : "");
    strbuf_adds (b, m->src_nofollow ? " src-nofollow" : "");
    strbuf_adds (b, m->dest_nofollow ? " dest-nofollow" : "");
    for (size_t i = 0; m->data[i]; i++)
        strbuf_addf (b, " [%s]", m->data[i]);
    if (m->label)
        strbuf_addf (b, " label=%s", m->label);
}

struct mount_case {
    const char *dest, *type, *source, *options; /* options are separated by blanks */
    const char *want;                           /* the rendered mount, or the error */
};

static const struct mount_case cases[] = {
    /* kinds */
    { "/d", "bind", "/s", "", "bind /s -> /d" },
    { "/d", "tmpfs", "/s", "bind", "bind /s -> /d" },
    { "/d", NULL, "/s", "bind rbind", "rbind /s -> /d" },
    { "/d", "none", "/s", "rbind bind", "rbind /s -> /d" },
    { "/d", "bind", "sub/dir", "", "bind /bundle/sub/dir -> /d" },
    { "/d", "tmpfs", NULL, "", "new tmpfs -> /d type=tmpfs label=lbl" },
    { "/d", "tmpfs", "shm", "", "new shm -> /d type=tmpfs label=lbl" },
    { "/d", "proc", "proc", "", "new proc -> /d type=proc" },
    { "/d", "cgroup", "cgroup", "ro", "new cgroup -> /d type=cgroup set=ro sb=ro" },
    { "/d", NULL, NULL, "remount ro sync", "remount  -> /d set=ro sb=ro,sync" },
    { "/d", NULL, NULL, "remount bind ro sync", "remount  -> /d set=ro" },
    { "/d", NULL, NULL, "remount size=4k", "remount  -> /d [size=4k]" },
    /* destinations */
    { "d", "bind", "/s", "", "bind /s -> /d" },
    { "//a///b/", "bind", "/s", "", "bind /s -> /a/b" },
    { "/a/./b/../c", "bind", "/s", "", "bind /s -> /a/c" },
    { "/../../x", "bind", "/s", "", "bind /s -> /x" },
    { "a/../../../../x", "bind", "/s", "", "bind /s -> /x" },
    { "/...", "bind", "/s", "", "bind /s -> /..." },
    { "/", "bind", "/s", "", "/mounts[7]/destination: nothing can be mounted over the root" },
    { "a/..", "bind", "/s", "", "/mounts[7]/destination: nothing can be mounted over the root" },
    { "", "bind", "/s", "", "/mounts[7]/destination: empty" },
    /* flags, set and cleared; the later one wins */
    { "/d", "bind", "/s", "ro nosuid nodev noexec nodiratime nosymfollow",
      "bind /s -> /d set=ro,nosuid,nodev,noexec,nodiratime,nosymfollow" },
    { "/d", "bind", "/s", "rw suid dev exec diratime symfollow",
      "bind /s -> /d clear=ro,nosuid,nodev,noexec,nodiratime,nosymfollow" },
    { "/d", "bind", "/s", "ro rw", "bind /s -> /d clear=ro" },
    { "/d", "bind", "/s", "rw ro", "bind /s -> /d set=ro" },
    { "/d", "bind", "/s", "suid nosuid defaults", "bind /s -> /d set=nosuid" },
    /* one access time mode */
    { "/d", "bind", "/s", "noatime", "bind /s -> /d set=noatime chosen" },
    { "/d", "bind", "/s", "noatime strictatime", "bind /s -> /d set=strictatime chosen" },
    { "/d", "bind", "/s", "strictatime relatime", "bind /s -> /d chosen" },
    { "/d", "bind", "/s", "noatime atime", "bind /s -> /d chosen" },
    { "/d", "bind", "/s", "strictatime atime", "bind /s -> /d set=strictatime chosen" },
    { "/d", "bind", "/s", "noatime nostrictatime norelatime", "bind /s -> /d set=noatime chosen" },
    { "/d", "bind", "/s", "strictatime nostrictatime", "bind /s -> /d chosen" },
    { "/d", "bind", "/s", "nodiratime noatime", "bind /s -> /d set=nodiratime,noatime chosen" },
    /* recursive ones */
    { "/d", "bind", "/s", "rbind rro rnosuid rnodev rnoexec rnodiratime rnosymfollow",
      "rbind /s -> /d rset=ro,nosuid,nodev,noexec,nodiratime,nosymfollow" },
    { "/d", "bind", "/s", "rbind rrw rsuid rdev rexec rdiratime rsymfollow",
      "rbind /s -> /d rclear=ro,nosuid,nodev,noexec,nodiratime,nosymfollow" },
    { "/d", "bind", "/s", "rbind rnoatime", "rbind /s -> /d rset=noatime rchosen" },
    { "/d", "bind", "/s", "rbind rnoatime ratime", "rbind /s -> /d rchosen" },
    { "/d", "bind", "/s", "rbind rnoatime rstrictatime",
      "rbind /s -> /d rset=strictatime rchosen" },
    { "/d", "bind", "/s", "rbind rnoatime rnostrictatime", "rbind /s -> /d rset=noatime rchosen" },
    { "/d", "bind", "/s", "rbind rrelatime rnorelatime", "rbind /s -> /d rchosen" },
    { "/d", "bind", "/s", "rbind ro rrw", "rbind /s -> /d rclear=ro" },
    { "/d", "bind", "/s", "rbind rrw ro", "rbind /s -> /d set=ro rclear=ro" },
    { "/d", "bind", "/s", "rbind noatime rstrictatime", "rbind /s -> /d rset=strictatime rchosen" },
    /* of the file system */
    { "/d", "tmpfs", "t", "sync dirsync lazytime mand iversion silent",
      "new t -> /d type=tmpfs sb=sync,dirsync,lazytime,mand,iversion,silent label=lbl" },
    { "/d", "tmpfs", "t", "async nolazytime nomand noiversion loud",
      "new t -> /d type=tmpfs sbclear=sync,lazytime,mand,iversion,silent label=lbl" },
    { "/d", "tmpfs", "t", "sync async", "new t -> /d type=tmpfs sbclear=sync label=lbl" },
    { "/d", "tmpfs", "t", "size=64k mode=755 huge",
      "new t -> /d type=tmpfs [size=64k] [mode=755] [huge] label=lbl" },
    { "/d", "tmpfs", "t", "tmpcopyup", "new t -> /d type=tmpfs copyup label=lbl" },
    { "/d", "proc", "proc", "hidepid=2", "new proc -> /d type=proc [hidepid=2]" },
    /* propagation: the last one */
    { "/d", "bind", "/s", "rprivate", "bind /s -> /d all propagation=private" },
    { "/d", "bind", "/s", "private rslave", "bind /s -> /d all propagation=slave" },
    { "/d", "bind", "/s", "rshared shared", "bind /s -> /d propagation=shared" },
    { "/d", "bind", "/s", "runbindable", "bind /s -> /d all propagation=unbindable" },
    { "/d", "bind", "/s", "slave", "bind /s -> /d propagation=slave" },
    { "/d", "bind", "/s", "unbindable", "bind /s -> /d propagation=unbindable" },
    { "/d", "bind", "/s", "private", "bind /s -> /d propagation=private" },
    /* the rest */
    { "/d", "bind", "/s", "idmap", "bind /s -> /d idmap=0+0" },
    { "/d", "bind", "/s", "ridmap", "bind /s -> /d ridmap=0+0" },
    { "/d", "bind", "/s", "src-nofollow dest-nofollow",
      "bind /s -> /d src-nofollow dest-nofollow" },
    /* what engines send */
    { "/dev", "tmpfs", "tmpfs", "nosuid strictatime mode=755 size=65536k",
      "new tmpfs -> /dev type=tmpfs set=nosuid,strictatime chosen [mode=755] [size=65536k] "
      "label=lbl" },
    { "/dev/pts", "devpts", "devpts", "nosuid noexec newinstance ptmxmode=0666 mode=0620 gid=5",
      "new devpts -> /dev/pts type=devpts set=nosuid,noexec [newinstance] [ptmxmode=0666] "
      "[mode=0620] [gid=5] label=lbl" },
    { "/dev/fuse", "bind", "/dev/fuse", "slave nosuid noexec rw rbind",
      "rbind /dev/fuse -> /dev/fuse set=nosuid,noexec clear=ro propagation=slave" },
    /* refused */
    { "/d", "bind", NULL, "", "/mounts[7]/source: missing: a bind mount needs one" },
    { "/d", "bind", "", "", "/mounts[7]/source: missing: a bind mount needs one" },
    { "/d", "bind", "/s", "nosiud", "/mounts[7]/options: 'nosiud' is no option of a bind mount" },
    { "/d", NULL, "/s", "rbind size=1",
      "/mounts[7]/options: 'size=1' is no option of a bind mount" },
    { "/d", NULL, NULL, "remount bind size=1",
      "/mounts[7]/options: 'size=1' is no option of a bind mount" },
    { "/d", NULL, "/s", "ro",
      "/mounts[7]/type: missing: neither a file system nor 'bind' is asked for" },
    { "/d", "none", "/s", "ro",
      "/mounts[7]/type: missing: neither a file system nor 'bind' is asked for" },
    { "/d", "proc", "proc", "tmpcopyup",
      "/mounts[7]/options: 'tmpcopyup' is for tmpfs only, this is proc" },
    { "/d", "bind", "/s", "tmpcopyup", "/mounts[7]/options: 'tmpcopyup' is for tmpfs only" },
    { "/d", "tmpfs", "t", "idmap", "/mounts[7]: id mappings are for bind mounts only" },
    { "/d", NULL, NULL, "remount idmap",
      "/mounts[7]/options: 'remount' takes neither id mappings nor 'tmpcopyup'" },
};

static const struct mntopt_context where = { .index = 7, .bundle = "/bundle", .label = "lbl" };

/* Splits TEXT at blanks; at most 16 words. */
static size_t split (char *text, const char **words)
{
    size_t n = 0;

    for (char *w = strtok (text, " "); w && n < 16; w = strtok (NULL, " "))
        words[n++] = w;
    words[n] = NULL;
    return n;
}

static void check_case (const struct mount_case *c)
{
    AUTO_ARENA a = { 0 };
    AUTO_STRBUF got = { 0 };
    AUTO_FREE char *text = strdup (c->options);
    const char *words[17];
    struct oci_mount m = {
        .destination = c->dest,
        .type = c->type,
        .source = c->source,
        .options = words,
        .n_options = split (text, words),
    };
    struct plan_mount pm;
    struct err e = { 0 };
    char name[200];

    if (mntopt_parse (&m, &where, &a, &pm, &e) == 0)
        render (&got, &pm);
    else
        strbuf_adds (&got, e.msg);
    (void)snprintf (name, sizeof name, "%s %s: %s", c->type ? c->type : "-", c->dest, c->options);
    tap_is (got.s, c->want, name);
}

static const struct oci_id_mapping two_maps[] = { { 0, 100000, 1000 }, { 1000, 5, 1 } };
static const struct oci_id_mapping empty_map[] = { { 0, 100000, 0 } };

static void check_mappings (void)
{
    AUTO_ARENA a = { 0 };
    struct oci_mount m = { .destination = "/d", .type = "bind", .source = "/s" };
    struct plan_mount pm;
    struct err e = { 0 };

    m.uid_mappings = two_maps;
    m.n_uid_mappings = 2;
    ok (mntopt_parse (&m, &where, &a, &pm, &e) < 0, "uidMappings alone are refused");
    tap_is (e.msg, "/mounts[7]: uidMappings and gidMappings only work together", "its text");
    m.gid_mappings = two_maps;
    m.n_gid_mappings = 1;
    ok (mntopt_parse (&m, &where, &a, &pm, &e) == 0, "both together are taken");
    ok (pm.has_idmap && pm.idmaps.n_uid == 2 && pm.idmaps.n_gid == 1, "without an option too");
    ok (pm.idmaps.uid[1].inside == 1000 && pm.idmaps.uid[1].outside == 5 &&
            pm.idmaps.uid[1].count == 1,
        "ids are carried over");
    m.gid_mappings = empty_map;
    ok (mntopt_parse (&m, &where, &a, &pm, &e) < 0, "an empty range is refused");
    tap_is (e.msg, "/mounts[7]: an id mapping has size 0", "its text");
    m.type = "tmpfs";
    m.gid_mappings = two_maps;
    ok (mntopt_parse (&m, &where, &a, &pm, &e) < 0, "only binds can be id-mapped");
}

static void check_names (void)
{
    size_t n = 0, misplaced = 0;

    for (; mntopt_names[n]; n++)
        if (n > 0 && strcmp (mntopt_names[n - 1], mntopt_names[n]) >= 0)
            misplaced++;
    ok (n == 64, "there are %zu options", n);
    ok (misplaced == 0, "they are sorted, which the look-up relies on");
}

/* No option of the table reaches a file system as data. */
static void check_all_known (void)
{
    AUTO_ARENA a = { 0 };
    size_t leaked = 0;

    for (size_t i = 0; mntopt_names[i]; i++) {
        struct oci_mount m = { .destination = "/d", .type = "tmpfs" };
        const char *one[] = { mntopt_names[i], "bind", NULL };
        struct plan_mount pm;
        struct err e = { 0 };

        m.source = "/s";
        m.options = one;
        m.n_options = strcmp (one[0], "tmpcopyup") == 0 ? 1 : 2;
        if (mntopt_parse (&m, &where, &a, &pm, &e) < 0 || pm.data[0])
            leaked++;
    }
    ok (leaked == 0, "every option of the table is understood");
}

int main (void)
{
    for (size_t i = 0; i < ARRAY_LEN (cases); i++)
        check_case (&cases[i]);
    check_mappings ();
    check_names ();
    check_all_known ();
    return tap_done ();
}
