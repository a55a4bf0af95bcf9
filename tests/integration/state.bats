#!/usr/bin/env bats
# What the state directory is for: whatever has become of it, a container is found, or told about.

load ../lib/helpers

# in_time COMMAND...: as try, and within 5 s.
in_time ()
{
    SECONDS=0
    LIMIT=10 try "$@"
    [ $SECONDS -le 5 ] || fail "it took $SECONDS s: $output"
}

# ended PID: it is gone, or dead and not yet waited for by its new parent.
ended ()
{
    ! grep -qv '^State:.[ZX]' <(grep '^State:' "/proc/$1/status" 2>/dev/null)
}

# all_gone: neither process, nor cgroup, nor state of the container is left.
all_gone ()
{
    ended "$(<"$TMP/pid")" || fail "init lives"
    eq "$(find /sys/fs/cgroup -type d -name "$ID")" ""
    [ ! -e "$ROOT/$ID" ]
}

@test "state.json corrupt, cut, empty or missing: delete -f still takes all with it" {
    local f=$ROOT/$ID/state.json kind pids
    for kind in corrupt cut empty missing; do
        for pids in own none; do
            edit 'del (.linux.cgroupsPath)'
            [ "$pids" = own ] || without_ns pid
            running
            case $kind in
            corrupt) echo 'not json' >"$f" ;;
            cut) truncate -s 100 "$f" ;;
            empty) : >"$f" ;;
            missing) rm "$f" ;;
            esac
            try rt delete "$ID"
            refused "container '$ID'.*state.json"
            in_time rt delete -f "$ID"
            rc 0
            match "$output" 'state.json cannot be used; its copy can'
            all_gone
            cp /run/t/config.json "$BUNDLE/config.json"
        done
    done
}

@test "a corrupt state: state, kill, exec, start and ps name the file; list shows the others" {
    running
    rt run -d -b "$BUNDLE" "${ID}b" </dev/null >/dev/null 2>&1 3>&-
    echo '{' >"$ROOT/$ID/state.json"
    for c in "state $ID" "kill $ID KILL" "exec $ID true" "start $ID" "ps $ID" "delete $ID"; do
        # shellcheck disable=SC2086
        try rt $c
        [ "$status" -ne 0 ] || fail "$c succeeded"
        match "$output" "container '$ID': state.json: "
        eq "$(wc -l <<<"$output")" 1
    done
    eq "$(rt list -q 2>"$TMP/err")" "${ID}b"
    match "$(<"$TMP/err")" "$ID: .*state.json"
    rt delete -f "${ID}b"
    rt delete -f "$ID" 2>/dev/null
}

@test "with no readable state at all, delete -f refuses and keeps everything" {
    running
    cp -a "$ROOT/$ID" "$TMP/kept"
    echo x >"$ROOT/$ID/state.json"
    echo x >"$ROOT/$ID/state.copy"
    in_time rt delete -f "$ID"
    refused 'neither state.json nor state.copy.*nothing was removed'
    rm "$ROOT/$ID/state.json" "$ROOT/$ID/state.copy"
    in_time rt delete -f "$ID"
    refused 'nothing was removed'
    [ -e "/proc/$(<"$TMP/pid")" ] || fail "it was killed all the same"
    cp "$TMP/kept"/state.* "$ROOT/$ID/"
    rt delete -f "$ID"
    all_gone
}

@test "a state of another version, or of another container, is refused by every command" {
    running
    cp "$ROOT/$ID/state.json" "$TMP/good"
    for change in '.version = 9' '.id = "another"'; do
        jq -c "$change" "$TMP/good" >"$ROOT/$ID/state.json"
        for c in "state $ID" "kill $ID KILL" "delete -f $ID"; do
            # shellcheck disable=SC2086
            try rt $c
            refused "container '$ID': state.json (has version 9|is that of another container)"
        done
        [ -e "/proc/$(<"$TMP/pid")" ] || fail "it was killed all the same"
    done
    cp "$TMP/good" "$ROOT/$ID/state.json"
    rt delete -f "$ID"
}

