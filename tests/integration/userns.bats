#!/usr/bin/env bats
# User namespaces and id maps.

load ../lib/helpers

@test "the maps are as configured, and root inside is nobody outside" {
    userns 200000
    inside 'tr -s " " </proc/self/uid_map; tr -s " " </proc/self/gid_map; id -u; id -g'
    rc 0
    eq "$output" $' 0 200000 65536\n 0 200000 65536\n0\n0'
    running
    eq "$(awk '/^Uid/ { print $2, $3, $4, $5 }' "/proc/$(cat "$TMP/pid")/status")" \
        "200000 200000 200000 200000"
    eq "$(awk '/^Gid/ { print $2 }' "/proc/$(cat "$TMP/pid")/status")" 200000
    rt delete -f "$ID"
}

@test "several ranges" {
    userns
    edit '.linux.uidMappings = [{containerID: 0, hostID: 100000, size: 1},
        {containerID: 1, hostID: 300000, size: 10}, {containerID: 1000, hostID: 400000, size: 7}]'
    inside 'tr -s " " </proc/self/uid_map'
    rc 0
    eq "$output" $' 0 100000 1\n 1 300000 10\n 1000 400000 7'
}

@test "340 ranges, the most a kernel takes; 341 are refused" {
    userns 1000
    edit '.linux.uidMappings = [range (340) | {containerID: ., hostID: (1000 + 2 * .), size: 1}]'
    inside 'wc -l </proc/self/uid_map; tail -n1 /proc/self/uid_map | tr -s " "'
    rc 0
    eq "$output" $'340\n 339 1678 1'
    edit '.linux.uidMappings += [{containerID: 900, hostID: 9000, size: 1}]'
    inside true
    refused 'uidMappings|uid_map|uid map|mappings'
}

@test "maps that cannot be are refused" {
    userns
    local m
    for m in '[]' '[{"containerID":0,"hostID":100000,"size":0}]' \
        '[{"containerID":0,"hostID":100000,"size":10},{"containerID":5,"hostID":300000,"size":10}]' \
        '[{"containerID":0,"hostID":100000,"size":10},{"containerID":20,"hostID":100005,"size":9}]' \
        '[{"containerID":4294967290,"hostID":100000,"size":10}]' \
        '[{"containerID":0,"hostID":4294967290,"size":10}]' \
        '[{"containerID":-1,"hostID":100000,"size":10}]'; do
        edit --argjson m "$m" '.linux.uidMappings = $m'
        inside true
        refused '[uU]id ?_?[mM]ap|mapping'
    done
}

@test "a user namespace without maps, and maps without a user namespace, are refused" {
    userns
    edit 'del (.linux.uidMappings, .linux.gidMappings)'
    inside true
    refused 'user|[mM]apping'
}

@test "a user that no range holds is refused" {
    userns
    edit '.process.user.uid = 70000'
    inside id
    refused 'user|uid|mapped|70000'
}

@test "user, group and additional groups are those inside" {
    userns
    edit '.process.user = {uid: 1000, gid: 50, additionalGids: [5, 60]}'
    inside 'id -u; id -g; id -G'
    rc 0
    eq "$output" $'1000\n50\n50 5 60'
    running
    eq "$(awk '/^Groups/ { print $2, $3, $4 }' "/proc/$(cat "$TMP/pid")/status" | sed 's/ *$//')" \
        "100005 100060"
    rt delete -f "$ID"
}

@test "devices are there and work" {
    userns
    inside 'echo x >/dev/null && head -c4 /dev/zero | wc -c; stat -c "%t:%T" /dev/null'
    rc 0
    eq "$output" $'4\n1:3'
}

@test "the root and mounts are read-only where asked, and what is locked stays locked" {
    userns
    mkdir "$TMP/source"
    mount -t tmpfs -o nosuid,nodev,noexec,mode=777 source "$TMP/source"
    add_mount /mnt bind "$TMP/source" bind ro
    inside 'touch /x /mnt/x; grep " /mnt " /proc/self/mountinfo | cut -d" " -f6'
    match "$output" '/x: Read-only'
    match "$output" '/mnt/x: Read-only'
    match "$output" '^ro,nosuid,nodev,noexec'
    umount "$TMP/source"
}

@test "the payload has the capabilities inside and none outside" {
    userns
    edit '.process.capabilities |= map_values (["CAP_SYS_ADMIN", "CAP_CHOWN"])'
    inside 'grep CapEff /proc/self/status; chown 5:5 /tmp/x 2>&1; hostname other && hostname'
    rc 0
    match "$output" '0000000000200001'
    match "$output" '^other$'
    no_match "$(uname -n)" '^other$'
}

@test "exec enters the user namespace" {
    userns
    running
    try rt exec "$ID" sh -c 'id -u; tr -s " " </proc/self/uid_map'
    rc 0
    eq "$output" $'0\n 0 100000 65536'
    rt delete -f "$ID"
}
