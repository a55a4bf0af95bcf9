#!/usr/bin/env bats
# Commands that start no container, so that they can also run under valgrind (which has no clone3):
# tests/run-all runs this file a second time with AGENTRT=tests/lib/valgrind.sh. Containers are made
# by REAL_AGENTRT, the program itself; what it says is what must be said under valgrind, too.
#   FULL=1  all broken configs, not every fifth

load ../lib/helpers

GOLDEN=$BATS_TEST_DIRNAME/../golden

under_valgrind ()
{
    [ "${VALGRIND_LOGS:-}" ]
}

# valgrind's tool takes the place of the runtime's file: it must look sealed, or create would run a
# copy of it.
setup_file ()
{
    under_valgrind || return 0
    mount --bind /usr/libexec/valgrind /usr/libexec/valgrind
    mount -o remount,bind,ro /usr/libexec/valgrind
}

teardown_file ()
{
    under_valgrind || return 0
    umount /usr/libexec/valgrind
}

prepare ()
{
    ! under_valgrind || rm -f "$VALGRIND_LOGS"/valgrind.*
}

found ()
{
    under_valgrind && cat "$VALGRIND_LOGS"/valgrind.* 2>/dev/null
    true
}

# clean: the last `try` ended by itself, and valgrind says nothing.
clean ()
{
    eq "$(found)" ""
    [ "$status" -ne 99 ] || fail "valgrind found something" "$output"
    [ "$status" -lt 124 ] || [ "$status" -eq 255 ] || fail "status $status" "$output"
    no_match "$output" 'ENOSYS'
}

real ()
{
    timeout 30 "${REAL_AGENTRT:-$AGENTRT}" --root "$ROOT" "$@" </dev/null 3>&-
}

# same ARGUMENT...: a command that changes nothing says what it says without valgrind.
same ()
{
    local want_status=0 want

    want=$(real "$@" 2>&1) || want_status=$?
    try rt "$@"
    clean
    eq "$status: $output" "$want_status: $want" || fail "command: $*"
}

# does STATUS ARGUMENT...: a command that changes something.
does ()
{
    local want=$1

    shift
    try rt "$@"
    clean
    rc "$want" || fail "command: $*"
}

@test "self-check: a leak and a read of freed memory are found" {
    under_valgrind || return 0
    local kind
    for kind in leak read; do
        PLANT=$kind try rt --version
        rc 99
        match "$(found)" 'definitely lost|Invalid read'
        rm "$VALGRIND_LOGS"/valgrind.*
    done
}

@test "output only: --version, --help, features, list, explain, policy, errors" {
    for c in --version --help features list "list -f json" "list -q" \
        "explain --bundle $BUNDLE" "explain --bundle $BUNDLE --json" nonsense "state $ID" \
        "start $ID" "kill $ID" "delete $ID" "delete -f $ID" "exec $ID true" "ps $ID" \
        "explain --bundle $TMP/none" "create -b $TMP/none $ID" "create -b $BUNDLE a/b" \
        "policy show" "policy show strict"; do
        # shellcheck disable=SC2086
        same $c
    done
}

@test "spec writes what it writes without valgrind" {
    mkdir "$TMP/a" "$TMP/b"
    does 0 spec -b "$TMP/a"
    real spec -b "$TMP/b"
    cmp "$TMP/a/config.json" "$TMP/b/config.json"
    does 1 spec -b "$TMP/a"
}

@test "a container's life, watched from outside: state, list, ps, kill, start, delete" {
    args sleep 1000
    real create -b "$BUNDLE" "$ID" >/dev/null 2>&1
    for c in "state $ID" "list -f json" "ps -f json $ID"; do
        # shellcheck disable=SC2086
        same $c
    done
    does 0 kill "$ID" 0
    does 0 start "$ID"
    does 1 start "$ID"
    same state "$ID"
    does 1 delete "$ID"
    does 1 create -b "$BUNDLE" "$ID"
    does 0 kill "$ID" KILL
    wait_for 10 is_status stopped "$ID"
    same state "$ID"
    does 1 kill "$ID" 9
    does 1 start "$ID"
    does 0 delete "$ID"
    does 1 delete "$ID"
}

@test "delete --force of a created and of a running container" {
    args sleep 1000
    real create -b "$BUNDLE" "$ID" >/dev/null 2>&1
    does 0 delete -f "$ID"
    real create -b "$BUNDLE" "$ID" >/dev/null 2>&1
    real start "$ID"
    does 0 delete -f "$ID"
    does 1 state "$ID"
}

@test "a create that fails on the way is undone" {
    under_valgrind || return 0
    args true
    try rt create -b "$BUNDLE" "$ID"
    rc 1
    match "$output" 'clone a mount' # valgrind has no open_tree
    eq "$(found)" ""
    eq "$(ls "$ROOT")" ""
}

@test "broken configs" {
    local n=0 every=5
    [ -z "${FULL:-}" ] || every=1
    for f in "$GOLDEN"/broken/*.json; do
        n=$((n + 1))
        [ $((n % every)) -eq 0 ] || continue
        cp "$f" "$BUNDLE/config.json"
        does 1 create -b "$BUNDLE" "$ID"
    done
}

@test "recorded configs of engines, explained" {
    for f in "$GOLDEN"/configs/*.json; do
        cp "$f" "$BUNDLE/config.json"
        same explain --bundle "$BUNDLE" --json
    done
}
