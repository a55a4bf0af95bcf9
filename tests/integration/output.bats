#!/usr/bin/env bats
# What commands print and log: state, list, ps, features, --version, spec, and errors.

load ../lib/helpers

@test "state: every field, of a created, a running and a stopped container" {
    edit '.annotations = {"io.test/key": "value"}'
    args sleep 1000
    created
    rt state "$ID" >"$TMP/state"
    jq -e --arg id "$ID" --arg b "$BUNDLE" '.ociVersion | startswith ("1.")' "$TMP/state"
    jq -e --arg id "$ID" --arg b "$BUNDLE" '.id == $id and .bundle == $b
        and .rootfs == $b + "/rootfs" and .status == "created" and (.pid | type) == "number"
        and .pid > 1 and (.annotations | with_entries (select (.key | startswith ("io.agentrt.") | not)))
            == {"io.test/key": "value"}
        and (.owner | type) == "string"' "$TMP/state"
    # RFC 3339 with nanoseconds, in UTC, and now.
    created=$(jq -r .created "$TMP/state")
    match "$created" '^20[0-9]{2}-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-5][0-9](\.[0-9]{1,9})?Z$'
    age=$(($(date +%s) - $(date -d "$created" +%s)))
    [ $age -ge 0 ] && [ $age -lt 60 ]
    rt start "$ID"
    rt state "$ID" | jq -e '.status == "running" and .pid > 1'
    rt kill "$ID" KILL
    wait_for 5 is_status stopped "$ID"
    rt state "$ID" | jq -e '.status == "stopped" and .pid == 0'
    rt delete "$ID"
}

@test "list: empty, table, json, quiet" {
    mkdir -m 700 "$ROOT"
    eq "$(rt list -f json)" '[]'
    eq "$(rt list -q)" ""
    args sleep 1000
    created
    rt run -d -b "$BUNDLE" "$MARK-2" </dev/null >/dev/null 2>&1 3>&-
    eq "$(rt list -q)" "$ID"$'\n'"$MARK-2"
    rt list --format json | jq -e --arg a "$ID" --arg b "$MARK-2" '
        map ({id, status}) == [{id: $a, status: "created"}, {id: $b, status: "running"}]
        and all (.[]; .pid > 1 and (.created | type) == "string" and .bundle != "")'
    match "$(rt list | head -n1)" '^ID +PID +STATUS +BUNDLE +CREATED +OWNER'
    match "$(rt list)" "^$ID +[0-9]+ +created +$BUNDLE "
    rt delete -f "$ID"
    rt delete -f "$MARK-2"
}

@test "list: a state root that is not there" {
    eq "$(timeout 10 "$AGENTRT" list -f json)" '[]'
    [ ! -e /run/agentrt ]
    # One that was named must be there: an empty list would hide a typing error.
    try rt list
    rc 1
    match "$output" "$ROOT"
}

@test "ps: table and json, of all processes" {
    script 'sleep 1001 & sleep 1000; true'
    created
    rt start "$ID"
    wait_for 5 three_processes
    rt ps --format json "$ID" | jq -e 'length == 3 and all (.[]; type == "number" and . > 1)'
    rt ps -f json "$ID" | jq -e --argjson p "$(cat "$TMP/pid")" 'index ($p) != null'
    try rt ps "$ID"
    rc 0
    match "$output" 'PID'
    match "$output" 'sleep 1001'
    try rt ps "$ID" -o pid,comm
    rc 0
    match "$output" '^ *[0-9]+ sleep'
    rt delete -f "$ID"
}

three_processes ()
{
    [ "$(rt ps -f json "$ID" | jq length)" -eq 3 ]
}

@test "features: complete, and silent on standard error" {
    rt features >"$TMP/features" 2>"$TMP/err"
    eq "$(cat "$TMP/err")" ""
    jq -e '(.ociVersionMin | startswith ("1.")) and (.ociVersionMax | startswith ("1."))
        and (.hooks | sort) == (["prestart", "createRuntime", "createContainer", "startContainer",
            "poststart", "poststop"] | sort)
        and (.mountOptions | index ("rro") != null and index ("bind") != null)
        and (.linux.namespaces | sort) == (["cgroup", "ipc", "mount", "network", "pid", "time",
            "user", "uts"])
        and (.linux.capabilities | index ("CAP_SYS_ADMIN") != null)
        and .linux.cgroup.v1 == true and .linux.cgroup.v2 == true
        and .linux.seccomp.enabled == true
        and (.linux.seccomp.actions | index ("SCMP_ACT_ERRNO") != null)
        and (.linux.seccomp.operators | index ("SCMP_CMP_MASKED_EQ") != null)
        and .linux.mountExtensions.idmap.enabled == true
        and .potentiallyUnsafeConfigAnnotations ==
            ["io.agentrt.", "org.systemd.property.", "run.oci.keep_original_groups",
                "run.oci.systemd.subgroup"]
        and .linux.cgroup.systemd == true and .linux.cgroup.systemdUser == true' "$TMP/features"
    eq "$(timeout 10 "$AGENTRT" features | jq -c .)" "$(jq -c . "$TMP/features")"
}

