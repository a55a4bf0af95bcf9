#!/usr/bin/env bats
# seccomp filters: every action, arguments, order with no_new_privs, the cache, and bad profiles.

load ../lib/helpers

# profile DEFAULT-ACTION RULE...: sets linux.seccomp; a rule is a JSON object.
profile ()
{
    local default=$1

    shift
    edit '.linux.seccomp = {defaultAction: $ARGS.positional[0],
        syscalls: [$ARGS.positional[1:][] | fromjson]}' --args "$default" "$@"
}

deny='{"names":["getppid"],"action":"SCMP_ACT_ERRNO"}'

# call NAME [ARG...]: what a system call gives inside.
call ()
{
    args probe syscall "$@"
    try rt run -b "$BUNDLE" "$ID"
}

@test "errno: EPERM by default, another when asked" {
    profile SCMP_ACT_ALLOW "$deny"
    call getppid
    rc 0
    eq "$output" EPERM
    profile SCMP_ACT_ALLOW '{"names":["getppid"],"action":"SCMP_ACT_ERRNO","errnoRet":38}'
    call getppid
    eq "$output" ENOSYS
}

@test "the filter is seen in the status, for init and exec" {
    profile SCMP_ACT_ALLOW "$deny"
    inside 'grep -E "^Seccomp" /proc/self/status | tr -d "\t"'
    eq "$output" $'Seccomp:2\nSeccomp_filters:1'
    running
    try rt exec "$ID" probe syscall getppid
    eq "$output" EPERM
    rt delete -f "$ID"
    edit 'del (.linux.seccomp)'
    inside 'grep -E "^Seccomp:" /proc/self/status | tr -d "\t"'
    eq "$output" Seccomp:0
}

@test "kill: the process, or the thread, by SIGSYS" {
    for a in SCMP_ACT_KILL SCMP_ACT_KILL_PROCESS SCMP_ACT_KILL_THREAD; do
        profile SCMP_ACT_ALLOW '{"names":["getppid"],"action":"'$a'"}'
        call getppid
        rc 159
    done
}

@test "trap, log and trace" {
    profile SCMP_ACT_ALLOW '{"names":["getppid"],"action":"SCMP_ACT_TRAP"}'
    call getppid
    rc 159
    profile SCMP_ACT_ALLOW '{"names":["getppid"],"action":"SCMP_ACT_LOG"}'
    call getppid
    match "$output" '^ok 0$'
    profile SCMP_ACT_ALLOW '{"names":["getppid"],"action":"SCMP_ACT_TRACE","errnoRet":1}'
    call getppid
    eq "$output" ENOSYS # nobody traces
}

@test "a default of errno with an allow list; a default errno of its own" {
    allow='["execve","exit_group","brk","arch_prctl","set_tid_address","set_robust_list","rseq",
        "prlimit64","readlink","readlinkat","getrandom","mprotect","fstat","newfstatat","write",
        "ioctl","mmap","munmap","close_range","close","futex","read","fcntl","sync"]'
    profile SCMP_ACT_ERRNO "{\"names\":$allow,\"action\":\"SCMP_ACT_ALLOW\"}"
    call getppid
    rc 0
    eq "$output" EPERM
    call sync
    eq "$output" 'ok 0'
    edit '.linux.seccomp.defaultErrnoRet = 95'
    call getppid
    eq "$output" EOPNOTSUPP
}

@test "an explicit rule against a default: deny one argument value of an allowed call" {
    profile SCMP_ACT_ALLOW '{"names":["personality"],"action":"SCMP_ACT_ERRNO",
        "args":[{"index":0,"value":8,"op":"SCMP_CMP_EQ"}]}'
    call personality 8
    eq "$output" EPERM
    call personality 0
    eq "$output" 'ok 0'
}

@test "every comparison" {
    t () # OP VALUE VALUE-TWO DENIED ALLOWED
    {
        profile SCMP_ACT_ALLOW '{"names":["prctl"],"action":"SCMP_ACT_ERRNO","errnoRet":95,
            "args":[{"index":1,"value":'"$2"',"valueTwo":'"$3"',"op":"SCMP_CMP_'"$1"'"}]}'
        call prctl 9999 "$4"
        eq "$1 $4 $output" "$1 $4 EOPNOTSUPP"
        call prctl 9999 "$5"
        eq "$1 $5 $output" "$1 $5 EINVAL"
    }
    t EQ 5 0 5 6
    t NE 5 0 6 5
    t LT 5 0 4 5
    t LE 5 0 5 6
    t GT 5 0 6 5
    t GE 5 0 5 4
    t MASKED_EQ 240 16 0x1f 0x2f
}

@test "64-bit values are exact" {
    profile SCMP_ACT_ALLOW '{"names":["prctl"],"action":"SCMP_ACT_ERRNO","errnoRet":95,
        "args":[{"index":1,"value":4294967298,"op":"SCMP_CMP_EQ"}]}'
    call prctl 9999 0x100000002
    eq "$output" EOPNOTSUPP
    call prctl 9999 2
    eq "$output" EINVAL
}

