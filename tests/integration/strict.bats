#!/usr/bin/env bats
# What `strict` gives a container whose config asks for everything, seen from inside; and the same
# again under a policy that switches exactly that control off, where it must be seen to be gone.

load ../lib/helpers

OWN='"pid", "mount", "ipc", "uts", "cgroup", "network"'

prepare ()
{
    # Nothing of what strict does may come from the config.
    edit '.root.readonly = false | .process.noNewPrivileges = false | del (.process.rlimits) |
        del (.linux.maskedPaths, .linux.readonlyPaths, .linux.seccomp, .hostname)'
}

# off JSON: a policy as strict but for JSON, in $OFF.
off ()
{
    OFF=$TMP/off.json
    printf '%s\n' "$1" >"$OFF"
    chmod 644 "$OFF"
}

# inside_by POLICY SCRIPT: as `inside`.
inside_by ()
{
    script "$2"
    try rt --policy "$1" run -b "$BUNDLE" "$ID"
}

# holds SWITCH SCRIPT HELD GONE: what SCRIPT prints matches HELD under strict, and GONE, which HELD
# does not match, under strict with SWITCH.
holds ()
{
    inside_by strict "$2"
    match "$output" "$3"
    no_match "$output" "$4"
    off "$1"
    inside_by "$OFF" "$2"
    match "$output" "$4"
}

# refuses SWITCH ERE: strict refuses the config, with the rule's name; with SWITCH it runs.
refuses ()
{
    args true
    try rt --policy strict run -b "$BUNDLE" "$ID"
    refused "$2"
    match "$output" "policy 'strict' .built in."
    off "$1"
    rt --policy "$OFF" run -b "$BUNDLE" "$ID"
}

# file_by POLICY CONTROLLER FILE: what the container's cgroup has.
file_by ()
{
    args sleep 1000
    rt --policy "$1" run -d -b "$BUNDLE" --pid-file "$TMP/pid" "$ID" 3>&-
    cat "$(host_cgroup "$2")/$3"
    rt delete -f "$ID"
}

# limit SWITCH CONTROLLER FILE HELD: strict's value, and another one with SWITCH.
limit ()
{
    eq "$(file_by strict "$2" "$3")" "$4"
    off "$1"
    no_match "$(file_by "$OFF" "$2" "$3")" "^$4\$"
}

@test "the root is read-only" {
    holds '{"rootfs": {"readonly": false}}' 'touch /x && echo wrote' 'Read-only file system' wrote
}

@test "/tmp is a small tmpfs of its own" {
    holds '{"rootfs": {"tmp": {"private": false}}}' "grep ' /tmp ' /proc/mounts || echo none" \
        '^tmpfs /tmp tmpfs rw,nosuid,nodev,noexec,.*size=65536k,nr_inodes=16384' none
}

@test "a tmpfs of the config is capped: bytes and files" {
    add_mount /srv tmpfs tmpfs size=1g
    holds '{"rootfs": {"tmp": {"size": -1, "inodes": -1}}}' "grep ' /srv ' /proc/mounts
        dd if=/dev/zero of=/srv/f bs=1M count=65 2>&1 | grep 'No space'" \
        'size=65536k,nr_inodes=16384' 'size=1048576k'
    inside_by strict 'dd if=/dev/zero of=/srv/f bs=1M count=65'
    match "$output" 'No space left'
}

@test "/dev/shm is capped" {
    edit '(.mounts[] | select (.destination == "/dev/shm")).options = ["size=1g"]'
    holds '{"rootfs": {"shm": {"size": -1}}}' "grep ' /dev/shm ' /proc/mounts" 'size=65536k' \
        'size=1048576k'
}

@test "a mount below /tmp is not hidden by the tmpfs there" {
    mkdir "$TMP/project"
    touch "$TMP/project/here"
    add_mount /tmp/work bind "$TMP/project" rbind
    inside_by strict 'ls /tmp/work; grep -c " /tmp " /proc/mounts'
    eq "$output" $'here\n1'
}

