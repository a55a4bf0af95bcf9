#!/usr/bin/env bats
# mounts[]: options by look and by behaviour, destinations and sources of every kind.

load ../lib/helpers

# options_are WANT-MOUNT-ERE WANT-NOT-ERE OPTION...: of a tmpfs on /mnt with the options.
options_are ()
{
    local want=$1 not=$2

    shift 2
    cp "$BUNDLE/config.json" "$TMP/saved"
    add_mount /mnt tmpfs tmpfs "$@"
    inside 'grep " /mnt " /proc/self/mountinfo | cut -d" " -f6-'
    cp "$TMP/saved" "$BUNDLE/config.json"
    rc 0
    [ -z "$want" ] || match "$output" "$want"
    [ -z "$not" ] || no_match "$output" "$not"
}

@test "flags: set and cleared, the last one counts" {
    options_are '^rw,relatime' '(nosuid|nodev|noexec)'
    options_are '^ro[, ]' '' ro
    options_are '^rw[, ]' '' ro rw
    options_are 'nosuid' '' nosuid
    options_are '' 'nosuid' nosuid suid
    options_are 'nodev' '' nodev
    options_are '' 'nodev' nodev dev
    options_are 'noexec' '' noexec
    options_are '' 'noexec' noexec exec
    options_are 'nosuid,nodev,noexec' '' nosuid nodev noexec
    options_are '^rw,relatime' '(nosuid|nodev|noexec)' defaults
}

@test "flags: access times" {
    options_are 'noatime' 'relatime' noatime
    options_are 'relatime' 'noatime' noatime relatime
    options_are '' '(noatime|relatime)' strictatime
    options_are 'relatime' '' strictatime nostrictatime
    options_are 'nodiratime' '' nodiratime
    options_are '' 'nodiratime' nodiratime diratime
    options_are '' 'noatime' noatime atime
}

@test "flags: of the file system: sync, dirsync, lazytime, iversion, silent" {
    options_are ' - tmpfs tmpfs [^ ]*sync' '' sync
    options_are '' ' - tmpfs tmpfs [^ ]*\bsync' sync async
    options_are 'dirsync' '' dirsync
    options_are 'lazytime' '' lazytime
    options_are '' 'lazytime' lazytime nolazytime
    for o in iversion noiversion silent loud mand nomand; do options_are '' '' $o; done
}

@test "flags: nosymfollow" {
    options_are 'nosymfollow' '' nosymfollow
    options_are '' 'nosymfollow' nosymfollow symfollow
}

@test "behaviour: ro, noexec, nodev, nosuid, nosymfollow" {
    mkdir "$TMP/source"
    cp "$BUNDLE/rootfs/bin/busybox" "$TMP/source/prog"
    cp "$BUNDLE/rootfs/bin/busybox" "$TMP/source/id"
    chmod 4755 "$TMP/source/id"
    mknod "$TMP/source/null" c 1 3
    ln -s prog "$TMP/source/link"
    add_mount /mnt bind "$TMP/source" bind ro noexec nodev nosuid
    inside 'touch /mnt/x; /mnt/prog true; echo x >/mnt/null; cat /mnt/link | wc -c'
    match "$output" '/mnt/x: Read-only file system'
    match "$output" '/mnt/prog: Permission denied'
    match "$output" '/mnt/null: Permission denied'
    edit '.mounts[-1].options = ["bind", "nosuid"] | .process.noNewPrivileges = false |
        .process.user.uid = 1000'
    inside '/mnt/id -u'
    eq "$output" 1000
    edit '.mounts[-1].options = ["bind", "nosymfollow"]'
    inside 'cat /mnt/link'
    match "$output" '(loop|symbolic links)'
}

@test "a bind of a folder, of a file, read-write and read-only" {
    mkdir "$TMP/dir"
    echo content >"$TMP/dir/file"
    add_mount /mnt bind "$TMP/dir" bind
    add_mount /etc/hosts bind "$TMP/dir/file" bind ro
    inside 'cat /mnt/file /etc/hosts; echo new >/mnt/made; echo bad >/etc/hosts'
    match "$output" '^content'
    match "$output" 'hosts: Read-only'
    eq "$(cat "$TMP/dir/made")" new
    eq "$(cat "$TMP/dir/file")" content
}