@test "two arguments must both match; two conditions on one argument are alternatives" {
    profile SCMP_ACT_ALLOW '{"names":["prctl"],"action":"SCMP_ACT_ERRNO","errnoRet":95,"args":[
        {"index":1,"value":1,"op":"SCMP_CMP_EQ"},{"index":2,"value":2,"op":"SCMP_CMP_EQ"}]}'
    call prctl 9999 1 2
    eq "$output" EOPNOTSUPP
    call prctl 9999 1 3
    eq "$output" EINVAL
    profile SCMP_ACT_ALLOW '{"names":["prctl"],"action":"SCMP_ACT_ERRNO","errnoRet":95,"args":[
        {"index":1,"value":1,"op":"SCMP_CMP_EQ"},{"index":1,"value":2,"op":"SCMP_CMP_EQ"}]}'
    call prctl 9999 1
    eq "$output" EOPNOTSUPP
    call prctl 9999 2
    eq "$output" EOPNOTSUPP
    call prctl 9999 3
    eq "$output" EINVAL
}

@test "the cache: a second run gives the same verdicts; nearly equal profiles do not mix" {
    local e want
    for e in 95 38 1 95 38 1; do
        profile SCMP_ACT_ALLOW '{"names":["getppid"],"action":"SCMP_ACT_ERRNO","errnoRet":'$e'}'
        call getppid
        case $e in 95) want=EOPNOTSUPP ;; 38) want=ENOSYS ;; 1) want=EPERM ;; esac
        eq "$output" $want
    done
    # The same letters, split otherwise.
    profile SCMP_ACT_ALLOW '{"names":["getppid","sync"],"action":"SCMP_ACT_ERRNO"}'
    call sync
    eq "$output" EPERM
    profile SCMP_ACT_ALLOW '{"names":["getppid"],"action":"SCMP_ACT_ERRNO"}'
    call sync
    eq "$output" 'ok 0'
}

@test "the cache: a damaged entry is not believed" {
    profile SCMP_ACT_ALLOW "$deny"
    call getppid
    eq "$output" EPERM
    [ -d "$ROOT/.cache" ] || return 0
    find "$ROOT/.cache" -type f | while read -r f; do : >"$f"; done
    call getppid
    eq "$output" EPERM
    find "$ROOT/.cache" -type f | while read -r f; do head -c 16 /dev/urandom >"$f"; done
    call getppid
    eq "$output" EPERM
    find "$ROOT/.cache" -type f | while read -r f; do printf '\377' | dd of="$f" bs=1 seek=9 \
        conv=notrunc 2>/dev/null; done
    call getppid
    eq "$output" EPERM
}

@test "without no_new_privs the filter is loaded, too, and before capabilities are lost" {
    profile SCMP_ACT_ALLOW "$deny"
    edit '.process.noNewPrivileges = false | .process.capabilities = {}
        | .process.user.uid = 1000'
    call getppid
    rc 0
    eq "$output" EPERM
}

@test "what the runtime itself needs before execve may be denied" {
    profile SCMP_ACT_ALLOW '{"names":["setgroups","setresuid","setresgid","capset",
        "close_range","mount","pivot_root","umount2","openat2","sethostname","unshare","setns",
        "clone3","fchown","chdir","mkdirat","mknodat","bpf","keyctl"],
        "action":"SCMP_ACT_KILL_PROCESS"}'
    for nnp in true false; do
        edit ".process.noNewPrivileges = $nnp"
        [ $nnp = true ] || edit '.linux.seccomp.syscalls[0].action = "SCMP_ACT_ERRNO" |
            .linux.seccomp.syscalls[0].names = ["mount", "pivot_root", "unshare", "bpf"]'
        inside 'echo up'
        rc 0
        eq "$output" up
    done
}

@test "startContainer hooks run before the filter or inside it, never instead of it" {
    profile SCMP_ACT_ALLOW "$deny"
    edit '.hooks.startContainer = [{path: "/bin/true"}]'
    call getppid
    rc 0
    eq "$output" EPERM
}

@test "unknown syscall names are skipped, the rest holds" {
    profile SCMP_ACT_ALLOW '{"names":["warp_drive","getppid"],"action":"SCMP_ACT_ERRNO"}'
    call getppid
    rc 0
    match "$output" '^EPERM$'
}

@test "architectures: none, empty, native and foreign ones" {
    profile SCMP_ACT_ALLOW "$deny"
    for a in '[]' '["SCMP_ARCH_X86_64"]' '["SCMP_ARCH_X86_64","SCMP_ARCH_X86","SCMP_ARCH_X32"]' \
        '["SCMP_ARCH_AARCH64"]'; do
        edit --argjson a "$a" '.linux.seccomp.architectures = $a'
        call getppid
        rc 0
        eq "$output" EPERM
    done
}