@test "every mount is nosuid" {
    mkdir "$TMP/project"
    add_mount /mnt bind "$TMP/project" rbind suid
    holds '{"mounts": {"nosuid": false}}' 'grep -v nosuid /proc/mounts; echo seen' '^seen' ' /mnt '
    inside_by strict 'grep -v nosuid /proc/mounts; echo seen'
    eq "$output" seen
}

@test "every mount but /dev and devpts is nodev" {
    mkdir "$TMP/project"
    add_mount /mnt bind "$TMP/project" rbind dev
    holds '{"mounts": {"nodev": false}}' "grep ' / ' /proc/mounts; grep ' /mnt ' /proc/mounts" \
        '/mnt .*nodev' '/mnt tmpfs rw,nosuid,relatime'
    inside_by strict "grep -v nodev /proc/mounts | grep -v '^devtmpfs'"
    eq "$(awk '{ print $2 }' <<<"$output" | sort)" $'/dev\n/dev/pts'
}

@test "no mount passes between host and container" {
    mkdir "$TMP/project"
    add_mount /mnt bind "$TMP/project" rbind rshared
    holds "{\"namespaces\": {\"own\": [${OWN/\"mount\", /}]}}" 'cat /proc/self/mountinfo; echo seen' \
        seen ' /mnt .* shared:'
}

@test "a bind that opens the host is refused, by what it is" {
    ln -s /etc "$TMP/innocent"
    add_mount /mnt bind "$TMP/innocent" rbind
    refuses '{"mounts": {"guard": false}}' "mounts.guard.*'/etc'"
}

@test "the host's root is no container's root, whatever it is called" {
    mkdir "$TMP/innocent"
    mount --bind / "$TMP/innocent"
    for root in / /proc/self/root "$TMP/innocent"; do
        edit --arg r "$root" '.root.path = $r'
        try rt --policy strict run -b "$BUNDLE" "$ID"
        refused "/root/path .*rule 'mounts.guard' of policy 'strict'.*host's root"
    done
    off '{"mounts": {"guard": false}}'
    rt --policy "$OFF" explain -b "$BUNDLE" >"$TMP/said"
    umount "$TMP/innocent"
}

# no_root PATH ERE: refused as root, and nothing is made there.
no_root ()
{
    local before

    before=$(ls -A "$1")
    edit --arg p "$1" '.root.path = $p'
    try rt --policy strict run -b "$BUNDLE" "$ID"
    refused "/root/path .*rule 'mounts.guard' of policy 'strict'.*$2"
    eq "$(ls -A "$1")" "$before"
    off '{"mounts": {"guard": false}}'
    rt --policy "$OFF" explain -b "$BUNDLE" >"$TMP/said"
}

@test "no place of the host is a root, nor what lies in one or above" {
    mkdir -p /etc/ssl/private/innocent /run/systemd/innocent /run/libpod
    no_root /etc/ssl/private/innocent "lies in.*credentials"
    no_root /run/systemd/innocent "lies in.*tasks"
    no_root /etc/ssl "is a parent of.*credentials"
    no_root /var/lib "is .*var"
    rmdir /etc/ssl/private/innocent /run/systemd/innocent
}

@test "a file system that is not known to be harmless is refused" {
    add_mount /mnt ramfs ramfs
    refuses '{"mounts": {"guard": false}}' "/mounts\[[0-9]*\].*rule 'mounts.type'.*ramfs"
}

@test "sysfs and cgroups are read-only" {
    edit '(.mounts[] | select (.destination == "/sys")).options = ["rw"]'
    holds '{"paths": {"readonly": []}}' "grep ' /sys ' /proc/mounts" '/sys sysfs ro' '/sys sysfs rw'
}

