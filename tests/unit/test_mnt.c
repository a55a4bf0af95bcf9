/* mnt/ for real: each case is a container, looked at from inside, and the host is looked at
 * afterwards. */
#include "tap.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>

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

    /* ---- new file systems ---- */
    { "options of a file system",
      { .mounts = "/t tmpfs t size=1m,mode=0700,sync,dirsync,lazytime;/u tmpfs u size=4k",
        .script = "stat -c %a /t; grep -o 'rw,sync,dirsync,lazytime,size=1024k' "
                  "/proc/self/mountinfo; dd if=/dev/zero of=/u/f bs=8k count=1 2>&1 | head -n 1" },
      .want =
          "700\nrw,sync,dirsync,lazytime,size=1024k\ndd: error writing '/u/f': No space left on "
          "device\n" },
    { "a tmpfs takes the mode of what it covers, if there was anything",
      { .prepare = "cd bundle/rootfs; mkdir sticky private; chmod 1777 sticky; chmod 700 private",
        .mounts = "/sticky tmpfs t;/private tmpfs t;/fresh tmpfs t",
        .script = "stat -c %a /sticky /private /fresh" },
      .want = "1777\n700\n1777\n" },
    { "a read-only tmpfs takes targets first",
      { .mounts = "/t tmpfs t ro;/t/a/b bind $D/vol bind",
        .script = "cat /t/a/b/file; touch /t/x; echo y >/t/a/b/new && cat /t/a/b/new" },
      .want = "hello\ntouch: /t/x: Read-only file system\ny\n" },
    { "a read-only /dev takes nodes and the terminal first",
      { .flags = BOX_NO_STD | BOX_TERMINAL,
        .mounts = "/proc proc proc;/dev tmpfs dev ro,nosuid;/dev/pts devpts pts ptmxmode=0666",
        .script = FLAGS "flags /dev; echo x >/dev/null; stat -c %F /dev/console; touch /dev/x" },
      .want =
          "ro,nosuid,relatime\ncharacter special file\ntouch: /dev/x: Read-only file system\n" },
    { "tmpcopyup",
      { .prepare = "cd bundle/rootfs; mkdir -p d/sub; echo one >d/sub/f; ln -s sub/f d/l; "
                   "ln -s /abs d/dangling; chown 7:8 d/sub/f; chmod 4711 d/sub/f; chmod 1770 d; "
                   "mkfifo d/fifo; touch -d @1000 d/sub/f; : >d/empty",
        .mounts = "/d tmpfs t tmpcopyup,size=1m",
        .script = "cd /d; echo *; cat l; readlink dangling; stat -c '%a %u %g %Y' sub/f; "
                  "stat -c %a .; echo new >sub/f; awk '$5 == \"/d\" { print $9 }' "
                  "/proc/self/mountinfo" },
      .want = "dangling empty l sub\none\n/abs\n4711 7 8 1000\n1770\nt\n" },
    { "tmpcopyup that does not fit",
      { .prepare = "mkdir bundle/rootfs/d; head -c 100000 /dev/zero >bundle/rootfs/d/big",
        .mounts = "/d tmpfs t tmpcopyup,size=16k" },
      .error = "/mounts[3] on '/d': tmpcopyup: 'big': copy: no space left on device (ENOSPC)" },
    { "a bad option is told in the kernel's words",
      { .mounts = "/t tmpfs t size=frog" },
      .error = "/mounts[3] on '/t': file system tmpfs, size: tmpfs: Bad value for 'size'" },
    { "an option that the file system does not know",
      { .mounts = "/t tmpfs t nosiud" },
      .error = "/mounts[3] on '/t': file system tmpfs, nosiud: tmpfs: Unknown parameter 'nosiud'" },
    { "an unknown file system",
      { .mounts = "/t nosuchfs t" },
      .error = "/mounts[3] on '/t': this kernel has no file system 'nosuchfs'" },
    { "what only mount(2) can say",
      { .mounts = "/t tmpfs t iversion,ro,nosuid,size=1m,mode=0711",
        .script = FLAGS "stat -c %a /t; flags /t; grep -o 'size=1024k' /proc/self/mountinfo" },
      .want = "711\nro,nosuid,relatime\nsize=1024k\n" },
    { "sysfs and mqueue",
      { .flags = BOX_NETNS,
        .mounts = "/sys sysfs sysfs ro,nosuid,nodev,noexec;/dev/mqueue mqueue mqueue "
                  "nosuid,noexec,nodev",
        .script =
            FLAGS "flags /sys; flags /dev/mqueue; ls /sys/class/net; stat -c %a /dev/mqueue" },
      .want = "ro,nosuid,nodev,noexec,relatime\nrw,nosuid,nodev,noexec,relatime\nlo\n1777\n" },
    { "remount changes the flags, and the size of its own tmpfs",
      { .mounts = "/t tmpfs t size=1m;/t - - remount,ro,nosuid,size=2m;"
                  "/a bind $D/vol bind;/a - - remount,bind,ro",
        .script = FLAGS "flags /t; flags /a; grep -o 'size=2048k' /proc/self/mountinfo" },
      .want = "ro,nosuid,relatime\nro,relatime\nsize=2048k\n" },
    { "remount of what is no mount",
      { .prepare = "mkdir bundle/rootfs/d", .mounts = "/d - - remount,ro" },
      .error = "/mounts[3] on '/d': 'remount': nothing is mounted there" },
    { "remount of what is not there",
      { .mounts = "/nowhere - - remount,ro" },
      .error = "/mounts[3] on '/nowhere': 'remount': nothing is mounted there" },
    { "remount does not change a file system of the host",
      { .mounts = "/a bind $D/vol bind;/a - - remount,ro",
        .script = "touch /a/x; grep -c ' /a ro,relatime - tmpfs tmpfs rw' /proc/self/mountinfo" },
      .want = "touch: /a/x: Read-only file system\n1\n" },

    /* ---- propagation ---- */
    { "propagation of binds",
      { .mounts = "/default bind $D/vol rbind;/priv bind $D/vol rbind,rprivate;"
                  "/sh bind $D/vol rbind,rshared;/sl bind $D/vol rbind,rslave;"
                  "/un bind $D/vol bind,unbindable",
        .script = "for m in default priv sh sl un; do awk -v p=/$m '$5 == p { print p, $7 }' "
                  "/proc/self/mountinfo | sed 's/[0-9]*$//'; done" },
      .want = "/default -\n/priv -\n/sh shared:\n/sl master:\n/un unbindable\n" },
    { "the root is private by default",
      { .script = "awk '$5 == \"/\" { print $7 }' /proc/self/mountinfo" },
      .want = "-\n" },
    { "rootfsPropagation shared",
      { .propagation = MS_SHARED | MS_REC,
        .script = "awk '$5 == \"/\" { print $7 }' /proc/self/mountinfo | sed 's/[0-9]*$//'; "
                  "mount -t tmpfs none /tmp" },
      .want = "shared:\n" },
    { "rootfsPropagation slave",
      { .propagation = MS_SLAVE | MS_REC,
        .script = "awk '$5 == \"/\" { print $7 }' /proc/self/mountinfo | sed 's/[0-9]*$//'" },
      .want = "master:\n" },
    { "rootfsPropagation unbindable",
      { .propagation = MS_UNBINDABLE | MS_REC,
        .readonly = "/proc/sys",
        .masked = "/proc/bus /proc/fs",
        .script = "awk '$5 == \"/\" { print $7 }' /proc/self/mountinfo" },
      .want = "unbindable\n" },

    /* ---- masked and read-only paths, the root, the working directory ---- */
    { "masked paths",
      { .prepare = "cd bundle/rootfs; mkdir -p secret/dir; echo s >secret/dir/f; echo t >file; "
                   "ln -s /file link; mkdir other; echo u >other/f",
        .masked = "/proc/timer_list /proc/bus /secret/dir /secret/dir /other /link /missing "
                  "/file/below /proc/nothing",
        .script = "wc -c </proc/timer_list; echo /proc/bus/* /secret/dir/* /other/*; cat /file; "
                  "stat -c '%F %t:%T' /file; touch /other/x; mount -o remount,rw,bind /other; "
                  "touch /other/x; chmod 777 /file" },
      .want = "0\n/proc/bus/* /secret/dir/* /other/*\ncharacter special file 1:3\n"
              "touch: /other/x: Read-only file system\ntouch: /other/x: Read-only file system\n"
              "chmod: /file: Read-only file system\n" },
    { "read-only paths keep the other flags",
      { .prepare = "mkdir bundle/rootfs/d",
        .readonly = "/proc/sys /d /missing",
        .mounts = "/d/sub tmpfs t nosuid",
        .script =
            FLAGS "flags /proc/sys; flags /d; flags /d/sub; echo x >/proc/sys/kernel/domainname; "
                  "touch /d/x /d/sub/x" },
      .want = "ro,nosuid,nodev,noexec,relatime\nro,relatime\nro,nosuid,relatime\n"
              "sh: can't create /proc/sys/kernel/domainname: Read-only file system\n"
              "touch: /d/x: Read-only file system\ntouch: /d/sub/x: Read-only file system\n" },
    { "a read-only root",
      { .flags = BOX_READONLY,
        .mounts = "/vol bind $D/vol bind",
        .cwd = "/made/for/me",
        .script = "touch /x; touch /dev/x && stat -c %a /made/for/me" },
      .want = "touch: /x: Read-only file system\n755\n" },
    { "the working directory is made inside",
      { .prepare = "ln -s $D/canary bundle/rootfs/away; ln -s ../../../../up bundle/rootfs/up",
        .cwd = "/away/dir/new",
        .script = "ls -d /tmp/test_mnt.*/canary/dir/new | wc -l" },
      .want = "1\n" },
    { "a working directory through a descriptor of the runtime",
      { .cwd = "/proc/self/fd/7" },
      .error = "/process/cwd" },

    /* ---- ways in ---- */
    { "without pivot_root",
      { .flags = BOX_NO_PIVOT,
        .mounts = "/vol bind $D/vol bind",
        .script = "cat /vol/file; echo /*; ls -d /canary /../canary 2>/dev/null | wc -l; "
                  "grep -c -e ' /sys ' /proc/self/mountinfo" },
      .want = "hello\n/bin /dev /etc /proc /sys /tmp /vol\n0\n0\n" },
    { "without a mount namespace nothing is mounted",
      { .flags = BOX_NO_MOUNTNS | BOX_NO_STD, .script = "echo /* /dev/*" },
      .want = "/bin /dev /etc /proc /sys /tmp /dev/*\n" },
    { "without a mount namespace mounts are refused",
      { .flags = BOX_NO_MOUNTNS },
      .error = "mounts needs a mount namespace" },
    { "without a mount namespace masks are refused",
      { .flags = BOX_NO_MOUNTNS | BOX_NO_STD, .masked = "/proc/kcore" },
      .error = "/linux/maskedPaths needs a mount namespace" },
    { "without a mount namespace devices are refused",
      { .flags = BOX_NO_MOUNTNS | BOX_NO_STD, .devices = "/dev/x c 1 3 666 0 0" },
      .error = "/linux/devices needs a mount namespace" },
    { "a user namespace",
      { .flags = BOX_USERNS | BOX_NETNS,
        .prepare = "chown 100000:100000 vol/file",
        .mounts = "/vol bind $D/vol rbind,ro;/sys sysfs sysfs ro,nosuid,nodev,noexec",
        .masked = "/proc/timer_list /sys/firmware",
        .script = "id -u; echo x >/dev/null && stat -c '%t:%T' /dev/null /dev/tty; "
                  "stat -c %u /vol/file; echo y >/dev/zero; touch /vol/x; chmod 600 /dev/null; "
                  "touch /new && stat -c %u /new" },
      .want = "0\n1:3\n5:0\n0\ntouch: /vol/x: Read-only file system\n"
              "chmod: /dev/null: Read-only file system\n0\n" },
    { "a user namespace that cannot reach the rootfs",
      { .flags = BOX_USERNS,
        .prepare = "chmod 700 bundle",
        .mounts = "/vol bind $D/vol rbind",
        .script = "cat /vol/file; echo /*; ls -d /canary /../canary 2>/dev/null | wc -l" },
      .want = "hello\n/bin /dev /etc /proc /sys /tmp /vol\n0\n" },
    { "a user namespace in the host's network",
      { .flags = BOX_USERNS,
        .prepare = "chmod 755 bundle",
        .mounts = "/sys sysfs sysfs nosuid,nodev,noexec",
        .script = FLAGS "flags /sys; ls -d /sys/kernel" },
      .want = "ro,nosuid,nodev,noexec,relatime\n/sys/kernel\n" },
    { "rootless",
      { .flags = BOX_ROOTLESS,
        .mounts = "/vol bind $D/vol rbind,ro,nosuid;/t tmpfs t size=1m",
        .masked = "/proc/timer_list /proc/bus",
        .readonly = "/proc/sys",
        .script = FLAGS "id -u; cat /vol/file; flags /vol; touch /vol/x; echo x >/dev/null; "
                        "touch /t/x; wc -c </proc/timer_list; echo /proc/bus/*; flags /proc/sys; "
                        "ls -d /canary 2>/dev/null" },
      .want = "0\nhello\nro,nosuid,relatime\ntouch: /vol/x: Read-only file system\n0\n/proc/bus/*\n"
              "ro,nosuid,nodev,noexec,relatime\n" },
    { "rootless keeps what the host locked",
      { .flags = BOX_ROOTLESS,
        .prepare = "mkdir -p m; mount -t tmpfs -o nosuid,nodev,noexec,mode=755 none m",
        .mounts = "/m bind $D/m rbind,ro",
        .script = FLAGS "flags /m" },
      .want = "ro,nosuid,nodev,noexec,relatime\n" },
    { "rootless cannot clear what the host locked",
      { .flags = BOX_ROOTLESS,
        .prepare = "mkdir -p m; mount -t tmpfs -o nosuid,nodev,mode=755 none m",
        .mounts = "/m bind $D/m rbind,suid" },
      .error = "/mounts[3] on '/m': change the mount's flags: a user namespace may not clear" },
    { "rootless cannot map ids",
      { .flags = BOX_ROOTLESS, .mounts = "/m bind $D/vol bind,idmap" },
      .error = "/mounts[3] on '/m': id-mapped mounts need the host's root" },

    /* ---- devices ---- */
    { "devices with modes and owners, anywhere",
      { .devices = "/dev/net/tun c 10 200 640 1 2;/x/y/fifo p 0 0 600 3 4;/dev/b b 7 0 660 0 6;"
                   "/dev/ptmx c 5 2 666 0 0",
        .script =
            "for f in /dev/net/tun /x/y/fifo /dev/b; do stat -c '%F %t:%T %a %u %g' $f; done; "
            "stat -c %a /dev/net; readlink /dev/ptmx" },
      .want = "character special file a:c8 640 1 2\nfifo 0:0 600 3 4\n"
              "block special file 7:0 660 0 6\n755\npts/ptmx\n" },
    { "a device that the image has already",
      { .flags = BOX_NO_STD,
        .prepare = "mknod -m 600 bundle/rootfs/dev/null c 1 3; ln -s /canary bundle/rootfs/dev/fd; "
                   "touch bundle/rootfs/dev/ptmx",
        .script = "stat -c '%a %t:%T' /dev/null; readlink /dev/fd; readlink /dev/ptmx" },
      .want = "666 1:3\n/canary\npts/ptmx\n" },
    { "something else where a device should be",
      { .flags = BOX_NO_STD, .prepare = "mknod bundle/rootfs/dev/null c 1 5" },
      .error = "device '/dev/null': something else is there already" },
    { "a link where a device should be",
      { .flags = BOX_NO_STD, .prepare = "ln -s $D/canary/secret bundle/rootfs/dev/null" },
      .error = "device '/dev/null': something else is there already" },
    { "a bound device keeps the host's mode",
      { .mounts = "/dev/null bind /dev/null bind",
        .devices = "/dev/zero2 c 1 5 666 0 0",
        .script = "stat -c '%a %t:%T' /dev/null" },
      .want = "666 1:3\n" },
    { "nothing is made in a bound /dev",
      { .flags = BOX_NO_STD,
        .prepare = "mkdir -p vol/dev; : >vol/dev/ptmx",
        .mounts = "/dev bind $D/vol/dev rbind",
        .script = "echo /dev/*; stat -c %F /dev/ptmx" },
      .want = "/dev/ptmx\nregular empty file\n" },
    { "a tmpfs over a bound /dev is ours again",
      { .flags = BOX_NO_STD,
        .mounts = "/dev bind /dev rbind;/dev tmpfs dev mode=755",
        .script = "echo /dev/*" },
      .want = "/dev/fd /dev/null /dev/ptmx /dev/stderr /dev/stdin /dev/stdout /dev/tty "
              "/dev/zero\n" },
    { "a device path that is none",
      { .devices = "/dev/.. c 1 3 666 0 0" },
      .error = "device '/dev/..': the path is not one of a device" },

    /* ---- the terminal ---- */
    { "a terminal",
      { .flags = BOX_TERMINAL,
        .script = "stat -c %F /dev/console; grep -c ' /dev/console ' /proc/self/mountinfo; "
                  "ls /dev/pts" },
      .want = "character special file\n1\n0\nptmx\n" },
    { "/dev/console of the image leads out",
      { .flags = BOX_NO_STD | BOX_TERMINAL,
        .prepare = "ln -s $D/canary/new bundle/rootfs/dev/console",
        .mounts = "/dev/pts devpts pts ptmxmode=0666" },
      .error = "'/dev/console' is a symbolic link" },
    { "a terminal without devpts",
      { .flags = BOX_NO_STD | BOX_TERMINAL, .prepare = "mkdir bundle/rootfs/dev/pts" },
      .error = "/dev/pts is no devpts" },

    /* ---- hostile images ---- */
    { "proc is a link",
      { .prepare = "cd bundle/rootfs; rmdir proc; mkdir evil; ln -s /evil proc" },
      .error = "/mounts[0] on '/proc': proc must be mounted on ordinary directory" },
    { "proc is a dangling link",
      { .prepare = "cd bundle/rootfs; rmdir proc; ln -s /nowhere proc" },
      .error = "/mounts[0] on '/proc': proc must be mounted on ordinary directory" },
    { "proc is a file",
      { .prepare = "cd bundle/rootfs; rmdir proc; touch proc" },
      .error = "/mounts[0] on '/proc': proc must be mounted on ordinary directory" },
    { "sys is a link that climbs",
      { .prepare = "cd bundle/rootfs; rmdir sys; ln -s ../../../canary sys",
        .mounts = "/sys sysfs sysfs" },
      .error = "/mounts[3] on '/sys': sysfs must be mounted on ordinary directory" },
    { "dev is a link to the host: it lands inside",
      { .flags = BOX_NO_STD,
        .prepare = "cd bundle/rootfs; rmdir dev; ln -s $D/canary/dir dev",
        .script = "cd /tmp/test_mnt.*/canary/dir && echo *" },
      .want = "fd null ptmx stderr stdin stdout tty zero\n" },
    { "targets through links stay inside",
      { .prepare =
            "cd bundle/rootfs; ln -s $D/canary abs; ln -s ../../../../../../$D/canary/dir rel; "
            "mkdir real; ln -s real l1; ln -s l1 l2; ln -s /l2/../l2 l3",
        .mounts = "/abs/x bind $D/vol/file bind;/rel bind $D/vol bind;/l3/y bind $D/vol bind;"
                  "/../../../up bind $D/vol bind",
        .script = "cat /tmp/test_mnt.*/canary/x; cat /tmp/test_mnt.*/canary/dir/file; cat "
                  "/real/y/file /up/file" },
      .want = "hello\nhello\nhello\nhello\n" },
    { "a file over a dangling link is made where it leads, inside",
      { .prepare = "mkdir -p bundle/rootfs/etc; ln -s ../run/stub/resolv.conf "
                   "bundle/rootfs/etc/resolv.conf; ln -s $D/canary/new bundle/rootfs/etc/hosts",
        .mounts = "/etc/resolv.conf bind $D/vol/file bind;/etc/hosts bind $D/vol/file bind",
        .script = "cat /run/stub/resolv.conf; cat /tmp/test_mnt.*/canary/new; readlink "
                  "/etc/resolv.conf" },
      .want = "hello\nhello\n../run/stub/resolv.conf\n" },
    { "links in a circle",
      { .prepare = "cd bundle/rootfs; ln -s b a; ln -s a b", .mounts = "/a/x bind $D/vol bind" },
      .error = "/mounts[3] on '/a/x': destination: open '/a/x': too many levels of symbolic links "
               "(ELOOP)" },
    { "links in a circle, through something missing",
      { .prepare = "cd bundle/rootfs; ln -s n/../a a", .mounts = "/a/x bind $D/vol bind" },
      .error = "too many symbolic links" },
    { "a chain of 50 links",
      { .prepare = "cd bundle/rootfs; mkdir c0; for i in $(seq 50); do ln -s c$((i-1)) c$i; done",
        .mounts = "/c50 bind $D/vol bind" },
      .error = "/mounts[3] on '/c50'" },
    { "a component that is a file",
      { .prepare = "touch bundle/rootfs/f", .mounts = "/f/x bind $D/vol bind" },
      .error = "/mounts[3] on '/f/x'" },
    { "a magic link in the path",
      { .mounts = "/proc/self/root/x bind $D/vol bind" },
      .error = "/mounts[3] on '/proc/self/root/x'" },
    { "a link to the root",
      { .prepare = "ln -s / bundle/rootfs/r", .mounts = "/r bind $D/vol bind" },
      .error = "/mounts[3] on '/r': refused: nothing can be mounted over the root" },
    { "only procfs on /proc",
      { .mounts = "/proc tmpfs t" },
      .error = "/mounts[3] on '/proc': refused: only procfs may be mounted on /proc" },
    { "no folder bound on /proc",
      { .flags = BOX_NO_STD, .mounts = "/proc bind $D/vol bind" },
      .error = "/mounts[0] on '/proc': refused: only procfs may be mounted on /proc" },
    { "a procfs may be bound on /proc",
      { .flags = BOX_NO_STD, .mounts = "/proc bind /proc rbind", .script = "ls -d /proc/self" },
      .want = "/proc/self\n" },
    { "nothing below /proc",
      { .mounts = "/proc/self/attr tmpfs t" },
      .error = "/mounts[3] on '/proc/self/attr': refused: nothing but lxcfs files" },
    { "nothing below /proc before it is mounted",
      { .flags = BOX_NO_STD, .mounts = "/proc/1 tmpfs t;/proc proc proc" },
      .error = "/mounts[0] on '/proc/1': refused: nothing but lxcfs files" },
    { "lxcfs files below /proc",
      { .mounts = "/proc/cpuinfo bind $D/vol/file bind", .script = "cat /proc/cpuinfo" },
      .want = "hello\n" },
    { "a link into /proc",
      { .prepare = "ln -s /proc/sys bundle/rootfs/p", .mounts = "/p tmpfs t" },
      .error = "/mounts[3] on '/p': refused: the path leads into /proc" },

    /* ---- sources ---- */
    { "a missing source",
      { .mounts = "/a bind $D/nothing bind" },
      .error = "/nothing' does not exist" },
    { "a file on a folder",
      { .prepare = "mkdir bundle/rootfs/a", .mounts = "/a bind $D/vol/file bind" },
      .error = "/mounts[3] on '/a': a file cannot be mounted on a folder" },
    { "a folder on a file",
      { .prepare = "touch bundle/rootfs/a", .mounts = "/a bind $D/vol bind" },
      .error = "/mounts[3] on '/a': a folder cannot be mounted on a file" },
    { "a FIFO and a device as sources",
      { .prepare = "mkdir -p m; mkfifo m/fifo; mknod m/node c 1 3",
        .mounts = "/f bind $D/m/fifo bind;/n bind $D/m/node bind",
        .script = "stat -c %F /f /n" },
      .want = "fifo\ncharacter special file\n" },
    { "links as source and target",
      { .prepare = "mkdir m; ln -s ../vol/file m/l; ln -s /nowhere bundle/rootfs/t; "
                   "ln -s /real bundle/rootfs/u; touch bundle/rootfs/real",
        .mounts = "/t bind $D/m/l bind,src-nofollow,dest-nofollow;/u bind $D/m/l bind",
        .script = "readlink /t; cat /real" },
      .want = "../vol/file\nhello\n" },
    { "an unbindable source",
      { .prepare = "mkdir m; mount -t tmpfs none m; mount --make-unbindable m",
        .mounts = "/a bind $D/m bind" },
      .error = "clone a mount: it is unbindable" },
    { "no rootfs",
      { .prepare = "rm -rf bundle/rootfs" },
      .error = "/bundle/rootfs' does not exist" },
    { "a rootfs that is a file",
      { .prepare = "rm -rf bundle/rootfs; touch bundle/rootfs" },
      .error = "/bundle/rootfs' is not a folder" },

    /* ---- id maps ---- */
    { "id-mapped binds",
      { .prepare = "mkdir -p m/sub; touch m/f; chown 5:6 m/f; mount -t tmpfs none m/sub; "
                   "touch m/sub/f; chown 5:6 m/sub/f",
        .mounts = "/a bind $D/m bind,map=0:1000:100;/b bind $D/m rbind,ridmap,map=5:77:2;"
                  "/c bind $D/m rbind,map=5:88:2",
        .script = "stat -c '%u %g' /a/f /b/f /b/sub/f /c/f /c/sub/f; touch /b/new; "
                  "stat -c %u /b/new" },
      .want =
          "1005 1006\n77 78\n77 78\n88 89\n5 6\ntouch: /b/new: Value too large for defined data "
          "type\nstat: can't stat '/b/new': No such file or directory\n" },
    { "a bind mapped like the container",
      { .flags = BOX_USERNS,
        .prepare = "mkdir m; touch m/f; chown 5:6 m/f",
        .mounts = "/a bind $D/m bind,idmap;/b bind $D/m bind",
        .script = "stat -c '%u %g' /a/f /b/f" },
      .want = "5 6\n65534 65534\n" },
    { "mapped like the container, which has no user namespace",
      { .mounts = "/a bind $D/vol bind,idmap" },
      .error =
          "/mounts[3] on '/a': 'idmap' needs uidMappings and gidMappings, or a user namespace" },
    { "a file system that cannot map ids",
      { .mounts = "/a bind /proc/sys bind,map=0:1000:100" },
      .error = "/mounts[3] on '/a': map ids: the file system proc cannot do it here" },
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

