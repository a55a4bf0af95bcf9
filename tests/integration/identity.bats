#!/usr/bin/env bats
# Policy `identity` and the built-in policy `system`: whose ids a container runs under, seen from
# inside and from the host. With IDENTITY=off in the environment the control is off, and the tests of
# what it does must fail.

load ../lib/helpers

# The cage shares /etc with the host: it gets files of its own.
prepare ()
{
    cp -a /etc "$TMP/etc"
    printf 'agentrt:1000000000:131072\n' | tee "$TMP/etc/subuid" >"$TMP/etc/subgid"
    chmod 644 "$TMP/etc/subuid" "$TMP/etc/subgid"
    mount --bind "$TMP/etc" /etc
    mkdir -p "$TMP/policies"
    echo '{"extend": "oci", "identity": "userns"}' >"$TMP/policies/userns.json"
    echo '{"extend": "oci", "identity": "unprivileged"}' >"$TMP/policies/unprivileged.json"
    echo '{"extend": "oci"}' >"$TMP/policies/off.json"
}

teardown ()
{
    umount /etc
    rm -rf /run/agentrt/.ids
    rmdir /run/agentrt 2>/dev/null || true
    finish_test
}

# id_rt POLICY ARGUMENT...
id_rt ()
{
    local policy=$1

    shift
    rt --policy "$TMP/policies/${IDENTITY:-$policy}.json" "$@"
}

@test "userns: an own range, and files keep their owners" {
    edit '.root.readonly = false'
    script 'cat /proc/self/uid_map /proc/self/gid_map; touch /new
        stat -c "%u %n" /etc/passwd /home/user'
    try id_rt userns run -b "$BUNDLE" "$ID"
    rc 0
    eq "$(tr -s ' ' <<<"$output")" " 0 1000000000 65536
 0 1000000000 65536
0 /etc/passwd
1000 /home/user"
    eq "$(stat -c %u "$BUNDLE/rootfs/new")" 0
}

@test "userns: a bind keeps its owners, too" {
    mkdir "$TMP/work"
    chown 1000 "$TMP/work"
    add_mount /mnt bind "$TMP/work" rbind rw
    edit '.process.user = {uid: 1000, gid: 1000}'
    script 'touch /mnt/x; stat -c %u /mnt /mnt/x'
    try id_rt userns run -b "$BUNDLE" "$ID"
    rc 0
    eq "$output" "1000
1000"
    eq "$(stat -c %u "$TMP/work/x")" 1000
}

@test "userns: two have disjoint ranges, the third finds none until one of them has gone" {
    args sleep 1000
    for i in 1 2; do
        id_rt userns create -b "$BUNDLE" --pid-file "$TMP/pid$i" "$ID-$i" </dev/null \
            >"$TMP/log" 2>&1 3>&-
    done
    eq "$(cat "/proc/$(cat "$TMP/pid1")/uid_map" "/proc/$(cat "$TMP/pid2")/uid_map" | tr -s ' ')" \
        " 0 1000000000 65536
 0 1000065536 65536"
    script 'cat /proc/self/uid_map'
    try id_rt userns run -b "$BUNDLE" "$ID-3"
    refused 'other containers have all 2 ranges'
    rt delete -f "$ID-1"
    try id_rt userns run -b "$BUNDLE" "$ID-3"
    rt delete -f "$ID-2"
    eq "$(tr -s ' ' <<<"$output")" " 0 1000000000 65536"
}

@test "userns: no range, or one that others can write, is refused with the fix" {
    : >/etc/subgid
    try id_rt userns run -b "$BUNDLE" "$ID"
    refused "/etc/subgid has no 65536 ids for the user 'agentrt': add a line"
    chmod 666 /etc/subuid
    try id_rt userns run -b "$BUNDLE" "$ID"
    refused "/etc/subuid must be root's"
}

@test "userns: explain shows what a start does, and says whether there is a range" {
    try id_rt userns explain -b "$BUNDLE"
    rc 0
    match "$output" 'added +/linux/uidMappings .* 0 to a range of the container.s own \(65536\)'
    match "$output" 'identity: a start takes a range that no other container has'
    match "$output" '[0-9]\. idmaps'
    [ ! -e /run/agentrt/.ids ] || fail "a range was taken"
    : >/etc/subgid
    try id_rt userns explain -b "$BUNDLE"
    rc 0
    match "$output" "so a start fails: /etc/subgid has no 65536 ids for the user 'agentrt': add a line"
    match "$output" '[0-9]\. idmaps'
}

@test "userns: the engine's own stays" {
    userns 300000
    script 'cat /proc/self/uid_map'
    try id_rt userns run -b "$BUNDLE" "$ID"
    rc 0
    eq "$(tr -s ' ' <<<"$output")" " 0 300000 65536"
}

@test "userns: a file system that cannot map ids is named" {
    mkdir "$TMP/u" "$TMP/w" "$TMP/m"
    mount -t overlay -o "lowerdir=$BUNDLE/rootfs,upperdir=$TMP/u,workdir=$TMP/w" o "$TMP/m"
    edit --arg r "$TMP/m" '.root.path = $r'
    script true
    try id_rt userns run -b "$BUNDLE" "$ID"
    umount "$TMP/m"
    refused '/root/path .*/m.*the file system overlay cannot'
}

@test "unprivileged: uid 0 is refused, another runs" {
    script 'id -u'
    try id_rt unprivileged run -b "$BUNDLE" "$ID"
    refused 'uid 0 is refused'
    edit '.process.user = {uid: 1000, gid: 1000}'
    try id_rt unprivileged run -b "$BUNDLE" "$ID"
    rc 0
    eq "$output" 1000
}

@test "system: an init in its own user namespace makes cgroups of its own" {
    add_mount /sys/fs/cgroup cgroup cgroup rw nosuid nodev noexec
    edit '.root.readonly = false'
    script 'echo $$; sed -n 1p /proc/self/uid_map | tr -s " "; cd /sys/fs/cgroup
        for d in pids memory .; do
            [ ! -e $d/cgroup.procs ] || { mkdir $d/sub && echo made; break; }
        done'
    try rt --policy system run -b "$BUNDLE" "$ID"
    rc 0
    eq "$output" "1
 0 1000000000 65536
made"
}
