#!/usr/bin/env bats
# exec: one more process in a running container, with all that the first has, and no more.

load ../lib/helpers

prepare ()
{
    edit '.process.env += ["FROM=config"] | .root.readonly = false'
    running
}

gone ()
{
    rt delete -f "$ID"
}

# ex ARG...: exec in the container.
ex ()
{
    try rt exec "$@"
}

@test "output, input and exit codes" {
    ex "$ID" echo hello
    rc 0
    eq "$output" hello
    eq "$(echo in | rt exec "$ID" cat)" in
    ex "$ID" sh -c 'exit 7'
    rc 7
    ex "$ID" sh -c 'kill -9 $$'
    rc 137
    ex "$ID" sh -c 'kill -TERM $$'
    rc 143
    eq "$(rt exec "$ID" sh -c 'echo O; echo E >&2' 2>/dev/null)" O
    gone
}

@test "options end at the id: the rest is the command's" {
    ex "$ID" echo -d --tty -u 5
    eq "$output" '-d --tty -u 5'
    gone
}

@test "a command that cannot be run: status 255 and the exact texts" {
    ex "$ID" nonexist
    rc 255
    match "$output" 'exec: "nonexist": executable file not found in \$PATH'
    ex "$ID" /nonexist
    rc 255
    match "$output" 'exec: "/nonexist": stat /nonexist: no such file or directory'
    ex "$ID" /etc/passwd
    rc 255
    match "$output" 'exec: "/etc/passwd": permission denied'
    gone
}

@test "unknown, created and stopped containers" {
    gone
    ex "$ID" true
    rc 255
    match "$output" 'does not exist'
    args sleep 1000
    created
    ex "$ID" echo in-created
    [ "$status" -eq 0 ] && eq "$output" in-created || match "$output" 'created|start'
    rt kill "$ID" KILL
    wait_for 5 is_status stopped "$ID"
    ex "$ID" true
    rc 255
    match "$output" 'cannot exec in a stopped container'
    rt delete "$ID"
}

@test "environment: the config's, plus and over it -e" {
    ex -e A=1 --env B=2 -e FROM=option "$ID" sh -c 'echo $A $B $FROM $HOME; env | grep -c ^FROM='
    rc 0
    eq "$output" $'1 2 option /root\n1'
    ex "$ID" sh -c 'echo $FROM'
    eq "$output" config
    SECRET=leak ex "$ID" env
    no_match "$output" SECRET
    gone
}

@test "user, groups, working directory" {
    ex -u 1000 "$ID" sh -c 'id -u; id -g; echo $HOME'
    eq "$output" $'1000\n0\n/home/user'
    ex -u 1000:50 -g 60 --additional-gids 61 "$ID" id -G
    eq "$output" '50 60 61'
    ex --user 0:7 "$ID" id -G
    eq "$output" 7
    ex --cwd /srv "$ID" pwd
    eq "$output" /srv
    ex --cwd /proc/self/fd/7 "$ID" pwd
    [ "$status" -ne 0 ] || no_match "$output" "$TMP"
    ex --cwd relative "$ID" pwd
    [ "$status" -ne 0 ]
    ex -u user "$ID" id -u
    [ "$status" -ne 0 ] || eq "$output" 1000
    ex -u 4294967296 "$ID" id
    [ "$status" -ne 0 ]
    gone
}

@test "a terminal" {
    output=$(on_pty "$AGENTRT --root $ROOT exec -t $ID sh -c 'tty; stty size >/dev/null && echo sized'")
    match "$output" '/dev/pts/[0-9]'
    match "$output" sized
    status=0
    on_pty "$AGENTRT --root $ROOT exec --tty $ID sh -c 'exit 9'" || status=$?
    rc 9
    gone
}