@test "a source relative to the bundle" {
    mkdir "$BUNDLE/data"
    echo relative >"$BUNDLE/data/file"
    add_mount /mnt none data rbind
    inside 'cat /mnt/file'
    rc 0
    eq "$output" relative
}

@test "bind takes one mount, rbind the tree below" {
    mkdir -p "$TMP/source/sub"
    mount -t tmpfs sub "$TMP/source/sub"
    touch "$TMP/source/sub/inner"
    add_mount /mnt bind "$TMP/source" bind
    inside 'ls /mnt/sub'
    eq "$output" ""
    edit '.mounts[-1].options = ["rbind"]'
    inside 'ls /mnt/sub'
    eq "$output" inner
    umount "$TMP/source/sub"
}

@test "ro is for one mount, rro for all below; so with the other recursive flags" {
    mkdir -p "$TMP/source/sub"
    mount -t tmpfs sub "$TMP/source/sub"
    add_mount /mnt bind "$TMP/source" rbind ro
    inside 'touch /mnt/x; touch /mnt/sub/x && echo sub'
    match "$output" '/mnt/x: Read-only'
    match "$output" '^sub$'
    edit '.mounts[-1].options = ["rbind", "rro"]'
    inside 'touch /mnt/x; touch /mnt/sub/y'
    match "$output" '/mnt/x: Read-only'
    match "$output" '/mnt/sub/y: Read-only'
    for o in rnosuid rnodev rnoexec rnoatime rnodiratime rnosymfollow; do
        edit --arg o $o '.mounts[-1].options = ["rbind", $o]'
        inside 'grep " /mnt" /proc/self/mountinfo | cut -d" " -f5,6'
        rc 0
        match "$output" "^/mnt .*${o#r}"
        match "$output" "^/mnt/sub .*${o#r}"
    done
    edit '.mounts[-1].options = ["rbind", "rro", "rrw", "rnosuid", "rsuid", "rnodev", "rdev",
        "rnoexec", "rexec", "rnodiratime", "rdiratime", "rrelatime", "rnosymfollow", "rsymfollow"]'
    inside 'grep " /mnt" /proc/self/mountinfo | cut -d" " -f6'
    eq "$output" $'rw,relatime\nrw,relatime'
    for o in rstrictatime ratime rnorelatime rnostrictatime; do
        edit --arg o $o '.mounts[-1].options = ["rbind", $o]'
        inside true
        rc 0
    done
    umount "$TMP/source/sub"
}

@test "a bind keeps the flags its source has, unless told otherwise" {
    mkdir "$TMP/source"
    mount -t tmpfs -o nosuid,noexec source "$TMP/source"
    add_mount /mnt bind "$TMP/source" bind
    inside 'grep " /mnt " /proc/self/mountinfo | cut -d" " -f6'
    match "$output" '^rw,nosuid,noexec'
    edit '.mounts[-1].options = ["bind", "exec", "suid"]'
    inside 'grep " /mnt " /proc/self/mountinfo | cut -d" " -f6'
    no_match "$output" 'nosuid|noexec'
    umount "$TMP/source"
}

@test "remount changes what is there" {
    add_mount /mnt tmpfs tmpfs rw
    add_mount /mnt none none remount ro nosuid
    inside 'grep " /mnt " /proc/self/mountinfo | cut -d" " -f6'
    rc 0
    match "$output" '^ro,nosuid'
}

@test "tmpfs: size, mode, owner, inodes" {
    add_mount /mnt tmpfs tmpfs size=1m mode=1757 uid=5 gid=6 nr_inodes=10
    inside 'df -k /mnt | tail -n1 | tr -s " " | cut -d" " -f2; stat -c "%a %u %g" /mnt
        for i in 1 2 3 4 5 6 7 8 9 10 11 12; do touch /mnt/$i || break; done
        dd if=/dev/zero of=/mnt/1 bs=64k count=100'
    match "$output" '^1024$'
    match "$output" '^1757 5 6$'
    eq "$(grep -c 'No space left' <<<"$output")" 2
}

