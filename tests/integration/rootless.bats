#!/usr/bin/env bats
# An ordinary user's containers, with and without subordinate ids, with and without a delegated
# cgroup: each command and each group of fields once, through the runtime alone, with none of root's
# help. STRICT=oci in the environment switches the policy off: the tests named "strict:" must fail.

load ../lib/helpers

me=7001 sub=500000

prepare ()
{
    XDG=$TMP/xdg
    mkdir "$XDG"
    cp -a /etc "$TMP/etc"
    echo "rtuser:x:$me:$me::$TMP:/bin/sh" >>"$TMP/etc/passwd"
    echo "rtuser:x:$me:" >>"$TMP/etc/group"
    echo "rtuser:$sub:65536" | tee "$TMP/etc/subuid" >"$TMP/etc/subgid"
    chmod 644 "$TMP/etc/subuid" "$TMP/etc/subgid"
    mount --bind "$TMP/etc" /etc
    rm "$BUNDLE/config.json"
    chown -R $me:$me "$XDG" "$BUNDLE"
    chown $me:$me "$TMP" # for pid files
    chmod 700 "$XDG"
    ROOT=$XDG/agentrt # where the runtime puts it by itself
    user "$AGENTRT" spec --rootless --bundle "$BUNDLE"
    edit '.process.terminal = false'
}

teardown ()
{
    [ ! -d "$ROOT" ] || rt delete -f "$ID" >/dev/null 2>&1 || true
    undelegate
    umount /etc
    rmdir "$ROOT" 2>/dev/null || true
    finish_test
}

# user COMMAND...: as the ordinary user, who has nothing but XDG_RUNTIME_DIR.
user ()
{
    setpriv --reuid $me --regid $me --clear-groups --inh-caps=-all \
        env -i PATH="$PATH" USER=rtuser XDG_RUNTIME_DIR="$XDG" "$@"
}

# rt: the helpers' one, as that user and without --root.
rt ()
{
    user timeout -k 5 "${LIMIT:-30}" "$AGENTRT" "$@"
}

strict_rt ()
{
    rt --policy "${STRICT:-strict}" "$@"
}

# ranges: the config maps root to the user and the rest to the subordinate ids.
ranges ()
{
    edit --argjson me $me --argjson sub $sub '.linux |= (.uidMappings = [
        {containerID: 0, hostID: $me, size: 1}, {containerID: 1, hostID: $sub, size: 65536}] |
        .gidMappings = .uidMappings)'
}

# delegated COMMAND...: from a cgroup of each controller that is the user's.
delegated ()
{
    local c

    for c in memory cpu pids freezer; do
        mkdir -p "/sys/fs/cgroup/$c/user$MARK"
        chown -R $me:$me "/sys/fs/cgroup/$c/user$MARK"
    done
    # shellcheck disable=SC2016
    MARK=$MARK bash -c 'for c in memory cpu pids freezer; do
        echo 0 >"/sys/fs/cgroup/$c/user$MARK/cgroup.procs"; done; "$@"' - "${@}"
}

undelegate ()
{
    find /sys/fs/cgroup -depth -type d -path "*user$MARK*" -exec rmdir {} \; 2>/dev/null || true
}

# delegated_rt ARGUMENT...
delegated_rt ()
{
    delegated setpriv --reuid $me --regid $me --clear-groups --inh-caps=-all env -i PATH="$PATH" \
        USER=rtuser XDG_RUNTIME_DIR="$XDG" timeout -k 5 30 "$AGENTRT" "$@"
}

# ---- commands ----

@test "spec --rootless, run: root inside is the user outside; one id and no groups" {
    inside 'id -u; cat /proc/self/uid_map /proc/self/gid_map /proc/self/setgroups'
    rc 0
    eq "$(tr -s ' ' <<<"$output")" "0
 0 $me 1
 0 $me 1
deny"
}

