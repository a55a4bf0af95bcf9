#!/usr/bin/env bats
# update: other limits for a container that is there, in the bounds of its policy.

load ../lib/helpers

# file CONTROLLER NAME: the content of a control file of the container.
file ()
{
    cat "$(host_cgroup "$1")/$2"
}

# kept FILTER: what the container's saved config says of its limits.
kept ()
{
    jq -c ".linux.resources | $1" "$ROOT/$ID/config.json"
}

# up ARGUMENT...: updates the container; says nothing.
up ()
{
    try rt update "$@"
    rc 0
    eq "$output" ""
}

# strictly: a container under strict, which tells from inside what its limits are.
strictly ()
{
    args sleep 1000
    rt "$@" create -b "$BUNDLE" --pid-file "$TMP/pid" "$ID" </dev/null >/dev/null 2>"$TMP/err" 3>&-
    rt start "$ID" 3>&-
}

# seen: memory, memory and swap, pids, and CPU time as the container reads them.
seen ()
{
    rt exec "$ID" sh -c 'cd /sys/fs/cgroup; echo $(cat memory/memory.limit_in_bytes \
        memory/memory.memsw.limit_in_bytes pids/pids.max cpu/cpu.cfs_quota_us cpu/cpu.cfs_period_us)'
}

@test "each option changes its file, and the saved config" {
    edit '.linux.resources = {memory: {limit: 67108864, swap: 134217728}, pids: {limit: 30}}'
    running
    up --memory 100m --memory-swap 200M "$ID"
    eq "$(file memory memory.limit_in_bytes)" 104857600
    eq "$(file memory memory.memsw.limit_in_bytes)" 209715200
    up --memory-reservation 1.5m "$ID"
    eq "$(file memory memory.soft_limit_in_bytes)" 1572864
    up "$ID" --pids-limit 17
    eq "$(file pids pids.max)" 17
    up "$ID" --pids-limit=-1
    eq "$(file pids pids.max)" max
    up --cpu-share 512 "$ID"
    eq "$(file cpu cpu.shares)" 512
    up --cpu-quota 50000 --cpu-period 200000 --cpu-burst 10000 "$ID"
    eq "$(file cpu cpu.cfs_quota_us) $(file cpu cpu.cfs_period_us)" "50000 200000"
    eq "$(file cpu cpu.cfs_burst_us)" 10000
    up --cpuset-cpus 0 --cpuset-mems 0 "$ID"
    eq "$(file cpuset cpuset.cpus) $(file cpuset cpuset.mems)" "0 0"
    eq "$(kept '[.memory.limit, .memory.swap, .memory.reservation, .pids.limit, .cpu.shares,
        .cpu.quota, .cpu.period, .cpu.burst, .cpu.cpus, .cpu.mems]')" \
        '[104857600,209715200,1572864,-1,512,50000,200000,10000,"0","0"]'
    rt delete -f "$ID"
}

@test "an idle group has no shares, and gets them back" {
    edit '.linux.resources.cpu = {shares: 700}'
    running
    up --cpu-idle 1 "$ID"
    eq "$(file cpu cpu.idle)" 1
    up --cpu-idle 0 "$ID"
    eq "$(file cpu cpu.idle) $(file cpu cpu.shares)" "0 700"
    rt delete -f "$ID"
}

@test "blkio weight, where this kernel has it; else an error that names it" {
    running
    try rt update --blkio-weight 500 "$ID"
    if [ -e "$(host_cgroup blkio)/blkio.bfq.weight" ]; then
        rc 0
        match "$(file blkio blkio.bfq.weight)" 500
    else
        refused 'blockIO/weight'
    fi
    rt delete -f "$ID"
}

@test "memory and swap, up and down, in one update" {
    edit '.linux.resources.memory = {limit: 33554432, swap: 33554432}'
    running
    up --memory 64m --memory-swap 64m "$ID"
    eq "$(file memory memory.limit_in_bytes) $(file memory memory.memsw.limit_in_bytes)" \
        "67108864 67108864"
    up --memory 16m --memory-swap 20m "$ID"
    eq "$(file memory memory.limit_in_bytes) $(file memory memory.memsw.limit_in_bytes)" \
        "16777216 20971520"
    try rt update --memory 64m "$ID"
    refused '/linux/resources/memory/swap: less than the limit'
    up --memory -1 "$ID"
    [ "$(file memory memory.limit_in_bytes)" -gt 1000000000000 ]
    [ "$(file memory memory.memsw.limit_in_bytes)" -gt 1000000000000 ]
    rt delete -f "$ID"
}