@test "start: an init that is stopped is told, not waited for; delete -f takes it" {
    args sleep 1000
    created
    kill -STOP "$(<"$TMP/pid")"
    in_time rt start "$ID"
    refused 'stopped by a signal: it needs SIGCONT'
    eq "$(status_of)" created
    kill -CONT "$(<"$TMP/pid")"
    rt start "$ID"
    eq "$(status_of)" running
    rt delete -f "$ID"
    created
    kill -STOP "$(<"$TMP/pid")"
    in_time rt delete -f "$ID"
    rc 0
    all_gone
}

@test "start: a frozen container is told, not waited for; delete -f takes it" {
    args sleep 1000
    created
    echo FROZEN >"$(host_cgroup freezer)/freezer.state"
    in_time rt start "$ID"
    refused 'cannot start a container in the paused state'
    in_time rt delete -f "$ID"
    rc 0
    all_gone
}

@test "delete -f ends a start that waits, and a create that waits" {
    edit '.hooks.startContainer = [{path: "/bin/sh", args: ["sh", "-c", "sleep 1000"]}]'
    args sleep 1000
    created
    rt start "$ID" </dev/null >"$TMP/start" 2>&1 3>&- &
    wait_for 5 pgrep -f 'sleep 100[0]'
    in_time rt delete -f "$ID"
    rc 0
    all_gone
    wait $! && fail "start says that it succeeded"
    match "$(<"$TMP/start")" 'stopped'
    edit 'del (.hooks.startContainer) |
        .hooks.createContainer = [{path: "/bin/sh", args: ["sh", "-c", "sleep 1000"]}]'
    rt create -b "$BUNDLE" "$ID" </dev/null >"$TMP/create" 2>&1 3>&- &
    wait_for 5 pgrep -f 'sleep 100[0]'
    in_time rt delete -f "$ID"
    rc 0
    wait $! && fail "create says that it succeeded"
    all_gone
}

@test "create --console-socket: a listener with a full backlog is an error, not a wait" {
    edit '.process.terminal = true'
    "$PROBE" listen "$TMP/console" 3>&- &
    wait_for 5 test -S "$TMP/console"
    SECONDS=0
    LIMIT=15 try rt create -b "$BUNDLE" --console-socket "$TMP/console" "$ID"
    refused "console-socket: connect to '$TMP/console': whoever listens has accepted no connection"
    [ $SECONDS -le 10 ] || fail "it took $SECONDS s"
    kill $!
    wait $! || true
}

@test "a start that fails while a cgroup cannot be removed keeps its state for delete -f" {
    # The first hierarchy's rmdir fails, and again when it is tried once more, after all the others,
    # which are removed all the same.
    local n

    rt create -b "$BUNDLE" "$ID"
    n=$(find /sys/fs/cgroup -type d -name "$ID" | wc -l)
    rt delete -f "$ID"
    edit '.process.args = ["/nonexistent"]'
    try strace -o "$TMP/trace" -e trace=rmdir,unlinkat -e inject=unlinkat:error=EPERM:when=1 \
        "$AGENTRT" --root "$ROOT" create -b "$BUNDLE" "$ID"
    rc 1
    eq "$(find /sys/fs/cgroup -type d -name "$ID")" ""
    [ ! -e "$ROOT/$ID" ]
    try strace -o "$TMP/trace" -e trace=rmdir,unlinkat -e inject=unlinkat:error=EPERM:when=1+"$n" \
        "$AGENTRT" --root "$ROOT" create -b "$BUNDLE" "$ID"
    rc 1
    match "$output" "nonexistent.*not undone: remove cgroup .*delete --force $ID does it"
    eq "$(find /sys/fs/cgroup -type d -name "$ID" | wc -l)" 1
    eq "$(status_of)" stopped
    rt delete -f "$ID"
    eq "$(find /sys/fs/cgroup -type d -name "$ID")" ""
}
