#!/usr/bin/env bats
# Policy `network: none`: the workload has lo alone, whatever the engine prepared, hooks added or
# the config asks for; containers of one pod share it. With NETWORK=engine JOIN=any OWN= in the
# environment the controls are off, and each test of what is kept away must fail.

load ../lib/helpers

prepare ()
{
    policy "${NETWORK:-none}" "${JOIN:-pod}"
}

# policy NETWORK JOIN: what differs from `oci`.
policy ()
{
    printf '{"extend": "oci", "network": "%s", "namespaces": {"own": [%s], "join": "%s"}}' "$1" \
        "${OWN-\"network\", \"ipc\", \"uts\", \"pid\"}" "$2" >"$TMP/policy.json"
}

# nt ARGUMENT...: the runtime under that policy.
nt ()
{
    rt --policy "$TMP/policy.json" "$@"
}

# isolated TEXT: as `inside`, under the policy.
isolated ()
{
    script "$1"
    try nt run -b "$BUNDLE" "$ID"
}

# up: a running container, its pid in $TMP/pid.
up ()
{
    nt create -b "$BUNDLE" --pid-file "$TMP/pid" "$ID" </dev/null >"$TMP/out" 2>&1 3>&-
    nt start "$ID" 3>&-
}

netns_of ()
{
    readlink "/proc/$1/ns/net"
}

# a_link NETNS-PID NAME: what engines do: one end of a pair moves into the container.
a_link ()
{
    ip link add "$2" type veth peer name "$2p"
    ip link set "$2p" netns "$1"
}

links='ip -o link | cut -d: -f2; ls /sys/class/net; tail -n +3 /proc/net/dev | cut -d: -f1'

# only_lo: the last output is lo, three times.
only_lo ()
{
    rc 0
    eq "$(tr -d ' ' <<<"$output" | sort | uniq -c | tr -s ' ')" " 3 lo"
}

@test "a link that is there before the start is not seen" {
    script "$links"
    nt create -b "$BUNDLE" --pid-file "$TMP/pid" "$ID" </dev/null >"$TMP/log" 2>&1 3>&-
    a_link "$(cat "$TMP/pid")" eng0
    pid=$(cat "$TMP/pid")
    nt start "$ID" 3>&-
    wait_for 10 is_status stopped "$ID"
    output=$(<"$TMP/log") status=0
    nt delete "$ID"
    only_lo
}

@test "the netns of an engine, by path: the workload is in another" {
    ip netns add "$MARK"
    ip link add eng0 type veth peer name eng1
    ip link set eng1 netns "$MARK"
    with_ns network "/run/netns/$MARK"
    isolated "$links"
    seen=$(ip -n "$MARK" -o link | grep -c eng1)
    ip netns del "$MARK"
    umount /run/netns && rmdir /run/netns
    only_lo
    eq "$seen" 1
}

@test "the host's network: a config without the namespace gets an own one" {
    without_ns network
    edit '(.mounts[] | select (.type == "sysfs")) = {destination: "/sys", type: "sysfs",
        source: "sysfs", options: ["ro", "nosuid", "nodev", "noexec"]}'
    ip link add eng0 type veth peer name eng1
    isolated "$links"
    ip link del eng0
    only_lo
}

@test "no routes, and lo answers" {
    script 'ip route; ip -6 route | grep -v " dev lo"; grep -vc Iface /proc/net/route
        httpd -p 127.0.0.1:80 -h /etc
        wget -qO- http://127.0.0.1/passwd | head -1'
    nt create -b "$BUNDLE" --pid-file "$TMP/pid" "$ID" </dev/null >"$TMP/log" 2>&1 3>&-
    a_link "$(cat "$TMP/pid")" eng0
    nsenter -n -t "$(cat "$TMP/pid")" ip addr add 10.9.9.2/24 dev eng0p
    nsenter -n -t "$(cat "$TMP/pid")" ip link set eng0p up
    nt start "$ID" 3>&-
    wait_for 10 is_status stopped "$ID"
    nt delete -f "$ID"
    eq "$(<"$TMP/log")" "0
root:x:0:0:root:/root:/bin/sh"
}