@test "a terminal over a console socket, detached" {
    "$PROBE" console "$TMP/console" </dev/null >"$TMP/screen" 2>"$TMP/received" 3>&- &
    server=$!
    wait_for 5 test -S "$TMP/console"
    ex -d -t --console-socket "$TMP/console" "$ID" sh -c 'tty; echo hi >/dev/tty'
    rc 0
    wait $server
    match "$(cat "$TMP/received")" 'descriptors=1'
    match "$(cat "$TMP/screen")" '/dev/pts/'
    match "$(cat "$TMP/screen")" 'hi'
    ex -d -t "$ID" true
    [ "$status" -ne 0 ]
    match "$output" 'console'
    gone
}

@test "detached: returns at once; the pid file has the host's pid, no newline" {
    ex -d --pid-file "$TMP/pid2" "$ID" sleep 1001
    rc 0
    pid=$(cat "$TMP/pid2")
    eq "$(wc -c <"$TMP/pid2")" "${#pid}"
    eq "$(tr '\0' ' ' <"/proc/$pid/cmdline")" 'sleep 1001 '
    eq "$(awk '/^PPid/ { print $2 }' "/proc/$pid/status")" 1
    rm "$TMP/pid2"
    ex -d --pid-file "$TMP/pid2" "$ID" nonexist
    [ "$status" -ne 0 ]
    [ ! -e "$TMP/pid2" ]
    gone
}

@test "--process: a whole process document" {
    jq '.process | .args = ["sh", "-c", "echo $X; id -u; pwd; umask"] | .env = ["PATH=/bin", "X=doc"] |
        .cwd = "/srv" | .user = {uid: 1000, gid: 1000, umask: 63}' "$BUNDLE/config.json" >"$TMP/p"
    ex --process "$TMP/p" "$ID"
    rc 0
    eq "$output" $'doc\n1000\n/srv\n0077'
    ex -p "$TMP/p" "$ID"
    rc 0
    gone
}

@test "--process: bad documents are refused, naming the path" {
    for p in '{}' '{"args":["true"]}' '{"cwd":"/","args":[]}' '{"cwd":"/","args":"x"}' \
        '{"cwd":"/","args":["true"],"user":{"uid":-1,"gid":0}}' '[]' 'null' '{"cwd":"/"' \
        '{"cwd":"/","args":["true"],"rlimits":[{"type":"X","soft":1,"hard":1}]}'; do
        printf '%s' "$p" >"$TMP/p"
        ex --process "$TMP/p" "$ID"
        [ "$status" -ne 0 ] || fail "taken: $p"
        [ "$status" -lt 128 ] || [ "$status" -eq 255 ] || fail "died of $p: $status"
        [ -n "$output" ] || fail "silent about $p"
    done
    ex --process /nonexistent "$ID"
    [ "$status" -ne 0 ]
    gone
}

@test "--process: scheduler, also one that no child inherits; CPUs" {
    jq '.process | .args = ["sh", "-c", ""] |
        .scheduler = {policy: "SCHED_BATCH", flags: ["SCHED_FLAG_RESET_ON_FORK"]} |
        .execCPUAffinity = {initial: "0", final: "1"}' "$BUNDLE/config.json" >"$TMP/p"
    jq '.args[2] = "exec probe syscall sched_getscheduler 0"' "$TMP/p" >"$TMP/p1"
    ex --process "$TMP/p1" "$ID"
    rc 0
    eq "$output" "ok $((3 | 0x40000000))" # SCHED_BATCH | SCHED_RESET_ON_FORK
    jq '.args[2] = "grep Cpus_allowed_list /proc/self/status"' "$TMP/p" >"$TMP/p1"
    ex --process "$TMP/p1" "$ID"
    rc 0
    match "$output" ':.1$'
    # Without `final`: what the cpuset allows, whatever the caller's own mask.
    jq 'del (.execCPUAffinity.final)' "$TMP/p1" >"$TMP/p2"
    taskset 1 timeout 20 "$AGENTRT" --root "$ROOT" exec --process "$TMP/p2" "$ID" \
        </dev/null >"$TMP/output" 2>&1
    match "$(cat "$TMP/output")" ":.0-$(($(getconf _NPROCESSORS_ONLN) - 1))\$"
    jq '.execCPUAffinity.initial = "4000"' "$TMP/p1" >"$TMP/p2"
    ex --process "$TMP/p2" "$ID"
    rc 255
    match "$output" 'execCPUAffinity: .*4000'
    gone
}

