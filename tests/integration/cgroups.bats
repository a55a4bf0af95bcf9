#!/usr/bin/env bats
# Cgroups, seen from the host: where, with which limits, that they bite, and that they go.

load ../lib/helpers

prepare ()
{
    edit --arg p "/$MARK/box" '.linux.cgroupsPath = $p'
}

# file CONTROLLER NAME: the content of a control file of the running container.
file ()
{
    cat "$(host_cgroup "$1")/$2"
}

@test "the init is in the configured cgroup of every hierarchy, before it runs" {
    args sleep 1000
    created
    pid=$(cat "$TMP/pid")
    for c in memory pids cpu cpuacct cpuset devices freezer blkio; do
        match "$(grep ":$c:" "/proc/$pid/cgroup")" "/$MARK/box\$"
        match "$(cat "$(host_cgroup $c)/cgroup.procs")" "^$pid\$"
    done
    rt delete -f "$ID"
    eq "$(find /sys/fs/cgroup -type d -name box -path "*$MARK*")" ""
}

teardown ()
{
    # The parent folder is not ours to remove for the runtime, but the test's.
    find /sys/fs/cgroup -depth -type d -name "$MARK" -exec rmdir {} \; 2>/dev/null || true
    finish_test
}

@test "the path without one in the config carries the id" {
    edit 'del (.linux.cgroupsPath)'
    running
    match "$(host_cgroup memory)" "$ID\$"
    rt delete -f "$ID"
}

@test "a relative path" {
    edit --arg p "$MARK/rel" '.linux.cgroupsPath = $p'
    running
    match "$(host_cgroup pids)" "/$MARK/rel\$"
    rt delete -f "$ID"
}

@test "paths that leave the tree are refused, and nothing is made" {
    for p in /../../x '../../x' 'a/../../../b' "/$MARK/../../../etc"; do
        edit --arg p "$p" '.linux.cgroupsPath = $p'
        inside true
        [ "$status" -ne 0 ] || fail "$p was taken"
        match "$output" 'cgroupsPath|cgroup'
    done
}

@test "memory: limit, reservation, swap, swappiness as the kernel has them" {
    edit '.linux.resources.memory = {limit: 67108864, reservation: 33554432, swap: 134217728,
        swappiness: 10, disableOOMKiller: false}'
    running
    eq "$(file memory memory.limit_in_bytes)" 67108864
    eq "$(file memory memory.soft_limit_in_bytes)" 33554432
    [ ! -e "$(host_cgroup memory)/memory.memsw.limit_in_bytes" ] ||
        eq "$(file memory memory.memsw.limit_in_bytes)" 134217728
    eq "$(file memory memory.swappiness)" 10
    rt delete -f "$ID"
}

@test "memory: -1 is unlimited" {
    edit '.linux.resources.memory = {limit: -1, swap: -1}'
    running
    [ "$(file memory memory.limit_in_bytes)" -gt 1000000000000 ]
    rt delete -f "$ID"
}

@test "memory: the limit kills, and the exit status says so" {
    edit '.linux.resources.memory = {limit: 33554432, swap: 33554432}'
    args tail -c 200m /dev/zero
    SECONDS=0
    try rt run -b "$BUNDLE" "$ID"
    rc 137
    script 'tail -c 200m /dev/zero; echo "shell lives: $?"'
    try rt run -b "$BUNDLE" "$ID"
    match "$output" 'shell lives: 137'
}

@test "memory: a process added by exec is held by the limit, too" {
    edit '.linux.resources.memory = {limit: 33554432, swap: 33554432}'
    running
    try rt exec "$ID" tail -c 200m /dev/zero
    rc 137
    eq "$(status_of)" running
    match "$(file memory memory.oom_control)" 'oom_kill [1-9]'
    rt delete -f "$ID"
}

@test "memory: a limit that cannot hold even the start is a clear error" {
    edit '.linux.resources.memory = {limit: 4096}'
    LIMIT=20 inside true
    [ "$status" -ne 0 ]
    [ "$status" -ne 124 ] || fail "it hung"
    [ -n "$output" ] || [ "$status" -eq 137 ]
}

@test "pids: the limit is set and denies" {
    edit '.linux.resources.pids = {limit: 8}'
    inside 'for i in 1 2 3 4 5 6 7 8 9 10; do sleep 1 & done; wait'
    match "$output" "can't fork"
    running
    eq "$(file pids pids.max)" 8
    rt delete -f "$ID"
    edit '.linux.resources.pids = {limit: -1}'
    running
    eq "$(file pids pids.max)" max
    rt delete -f "$ID"
}