@test "the state root is the user's, closed, and kept by systemd-tmpfiles" {
    created
    eq "$(stat -c '%a %u' "$ROOT")" "1700 $me"
    eq "$(jq -r .owner "$ROOT/$ID/state.json")" $me
}

@test "create, start, state, list, kill, delete" {
    running
    eq "$(status_of)" running
    match "$(rt list)" "^$ID .* running .* rtuser\$"
    rt kill "$ID" KILL
    wait_for 10 is_status stopped "$ID"
    rt delete "$ID"
    eq "$(rt list -q)" ''
}

@test "run -d; delete --force takes it away" {
    args sleep 1000
    try rt run -d -b "$BUNDLE" --pid-file "$XDG/pid" "$ID"
    rc 0
    eq "$(stat -c %u "/proc/$(<"$XDG/pid")")" $me
    rt delete -f "$ID"
    wait_for 10 test ! -e "/proc/$(<"$XDG/pid")"
}

@test "exec: in all of the container's namespaces, with its oom score" {
    edit '.process.oomScoreAdj = 500'
    running
    try rt exec "$ID" sh -c 'id -u; cat /proc/self/oom_score_adj; cat /proc/1/comm; hostname; cat /proc/self/uid_map'
    rc 0
    eq "$(tr -s ' ' <<<"$output")" "0
500
sleep
agentrt
 0 $me 1"
    try rt exec "$ID" sh -c 'exit 5'
    rc 5
    try rt exec "$ID" nonesuch
    rc 255
}

@test "exec with a terminal" {
    running
    try on_pty "setpriv --reuid $me --regid $me --clear-groups --inh-caps=-all env -i PATH=$PATH \
        XDG_RUNTIME_DIR=$XDG $AGENTRT exec -t $ID tty"
    rc 0
    match "$output" '/dev/pts/0'
}

@test "ps without a cgroup: what is in the pid namespace" {
    script 'sleep 1000 & exec sleep 1001'
    created
    rt start "$ID"
    try rt exec -d "$ID" sleep 1002
    rc 0
    all_three () { [ "$(rt ps "$ID" | grep -c 'sleep 100[012]')" = 3 ]; }
    wait_for 10 all_three
    eq "$(rt ps -f json "$ID" | jq length)" 3
}

@test "pause without a cgroup says why not; resume, too" {
    running
    try rt pause "$ID"
    refused 'without a cgroup'
    try rt resume "$ID"
    refused 'container not paused'
    eq "$(status_of)" running
}

@test "kill --all without a cgroup reaches everything, by the pid namespace" {
    script 'sleep 1000 & exec sleep 1001'
    created
    rt start "$ID"
    rt kill --all "$ID" KILL
    wait_for 10 is_status stopped "$ID"
}

@test "explain, features, policy, --version need no privilege" {
    try rt explain -b "$BUNDLE"
    rc 0
    match "$output" 'idmaps'
    try rt features
    rc 0
    try rt policy show strict
    rc 0
    try rt --version
    rc 0
}

@test "mounts of an ordinary user's is refused" {
    running
    try rt mounts add "$ID" '{"destination": "/mnt", "type": "tmpfs", "source": "tmpfs"}'
    [ "$status" -ne 0 ] || fail "$output"
}

# ---- ids ----

@test "subordinate ids come through newuidmap, and with them groups and other users" {
    ranges
    edit '.process.user = {uid: 1000, gid: 1000, additionalGids: [50]}'
    inside 'id -u; id -G; cat /proc/self/setgroups; cat /proc/self/uid_map'
    rc 0
    eq "$(tr -s ' ' <<<"$output")" "1000
1000 50
allow
 0 $me 1
 1 $sub 65536"
}

@test "ids that are not the user's are refused by newuidmap" {
    edit '.linux.uidMappings += [{containerID: 1, hostID: 1, size: 10}]'
    inside true
    refused '/linux/uidMappings: /usr/bin/newuidmap failed: .*not allowed'
}