@test "--process: terminal with a console socket" {
    jq '.process | .args = ["sh", "-c", "stty size"] | .terminal = true |
        .consoleSize = {height: 21, width: 84}' "$BUNDLE/config.json" >"$TMP/p"
    "$PROBE" console "$TMP/console" </dev/null >"$TMP/screen" 2>"$TMP/received" 3>&- &
    server=$!
    wait_for 5 test -S "$TMP/console"
    ex --detach --process "$TMP/p" --console-socket "$TMP/console" "$ID"
    rc 0
    wait $server
    match "$(cat "$TMP/screen")" '21 84'
    gone
}

@test "confinement equals init's: namespaces, root, capabilities, no_new_privs, seccomp, cgroup" {
    gone
    edit '.linux.seccomp = {defaultAction: "SCMP_ACT_ALLOW",
        syscalls: [{names: ["getppid"], action: "SCMP_ACT_ERRNO"}]}'
    edit '.process.oomScoreAdj = 200'
    with_ns cgroup
    running
    pid=$(cat "$TMP/pid")
    look='for n in pid mnt net ipc uts cgroup user time; do readlink /proc/self/ns/$n; done
        grep -E "^(Cap|Seccomp|NoNewPrivs|Groups|Umask)" /proc/self/status
        cat /proc/self/cgroup /proc/self/oom_score_adj; tr -s " " </proc/self/limits; pwd; umask'
    ex "$ID" sh -c "$look"
    rc 0
    mine=$output
    nsenter -t "$pid" -m -p readlink /proc/1/ns/net >/dev/null
    theirs=$(for n in pid mnt net ipc uts cgroup user time; do readlink "/proc/$pid/ns/$n"; done
        grep -E '^(Cap|Seccomp|NoNewPrivs|Groups|Umask)' "/proc/$pid/status")
    eq "$(head -n "$(wc -l <<<"$theirs")" <<<"$mine")" "$theirs"
    match "$mine" '^200$'
    match "$mine" '^0::/$'
    match "$mine" 'Max open files 1024 1024'
    gone
}

@test "capabilities: --cap adds to the sets, never an ambient surprise for a user" {
    ex --cap CAP_NET_RAW --cap CAP_CHOWN "$ID" grep -E '^Cap(Eff|Bnd)' /proc/self/status
    if [ "$status" -eq 0 ]; then
        [ $((0x$(awk '/CapBnd/ { print $2 }' <<<"$output") & 0x2001)) -eq $((0x2001)) ]
    else
        match "$output" '[cC]ap'
    fi
    ex -u 1000 "$ID" grep -E '^Cap(Inh|Eff|Amb)' /proc/self/status
    rc 0
    no_match "$output" 'CapInh:.*[1-9a-f]'
    gone
}

@test "capabilities: --cap is ambient where the config has it inheritable" {
    gone
    edit '.process.capabilities = {bounding: ["CAP_KILL", "CAP_SYSLOG"], permitted: ["CAP_KILL"],
        effective: ["CAP_KILL"], inheritable: ["CAP_SYSLOG"], ambient: []}'
    running
    ex --cap CAP_SYSLOG "$ID" grep -E '^CapAmb' /proc/self/status
    eq "$output" $'CapAmb:\t0000000400000000'
    ex --cap CAP_CHOWN "$ID" grep -E '^CapAmb' /proc/self/status
    match "$output" "can't raise ambient capability CAP_CHOWN: "
    match "$output" 'CapAmb:.0{16}'
    gone
}

@test "--process: a pipe, which can be read only once" {
    # Not sealed yet, the runtime starts over as its own copy.
    ex --process <(echo '{"cwd": "/", "args": ["/bin/echo", "once"]}') "$ID"
    rc 0
    eq "$output" once
    gone
}