# unlifted: nothing that the config remounts lets the payload lift its limit of processes.
unlifted ()
{
    script 'echo max >/sys/fs/cgroup/pids/pids.max; cat /sys/fs/cgroup/pids/pids.max'
    try rt --policy strict run -b "$BUNDLE" "$ID"
    refused "/mounts\[[0-9]*\].*rule 'mounts.remount' of policy 'strict'"
    off '{"cgroup": "engine", "mounts": {"guard": false}, "paths": {"readonly": []}}'
    try rt --policy "$OFF" run -b "$BUNDLE" "$ID"
    match "$output" '^max$'
}

@test "no remount makes cgroups writable: of all that is below" {
    [ -d /sys/fs/cgroup/pids ] || skip "no cgroup v1"
    add_mount /sys/fs/cgroup none none remount bind rrw ro
    unlifted
}

@test "no remount makes cgroups writable: through a link of the image" {
    [ -d /sys/fs/cgroup/pids ] || skip "no cgroup v1"
    ln -s sys/fs/cgroup "$BUNDLE/rootfs/innocent"
    add_mount /innocent/pids none none remount bind rw
    unlifted
}

@test "no remount makes what is bound read-only writable" {
    mkdir "$TMP/project"
    add_mount /work bind "$TMP/project" bind ro
    add_mount /work none none remount bind rw
    refuses '{"cgroup": "engine", "mounts": {"guard": false}}' \
        "/mounts\[[0-9]*\].*rule 'mounts.remount' of policy 'strict'"
}

@test "no program in /tmp and /dev/shm, whatever the config's own mounts there say" {
    for place in /tmp /dev/shm; do
        edit --arg p $place '.mounts |= map (select (.destination != $p))'
        add_mount $place tmpfs tmpfs exec
        holds '{"rootfs": {"tmp": {"private": false}, "shm": {"private": false}}}' \
            "cp /bin/busybox $place/echo && $place/echo runs || echo no" '^no$' '^runs$'
    done
}

@test "a recursive option takes no flag from what is below a mount" {
    mkdir -p "$TMP/project/sub"
    mount -t tmpfs below "$TMP/project/sub"
    add_mount /work bind "$TMP/project" rbind
    add_mount /work none none remount bind rsuid rdev nosuid nodev
    holds '{"mounts": {"nosuid": false, "nodev": false}}' "grep ' /work/sub ' /proc/mounts" \
        'nosuid,nodev' 'tmpfs rw,relatime'
    umount "$TMP/project/sub"
}

@test "all five capability sets are empty, whatever is asked for" {
    edit '["CAP_SYS_ADMIN", "CAP_NET_RAW"] as $c | .process.capabilities = {bounding: $c,
        effective: $c, permitted: $c, inheritable: $c, ambient: $c}'
    holds '{"capabilities": ["ALL"], "seccomp": "engine"}' \
        'grep Cap /proc/self/status | tr -s "\t\n" "  "' \
        '^CapInh: 0{16} CapPrm: 0{16} CapEff: 0{16} CapBnd: 0{16} CapAmb: 0{16} $' \
        'CapEff: 0000000000202000'
}

@test "no new privileges" {
    holds '{"noNewPrivileges": false}' 'grep NoNewPrivs /proc/self/status' '1$' '0$'
}

@test "the strict filter stands" {
    holds '{"seccomp": "engine"}' 'grep Seccomp: /proc/self/status' '2$' '0$'
}

@test "namespaces of its own: pid, ipc, uts, cgroup, network" {
    local kind
    for kind in pid ipc uts cgroup network; do
        without_ns "$kind"
    done
    for kind in pid ipc uts cgroup net; do
        inside_by strict "readlink /proc/self/ns/$kind"
        match "$output" "^$kind:"
        [ "$output" != "$(readlink "/proc/self/ns/$kind")" ] || fail "the host's: $output"
    done
    off "{\"namespaces\": {\"own\": []}, \"network\": \"engine\", \"cgroup\": \"engine\"}"
    for kind in pid ipc uts cgroup net; do
        inside_by "$OFF" "readlink /proc/self/ns/$kind"
        eq "$output" "$(readlink "/proc/self/ns/$kind")"
    done
}