@test "cpu: shares, quota, period" {
    edit '.linux.resources.cpu = {shares: 512, quota: 50000, period: 100000}'
    running
    eq "$(file cpu cpu.shares)" 512
    eq "$(file cpu cpu.cfs_quota_us)" 50000
    eq "$(file cpu cpu.cfs_period_us)" 100000
    rt delete -f "$ID"
    edit '.linux.resources.cpu = {quota: -1, period: 50000}'
    running
    eq "$(file cpu cpu.cfs_quota_us)" -1
    eq "$(file cpu cpu.cfs_period_us)" 50000
    rt delete -f "$ID"
}

@test "cpu: burst and idle where the kernel has them" {
    edit '.linux.resources.cpu = {quota: 50000, period: 100000, burst: 20000}'
    running
    eq "$(file cpu cpu.cfs_burst_us)" 20000
    rt delete -f "$ID"
    edit '.linux.resources.cpu = {idle: 1}'
    running
    eq "$(file cpu cpu.idle)" 1
    rt delete -f "$ID"
}

@test "cpu: the quota throttles" {
    edit '.linux.resources.cpu = {quota: 10000, period: 100000}'
    script 'while :; do :; done'
    rt run -d --pid-file "$TMP/pid" -b "$BUNDLE" "$ID" </dev/null >/dev/null 2>&1 3>&-
    wait_for 5 grep -q 'nr_throttled [1-9]' "$(host_cgroup cpu)/cpu.stat"
    rt delete -f "$ID"
}

@test "cpuset: processors and memory nodes" {
    edit '.linux.resources.cpu = {cpus: "0", mems: "0"}'
    running
    eq "$(file cpuset cpuset.cpus)" 0
    eq "$(file cpuset cpuset.mems)" 0
    eq "$(awk '/Cpus_allowed_list/ { print $2 }' "/proc/$(cat "$TMP/pid")/status")" 0
    rt delete -f "$ID"
    edit '.linux.resources.cpu = {cpus: "4000"}'
    inside true
    [ "$status" -ne 0 ]
    match "$output" 'cpus'
}

@test "devices: the list the kernel holds" {
    edit '.linux.resources.devices = [{allow: false, access: "rwm"},
        {allow: true, type: "c", major: 10, minor: 229, access: "rw"}]'
    running
    list=$(file devices devices.list)
    match "$list" '^c 10:229 rw$'
    match "$list" '^c 1:3 rwm$'
    no_match "$list" '^a '
    no_match "$list" '^b \*:\* rw'
    rt delete -f "$ID"
}

@test "blkio: throttling of a device" {
    read -r major minor < <(awk '$4 ~ /^(vd|sd|nvme|loop)[a-z0-9]*$/ { print $1, $2; exit }' \
        /proc/partitions)
    [ "$major" ] || fail "no block device to try"
    edit --argjson a "$major" --argjson b "$minor" '.linux.resources.blockIO = {
        throttleReadBpsDevice: [{major: $a, minor: $b, rate: 1048576}],
        throttleWriteIOPSDevice: [{major: $a, minor: $b, rate: 50}]}'
    running
    match "$(file blkio blkio.throttle.read_bps_device)" "^$major:$minor 1048576\$"
    match "$(file blkio blkio.throttle.write_iops_device)" "^$major:$minor 50\$"
    rt delete -f "$ID"
}

@test "a limit whose file this kernel lacks is an error that names it, not a silence" {
    # The CFQ scheduler's leaf weights went with Linux 5.0.
    edit '.linux.resources.blockIO = {leafWeight: 500}'
    inside true
    [ "$status" -ne 0 ]
    match "$output" 'blockIO.leafWeight'
}

@test "hugetlb on the cgroup2 side of a hybrid host" {
    [ "$CAGE_LAYOUT" = hybrid ] || return 0
    grep -q hugetlb /sys/fs/cgroup/unified/cgroup.controllers || return 0
    edit '.linux.resources.hugepageLimits = [{pageSize: "2MB", limit: 4194304}]'
    running
    path=$(sed -n 's/^0:://p' "/proc/$(cat "$TMP/pid")/cgroup")
    eq "$(cat "/sys/fs/cgroup/unified$path/hugetlb.2MB.max")" 4194304
    rt delete -f "$ID"
    edit '.linux.resources.hugepageLimits = [{pageSize: "3MB", limit: 4194304}]'
    inside true
    [ "$status" -ne 0 ]
    match "$output" '3MB|hugepageLimits'
}