/* ---- cgroups: the layout of this host decides what can be looked at ---- */

#define PIDS "/sys/fs/cgroup/pids"

static const struct mnt_case cgroup_cases[] = {
    { "the host's root cgroups are read-only",
      { .flags = BOX_CGROUPNS,
        .mounts = "/sys/fs/cgroup cgroup cgroup rw,nosuid,nodev,noexec",
        .script = "cd /sys/fs/cgroup; mkdir pids/x; echo 1 >pids/release_agent" },
      .want = "mkdir: can't create directory 'pids/x': Read-only file system\n"
              "sh: can't create pids/release_agent: Read-only file system\n" },
    { "a cgroup namespace shows its own root, writable",
      { .flags = BOX_CGROUPNS,
        .prepare = "mkdir -p " PIDS "/test_mnt; echo $PPID >" PIDS "/test_mnt/cgroup.procs",
        .mounts = "/sys/fs/cgroup cgroup cgroup rw,nosuid,nodev,noexec",
        .script = FLAGS
        "cd /sys/fs/cgroup; ls pids/release_agent; mkdir pids/x && rmdir pids/x && "
        "echo made; flags /sys/fs/cgroup/pids; flags /sys/fs/cgroup; "
        "ls | sort >/tmp/a; sed 's/^[0-9]*:\\([^:]*\\):.*/\\1/; s/^name=//; s/^$/unified/' "
        "/proc/self/cgroup | sort >/tmp/b; cat /tmp/a /tmp/b | sort | uniq -u" },
      .want = "ls: pids/release_agent: No such file or directory\nmade\n"
              "rw,nosuid,nodev,noexec,relatime\nrw,nosuid,nodev,noexec,relatime\n" },
    { "cgroups that are asked to be read-only",
      { .flags = BOX_CGROUPNS,
        .mounts = "/sys/fs/cgroup cgroup cgroup ro,nosuid,nodev,noexec",
        .script = FLAGS "flags /sys/fs/cgroup/pids; flags /sys/fs/cgroup; touch /sys/fs/cgroup/x" },
      .want = "ro,nosuid,nodev,noexec,relatime\nro,nosuid,nodev,noexec,relatime\n"
              "touch: /sys/fs/cgroup/x: Read-only file system\n" },
    { "without a cgroup namespace only the own folder is seen",
      { .mounts = "/sys/fs/cgroup cgroup cgroup rw",
        .script = "cd /sys/fs/cgroup; ls -d pids/release_agent pids/test_mnt 2>/dev/null; mkdir "
                  "pids/x && rmdir pids/x && echo made; grep -c . pids/cgroup.procs >/dev/null && "
                  "echo there" },
      .want = "made\nthere\n" },
    { "in a user namespace",
      { .flags = BOX_CGROUPNS | BOX_USERNS,
        .mounts = "/sys/fs/cgroup cgroup cgroup ro,nosuid,nodev,noexec",
        .script = FLAGS "flags /sys/fs/cgroup/pids; ls /sys/fs/cgroup/pids/release_agent" },
      .want = "ro,nosuid,nodev,noexec,relatime\n"
              "ls: /sys/fs/cgroup/pids/release_agent: No such file or directory\n" },
    { "the unified hierarchy by its name",
      { .flags = BOX_CGROUPNS,
        .mounts = "/sys/fs/cgroup cgroup2 cgroup rw",
        .script = "ls /sys/fs/cgroup/cgroup.controllers; mkdir /sys/fs/cgroup/x" },
      .want = "/sys/fs/cgroup/cgroup.controllers\n"
              "mkdir: can't create directory '/sys/fs/cgroup/x': Read-only file system\n" },
    { "a cgroup mount takes no data",
      { .mounts = "/sys/fs/cgroup cgroup cgroup memory" },
      .error = "/mounts[3] on '/sys/fs/cgroup': options: 'memory' is no option of a cgroup mount" },
};