@test "period and quota, one without the other" {
    edit '.linux.resources.cpu = {quota: 50000, period: 100000}'
    running
    up --cpu-period 50000 "$ID"
    eq "$(file cpu cpu.cfs_quota_us) $(file cpu cpu.cfs_period_us)" "50000 50000"
    up --cpu-quota 20000 "$ID"
    eq "$(file cpu cpu.cfs_quota_us) $(file cpu cpu.cfs_period_us)" "20000 50000"
    up --cpu-quota -1 "$ID"
    eq "$(file cpu cpu.cfs_quota_us) $(file cpu cpu.cfs_period_us)" "-1 50000"
    rt delete -f "$ID"
}

@test "only what is given changes" {
    edit '.linux.resources = {pids: {limit: 30}, cpu: {shares: 300}}'
    running
    echo 31 >"$(host_cgroup pids)/pids.max" # somebody else's
    up --cpu-share 400 "$ID"
    eq "$(file pids pids.max)" 31
    up --pids-limit 30 "$ID"
    eq "$(file pids pids.max)" 30
    rt delete -f "$ID"
}

@test "what engines send: 0 is as it is, and device rules stay" {
    edit '.linux.resources.cpu = {shares: 300, quota: 50000, period: 100000}'
    running
    list=$(file devices devices.list) rules=$(kept .devices)
    # containerd, Docker, Podman
    echo '{"devices":[{"allow":false,"access":"rwm"}],"memory":{"limit":33554432,"swap":33554432},
        "cpu":{"quota":60000,"period":100000}}' | rt update --resources=- "$ID"
    eq "$(file memory memory.limit_in_bytes) $(file cpu cpu.cfs_quota_us)" "33554432 60000"
    echo '{"memory":{"limit":33554432,"reservation":0,"swap":67108864,"kernel":0},
        "cpu":{"shares":0,"quota":0,"period":0},"blockIO":{"weight":0}}' | rt update --resources - "$ID"
    eq "$(file memory memory.memsw.limit_in_bytes) $(file cpu cpu.cfs_quota_us)" "67108864 60000"
    eq "$(file cpu cpu.shares)" 300
    eq "$(file devices devices.list)" "$list"
    eq "$(kept '[.cpu.shares, .cpu.quota, .cpu.period]')" '[300,60000,100000]'
    eq "$(kept .devices)" "$rules"
    echo '{"memory":{"limit":67108864,"swap":67108864}}' >"$TMP/r"
    rt update -r "$TMP/r" "$ID" --pids-limit 9
    eq "$(file memory memory.limit_in_bytes) $(file pids pids.max)" "67108864 9"
    rt delete -f "$ID"
}

@test "all or nothing: the third of five fails, the others are as they were" {
    edit '.linux.resources = {memory: {limit: 67108864, swap: 67108864}, pids: {limit: 30},
        cpu: {shares: 300}}'
    running
    before=$(for f in memory/memory.limit_in_bytes memory/memory.memsw.limit_in_bytes pids/pids.max \
        cpu/cpu.shares cpuset/cpuset.cpus; do file "${f%/*}" "${f#*/}"; done)
    try rt update --memory 32m --memory-swap 32m --cpuset-cpus 4000 --pids-limit 5 --cpu-share 77 "$ID"
    refused '/linux/resources/cpu/cpus'
    no_match "$output" 'not undone'
    eq "$(for f in memory/memory.limit_in_bytes memory/memory.memsw.limit_in_bytes pids/pids.max \
        cpu/cpu.shares cpuset/cpuset.cpus; do file "${f%/*}" "${f#*/}"; done)" "$before"
    eq "$(kept '[.memory.limit, .pids.limit, .cpu.cpus]')" '[67108864,30,null]'
    # what is only seen when everything is written: the config cannot be saved
    try strace -f -o /dev/null -e trace=renameat2,renameat,rename \
        -e inject=renameat2,renameat,rename:error=ENOSPC \
        "$AGENTRT" --root "$ROOT" update --pids-limit 5 "$ID"
    rc 1
    eq "$(file pids pids.max)" 30
    rt delete -f "$ID"
}

