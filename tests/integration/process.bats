#!/usr/bin/env bats
# process: cwd, env, args, identity, limits, capabilities and what else the payload is given.

load ../lib/helpers

# ---- working directory ----

@test "cwd: the configured one; made 0755 where it is missing; / by default is not assumed" {
    edit '.process.cwd = "/srv"'
    inside 'pwd; /bin/readlink /proc/self/cwd'
    rc 0
    eq "$output" $'/srv\n/srv'
    edit '.process.cwd = "/made/here"'
    inside 'pwd; stat -c %a /made/here'
    rc 0
    eq "$output" $'/made/here\n755'
}

@test "cwd: relative, a file, a loop, a host descriptor: refused" {
    ln -s loop "$BUNDLE/rootfs/loop"
    for cwd in srv "" /etc/passwd /loop; do
        edit --arg c "$cwd" '.process.cwd = $c'
        inside true
        rc 1
        match "$output" 'cwd'
    done
    for n in 3 4 5 6 7 8 9 10 11 12 13 14 15 16 20 30 40; do
        edit --arg c "/proc/self/fd/$n" '.process.cwd = $c'
        inside "ls ../../../..$TMP; cat ../../../../../etc/debian_version"
        [ "$status" -ne 0 ] || fail "cwd /proc/self/fd/$n was taken: $output"
        no_match "$output" '^[0-9]+\.[0-9]+$'
    done
}

@test "cwd: a symlink of the image to a descriptor (CVE-2024-21626)" {
    for n in 3 5 6 7 8 9; do
        ln -sfn "/proc/self/fd/$n" "$BUNDLE/rootfs/work"
        edit '.process.cwd = "/work"'
        inside 'cat ../../../../../../etc/debian_version; pwd'
        no_match "$output" '^[0-9]+\.[0-9]+$'
    done
}

@test "cwd: only root may enter it, and only the user may" {
    mkdir -m 700 "$BUNDLE/rootfs/rootonly" "$BUNDLE/rootfs/useronly"
    chown 1000:1000 "$BUNDLE/rootfs/useronly"
    edit '.process.cwd = "/useronly" | .process.user.uid = 1000'
    inside 'pwd'
    rc 0
    eq "$output" /useronly
    edit '.process.cwd = "/rootonly"'
    inside '/bin/pwd 2>&1 | head -n1'
    [ "$status" -eq 0 ] || match "$output" 'cwd|chdir'
}

# ---- environment ----

@test "env: exactly the configured one, and HOME" {
    edit '.process.env = ["A=1", "B=two words", "EMPTY=", "N=a\nb"] | .process.args = ["/bin/env"]'
    TESTSECRET=leak try rt run -b "$BUNDLE" "$ID"
    rc 0
    eq "$(sort <<<"$output")" "$(printf 'A=1\nB=two words\nEMPTY=\nN=a\nb\nHOME=/root\n' | sort)"
}

@test "env: the last of equal names wins; a name alone and an empty name are refused" {
    edit '.process.env += ["A=1", "A=2", "A=3"]'
    inside 'echo $A; env | grep -c ^A='
    eq "$output" $'3\n1'
    for e in '"NOEQUALS"' '"=x"' '""'; do
        edit --argjson e "$e" '.process.env = [$e]'
        args /bin/env
        try rt run -b "$BUNDLE" "$ID"
        rc 1
        match "$output" 'env'
    done
}

@test "env: HOME is the configured one, else the user's in the image, else /" {
    edit '.process.env += ["HOME=/mine"]'
    inside 'echo $HOME'
    eq "$output" /mine
    edit '.process.env |= .[:-1] | .process.user.uid = 1000'
    inside 'echo $HOME'
    eq "$output" /home/user
    edit '.process.user.uid = 4242'
    inside 'echo $HOME'
    eq "$output" /
    ln -sf /nonexistent "$BUNDLE/rootfs/etc/passwd"
    inside 'echo $HOME'
    eq "$output" /
    rm "$BUNDLE/rootfs/etc/passwd"
    mkfifo "$BUNDLE/rootfs/etc/passwd"
    LIMIT=10 inside 'echo $HOME'
    rc 0
    eq "$output" /
}

