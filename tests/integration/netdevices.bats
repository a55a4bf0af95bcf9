#!/usr/bin/env bats
# linux.netDevices: devices of the host move into the container, with name and addresses.

load ../lib/helpers

# Names of links are short: those of this test begin with $l.
prepare ()
{
    l=n$BATS_TEST_NUMBER
    ip link add "${l}a" type veth peer name "${l}b"
    ip link set "${l}b" up
}

teardown ()
{
    ip link del "${l}b" 2>/dev/null || true
    ip link del "${l}a" 2>/dev/null || true
    ip netns del "$l" 2>/dev/null || true
    umount -l /run/netns 2>/dev/null || true
    finish_test
}

# devices JSON: sets linux.netDevices.
devices ()
{
    edit --argjson d "$1" '.linux.netDevices = $d'
}

@test "moved under its name, up, with mtu, mac and global addresses" {
    ip link set "${l}a" mtu 1337 address 02:00:00:00:00:42
    ip addr add 192.0.2.7/24 brd 192.0.2.255 dev "${l}a"
    ip addr add 192.0.2.8/32 scope link dev "${l}a"
    ip -6 addr add 2001:db8::7/64 dev "${l}a"
    devices "{\"${l}a\": {}}"
    inside "ip addr show dev ${l}a"
    rc 0
    match "$output" '<.*UP.*> mtu 1337 '
    match "$output" 'link/ether 02:00:00:00:00:42'
    match "$output" 'inet 192.0.2.7/24 brd 192.0.2.255 scope global'
    match "$output" 'inet6 2001:db8::7/64 scope global'
    no_match "$output" '192.0.2.8'
    no_match "$(ip -o link)" "${l}a"
}

@test "renamed; the first free number; two of them, seen by sysctls and hooks" {
    ip link add "${l}c" type veth peer name "${l}d"
    devices "{\"${l}a\": {\"name\": \"net0\"}, \"${l}c\": {\"name\": \"net%d\"}}"
    edit '.linux.sysctl = {"net.ipv4.conf.net0.forwarding": "1"} | .hooks = {createRuntime: [
        {path: "/bin/sh", args: ["sh", "-c", "cat >/dev/null"]}], createContainer: [
        {path: "/bin/sh", args: ["sh", "-c", "cut -d: -f1 /proc/self/net/dev >&2; exit 3"]}]}'
    inside true
    refused 'net0.*net1|net1.*net0'
    edit 'del (.hooks)'
    ip -o link | grep -q " ${l}a@" # a start that fails gives them back
    ip -o link | grep -q " ${l}c@"
    inside 'ip -o link | cut -d: -f2; cat /proc/sys/net/ipv4/conf/net0/forwarding'
    eq "$(sed 's/@.*//' <<<"$output" | tr -d ' ' | sort | tr '\n' ' ')" '1 lo net0 net1 '
}

@test "a start that fails gives a device back as it was" {
    ip addr add 192.0.2.7/24 dev "${l}a"
    ip link set "${l}a" up
    devices "{\"${l}a\": {\"name\": \"x\"}}"
    args /nowhere
    try rt run -b "$BUNDLE" "$ID"
    rc 1
    match "$(ip addr show dev "${l}a")" 'inet 192.0.2.7/24'
    match "$(ip addr show dev "${l}a")" '[<,]UP[,>]'
}

@test "into a namespace that is joined, where it stays" {
    ip netns add "$l"
    with_ns network "/run/netns/$l"
    devices "{\"${l}a\": {\"name\": \"x0\"}}"
    inside 'ip -o link show dev x0'
    rc 0
    ip netns exec "$l" ip link show dev x0
    inside true
    refused "netDevices/${l}a: the name 'x0' is taken"
}

@test "in a user namespace" {
    userns
    devices "{\"${l}a\": {\"name\": \"x0\"}}"
    inside 'ip -o link show dev x0'
    rc 0
    match "$output" '[<,]UP[,>]'
}

@test "a name that is taken, no such device, names that are none, no namespace" {
    devices "{\"${l}a\": {\"name\": \"lo\"}}"
    inside true
    refused "netDevices/${l}a: the name 'lo' is taken"
    ip -o link | grep -q " ${l}a@"
    devices '{"nosuchdevice": {}}'
    inside true
    refused '/linux/netDevices/nosuchdevice: the host has no such network device'
    for n in a/b 'a b' sixteencharacter . ..; do
        devices "{\"${l}a\": {\"name\": \"$n\"}}"
        inside true
        refused "/linux/netDevices/${l}a/name: "
    done
    devices "{\"${l}a\": {}}"
    without_ns network
    inside true
    refused '/linux/netDevices: needs a network namespace of its own'
}

@test "under network none it stays on the host, and that is said" {
    devices "{\"${l}a\": {}}"
    printf '{"extend": "oci", "network": "none", "namespaces": {"own": ["network"]}}' \
        >"$TMP/policy.json"
    script 'ip -o link | wc -l'
    try rt --policy "$TMP/policy.json" run -b "$BUNDLE" "$ID"
    eq "$output" 1
    ip -o link | grep -q " ${l}a@"
    try rt --policy "$TMP/policy.json" explain -b "$BUNDLE"
    match "$output" "tightened /linux/netDevices +${l}a -> "
}