@test "tmpfs: without a mode it takes that of the folder it covers" {
    mkdir -m 711 "$BUNDLE/rootfs/covered"
    add_mount /covered tmpfs tmpfs
    inside 'stat -c %a /covered'
    eq "$output" 711
    rmdir "$BUNDLE/rootfs/tmp"
    mkdir -m 1777 "$BUNDLE/rootfs/tmp"
    add_mount /tmp tmpfs tmpfs nosuid
    inside 'stat -c %a /tmp'
    eq "$output" 1777
}

@test "tmpcopyup starts with what the folder held" {
    mkdir -p "$BUNDLE/rootfs/data/deep"
    echo one >"$BUNDLE/rootfs/data/file"
    echo two >"$BUNDLE/rootfs/data/deep/file"
    ln -s file "$BUNDLE/rootfs/data/link"
    chown 1000:50 "$BUNDLE/rootfs/data/file"
    chmod 646 "$BUNDLE/rootfs/data/file"
    add_mount /data tmpfs tmpfs tmpcopyup
    inside 'cat /data/deep/file /data/link; stat -c "%a %u %g" /data/file; echo new >/data/file'
    rc 0
    eq "$output" $'two\none\n646 1000 50'
    eq "$(cat "$BUNDLE/rootfs/data/file")" one
}

@test "missing targets are made: a folder for folders, a file for files" {
    touch "$TMP/file"
    edit '.root.readonly = false'
    add_mount /new/dir tmpfs tmpfs
    add_mount /new2/deep/file bind "$TMP/file" bind
    inside 'stat -c "%F %a" /new /new2/deep; stat -c "%F" /new2/deep/file'
    rc 0
    eq "$output" $'directory 755\ndirectory 755\nregular empty file'
    (umask 077 && inside true)
    rm -r "$BUNDLE/rootfs/new"
    (umask 077 && inside 'stat -c %a /new' && eq "$output" 755)
}

@test "the listed order is kept: a later mount hides an earlier" {
    mkdir "$TMP/a" "$TMP/b"
    touch "$TMP/a/A" "$TMP/b/B"
    add_mount /mnt bind "$TMP/a" bind
    add_mount /mnt bind "$TMP/b" bind
    inside 'ls /mnt'
    eq "$output" B
}

@test "a mount below an earlier mount" {
    mkdir "$TMP/a"
    touch "$TMP/file"
    add_mount /mnt bind "$TMP/a" bind
    add_mount /mnt/sub tmpfs tmpfs
    add_mount /mnt/file bind "$TMP/file" bind
    inside 'ls /mnt'
    rc 0
    eq "$output" $'file\nsub'
    [ -d "$TMP/a/sub" ]
}

@test "a destination through symlinks stays in the root" {
    mkdir "$TMP/canary" "$TMP/source"
    echo secret >"$TMP/canary/secret"
    touch "$TMP/source/marker"
    ln -s "$TMP/canary" "$BUNDLE/rootfs/absolute"
    ln -s "../../../../../../../..$TMP/canary" "$BUNDLE/rootfs/climbing"
    ln -s loop2 "$BUNDLE/rootfs/loop1"
    ln -s loop1 "$BUNDLE/rootfs/loop2"
    ln -s srv/real "$BUNDLE/rootfs/inner"
    mkdir "$BUNDLE/rootfs/srv/real"
    edit '.root.readonly = false'
    before=$(stat -c '%Y %Z' "$TMP/canary" "$TMP/canary/secret")
    for dest in /absolute /absolute/new /climbing /climbing/x; do
        cp "$BUNDLE/config.json" "$TMP/saved"
        add_mount "$dest" bind "$TMP/source" bind
        inside "ls $dest"
        [ "$status" -ne 0 ] || eq "$output" marker
        cp "$TMP/saved" "$BUNDLE/config.json"
    done
    eq "$(stat -c '%Y %Z' "$TMP/canary" "$TMP/canary/secret")" "$before"
    eq "$(ls "$TMP/canary")" secret
    add_mount /inner bind "$TMP/source" bind
    inside 'ls /srv/real'
    eq "$output" marker
    edit '.mounts[-1].destination = "/loop1/x"'
    inside true
    rc 1
    match "$output" 'mounts?\[?'
}

@test "a destination with .. does not leave the root" {
    add_mount /../../../srv bind "$TMP" bind
    inside 'ls -d /srv/bundle'
    rc 0
}