@test "env: an image's passwd that is a FIFO, a link out or huge hangs nothing and gives /" {
    local etc=$BUNDLE/rootfs/etc

    script 'echo $HOME'
    echo 'root:x:0:0::/evil:/bin/sh' >"$TMP/evil"
    for kind in fifo magic folder huge device; do
        rm -rf "$etc/passwd"
        case $kind in
        fifo) mkfifo "$etc/passwd" ;;
        magic) ln -s /proc/self/fd/0 "$etc/passwd" ;;
        folder) mkdir "$etc/passwd" ;;
        huge) (head -c 8000000 /dev/zero | tr '\0' x; printf '\nroot:x:0:0::/late:/bin/sh\n') >"$etc/passwd" ;;
        device) mknod "$etc/passwd" c 1 5 ;;
        esac
        output=$(LIMIT=10 rt run -b "$BUNDLE" "$ID" <"$TMP/evil" 2>&1) ||
            fail "$kind: status $?: $output"
        eq "$kind $output" "$kind /"
    done
}

@test "env: 20000 variables are no burden; one of 100 KB comes through" {
    edit '.process.env += [range (20000) | "V\(.)=\(.)"]'
    SECONDS=0
    inside 'echo $V19999'
    rc 0
    eq "$output" 19999
    [ $SECONDS -le 3 ] || fail "it took $SECONDS s"
    edit '.process.env |= .[:2] + ["BIG=" + ("x" * 100000)]'
    inside 'echo ${#BIG}'
    eq "$output" 100000
}

# ---- args ----

# start_fails TEXT: run, and create, end with status 1 and the exact text.
start_fails ()
{
    try rt run -b "$BUNDLE" "$ID"
    rc 1
    grep -qF -- "$1" <<<"$output" || fail "got:  $output" "want: $1"
    try rt create -b "$BUNDLE" "$ID"
    rc 1
    grep -qF -- "$1" <<<"$output" || fail "create: $output" "want: $1"
}

@test "args: not found in PATH" {
    args nonexist
    start_fails 'exec: "nonexist": executable file not found in $PATH'
}

@test "args: a path that does not exist" {
    args /nonexist
    start_fails 'exec: "/nonexist": stat /nonexist: no such file or directory'
    args ./nonexist
    start_fails 'exec: "./nonexist": stat ./nonexist: no such file or directory'
}

@test "args: not executable, and a folder" {
    args /etc/passwd
    start_fails 'exec: "/etc/passwd": permission denied'
    args /etc
    try rt run -b "$BUNDLE" "$ID"
    rc 1
    match "$output" 'exec: "/etc": (permission denied|is a directory)'
}

@test "args: an interpreter that is missing, an empty file, a foreign binary" {
    printf '#!/nonexistent/interp\n' >"$BUNDLE/rootfs/bin/script"
    printf '\177ELF\001\001\001 no program' >"$BUNDLE/rootfs/bin/foreign"
    : >"$BUNDLE/rootfs/bin/empty"
    chmod 755 "$BUNDLE/rootfs/bin/script" "$BUNDLE/rootfs/bin/foreign" "$BUNDLE/rootfs/bin/empty"
    args script
    try rt run -b "$BUNDLE" "$ID"
    rc 1
    match "$output" 'no such file or directory'
    for a in foreign empty; do
        args $a
        try rt run -b "$BUNDLE" "$ID"
        rc 1
        match "$output" "(exec format error|$a)"
    done
}

@test "args: looked up in the config's PATH and the container's root" {
    mkdir "$BUNDLE/rootfs/own"
    printf '#!/bin/sh\necho own $0 $*\n' >"$BUNDLE/rootfs/own/tool"
    chmod 755 "$BUNDLE/rootfs/own/tool"
    edit '.process.env = ["PATH=/none:/own"]'
    args tool a 'b c'
    try rt run -b "$BUNDLE" "$ID"
    rc 0
    eq "$output" 'own /own/tool a b c'
    edit '.process.cwd = "/own"'
    args ./tool
    try rt run -b "$BUNDLE" "$ID"
    eq "$output" 'own ./tool'
    args sh
    start_fails 'exec: "sh": executable file not found in $PATH'
}

@test "args: no PATH at all; empty and missing args" {
    edit '.process.env = ["A=b"]'
    args /bin/echo up
    try rt run -b "$BUNDLE" "$ID"
    eq "$output" up
    for a in '[]' '[""]' null; do
        edit --argjson a "$a" '.process.args = $a'
        try rt run -b "$BUNDLE" "$ID"
        rc 1
        match "$output" '(args|executable|exec)'
    done
}

@test "args: argv[0] is what the config says" {
    ln -s busybox "$BUNDLE/rootfs/bin/cat2"
    args cat /proc/self/cmdline
    try rt run -b "$BUNDLE" "$ID"
    rc 0
    eq "$(tr '\0' ' ' <"$TMP/output")" 'cat /proc/self/cmdline '
}

