/* mnt/ for real: each case is a container, looked at from inside, and the host is looked at afterwards. */
#include "tap.h"

#include <sys/mount.h>

#include "base/cleanup.h"
#include "mnt_box.h"

/* The flags of the mount at $1 as statfs and mountinfo know them. */
#define FLAGS                                                                                      \
    "flags() { awk -v p=\"$1\" '$5 == p { f = $6 } END { print f }' /proc/self/mountinfo; };"

struct mnt_case {
    const char *name;
    struct box box;
    const char *want;  /* what the script prints */
    const char *error; /* or a part of the error */
};

static const struct mnt_case cases[] = {
    { "an empty config",
      { .flags = BOX_NO_STD,
        .script = "echo /*; cd /dev; echo *; stat -c '%a %t %T %u' /dev/null /dev/zero" },
      .want = "/bin /dev /etc /proc /sys /tmp\n"
              "fd null ptmx stderr stdin stdout tty zero\n"
              "666 1 3 0\n666 1 5 0\n" },
    { "the usual mounts",
      { .script =
            FLAGS "flags /proc; flags /dev; flags /dev/pts; readlink /dev/fd; readlink /dev/ptmx;"
                  "stat -c %a /dev /dev/pts; echo x >/dev/null; echo $$" },
      .want = "rw,nosuid,nodev,noexec,relatime\nrw,nosuid\nrw,nosuid,noexec,relatime\n"
              "/proc/self/fd\npts/ptmx\n755\n755\n1\n" },
    { "nothing of the host is left",
      { .script =
            "awk '{ print $5 }' /proc/self/mountinfo; ls -d /canary /vol /../canary 2>/dev/null" },
      .want = "/\n/proc\n/dev\n/dev/pts\n" },
    { "bind of a file and of a folder, parents are made",
      { .mounts = "/a/b/c bind $D/vol rbind;/e/f/g bind $D/vol/file bind",
        .script = "cat /a/b/c/dir/inner /e/f/g; stat -c %a /a /a/b /e/f" },
      .want = "inner\nhello\n755\n755\n755\n" },
    { "a relative source is below the bundle",
      { .prepare = "mkdir -p bundle/data; echo rel >bundle/data/f",
        .mounts = "/m bind data bind",
        .script = "cat /m/f" },
      .want = "rel\n" },
    { "every flag of a bind",
      { .mounts = "/a bind $D/vol ro,nosuid,nodev,noexec,noatime,nodiratime;"
                  "/b bind $D/vol strictatime;/c bind $D/vol nosymfollow",
        .script = FLAGS "flags /a; flags /b; flags /c; touch /a/x; grep -c nosymfollow "
                        "/proc/self/mountinfo" },
      .want = "ro,nosuid,nodev,noexec,noatime,nodiratime\nrw\nrw,relatime,nosymfollow\n"
              "touch: /a/x: Read-only file system\n1\n" },
    { "cleared flags of a bind",
      { .prepare = "mkdir -p m; mountpoint -q m || mount -t tmpfs -o "
                   "ro,nosuid,nodev,noexec,noatime none m",
        .mounts = "/a bind $D/m bind;/b bind $D/m bind,rw,suid,dev,exec,atime",
        .script = FLAGS "flags /a; flags /b" },
      .want = "ro,nosuid,nodev,noexec,noatime\nrw,relatime\n" },
    { "recursive flags",
      { .prepare = "mkdir -p m/sub; mountpoint -q m/sub || mount -t tmpfs none m/sub",
        .mounts = "/a bind $D/m rbind,ro;/b bind $D/m rbind,rro,rnosuid,rnodev,rnoexec,rnoatime;"
                  "/c bind $D/m rbind,rro,rw;/d bind $D/m bind",
        .script = FLAGS "for m in a b c; do flags /$m; flags /$m/sub; done; flags /d/sub" },
      .want = "ro,relatime\nrw,relatime\n"
              "ro,nosuid,nodev,noexec,noatime\nro,nosuid,nodev,noexec,noatime\n"
              "rw,relatime\nro,relatime\n\n" },
};

static void check_case (const struct mnt_case *c)
{
    struct box_result r;

    box_run (&c->box, &r);
    if (c->error) {
        if (!ok (r.failed && strstr (r.text, c->error), "%s: refused", c->name))
            (void)printf ("# got  %s\n# want %s\n", r.text, c->error);
    } else {
        ok (!r.failed, "%s: runs", c->name);
        tap_is (r.text, c->want, c->name);
    }
}

int main (void)
{
    if (!box_start ()) {
        (void)printf ("1..0 # SKIP needs root and mount namespaces\n");
        return EXIT_SUCCESS;
    }
    for (size_t i = 0; i < ARRAY_LEN (cases); i++)
        check_case (&cases[i]);
    ok (box_host_is_unchanged (), "the host has the same mounts and the same canary");
    box_end ();
    return tap_done ();
}