@test "additional groups without subordinate ids are refused, unless the user keeps the own ones" {
    edit '.process.user.additionalGids = [50]'
    inside id
    rc 1
    match "$output" '/process/user/additionalGids'
}

@test "run.oci.keep_original_groups" {
    user () { setpriv --reuid $me --regid $me --groups 4321 --inh-caps=-all \
        env -i PATH="$PATH" USER=rtuser XDG_RUNTIME_DIR="$XDG" "$@"; }
    edit '.annotations["run.oci.keep_original_groups"] = "1"'
    inside 'grep Groups: /proc/self/status'
    rc 0
    match "$output" '65534'
    edit 'del (.annotations)'
    inside 'grep Groups: /proc/self/status'
    no_match "$output" '4321'
}

@test "a config without a user namespace, or without maps, is refused with what to add" {
    edit 'del (.linux.uidMappings)'
    inside true
    refused '/linux/uidMappings: required'
    edit 'del (.linux.gidMappings) | .linux.namespaces |= map (select (.type != "user"))'
    inside true
    refused '/linux/namespaces: .*"type": "user"'
}

@test "root of a user namespace: the state root is the user's, nothing but its ids is there" {
    root_rt () { user unshare -Urm --map-root-user timeout 30 "$AGENTRT" "$@"; }
    edit '.linux.uidMappings[0].hostID = 0 | .linux.gidMappings[0].hostID = 0'
    script 'id -u; cat /proc/self/uid_map'
    try root_rt run -b "$BUNDLE" "$ID"
    rc 0
    eq "$(tr -s ' ' <<<"$output")" '0
 0 0 1'
    [ -d "$ROOT" ] || fail "no state root at $ROOT"
}

@test "the same without a user namespace of the container's" {
    root_rt () { user unshare -Urm timeout 30 "$AGENTRT" "$@"; }
    edit '.linux.namespaces |= map (select (.type != "user")) |
        del (.linux.uidMappings, .linux.gidMappings)'
    script 'id -u; cat /proc/self/setgroups'
    try root_rt run -b "$BUNDLE" "$ID"
    rc 0
    match "$output" 'deny'
}

@test "USER=root in a user namespace means the host's state root, which is said when it fails" {
    try user env USER=root unshare -Urm "$AGENTRT" list
    mkdir -p /run/agentrt
    chmod 700 /run/agentrt
    try user env USER=root unshare -Urm "$AGENTRT" run -b "$BUNDLE" "$ID"
    rmdir /run/agentrt
    refused "the state root '/run/agentrt'"
}

# ---- the config ----

@test "devices are the host's nodes, bound; they work, and none is made" {
    inside 'for d in null zero full random urandom tty; do test -c /dev/$d || echo $d; done
        echo x >/dev/null; head -c 3 /dev/zero | od -An -tx1; mknod /tmp/n c 1 3 2>&1 | head -1'
    rc 0
    match "$output" '00 00 00'
    match "$output" 'mknod'
}

@test "mounts: tmpfs, proc, mqueue, devpts and a bind of the user's own" {
    mkdir "$TMP/mine"
    chown $me "$TMP/mine"
    add_mount /mnt bind "$TMP/mine" rbind rw nosuid nodev
    add_mount /srv tmpfs tmpfs size=64k
    inside 'echo hi >/mnt/f; df -k /srv 2>/dev/null | tail -1 >/dev/null; touch /srv/x && cat /mnt/f'
    rc 0
    eq "$output" hi
    eq "$(stat -c %u "$TMP/mine/f")" $me
}

@test "sysfs and cgroup mounts fall back to the host's, read-only" {
    edit '.mounts |= map (select (.destination != "/sys"))'
    add_mount /sys sysfs sysfs nosuid noexec nodev ro
    add_mount /sys/fs/cgroup cgroup cgroup nosuid noexec nodev ro
    inside 'test -d /sys/class && ! mkdir /sys/fs/cgroup/*/x 2>/dev/null && echo readonly'
    rc 0
    eq "$output" readonly
    edit '.linux.namespaces |= map (select (.type != "network"))'
    inside 'test -d /sys/class && mkdir /sys/fs/cgroup/*/x 2>/dev/null || echo readonly'
    rc 0
    eq "$output" readonly
}

