#!/usr/bin/env bats
# checkpoint and restore as far as they go without a kernel that criu knows: what criu is asked for,
# in which cgroup and with which streams, and what becomes of the container. criu is a script here.

load ../lib/helpers

prepare ()
{
    mkdir "$TMP/bin" "$TMP/data"
    cat >"$TMP/bin/criu" <<END
#!/bin/bash
# Says what it was called with, and does what the container's user would see of criu.
printf '%s\n' "\$@" >"$TMP/args"
cat /proc/self/cgroup >"$TMP/cgroup"
readlink /proc/\$\$/fd/0 /proc/\$\$/fd/2 >"$TMP/streams"
for a in "\$@"; do
    case \$a in
    --tree=*) pid=\${a#*=} ;;
    --work-dir=*) work=\${a#*=} ;;
    --pidfile=*) file=\${a#*=} ;;
    --root=*) ls "\${a#*=}" >"$TMP/root-seen" ;;
    --leave-running) stays=1 ;;
    esac
done
if [ -e "$TMP/fail" ]; then
    printf '(00.1) fine\n(00.2) Error (criu/x.c:1): boom\n(00.3) bye\n' >"\$work/\$1.log"
    exit 1
fi
case \$1 in
dump) [ "\${stays:-}" ] || { kill -9 "\$pid"; while [ -e "/proc/\$pid/exe" ]; do sleep 0.02; done; } ;;
restore)
    echo restored
    (sh -c 'echo \$\$ >"\$0"; sleep 0.3; exit 7' "\$file" &)
    [ ! -e "$TMP/long" ] || (exec sleep 1000 & echo \$! >"\$file")
    while [ ! -s "\$file" ]; do sleep 0.02; done ;;
esac
END
    chmod 755 "$TMP/bin/criu"
    OLD_PATH=$PATH
    export PATH=$TMP/bin:$PATH
    add_mount /data bind "$TMP/data" bind
    edit --arg p "/$MARK/box" '.linux.cgroupsPath = $p | .linux.maskedPaths = ["/proc/uptime", "/proc/fs"]'
}

teardown ()
{
    find /sys/fs/cgroup -depth -type d -name "$MARK" -exec rmdir {} \; 2>/dev/null || true
    finish_test
}

# asked WORD...: each is one word of criu's command line. unasked ERE: none is.
asked ()
{
    local w

    for w in "$@"; do grep -qxF -- "$w" "$TMP/args" || fail "not asked for: $w" "$(cat "$TMP/args")"; done
}

unasked ()
{
    no_match "$(cat "$TMP/args")" "$1"
}

@test "checkpoint: criu dumps init, and the container is gone" {
    running
    pid=$(cat "$TMP/pid")
    try rt checkpoint --image-path "$TMP/img" --work-path "$TMP/work" "$ID"
    rc 0
    eq "$(head -n 1 "$TMP/args")" dump
    asked --tree=$pid --images-dir="$TMP/img" --work-dir="$TMP/work" --log-file=dump.log \
        --manage-cgroups=soft '--external=mnt[/data]:/data' '--external=mnt[/proc/uptime]:/dev/null'
    unasked 'proc/fs|--leave-running|--tcp|--shell-job'
    eq "$(stat -c %a "$TMP/img")" 700
    try rt state "$ID"
    refused 'does not exist'
    eq "$(cat "$TMP/streams")" $'/dev/null\n/dev/null'
}