@test "a destination that cannot be: below a file, a folder on a file, a file on a folder" {
    touch "$TMP/file"
    mkdir "$TMP/dir"
    for m in "/etc/passwd/x dir" "/etc/passwd dir" "/etc file"; do
        cp "$BUNDLE/config.json" "$TMP/saved"
        add_mount "${m% *}" bind "$TMP/${m#* }" bind
        inside true
        refused 'mounts|/etc'
        cp "$TMP/saved" "$BUNDLE/config.json"
    done
}

@test "a destination of / is refused" {
    add_mount / tmpfs tmpfs
    inside true
    refused 'mounts\[7\]|destination'
}

@test "proc and sysfs go on plain folders only" {
    mkdir "$BUNDLE/rootfs/evil"
    for name in proc sys; do
        rmdir "$BUNDLE/rootfs/$name"
        ln -s /evil "$BUNDLE/rootfs/$name"
        inside true
        refused "/$name"
        rm "$BUNDLE/rootfs/$name"
        mkdir "$BUNDLE/rootfs/$name"
    done
}

@test "nothing but procfs goes on /proc, and below it only known files" {
    mkdir "$TMP/fake"
    touch "$TMP/file"
    for m in "/proc $TMP/fake" "/proc/self $TMP/fake" "/proc/1 $TMP/fake" \
        "/proc/self/attr $TMP/fake" "/proc/sys $TMP/fake"; do
        cp "$BUNDLE/config.json" "$TMP/saved"
        # shellcheck disable=SC2086
        add_mount ${m% *} bind "${m#* }" bind
        inside true
        refused '/proc'
        cp "$TMP/saved" "$BUNDLE/config.json"
    done
    echo 'MemTotal: 7 kB' >"$TMP/file"
    add_mount /proc/meminfo bind "$TMP/file" bind
    inside 'cat /proc/meminfo'
    rc 0
    eq "$output" 'MemTotal: 7 kB'
}

@test "a source that is missing: the error names the mount, and is not taken for the payload's" {
    add_mount /mnt bind "$TMP/nothing" bind
    inside true
    refused 'mounts?[ \[]7'
    match "$output" "$TMP/nothing"
    no_match "$output" '([Nn]o such file or directory|[Pp]ermission denied)$'
}

@test "sources of every type: fifo, socket, device, symlink" {
    mkfifo "$TMP/fifo"
    mknod "$TMP/device" c 1 5
    ln -s /etc/passwd "$TMP/link"
    "$PROBE" console "$TMP/socket" </dev/null 3>&- &
    wait_for 5 test -S "$TMP/socket"
    add_mount /srv/fifo bind "$TMP/fifo" bind
    add_mount /srv/device bind "$TMP/device" bind
    add_mount /srv/link bind "$TMP/link" bind
    add_mount /srv/socket bind "$TMP/socket" bind
    edit '.root.readonly = false'
    inside 'stat -c %F /srv/fifo /srv/device /srv/link /srv/socket'
    kill $!
    wait $! || true
    rc 0
    eq "$output" $'fifo\ncharacter special file\nregular file\nsocket'
}

@test "options and types that do not exist are refused, naming the mount" {
    add_mount /mnt tmpfs tmpfs nosiud
    inside true
    refused 'mounts?[ \[]7'
    edit '.mounts[-1] = {destination: "/mnt", type: "tmpsf", source: "x"}'
    inside true
    refused 'mounts?[ \[]7'
    edit --arg s "$TMP" '.mounts[-1] = {destination: "/mnt", source: $s, options: ["bind", "raed"]}'
    inside true
    refused 'mounts?[ \[]7'
}

@test "propagation of a mount: private, shared, slave, unbindable" {
    for pair in private: rprivate: shared:shared rshared:shared slave:master rslave:master \
        unbindable:unbindable; do
        cp "$BUNDLE/config.json" "$TMP/saved"
        add_mount /mnt bind "$TMP" rbind "${pair%:*}"
        inside 'grep " /mnt " /proc/self/mountinfo'
        rc 0
        cp "$TMP/saved" "$BUNDLE/config.json"
        case $pair in
        *private:) no_match "$output" '(shared|master|unbindable)' ;;
        *) match "$output" "${pair#*:}" ;;
        esac
    done
}