@test "masked and read-only paths, a read-only root" {
    inside 'head -c1 /proc/kcore /proc/keys 2>/dev/null | wc -c
        echo 1 2>/dev/null >/proc/sys/kernel/domainname || echo ro; touch /x 2>/dev/null || echo ro'
    rc 0
    match "$output" $'ro\nro'
}

@test "namespaces: own ones, joined ones" {
    running
    edit --arg p "/proc/$(<"$TMP/pid")/ns/" '.linux.namespaces |= map (
        if .type == "user" then .path = $p + "user" elif .type == "uts" then .path = $p + "uts"
        elif .type == "network" then .path = $p + "net" else . end) |
        del (.linux.uidMappings, .linux.gidMappings, .hostname)'
    script 'hostname; ls /sys/class/net'
    try rt run -b "$BUNDLE" "$ID-2"
    rc 0
    match "$output" '^agentrt'
}

@test "process: capabilities, rlimits, umask, no new privileges, oom score, sysctl, hostname" {
    edit '.process.capabilities = {bounding: ["CAP_KILL"], effective: ["CAP_KILL"],
            permitted: ["CAP_KILL"]} | .process.rlimits = [{type: "RLIMIT_NOFILE", soft: 32, hard: 64}] |
        .process.user.umask = 63 | .process.oomScoreAdj = 500 | .hostname = "mine" |
        .linux.sysctl = {"net.ipv4.ip_forward": "1"}'
    inside 'grep -E "CapEff|CapBnd|NoNewPrivs" /proc/self/status; ulimit -n; ulimit -Hn; umask
        cat /proc/self/oom_score_adj /proc/sys/net/ipv4/ip_forward; hostname'
    rc 0
    eq "$(tr '\t' ' ' <<<"$output")" 'CapEff: 0000000000000020
CapBnd: 0000000000000020
NoNewPrivs: 1
32
64
0077
500
1
mine'
}

@test "seccomp" {
    edit '.linux.seccomp = {defaultAction: "SCMP_ACT_ALLOW", architectures: ["SCMP_ARCH_X86_64",
        "SCMP_ARCH_AARCH64"], syscalls: [{names: ["mkdir", "mkdirat"], action: "SCMP_ACT_ERRNO",
        errnoRet: 95}]}'
    inside 'grep Seccomp: /proc/self/status; mkdir /tmp/d 2>&1'
    match "$output" 'Seccomp:.*2'
    match "$output" 'not supported'
}

@test "hooks run as the user" {
    edit --arg out "$XDG/hook" '.hooks.createRuntime = [{path: "/bin/sh",
        args: ["sh", "-c", "id -u >" + $out]}]'
    inside true
    rc 0
    eq "$(<"$XDG/hook")" $me
}

# ---- cgroups ----

@test "no right to a cgroup: limits are refused by the first that needs one" {
    edit '.linux.resources = {memory: {limit: 67108864}}'
    inside true
    refused "/linux/resources/memory/limit: needs a cgroup: .*Delegate=yes"
    edit '.linux.resources = {pids: {limit: 10}}'
    inside true
    refused "/linux/resources/pids/limit: needs a cgroup"
}

@test "no right to a cgroup: a path is refused" {
    edit '.linux.cgroupsPath = "/" + $ARGS.positional[0]' --args "$MARK"
    inside true
    refused '/linux/cgroupsPath: .*EACCES'
}