@test "--debug: the CPUs that it begins on, and runc's words" {
    echo '{"cwd": "/", "args": ["/bin/true"], "execCPUAffinity": {"initial": "0-1"}}' >"$TMP/p"
    try rt --debug exec --process "$TMP/p" "$ID"
    rc 0
    match "$output" 'nsexec: affinity: 0x3"'
    match "$output" 'nsexec container setup"'
    match "$output" 'setns_init: about to exec"'
    gone
}

@test "a program whose interpreter is missing" {
    printf '#!/no/such/sh\n' >"$BUNDLE/rootfs/srv/run"
    chmod 755 "$BUNDLE/rootfs/srv/run"
    ex "$ID" /srv/run
    rc 255
    match "$output" 'exec /srv/run: no such file or directory: its interpreter'
    gone
}

@test "no_new_privs: kept when the container has it, added on request" {
    ex "$ID" grep NoNewPrivs /proc/self/status
    match "$output" '1$'
    gone
    edit '.process.noNewPrivileges = false'
    running
    ex "$ID" grep NoNewPrivs /proc/self/status
    match "$output" '0$'
    ex --no-new-privs "$ID" grep NoNewPrivs /proc/self/status
    match "$output" '1$'
    gone
}

@test "preserve-fds" {
    echo three >"$TMP/three"
    timeout 20 "$AGENTRT" --root "$ROOT" exec --preserve-fds 1 "$ID" \
        sh -c 'cat <&3; [ -e /proc/self/fd/4 ] || echo no four' </dev/null >"$TMP/output" 2>&1 \
        3<"$TMP/three" 4<"$TMP/three"
    eq "$(cat "$TMP/output")" $'three\nno four'
    gone
}

@test "many at once, and one after the other" {
    local i p=()
    for i in {1..20}; do
        rt exec "$ID" sh -c "exit $i" </dev/null >/dev/null 2>&1 3>&- &
        p+=($!)
    done
    for i in {1..20}; do
        r=0
        wait "${p[i - 1]}" || r=$?
        eq "$r" "$i"
    done
    for i in {1..50}; do
        ex "$ID" true
        rc 0
    done
    eq "$(rt ps -f json "$ID" | jq length)" 1
    gone
}

@test "the container ends while an exec runs: the exec ends with it" {
    rt exec "$ID" sleep 1002 </dev/null >/dev/null 2>&1 3>&- &
    p=$!
    wait_for 5 two_processes
    rt kill "$ID" KILL
    r=0
    wait $p || r=$?
    eq "$r" 137
    wait_for 5 is_status stopped "$ID"
    rt delete "$ID"
}

two_processes ()
{
    [ "$(rt ps -f json "$ID" | jq length)" -eq 2 ]
}

@test "signals sent to the runtime reach the process" {
    "$AGENTRT" --root "$ROOT" exec "$ID" sh -c 'trap "exit 5" TERM; touch /srv/up
        while :; do sleep 0.02; done' </dev/null 3>&- &
    p=$!
    wait_for 5 test -e "$BUNDLE/rootfs/srv/up"
    kill -TERM $p
    r=0
    wait $p || r=$?
    eq "$r" 5
    gone
}

@test "files that the container planted are not believed" {
    for f in "$BUNDLE/rootfs"/{state.json,config.json,run/agentrt}; do echo '{}' >"$f"; done
    printf 'root:x:0:0::/evil:/bin/sh\n' >"$BUNDLE/rootfs/etc/passwd"
    printf '#!/bin/sh\ntouch /srv/ran-by-runtime\n' >"$BUNDLE/rootfs/bin/nsenter"
    chmod 755 "$BUNDLE/rootfs/bin/nsenter"
    ex "$ID" echo fine
    eq "$output" fine
    [ ! -e "$BUNDLE/rootfs/srv/ran-by-runtime" ]
    gone
}

@test "a command line without a command, and with one besides --process" {
    ex "$ID"
    [ "$status" -ne 0 ]
    [ -n "$output" ]
    gone
}

# below CONTROLLER NAME: makes a cgroup below the container's.
below ()
{
    local dir

    dir=$(host_cgroup "$1")
    mkdir "$dir/$2"
}

