# Loaded by every bats file. Each test gets its own state root, bundle and id; after it the host
# must look as before: same processes, mounts, links and shared memory, none of our cgroups and
# states. Runs only in the cage (tests/integration/run), where that can be said exactly.
#
#   AGENTRT    the runtime under test
#   $ID        a container id, $BUNDLE its bundle (config.json as `spec` makes it, no terminal),
#   $ROOT      the state root, $TMP a scratch folder; all fresh for each test

bats_require_minimum_version 1.5.0

setup ()
{
    [ "${CAGE:-}" ] || fail "run me by tests/integration/run"
    MARK=art${SUITE}x$$x$BATS_TEST_NUMBER
    ID=$MARK
    TMP=$(mktemp -d /run/t/XXXXXX)
    chmod 755 "$TMP"
    ROOT=$TMP/root
    BUNDLE=$TMP/bundle
    new_bundle "$BUNDLE"
    BEFORE=$(snapshot)
    if declare -F prepare >/dev/null; then prepare; fi
}

teardown ()
{
    finish_test
}

# finish_test: compares the host with how it was before the test.
finish_test ()
{
    local after i bad=0

    for i in {1..30}; do
        after=$(snapshot)
        [ "$after" != "$BEFORE" ] || break
        sleep 0.1
    done
    if [ "$after" != "$BEFORE" ]; then
        echo "left behind (>) or lost (<):"
        diff <(echo "$BEFORE") <(echo "$after") | grep '^[<>]'
        sweep
        bad=1
    fi
    rm -rf --one-file-system "$TMP"
    return $bad
}

# snapshot: the state of the host, as text.
snapshot ()
{
    "$BATS_TEST_DIRNAME/../lib/snapshot.sh" "$MARK" "$ROOT"
}

# sweep: after a failure, so that the next test finds a clean house.
sweep ()
{
    local id p

    for id in "$ROOT"/*; do
        [ ! -d "$id" ] || rt delete -f "${id##*/}" >/dev/null 2>&1 || true
    done
    for p in $(diff <(echo "$BEFORE") <(snapshot) | sed -n 's/^> process \([0-9]*\) .*/\1/p'); do
        [ "$p" = $$ ] || kill -9 "$p" 2>/dev/null || true
    done
    awk -v t="$TMP/" 'index ($5, t) == 1 { print $5 }' /proc/self/mountinfo | tac |
        xargs -r umount -l
    find /sys/fs/cgroup -depth -type d -name "*$MARK*" -exec rmdir {} \; 2>/dev/null || true
}

# new_bundle DIR: a bundle with its own copy of the image.
new_bundle ()
{
    mkdir -p "$1"
    cp -a /run/t/image "$1/rootfs"
    cp /run/t/config.json "$1/config.json"
}

# edit [JQ-OPTION...] FILTER: changes the bundle's config.json.
edit ()
{
    # jq rounds what a double cannot hold; RLIM_INFINITY is the one such number we write.
    jq "$@" <"$BUNDLE/config.json" | sed 's/18446744073709552000/18446744073709551615/g' \
        >"$TMP/edited" && mv "$TMP/edited" "$BUNDLE/config.json"
}

# args WORD...: sets process.args.
args ()
{
    edit '.process.args = $ARGS.positional' --args -- "$@"
}

# script TEXT: sets process.args to a shell running TEXT.
script ()
{
    args sh -c "$1"
}

# add_mount DESTINATION TYPE SOURCE [OPTION...]: appends to mounts.
add_mount ()
{
    edit '.mounts += [$ARGS.positional | {destination: .[0], type: .[1], source: .[2],
        options: .[3:]}]' --args -- "$@"
}

# without_ns KIND...: removes namespaces from the config.
without_ns ()
{
    edit '.linux.namespaces |= map (select (.type as $t | $ARGS.positional | index ($t) | not))' \
        --args -- "$@"
}