@test "another user's cgroup of the same name is not taken, not even looked at" {
    mkdir "/sys/fs/cgroup/pids/$ID"
    sleep 1000 3>&- &
    echo $! >"/sys/fs/cgroup/pids/$ID/cgroup.procs"
    inside 'echo ran'
    kill $!
    wait $! 2>/dev/null || true
    wait_for 10 rmdir "/sys/fs/cgroup/pids/$ID"
    rc 0
    eq "$output" ran
}

@test "a delegated cgroup: limits are set and hold; pause, resume, ps" {
    edit '.linux.resources = {memory: {limit: 67108864}, pids: {limit: 5}} |
        .process.args = ["sleep", "1000"]'
    try delegated_rt run -d -b "$BUNDLE" "$ID"
    rc 0
    eq "$(<"/sys/fs/cgroup/memory/user$MARK/$ID/memory.limit_in_bytes")" 67108864
    try rt exec "$ID" sh -c 'for i in 1 2 3 4 5 6 7 8; do sleep 3 & done; wait'
    match "$output" "can't fork"
    rt pause "$ID"
    eq "$(status_of)" paused
    rt resume "$ID"
    alone () { [ "$(rt ps -f json "$ID" | jq length)" = 1 ]; }
    wait_for 10 alone
    rt delete -f "$ID"
    [ ! -d "/sys/fs/cgroup/memory/user$MARK/$ID" ] || fail 'the cgroup is left'
}

@test "a delegated cgroup: a controller that is not among them is named" {
    edit '.linux.resources = {cpu: {cpus: "0"}}'
    script true
    try delegated_rt run -b "$BUNDLE" "$ID"
    refused "/linux/resources/cpu/cpus: needs a cgroup: .*'cpuset'"
}

# ---- strict ----

@test "strict: without a delegated cgroup the start is refused with the control and the fix" {
    inside true
    try strict_rt run -b "$BUNDLE" "$ID"
    refused "control 'limits\.[a-z]*' of policy 'strict' cannot be enforced .*Delegate=yes"
}

@test "strict: with one every promise holds, seen from inside" {
    edit '.process.capabilities = {bounding: ["CAP_CHOWN"], effective: ["CAP_CHOWN"],
        permitted: ["CAP_CHOWN"]} | .root.readonly = false | .process.noNewPrivileges = false'
    script 'grep -c "^Cap.*0000000000000000" /proc/self/status; grep NoNewPrivs /proc/self/status
        grep Seccomp: /proc/self/status; touch /x 2>&1; ls /sys/class/net 2>/dev/null; ulimit -n
        unshare -U true 2>&1; cat /proc/self/uid_map'
    try delegated_rt --policy "${STRICT:-strict}" run -b "$BUNDLE" "$ID"
    rc 0
    match "$output" '^5$'
    match "$output" 'NoNewPrivs:.1'
    match "$output" 'Seccomp:.2'
    match "$output" 'Read-only file system'
    match "$output" '^1024$'
    no_match "$output" 'eth'
}

@test "strict: the ceilings are in force on the host's side" {
    args sleep 1000
    try delegated_rt --policy "${STRICT:-strict}" run -d -b "$BUNDLE" "$ID"
    rc 0
    eq "$(<"/sys/fs/cgroup/memory/user$MARK/$ID/memory.limit_in_bytes")" 1073741824
    eq "$(<"/sys/fs/cgroup/pids/user$MARK/$ID/pids.max")" 128
    eq "$(<"/sys/fs/cgroup/cpu/user$MARK/$ID/cpu.cfs_quota_us")" 100000
}

@test "a policy file is the user's or root's, and nobody else's" {
    mkdir "$TMP/policies"
    echo '{"extend": "oci"}' >"$TMP/policies/p.json"
    chown -R $me "$TMP/policies"
    script true
    try rt --policy "$TMP/policies/p.json" run -b "$BUNDLE" "$ID"
    rc 0
    chown 1234 "$TMP/policies/p.json"
    try rt --policy "$TMP/policies/p.json" run -b "$BUNDLE" "$ID"
    refused 'belongs to uid 1234'
}
