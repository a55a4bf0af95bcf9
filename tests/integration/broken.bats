#!/usr/bin/env bats
# Broken configs through the real command: status 1, one line that names the place, no effect.

load ../lib/helpers

GOLDEN=$BATS_TEST_DIRNAME/../golden

@test "each of tests/golden/broken: refused with what its .expect says" {
    local bad=0 n=0 f want
    for f in "$GOLDEN"/broken/*.json; do
        cp "$f" "$BUNDLE/config.json"
        want=$(<"${f%.json}.expect")
        try rt create -b "$BUNDLE" --pid-file "$TMP/pid" "$ID"
        n=$((n + 1))
        if [ "$status" -ne 1 ] || [ "$(wc -l <"$TMP/output")" -ne 1 ] ||
            ! grep -qF -- "$want" <<<"$output"; then
            echo "${f##*/}: status $status: $output (want: $want)"
            bad=1
        fi
        [ ! -e "$TMP/pid" ] && [ -z "$(ls "$ROOT" 2>/dev/null)" ] ||
            fail "${f##*/} left something behind"
    done
    eq "$bad" 0
    [ $n -ge 60 ] || fail "only $n broken configs"
}

# compact: config.json on one line, without its newline.
compact ()
{
    jq -c . "$BUNDLE/config.json" | tr -d '\n' >"$TMP/compact"
    mv "$TMP/compact" "$BUNDLE/config.json"
}

@test "a good config cut off at every byte: always status 1, one line, no effect" {
    local start=$SECONDS
    args sleep 1000
    compact
    mkdir -p "$ROOT"
    eq "$("$BATS_TEST_DIRNAME/../lib/mangle.sh" cut "$BUNDLE" "$ROOT" "$ID" 2>&1)" ""
    eq "$(ls "$ROOT")" ""
    echo "# $(stat -c %s "$BUNDLE/config.json") cuts in $((SECONDS - start)) s" >&3
    created
    rt delete -f "$ID"
}

@test "one byte changed at a time: never a crash, never a hang, nothing left" {
    script true
    compact
    eq "$("$BATS_TEST_DIRNAME/../lib/mangle.sh" change "$BUNDLE" "$ROOT" "$ID" 2>&1)" ""
}

@test "config.json itself: missing, a folder, a fifo, a symlink, unreadable, huge" {
    mv "$BUNDLE/config.json" "$TMP/good"
    try rt create -b "$BUNDLE" "$ID"
    refused 'config.json'
    no_match "$output" '[Nn]o such file or directory$'
    mkdir "$BUNDLE/config.json"
    try rt create -b "$BUNDLE" "$ID"
    refused 'config.json'
    rmdir "$BUNDLE/config.json"
    mkfifo "$BUNDLE/config.json"
    LIMIT=5 try rt create -b "$BUNDLE" "$ID"
    refused 'config.json'
    rm "$BUNDLE/config.json"
    { printf '{"ociVersion":"1.0.0","annotations":{"a":"'; head -c 20000000 /dev/zero | tr '\0' x
        printf '"}}'; } >"$BUNDLE/config.json"
    SECONDS=0
    try rt create -b "$BUNDLE" "$ID"
    refused 'config.json'
    [ $SECONDS -le 2 ]
    for b in /nonexistent "$TMP/good" ""; do
        try rt create -b "$b" "$ID"
        rc 1
    done
}

@test "depth and numbers at the edge" {
    jq -c . "$BUNDLE/config.json" | sed 's/}$//' >"$TMP/head"
    deep () # N
    {
        printf '%s,"x":' "$(cat "$TMP/head")"
        printf '[%.0s' $(seq "$1")
        printf ']%.0s' $(seq "$1")
        printf '}'
    }
    script true
    jq -c . "$BUNDLE/config.json" | sed 's/}$//' >"$TMP/head"
    deep 40 >"$TMP/c" && cp "$TMP/c" "$BUNDLE/config.json"
    try rt run -b "$BUNDLE" "$ID"
    rc 0
    deep 100000 >"$TMP/c" && cp "$TMP/c" "$BUNDLE/config.json"
    try rt run -b "$BUNDLE" "$ID"
    refused 'deep'
}
