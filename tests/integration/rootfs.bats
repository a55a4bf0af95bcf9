#!/usr/bin/env bats
# The container's root: which folder, how it is mounted, and that the host's is out of reach.

load ../lib/helpers

@test "read-only, and writable" {
    edit '.root.readonly = true'
    inside 'touch /x'
    match "$output" 'Read-only file system'
    [ ! -e "$BUNDLE/rootfs/x" ]
    edit '.root.readonly = false'
    inside 'echo data >/x; grep " / / " /proc/self/mountinfo | cut -d" " -f6'
    rc 0
    no_match "$output" '^ro'
    eq "$(cat "$BUNDLE/rootfs/x")" data
    edit 'del (.root.readonly)'
    inside 'touch /y'
    rc 0
}

@test "a read-only root leaves the host's view writable" {
    edit '.root.readonly = true'
    running
    touch "$BUNDLE/rootfs/from-host"
    try rt exec "$ID" ls /from-host
    rc 0
    rt delete -f "$ID"
}

@test "every way to spell the path" {
    for path in rootfs ./rootfs/ rootfs// "$BUNDLE/rootfs" ./x/../rootfs; do
        mkdir -p "$BUNDLE/x"
        edit --arg p "$path" '.root.path = $p'
        inside 'echo here'
        rc 0
        eq "$output" here
    done
}

@test "a bundle that is its own root" {
    mv "$BUNDLE/config.json" "$BUNDLE/rootfs/"
    BUNDLE=$BUNDLE/rootfs
    edit '.root.path = "."'
    inside 'ls /config.json'
    rc 0
}

@test "a path that is missing, a file, empty or the host's root" {
    touch "$BUNDLE/file"
    for path in nowhere file "" /; do
        [ "$path" != / ] || continue
        edit --arg p "$path" '.root.path = $p'
        inside true
        refused 'root'
        no_match "$output" '[Nn]o such file or directory$'
    done
    edit 'del (.root)'
    inside true
    refused 'root'
}

@test "mountinfo shows only what the config asked for" {
    inside 'cut -d" " -f5 /proc/self/mountinfo | sort -u'
    rc 0
    allowed=$(jq -r '"/", (.mounts[].destination), (.linux.maskedPaths[]), (.linux.readonlyPaths[])' \
        "$BUNDLE/config.json")
    while read -r point; do
        case $point in /dev/* | /sys/fs/cgroup/*) continue ;; esac
        grep -qxF "$point" <<<"$allowed" || fail "unexpected mount at $point"
    done <<<"$output"
}

@test "the host's root is gone: neither .., nor /proc/1/root, nor the mount table reach it" {
    touch "$TMP/canary"
    inside "ls /../../../..$TMP /proc/1/root$TMP /proc/self/root/../..$TMP 2>&1 | sort -u"
    no_match "$output" canary
    inside 'cat /proc/self/mountinfo'
    no_match "$output" ' / / [a-z,]* .*- ext4'
    eq "$(awk '$5 == "/"' <<<"$output" | wc -l)" 1
}

@test "with --no-pivot the root is the rootfs as well" {
    script 'ls -d /bin/busybox; ls / | sort | tr "\n" " "'
    try rt run --no-pivot -b "$BUNDLE" "$ID"
    rc 0
    match "$output" busybox
    no_match "$output" '\bboot\b'
}

@test "with --no-pivot no procfs of the host is left that would justify an unmasked one" {
    # Three of them: the cage's, one on top of it, and one elsewhere.
    mkdir "$TMP/elsewhere"
    mount -t proc proc "$TMP/elsewhere"
    mount -t proc proc /proc
    edit '.process.capabilities = {bounding: ["CAP_SETFCAP"], permitted: ["CAP_SETFCAP"],
        effective: ["CAP_SETFCAP"]}'
    script 'unshare -mrpf sh -c "mount -t proc none /mnt && ls /mnt/1/comm"'
    try rt run --no-pivot -b "$BUNDLE" "$ID"
    umount /proc "$TMP/elsewhere"
    [ "$status" -ne 0 ]
    match "$output" 'mount: permission denied'
}

@test "rootfsPropagation: private unless asked" {
    local want
    for mode in "" private rprivate shared rshared slave rslave unbindable runbindable; do
        if [ "$mode" ]; then edit --arg m "$mode" '.linux.rootfsPropagation = $m'; fi
        inside 'grep "^[0-9]* [0-9]* [0-9]*:[0-9]* [^ ]* / " /proc/self/mountinfo'
        rc 0
        case $mode in
        "" | private | rprivate) no_match "$output" '(shared|master|unbindable)' ;;
        shared | rshared) match "$output" 'shared:' ;;
        unbindable | runbindable) match "$output" 'unbindable' ;;
        slave | rslave)
            no_match "$output" 'shared:'
            match "$output" 'master:'
            ;;
        esac
    done
    edit '.linux.rootfsPropagation = "sideways"'
    inside true
    refused 'rootfsPropagation|propagation'
}

@test "mounts made by the container stay in it, whatever its root's propagation" {
    edit '.process.capabilities |= map_values (["CAP_SYS_ADMIN"])'
    for mode in private shared slave; do
        edit --arg m "$mode" '.linux.rootfsPropagation = $m'
        before=$(cat /proc/self/mountinfo)
        inside 'mount -t tmpfs none /mnt && echo done'
        rc 0
        eq "$output" "done"
        eq "$(cat /proc/self/mountinfo)" "$before"
    done
}

@test "a rootfs that is itself a mount, also shared, read-only or nosuid" {
    mkdir "$TMP/mounted"
    mount -t tmpfs -o nosuid,nodev mounted "$TMP/mounted"
    cp -a "$BUNDLE/rootfs/." "$TMP/mounted"
    edit --arg p "$TMP/mounted" '.root.path = $p'
    before=$(cat /proc/self/mountinfo)
    for how in --make-shared --make-private --make-slave "-o remount,ro"; do
        # shellcheck disable=SC2086
        mount $how "$TMP/mounted"
        inside 'echo up'
        rc 0
        eq "$output" up
    done
    umount "$TMP/mounted"
}

@test "an overlay as rootfs" {
    mkdir "$TMP/upper" "$TMP/work" "$TMP/merged"
    mount -t overlay -o "lowerdir=$BUNDLE/rootfs,upperdir=$TMP/upper,workdir=$TMP/work" overlay \
        "$TMP/merged"
    edit --arg p "$TMP/merged" '.root.path = $p | .root.readonly = false'
    inside 'echo data >/x'
    rc 0
    eq "$(cat "$TMP/upper/x")" data
    umount "$TMP/merged"
}

@test "two containers at once on one rootfs" {
    running
    rt run -d -b "$BUNDLE" "$MARK-2" </dev/null >/dev/null 2>&1 3>&-
    eq "$(status_of "$MARK-2")" running
    rt delete -f "$ID"
    try rt exec "$MARK-2" echo still
    eq "$output" still
    rt delete -f "$MARK-2"
}