@test "the host's abstract sockets are out of reach" {
    "$PROBE" abstract-listen "$MARK" 3>&- &
    listener=$!
    wait_for 5 grep -q "@$MARK" /proc/net/unix
    "$PROBE" abstract-connect "$MARK"
    cp "$PROBE" "$BUNDLE/rootfs/bin/probe"
    without_ns network
    isolated "probe abstract-connect $MARK; grep -c @$MARK /proc/net/unix"
    kill $listener
    wait $listener || true
    eq "$output" "ECONNREFUSED
0"
}

@test "exec is in the same network, and sees only lo" {
    args sleep 1000
    nt create -b "$BUNDLE" --pid-file "$TMP/pid" "$ID" </dev/null >"$TMP/log" 2>&1 3>&-
    pid=$(cat "$TMP/pid")
    a_link "$pid" eng0
    nt start "$ID" 3>&-
    try nt exec "$ID" sh -c "$links"
    seen=$output
    try nt exec "$ID" readlink /proc/self/ns/net
    eq "$output" "$(netns_of "$pid")"
    nt delete -f "$ID"
    output=$seen
    only_lo
}

@test "exec waits for the start: before it init is in the engine's network" {
    args sleep 1000
    nt create -b "$BUNDLE" "$ID" </dev/null >"$TMP/log" 2>&1 3>&-
    try nt exec "$ID" sh -c "$links"
    rc 255
    match "$output" 'has not been started'
    nt start "$ID" 3>&-
    try nt exec "$ID" true
    nt delete -f "$ID"
    rc 0
}

@test "hooks see the engine's network, and what they put there stays there" {
    cat >"$TMP/hook" <<-'END'
	#!/bin/sh
	pid=$(sed 's/.*"pid":\([0-9]*\).*/\1/')
	echo "$1 $(readlink /proc/$pid/ns/net)" >>"$2"
	[ "$1" = createRuntime ] || exit 0
	ip link add eng0 type veth peer name eng0p
	ip link set eng0p netns $pid
	END
    chmod 755 "$TMP/hook"
    ip netns add "$MARK"
    with_ns network "/run/netns/$MARK"
    for k in prestart createRuntime; do
        edit --arg k $k --arg h "$TMP/hook" --arg l "$TMP/hooks.log" \
            '.hooks[$k] += [{path: $h, args: ["hook", $k, $l],
                env: ["PATH=/usr/sbin:/usr/bin:/sbin:/bin"]}]'
    done
    isolated "$links"
    engine=$(ip netns exec "$MARK" readlink /proc/self/ns/net)
    ip netns del "$MARK"
    umount /run/netns && rmdir /run/netns
    eq "$(<"$TMP/hooks.log")" "prestart $engine
createRuntime $engine"
    only_lo
}

@test "the host's network stays as it was" {
    before=$(ip -o addr; ip route; netns_of self)
    isolated 'ip link set lo down; ip link add x0 type veth peer name x1; readlink /proc/self/ns/net'
    eq "$(ip -o addr; ip route; netns_of self)" "$before"
    no_match "$output" "$(netns_of self | sed 's/[][]/\\&/g')"
}

@test "sysctls of the network are those of the network that the workload has" {
    edit '.linux.sysctl = {"net.ipv4.ip_default_ttl": "77", "kernel.shmmni": "99"}'
    nt create -b "$BUNDLE" --pid-file "$TMP/pid" "$ID" </dev/null >"$TMP/log" 2>&1 3>&-
    nsenter -n -t "$(cat "$TMP/pid")" sh -c 'cat /proc/sys/net/ipv4/ip_default_ttl' >"$TMP/engine"
    nt delete -f "$ID"
    isolated 'cat /proc/sys/net/ipv4/ip_default_ttl /proc/sys/kernel/shmmni'
    rc 0
    eq "$output" "77
99"
    eq "$(<"$TMP/engine")" 64 # and not of the one that the engine has
}

@test "no capability is left of what the swap needed" {
    edit '.process.capabilities = {} | .process.user = {uid: 1000, gid: 1000}'
    script 'grep ^Cap /proc/self/status; ip link set lo down'
    nt create -b "$BUNDLE" --pid-file "$TMP/pid" "$ID" </dev/null >"$TMP/log" 2>&1 3>&-
    # Until the start one is permitted, not in effect: the test looks at the right thing.
    eq "$(awk '/^Cap(Prm|Eff)/ { print $2 }' "/proc/$(cat "$TMP/pid")/status" | tr '\n' ' ')" \
        "0000000000200000 0000000000000000 "
    nt start "$ID" 3>&-
    wait_for 10 is_status stopped "$ID"
    nt delete "$ID"
    eq "$(grep -c 0000000000000000 "$TMP/log")" 5
    match "$(<"$TMP/log")" 'Operation not permitted'
}

