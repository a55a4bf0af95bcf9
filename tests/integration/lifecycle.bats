#!/usr/bin/env bats
# The life of a container: create, start, state, kill, delete, and every wrong order of them.

load ../lib/helpers

@test "run: output, exit codes 0, 7 and 137 come through" {
    inside 'echo hello'
    rc 0
    eq "$output" hello
    inside 'exit 7'
    rc 7
    inside 'kill -TERM $$; exit 3'
    rc 3 # pid 1 of a pid namespace ignores what it has no handler for
    args sleep 1000
    "$AGENTRT" --root "$ROOT" run -b "$BUNDLE" --pid-file "$TMP/pid" "$ID" </dev/null 3>&- &
    wait_for 5 is_status running "$ID"
    kill -9 "$(cat "$TMP/pid")"
    wait $! && status=0 || status=$?
    rc 137
}

@test "run: standard error stays apart from standard output" {
    script 'echo O; echo E >&2'
    eq "$(rt run -b "$BUNDLE" "$ID" 2>/dev/null)" O
    eq "$(rt run -b "$BUNDLE" "$ID" 2>&1 >/dev/null)" E
}

@test "run: standard input is handed over" {
    args cat
    eq "$(echo in | rt run -b "$BUNDLE" "$ID")" in
}

@test "run: the bundle is the working directory by default" {
    script 'echo here'
    cd "$BUNDLE"
    try rt run "$ID"
    rc 0
    eq "$output" here
    try rt run -b . "$ID"
    eq "$output" here
}

@test "create, start, state, kill, delete" {
    args sleep 1000
    created
    eq "$(cat "$TMP/out" "$TMP/err")" ""
    eq "$(status_of)" created
    eq "$(rt state "$ID" | jq -r .id)" "$ID"
    eq "$(rt state "$ID" | jq -r .bundle)" "$BUNDLE"
    eq "$(rt state "$ID" | jq .pid)" "$(cat "$TMP/pid")"
    rt start "$ID"
    eq "$(status_of)" running
    eq "$(tr '\0' ' ' <"/proc/$(cat "$TMP/pid")/cmdline")" "sleep 1000 "
    rt kill "$ID" KILL
    wait_for 5 is_status stopped "$ID"
    eq "$(rt state "$ID" | jq .pid)" 0
    rt delete "$ID"
    try rt state "$ID"
    refused 'does not exist'
}

@test "create: what the config says after create has no effect" {
    script 'echo first >/tmp/x; sleep 1000'
    edit '.root.readonly = false'
    created
    script 'echo second >/tmp/x; sleep 1000'
    rt start "$ID"
    wait_for 5 test -s "$BUNDLE/rootfs/tmp/x"
    eq "$(cat "$BUNDLE/rootfs/tmp/x")" first
    rt delete -f "$ID"
}

@test "create: the payload does not run before start" {
    script 'echo ran >/tmp/x; sleep 1000'
    edit '.root.readonly = false'
    created
    sleep 0.3
    [ ! -e "$BUNDLE/rootfs/tmp/x" ]
    rt start "$ID"
    wait_for 5 test -s "$BUNDLE/rootfs/tmp/x"
    rt delete -f "$ID"
}

@test "create: the pid file has no newline and the init is orphaned" {
    args sleep 1000
    created
    pid=$(cat "$TMP/pid")
    eq "$(wc -c <"$TMP/pid")" "${#pid}"
    match "$pid" '^[0-9]+$'
    eq "$(awk '/^PPid/ { print $2 }' "/proc/$pid/status")" 1
    eq "$(ls -A "$TMP" | grep '^\.' || true)" "" # the pid file's temporary name
    rt delete -f "$ID"
}

@test "create: nobody holds the caller's pipes after the payload ended" {
    script 'echo out'
    rt create -b "$BUNDLE" "$ID" </dev/null 2>&1 3>&- | cat >"$TMP/read" &
    reader=$!
    wait_for 5 is_status created "$ID"
    rt start "$ID"
    wait "$reader"
    eq "$(cat "$TMP/read")" out
    wait_for 5 is_status stopped "$ID"
    rt delete "$ID"
}

@test "create: a second container of the same id" {
    running
    try rt create -b "$BUNDLE" "$ID"
    refused 'container with given ID already exists'
    eq "$(status_of)" running
    rt delete -f "$ID"
}