@test "flags" {
    profile SCMP_ACT_ALLOW "$deny"
    for f in '[]' '["SECCOMP_FILTER_FLAG_LOG"]' '["SECCOMP_FILTER_FLAG_SPEC_ALLOW"]' \
        '["SECCOMP_FILTER_FLAG_TSYNC","SECCOMP_FILTER_FLAG_LOG"]'; do
        edit --argjson f "$f" '.linux.seccomp.flags = $f'
        call getppid
        rc 0
        eq "$output" EPERM
    done
}

@test "speculation stays mitigated unless the profile says otherwise" {
    profile SCMP_ACT_ALLOW "$deny"
    inside 'grep -c "Speculation_Store_Bypass:.*thread vulnerable" /proc/self/status'
    plain=$output
    edit '.linux.seccomp.flags = ["SECCOMP_FILTER_FLAG_SPEC_ALLOW"]'
    inside 'grep -c "Speculation_Store_Bypass:.*thread vulnerable" /proc/self/status'
    [ "$output" -ge "$plain" ]
}

@test "bad profiles are refused, each naming what is wrong" {
    for s in '{"defaultAction":"SCMP_ACT_NONE"}' '{}' \
        '{"defaultAction":"SCMP_ACT_ALLOW","architectures":["SCMP_ARCH_Z80"]}' \
        '{"defaultAction":"SCMP_ACT_ALLOW","flags":["SECCOMP_FILTER_FLAG_WARP"]}' \
        '{"defaultAction":"SCMP_ACT_ALLOW","syscalls":[{"names":["sync"],"action":"X"}]}' \
        '{"defaultAction":"SCMP_ACT_ALLOW","syscalls":[{"names":["sync"]}]}' \
        '{"defaultAction":"SCMP_ACT_ALLOW","syscalls":[{"names":[],"action":"SCMP_ACT_KILL"}]}' \
        '{"defaultAction":"SCMP_ACT_ALLOW","syscalls":[{"names":["sync"],"action":"SCMP_ACT_ERRNO",
            "errnoRet":4096}]}' \
        '{"defaultAction":"SCMP_ACT_ALLOW","syscalls":[{"names":["sync"],"action":"SCMP_ACT_KILL",
            "errnoRet":1}]}' \
        '{"defaultAction":"SCMP_ACT_ALLOW","defaultErrnoRet":1}' \
        '{"defaultAction":"SCMP_ACT_ALLOW","syscalls":[{"names":["sync"],"action":"SCMP_ACT_ERRNO",
            "args":[{"index":6,"value":1,"op":"SCMP_CMP_EQ"}]}]}' \
        '{"defaultAction":"SCMP_ACT_ALLOW","syscalls":[{"names":["sync"],"action":"SCMP_ACT_ERRNO",
            "args":[{"index":0,"value":1,"op":"SCMP_CMP_XX"}]}]}' \
        '{"defaultAction":"SCMP_ACT_NOTIFY"}'; do
        edit --argjson s "$s" '.linux.seccomp = $s'
        inside true
        refused 'seccomp'
    done
}

@test "the docker profile: shape of a real one" {
    config=${TOP:-$BATS_TEST_DIRNAME/../..}/tests/golden/configs
    file=$(find "$config" -name 'config-docker28.json' 2>/dev/null | head -n1)
    [ "$file" ] || return 0
    edit --slurpfile d "$file" '.linux.seccomp = $d[0].linux.seccomp'
    inside 'mount -t tmpfs x /mnt; probe syscall unshare 0x10000000; probe syscall sync'
    match "$output" 'EPERM'
    match "$output" '^ok 0$'
}

@test "a profile that is in force early may know no system call since Linux 5.1" {
    profile='{defaultAction: "SCMP_ACT_ALLOW", syscalls: [{action: "SCMP_ACT_ERRNO", errnoRet: 38,
        names: ["close_range", "fsopen", "fsconfig", "fspick", "openat2", "open_tree", "move_mount",
            "mount_setattr", "faccessat2", "getcwd"]}]}'
    edit ".process.noNewPrivileges = false | .linux.seccomp = $profile"
    edit '.linux.namespaces += [{type: "user"}] | .linux.uidMappings = [{containerID: 0,
        hostID: 0, size: 1000}] | .linux.gidMappings = .linux.uidMappings'
    script 'ls /proc/self/fd | tr "\n" " "'
    exec 7</etc/passwd
    try rt run -b "$BUNDLE" "$ID"
    rc 0
    eq "$output" "0 1 2 3 " # 3 is the folder itself
    args sleep 1000
    running
    try rt exec "$ID" sh -c 'ls /proc/self/fd | tr "\n" " "'
    exec 7<&-
    rc 0
    eq "$output" "0 1 2 3 "
    rt delete -f "$ID"
}
