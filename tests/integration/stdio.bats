#!/usr/bin/env bats
# Terminals, console sockets, standard streams and every other descriptor.

load ../lib/helpers

# ---- terminal ----

@test "terminal: run in the foreground on a terminal" {
    edit '.process.terminal = true'
    script 'tty; test -c /dev/console && echo console; exit 6'
    status=0
    output=$(on_pty "$AGENTRT --root $ROOT run -b $BUNDLE $ID") || status=$?
    rc 6
    match "$output" '/dev/pts/0'
    match "$output" 'console'
}

@test "terminal: the size of the caller's, and consoleSize" {
    edit '.process.terminal = true'
    script 'stty size'
    output=$(on_pty "stty rows 33 cols 99; $AGENTRT --root $ROOT run -b $BUNDLE $ID")
    match "$output" '^33 99'
}

@test "terminal: output of a fast writer comes through to the last byte" {
    edit '.process.terminal = true'
    script 'seq 1 20000; echo END'
    output=$(on_pty "$AGENTRT --root $ROOT run -b $BUNDLE $ID" | tr -d '\r')
    eq "$(wc -l <<<"$output")" 20001
    eq "$(tail -n1 <<<"$output")" END
}

@test "terminal: keyboard input arrives and Ctrl-C interrupts the payload, not the runtime" {
    edit '.process.terminal = true'
    script 'trap "echo got-int; exit 3" INT; echo ready; read x; echo "line:$x"; sleep 20 & wait'
    mkfifo "$TMP/keys"
    (exec 9<>"$TMP/keys"; sleep 1; printf 'abc\r' >&9; sleep 1; printf '\003' >&9; sleep 2) 3>&- &
    status=0
    timeout 20 script -qec "$AGENTRT --root $ROOT run -b $BUNDLE $ID" /dev/null <"$TMP/keys" \
        >"$TMP/output" 3>&- || status=$?
    wait $!
    output=$(<"$TMP/output")
    rc 3
    match "$output" 'line:abc'
    match "$output" 'got-int'
}

@test "terminal: an interactive shell ends with the input, be it empty or piped" {
    edit '.process.terminal = true'
    args sh -i
    try timeout -s KILL 20 "$AGENTRT" --root "$ROOT" run -b "$BUNDLE" "$ID"
    rc 0
    # Half a line: what ends it is the end of the input, and what ends the input is another.
    script 'while read x; do echo "got:$x"; done; echo "and:$x"; exit 4'
    # shellcheck disable=SC2016
    try sh -c 'printf "one\ntwo" | timeout -s KILL 20 "$@"' - "$AGENTRT" --root "$ROOT" run \
        -b "$BUNDLE" "$ID"
    rc 4
    match "$output" 'got:one'
    match "$output" 'and:two'
}

