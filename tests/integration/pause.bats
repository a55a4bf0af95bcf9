#!/usr/bin/env bats
# pause and resume: the freezer tells what a container's status is.

load ../lib/helpers

# frozen: what the kernel says of the container's freezer.
frozen ()
{
    cat "$(host_cgroup freezer)/freezer.state"
}

# counting: the payload counts as fast as it can.
counting ()
{
    script 'i=0; while :; do i=$((i + 1)); echo $i >/tmp/n; done'
    edit '.root.readonly = false'
    created
    rt start "$ID" 3>&-
    wait_for 5 test -s "$BUNDLE/rootfs/tmp/n"
}

goes_on ()
{
    [ "$(cat "$BUNDLE/rootfs/tmp/n")" != "$1" ]
}

@test "pause stops everything, resume lets it go on" {
    counting
    try rt pause "$ID"
    rc 0
    eq "$output" ""
    eq "$(frozen)" FROZEN
    eq "$(status_of)" paused
    eq "$(rt list -f json | jq -r '.[0].status')" paused
    n=$(cat "$BUNDLE/rootfs/tmp/n")
    for _ in 1 2 3 4 5; do eq "$(cat "$BUNDLE/rootfs/tmp/n")" "$n"; done
    try rt resume "$ID"
    rc 0
    eq "$output" ""
    eq "$(frozen)" THAWED
    eq "$(status_of)" running
    wait_for 5 goes_on "$n"
    rt delete -f "$ID"
}

@test "exec'd processes are paused, too" {
    running
    rt exec -d --pid-file "$TMP/pid2" "$ID" sleep 1001 </dev/null >/dev/null 2>&1 3>&-
    rt pause "$ID"
    match "$(grep . "/proc/$(<"$TMP/pid2")/cgroup")" freezer
    match "$(cat "$(host_cgroup freezer)/tasks")" "^$(<"$TMP/pid2")\$"
    rt resume "$ID"
    rt delete -f "$ID"
}

@test "somebody else's freeze is a pause as well, and resume ends it" {
    running
    echo FROZEN >"$(host_cgroup freezer)/freezer.state"
    eq "$(status_of)" paused
    rt resume "$ID"
    eq "$(status_of)" running
    rt delete -f "$ID"
}

@test "in the wrong state: runc's words" {
    try rt pause "$ID"
    refused 'container does not exist'
    try rt resume "$ID"
    refused 'container does not exist'
    running
    try rt resume "$ID"
    refused 'container not paused'
    rt pause "$ID"
    try rt pause "$ID"
    refused 'container not running'
    eq "$(status_of)" paused
    rt resume "$ID"
    rt kill "$ID" KILL
    wait_for 5 is_status stopped "$ID"
    try rt pause "$ID"
    refused 'container not running'
    try rt resume "$ID"
    refused 'container not paused'
    rt delete "$ID"
}

@test "a created container can be paused, and then does not start" {
    args sleep 1000
    created
    rt pause "$ID"
    eq "$(status_of)" paused
    LIMIT=10 try rt start "$ID"
    refused 'cannot start a container in the paused state'
    try rt delete "$ID"
    refused 'that is not stopped: paused'
    rt resume "$ID"
    eq "$(status_of)" created
    rt start "$ID"
    eq "$(status_of)" running
    rt delete -f "$ID"
}

@test "a paused container before its start takes no exec into the engine's network" {
    args sleep 1000
    rt --policy strict create -b "$BUNDLE" "$ID" </dev/null >/dev/null 2>&1 3>&-
    rt pause "$ID"
    LIMIT=10 try rt exec --ignore-paused "$ID" true
    rc 255
    match "$output" 'has not been started'
    rt delete -f "$ID"
}

@test "exec in a paused container is refused" {
    running
    rt pause "$ID"
    try rt exec "$ID" true
    rc 255
    match "$output" 'cannot exec in a paused container \(use --ignore-paused to override\)'
    rt delete -f "$ID"
}

@test "kill and delete --force of a paused container" {
    running
    rt pause "$ID"
    rt kill "$ID" KILL
    wait_for 5 is_status stopped "$ID"
    rt delete "$ID"
    running
    rt pause "$ID"
    try rt delete "$ID"
    refused 'that is not stopped: paused'
    LIMIT=10 try rt delete -f "$ID"
    rc 0
}

@test "a signal other than KILL waits for the resume" {
    script 'trap "exit 7" TERM; echo ready; while :; do sleep 0.05; done'
    rt run -b "$BUNDLE" "$ID" </dev/null >"$TMP/out" 2>&1 3>&- &
    p=$!
    wait_for 5 grep -q ready "$TMP/out"
    rt pause "$ID"
    rt kill "$ID" TERM
    eq "$(status_of)" paused
    rt resume "$ID"
    wait $p && status=0 || status=$?
    rc 7
}

@test "without a cgroup there is nothing to freeze" {
    args sleep 1000
    rt --cgroup-manager disabled create -b "$BUNDLE" "$ID" </dev/null >/dev/null 2>&1 3>&-
    try rt pause "$ID"
    refused 'without a cgroup'
    rt delete -f "$ID"
}