@test "features: every listed mount option is accepted, every listed hook runs" {
    for o in $(rt features | jq -r '.mountOptions[]'); do
        cp "$BUNDLE/config.json" "$TMP/saved"
        case $o in
        idmap | ridmap | remount) continue ;;
        tmpcopyup) add_mount /mnt tmpfs tmpfs "$o" ;;
        *) add_mount /mnt bind "$TMP" rbind "$o" ;;
        esac
        inside true
        [ "$status" -eq 0 ] || fail "$o: $output"
        cp "$TMP/saved" "$BUNDLE/config.json"
    done
}

@test "--version and --help" {
    for o in --version -v; do
        try timeout 10 "$AGENTRT" $o
        rc 0
        match "$(sed -n 1p <<<"$output")" '^[a-z]+ version [0-9]+\.[0-9]+'
        match "$output" '^commit: '
        match "$output" '^spec: 1\.[0-9]'
    done
    for o in --help -h help; do
        try timeout 10 "$AGENTRT" $o
        rc 0
        for c in create start run state kill delete exec list ps spec features; do
            match "$output" "\b$c\b"
        done
    done
    for c in create start run state kill delete exec list ps spec features; do
        try timeout 10 "$AGENTRT" $c --help
        rc 0
        match "$output" "$c"
    done
}

@test "spec: makes a bundle that runs, and does not overwrite one" {
    mkdir "$TMP/fresh"
    cp -a "$BUNDLE/rootfs" "$TMP/fresh/"
    (cd "$TMP/fresh" && timeout 10 "$AGENTRT" spec)
    jq -e '.ociVersion and .process.args and .root.path == "rootfs"' "$TMP/fresh/config.json"
    before=$(sha256sum <"$TMP/fresh/config.json")
    try timeout 10 "$AGENTRT" spec --bundle "$TMP/fresh"
    rc 1
    match "$output" 'config.json'
    eq "$(sha256sum <"$TMP/fresh/config.json")" "$before"
    jq '.process.terminal = false | .process.args = ["echo", "fresh"]' "$TMP/fresh/config.json" \
        >"$TMP/x" && mv "$TMP/x" "$TMP/fresh/config.json"
    try rt run -b "$TMP/fresh" "$ID"
    rc 0
    eq "$output" fresh
}

@test "an unfit --root does not stop what needs none" {
    for c in --version --help features; do
        try timeout 10 "$AGENTRT" --root /nonexistent/deep $c
        rc 0
    done
}

# ---- errors and the log ----

@test "a failing create writes exactly one JSON record, and the same text to standard error" {
    args nonexist
    try rt --log "$TMP/log.json" --log-format json create -b "$BUNDLE" "$ID"
    rc 1
    eq "$(wc -l <"$TMP/log.json")" 1
    jq -e '.level == "error" and (.msg | test ("executable file not found in \\$PATH"))
        and (.time | test ("^20[0-9]{2}-.*T.*(Z|[+-][0-9:]+)$"))' "$TMP/log.json"
    match "$output" 'executable file not found in \$PATH'
    eq "$(wc -l <<<"$output")" 1
}

@test "the log is appended to, readable by engines, and stays empty on success" {
    echo '{"kept": true}' >"$TMP/log.json"
    rm -f "$TMP/log2"
    try rt --log "$TMP/log.json" --log-format json state "$ID"
    rc 1
    eq "$(sed -n 1p "$TMP/log.json")" '{"kept": true}'
    eq "$(wc -l <"$TMP/log.json")" 2
    args true
    try rt --log="$TMP/log2" --log-format=json run -b "$BUNDLE" "$ID"
    rc 0
    eq "$(cat "$TMP/log2")" ""
    eq "$(stat -c %a "$TMP/log2")" 644
}

@test "log formats and places that cannot be" {
    try rt --log-format xml list
    [ "$status" -ne 0 ]
    try rt --log /nonexistent/deep/log list
    [ "$status" -ne 0 ]
    match "$output" '/nonexistent/deep/log'
}

