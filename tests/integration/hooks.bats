#!/usr/bin/env bats
# The six hooks: order, namespaces, what they are told, and what their failure does.

load ../lib/helpers

prepare ()
{
    LOG=$TMP/hooks.log
    cat >"$TMP/hook" <<-'END'
	#!/bin/sh
	# hook NAME LOG: appends what it was given.
	state=$(cat)
	# Not $$: createContainer has the host's /proc and a pid of the container's namespace.
	fds=$(ls /proc/self/fd | sort -n | tr '\n' ' ')
	env=$(env | tr '\n' ' ')
	{
	    echo "$1 status $(echo "$state" | sed 's/.*"status":"\([^"]*\)".*/\1/')"
	    echo "$1 pid $(echo "$state" | sed 's/.*"pid":\([0-9]*\).*/\1/')"
	    echo "$1 mnt $(readlink /proc/self/ns/mnt)"
	    echo "$1 uts $(readlink /proc/self/ns/uts)"
	    echo "$1 cwd $(pwd)"
	    echo "$1 env $env"
	    echo "$1 fds $fds"
	    echo "$1 state $state"
	} >>"$2"
	END
    chmod 755 "$TMP/hook"
}

# hooks KIND...: configures a logging hook of each kind. startContainer runs in the container's root,
# so its script and log are there.
hooks ()
{
    local k

    cp "$TMP/hook" "$BUNDLE/rootfs/bin/hook"
    edit '.root.readonly = false'
    for k in "$@"; do
        if [ "$k" = startContainer ]; then
            edit --arg k "$k" '.hooks[$k] += [{path: "/bin/hook", args: ["hook", $k, "/hooks.log"]}]'
        else
            edit --arg k "$k" --arg p "$TMP/hook" --arg l "$LOG" \
                '.hooks[$k] += [{path: $p, args: ["hook", $k, $l]}]'
        fi
    done
}

all='prestart createRuntime createContainer startContainer poststart poststop'

log ()
{
    cat "$LOG" "$BUNDLE/rootfs/hooks.log" 2>/dev/null
}

# told KIND WHAT: what the hook of a kind logged.
told ()
{
    log | sed -n "s/^$1 $2 //p"
}

@test "all six run once, in the order of the specification" {
    # shellcheck disable=SC2086
    hooks $all
    running
    eq "$(sed -n 's/ status .*//p' "$LOG" | tr '\n' ' ')" \
        "prestart createRuntime createContainer poststart "
    eq "$(sed -n 's/ status .*//p' "$BUNDLE/rootfs/hooks.log")" startContainer
    rt delete -f "$ID"
    eq "$(sed -n 's/ status .*//p' "$LOG" | tail -n1)" poststop
    eq "$(log | grep -c ' status ')" 6
}

@test "create runs three of them, start the next two, delete the last" {
    # shellcheck disable=SC2086
    hooks $all
    args sleep 1000
    created
    eq "$(log | sed -n 's/ status .*//p' | tr '\n' ' ')" "prestart createRuntime createContainer "
    rt start "$ID"
    wait_for 5 grep -q poststart "$LOG"
    eq "$(log | grep -c ' status ')" 5
    rt kill "$ID" KILL
    wait_for 5 is_status stopped "$ID"
    eq "$(log | grep -c ' status ')" 5
    rt delete "$ID"
    eq "$(log | grep -c ' status ')" 6
}

@test "each is told the right status and pid" {
    # shellcheck disable=SC2086
    hooks $all
    running
    pid=$(cat "$TMP/pid")
    rt delete -f "$ID"
    eq "$(told prestart status)" creating
    eq "$(told createRuntime status)" creating
    eq "$(told createContainer status)" creating
    match "$(told startContainer status)" '^(created|starting)$'
    eq "$(told poststart status)" running
    eq "$(told poststop status)" stopped
    eq "$(told prestart pid)" "$pid"
    eq "$(told createRuntime pid)" "$pid"
    eq "$(told poststart pid)" "$pid"
}

@test "the state is one line of compact JSON with id, bundle, version and annotations" {
    edit '.annotations = {"a.b/c": "d\"e"}'
    hooks createRuntime
    inside true
    rc 0
    state=$(told createRuntime state)
    eq "$(wc -l <<<"$state")" 1
    eq "$(jq -r .id <<<"$state")" "$ID"
    eq "$(jq -r .bundle <<<"$state")" "$BUNDLE"
    eq "$(jq -r '.annotations["a.b/c"]' <<<"$state")" 'd"e'
    match "$(jq -r .ociVersion <<<"$state")" '^1\.'
    eq "$(jq -c . <<<"$state")" "$state"
}

@test "the runtime's hooks run in the host's namespaces, the container's in its own" {
    # shellcheck disable=SC2086
    hooks $all
    running
    pid=$(cat "$TMP/pid")
    for k in prestart createRuntime poststart; do
        eq "$(told $k mnt)" "$(readlink /proc/self/ns/mnt)"
        eq "$(told $k uts)" "$(readlink /proc/self/ns/uts)"
    done
    for k in createContainer startContainer; do
        eq "$(told $k mnt)" "$(readlink "/proc/$pid/ns/mnt")"
        eq "$(told $k uts)" "$(readlink "/proc/$pid/ns/uts")"
    done
    rt delete -f "$ID"
}

@test "the working directory is the bundle, in the container its root or cwd" {
    # shellcheck disable=SC2086
    hooks $all
    running
    rt delete -f "$ID"
    for k in prestart createRuntime poststart poststop; do eq "$(told $k cwd)" "$BUNDLE"; done
    eq "$(told createContainer cwd)" "$BUNDLE/rootfs"
    eq "$(told startContainer cwd)" /
}

@test "the environment is the hook's own and nothing else; so are the descriptors" {
    edit '.process.env += ["LD_PRELOAD=/evil.so", "SECRET=payload"]'
    hooks prestart createRuntime createContainer poststart poststop
    edit '.hooks.createRuntime[0].env = ["ONLY=this"]'
    args sleep 1000
    SECRET=caller created
    SECRET=caller rt start "$ID" 3>&-
    rt delete -f "$ID"
    for k in prestart createContainer poststart poststop; do
        no_match "$(told $k env)" '(SECRET|LD_PRELOAD)'
    done
    match "$(told createRuntime env)" 'ONLY=this'
    no_match "$(told createRuntime env)" 'SECRET'
    for k in prestart createRuntime createContainer poststart poststop; do
        # 3 is the folder that ls reads.
        eq "$(told $k fds)" '0 1 2 3 '
    done
}

@test "args: the first is argv[0]; without args it is the path" {
    printf '#!/bin/sh\necho "$0 $*" >"%s"\n' "$TMP/argv" >"$TMP/echo"
    chmod 755 "$TMP/echo"
    edit --arg p "$TMP/echo" '.hooks.createRuntime = [{path: $p}]'
    inside true
    rc 0
    eq "$(cat "$TMP/argv")" "$TMP/echo "
    edit --arg p "$TMP/echo" '.hooks.createRuntime = [{path: $p, args: ["x", "a b", "c"]}]'
    inside true
    eq "$(cat "$TMP/argv")" "$TMP/echo a b c"
}

@test "several of one kind run in their order" {
    hooks createRuntime createRuntime createRuntime
    edit '.hooks.createRuntime |= [.[0] | .args[1] = "first", .args[1] = "second",
        .args[1] = "third"]'
    inside true
    rc 0
    eq "$(sed -n 's/ status .*//p' "$LOG" | tr '\n' ' ')" "first second third "
}

@test "failure of each stops the container and undoes everything; poststop still runs" {
    for k in prestart createRuntime createContainer startContainer; do
        cp "$BUNDLE/config.json" "$TMP/saved"
        : >"$LOG"
        hooks poststop
        edit --arg k $k '.hooks[$k] = [{path: "/bin/sh", args: ["sh", "-c", "echo why >&2; exit 9"]}]'
        args sleep 1000
        status=0
        LIMIT=20 created || status=$?
        if [ $k = startContainer ]; then
            eq "$status" 0
            try rt start "$ID"
        else
            output=$(cat "$TMP/err")
        fi
        rc 1
        match "$output" "$k"
        match "$output" 'why'
        if [ $k = startContainer ]; then
            wait_for 5 is_status stopped "$ID"
            rt delete "$ID"
        fi
        match "$(told poststop status)" stopped
        try rt state "$ID"
        match "$output" 'does not exist'
        cp "$TMP/saved" "$BUNDLE/config.json"
    done
}

@test "failure of poststart stops the container" {
    edit '.hooks.poststart = [{path: "/bin/sh", args: ["sh", "-c", "exit 9"]}]'
    args sleep 1000
    created
    try rt start "$ID"
    rc 1
    match "$output" 'poststart'
    wait_for 5 is_status stopped "$ID"
    rt delete "$ID"
}

@test "failure of poststop is a warning: the container is gone" {
    hooks poststop
    edit '.hooks.poststop |= [{path: "/bin/false"}] + .'
    args sleep 1000
    created
    try rt delete -f "$ID"
    rc 0
    eq "$(told poststop status)" stopped
    try rt state "$ID"
    match "$output" 'does not exist'
}

@test "timeout: the hook and all it started are killed, the container with it" {
    edit '.hooks.createRuntime = [{path: "/bin/sh", timeout: 1,
        args: ["sh", "-c", "trap : TERM; sleep 1005 & while :; do sleep 1006; done"]}]'
    script true
    SECONDS=0
    LIMIT=15 try rt run -b "$BUNDLE" "$ID"
    rc 1
    match "$output" 'createRuntime.*time'
    [ $SECONDS -le 5 ] || fail "it took $SECONDS s"
    no_match "$(ps ax)" 'sleep 100[56]'
}