@test "a device's limits come and go back" {
    read -r major minor < <(awk '$4 ~ /^(vd|sd|nvme|loop)[a-z0-9]*$/ { print $1, $2; exit }' \
        /proc/partitions)
    [ "$major" ] || fail "no block device to try"
    running
    rate ()
    {
        echo "{\"blockIO\":{\"throttleReadBpsDevice\":[{\"major\":$major,\"minor\":$minor,\"rate\":$1}]}}" |
            rt update -r - "$ID" "${@:2}"
    }
    rate 1048576
    eq "$(file blkio blkio.throttle.read_bps_device)" "$major:$minor 1048576"
    try rate 2097152 --cpuset-cpus 4000
    [ "$status" -ne 0 ]
    eq "$(file blkio blkio.throttle.read_bps_device)" "$major:$minor 1048576"
    rate 0
    eq "$(file blkio blkio.throttle.read_bps_device)" ""
    try rate 2097152 --cpuset-cpus 4000
    eq "$(file blkio blkio.throttle.read_bps_device)" ""
    rt delete -f "$ID"
}

@test "less memory than is in use is refused with the numbers, and nothing changes" {
    edit '.linux.resources.memory = {limit: 134217728, swappiness: 0}' # nothing is swapped out
    script 'x=$(head -c 40000000 /dev/zero | tr "\0" x); echo ready >/tmp/ready; sleep 1000; :'
    edit '.root.readonly = false'
    created
    rt start "$ID" 3>&-
    wait_for 10 test -s "$BUNDLE/rootfs/tmp/ready"
    try rt update --memory 4m --pids-limit 5 "$ID"
    refused '/linux/resources/memory/limit: the kernel refuses 4194304 bytes while [0-9]+'
    eq "$(file memory memory.limit_in_bytes) $(file pids pids.max)" "134217728 max"
    rt delete -f "$ID"
}

@test "created and paused containers take an update, others do not" {
    args sleep 1000
    try rt update --pids-limit 5 "$ID"
    refused 'container does not exist'
    created
    up --pids-limit 25 "$ID"
    rt start "$ID"
    rt pause "$ID"
    up --pids-limit 26 "$ID"
    eq "$(file pids pids.max)" 26
    eq "$(status_of)" paused
    rt resume "$ID"
    rt kill "$ID" KILL
    wait_for 5 is_status stopped "$ID"
    try rt update --pids-limit 5 "$ID"
    refused 'container not running'
    rt delete "$ID"
    rt --cgroup-manager disabled create -b "$BUNDLE" "$ID" </dev/null >/dev/null 2>&1 3>&-
    try rt update --pids-limit 5 "$ID"
    refused 'has no cgroup'
    rt delete -f "$ID"
}

@test "what is no value is refused, naming it" {
    running
    for o in --memory=x --memory=-2 --memory=5mm --memory=1.m --pids-limit=x --cpu-period=-1 \
        --cpu-idle=2 --blkio-weight=70000 --cpu-quota=1k; do
        try rt update "$o" "$ID"
        refused "${o%%=*}: '${o#*=}'"
    done
    for o in --cpuset-cpus=x-y --cpuset-mems=/; do
        try rt update "$o" "$ID"
        refused '/linux/resources/cpu/(cpus|mems)'
    done
    try rt update --l3-cache-schema 'L3:0=f' "$ID"
    refused 'Intel RDT/CAT: l3 cache schema is not enabled'
    try rt update --mem-bw-schema 'MB:0=20' "$ID"
    refused 'Intel RDT/MBA: memory bandwidth schema is not enabled'
    for d in '{"memory":{"limit":"1"}}' '{"pids":' '{"hugepageLimits":[{"pageSize":"../x","limit":1}]}' \
        '{"unified":{"a/b":"1"}}' '[]'; do
        echo "$d" >"$TMP/d"
        try rt update -r "$TMP/d" "$ID"
        rc 1
        no_match "$output" '^$'
    done
    try rt update -r "$TMP/none" "$ID"
    rc 1
    rt delete -f "$ID"
}