@test "checkpoint: every option reaches criu" {
    running
    cd "$TMP"
    mkdir checkpoint checkpoint/parent
    try rt checkpoint --leave-running --tcp-established --tcp-skip-in-flight --link-remap --ext-unix-sk \
        --shell-job --lazy-pages --status-fd 7 --page-server 10.0.0.1:99 --file-locks --auto-dedup \
        --parent-path parent --manage-cgroups-mode full --empty-ns network --network-lock skip "$ID"
    rc 0
    asked --leave-running --tcp-established --skip-in-flight --link-remap --ext-unix-sk --shell-job \
        --lazy-pages --status-fd=7 --page-server --address=10.0.0.1 --port=99 --file-locks \
        --auto-dedup --prev-images-dir=parent --manage-cgroups=full --empty-ns=net \
        --network-lock=skip --images-dir="$TMP/checkpoint"
    eq "$(status_of)" running
    try rt checkpoint --pre-dump "$ID"
    rc 0
    eq "$(head -n 1 "$TMP/args")" pre-dump
    asked --track-mem
    eq "$(status_of)" running
    try rt checkpoint --parent-path /abs "$ID"
    refused 'parent-path: must be relative'
    try rt checkpoint --page-server nowhere "$ID"
    refused 'is not ADDRESS:PORT'
    try rt checkpoint --empty-ns user "$ID"
    refused 'empty-ns'
    cd /
    rt delete -f "$ID"
}

@test "checkpoint: the pipes of the container are written down, and connected again by restore" {
    args sleep 1000
    rt create -b "$BUNDLE" --pid-file "$TMP/pid" "$ID" </dev/null 2>"$TMP/err" 3>&- | cat >/dev/null &
    wait_for 5 test -s "$TMP/pid"
    rt start "$ID"
    pipe=$(readlink "/proc/$(cat "$TMP/pid")/fd/1")
    match "$pipe" '^pipe:'
    rt checkpoint --image-path "$TMP/img" "$ID"
    wait
    eq "$(jq -c . "$TMP/img/descriptors.json")" "[\"/dev/null\",\"$pipe\",\"/dev/null\"]"
    touch "$TMP/long"
    try rt restore -d -b "$BUNDLE" --image-path "$TMP/img" "$ID"
    rc 0
    asked "--inherit-fd=fd[1]:$pipe"
    unasked 'fd\[0\]|fd\[2\]'
    rt delete -f "$ID"
}

@test "checkpoint: a failure of criu leaves the container as it was, and tells why" {
    running
    touch "$TMP/fail"
    try rt checkpoint --image-path "$TMP/img" "$ID"
    refused "criu failed: exit status 1: Error .criu/x.c:1.: boom .log file: $TMP/img/dump.log"
    eq "$(status_of)" running
    rt delete -f "$ID"
}

@test "checkpoint: created, stopped and unknown containers" {
    try rt checkpoint "$ID"
    refused 'container does not exist'
    args sleep 1000
    created
    try rt checkpoint --image-path "$TMP/img" "$ID"
    refused 'cannot be checkpointed in created state'
    rt kill "$ID" KILL
    wait_for 5 is_status stopped "$ID"
    try rt checkpoint --image-path "$TMP/img" "$ID"
    refused 'cannot be checkpointed in stopped state'
    rt delete "$ID"
}

@test "restore: detached, in the cgroup with its limits, with pid file and state" {
    mkdir "$TMP/img"
    echo '["/dev/null","/dev/null","/dev/null"]' >"$TMP/img/descriptors.json"
    edit '.linux.resources = {pids: {limit: 33}}'
    touch "$TMP/long"
    # As go-runc has it, and with what conmon adds.
    try rt restore --image-path "$TMP/img" --work-path "$TMP/work" --detach --pid-file "$TMP/pid" \
        --no-pivot -no-subreaper --no-new-keyring --bundle "$BUNDLE" "$ID"
    rc 0
    eq "$(head -n 1 "$TMP/args")" restore
    asked --restore-detached --restore-sibling "--external=mnt[/data]:$TMP/data" \
        "--cgroup-root=memory:/$MARK/box" "--external=mnt[/dev/null]:/dev/null" \
        "--root=$ROOT/$ID/criu-root"
    match "$(cat "$TMP/root-seen")" '^bin$'
    match "$(cat "$TMP/cgroup")" ":pids:/$MARK/box"
    match "$(cat "$TMP/cgroup")" "^0::/$MARK/box"
    eq "$(cat "$(host_cgroup pids)/pids.max")" 33
    eq "$(status_of)" running
    eq "$(rt state "$ID" | jq .pid)" "$(cat "$TMP/pid")"
    [ -d "$BUNDLE/rootfs/data" ]
    [ ! -e "$ROOT/$ID/criu-root" ]
    rt kill "$ID" KILL
    wait_for 5 is_status stopped "$ID"
    rt delete "$ID"
}

