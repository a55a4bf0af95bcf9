#!/usr/bin/env bats
# SCMP_ACT_NOTIFY: the descriptor reaches the agent, with the state, for every process of the
# container, wherever the filter is loaded.

load ../lib/helpers

prepare ()
{
    agent=0
    start_agent
}

teardown ()
{
    stop_agent
    finish_test
}

start_agent ()
{
    "$PROBE" agent "$TMP/agent.sock" >"$TMP/states" 2>&1 3>&- &
    agent=$!
    wait_for 10 test -S "$TMP/agent.sock"
}

stop_agent ()
{
    [ "$agent" = 0 ] || kill "$agent" 2>/dev/null || true
    [ "$agent" = 0 ] || wait "$agent" 2>/dev/null || true
    agent=0
}

# asking CALL...: these are the agent's to answer.
asking ()
{
    edit --arg s "$TMP/agent.sock" '.linux.seccomp = {defaultAction: "SCMP_ACT_ALLOW",
        listenerPath: $s, listenerMetadata: "meta \"x\"",
        syscalls: [{names: $ARGS.positional, action: "SCMP_ACT_NOTIFY"}]}' --args "$@"
}

privileged ()
{
    edit '.process.noNewPrivileges = false'
}

# told N FILTER: what the agent was told in its Nth state.
told ()
{
    sed -n "$1p" "$TMP/states" | jq -r "$2"
}

@test "run: the agent answers for the call, and is told whose it is" {
    for p in true false; do
        : >"$TMP/states"
        edit ".process.noNewPrivileges = $p | .annotations = {a: \"b\"}"
        asking mkdir mkdirat
        inside 'mkdir /tmp/x; ls -A /tmp; ls /proc/self/fd'
        rc 0
        eq "$output" $'mkdir: can\'t create directory \'/tmp/x\': No medium found\n0\n1\n2\n3'
        eq "$(told 1 '[.fds, .metadata, .state.id, .state.bundle, .state.annotations.a] | tojson')" \
            '[["seccompFd"],"meta \"x\"","'"$ID"'","'"$BUNDLE"'","b"]'
        eq "$(told 1 '.pid == .state.pid and .pid > 1 and .ociVersion == "1.3.0"')" true
        eq "$(told 1 .state.status)" "$([ $p = true ] && echo created || echo creating)"
        eq "$(wc -l <"$TMP/states")" 1
    done
}

@test "create and start, and exec: each process its own filter and connection" {
    for p in true false; do
        : >"$TMP/states"
        edit ".process.noNewPrivileges = $p"
        asking mkdir mkdirat
        running
        pid=$(<"$TMP/pid")
        eq "$(told 1 .pid)" "$pid"
        try rt exec "$ID" mkdir /tmp/x
        rc 1
        match "$output" 'No medium found'
        eq "$(told 2 '[.state.status, .state.pid] | tojson')" "[\"running\",$pid]"
        [ "$(told 2 .pid)" != "$pid" ]
        eq "$(grep NoNewPrivs "/proc/$pid/status" | tr -d '\t')" \
            "NoNewPrivs:$([ $p = true ] && echo 1 || echo 0)"
        rt delete -f "$ID"
    done
}

@test "all that the last steps do may be asked for, and the filter's other answers do not hinder" {
    for p in true false; do
        edit ".process.noNewPrivileges = $p"
        asking execve openat open read close fcntl
        inside 'echo fine'
        eq "$output" fine
    done
    edit '.process.noNewPrivileges = true'
    asking mkdir
    edit '.linux.seccomp.syscalls += [{names: ["sendmsg", "recvmsg", "sendto", "futex", "poll"],
        action: "SCMP_ACT_KILL"}]'
    inside 'mkdir /tmp/x'
    match "$output" 'No medium found'
}

@test "a startContainer hook has the filter, its own connection and no descriptor" {
    asking mkdir mkdirat
    edit '.hooks = {startContainer: [{path: "/bin/sh", args: ["sh", "-c",
        "mkdir /tmp/x 2>/tmp/err; ls /proc/self/fd >>/tmp/err; exit 0"]}]} |
        .mounts += [{destination: "/tmp", type: "tmpfs", source: "t"}]'
    inside 'cat /tmp/err'
    match "$output" 'No medium found'
    eq "$(tail -n +2 <<<"$output" | tr '\n' ' ')" '0 1 2 3 '
    eq "$(wc -l <"$TMP/states")" 2
}