@test "create: 50 at once of one id, exactly one wins" {
    args sleep 1000
    local i ok=0 p=()
    for i in {1..50}; do
        rt create -b "$BUNDLE" "$ID" </dev/null >"$TMP/o$i" 2>&1 3>&- &
        p+=($!)
    done
    for i in "${p[@]}"; do wait "$i" && ok=$((ok + 1)); done
    eq "$ok" 1
    eq "$(cat "$TMP"/o? "$TMP"/o?? | grep -c 'container with given ID already exists')" 49
    eq "$(status_of)" created
    rt start "$ID"
    eq "$(status_of)" running
    rt delete -f "$ID"
}

@test "start: twice, and of a stopped container" {
    running
    try rt start "$ID"
    refused 'cannot start an already running container'
    eq "$(status_of)" running
    rt kill "$ID" KILL
    wait_for 5 is_status stopped "$ID"
    try rt start "$ID"
    refused 'cannot start a container that has stopped'
    rt delete "$ID"
}

@test "start: the init died before" {
    args sleep 1000
    created
    kill -9 "$(cat "$TMP/pid")"
    wait_for 5 is_status stopped "$ID"
    LIMIT=3 try rt start "$ID"
    refused 'stopped'
    rt delete "$ID"
}

@test "start: two at once, one wins" {
    args sleep 1000
    created
    rt start "$ID" >"$TMP/a" 2>&1 3>&- &
    a=$!
    b=0
    rt start "$ID" >"$TMP/b" 2>&1 3>&- || b=$?
    wait "$a" && a=0 || a=$?
    eq "$((a + b))" 1
    eq "$(status_of)" running
    rt delete -f "$ID"
}

@test "kill: signals by number and by name in any case, TERM by default" {
    local s
    for s in 15 TERM SIGTERM term sigterm ""; do
        script 'trap "exit 9" TERM; echo up; while :; do sleep 0.02; done'
        edit '.process.args[2] |= sub ("echo up"; "touch /tmp/up")'
        edit '.root.readonly = false'
        rm -f "$BUNDLE/rootfs/tmp/up"
        created
        rt start "$ID"
        wait_for 5 test -e "$BUNDLE/rootfs/tmp/up"
        # shellcheck disable=SC2086
        rt kill "$ID" $s
        wait_for 5 is_status stopped "$ID"
        rt delete "$ID"
    done
}

@test "kill: a signal that does not exist" {
    running
    for s in NOPE SIGNOPE 65 -1 1000 9x; do
        try rt kill "$ID" "$s"
        [ "$status" -ne 0 ] || fail "signal $s was taken"
        eq "$(status_of)" running
    done
    rt delete -f "$ID"
}

@test "kill: signal 0 asks only" {
    running
    rt kill "$ID" 0
    eq "$(status_of)" running
    rt kill "$ID" KILL
    wait_for 5 is_status stopped "$ID"
    try rt kill "$ID" 0
    refused 'container not running'
    rt delete "$ID"
}

@test "kill: a created container" {
    args sleep 1000
    created
    rt kill "$ID" KILL
    wait_for 5 is_status stopped "$ID"
    rt delete "$ID"
    created
    rt kill "$ID" TERM
    wait_for 5 is_status stopped "$ID"
    rt delete "$ID"
}

@test "kill: a stopped container, with and without --all" {
    running
    rt kill "$ID" KILL
    wait_for 5 is_status stopped "$ID"
    try rt kill "$ID" TERM
    refused 'container not running'
    try rt kill --all "$ID" TERM
    rc 0
    rt delete "$ID"
}

@test "kill: the init only, the rest with --all" {
    script 'trap : TERM; sleep 1001 & sleep 1002 & wait; exec sleep 1003'
    created
    rt start "$ID"
    wait_for 5 pids_are 3
    rt kill --all "$ID" TERM
    wait_for 5 pids_are 1
    eq "$(status_of)" running
    rt delete -f "$ID"
}

pids_are ()
{
    [ "$(rt ps -f json "$ID" | jq length)" -eq "$1" ]
}

@test "kill KILL takes all where there is no pid namespace of its own" {
    without_ns pid
    script 'sleep 1001 & sleep 1002 & wait'
    created
    rt start "$ID"
    wait_for 5 pids_are 3
    rt kill "$ID" KILL
    wait_for 5 is_status stopped "$ID"
    rt delete "$ID"
}

@test "kill KILL takes what an ended init left where there is no pid namespace of its own" {
    without_ns pid
    script 'sleep 1001 & exit 0'
    created
    rt start "$ID"
    wait_for 5 is_status stopped "$ID"
    try rt kill "$ID" TERM
    refused 'container not running'
    rt kill "$ID" KILL
    wait_for 5 pids_are 0
    try rt kill "$ID" KILL
    refused 'container not running'
    rt delete "$ID"
}