@test "timeouts that cannot be are refused" {
    for t in 0 -1 1.5 '"1"'; do
        edit --argjson t "$t" '.hooks.createRuntime = [{path: "/bin/true", timeout: $t}]'
        inside true
        refused 'timeout'
    done
}

@test "a path that is relative, missing or no program" {
    edit '.hooks.createRuntime = [{path: "bin/true"}]'
    inside true
    refused '/hooks/createRuntime\[0\]/path'
    edit '.hooks.createRuntime = [{args: ["x"]}]'
    inside true
    refused 'path'
    for p in /nonexistent/hook /etc/passwd; do
        edit --arg p $p '.hooks.createRuntime = [{path: $p}]'
        inside true
        rc 1
        match "$output" "$p"
        no_match "$output" '([Nn]o such file or directory|[Pp]ermission denied)$'
    done
}

@test "a hook that does not read its state, and one that says a lot" {
    edit '.annotations = {x: ("y" * 200000)}'
    edit '.hooks.createRuntime = [{path: "/bin/true"},
        {path: "/bin/sh", args: ["sh", "-c", "cat >/dev/null; head -c 3000000 /dev/zero"]}]'
    LIMIT=20 inside 'echo up'
    rc 0
    eq "$output" up
}

@test "a background process that a hook leaves with its streams open does not hang the runtime" {
    edit '.hooks.createRuntime = [{path: "/bin/sh", args: ["sh", "-c", "sleep 4 & exit 0"],
        timeout: 10}]'
    script 'echo up'
    SECONDS=0
    LIMIT=15 try rt run -b "$BUNDLE" "$ID"
    [ $SECONDS -le 12 ] || fail "it took $SECONDS s"
    wait_for 6 no_sleepers
}