@test "args: a file that only the user may execute, and one only root may" {
    cp "$BUNDLE/rootfs/bin/busybox" "$BUNDLE/rootfs/srv/echo"
    chown 1000 "$BUNDLE/rootfs/srv/echo"
    chmod 500 "$BUNDLE/rootfs/srv/echo"
    edit '.process.user.uid = 1000'
    args /srv/echo up
    try rt run -b "$BUNDLE" "$ID"
    eq "$output" up
    edit '.process.user.uid = 1001'
    start_fails 'exec: "/srv/echo": permission denied'
}

# ---- identity ----

@test "user: uid, gid and exactly the additional groups" {
    inside 'id -u; id -g; id -G'
    eq "$output" $'0\n0\n0'
    edit '.process.user = {uid: 1000, gid: 50, additionalGids: [5, 60, 70000]}'
    inside 'grep -E "^(Uid|Gid|Groups)" /proc/self/status | tr -s "\t " " "'
    eq "$output" $'Uid: 1000 1000 1000 1000\nGid: 50 50 50 50\nGroups: 5 60 70000 '
}

@test "user: the caller's groups are not inherited" {
    script 'grep ^Groups /proc/self/status | tr -s "\t " " "'
    try setpriv --groups 10,20 timeout 30 "$AGENTRT" --root "$ROOT" run -b "$BUNDLE" "$ID"
    rc 0
    match "$output" '^Groups: ?$'
}

@test "user: a number is a number, whatever the image's passwd says" {
    echo '1000:x:0:0::/root:/bin/sh' >"$BUNDLE/rootfs/etc/passwd"
    edit '.process.user.uid = 1000'
    inside 'id -u'
    eq "$output" 1000
}

@test "user: numbers out of range are refused" {
    for n in -1 4294967295 4294967296 1.5 '"0"' true; do
        for f in uid gid; do
            cp "$BUNDLE/config.json" "$TMP/saved"
            edit --argjson n "$n" --arg f $f '.process.user[$f] = $n'
            inside true
            refused '/process/user'
            cp "$TMP/saved" "$BUNDLE/config.json"
        done
    done
    edit '.process.user.uid = 4294967294'
    inside 'id -u'
    eq "$output" 4294967294
}

@test "umask: 0022 unless configured; the caller's has no effect" {
    umask 077
    inside umask
    eq "$output" 0022
    edit '.process.user.umask = 7'
    inside umask
    eq "$output" 0007
}

# ---- limits and priorities ----

@test "rlimits: soft and hard, all kinds" {
    edit '.process.rlimits = [
        {type: "RLIMIT_NOFILE", soft: 77, hard: 99}, {type: "RLIMIT_CORE", soft: 0, hard: 0},
        {type: "RLIMIT_CPU", soft: 100, hard: 200}, {type: "RLIMIT_FSIZE", soft: 4096, hard: 8192},
        {type: "RLIMIT_STACK", soft: 4194304, hard: 8388608},
        {type: "RLIMIT_AS", soft: 1073741824, hard: 18446744073709551615},
        {type: "RLIMIT_NPROC", soft: 500, hard: 600},
        {type: "RLIMIT_LOCKS", soft: 5, hard: 6}, {type: "RLIMIT_SIGPENDING", soft: 7, hard: 8},
        {type: "RLIMIT_MEMLOCK", soft: 4096, hard: 8192}]'
    inside 'tr -s " " </proc/self/limits'
    rc 0
    match "$output" '^Max open files 77 99 '
    match "$output" '^Max core file size 0 0 '
    match "$output" '^Max cpu time 100 200 '
    match "$output" '^Max file size 4096 8192 '
    match "$output" '^Max stack size 4194304 8388608 '
    match "$output" '^Max address space 1073741824 unlimited '
    match "$output" '^Max processes 500 600 '
    match "$output" '^Max file locks 5 6 '
    match "$output" '^Max pending signals 7 8 '
    match "$output" '^Max locked memory 4096 8192 '
}

@test "rlimits: small ones bind the payload, not the runtime" {
    edit '.process.rlimits = [{type: "RLIMIT_NOFILE", soft: 4, hard: 4},
        {type: "RLIMIT_AS", soft: 8000000, hard: 8000000}, {type: "RLIMIT_NPROC", soft: 1, hard: 1}]'
    args cat /proc/self/limits
    try rt run -b "$BUNDLE" "$ID"
    rc 0
    match "$output" '^Max open files +4 +4 '
}