# with_ns KIND [PATH]: adds or replaces a namespace.
with_ns ()
{
    without_ns "$1"
    edit '.linux.namespaces += [{type: $ARGS.positional[0]} +
        if $ARGS.positional[1] then {path: $ARGS.positional[1]} else {} end]' --args -- "$@"
}

# userns [OUTSIDE]: the container gets its own user namespace, ids 0-65535 from OUTSIDE on.
userns ()
{
    with_ns user
    edit --argjson o "${1:-100000}" '.linux |= (
        .uidMappings = [{containerID: 0, hostID: $o, size: 65536}] | .gidMappings = .uidMappings)'
    chown -R "${1:-100000}:${1:-100000}" "$BUNDLE/rootfs"
}

# rt ARGUMENT...: the runtime under test, on this test's state root, never for longer than 30 s.
rt ()
{
    timeout -k 5 "${LIMIT:-30}" "$AGENTRT" --root "$ROOT" "$@"
}

# try COMMAND...: runs it; $status and $output (both streams) are the result. Unlike bats' run it
# does not wait for the end of file: a container that lives on may hold the streams.
try ()
{
    status=0
    "$@" </dev/null >"$TMP/output" 2>&1 3>&- || status=$?
    output=$(<"$TMP/output")
    output=${output//\\\"/\"} # structured logs escape quotes
}

# inside TEXT: runs TEXT by a shell in the container, as `try`.
inside ()
{
    script "$1"
    try rt run -b "$BUNDLE" "$ID"
}

# created, running: a container in that state; the payload of the latter sleeps.
created ()
{
    rt create -b "$BUNDLE" --pid-file "$TMP/pid" "${1:-$ID}" \
        </dev/null >"$TMP/out" 2>"$TMP/err" 3>&-
}

running ()
{
    args sleep 1000
    created "${1:-$ID}"
    rt start "${1:-$ID}" 3>&-
}

status_of ()
{
    rt state "${1:-$ID}" | jq -r .status
}

# wait_for SECONDS COMMAND...: until it succeeds.
wait_for ()
{
    local end=$((SECONDS + $1))

    shift
    while ! "$@" >/dev/null 2>&1; do
        [ $SECONDS -le $end ] || fail "waited in vain for: $*" || return
        sleep 0.03
    done
}

is_status ()
{
    [ "$(status_of "$2")" = "$1" ]
}

# on_pty COMMANDLINE: runs it on a new terminal whose keyboard stays silent but open.
on_pty ()
{
    [ -p "$TMP/keyboard" ] || mkfifo "$TMP/keyboard"
    timeout -k 5 "${LIMIT:-30}" script -qec "$1" /dev/null 0<>"$TMP/keyboard"
}

fail ()
{
    printf '%.3000s\n' "$@"
    return 1
}

# eq GOT WANT, match GOT ERE, no_match GOT ERE, rc WANT: what a test claims.
eq ()
{
    [ "$1" = "$2" ] || fail "got:  $1" "want: $2"
}

match ()
{
    grep -Eq -- "$2" <<<"$1" || fail "got:  $1" "want: /$2/"
}

no_match ()
{
    ! grep -Eq -- "$2" <<<"$1" || fail "got:  $1" "want none of: /$2/"
}

rc ()
{
    [ "$status" -eq "$1" ] || fail "exit status $status, want $1; output:" "$output"
}

# refused ERE: the last `try` failed with exit status 1 and one line that matches.
refused ()
{
    rc 1
    match "$output" "$1"
    eq "$(wc -l <<<"$output")" 1
}

# host_cgroup CONTROLLER: the folder of the container's init in CONTROLLER's v1 hierarchy (or in
# cgroup2, where that has the controller).
host_cgroup ()
{
    local pid path

    pid=$(<"$TMP/pid")
    path=$(awk -F: -v c="$1" '{ n = split ($2, l, ","); for (i = 1; i <= n; i++) if (l[i] == c) {
        print $3; exit } }' "/proc/$pid/cgroup")
    echo "/sys/fs/cgroup/$1$path"
}
