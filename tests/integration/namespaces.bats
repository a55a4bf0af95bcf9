#!/usr/bin/env bats
# The eight kinds of namespace: made, joined by path, inherited, and every wrong way to ask.

load ../lib/helpers

# Config names and their names below /proc/PID/ns.
kinds='pid:pid network:net mount:mnt ipc:ipc uts:uts user:user cgroup:cgroup time:time'

# outside FILE: this shell's namespace.
outside ()
{
    readlink "/proc/self/ns/$1"
}

@test "made: each kind has another inode than the host's" {
    userns
    with_ns cgroup
    with_ns time
    inside 'for n in pid net mnt ipc uts user cgroup time; do readlink /proc/self/ns/$n; done'
    rc 0
    for k in $kinds; do
        match "$output" "^${k#*:}:\[[0-9]+\]$"
        no_match "$output" "$(outside "${k#*:}" | sed 's/[][]/\\&/g')"
    done
}

@test "absent: the host's is inherited" {
    edit 'del (.hostname) | .linux.namespaces = [{type: "mount"}]'
    edit '(.mounts[] | select (.type == "sysfs")) = {destination: "/sys", type: "bind",
        source: "/sys", options: ["rbind", "ro"]}'
    edit '.mounts |= map (select (.type != "mqueue"))'
    inside 'for n in pid net ipc uts user cgroup time; do readlink /proc/self/ns/$n; done'
    rc 0
    eq "$output" "$(for n in pid net ipc uts user cgroup time; do outside $n; done)"
}

@test "joined: network, ipc, uts and cgroup by path" {
    unshare --net --ipc --uts --cgroup sleep 1000 3>&- &
    holder=$!
    wait_for 5 differs $holder net
    for k in network:net ipc:ipc uts:uts cgroup:cgroup; do
        with_ns "${k%:*}" "/proc/$holder/ns/${k#*:}"
    done
    edit 'del (.hostname)'
    inside 'for n in net ipc uts cgroup; do readlink /proc/self/ns/$n; done'
    rc 0
    eq "$output" "$(for n in net ipc uts cgroup; do readlink /proc/$holder/ns/$n; done)"
    kill $holder
    wait $holder || true
}

differs ()
{
    [ "$(readlink "/proc/$1/ns/$2")" != "$(outside "$2")" ]
}

@test "joined: a pid namespace, whose processes are then seen" {
    running
    other=$MARK-2
    with_ns pid "/proc/$(cat "$TMP/pid")/ns/pid"
    script 'readlink /proc/self/ns/pid; cat /proc/1/cmdline | tr "\0" " "; echo $$'
    try rt run -b "$BUNDLE" "$other"
    rc 0
    eq "$(sed -n 1p <<<"$output")" "$(readlink "/proc/$(cat "$TMP/pid")/ns/pid")"
    match "$output" '^sleep 1000 [0-9]+$'
    no_match "$output" '^sleep 1000 1$'
    rt delete -f "$ID"
}

@test "joined: a time namespace" {
    unshare --time --boottime 5000 --fork --kill-child sleep 1000 3>&- &
    parent=$!
    wait_for 5 pgrep -P $parent
    holder=$(pgrep -P $parent)
    with_ns time "/proc/$holder/ns/time"
    inside 'readlink /proc/self/ns/time'
    rc 0
    eq "$output" "$(readlink "/proc/$holder/ns/time")"
    kill "$holder" # unshare --fork itself blocks TERM while it waits
    wait $parent || true
}

@test "joined: a user namespace, with the other namespaces made inside it" {
    unshare --user sleep 1000 3>&- &
    holder=$!
    wait_for 5 differs $holder user
    echo '0 100000 65536' >/proc/$holder/uid_map
    echo '0 100000 65536' >/proc/$holder/gid_map
    with_ns user "/proc/$holder/ns/user"
    chown -R 100000:100000 "$BUNDLE/rootfs"
    inside 'readlink /proc/self/ns/user; id -u; cat /proc/self/uid_map | tr -s " "'
    rc 0
    eq "$output" "$(readlink "/proc/$holder/ns/user")"$'\n0\n 0 100000 65536'
    kill $holder
    wait $holder || true
}