static void check_cgroups (void)
{
    if (access (PIDS "/release_agent", W_OK) < 0) {
        (void)printf ("# cgroup cases left out: there is no v1 pids hierarchy to write to\n");
        return;
    }
    for (size_t i = 0; i < ARRAY_LEN (cgroup_cases); i++)
        check_case (&cgroup_cases[i]);
    ok (system ("for p in $PPID $$; do echo $p >" PIDS "/cgroup.procs; done; rmdir " PIDS
                "/test_mnt") == 0,
        "the test's own cgroup is removed");
}

/* ---- 2000 masked paths: one superblock, and soon done ---- */
static void check_many_masks (void)
{
    static char paths[32 * 2000];
    struct box b = { .masked = paths,
                     .prepare = "cd bundle/rootfs; mkdir m; cd m; mkdir $(seq 1000); "
                                "touch $(seq 1001 1500)",
                     .script =
                         "cat /m/* 2>/dev/null | wc -c; find /m -mindepth 2 | wc -l; "
                         "awk '$5 ~ \"^/m/\" { print $3, $4 }' /proc/self/mountinfo | sort -u "
                         "| wc -l; grep -c ' /m/' /proc/self/mountinfo" };
    struct box_result r;
    size_t len = 0;

    for (int i = 1; i <= 2000; i++)
        len += (size_t)snprintf (paths + len, sizeof paths - len, "/m/%d ", i);
    box_run (&b, &r);
    ok (!r.failed, "2000 masked paths");
    tap_is (r.text, "0\n0\n2\n1500\n", "two sources cover all that are there");
}

