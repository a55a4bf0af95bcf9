#!/usr/bin/env bats
# mounts add and remove: what a running container gets, and what its policy says about it.

load ../lib/helpers

prepare ()
{
    mkdir "$TMP/project" "$TMP/project/sub"
    echo hello >"$TMP/project/file"
    mkdir "$BUNDLE/rootfs/data"
}

# mounts add|remove MOUNT...: each as "DESTINATION TYPE SOURCE OPTION...".
mounts ()
{
    local act=$1 m words

    shift
    for m in "$@"; do
        read -ra words <<<"$m"
        jq -n '$ARGS.positional | {destination: .[0], type: .[1], source: .[2], options: .[3:]}' \
            --args -- "${words[@]}"
    done | jq -s . >"$TMP/mounts.json"
    try rt mounts "$act" "$ID" "$TMP/mounts.json"
}

# seen DESTINATION: its line of the container's mountinfo, from the options on.
seen ()
{
    rt exec "$ID" grep " $1 " /proc/self/mountinfo | cut -d ' ' -f 6-
}

gone ()
{
    rt delete -f "$ID"
}

# started POLICY
started ()
{
    args sleep 1000
    rt --policy "$1" run -d -b "$BUNDLE" --pid-file "$TMP/pid" "$ID" </dev/null >/dev/null 3>&-
}

@test "binds, a folder and a file, and a tmpfs; and away again" {
    edit '.root.readonly = false'
    running
    before=$(rt exec "$ID" cat /proc/self/mountinfo)
    mounts add "/data none $TMP/project rbind ro" "/new/file none $TMP/project/file bind" \
        '/scratch tmpfs tmpfs size=1m noexec mode=700'
    rc 0
    eq "$(rt exec "$ID" cat /data/file /new/file)" $'hello\nhello'
    try rt exec "$ID" touch /data/x
    match "$output" 'Read-only file system'
    match "$(seen /scratch)" 'noexec.* - tmpfs .*size=1024k,.*mode=700'
    [ "$(awk -v d="$BUNDLE/rootfs/data" '$5 == d' /proc/self/mountinfo)" = "" ]
    printf '[{"destination": "/data"}, {"destination": "/new/file"}, {"destination": "/scratch"}]' \
        >"$TMP/mounts.json"
    rt mounts remove "$ID" "$TMP/mounts.json"
    eq "$(rt exec "$ID" cat /proc/self/mountinfo)" "$before"
    gone
}

@test "all or nothing" {
    running
    before=$(rt exec "$ID" cat /proc/self/mountinfo)
    mounts add "/data none $TMP/project bind" "/srv none $TMP/nowhere bind"
    refused '/mounts\[1\] .*nowhere. does not exist'
    mounts add "/data none $TMP/project bind" "/srv none $TMP/project/file bind"
    refused '/mounts\[1\] on ./srv.: a file cannot be mounted on a folder'
    mounts add "/data none $TMP/project bind" '/srv tmpfs tmpfs size=nonsense'
    refused '/mounts\[1\] on ./srv.: .*size'
    eq "$(rt exec "$ID" cat /proc/self/mountinfo)" "$before"
    gone
}

@test "a destination stays below the root, whatever links say" {
    edit '.root.readonly = false'
    ln -s "$TMP/outside" "$BUNDLE/rootfs/link"
    ln -s ../../../../data "$BUNDLE/rootfs/up"
    mkdir "$TMP/outside"
    running
    mounts add "/link/x none $TMP/project bind" "/up none $TMP/project bind"
    rc 0
    eq "$(ls "$TMP/outside")" ""
    eq "$(rt exec "$ID" cat "$TMP/outside/x/file" /data/file)" $'hello\nhello'
    gone
}

@test "what is masked or read-only stays so, under every policy" {
    ln -s /proc "$BUNDLE/rootfs/p"
    edit '.linux.maskedPaths = ["/proc/kcore", "/sys/firmware", "/data/secret"] |
        .linux.readonlyPaths = ["/proc/sys"]'
    mkdir "$BUNDLE/rootfs/data/secret"
    running
    for m in "/proc/sys none x remount rw" "/data none $TMP/project bind" \
        "/data/secret tmpfs tmpfs" "/data/secret/below tmpfs tmpfs" "/sys none $TMP/project bind"; do
        mounts add "$m"
        refused 'refused: .* lay .* open'
    done
    mounts add "/p none $TMP/project bind"
    refused 'refused'
    mounts remove '/data/secret none x'
    refused 'refused: .* lay .* open'
    for type in proc sysfs cgroup cgroup2; do
        mounts add "/srv $type $type"
        refused "a $type is only mounted when the container is made"
    done
    gone
}

