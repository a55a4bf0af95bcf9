#!/usr/bin/env bats
# maskedPaths and readonlyPaths.

load ../lib/helpers

@test "a masked file reads empty and cannot be written" {
    echo secret >"$BUNDLE/rootfs/srv/file"
    edit '.linux.maskedPaths = ["/srv/file", "/proc/keys"] | .root.readonly = false'
    inside 'cat /srv/file; wc -c </proc/keys; echo bad >/srv/file; true'
    rc 0
    no_match "$output" secret
    match "$output" '^0$'
    eq "$(cat "$BUNDLE/rootfs/srv/file")" secret
}

@test "a masked folder is empty and read-only" {
    mkdir "$BUNDLE/rootfs/srv/dir"
    touch "$BUNDLE/rootfs/srv/dir/secret"
    edit '.linux.maskedPaths = ["/srv/dir", "/sys/firmware"] | .root.readonly = false'
    inside 'ls -A /srv/dir /sys/firmware; touch /srv/dir/x'
    no_match "$output" secret
    match "$output" '/srv/dir/x: Read-only'
    eq "$(ls "$BUNDLE/rootfs/srv/dir")" secret
}

@test "what is missing is skipped, in both lists" {
    edit '.linux.maskedPaths += ["/nonexistent", "/proc/nonexistent/deep"] |
        .linux.readonlyPaths += ["/nonexistent", "/proc/nonexistent/deep"]'
    inside 'echo up'
    rc 0
    eq "$output" up
}

@test "the default lists hold" {
    inside 'for p in /proc/acpi /proc/kcore /proc/keys /proc/timer_list /proc/scsi /sys/firmware; do
            [ -e $p ] || continue
            if [ -d $p ]; then ls -A $p; else head -c1 $p; fi
        done'
    rc 0
    eq "$output" ""
    inside 'echo 1 >/proc/sys/vm/drop_caches; echo 1 >/proc/irq/default_smp_affinity'
    eq "$(grep -c 'Read-only' <<<"$output")" 2
}

@test "read-only paths keep other flags and what they show" {
    inside 'grep " /proc/sys " /proc/self/mountinfo | cut -d" " -f6; cat /proc/sys/kernel/ostype'
    rc 0
    match "$output" '^ro,'
    match "$output" '^Linux$'
}

@test "a read-only path holds for the tree below, and not for its neighbours" {
    mkdir -p "$BUNDLE/rootfs/srv/ro/deep" "$BUNDLE/rootfs/srv/rw"
    add_mount /srv/ro/deep tmpfs tmpfs
    edit '.linux.readonlyPaths += ["/srv/ro"] | .root.readonly = false'
    inside 'touch /srv/ro/x; touch /srv/rw/x && echo rw'
    match "$output" '/srv/ro/x: Read-only'
    match "$output" '^rw$'
}

@test "a masked path that is a symlink of the image does not reach outside or unmask" {
    mkdir "$TMP/canary"
    echo secret >"$TMP/canary/file"
    ln -s "$TMP/canary/file" "$BUNDLE/rootfs/srv/link"
    echo inner >"$BUNDLE/rootfs/srv/target"
    ln -s target "$BUNDLE/rootfs/srv/inner"
    edit '.linux.maskedPaths = ["/srv/link", "/srv/inner"]'
    inside 'cat /srv/inner /srv/target'
    no_match "$output" inner$
    eq "$(cat "$TMP/canary/file")" secret
}

@test "the image's /dev/null is not used as a mask (CVE-2025-31133)" {
    edit '.mounts |= map (select (.destination | startswith ("/dev") | not))'
    edit '.root.readonly = false | .linux.maskedPaths = ["/proc/keys", "/proc/kcore"]'
    ln -s /proc/sys/kernel/domainname "$BUNDLE/rootfs/dev/null"
    inside 'wc -c </proc/keys; head -c1 /proc/kcore | wc -c'
    if [ "$status" -eq 0 ]; then eq "$output" $'0\n0'; fi
}

@test "2000 masked paths, with duplicates" {
    for i in {1..1000}; do : >"$BUNDLE/rootfs/srv/$i"; done
    edit '.linux.maskedPaths += [range (1; 1001) | "/srv/\(.)"]'
    edit '.linux.maskedPaths += [range (1; 1001) | "/srv/\(.)"]'
    inside 'cat /srv/* | wc -c'
    rc 0
    eq "$output" 0
}

@test "paths that are not absolute are refused" {
    edit '.linux.maskedPaths = ["srv"]'
    inside true
    refused 'maskedPaths'
    edit '.linux.maskedPaths = [] | .linux.readonlyPaths = ["../x"]'
    inside true
    refused 'readonlyPaths'
}