@test "a filter without noNewPrivileges does not stand in the way" {
    edit '.process.noNewPrivileges = false | .linux.seccomp = {defaultAction: "SCMP_ACT_ALLOW",
        syscalls: [{names: ["setns", "unshare"], action: "SCMP_ACT_ERRNO"}]}'
    isolated "grep -q 'Seccomp:.*2' /proc/self/status && $links"
    only_lo
}

@test "in a user namespace, with the host's netns by path" {
    userns
    ip netns add "$MARK"
    with_ns network "/run/netns/$MARK"
    isolated "$links"
    ip netns del "$MARK"
    umount /run/netns && rmdir /run/netns
    only_lo
}

# ---- pods ----

# sandbox: a running container that is the pod, as containerd's CRI asks for it; $pause is its pid.
sandbox ()
{
    edit --arg id "$ID" '.annotations = {"io.kubernetes.cri.container-type": "sandbox",
        "io.kubernetes.cri.sandbox-id": $id}'
    args httpd -f -p 127.0.0.1:80 -h /etc
    up
    pause=$(cat "$TMP/pid")
}

# member POD NS-PATH: the next container is of POD and joins the network at NS-PATH.
member ()
{
    edit --arg id "$1" '.annotations = {"io.kubernetes.cri.container-type": "container",
        "io.kubernetes.cri.sandbox-id": $id}'
    with_ns network "$2"
}

fetch='readlink /proc/self/ns/net; wget -qO- http://127.0.0.1/passwd 2>&1 | grep -c ^root:'

@test "pod: a container reaches another one on lo" {
    sandbox
    member "$ID" "/proc/$pause/ns/net"
    script "$fetch"
    try nt run -b "$BUNDLE" "$ID-2"
    want=$(netns_of "$pause")
    nt delete -f "$ID"
    eq "$output" "$want
1"
}

@test "pod: ipc, uts and pid namespaces are shared when asked for" {
    edit 'del (.hostname)'
    sandbox
    member "$ID" "/proc/$pause/ns/net"
    for k in ipc uts pid; do with_ns $k "/proc/$pause/ns/$k"; done
    script 'for k in ipc uts pid; do readlink /proc/self/ns/$k; done; cat /proc/1/comm'
    try nt run -b "$BUNDLE" "$ID-2"
    want=$(for k in ipc uts pid; do readlink "/proc/$pause/ns/$k"; done; echo httpd)
    nt delete -f "$ID"
    eq "$output" "$want"
}

@test "pod: the netns that the engine believes the sandbox to be in leads to the sandbox's own" {
    ip netns add "$MARK"
    with_ns network "/run/netns/$MARK"
    sandbox
    member "$ID" "/run/netns/$MARK"
    script "$fetch"
    try nt run -b "$BUNDLE" "$ID-2"
    want=$(netns_of "$pause")
    nt delete -f "$ID"
    ip netns del "$MARK"
    umount /run/netns && rmdir /run/netns
    eq "$output" "$want
1"
}

# faked ANNOTATIONS KIND...: what a container that calls $ID its pod is in, one namespace a line.
faked ()
{
    local annotations=$1 k

    shift
    edit --arg id "$ID" --argjson more "$annotations" '.annotations = ({
        "io.kubernetes.cri.sandbox-id": $id, "io.kubernetes.cri-o.SandboxID": $id } + $more)'
    with_ns network "/proc/$pause/ns/net"
    for k in ipc uts pid; do with_ns $k "/proc/$pause/ns/$k"; done
    script 'for k in net ipc uts pid; do readlink /proc/self/ns/$k; done'
    try nt run -b "$BUNDLE" "$ID-2"
    rc 0
}

@test "pod: one that is faked joins no container that names no pod" {
    local annotations='{"io.container.manager": "libpod"}' k

    edit 'del (.hostname)'
    args sleep 1000
    up
    pause=$(cat "$TMP/pid")
    faked "$annotations"
    for k in net ipc uts pid; do
        grep -qF "$(readlink "/proc/$pause/ns/$k")" <<<"$output" && fail "joined: $k"
    done
    nt delete -f "$ID"
}