@test "a namespace of a stranger is not joined" {
    with_ns ipc "/proc/$$/ns/ipc"
    holds '{"namespaces": {"join": "any"}}' \
        "[ \$(readlink /proc/self/ns/ipc) = $(readlink /proc/self/ns/ipc) ] && echo joined || echo own" \
        own joined
}

@test "a user namespace of a stranger is refused" {
    args true
    with_ns user "/proc/$$/ns/user"
    edit 'del (.linux.uidMappings, .linux.gidMappings)'
    try rt --policy strict run -b "$BUNDLE" "$ID"
    refused "/linux/namespaces\[[0-9]*\].*rule 'namespaces.join' of policy 'strict'"
}

@test "only the listed devices" {
    edit '.linux.devices = [{path: "/dev/kmsg", type: "c", major: 1, minor: 11}]'
    holds '{"devices": {"any": true}}' 'ls /dev' '^zero$' '^kmsg$'
}

@test "a listed name does not open another device" {
    edit '.linux.devices = [{path: "/dev/null", type: "c", major: 1, minor: 11}]'
    holds '{"devices": {"any": true}}' 'stat -c %t:%T /dev/null' '1:3' '1:b'
}

@test "the host's console is nobody's: /dev/console is for a terminal" {
    edit '.linux.devices = [{path: "/dev/console", type: "c", major: 5, minor: 1}]'
    holds '{"devices": {"any": true}}' 'ls /dev' '^zero$' '^console$'
}

@test "the cgroup lets listed devices only through" {
    edit '.linux.resources.devices = [{allow: true, access: "rwm"}]'
    limit '{"devices": {"any": true}}' devices devices.list "$(file_by strict devices devices.list)"
    no_match "$(file_by strict devices devices.list)" '^a '
}

@test "memory has a ceiling, and there is no swap" {
    edit '.linux.resources.memory = {limit: -1, swap: -1}'
    limit '{"limits": {"memory": -1, "swap": -1}}' memory memory.limit_in_bytes 1073741824
}

@test "CPU time has a ceiling, and period and quota are one" {
    edit '.linux.resources.cpu = {period: 50000, quota: 100000}'
    limit '{"limits": {"milliCpus": -1}}' cpu cpu.cfs_quota_us 50000
    edit '.linux.resources.cpu = {quota: -1}'
    eq "$(file_by strict cpu cpu.cfs_quota_us)" 100000
}

@test "processes have a ceiling; -1 is none, 0 the least" {
    edit '.linux.resources.pids = {limit: -1}'
    limit '{"limits": {"pids": -1}}' pids pids.max 128
    edit 'del (.linux.resources.pids)'
    eq "$(file_by strict pids pids.max)" 128
}

@test "lower values stay" {
    edit '.linux.resources |= (.pids = {limit: 10} | .memory = {limit: 33554432} |
        .cpu = {quota: 20000, period: 100000}) |
        .process.rlimits = [{type: "RLIMIT_NOFILE", soft: 64, hard: 100}]'
    eq "$(file_by strict pids pids.max)" 10
    eq "$(file_by strict memory memory.limit_in_bytes)" 33554432
    eq "$(file_by strict cpu cpu.cfs_quota_us)" 20000
    inside_by strict 'ulimit -n; ulimit -Hn'
    eq "$output" $'64\n100'
}

@test "open files have a ceiling, and there are no core files" {
    edit '.process.rlimits = [{type: "RLIMIT_NOFILE", soft: 4096, hard: 4096},
        {type: "RLIMIT_CORE", soft: 4096, hard: 4096}]'
    holds '{"limits": {"nofile": -1, "core": -1}}' 'echo $(ulimit -Hn) $(ulimit -c)' '^1024 0$' \
        '^4096 [1-9]'
}

@test "priority is not raised" {
    edit '.process.scheduler = {policy: "SCHED_OTHER", nice: -5}'
    holds '{"limits": {"milliCpus": -1}}' 'set -- $(cat /proc/self/stat); echo ${19}' \
        '^0$' '^-5$'
}