@test "restore: in the foreground, with the exit status" {
    mkdir "$TMP/img"
    echo '["","",""]' >"$TMP/img/descriptors.json"
    try rt restore --image-path "$TMP/img" -b "$BUNDLE" --tcp-close --tcp-established --file-locks \
        --lsm-profile apparmor:x --lsm-mount-context ctx --manage-cgroups-mode ignore "$ID"
    rc 7
    eq "$output" restored
    asked --tcp-close --tcp-established --file-locks --lsm-profile=apparmor:x --lsm-mount-context=ctx \
        --manage-cgroups=ignore
    try rt state "$ID"
    refused 'does not exist'
}

@test "restore: a failure leaves nothing" {
    mkdir "$TMP/img"
    try rt restore -b "$BUNDLE" --image-path "$TMP/img" "$ID"
    refused 'has no checkpoint'
    echo '["","",""]' >"$TMP/img/descriptors.json"
    touch "$TMP/fail"
    try rt restore -b "$BUNDLE" --image-path "$TMP/img" "$ID"
    refused "criu failed: .*boom .log file: $TMP/img/restore.log"
    [ ! -e "$ROOT/$ID" ]
    rm "$TMP/fail"
    edit '.hooks.prestart = [{path: "/bin/true"}]'
    try rt restore -b "$BUNDLE" --image-path "$TMP/img" "$ID"
    refused '/hooks/prestart: cannot run in a restore'
    edit 'del (.hooks) | .process.terminal = true'
    try rt restore -b "$BUNDLE" --image-path "$TMP/img" "$ID"
    refused '/process/terminal'
}

@test "restore: only under a policy that confines nothing" {
    mkdir "$TMP/img"
    echo '["","",""]' >"$TMP/img/descriptors.json"
    try rt --policy strict restore -b "$BUNDLE" --image-path "$TMP/img" "$ID"
    refused "restore: refused by rule '.*' of policy 'strict' .built in."
    [ ! -e "$TMP/args" ]
    for off in '{"noNewPrivileges": true}' '{"mounts": {"guard": true}}' '{"seccomp": "strict"}' \
        '{"rootfs": {"readonly": true}}' '{"limits": {"nofile": 1024}}'; do
        jq '. + {extend: "oci"}' <<<"$off" >"$TMP/p.json"
        chmod 644 "$TMP/p.json"
        try rt --policy "$TMP/p.json" restore -b "$BUNDLE" --image-path "$TMP/img" "$ID"
        refused "restore: refused by rule"
    done
    [ ! -e "$TMP/args" ]
    echo '{"extend": "oci", "limits": {"pids": 50}}' >"$TMP/p.json"
    try rt --policy "$TMP/p.json" restore -b "$BUNDLE" --image-path "$TMP/img" "$ID"
    rc 7
}

@test "without criu; and what engines look for beforehand" {
    running
    PATH=$OLD_PATH
    mkdir "$TMP/none"
    try env PATH="$TMP/none" "$AGENTRT" --root "$ROOT" checkpoint --image-path "$TMP/img" "$ID"
    refused 'the program criu is not in PATH'
    [ ! -e "$TMP/img" ]
    try rt checkpoint --help
    rc 0
    try rt restore --lsm-mount-context
    rc 1
    match "$output" 'flag needs an argument|requires an argument'
    rt delete -f "$ID"
}