no_sleepers ()
{
    ! ps ax | grep -q '[s]leep 4$'
}

@test "a hook killed by a signal has failed" {
    edit '.hooks.createRuntime = [{path: "/bin/sh", args: ["sh", "-c", "kill -SEGV $$"]}]'
    inside true
    rc 1
    match "$output" 'createRuntime'
}

@test "a prestart hook can set up the network through the pid's namespace" {
    cat >"$TMP/net" <<-'END'
	#!/bin/sh
	pid=$(sed 's/.*"pid":\([0-9]*\).*/\1/')
	nsenter -t "$pid" -n busybox ip addr add 10.11.12.13/32 dev lo
	END
    chmod 755 "$TMP/net"
    edit --arg p "$TMP/net" '.hooks.prestart = [{path: $p, env: ["PATH=/usr/bin:/bin"]}]'
    inside 'ip addr show lo'
    rc 0
    match "$output" '10.11.12.13'
}

@test "startContainer is confined as the process: filter and limits" {
    edit '.linux.seccomp = {defaultAction: "SCMP_ACT_ALLOW",
        syscalls: [{names: ["mkdir", "mkdirat"], action: "SCMP_ACT_ERRNO"}]} |
        .process.rlimits = [{type: "RLIMIT_NOFILE", soft: 77, hard: 88}] |
        .hooks.startContainer = [{path: "/bin/sh", args: ["sh", "-c",
            "mkdir /tmp/x; ulimit -n; grep Seccomp: /proc/self/status; exit 9"]}]'
    for nnp in true false; do
        edit --argjson n $nnp '.process.noNewPrivileges = $n'
        inside true
        rc 1
        match "$output" 'Operation not permitted'
        match "$output" '77'
        match "$output" 'Seccomp:.*2'
    done
}