@test "rlimits: unknown, twice, and soft above hard are refused" {
    for r in '[{"type":"RLIMIT_NONE","soft":1,"hard":1}]' \
        '[{"type":"RLIMIT_CORE","soft":0,"hard":0},{"type":"RLIMIT_CORE","soft":1,"hard":1}]' \
        '[{"type":"RLIMIT_CORE","soft":2,"hard":1}]' '[{"soft":2,"hard":1}]' \
        '[{"type":"RLIMIT_CORE","soft":-2,"hard":1}]'; do
        edit --argjson r "$r" '.process.rlimits = $r'
        inside true
        refused 'rlimits'
    done
}

@test "oom_score_adj: set, and untouched when absent" {
    edit '.process.oomScoreAdj = 321'
    inside 'cat /proc/self/oom_score_adj'
    eq "$output" 321
    edit 'del (.process.oomScoreAdj)'
    inside 'cat /proc/self/oom_score_adj'
    eq "$output" "$(cat /proc/self/oom_score_adj)"
    edit '.process.oomScoreAdj = 1001'
    inside true
    refused 'oomScoreAdj|oom_score_adj'
}

@test "scheduler: policy and nice" {
    edit '.process.scheduler = {policy: "SCHED_OTHER", nice: 7}'
    inside 'probe syscall sched_getscheduler 0; probe syscall getpriority 0 0'
    rc 0
    eq "$output" $'ok 0\nok 13' # the system call answers 20 - nice
    edit '.process.scheduler = {policy: "SCHED_BATCH", nice: 3,
        flags: ["SCHED_FLAG_RESET_ON_FORK"]}'
    args probe syscall sched_getscheduler 0
    try rt run -b "$BUNDLE" "$ID"
    eq "$output" "ok $((3 | 0x40000000))"
    edit '.process.scheduler = {policy: "SCHED_IDLE"}'
    inside 'probe syscall sched_getscheduler 0'
    eq "$output" 'ok 5'
    edit '.process.scheduler = {policy: "SCHED_NONE"}'
    inside true
    refused 'scheduler'
    edit '.process.scheduler = {policy: "SCHED_OTHER", priority: 5}'
    inside true
    refused 'scheduler'
}

@test "ioPriority: class and priority" {
    edit '.process.ioPriority = {class: "IOPRIO_CLASS_BE", priority: 5}'
    inside 'probe syscall ioprio_get 1 0'
    eq "$output" "ok $((2 << 13 | 5))"
    edit '.process.ioPriority = {class: "IOPRIO_CLASS_IDLE", priority: 0}'
    inside 'probe syscall ioprio_get 1 0'
    eq "$output" "ok $((3 << 13))"
    edit '.process.ioPriority = {class: "IOPRIO_CLASS_XX", priority: 0}'
    inside true
    refused 'ioPriority'
}

@test "memoryPolicy: what the kernel says of the process; modes, nodes and flags that are none" {
    t () # POLICY WANT
    {
        edit --argjson m "$1" '.linux.memoryPolicy = $m'
        inside 'cut -d" " -f2 /proc/self/numa_maps | sort | uniq | head -n1'
        rc 0
        eq "$output" "$2"
    }
    t '{"mode": "MPOL_BIND", "nodes": "0"}' bind:0
    t '{"mode": "MPOL_INTERLEAVE", "nodes": "0"}' interleave:0
    t '{"mode": "MPOL_PREFERRED", "nodes": "0"}' prefer:0
    t '{"mode": "MPOL_BIND", "nodes": "0", "flags": ["MPOL_F_STATIC_NODES"]}' bind=static:0
    t '{"mode": "MPOL_LOCAL"}' local
    t '{"mode": "MPOL_DEFAULT"}' default
    n () # POLICY ERE
    {
        edit --argjson m "$1" '.linux.memoryPolicy = $m'
        inside true
        refused "$2"
    }
    n '{"mode": "MPOL_X", "nodes": "0"}' 'invalid memory policy mode'
    n '{"mode": "MPOL_BIND", "nodes": "0", "flags": ["MPOL_F_X"]}' 'invalid memory policy flag'
    n '{"mode": "MPOL_BIND", "nodes": "0-x"}' 'memoryPolicy/nodes'
    n '{"mode": "MPOL_BIND"}' 'memoryPolicy/nodes: required'
    n '{"mode": "MPOL_DEFAULT", "nodes": "0"}' 'memoryPolicy/nodes: .*takes none'
    n '{"mode": "MPOL_BIND", "nodes": "900"}' 'invalid memory policy nodes|memoryPolicy'
}