@test "delete: takes what an ended init left where there is no pid namespace of its own" {
    without_ns pid
    script 'sleep 1001 & exit 0'
    created
    rt start "$ID"
    wait_for 5 is_status stopped "$ID"
    rt delete "$ID"
}

@test "delete: of a created and of a running container" {
    args sleep 1000
    created
    rt delete "$ID"
    running
    try rt delete "$ID"
    refused "cannot delete container $ID that is not stopped: running"
    eq "$(status_of)" running
    rt delete --force "$ID"
}

@test "kill and delete --regex: every container whose id matches" {
    for i in a1 a2 b1; do running "$ID-$i"; done
    try rt kill --regex "$ID-a[0-9]\$" KILL
    rc 0
    wait_for 5 is_status stopped "$ID-a1"
    wait_for 5 is_status stopped "$ID-a2"
    eq "$(status_of "$ID-b1")" running
    try rt delete -r "$ID-"
    rc 1
    match "$output" "$ID-b1: cannot delete container .* that is not stopped"
    match "$output" 'failed for 1 of 3'
    eq "$(rt list -q)" "$ID-b1"
    try rt delete --regex "nothing-like-it"
    rc 0
    try rt delete --regex "$ID-("
    refused 'regex: .*\('
    try rt delete -rf "^$ID-b"
    rc 0
    eq "$(rt list -q)" ""
}

@test "delete: an unknown id, with and without force" {
    try rt delete "$ID"
    refused 'container does not exist'
    try rt delete -f "$ID"
    rc 0
    eq "$output" ""
    try rt delete --force "$ID"
    rc 0
}

@test "every command on an unknown id says that it does not exist" {
    for c in "start $ID" "state $ID" "kill $ID 9" "delete $ID" "exec $ID true" "ps $ID"; do
        # shellcheck disable=SC2086
        try rt $c
        [ "$status" -ne 0 ] || fail "$c succeeded"
        match "$output" 'container does not exist'
    done
}

@test "ids that are no names are refused by every command and touch nothing" {
    mkdir -p "$ROOT" "$TMP/side"
    touch "$TMP/side/file"
    long=$(printf 'x%.0s' {1..1025})
    for id in "" . .. ../side a/b "a b" $'a\nb' é '%s%n' 'a;id' -x "$long"; do
        for c in create run start state kill delete "delete -f" exec ps; do
            b=()
            case $c in create | run) b=(-b "$BUNDLE") ;; esac
            tail=()
            [ "$c" != exec ] || tail=(true)
            # shellcheck disable=SC2086
            try rt $c "${b[@]}" -- "$id" "${tail[@]}"
            [ "$status" -ne 0 ] || fail "$c took the id '$id'"
            [ "$status" -lt 128 ] || [ "$status" -eq 255 ] || fail "$c '$id' died: $status"
        done
    done
    [ -e "$TMP/side/file" ]
    eq "$(ls "$ROOT")" ""
}

@test "wrong argument counts and unknown commands, options and values" {
    for c in "" nonsense "start" "state" "delete" "kill" "exec" "exec $ID" "create" "run" \
        "start a b" "state a b" "create --nonsense a" "list -f xml" "state --format json x"; do
        # shellcheck disable=SC2086
        try rt $c
        [ "$status" -ne 0 ] || [ "$c" = "" ] || fail "'$c' succeeded"
        [ "$status" -lt 128 ] || [ "$status" -eq 255 ] || fail "'$c' died: $status"
        [ -n "$output" ] || fail "'$c' says nothing"
    done
}

@test "a failing create leaves no trace and frees the id" {
    args sleep 1000
    edit '.mounts += [{destination: "/mnt", type: "bind", source: "/nonexistent",
        options: ["bind"]}]'
    try rt create -b "$BUNDLE" --pid-file "$TMP/pid" "$ID"
    rc 1
    [ ! -e "$TMP/pid" ]
    try rt state "$ID"
    refused 'does not exist'
    edit 'del (.mounts[-1])'
    running
    rt delete -f "$ID"
}

@test "the state root: made 0700, refused when it is / or another's" {
    inside true
    match "$(stat -c %a "$ROOT")" '^1?700$' # sticky: tmpfiles cleaners leave it alone
    try timeout 10 "$AGENTRT" --root / create -b "$BUNDLE" "$ID"
    rc 1
    mkdir "$TMP/others"
    chown 1000 "$TMP/others"
    try timeout 10 "$AGENTRT" --root "$TMP/others" create -b "$BUNDLE" "$ID"
    rc 1
    mkdir -m 777 "$TMP/open"
    try timeout 10 "$AGENTRT" --root "$TMP/open" create -b "$BUNDLE" "$ID"
    rc 1
    eq "$(ls -A "$TMP/others" "$TMP/open" | grep -v : | tr -d '\n')" ""
}

