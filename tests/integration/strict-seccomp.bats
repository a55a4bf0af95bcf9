#!/usr/bin/env bats
# The strict filter from inside, and that each refusal is its own: under a policy that leaves it
# out the same call gives something else.

load ../lib/helpers

# The calls, and what they give under the filter. The last column is what the kernel itself says:
# a pattern, because some of it depends on the host's settings.
calls='unshare 0|EPERM|ok 0
ptrace 16 0|EPERM|ESRCH
kcmp 1 1 0|EPERM|ok 0
personality 0x40000|EPERM|ok 0
personality 0x100040000|EPERM|ok 0
keyctl 0 -3 0|ENOSYS|ok .*|ENOKEY
userfaultfd 1|ENOSYS|ok .*|EPERM
io_uring_setup 0 0|ENOSYS|E(FAULT|INVAL|PERM)
clone3 0 0|ENOSYS|EINVAL
execveat 99 0|ENOSYS|E(FAULT|BADF)
futex 0 12|ENOSYS|E(FAULT|INVAL)
splice 99 0 98 0 1|EINVAL|EBADF
setsockopt 99 6 31|ENOPROTOOPT|EBADF
socket 16 3 15|EAFNOSUPPORT|ok .*
socket 0x100000010 3 15|EAFNOSUPPORT|ok .*
socket 2 3 1|EAFNOSUPPORT|EPERM
prctl 35 1|EINVAL|EPERM'

# What passes.
passing='socket 1 1 0
socket 2 1 0
socket 16 3 0
prctl 39
shmget 0 4096 0x180
sync
personality 0xffffffff'

prepare ()
{
    echo '{"extend": "strict", "seccomp": "engine"}' >/etc/agentrt/loose.json
    edit 'del (.linux.seccomp)'
}

# ask: in the container a probe of each line of stdin; one answer a line.
ask ()
{
    # shellcheck disable=SC2016
    script "$(sed 's/^/probe syscall /' <<<"$1")"
    try rt --policy "$2" run -b "$BUNDLE" "$ID"
}

names ()
{
    cut -d'|' -f1 <<<"$calls"
}

@test "denied calls have the errno of the table" {
    ask "$(names)" strict
    rc 0
    eq "$(grep -v '^agentrt' <<<"$output")" "$(cut -d'|' -f2 <<<"$calls")"
}

@test "without the filter the same calls give something else" {
    local call want got

    ask "$(names)" /etc/agentrt/loose.json
    rc 0
    paste -d'|' <(grep -v '^agentrt' <<<"$output") <(cut -d'|' -f1,3- <<<"$calls") >"$TMP/pairs"
    while IFS='|' read -r got call want; do
        grep -Eqx -- "$want" <<<"$got" || fail "$call: got $got, want $want"
    done <"$TMP/pairs"
}

@test "what programs need passes" {
    ask "$passing" strict
    rc 0
    eq "$(grep -c '^ok' <<<"$output")" "$(wc -l <<<"$passing")"
}

@test "one filter, or two with the engine's; exec has the same" {
    local want=1 f

    for f in 'del (.linux.seccomp)' '.linux.seccomp = {defaultAction: "SCMP_ACT_ALLOW", syscalls: [
        {names: ["getppid"], action: "SCMP_ACT_ERRNO", errnoRet: 95}]}'; do
        edit "$f"
        args sleep 1000
        rt --policy strict create -b "$BUNDLE" "$ID" </dev/null >"$TMP/out" 2>&1 3>&-
        rt start "$ID" 3>&-
        try rt exec "$ID" grep -E '^Seccomp' /proc/1/status /proc/self/status
        eq "$(grep -c 'Seccomp:[[:space:]]2$' <<<"$output")" 2
        eq "$(grep -c "Seccomp_filters:[[:space:]]$want\$" <<<"$output")" 2
        try rt exec "$ID" probe syscall unshare 0
        eq "$(tail -n1 <<<"$output")" EPERM
        rt delete -f "$ID"
        want=2
    done
}

@test "the engine's profile takes away, and cannot give" {
    edit '.linux.seccomp = {defaultAction: "SCMP_ACT_ALLOW", syscalls: [
        {names: ["getppid"], action: "SCMP_ACT_ERRNO", errnoRet: 95},
        {names: ["unshare"], action: "SCMP_ACT_ALLOW"}]}'
    ask $'getppid\nunshare 0' strict
    eq "$(grep -v '^agentrt' <<<"$output")" $'EOPNOTSUPP\nEPERM'
}

@test "a startContainer hook is under it" {
    edit '.hooks.startContainer = [{path: "/bin/sh",
        args: ["sh", "-c", "probe syscall unshare 0 >/dev/shm/hook"]}]'
    script 'cat /dev/shm/hook'
    try rt --policy strict run -b "$BUNDLE" "$ID"
    eq "$(tail -n1 <<<"$output")" EPERM
}

@test "a call of x32 kills the process" {
    [ "$(uname -m)" = x86_64 ] || skip "x86_64 only"
    ask 0x40000027 strict
    rc 159
}

@test "without no_new_privs it stands before the capabilities are lost; exec, too" {
    echo '{"extend": "strict", "noNewPrivileges": false}' >/etc/agentrt/privs.json
    edit '.process.noNewPrivileges = false | .process.user.uid = 1000'
    args sleep 1000
    rt --policy /etc/agentrt/privs.json create -b "$BUNDLE" "$ID" </dev/null >"$TMP/out" 2>&1 3>&-
    rt start "$ID" 3>&-
    grep -q 'Seccomp:[[:space:]]2' "/proc/$(rt state "$ID" | jq .pid)/status"
    try rt exec "$ID" probe syscall unshare 0
    eq "$(tail -n1 <<<"$output")" EPERM
    rt delete -f "$ID"
}
