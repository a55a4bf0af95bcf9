#!/usr/bin/env bats
# Annotations of crun's that mean something here, and what a policy says about them.

load ../lib/helpers

# note KEY VALUE
note ()
{
    edit '.annotations[$ARGS.positional[0]] = $ARGS.positional[1]' --args -- "$@"
}

# as_user COMMAND...: in a user namespace in which all ids are mapped, with one more group.
as_user ()
{
    local p

    [ -p "$TMP/hold" ] || mkfifo "$TMP/hold"
    unshare --user cat "$TMP/hold" </dev/null >/dev/null 2>&1 3>&- &
    p=$!
    wait_for 5 other_userns $p
    echo 0 0 65536 >"/proc/$p/uid_map"
    echo 0 0 65536 >"/proc/$p/gid_map"
    try nsenter -U -t $p --preserve-credentials -- setpriv --groups 4242 "$@"
    : >"$TMP/hold"
    wait $p
}

other_userns ()
{
    [ "$(readlink "/proc/$1/ns/user")" != "$(readlink /proc/self/ns/user)" ]
}

@test "keep_original_groups: an ordinary user's are kept; strict keeps none" {
    edit 'del (.linux.resources)'
    args id -G
    run=(env XDG_RUNTIME_DIR="$TMP" timeout 20 "$AGENTRT" --root "$ROOT")
    as_user "${run[@]}" run -b "$BUNDLE" "$ID"
    rc 0
    eq "$output" 0
    note run.oci.keep_original_groups 1
    as_user "${run[@]}" run -b "$BUNDLE" "$ID"
    rc 0
    eq "$output" '0 4242'
    try rt --policy strict explain -b "$BUNDLE"
    match "$output" 'tightened /annotations/run.oci.keep_original_groups'
    printf '{"name": "off", "mounts": {"guard": false}}' >"$TMP/off.json"
    chmod 644 "$TMP/off.json"
    try rt --policy "$TMP/off.json" explain -b "$BUNDLE"
    no_match "$output" 'tightened /annotations/run.oci.keep_original_groups'
}

@test "keep_original_groups: not root's" {
    note run.oci.keep_original_groups 1
    inside true
    refused '/annotations/run.oci.keep_original_groups: only in a container of an ordinary user'
}

@test "mount_context_type: the ways that mount(8) knows" {
    note run.oci.mount_context_type rootcontext
    inside 'echo ran'
    eq "$output" ran
    note run.oci.mount_context_type labels
    inside true
    refused "/annotations/run.oci.mount_context_type: 'labels' is not one of context, fscontext"
    # Without SELinux the kernel knows none of them, and says by which it was asked.
    if [ ! -d /sys/fs/selinux ]; then
        edit '.linux.mountLabel = "system_u:object_r:container_file_t:s0"'
        for type in context rootcontext defcontext; do
            note run.oci.mount_context_type $type
            inside true
            refused "[^a-z]$type"
        done
    fi
}

@test "seccomp_fail_unknown_syscall: a name that nobody knows is an error" {
    edit '.linux.seccomp = {defaultAction: "SCMP_ACT_ALLOW", syscalls: [
        {names: ["getppid"], action: "SCMP_ACT_ERRNO"},
        {names: ["chown", "no_such_call"], action: "SCMP_ACT_ERRNO"}]}'
    inside 'echo ran'
    eq "$output" ran
    note run.oci.seccomp_fail_unknown_syscall 1
    inside true
    refused "/linux/seccomp/syscalls\[1\]/names: the system call 'no_such_call' is not known"
    edit '.linux.seccomp.syscalls[1].names = ["chown"]'
    inside 'echo ran'
    eq "$output" ran
}

@test "delegate-cgroup: refused, and said so" {
    note run.oci.delegate-cgroup sub
    inside true
    refused '/annotations/run.oci.delegate-cgroup: is not supported'
}