@test "personality: a 32-bit machine" {
    edit '.linux.personality = {domain: "LINUX32"}'
    inside 'uname -m; probe syscall personality 0xffffffff'
    match "$output" '^i[36]86|^armv8l'
    match "$output" '^ok 8$'
    edit '.linux.personality = {domain: "LINUX"}'
    inside 'probe syscall personality 0xffffffff'
    eq "$output" 'ok 0'
    edit '.linux.personality = {domain: "BSD"}'
    inside true
    refused 'personality'
}

@test "signals: none is blocked, none ignored" {
    args grep -E '^Sig(Blk|Ign)' /proc/self/status
    trap '' INT TERM USR1 PIPE
    try rt run -b "$BUNDLE" "$ID"
    trap - INT TERM USR1 PIPE
    rc 0
    eq "$(tr -d '\t' <<<"$output")" $'SigBlk:0000000000000000\nSigIgn:0000000000000000'
}

@test "cpu affinity: a runtime that is pinned does not pin the payload" {
    [ "$(nproc)" -gt 1 ] || fail "needs two processors"
    script 'grep Cpus_allowed_list /proc/self/status | tr -d "\t"'
    try taskset -c 0 timeout 30 "$AGENTRT" --root "$ROOT" run -b "$BUNDLE" "$ID"
    rc 0
    no_match "$output" ':0$'
}

# ---- privileges ----

caps ()
{
    inside 'grep ^Cap /proc/self/status | tr -d "\t"'
    rc 0
}

@test "capabilities: the five sets, each its own" {
    edit '.process.capabilities = {bounding: ["CAP_CHOWN", "CAP_KILL", "CAP_SETUID", "CAP_NET_RAW"],
        permitted: ["CAP_CHOWN", "CAP_KILL", "CAP_SETUID"], effective: ["CAP_CHOWN"],
        inheritable: ["CAP_KILL"], ambient: []}'
    edit '.process.user.uid = 1000'
    running
    pid=$(cat "$TMP/pid")
    eq "$(awk '/^CapBnd/ { print $2 }' "/proc/$pid/status")" 00000000000020a1
    eq "$(awk '/^CapInh/ { print $2 }' "/proc/$pid/status")" 0000000000000020
    eq "$(awk '/^CapEff/ { print $2 }' "/proc/$pid/status")" 0000000000000000
    rt delete -f "$ID"
    edit '.process.capabilities = {bounding: ["CAP_CHOWN", "CAP_KILL"],
        permitted: ["CAP_CHOWN", "CAP_KILL"], effective: ["CAP_CHOWN", "CAP_KILL"],
        inheritable: ["CAP_KILL"], ambient: ["CAP_KILL"]}'
    caps
    eq "$output" 'CapInh:0000000000000020
CapPrm:0000000000000020
CapEff:0000000000000020
CapBnd:0000000000000021
CapAmb:0000000000000020'
}

@test "capabilities: ambient ones that are not inheritable are left out with a warning" {
    edit '.process.capabilities = {bounding: ["CAP_CHOWN", "CAP_KILL"],
        permitted: ["CAP_CHOWN", "CAP_KILL"], effective: ["CAP_CHOWN", "CAP_KILL"],
        inheritable: ["CAP_KILL"], ambient: ["CAP_CHOWN", "CAP_KILL"]}'
    caps
    match "$output" "warning: can't raise ambient capability CAP_CHOWN: "
    match "$output" 'CapAmb:0000000000000020'
}

@test "user: without a gid it is 0; a uid is required" {
    edit '.process.user = {"uid": 1000}'
    inside 'id -u; id -g'
    eq "$output" $'1000\n0'
    edit '.process.user = {"gid": 0}'
    inside true
    refused '/process/user/uid: required'
}

@test "a program without an x bit for its user, who has CAP_DAC_OVERRIDE" {
    cp "$BUNDLE/rootfs/bin/busybox" "$BUNDLE/rootfs/srv/echo"
    chmod 744 "$BUNDLE/rootfs/srv/echo"
    edit '.process.user = {"uid": 1000, "gid": 1000} | .process.args = ["/srv/echo", "ran"]'
    edit '.process.capabilities = {bounding: ["CAP_DAC_OVERRIDE"]}'
    try rt run -b "$BUNDLE" "$ID"
    refused 'exec: "/srv/echo": permission denied'
    edit '["CAP_DAC_OVERRIDE"] as $c | .process.capabilities = {bounding: $c, permitted: $c,
        effective: $c, inheritable: $c, ambient: $c}'
    try rt run -b "$BUNDLE" "$ID"
    rc 0
    eq "$output" ran
}