@test "with a clock namespace, in a user namespace, under limits that make waiting dear" {
    asking mkdir mkdirat
    with_ns time
    edit '.linux.timeOffsets = {monotonic: {secs: 5}} |
        .linux.resources.cpu = {quota: 5000, period: 100000}'
    for p in true false; do
        edit ".process.noNewPrivileges = $p"
        inside 'mkdir /tmp/x'
        match "$output" 'No medium found'
    done
    userns
    for p in true false; do
        edit ".process.noNewPrivileges = $p"
        running
        try rt exec "$ID" mkdir /tmp/x
        match "$output" 'No medium found'
        rt delete -f "$ID"
    done
}

@test "flags: WAIT_KILLABLE_RECV and TSYNC" {
    asking mkdir mkdirat
    edit '.linux.seccomp.flags = ["SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV"]'
    script 'mkdir /tmp/x'
    try rt --debug run -b "$BUNDLE" "$ID"
    match "$output" 'No medium found'
    match "$output" 'seccomp filter flags: 40'
    edit '.linux.seccomp.flags = ["SECCOMP_FILTER_FLAG_TSYNC"]'
    inside 'mkdir /tmp/x'
    match "$output" 'No medium found'
}

@test "no agent: a clear error, and nothing left" {
    stop_agent
    for p in true false; do
        edit ".process.noNewPrivileges = $p"
        asking mkdir
        inside true
        refused 'listenerPath: failed to connect with seccomp agent'
    done
    rm "$TMP/agent.sock"
    inside true
    refused 'failed to connect with seccomp agent'
    touch "$TMP/agent.sock"
    inside true
    refused 'failed to connect with seccomp agent.*is no socket'
    eq "$(ls "$ROOT" 2>/dev/null)" ''
}

@test "an agent that goes between create and start: start fails, the container has stopped" {
    asking mkdir
    args true
    created
    stop_agent
    try rt start "$ID"
    refused 'failed to connect with seccomp agent'
    wait_for 10 is_status stopped "$ID"
    rt delete "$ID"
}

@test "an agent that goes while the container runs: its calls give ENOSYS, exec fails" {
    asking mkdir mkdirat
    edit '.root.readonly = false'
    args sh -c 'until [ -e /go ]; do sleep 0.02; done; mkdir /tmp/x'
    created
    rt start "$ID"
    stop_agent
    try rt exec "$ID" true
    rc 255
    match "$output" 'failed to connect with seccomp agent'
    touch "$BUNDLE/rootfs/go"
    wait_for 10 is_status stopped "$ID"
    match "$(<"$TMP/out")$(<"$TMP/err")" 'Function not implemented'
    rt delete "$ID"
}

@test "what cannot be: no path, a relative one, write, a default action" {
    asking mkdir
    edit 'del (.linux.seccomp.listenerPath) | del (.linux.seccomp.listenerMetadata)'
    inside true
    refused '/linux/seccomp/listenerPath: SCMP_ACT_NOTIFY needs it'
    asking mkdir
    edit '.linux.seccomp.listenerPath = "@abstract"'
    inside true
    refused 'listenerPath: must be absolute'
    asking write
    inside true
    refused 'SCMP_ACT_NOTIFY cannot be used for the write syscall'
    asking mkdir
    edit '.linux.seccomp.defaultAction = "SCMP_ACT_NOTIFY"'
    inside true
    refused 'SCMP_ACT_NOTIFY cannot be used as default action'
}

@test "a listener that no rule asks is not looked for" {
    stop_agent
    edit '.linux.seccomp = {defaultAction: "SCMP_ACT_ALLOW", listenerPath: "/nowhere"}'
    inside 'echo fine'
    eq "$output" fine
}

@test "strict refuses an agent; a limit of one process has no room for it" {
    asking mkdir
    script true
    try rt --policy strict run -b "$BUNDLE" "$ID"
    refused "listenerPath.*refused by rule 'seccomp.listener' of policy 'strict'"
    edit '.linux.resources.pids.limit = 1'
    inside true
    refused 'hands the listener over \(limit of pids\)'
}