@test "joined: those of another container, as in a pod" {
    running
    pid=$(cat "$TMP/pid")
    for k in network:net ipc:ipc uts:uts; do with_ns "${k%:*}" "/proc/$pid/ns/${k#*:}"; done
    edit 'del (.hostname)'
    script 'for n in net ipc uts; do readlink /proc/self/ns/$n; done'
    try rt run -b "$BUNDLE" "$MARK-2"
    rc 0
    eq "$output" "$(for n in net ipc uts; do readlink /proc/"$pid"/ns/$n; done)"
    rt delete -f "$ID"
}

@test "a path of another kind of namespace is refused" {
    unshare --net --uts sleep 1000 3>&- &
    holder=$!
    wait_for 5 differs $holder net
    edit 'del (.hostname)'
    for k in network:uts uts:net ipc:net pid:net mount:net cgroup:net; do
        cp "$BUNDLE/config.json" "$TMP/saved"
        with_ns "${k%:*}" "/proc/$holder/ns/${k#*:}"
        inside true
        refused "${k%:*}|namespace"
        cp "$TMP/saved" "$BUNDLE/config.json"
    done
    kill $holder
    wait $holder || true
}

@test "a path that is no namespace, or not there, is refused" {
    for path in /etc/passwd /nonexistent /proc /dev/null; do
        with_ns network "$path"
        inside true
        refused "$path"
        no_match "$output" '[Nn]o such file or directory$'
    done
}

@test "the same kind twice is refused" {
    edit '.linux.namespaces += [{type: "uts"}]'
    inside true
    refused 'uts|namespace'
}

@test "an unknown kind is refused" {
    edit '.linux.namespaces += [{type: "warp"}]'
    inside true
    refused warp
}

@test "no namespaces at all: nothing on the host changes" {
    edit '.linux.namespaces = [] | del (.hostname)'
    before=$(cat /proc/self/mountinfo)
    inside true
    eq "$(cat /proc/self/mountinfo)" "$before"
}

@test "a new network namespace has lo up and nothing else" {
    inside 'ls /sys/class/net; cat /sys/class/net/lo/flags; ip addr show lo'
    rc 0
    eq "$(sed -n 1p <<<"$output")" lo
    eq "$(sed -n 2p <<<"$output")" 0x9
    match "$output" 'inet 127.0.0.1/8'
}

@test "a new pid namespace: the payload is pid 1 and sees only its own" {
    inside 'echo $$; ls /proc | grep -c "^[0-9]"'
    rc 0
    eq "$(sed -n 1p <<<"$output")" 1
    [ "$(sed -n 2p <<<"$output")" -le 3 ]
}

@test "a new cgroup namespace is rooted at the container's own cgroup" {
    with_ns cgroup
    inside 'cut -d: -f3 /proc/self/cgroup | sort -u'
    rc 0
    eq "$output" /
}

@test "hostname and domainname; both need a uts namespace of their own" {
    edit '.hostname = "box" | .domainname = "example.test"'
    before=$(uname -n)
    inside 'hostname; cat /proc/sys/kernel/domainname'
    rc 0
    eq "$output" $'box\nexample.test'
    eq "$(uname -n)" "$before"
    without_ns uts
    inside true
    refused 'hostname|uts'
    edit 'del (.hostname)'
    inside true
    refused 'domainname|uts'
    eq "$(uname -n)" "$before"
}

@test "time offsets: boottime and monotonic, negative too" {
    with_ns time
    edit '.linux.timeOffsets = {boottime: {secs: 864000, nanosecs: 5},
        monotonic: {secs: 1000000}}'
    inside 'cut -d. -f1 /proc/uptime; tr -s " \t" " " </proc/self/timens_offsets'
    rc 0
    up=$(cut -d. -f1 /proc/uptime)
    got=$(sed -n 1p <<<"$output")
    [ $((got - up)) -ge 863990 ] && [ $((got - up)) -le 864010 ]
    match "$output" '^monotonic 1000000 0$'
    match "$output" '^boottime 864000 5$'
}

@test "time offsets without a time namespace of their own are refused" {
    edit '.linux.timeOffsets = {boottime: {secs: 1}}'
    inside true
    refused 'time'
    with_ns time /proc/self/ns/time
    inside true
    refused 'time'
}

@test "an empty path is none, as Go programs write it" {
    edit '.linux.namespaces |= map (.path = "")'
    inside 'echo up'
    rc 0
    eq "$output" up
}