@test "control characters of a config do not reach the terminal raw" {
    edit '.process.args = ["\u001b[31mred\u0007"]'
    try rt create -b "$BUNDLE" "$ID"
    rc 1
    no_match "$output" $'\x1b'
    no_match "$output" $'\x07'
}

@test "global options in every spelling; single-dash long options of Go's flag package" {
    mkdir -m 700 "$ROOT"
    for o in "--root=$ROOT" "--root $ROOT" "-root $ROOT" "-root=$ROOT"; do
        # shellcheck disable=SC2086
        try timeout 10 "$AGENTRT" $o --systemd-cgroup=false --debug=false list -q
        rc 0
        eq "$output" ""
    done
    try timeout 10 "$AGENTRT" --root "$ROOT" --rootless=false --criu /x list -q
    rc 0
}

@test "the argument shapes of containerd's shim" {
    args sleep 1000
    g=(--root "$ROOT" --log "$BUNDLE/log.json" --log-format json)
    timeout 30 "$AGENTRT" "${g[@]}" create --bundle "$BUNDLE" --pid-file "$BUNDLE/init.pid" "$ID" \
        </dev/null >/dev/null 2>&1 3>&-
    timeout 30 "$AGENTRT" "${g[@]}" start "$ID"
    timeout 30 "$AGENTRT" "${g[@]}" ps --format json "$ID" | jq -e 'length == 1'
    jq '.process | .args = ["sleep", "1001"]' "$BUNDLE/config.json" >"$TMP/p"
    timeout 30 "$AGENTRT" "${g[@]}" exec --process "$TMP/p" --detach --pid-file "$TMP/e.pid" "$ID" \
        </dev/null >/dev/null 2>&1 3>&-
    match "$(tr '\0' ' ' <"/proc/$(cat "$TMP/e.pid")/cmdline")" 'sleep 1001'
    timeout 30 "$AGENTRT" "${g[@]}" kill --all "$ID" 9
    wait_for 5 is_status stopped "$ID"
    timeout 30 "$AGENTRT" "${g[@]}" delete "$ID"
    timeout 30 "$AGENTRT" "${g[@]}" delete --force "$ID"
    try timeout 30 "$AGENTRT" "${g[@]}" delete "$ID"
    rc 1
    match "$(tail -n1 "$BUNDLE/log.json")" 'does not exist'
}

@test "an environment with nothing in it" {
    args echo up
    try env -i timeout 30 "$AGENTRT" --root "$ROOT" run -b "$BUNDLE" "$ID"
    rc 0
    eq "$output" up
}

@test "--debug tells each step as it begins, with its time" {
    args true
    try rt --debug run -b "$BUNDLE" "$ID"
    rc 0
    match "$output" 'level=debug msg="\+[0-9]+\.[0-9]{3} ms: step load"$'
    match "$output" 'level=debug msg="\+[0-9]+\.[0-9]{3} ms: step hand_over: '
    # Those before the sealed copy of the program runs are done twice.
    eq "$(grep -o 'step [a-z_]*' <<<"$output" | sort | uniq -d |
        grep -vxE 'step (load|policy|plan|seal)')" ""
    try rt run -b "$BUNDLE" "$ID"
    eq "$output" ""
}

@test "a mistyped option or command says where help is; an unknown id says where it was looked for" {
    try rt --nonsense
    refused 'unknown option --nonsense: see agentrt --help'
    try rt list --nonsense
    refused 'list: unknown option --nonsense: see agentrt list --help'
    try rt nonsense
    refused "unknown command 'nonsense': see agentrt --help"
    try rt state "$ID"
    refused "container does not exist: '$ID' \(in the state root '$ROOT'\)"
    mkdir -p "$ROOT"
    try rt kill "$ID"
    refused "container does not exist: '$ID' \(in the state root '$ROOT'\)"
}

@test "help has runc's form, and tells an unknown topic" {
    for line in '' run exec; do
        # shellcheck disable=SC2086
        try rt $line --help
        rc 0
        eq "${output%%$'\n'*}" NAME:
        match "$output" $'\n'"  agentrt ${line:+$line }- "
    done
    try rt nonsense -h
    refused "No help topic for 'nonsense'"
}

@test "spec: a cgroup namespace where the host is on cgroup v2, as runc's spec" {
    rm "$BUNDLE/config.json"
    rt spec -b "$BUNDLE"
    want=false
    [ "$(stat -fc %t /sys/fs/cgroup)" != 63677270 ] || want=true
    eq "$(jq '.linux.namespaces | any (.type == "cgroup")' "$BUNDLE/config.json")" $want
}
