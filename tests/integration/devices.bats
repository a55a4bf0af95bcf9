#!/usr/bin/env bats
# /dev: the default nodes and links, configured ones, and what the devices cgroup denies.

load ../lib/helpers

@test "the default devices, their modes and links" {
    inside 'for d in null zero full random urandom tty; do stat -c "%n %t:%T %a %u:%g" /dev/$d; done
        for l in fd stdin stdout stderr ptmx; do readlink /dev/$l; done'
    rc 0
    eq "$output" "/dev/null 1:3 666 0:0
/dev/zero 1:5 666 0:0
/dev/full 1:7 666 0:0
/dev/random 1:8 666 0:0
/dev/urandom 1:9 666 0:0
/dev/tty 5:0 666 0:0
/proc/self/fd
/proc/self/fd/0
/proc/self/fd/1
/proc/self/fd/2
pts/ptmx"
}

@test "the default devices work" {
    inside 'echo x >/dev/null; head -c3 /dev/zero | od -An -c; head -c8 /dev/urandom | wc -c
        echo x >/dev/full'
    match "$output" '\\0  \\0  \\0'
    match "$output" '^8$'
    match "$output" 'No space left on device'
}

@test "nothing else is in /dev" {
    inside 'cd /dev; ls | sort | tr "\n" " "'
    rc 0
    eq "$output" "fd full mqueue null ptmx pts random shm stderr stdin stdout tty urandom zero "
}

@test "configured devices: character, block and fifo, with mode and owner" {
    edit '.linux.devices = [
        {path: "/dev/mine", type: "c", major: 1, minor: 3, fileMode: 416, uid: 5, gid: 6},
        {path: "/dev/block", type: "b", major: 7, minor: 200},
        {path: "/dev/deep/fifo", type: "p", fileMode: 384},
        {path: "/dev/unbuffered", type: "u", major: 1, minor: 5, fileMode: 438}]'
    inside 'stat -c "%F %t:%T %a %u:%g" /dev/mine /dev/block /dev/unbuffered
        stat -c "%F %a" /dev/deep/fifo'
    rc 0
    match "$output" '^character special file 1:3 640 5:6$'
    match "$output" '^block special file 7:c8 [0-9]+ 0:0$'
    match "$output" '^character special file 1:5 666 0:0$'
    match "$output" '^fifo 600$'
}

@test "the caller's umask does not reach device modes" {
    umask 077
    edit '.linux.devices = [{path: "/dev/mine", type: "c", major: 1, minor: 3, fileMode: 438}]'
    inside 'stat -c %a /dev/mine /dev/null /dev'
    rc 0
    eq "$output" $'666\n666\n755'
}

@test "devices cgroup: all but the default ones are denied" {
    edit '.process.capabilities |= map_values (["CAP_MKNOD", "CAP_SYS_ADMIN"])'
    edit '.linux.devices = [{path: "/dev/fuse", type: "c", major: 10, minor: 229, fileMode: 438}]'
    inside 'head -c1 /dev/fuse; mknod /dev/disk b 254 0; head -c1 /dev/disk; head -c1 /dev/zero | wc -c'
    match "$output" '/dev/fuse: Operation not permitted'
    match "$output" '/dev/disk: (Operation not permitted|No such file)'
    match "$output" '^1$'
}

@test "devices cgroup: rules are followed in order, the last match wins" {
    edit '.linux.devices = [{path: "/dev/fuse", type: "c", major: 10, minor: 229, fileMode: 438}]'
    edit '.linux.resources.devices = [{allow: false, access: "rwm"},
        {allow: true, type: "c", major: 10, minor: 229, access: "r"}]'
    inside 'exec 3</dev/fuse && echo read; (exec 4>/dev/fuse) || echo no write'
    match "$output" '^read$'
    match "$output" '^no write$'
    edit '.linux.resources.devices += [{allow: false, type: "c", major: 10, minor: 229, access: "r"}]'
    inside 'exec 3</dev/fuse && echo read'
    no_match "$output" '^read$'
}

@test "devices cgroup: wildcards and allow-all" {
    edit '.linux.devices = [{path: "/dev/fuse", type: "c", major: 10, minor: 229, fileMode: 438}]'
    edit '.linux.resources.devices = [{allow: true, access: "rwm"}]'
    inside 'exec 3</dev/fuse && echo read'
    match "$output" '^read$'
    edit '.linux.resources.devices = [{allow: false, access: "rwm"},
        {allow: true, type: "c", major: 10, access: "rwm"}]'
    inside 'exec 3</dev/fuse && echo read'
    match "$output" '^read$'
}

@test "nodes that the image brought are dead" {
    mknod "$BUNDLE/rootfs/mem" c 1 1
    mknod "$BUNDLE/rootfs/disk" b 254 0
    inside 'head -c1 /mem; head -c1 /disk'
    eq "$(grep -cE '(Operation not permitted|Permission denied)' <<<"$output")" 2
}

@test "a /dev that is a symlink of the image does not lead outside" {
    mkdir "$TMP/canary"
    touch "$TMP/canary/ptmx"
    rmdir "$BUNDLE/rootfs/dev"
    ln -s "$TMP/canary" "$BUNDLE/rootfs/dev"
    edit '.mounts |= map (select (.destination | startswith ("/dev") | not))'
    inside true
    eq "$(ls -A "$TMP/canary")" ptmx
    [ -f "$TMP/canary/ptmx" ]
}

@test "a node of the image in the place of a device, of another kind, is refused" {
    edit '.mounts |= map (select (.destination | startswith ("/dev") | not))'
    edit '.root.readonly = false'
    mknod "$BUNDLE/rootfs/dev/null" c 1 1
    inside 'stat -c %t:%T /dev/null'
    [ "$status" -ne 0 ] || eq "$output" 1:3
}

@test "devices that cannot be are refused" {
    for d in '{"path":"dev/x","type":"c","major":1,"minor":3}' \
        '{"path":"/dev/x","type":"z","major":1,"minor":3}' \
        '{"path":"/dev/x","type":"c","major":-1,"minor":3}' \
        '{"type":"c","major":1,"minor":3}' \
        '{"path":"/dev/x","major":1,"minor":3}'; do
        edit --argjson d "$d" '.linux.devices = [$d]'
        inside true
        refused 'devices\[0\]'
    done
}
