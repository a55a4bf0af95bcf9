#!/usr/bin/env bats
# events: what a container uses, and that its memory is out.

load ../lib/helpers

# watches: somebody in the cage listens for memory that is out.
watches ()
{
    ls -l /proc/*/fd 2>/dev/null | grep -q 'anon_inode:.eventfd'
}

# lines N: there are at least N events.
lines ()
{
    [ "$(wc -l <"$TMP/events")" -ge "$1" ]
}

@test "--stats: one line that says what the kernel says" {
    edit '.linux.resources = {memory: {limit: 67108864}, pids: {limit: 30}}'
    running
    try rt events --stats "$ID"
    rc 0
    eq "$(wc -l <"$TMP/output")" 1
    eq "$(jq -r .type <<<"$output") $(jq -r .id <<<"$output")" "stats $ID"
    eq "$(jq -c '[.data.memory.usage.limit, .data.pids.current, .data.pids.limit]' <<<"$output")" \
        '[67108864,1,30]'
    [ "$(jq .data.memory.usage.usage <<<"$output")" -gt 0 ]
    [ "$(jq .data.cpu.usage.total <<<"$output")" -gt 0 ]
    eq "$(jq '.data.cpu.usage.percpu | length' <<<"$output")" \
        "$(wc -w <"$(host_cgroup cpuacct)/cpuacct.usage_percpu")"
    eq "$(jq '.data.memory.raw | has ("rss")' <<<"$output")" true
    eq "$(jq -c '[.data.blkio, .data.hugetlb] | map (type)' <<<"$output")" '["object","object"]'
    eq "$(jq -c '.data | keys' <<<"$output")" \
        '["blkio","cpu","hugetlb","intel_rdt","memory","network_interfaces","pids"]'
    rt delete -f "$ID"
}

@test "lines at an interval, until the container ends" {
    running
    rt events --interval 50ms "$ID" >"$TMP/events" 2>&1 3>&- &
    p=$!
    wait_for 10 lines 3
    rt kill "$ID" KILL
    wait $p
    eq "$(jq -r .type "$TMP/events" | sort -u)" stats
    rt delete "$ID"
}

@test "memory that is out is told, once a kill" {
    edit '.linux.resources.memory = {limit: 33554432, swap: 33554432}'
    running
    rt events --interval 1h "$ID" >"$TMP/events" 2>&1 3>&- &
    p=$!
    wait_for 10 watches
    try rt exec "$ID" tail -c 200m /dev/zero
    rc 137
    wait_for 10 grep -q oom "$TMP/events"
    rt kill "$ID" KILL
    wait $p
    eq "$(cat "$TMP/events")" "{\"type\":\"oom\",\"id\":\"$ID\"}"
    rt delete "$ID"
}

@test "an init that is killed for memory is told before the end" {
    edit '.linux.resources.memory = {limit: 33554432, swap: 33554432}'
    args tail -c 200m /dev/zero
    created
    rt events --interval 1h "$ID" >"$TMP/events" 2>&1 3>&- &
    p=$!
    wait_for 10 watches
    rt start "$ID"
    wait $p
    eq "$(cat "$TMP/events")" "{\"type\":\"oom\",\"id\":\"$ID\"}"
    rt delete -f "$ID"
}

@test "what cannot be watched: runc's words" {
    try rt events --stats "$ID"
    refused 'container does not exist'
    running
    for i in 0s -1s 5 x 1.5s 9999999999999999h; do
        try rt events --interval "$i" "$ID"
        rc 1
        match "$output" 'interval'
    done
    rt kill "$ID" KILL
    wait_for 5 is_status stopped "$ID"
    try rt events "$ID"
    refused "container with id $ID is not running"
    rt delete "$ID"
}