@test "--cgroup: below the container's own, in all hierarchies or in some" {
    gone
    with_ns cgroup
    running
    ex --cgroup / "$ID" grep -vc ':/$' /proc/self/cgroup
    eq "$output" 0
    for c in memory cpu cpuacct; do below $c sub; done
    ex --cgroup memory:sub --cgroup cpu,cpuacct:/sub/ "$ID" cat /proc/self/cgroup
    rc 0
    eq "$(grep -E ':(memory|cpu|cpuacct):/sub$' <<<"$output" | wc -l)" 3
    eq "$(grep -vc ':/sub$' <<<"$output")" "$(grep -c ':/$' <<<"$output")"
    for d in $(awk -F: '$2 != "" { sub ("name=", "", $2); print "/sys/fs/cgroup/" $2 $3 }
        $2 == "" { print "/sys/fs/cgroup/unified" $3 }' "/proc/$(cat "$TMP/pid")/cgroup"); do
        mkdir "$d/all"
    done
    d=$(host_cgroup cpuset)
    for f in cpuset.cpus cpuset.mems; do cat "$d/$f" >"$d/all/$f"; done
    ex --cgroup all "$ID" grep -vc ':/all$' /proc/self/cgroup
    eq "$output" 0
    gone
}

@test "--cgroup: nowhere else" {
    for path in .. ../.. sub/../../x memory:.. memory:/../x; do
        ex --cgroup "$path" "$ID" true
        rc 255
        match "$output" 'bad sub cgroup path'
    done
    for path in nonexistent cpu:nonexistent; do
        ex --cgroup "$path" "$ID" true
        rc 255
        match "$output" ' adding pid .*o such file or directory'
    done
    ex --cgroup whaaat:/ "$ID" true
    rc 255
    match "$output" "unknown controller 'whaaat'"
    ex --cgroup cpu:/ --cgroup cpu:/ "$ID" true
    rc 255
    match "$output" 'given twice'
    ex --cgroup cpu:/ --cgroup / "$ID" true
    rc 255
    match "$output" 'is not alone'
    ex --cgroup :/ "$ID" true
    rc 255
    gone
}

@test "cgroup2: an exec follows an init that has left the container's group" {
    dir=/sys/fs/cgroup/unified/$(sed -n 's/^0:://p' "/proc/$(cat "$TMP/pid")/cgroup")
    mkdir "$dir/inner"
    ex "$ID" cat /proc/self/cgroup
    no_match "$output" 'inner'
    cat "$TMP/pid" >"$dir/inner/cgroup.procs"
    echo +hugetlb >"${dir%/*}/cgroup.subtree_control"
    echo +hugetlb >"$dir/cgroup.subtree_control"
    ex "$ID" cat /proc/self/cgroup
    rc 0
    match "$output" '^0::.*/inner$'
    ex --cgroup / "$ID" true
    rc 255
    match "$output" ' adding pid .* to cgroups.*evice or resource busy'
    gone
}

# has_tasks N: there are N threads in the container's freezer.
has_tasks ()
{
    [ "$(wc -l <"$freezer/tasks")" -eq "$1" ]
}

@test "--ignore-paused: waits for the end of the pause" {
    freezer=$(host_cgroup freezer)
    echo FROZEN >"$freezer/freezer.state"
    wait_for 5 grep -q FROZEN "$freezer/freezer.state"
    ex "$ID" true
    rc 255
    match "$output" 'paused container'
    rt exec --ignore-paused "$ID" echo late </dev/null >"$TMP/late" 2>&1 3>&- &
    p=$!
    wait_for 5 has_tasks 2
    [ ! -s "$TMP/late" ]
    echo THAWED >"$freezer/freezer.state"
    wait $p
    eq "$(cat "$TMP/late")" late
    gone
}

@test "--tty takes a value, as crun's" {
    for no in false no; do
        ex --tty=$no "$ID" sh -c 'tty || true'
        eq "$output" 'not a tty'
    done
    output=$(on_pty "$AGENTRT --root $ROOT exec --tty=true $ID tty")
    match "$output" '/dev/pts/[0-9]'
    gone
}