/* ---- somebody swaps a folder and a link while it is mounted on (CVE-2021-30465) ---- */

static pid_t start_swapper (void)
{
    char a[128], b[128];
    pid_t pid = fork ();

    if (pid != 0)
        return pid;
    (void)prctl (PR_SET_PDEATHSIG, SIGKILL);
    (void)snprintf (a, sizeof a, "%s/shared/dir", box_dir ());
    (void)snprintf (b, sizeof b, "%s/shared/link", box_dir ());
    for (;;)
        (void)renameat2 (AT_FDCWD, a, AT_FDCWD, b, RENAME_EXCHANGE);
}

static void check_swapper (void)
{
    struct box b = { .prepare = "mkdir -p shared/dir; [ -h shared/link ] || ln -s $D/canary "
                                "shared/link",
                     .mounts = "/v bind $D/shared rbind;/v/dir/new/sub tmpfs t;"
                               "/v/dir/file bind $D/vol/file bind",
                     .masked = "/v/dir/masked",
                     .script = "cat /v/dir/secret /v/dir/../canary/secret 2>/dev/null" };
    struct box_result r;
    int leaks = 0;
    pid_t pid;

    box_run (&b, &r); /* makes the folder */
    b.prepare = NULL;
    pid = start_swapper ();
    for (int i = 0; i < 15; i++) {
        box_run (&b, &r);
        leaks += strstr (r.text, "secret\n") != NULL;
    }
    (void)kill (pid, SIGKILL);
    (void)waitpid (pid, NULL, 0);
    ok (leaks == 0, "a swapped folder never leads out");
}

int main (void)
{
    if (!box_start ()) {
        (void)printf ("1..0 # SKIP needs root, and a kernel (or valgrind) that knows open_tree\n");
        return EXIT_SUCCESS;
    }
    for (size_t i = 0; i < ARRAY_LEN (cases); i++)
        check_case (&cases[i]);
    check_cgroups ();
    check_many_masks ();
    check_swapper ();
    ok (box_host_is_unchanged (), "the host has the same mounts and the same canary");
    box_end ();
    return tap_done ();
}