@test "values that cannot be are refused, naming the property" {
    for r in 'memory:{"limit":-5}' 'memory:{"limit":"64m"}' 'memory:{"swappiness":201}' \
        'pids:{"limit":"x"}' 'cpu:{"period":1}' 'cpu:{"shares":-1}' 'cpu:{"cpus":"x-y"}' \
        'blockIO:{"weight":70000}' 'hugepageLimits:[{"pageSize":"../../x","limit":1}]' \
        'unified:{"../x":"1"}' 'unified:{"a/b":"1"}'; do
        edit 'del (.linux.resources)'
        edit --arg k "${r%%:*}" --argjson v "${r#*:}" '.linux.resources[$k] = $v'
        inside true
        [ "$status" -ne 0 ] || fail "$r was taken"
        match "$output" "${r%%:*}|cgroup|cpu|blkio"
    done
}

@test "exec joins the same cgroups" {
    running
    rt exec -d --pid-file "$TMP/pid2" "$ID" sleep 1000 </dev/null >/dev/null 2>&1 3>&-
    eq "$(cat "/proc/$(cat "$TMP/pid2")/cgroup")" "$(cat "/proc/$(cat "$TMP/pid")/cgroup")"
    rt delete -f "$ID"
}

@test "delete removes cgroups that the container made below its own" {
    with_ns cgroup
    edit '.process.capabilities |= map_values (["CAP_DAC_OVERRIDE"])'
    edit '(.mounts[] | select (.type == "cgroup")).options |= map (select (. != "ro"))'
    running
    dir=$(host_cgroup pids)
    mkdir -p "$dir/a/b/c" "$dir/d"
    sleep 1000 3>&- &
    echo $! >"$dir/a/b/cgroup.procs"
    rt delete -f "$ID"
    [ ! -e "$dir" ]
    wait $! || true
}

@test "delete --force of a container that somebody froze" {
    running
    dir=$(host_cgroup freezer)
    echo FROZEN >"$dir/freezer.state"
    SECONDS=0
    LIMIT=10 try rt delete -f "$ID"
    rc 0
    [ $SECONDS -le 5 ] || fail "it took $SECONDS s"
}

@test "kill of a frozen container is delivered when it thaws" {
    running
    dir=$(host_cgroup freezer)
    echo FROZEN >"$dir/freezer.state"
    LIMIT=10 rt kill "$ID" KILL
    echo THAWED >"$dir/freezer.state" 2>/dev/null || true
    wait_for 5 is_status stopped "$ID"
    rt delete "$ID"
}

@test "a frozen or occupied cgroup is not taken for a new container" {
    for c in memory pids cpu cpuacct cpuset devices freezer blkio systemd; do
        [ ! -d /sys/fs/cgroup/$c ] || mkdir -p "/sys/fs/cgroup/$c/$MARK/box"
    done
    echo FROZEN >"/sys/fs/cgroup/freezer/$MARK/box/freezer.state"
    LIMIT=10 inside true
    [ "$status" -ne 0 ] && [ "$status" -lt 124 ] || fail "status $status: $output"
    match "$output" '(frozen|FROZEN|not empty)'
    echo THAWED >"/sys/fs/cgroup/freezer/$MARK/box/freezer.state"
    find /sys/fs/cgroup -depth -type d -path "*/$MARK*" -exec rmdir {} \; || true
}

@test "ps lists what is in the cgroup, exec'd processes too" {
    running
    rt exec -d "$ID" sleep 1001 </dev/null >/dev/null 2>&1 3>&-
    eq "$(rt ps -f json "$ID" | jq length)" 2
    rt delete -f "$ID"
}

@test "a cgroup in which cgroup.kill was written before still takes a container" {
    # Linux 6.13 and later kill what is cloned into it at its birth.
    [ -e /sys/fs/cgroup/unified/cgroup.procs ] || fail "this host has no cgroup2 hierarchy"
    mkdir -p "/sys/fs/cgroup/unified/$MARK/box"
    echo 1 >"/sys/fs/cgroup/unified/$MARK/box/cgroup.kill"
    args sh -c 'grep ^0:: /proc/self/cgroup'
    try rt run -b "$BUNDLE" "$ID"
    eq "$status" 0
    match "$output" "^0::/"
    rmdir "/sys/fs/cgroup/unified/$MARK/box"
}