@test "nor can a process raise its own later" {
    # Without CAP_SYS_RESOURCE on the host nobody can: then the error tells that it was tried.
    edit '.process.rlimits = [{type: "RLIMIT_RTPRIO", soft: 50, hard: 50}]'
    holds '{"limits": {"milliCpus": -1}}' 'cat /proc/self/limits' \
        'Max realtime priority +0 ' 'priority +50|raising RLIMIT_RTPRIO'
    edit '.process.rlimits = [{type: "RLIMIT_NICE", soft: 40, hard: 40}]'
    holds '{"limits": {"milliCpus": -1}}' 'cat /proc/self/limits' \
        'nice priority +(0|20) |raising RLIMIT_NICE to 20 ' 'nice priority +40|RLIMIT_NICE to 40 '
}

@test "real-time I/O is not given" {
    edit '.process.ioPriority = {class: "IOPRIO_CLASS_RT", priority: 1}'
    holds '{"limits": {"milliCpus": -1}}' 'ionice' '^(none|best-effort): ' '^realtime: prio 1$'
    edit '.process.ioPriority = {class: "IOPRIO_CLASS_IDLE"}'
    inside_by strict ionice
    match "$output" '^idle'
}

@test "when memory is out, the container goes before who started it" {
    # Without CAP_SYS_RESOURCE a process can go back as far as it came from.
    echo 300 >"/proc/$BASHPID/oom_score_adj"
    edit '.process.oomScoreAdj = 100'
    holds '{"limits": {"memory": -1, "swap": -1}}' 'cat /proc/self/oom_score_adj' '^300$' '^100$'
    edit '.process.oomScoreAdj = 400'
    inside_by strict 'cat /proc/self/oom_score_adj'
    eq "$output" 400
}

@test "a cgroup in that of another container is refused, whoever made that one" {
    args sleep 1000
    edit --arg path "/$MARK/box" '.linux.cgroupsPath = $path'
    rt --policy strict run -d -b "$BUNDLE" "$ID-a" 3>&-
    edit --arg path "/$MARK/box/deep/in" '.linux.cgroupsPath = $path'
    args true
    refuses '{"cgroup": "engine"}' "/linux/cgroupsPath.*/$MARK/box', the cgroup of another container"
    # Another state root is as good as another runtime.
    try "$AGENTRT" --root "$TMP/other" --policy strict run -b "$BUNDLE" "$ID"
    refused "/linux/cgroupsPath.*rule 'cgroup.place' of policy 'strict'"
    edit --arg path "/$MARK/boxes/deep" '.linux.cgroupsPath = $path'
    rt --policy strict run -b "$BUNDLE" "$ID"
    rt delete -f "$ID-a"
    find /sys/fs/cgroup -depth -type d -path "*/$MARK*" -exec rmdir {} \; 2>"$TMP/raced" || true
}

@test "no time of real-time groups, none saved up" {
    local parent=/sys/fs/cgroup/cpu/$MARK

    mkdir "$parent"
    echo 20000 >"$parent/cpu.rt_runtime_us"
    edit --arg path "/$MARK/box" '.linux.cgroupsPath = $path |
        .linux.resources.cpu = {realtimePeriod: 1000000, realtimeRuntime: 10000}'
    limit '{"limits": {"milliCpus": -1}}' cpu cpu.rt_runtime_us 0
    edit '.linux.resources.cpu = {period: 100000, quota: 50000, burst: 20000}'
    limit '{"limits": {"milliCpus": -1}}' cpu cpu.cfs_burst_us 0
    find /sys/fs/cgroup -depth -type d -path "*/$MARK*" -exec rmdir {} \; 2>"$TMP/raced" || true
}

@test "no file of cgroup v2 lifts a ceiling" {
    # Where v2 has no such controller, the error tells that it was tried.
    edit '.linux.resources.unified = {"memory.max": "max", "pids.max": "max", "cpu.max": "max"}'
    holds '{"limits": {"memory": -1, "swap": -1, "milliCpus": -1, "pids": -1}}' \
        'cat /sys/fs/cgroup/pids/pids.max /sys/fs/cgroup/pids.max 2>/dev/null' '^128$' \
        '^max$|/linux/resources/unified'
}