@test "capabilities: absent and empty mean none, also for root" {
    for c in null '{}' '{"bounding":[],"effective":[],"inheritable":[],"permitted":[],"ambient":[]}'; do
        edit --argjson c "$c" 'if $c then .process.capabilities = $c
            else del (.process.capabilities) end'
        caps
        eq "$(cut -d: -f2 <<<"$output" | sort -u)" 0000000000000000
    done
}

@test "capabilities: root gets what is permitted and bounded" {
    edit '.process.capabilities = {bounding: ["CAP_CHOWN", "CAP_SYS_TIME"],
        permitted: ["CAP_CHOWN"], effective: ["CAP_CHOWN"]}'
    edit '.process.noNewPrivileges = true'
    caps
    match "$output" '^CapBnd:0000000002000001$'
    match "$output" '^CapInh:0000000000000000$'
    match "$output" '^CapAmb:0000000000000000$'
}

@test "capabilities: an unknown name is left out with a warning" {
    edit '.process.capabilities |= map_values (["CAP_CHOWN", "CAP_WARP_DRIVE"])'
    caps
    match "$output" '^CapEff:0000000000000001$'
    match "$output" 'CAP_WARP_DRIVE'
}

@test "capabilities: a set-uid program gains nothing when bounding is empty" {
    chmod 4755 "$BUNDLE/rootfs/bin/busybox"
    edit '.process.user.uid = 1000 | .process.noNewPrivileges = false | .process.capabilities = {}'
    inside 'grep ^CapEff /proc/self/status | tr -d "\t"'
    eq "$output" 'CapEff:0000000000000000'
}

@test "no_new_privs: on, off, and what it does to set-uid programs" {
    cp "$BUNDLE/rootfs/bin/busybox" "$BUNDLE/rootfs/bin/id2"
    mv "$BUNDLE/rootfs/bin/id2" "$BUNDLE/rootfs/srv/id"
    chmod 4755 "$BUNDLE/rootfs/srv/id"
    edit '.process.user.uid = 1000 | .process.noNewPrivileges = true'
    inside 'grep NoNewPrivs /proc/self/status | tr -d "\t"; /srv/id -u'
    eq "$output" $'NoNewPrivs:1\n1000'
    for f in '.process.noNewPrivileges = false' 'del (.process.noNewPrivileges)'; do
        edit "$f"
        inside 'grep NoNewPrivs /proc/self/status | tr -d "\t"'
        eq "$output" $'NoNewPrivs:0'
    done
}

@test "the parent's death signal is not inherited" {
    args sleep 1000
    bash -c "'$AGENTRT' --root '$ROOT' create -b '$BUNDLE' '$ID' </dev/null >/dev/null 2>&1 3>&-"
    rt start "$ID"
    sleep 0.2
    eq "$(status_of)" running
    rt delete -f "$ID"
}

@test "keyring: a new session keyring of the container's, unless told otherwise" {
    args probe keyring
    try rt run -b "$BUNDLE" "$ID"
    rc 0
    match "$output" "_ses\.$ID"
    try rt run --no-new-keyring -b "$BUNDLE" "$ID"
    rc 0
    no_match "$output" "_ses\.$ID"
}

@test "securebits and dumpable are as for any program" {
    inside 'probe syscall prctl 27; probe syscall prctl 3'
    eq "$output" $'ok 0\nok 1'
}

@test "without process, nothing starts" {
    edit 'del (.process)'
    try rt run -b "$BUNDLE" "$ID"
    refused 'process'
}

@test "thousands of supplementary groups" {
    edit '.process.user.additionalGids = [range (4000000000; 4000003000)]'
    inside 'grep ^Groups: /proc/self/status | wc -w'
    rc 0
    eq "$output" 3001
}

@test "SCHED_DEADLINE on some CPUs only: the kernel's EPERM is explained" {
    [ "$(nproc)" -gt 1 ]
    edit '.linux.resources.cpu = {"cpus": "0", "mems": "0"} | .process.scheduler =
        {policy: "SCHED_DEADLINE", runtime: 42000, deadline: 1000000, period: 1000000}'
    inside true
    refused "process scheduler can't be used together with AllowedCPUs"
}