@test "pod: nor does it get into one of Podman's, which may be an infra container" {
    edit 'del (.hostname) | .annotations = {"io.container.manager": "libpod"}'
    args sleep 1000
    up
    pause=$(cat "$TMP/pid")
    faked '{"io.container.manager": "libpod"}'
    grep -qF "$(readlink "/proc/$pause/ns/pid")" <<<"$output" && fail "joined: pid"
    grep -qF "$(readlink "/proc/$pause/ns/ipc")" <<<"$output" || fail "ipc is not shared"
    faked '{}'
    grep -qF "$(readlink "/proc/$pause/ns/ipc")" <<<"$output" && fail "joined: ipc"
    nt delete -f "$ID"
}

@test "pod: a container of a pod is no sandbox" {
    edit 'del (.hostname)'
    edit --arg id "$ID" '.annotations = {"io.kubernetes.cri.container-type": "container",
        "io.kubernetes.cri.sandbox-id": $id}'
    args sleep 1000
    up
    pause=$(cat "$TMP/pid")
    faked '{}'
    grep -qF "$(readlink "/proc/$pause/ns/pid")" <<<"$output" && fail "joined: pid"
    nt delete -f "$ID"
}

@test "pod: Podman's infra container names no pod, its members do" {
    edit '.annotations = {"io.container.manager": "libpod"}'
    args httpd -f -p 127.0.0.1:80 -h /etc
    up
    pause=$(cat "$TMP/pid")
    edit --arg id "$ID" '.annotations += {"io.kubernetes.cri-o.SandboxID": $id}'
    with_ns network "/proc/$pause/ns/net"
    script "$fetch"
    try nt run -b "$BUNDLE" "$ID-2"
    want=$(netns_of "$pause")
    nt delete -f "$ID"
    eq "$output" "$want
1"
}

# a_stranger: what is configured gets namespaces of its own, not the sandbox's.
a_stranger ()
{
    script "$fetch; readlink /proc/self/ns/ipc"
    try nt run -b "$BUNDLE" "$ID-2"
    eq "$(sed -n 2p <<<"$output")" 0
    no_match "$output" "$(netns_of "$pause" | tr -dc 0-9)"
    no_match "$output" "$(readlink "/proc/$pause/ns/ipc" | tr -dc 0-9)"
}

@test "pod: a stranger gets namespaces of its own: no pod, another pod, another policy" {
    sandbox
    with_ns network "/proc/$pause/ns/net"
    with_ns ipc "/proc/$pause/ns/ipc"
    edit 'del (.annotations)'
    a_stranger
    edit --arg id "$ID-x" '.annotations = {"io.kubernetes.cri.sandbox-id": $id}'
    a_stranger
    edit --arg id "$ID" '.annotations = {"io.kubernetes.cri.sandbox-id": $id}'
    sed -i 's/^{/{"rootfs": {"readonly": true}, /' "$TMP/policy.json"
    a_stranger
    nt delete -f "$ID"
}

@test "pod: a sandbox that has not started is in the engine's network: nobody shares that" {
    edit --arg id "$ID" '.annotations = {"io.kubernetes.cri.sandbox-id": $id}'
    args sleep 1000
    nt create -b "$BUNDLE" --pid-file "$TMP/pid" "$ID" </dev/null >"$TMP/log" 2>&1 3>&-
    pause=$(cat "$TMP/pid")
    a_link "$pause" eng0
    member "$ID" "/proc/$pause/ns/net"
    script "$links"
    try nt run -b "$BUNDLE" "$ID-2"
    nt delete -f "$ID"
    only_lo
}

@test "again under the same id, and no namespace is left" {
    before=$(lsns -t net -n -o NS | sort)
    for _ in 1 2; do
        isolated 'true'
        rc 0
    done
    wait_for 5 eq "$(lsns -t net -n -o NS | sort)" "$before"
    args sleep 1000
    up
    nt kill "$ID" KILL
    wait_for 10 is_status stopped "$ID"
    nt delete "$ID"
    eq "$(lsns -t net -n -o NS | sort)" "$before"
}