@test "rslave receives later mounts of the host; private does not" {
    mkdir "$TMP/source"
    mount -t tmpfs source "$TMP/source"
    mkdir "$TMP/source/sub"
    add_mount /mnt bind "$TMP/source" rbind rslave
    add_mount /srv bind "$TMP/source" rbind rprivate
    running
    mount -t tmpfs later "$TMP/source/sub"
    touch "$TMP/source/sub/late"
    try rt exec "$ID" sh -c 'ls /mnt/sub; ls /srv/sub'
    rc 0
    eq "$output" late
    umount "$TMP/source/sub"
    rt delete -f "$ID"
    umount "$TMP/source"
}

@test "rshared gives the host what the container mounts, and only that" {
    mkdir "$TMP/source"
    mount -t tmpfs source "$TMP/source"
    mount --make-shared "$TMP/source"
    mkdir "$TMP/source/sub"
    add_mount /mnt bind "$TMP/source" rbind rshared
    edit '.linux.rootfsPropagation = "rshared"'
    edit '.process.capabilities |= map_values (["CAP_SYS_ADMIN"])'
    script 'mount -t tmpfs inner /mnt/sub && sleep 1000'
    created
    rt start "$ID"
    wait_for 5 grep -q "$TMP/source/sub" /proc/self/mountinfo
    rt delete -f "$ID"
    umount "$TMP/source/sub"
    umount "$TMP/source"
}

@test "no mounts at all: the payload still starts" {
    edit '.mounts = [] | .linux.maskedPaths = [] | .linux.readonlyPaths = []'
    inside 'echo up'
    rc 0
    eq "$output" up
    edit 'del (.mounts)'
    inside 'echo up'
    eq "$output" up
}

@test "the file systems of the spec are what they should be" {
    inside 'grep -E " /(proc|dev|dev/pts|dev/shm|dev/mqueue|sys) " \
        /proc/self/mountinfo | sed "s/^\([^ ]* \)\{4\}\([^ ]*\) \([^ ]*\) .*- \([^ ]*\) .*/\2 \4 \3/"'
    rc 0
    match "$output" '^/proc proc rw'
    match "$output" '^/dev tmpfs rw,nosuid'
    match "$output" '^/dev/pts devpts rw,nosuid,noexec'
    match "$output" '^/dev/shm tmpfs rw,nosuid,nodev,noexec'
    match "$output" '^/dev/mqueue mqueue rw,nosuid,nodev,noexec'
    match "$output" '^/sys sysfs ro,nosuid,nodev,noexec'
}

@test "cgroup: the container sees its own cgroups, read-only" {
    inside 'ls /sys/fs/cgroup; touch /sys/fs/cgroup/x; mkdir /sys/fs/cgroup/memory/x
        cat /sys/fs/cgroup/memory/cgroup.procs | wc -l; ls /sys/fs/cgroup/memory | grep -c release'
    match "$output" '^memory$'
    match "$output" 'touch:.*(Read-only|denied)'
    match "$output" 'mkdir:.*Read-only'
}

@test "idmap: a bind with mappings of its own" {
    mkdir "$TMP/source"
    touch "$TMP/source/file"
    chown 5:6 "$TMP/source/file"
    edit --arg s "$TMP/source" '.mounts += [{destination: "/mnt", type: "bind", source: $s,
        options: ["bind", "idmap"],
        uidMappings: [{containerID: 0, hostID: 1000, size: 100}],
        gidMappings: [{containerID: 0, hostID: 2000, size: 100}]}]'
    inside 'stat -c "%u %g" /mnt/file'
    rc 0
    eq "$output" "1005 2006"
}

@test "idmap: halves of a mapping, and idmap without any, are refused" {
    for f in 'del (.mounts[-1].uidMappings)' 'del (.mounts[-1].gidMappings)' \
        'del (.mounts[-1].gidMappings, .mounts[-1].uidMappings)'; do
        cp "$BUNDLE/config.json" "$TMP/saved"
        edit --arg s "$TMP" '.mounts += [{destination: "/mnt", type: "bind", source: $s,
            options: ["bind", "idmap"],
            uidMappings: [{containerID: 0, hostID: 1000, size: 100}],
            gidMappings: [{containerID: 0, hostID: 2000, size: 100}]}]'
        edit "$f"
        inside true
        refused 'mounts?[ \[]7'
        cp "$TMP/saved" "$BUNDLE/config.json"
    done
}