@test "killing the runtime's foreground run passes signals on" {
    script 'trap "exit 5" TERM; touch /tmp/up; while :; do sleep 0.02; done'
    edit '.root.readonly = false'
    "$AGENTRT" --root "$ROOT" run -b "$BUNDLE" "$ID" </dev/null 3>&- &
    p=$!
    wait_for 5 test -e "$BUNDLE/rootfs/tmp/up"
    kill -TERM $p
    wait $p && r=0 || r=$?
    eq "$r" 5
}

@test "a caller that ignores SIGCHLD gets the exit status" {
    script 'exit 7'
    try env --ignore-signal=CHLD "$AGENTRT" --root "$ROOT" run -b "$BUNDLE" "$ID" </dev/null
    rc 7
}

@test "a foreground run does not keep delete --force waiting" {
    args sleep 1000
    "$AGENTRT" --root "$ROOT" run -b "$BUNDLE" "$ID" </dev/null 3>&- &
    p=$!
    wait_for 5 is_status running "$ID"
    timeout 5 "$AGENTRT" --root "$ROOT" delete --force "$ID"
    wait $p && r=0 || r=$?
    eq "$r" 137
}

@test "the container is in no session of the caller" {
    script 'cat /proc/self/stat; cat /proc/1/stat'
    rt run -b "$BUNDLE" "$ID" >"$TMP/stat"
    # Fields 5 and 6: group and session; 1 is init's own, 0 one outside the pid namespace.
    eq "$(tail -n1 "$TMP/stat" | sed 's/.*) //' | cut -d' ' -f3,4)" "1 1"
}

@test "run --detach returns at once and leaves a running container" {
    args sleep 1000
    rt run --detach --pid-file "$TMP/pid" -b "$BUNDLE" "$ID" </dev/null >/dev/null 2>&1 3>&-
    eq "$(status_of)" running
    rt delete -f "$ID"
}

@test "run --keep leaves a stopped container" {
    script 'exit 4'
    try rt run --keep -b "$BUNDLE" "$ID"
    rc 4
    eq "$(status_of)" stopped
    rt delete "$ID"
}

@test "a bundle path with every kind of character" {
    local name=$'a b\tc\\040:,="é\nend'
    mkdir "$TMP/odd"
    mv "$BUNDLE" "$TMP/odd/$name"
    BUNDLE=$TMP/odd/$name
    running
    eq "$(rt state "$ID" | jq -r .bundle)" "$BUNDLE"
    rt delete -f "$ID"
}

@test "200 runs in a row leave nothing and all exit as they should" {
    script 'exit 3'
    # One shell for the loop: bats traps every command, which is slow.
    # shellcheck disable=SC2016
    try timeout 120 bash -c 'for i in {1..200}; do
        "$@"; s=$?; [ $s -eq 3 ] || echo "run $i: status $s"; done' - \
        "$AGENTRT" --root "$ROOT" run -b "$BUNDLE" "$ID"
    rc 0
    eq "$output" ""
}

@test "100 very short lives by create, start, delete" {
    args true
    # shellcheck disable=SC2016
    try timeout 120 bash -c 'for i in {1..100}; do
        "$0" --root "$1" create -b "$2" "$3" && "$0" --root "$1" start "$3" &&
        "$0" --root "$1" delete -f "$3" || echo "round $i"; done' \
        "$AGENTRT" "$ROOT" "$BUNDLE" "$ID"
    rc 0
    eq "$output" ""
}

@test "a broken copy of the config keeps nobody: it can be seen, killed and removed" {
    for broken in cut gone; do
        running
        case $broken in cut) truncate -s 10 "$ROOT/$ID/config.json" ;; gone) rm "$ROOT/$ID/config.json" ;; esac
        eq "$(status_of)" running
        match "$(rt ps "$ID")" sleep
        try rt exec "$ID" true
        [ "$status" -ne 0 ] || fail "exec without a config"
        rt kill "$ID" KILL
        wait_for 5 is_status stopped "$ID"
        try rt delete "$ID"
        refused 'config.json'
        try rt delete --force "$ID"
        rc 0
        match "$output" 'poststop hooks are left out'
        [ ! -e "$ROOT/$ID" ]
    done
}