@test "a create that is killed: delete -f runs poststop if there was an init, and only then" {
    hooks poststop
    # Before there is an init, then while the createRuntime hooks run.
    strace -o /dev/null -e trace=clone3 -e inject=clone3:signal=KILL \
        "$AGENTRT" --root "$ROOT" create -b "$BUNDLE" "$ID" </dev/null >/dev/null 2>&1 3>&- || true
    eq "$(status_of)" stopped
    rt delete -f "$ID"
    eq "$(log)" ""
    edit '.hooks.createRuntime = [{path: "/bin/sh", args: ["sh", "-c", "sleep 1003"]}]'
    "$AGENTRT" --root "$ROOT" create -b "$BUNDLE" "$ID" </dev/null >/dev/null 2>&1 3>&- &
    wait_for 5 pgrep -f 'sleep 100[3]'
    kill -9 $!
    wait $! || true
    pkill -f 'sleep 100[3]' # the hook outlives whoever ran it
    rt delete -f "$ID"
    eq "$(told poststop status)" stopped
    eq "$(told poststop pid)" 0
}

no_sleeper ()
{
    ! pgrep -f 'sleep 100[0]'
}

@test "a signal during a hook that has no timeout: it ends, and what was made is undone" {
    local kind signal

    for kind in prestart createRuntime createContainer; do
        for signal in INT TERM; do
            edit --arg k "$kind" \
                '.hooks = {($k): [{path: "/bin/sh", args: ["sh", "-c", "sleep 1000"]}]}'
            # A background job ignores SIGINT; setsid's child does not.
            env --default-signal "$AGENTRT" --root "$ROOT" create -b "$BUNDLE" "$ID" \
                </dev/null >"$TMP/create" 2>&1 3>&- &
            wait_for 5 pgrep -f 'sleep 100[0]'
            kill -"$signal" $!
            SECONDS=0
            wait $! && fail "$kind: create succeeded"
            [ $SECONDS -le 5 ] || fail "$kind: $SECONDS s"
            match "$(<"$TMP/create")" "interrupted by SIG$signal|$kind"
            wait_for 5 no_sleeper
            [ ! -e "$ROOT/$ID" ] || fail "$kind: the state is left"
            eq "$(find /sys/fs/cgroup -type d -name "$ID")" ""
        done
    done
}