@test "terminal: the caller's terminal is as before" {
    edit '.process.terminal = true'
    script 'stty raw -echo; kill -9 $$; exit 1'
    output=$(on_pty "stty -a >$TMP/before; $AGENTRT --root $ROOT run -b $BUNDLE $ID
        stty -a >$TMP/after")
    eq "$(cat "$TMP/after")" "$(cat "$TMP/before")"
}

# served COMMAND...: runs a command that sends a console to $TMP/console; what comes over it is in
# $TMP/screen, what was received in $TMP/received.
served ()
{
    "$PROBE" console "$TMP/console" <"${KEYS:-/dev/null}" >"$TMP/screen" 2>"$TMP/received" 3>&- &
    server=$!
    wait_for 5 test -S "$TMP/console"
    try "$@"
}

@test "console socket: one descriptor, the right size, the payload's controlling terminal" {
    edit '.process.terminal = true | .process.consoleSize = {height: 44, width: 111}'
    script 'tty; stty size; echo controlling >/dev/tty; ls -l /dev/console | cut -c1; stat -c %u:%a /dev/pts/0
        echo $(ps -o pid,sid 2>/dev/null | grep -c .)'
    served rt create -b "$BUNDLE" --console-socket "$TMP/console" "$ID"
    rc 0
    wait_for 5 grep -q 'descriptors=1' "$TMP/received"
    rt start "$ID"
    wait $server
    screen=$(tr -d '\r' <"$TMP/screen")
    match "$(cat "$TMP/received")" 'size=44x111'
    match "$screen" '^/dev/pts/0$'
    match "$screen" '^44 111$'
    match "$screen" '^controlling$'
    match "$screen" '^c$'
    match "$screen" '^0:6'
    wait_for 5 is_status stopped "$ID"
    rt delete "$ID"
}

@test "console socket: the terminal belongs to the user" {
    edit '.process.terminal = true | .process.user.uid = 1000'
    script 'stat -L -c %u /dev/stdin; echo reopened >/dev/stdout; echo err >/dev/stderr'
    served rt run -d -b "$BUNDLE" --console-socket "$TMP/console" "$ID"
    rc 0
    wait $server
    eq "$(tr -d '\r' <"$TMP/screen")" $'1000\nreopened\nerr'
    rt delete -f "$ID"
}

@test "console socket: keyboard input arrives" {
    printf 'typed\n' >"$TMP/keys"
    edit '.process.terminal = true'
    script 'read x; echo "got $x"'
    KEYS=$TMP/keys served rt run -d -b "$BUNDLE" --console-socket "$TMP/console" "$ID"
    wait $server
    match "$(cat "$TMP/screen")" 'got typed'
    rt delete -f "$ID"
}

@test "console socket: wrong combinations are refused before anything happens" {
    script true
    try rt create -b "$BUNDLE" --console-socket "$TMP/console" "$ID"
    refused '[tT]erminal|console'
    edit '.process.terminal = true'
    try rt create -b "$BUNDLE" "$ID"
    refused 'console'
    try rt create -b "$BUNDLE" --console-socket "$TMP/nobody" "$ID"
    refused 'console'
    touch "$TMP/file"
    try rt create -b "$BUNDLE" --console-socket "$TMP/file" "$ID"
    refused 'console'
}

@test "console socket: a path longer than a socket address" {
    deep=$TMP/$(printf 'd%.0s' {1..60})/$(printf 'e%.0s' {1..60})
    mkdir -p "$deep"
    edit '.process.terminal = true'
    script 'echo up'
    "$PROBE" console "$TMP/short" </dev/null >"$TMP/screen" 2>"$TMP/received" 3>&- &
    server=$!
    wait_for 5 test -S "$TMP/short"
    mv "$TMP/short" "$deep/s"
    try rt run -d -b "$BUNDLE" --console-socket "$deep/s" "$ID"
    if [ "$status" -eq 0 ]; then
        wait $server
        match "$(cat "$TMP/screen")" up
        rt delete -f "$ID"
    else
        match "$output" '(long|console)'
        kill $server
        wait $server || true
    fi
}

@test "a console file of the image that is a symlink is not followed (CVE-2025-52565)" {
    mkdir "$TMP/canary"
    edit '.mounts |= map (select (.destination | startswith ("/dev") | not))'
    edit '.process.terminal = true | .root.readonly = false'
    ln -s "$TMP/canary/made" "$BUNDLE/rootfs/dev/console"
    script 'echo up'
    "$PROBE" console "$TMP/console" </dev/null >"$TMP/screen" 2>"$TMP/received" 3>&- &
    server=$!
    wait_for 5 test -S "$TMP/console"
    try rt run -d -b "$BUNDLE" --console-socket "$TMP/console" "$ID"
    eq "$(ls -A "$TMP/canary")" ""
    kill $server 2>/dev/null || true
    wait $server || true
    rt delete -f "$ID"
}

# ---- standard streams ----

@test "streams that are closed at the start are safe" {
    script 'echo out; echo err >&2; ls /proc/self/fd | tr "\n" " " >/srv/fds'
    edit '.root.readonly = false'
    (exec 0<&-; exec "$AGENTRT" --root "$ROOT" run -b "$BUNDLE" "$ID") >"$TMP/output" 2>&1 3>&-
    match "$(cat "$TMP/output")" '^out$'
    eq "$(cat "$BUNDLE/rootfs/srv/fds")" "0 1 2 3 "
    (exec 0<&- 1>&- 2>&-; exec "$AGENTRT" --root "$ROOT" run -b "$BUNDLE" "$ID") 3>&-
    eq "$(cat "$BUNDLE/rootfs/srv/fds")" "0 1 2 3 "
}

@test "streams belong to the user, the host's /dev/null excepted" {
    edit '.process.user.uid = 1000'
    script 'echo one >/dev/stdout; echo two >/dev/stderr'
    (umask 077; rt create -b "$BUNDLE" "$ID" </dev/null >"$TMP/file" 2>"$TMP/file2" 3>&-)
    rt start "$ID"
    wait_for 5 is_status stopped "$ID"
    rt delete "$ID"
    eq "$(cat "$TMP/file" "$TMP/file2")" $'one\ntwo'
    eq "$(stat -c %u "$TMP/file" "$TMP/file2" | sort -u)" 1000
    eq "$(rt run -b "$BUNDLE" "$ID" </dev/null 2>/dev/null | cat)" one
    eq "$(stat -c %u /dev/null)" 0
}

@test "a reader that went away does not hurt the runtime" {
    script 'yes'
    status=0
    timeout 20 bash -c "'$AGENTRT' --root '$ROOT' run -b '$BUNDLE' '$ID' | head -n1" </dev/null \
        >"$TMP/output" 2>"$TMP/errors" 3>&- || status=$?
    rc 0
    eq "$(head -n1 "$TMP/output")" y
}

@test "large output and input come through whole" {
    head -c 5000000 /dev/urandom >"$TMP/big"
    args cat
    rt run -b "$BUNDLE" "$ID" <"$TMP/big" 3>&- | cmp - "$TMP/big"
}

# ---- other descriptors ----

@test "descriptors of the caller do not reach the payload" {
    touch "$TMP/open"
    script 'ls -l /proc/self/fd | sed "s/.* -> //"'
    (
        exec 3<"$TMP/open" 4>>"$TMP/open" 5</ 6<"$TMP" 7<"$TMP/open" 11</etc/passwd 20</
        timeout 20 "$AGENTRT" --root "$ROOT" run -b "$BUNDLE" "$ID" </dev/null >"$TMP/output" 2>&1
    )
    no_match "$(cat "$TMP/output")" "($TMP/open|/etc/passwd|^/\$)"
    inside 'for f in /proc/self/fd/*; do echo ${f##*/}; done | tr "\n" " "'
    eq "$output" "0 1 2 3 " # 3 is the folder itself
}

@test "descriptors of the runtime do not reach the payload or its exec" {
    running
    pid=$(cat "$TMP/pid")
    eq "$(ls "/proc/$pid/fd" | tr '\n' ' ')" "0 1 2 "
    try rt exec "$ID" sh -c 'for f in /proc/self/fd/*; do echo ${f##*/}; done | tr "\n" " "'
    eq "$output" "0 1 2 3 " # 3 is the folder itself
    rt delete -f "$ID"
}

@test "a created init waits with no descriptor of the host" {
    (
        exec 4>>"$TMP/open" 7</etc/passwd
        args sleep 1000
        created
    )
    no_match "$(find "/proc/$(rt state "$ID" | jq .pid)/fd" -type l -printf '%l\n')" \
        '^/(srv|tmp|var|etc|sys|run/t/.*/bundle|dev$)'
    rt start "$ID"
    rt delete -f "$ID"
}

@test "preserve-fds: the first N after 2, and an error where one is closed" {
    echo three >"$TMP/three"
    echo four >"$TMP/four"
    script 'cat <&3; cat <&4; [ -e /proc/self/fd/5 ] || echo no five'
    timeout 20 "$AGENTRT" --root "$ROOT" run --preserve-fds 2 -b "$BUNDLE" "$ID" </dev/null \
        >"$TMP/output" 2>&1 3<"$TMP/three" 4<"$TMP/four" 5<"$TMP/four"
    eq "$(cat "$TMP/output")" $'three\nfour\nno five'
    status=0
    timeout 20 "$AGENTRT" --root "$ROOT" run --preserve-fds 2 -b "$BUNDLE" "$ID" </dev/null \
        >"$TMP/output" 2>&1 3<"$TMP/three" 4<&- || status=$?
    output=$(<"$TMP/output")
    rc 1
    match "$output" '(preserve|descriptor|fd)'
}

@test "LISTEN_FDS: the sockets come as 3..., for pid 1" {
    script 'echo $LISTEN_FDS $LISTEN_PID; cat <&3'
    echo listened >"$TMP/three"
    # LISTEN_PID must be the runtime's own.
    LISTEN_FDS=1 timeout 20 bash -c 'LISTEN_PID=$$ exec "$@"' - \
        "$AGENTRT" --root "$ROOT" run -b "$BUNDLE" "$ID" \
        </dev/null >"$TMP/output" 2>&1 3<"$TMP/three" 4<"$TMP/three"
    eq "$(cat "$TMP/output")" $'1 1\nlistened'
}