@test "speculation is as safe as the kernel makes it" {
    # Only kernels that say so for seccomp show it inside: looked at is what the kernel is told.
    flags ()
    {
        strace -f -qq -e trace=seccomp -o "$TMP/trace" "$AGENTRT" --root "$ROOT" --policy "$1" \
            run -b "$BUNDLE" "$ID"
        cat "$TMP/trace"
    }
    args true
    edit '.linux.seccomp = {defaultAction: "SCMP_ACT_ALLOW", flags: ["SECCOMP_FILTER_FLAG_SPEC_ALLOW"],
        syscalls: [{names: ["swapon"], action: "SCMP_ACT_ERRNO"}]}'
    match "$(flags strict)" 'SET_MODE_FILTER, 0, .len=' # libseccomp asks for flags without a program
    no_match "$(<"$TMP/trace")" 'SPEC_ALLOW, .len='
    off '{"seccomp": "engine"}'
    match "$(flags "$OFF")" 'SPEC_ALLOW, .len='
}

@test "masked and read-only paths, when the config has none" {
    holds '{"paths": {"masked": [], "readonly": []}}' \
        'ls /sys/firmware | grep -q . && echo seen || echo masked; grep -c " /proc/sys " /proc/mounts' \
        $'masked' seen
}

@test "a sysctl of a namespace that is not its own is refused" {
    with_ns ipc "/proc/$$/ns/ipc"
    edit '.linux.sysctl = {"kernel.msgmax": "8192"}'
    args true
    off '{"namespaces": {"join": "any"}}'
    try rt --policy "$OFF" run -b "$BUNDLE" "$ID"
    refused "/linux/sysctl/kernel.msgmax.*rule 'sysctl' of policy 'off'"
    off '{"namespaces": {"join": "any"}, "sysctl": "any"}'
    rt --policy "$OFF" run -b "$BUNDLE" "$ID"
}

@test "identity unprivileged refuses root and runs a user" {
    args true
    off '{"identity": "unprivileged"}'
    try rt --policy "$OFF" run -b "$BUNDLE" "$ID"
    refused "/process/user/uid.*rule 'identity' of policy 'off'"
    edit '.process.user = {uid: 1000, gid: 1000}'
    rt --policy "$OFF" run -b "$BUNDLE" "$ID"
}

# exec_by POLICY OPTION...: what a privileged exec has under POLICY.
exec_by ()
{
    args sleep 1000
    rt --policy "$1" run -d -b "$BUNDLE" "$ID" 3>&-
    shift
    rt exec "$@" "$ID" sh -c 'id; grep -E "CapBnd|NoNewPrivs|Seccomp:" /proc/self/status
        echo files $(ulimit -Hn)' 3>&-
    rt delete -f "$ID"
}

@test "a privileged exec gets no more than the container" {
    local has
    has=$(exec_by strict --cap CAP_SYS_ADMIN)
    match "$has" $'CapBnd:\t0{16}'
    match "$has" $'NoNewPrivs:\t1'
    match "$has" $'Seccomp:\t2'
    match "$has" 'files 1024'
    edit 'del (.process.capabilities)'
    off '{"capabilities": ["ALL"]}'
    match "$(exec_by "$OFF" --cap CAP_SYS_ADMIN)" $'CapBnd:\t0{16}'
    off '{"capabilities": ["ALL"], "exec": "any"}'
    match "$(exec_by "$OFF" --cap CAP_SYS_ADMIN)" $'CapBnd:\t0000000000200000'
}