@test "300 mounts" {
    edit '.mounts += [range (300) | {destination: "/mnt/\(.)", type: "tmpfs", source: "t\(.)",
        options: ["size=4k"]}]'
    add_mount /mnt tmpfs tmpfs
    edit '.mounts |= .[:7] + [.[-1]] + .[7:-1]'
    inside 'grep -c " /mnt/" /proc/self/mountinfo'
    rc 0
    eq "$output" 300
}

# many N: N binds of one file.
many ()
{
    echo content >"$TMP/file"
    edit --argjson n "$1" --arg s "$TMP/file" '.mounts += [range ($n) | {destination: "/mnt/\(.)",
        type: "bind", source: $s, options: ["bind", "ro"]}]'
}

# in_limits SOFT HARD COMMAND...: with these numbers of open files.
in_limits ()
{
    # shellcheck disable=SC2016
    bash -c 'ulimit -Sn "$1"; ulimit -Hn "$2"; shift 2; exec "$@"' - "$@"
}

@test "1500 bind mounts with 1024 descriptors; the process has the caller's limits" {
    many 1500
    add_mount /shared bind "$TMP" rbind rslave # one that only the parent can open, at the end
    edit 'del (.process.rlimits)'
    script 'ulimit -Sn; ulimit -Hn; grep -c " /mnt/" /proc/self/mountinfo; cat /mnt/1499
        grep -c " /mnt/[0-9]* ro,.* - " /proc/self/mountinfo
        grep " /shared .* master:" /proc/self/mountinfo | wc -l; ls /proc/self/fd | wc -l'
    try in_limits 1024 1024 "$AGENTRT" --root "$ROOT" run -b "$BUNDLE" "$ID"
    rc 0
    eq "$output" "$(printf '%s\n' 1024 1024 1500 content 1500 1 4)"
    try in_limits 300 2048 "$AGENTRT" --root "$ROOT" run -b "$BUNDLE" "$ID"
    rc 0
    eq "$output" "$(printf '%s\n' 300 2048 1500 content 1500 1 4)"
}

@test "more binds into a user namespace than descriptors: an error that says what to raise" {
    many 400
    userns
    try in_limits 300 300 "$AGENTRT" --root "$ROOT" run -b "$BUNDLE" "$ID"
    refused 'more open files than the runtime may have: raise its limit \(ulimit -n\)'
}

# in_userns COMMAND...: as root of a new user namespace, where a part of /sys is covered for good.
# Sets status and output as try does.
in_userns ()
{
    local pid map
    # shellcheck disable=SC2016
    unshare -m sh -c 'mount -t tmpfs cover /sys/kernel && exec unshare -Um sh -c "
        until grep -q . /proc/self/gid_map; do sleep 0.01; done; exec \"\$@\"" - "$@"' - "$@" \
        </dev/null >"$TMP/output" 2>&1 3>&- &
    pid=$!
    wait_for 5 differ /proc/self/ns/user "/proc/$pid/ns/user"
    for map in uid gid; do echo '0 0 65536' >"/proc/$pid/${map}_map"; done
    wait $pid && status=0 || status=$?
    output=$(<"$TMP/output")
}

differ ()
{
    [ "$(readlink "$1")" != "$(readlink "$2")" ]
}

@test "a sysfs that the kernel refuses is an error; the host's takes its place only where it must" {
    local run=("$AGENTRT" --root "$ROOT" --cgroup-manager disabled run -b "$BUNDLE" "$ID")
    script 'grep -c " /sys/kernel .* tmpfs" /proc/self/mountinfo; stat -f -c %T /sys'
    edit 'del (.linux.resources) | .mounts |= map (select (.type | IN ("proc", "sysfs")))'
    # A sysfs of its own would show what is covered.
    in_userns "${run[@]}"
    refused "/sys.*sysfs: the kernel refuses it"
    # Without a network namespace of its own, there can be none.
    without_ns network
    in_userns "${run[@]}"
    rc 0
    eq "$output" "$(printf '%s\n' 1 sysfs)"
}