@test "hugetlb on a hybrid host's cgroup2 side, though its first limits did not need it" {
    [ "$CAGE_LAYOUT" = hybrid ] || return 0
    grep -q hugetlb /sys/fs/cgroup/unified/cgroup.controllers || return 0
    edit --arg p "/$MARK" '.linux.cgroupsPath = $p'
    running
    echo '{"hugepageLimits":[{"pageSize":"2MB","limit":4194304}]}' | rt update -r - "$ID"
    eq "$(cat "/sys/fs/cgroup/unified/$MARK/hugetlb.2MB.max")" 4194304
    rt delete -f "$ID"
}

@test "strict: an update never gets above the ceilings, seen from inside; below it does" {
    strictly --policy strict
    eq "$(seen)" "1073741824 1073741824 128 100000 100000"
    rt --policy oci update --memory 8g --memory-swap 16g --pids-limit 4096 --cpu-quota 800000 \
        --cpu-burst 90000 "$ID"
    eq "$(seen)" "1073741824 1073741824 128 100000 100000"
    eq "$(file cpu cpu.cfs_burst_us)" 0
    rt update --memory -1 --pids-limit -1 --cpu-quota -1 --cpu-period 20000 "$ID"
    eq "$(seen)" "1073741824 1073741824 128 20000 20000"
    echo '{"unified":{"pids.max":"max"},"memory":{"disableOOMKiller":true}}' | rt update -r - "$ID"
    eq "$(seen)" "1073741824 1073741824 128 20000 20000"
    match "$(file memory memory.oom_control)" 'oom_kill_disable 0'
    rt update --memory 64m --pids-limit 20 --cpu-quota 5000 "$ID"
    eq "$(seen)" "67108864 67108864 20 5000 20000"
    rt update --memory 128m "$ID"
    eq "$(seen)" "134217728 134217728 20 5000 20000"
    eq "$(kept '[.memory.limit, .memory.swap, .pids.limit]')" '[134217728,134217728,20]'
    rt delete -f "$ID"
}

@test "strict: what was asked for and not given is told in the log" {
    strictly --policy strict
    rt --log "$TMP/log" --log-level info update --memory 8g "$ID"
    match "$(cat "$TMP/log")" "policy 'strict' .* changed what the update asks for: limits.memory"
    rt delete -f "$ID"
}

@test "without the ceiling the same update is done" {
    printf '{"extend": "strict", "limits": {"pids": -1, "memory": -1, "swap": -1}}' >"$TMP/p.json"
    strictly --policy "$TMP/p.json"
    rt update --memory 8g --memory-swap 16g --pids-limit 4096 --cpu-quota 800000 "$ID"
    eq "$(seen)" "8589934592 17179869184 4096 100000 100000"
    rt delete -f "$ID"
}

@test "a policy that refuses: the update fails with rule and policy, and changes nothing" {
    printf '{"extend": "oci", "conflict": "refuse", "limits": {"memory": 1073741824, "swap": 0,
        "pids": 128, "milliCpus": 1000}}' >"$TMP/p.json"
    strictly --policy "$TMP/p.json"
    try rt update --pids-limit 20 --memory 8g "$ID"
    refused "/linux/resources/memory/limit.*rule 'limits.memory' of policy"
    eq "$(file pids pids.max)" 128
    rt update --pids-limit 20 --memory 64m "$ID"
    eq "$(seen)" "67108864 67108864 20 100000 100000"
    rt delete -f "$ID"
}

@test "a container whose kept policy was changed takes no update" {
    strictly --policy strict
    jq -c '.limits.pids = 100000' "$ROOT/$ID/policy.json" >"$TMP/p" && cat "$TMP/p" >"$ROOT/$ID/policy.json"
    try rt update --pids-limit 5000 "$ID"
    refused 'is not what it was made under'
    eq "$(file pids pids.max)" 128
    rt delete -f "$ID"
}