@test "remove: not the root, not what the container was made with, not nothing" {
    add_mount /srv none "$TMP/project" bind
    running
    mounts remove '/ none x'
    refused 'root'
    mounts remove '/srv none x'
    refused 'made with'
    mounts remove '/data none x'
    refused 'nothing is mounted there'
    gone
}

@test "containers that are not there, created, or stopped; bad files" {
    mounts add "/data none $TMP/project bind"
    refused 'container does not exist'
    args sleep 1000
    created
    mounts add "/data none $TMP/project bind"
    refused 'container not running'
    rt kill "$ID" KILL
    wait_for 5 is_status stopped "$ID"
    mounts remove '/data none x'
    refused 'container not running'
    gone
    running
    for text in '{}' '[{"destination": 1}]' '[{}]' '[], "x": []' '[{"destination": ""}]' '' \
        '[{"destination": "/data", "type": "bind", "options": ["bind", "nonsense"]}]'; do
        printf '%s' "$text" >"$TMP/f"
        try rt mounts add "$ID" "$TMP/f"
        rc 1
        [ -n "$output" ]
    done
    try rt mounts add "$ID" "$TMP/nowhere"
    refused 'does not exist'
    try rt mounts replace "$ID" "$TMP/f"
    refused 'neither add nor remove'
    gone
}

@test "a user namespace: the mount is its own, and can be taken away" {
    userns
    edit '.root.readonly = false'
    running
    mounts add '/scratch tmpfs tmpfs' "/data none $TMP/project bind ro"
    rc 0
    rt exec "$ID" sh -c 'echo x >/scratch/x && cat /data/file'
    mounts remove '/data none x' '/scratch none x'
    rc 0
    gone
}

@test "strict: what create refuses" {
    started strict
    for m in '/data none / rbind' '/data none /etc bind' '/data none /proc rbind' \
        "/data none $ROOT bind"; do
        mounts add "$m"
        refused "policy .strict. .* .mount guard, "
    done
    mounts add '/data ext4 /dev/vda'
    refused "rule .mounts.type. of policy .strict."
    mounts add "/data none $TMP/project bind ro"
    rc 0
    mounts add '/data none none remount bind rw'
    refused "rule .mounts.remount. of policy .strict."
    try rt exec "$ID" touch /data/x
    match "$output" 'Read-only file system'
    gone
    # The same with the guard off; the command's own policy does not count.
    printf '{"mounts": {"guard": false}, "cgroup": "engine"}' >"$TMP/off.json"
    chmod 644 "$TMP/off.json"
    started "$TMP/off.json"
    mounts add '/data none /etc bind'
    rc 0
    mounts add '/data none none remount bind rw'
    rc 0
    gone
    started strict
    printf '[{"destination": "/data", "source": "/etc", "options": ["bind"]}]' >"$TMP/mounts.json"
    try rt --policy oci mounts add "$ID" "$TMP/mounts.json"
    refused "mount guard"
    gone
}

@test "strict: what create tightens" {
    started strict
    mounts add "/data none $TMP/project rbind suid dev exec shared" \
        '/data/sub tmpfs tmpfs suid dev size=100g'
    rc 0
    match "$(seen /data)" '^rw,nosuid,nodev'
    no_match "$(seen /data)" 'shared:|master:'
    match "$(seen /data/sub)" '^rw,nosuid,nodev.*size=65536k,nr_inodes=16384'
    gone
    started oci
    mounts add "/data none $TMP/project rbind suid dev exec" '/data/sub tmpfs tmpfs size=100m'
    rc 0
    no_match "$(seen /data)" 'nosuid|nodev'
    no_match "$(seen /data/sub)" 'nosuid|nodev|nr_inodes'
    match "$(seen /data/sub)" 'size=102400k'
    gone
}

@test "strict: a setuid program of a mount that was added gives nothing" {
    cp "$PROBE" "$TMP/project/probe"
    chmod 4755 "$TMP/project/probe"
    edit '.process.user = {uid: 1000, gid: 1000}'
    started strict
    mounts add "/data none $TMP/project bind"
    rc 0
    try rt exec "$ID" /data/probe syscall geteuid
    eq "$output" 'ok 1000'
    gone
    edit '.process.noNewPrivileges = false'
    started oci
    mounts add "/data none $TMP/project bind"
    try rt exec "$ID" /data/probe syscall geteuid
    eq "$output" 'ok 0'
    gone
}