@test "exec is neither root nor of its group where the container is not" {
    edit '.process.user = {uid: 1000, gid: 1000}'
    match "$(exec_by strict --user 0:0)" 'uid=1000.* gid=1000'
    match "$(exec_by strict --user 7:7)" 'uid=7 gid=7'
    no_match "$(exec_by strict --user 7:0 --additional-gids 0 --additional-gids 9)" '[=,]0'
    off '{"exec": "any"}'
    match "$(exec_by "$OFF" --user 0:0)" 'uid=0'
    match "$(exec_by "$OFF" --user 7:0 --additional-gids 0)" 'uid=7 gid=0'
}

@test "annotations ask for more, as far as the policy allows" {
    edit '.annotations = {"io.agentrt.pids": "200"}'
    args true
    try rt --policy strict run -b "$BUNDLE" "$ID"
    refused "/annotations/io.agentrt.pids.*rule 'allow.pids' of policy 'strict'"
    off '{"allow": {"pids": 256}}'
    eq "$(file_by "$OFF" pids pids.max)" 200
    edit '.annotations = {"io.agentrt.pids": "257"}'
    args true
    try rt --policy "$OFF" run -b "$BUNDLE" "$ID"
    refused "allow.pids' of policy 'off' .$OFF.*up to 256"
    edit '.annotations = {"io.agentrt.nosuch": "1"}'
    try rt --policy strict run -b "$BUNDLE" "$ID"
    refused 'io.agentrt.nosuch.*memory.*pids'
}

@test "conflict: refuse makes a tightening an error with rule, place and file" {
    off '{"conflict": "refuse"}'
    args true
    try rt --policy "$OFF" run -b "$BUNDLE" "$ID"
    refused "^agentrt: /[a-z].*refused by rule '.*' of policy 'off' .$OFF"
}

@test "nothing is silent: the log, and the state's annotations" {
    edit '.annotations = {"io.agentrt.policy": "forged"}'
    args sleep 1000
    rt --policy strict --log "$TMP/log" --log-format json run -d -b "$BUNDLE" "$ID" 3>&-
    eq "$(jq -r .level "$TMP/log")" info
    match "$(jq -r .msg "$TMP/log")" "policy 'strict' .*limits.memory"
    eq "$(rt state "$ID" | jq -r '.annotations["io.agentrt.policy"]')" strict
    match "$(rt state "$ID" | jq -r '.annotations["io.agentrt.tightened"]')" limits.memory
    rt delete -f "$ID"
}

@test "the log of a failed start is one JSON document" {
    args /no/such/program
    try rt --policy strict --log "$TMP/log" --log-format json run -b "$BUNDLE" "$ID"
    [ "$status" -ne 0 ]
    eq "$(wc -l <"$TMP/log")" 1
    eq "$(jq -r .level "$TMP/log")" error
}

@test "a control that this host cannot enforce stops the start" {
    args true
    [ -d /sys/fs/cgroup/memory ] || skip "no cgroup v1 memory controller to hide"
    # shellcheck disable=SC2016
    try unshare --mount bash -c 'umount /sys/fs/cgroup/memory && exec "$@"' - \
        "$AGENTRT" --root "$ROOT" --policy strict run -b "$BUNDLE" "$ID"
    refused "^agentrt: control 'limits.memory' of policy 'strict' cannot be enforced on this host"
    match "$output" "no cgroup controller 'memory'.*cgroup_enable=memory"
    try rt --policy strict --cgroup-manager disabled run -b "$BUNDLE" "$ID"
    refused "control 'limits.memory' of policy 'strict' cannot be enforced.*cgroup-manager disabled"
}

@test "explain needs no privilege, and says what is refused" {
    add_mount /mnt bind /etc rbind
    try rt --policy strict explain -b "$BUNDLE"
    rc 1
    match "$output" "refused .*/etc on /mnt"
    match "$output" "refused: nothing is started"
    eq "$(tail -n 1 "$TMP/output" | cut -d " " -f 1)" agentrt: # behind what was printed
    status=0
    rt --policy strict explain --json -b "$BUNDLE" >"$TMP/json" 2>/dev/null || status=$?
    rc 1
    eq "$(jq -r '[.refused, .policy.name] | join (" ")' "$TMP/json")" 'true strict'
}
