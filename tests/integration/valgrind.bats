#!/usr/bin/env bats
# Commands that make no process, so that they can also run under valgrind (which has no clone3):
# tests/run-all runs this file a second time with AGENTRT=tests/lib/valgrind.sh. Containers are made
# by REAL_AGENTRT, the program itself.

load ../lib/helpers

GOLDEN=$BATS_TEST_DIRNAME/../golden

clean ()
{
    [ "$status" -ne 99 ] || fail "valgrind found something" "$output"
    [ "$status" -lt 124 ] || [ "$status" -eq 255 ] || fail "status $status" "$output"
    [ -z "${VALGRIND_LOGS:-}" ] || eq "$(cat "$VALGRIND_LOGS"/valgrind.* 2>/dev/null)" ""
}

real ()
{
    timeout 30 "${REAL_AGENTRT:-$AGENTRT}" --root "$ROOT" "$@" </dev/null >/dev/null 2>&1 3>&-
}

@test "output only: --version, --help, features, spec, list, explain" {
    mkdir "$TMP/fresh"
    for c in --version --help features "spec -b $TMP/fresh" list "list -f json" "list -q" \
        "explain --bundle $BUNDLE" "explain --bundle $BUNDLE --json" nonsense "state $ID" \
        "start $ID" "kill $ID" "delete $ID" "delete -f $ID" "exec $ID true" "ps $ID"; do
        # shellcheck disable=SC2086
        try rt $c
        clean
    done
}

@test "a container's life, watched from outside: state, list, ps, kill, start, delete" {
    args sleep 1000
    real create -b "$BUNDLE" "$ID"
    for c in "state $ID" "list -f json" "ps -f json $ID" "ps $ID" "kill $ID 0" "start $ID" \
        "start $ID" "state $ID" "delete $ID" "kill $ID KILL"; do
        # shellcheck disable=SC2086
        try rt $c
        clean
    done
    wait_for 10 is_status stopped "$ID"
    for c in "state $ID" "kill $ID 9" "start $ID" "delete $ID" "delete $ID"; do
        # shellcheck disable=SC2086
        try rt $c
        clean
    done
}

@test "broken configs" {
    for f in "$GOLDEN"/broken/*.json; do
        cp "$f" "$BUNDLE/config.json"
        try rt create -b "$BUNDLE" "$ID"
        rc 1
        clean
    done
}

@test "recorded configs of engines, explained" {
    for f in "$GOLDEN"/configs/*.json; do
        cp "$f" "$BUNDLE/config.json"
        try rt explain --bundle "$BUNDLE" --json
        clean
    done
}