@test "where clone3 is refused, as inside Docker, clone does it" {
    args sh -c 'grep -c box /proc/self/cgroup; sleep 1000'
    edit 'del (.linux.namespaces[] | select (.type == "cgroup"))'
    try strace -o "$TMP/trace" -e trace=clone3 -e inject=clone3:error=ENOSYS \
        "$AGENTRT" --root "$ROOT" run -d -b "$BUNDLE" "$ID"
    grep -q 'clone3.*ENOSYS.*INJECTED' "$TMP/trace"
    try strace -f -o "$TMP/trace" -e trace=clone3 -e inject=clone3:error=ENOSYS \
        "$AGENTRT" --root "$ROOT" exec "$ID" grep -c box /proc/self/cgroup
    grep -q 'clone3.*ENOSYS.*INJECTED' "$TMP/trace"
    [ "$output" -ge 9 ]
    rt delete -f "$ID"
}

@test "a process that waits for memory cannot be frozen, and is killed at once all the same" {
    local h
    for h in /sys/fs/cgroup/*/; do mkdir -p "$h$MARK/box"; done # not ours: killed one by one
    edit --arg p "/$MARK/box" '.linux.cgroupsPath = $p |
        .linux.resources.memory = {limit: 4194304, swap: 4194304, disableOOMKiller: true}'
    script 'x=aaaaaaaaaaaaaaaa; while :; do x=$x$x; done'
    created
    rt start "$ID"
    wait_for 5 grep 'under_oom 1' "/sys/fs/cgroup/memory/$MARK/box/memory.oom_control"
    SECONDS=0
    LIMIT=15 try rt delete -f "$ID"
    rc 0
    [ $SECONDS -le 5 ] || fail "it took $SECONDS s"
    for h in /sys/fs/cgroup/*/; do rmdir "$h$MARK/box" "$h$MARK"; done
}

@test "a second container in the cgroup of a first: refused, and the first one lives" {
    running
    try rt run -b "$BUNDLE" "${ID}b"
    refused "container's cgroup is not empty: 1 process"
    eq "$(status_of)" running
    edit 'del (.linux.cgroupsPath)'
    rt run -d -b "$BUNDLE" "${ID}c" </dev/null >/dev/null 2>&1 3>&-
    try timeout 30 "$AGENTRT" --root "$TMP/other" run -b "$BUNDLE" "${ID}c" # same default path
    refused "container's cgroup is not empty: 1 process"
    eq "$(status_of "${ID}c")" running
    rt delete -f "${ID}c"
    rt delete -f "$ID"
}

@test "an empty left-over at the default path is made anew, without its limits, and goes" {
    edit 'del (.linux.cgroupsPath)'
    mkdir -p "/sys/fs/cgroup/pids/$ID/old"
    echo 3 >"/sys/fs/cgroup/pids/$ID/pids.max"
    running
    eq "$(file pids pids.max)" max
    [ ! -e "$(host_cgroup pids)/old" ]
    rt delete -f "$ID"
    eq "$(find /sys/fs/cgroup -type d -name "$ID")" ""
}

@test "pods: cgroups below one another; the outer one stays until its own container goes" {
    running
    edit --arg p "/$MARK/box/inner" '.linux.cgroupsPath = $p'
    rt run -d -b "$BUNDLE" "${ID}b" </dev/null >/dev/null 2>&1 3>&-
    rt delete -f "${ID}b"
    eq "$(status_of)" running
    eq "$(find /sys/fs/cgroup -type d -name inner -path "*$MARK*")" ""
    rt delete -f "$ID"
}

@test "what a container nests, freezes and makes threaded in its cgroups: delete -f takes all" {
    [ "$CAGE_LAYOUT" = hybrid ] || return 0
    running
    v1=$(host_cgroup freezer) v2=/sys/fs/cgroup/unified/$MARK/box
    mkdir -p "$v1/a/b" "$v2/a/b" "$v2/t"
    for d in {1..20}; do mkdir "$v2/n$d" "$v1/n$d"; done
    sleep 1000 3>&- &
    echo $! >"$v1/a/b/cgroup.procs"
    echo $! >"$v2/a/b/cgroup.procs"
    echo FROZEN >"$v1/a/freezer.state"
    echo 1 >"$v2/a/b/cgroup.freeze"
    echo threaded >"$v2/t/cgroup.type" || true
    SECONDS=0
    LIMIT=10 try rt delete -f "$ID"
    rc 0
    [ $SECONDS -le 5 ] || fail "it took $SECONDS s"
    wait $! || true
    [ ! -e "$v1" ] && [ ! -e "$v2" ]
}

@test "pids: 0 is a limit of the container's first process alone" {
    edit '.linux.resources.pids = {limit: 0}'
    running
    eq "$(file pids pids.max)" 1
    rt delete -f "$ID"
}
