#!/usr/bin/env bats
# Broken configs through the real command: status 1, one line that names the place, no effect.

load ../lib/helpers

GOLDEN=$BATS_TEST_DIRNAME/../golden

@test "each of tests/golden/broken: refused with what its .expect says" {
    local files=("$GOLDEN"/broken/*.json)
    try "$PROBE" broken "$BUNDLE" "$ROOT" "$ID" "${files[@]}"
    eq "$output" "${#files[@]} runs, 0 wrong"
    [ ${#files[@]} -ge 60 ] || fail "only ${#files[@]} broken configs"
}

# compact: config.json on one line, without its newline.
compact ()
{
    jq -c . "$BUNDLE/config.json" | tr -d '\n' >"$TMP/compact"
    mv "$TMP/compact" "$BUNDLE/config.json"
}

@test "a good config cut off at every byte: always status 1, one line, no effect" {
    args sleep 1000
    compact
    mkdir -p "$ROOT"
    eq "$("$PROBE" cut "$BUNDLE" "$ROOT" "$ID" 2>&1)" \
        "$(stat -c %s "$BUNDLE/config.json") runs, 0 wrong"
    eq "$(ls "$ROOT")" ""
    created
    rt delete -f "$ID"
}

@test "one byte changed at a time: never a crash, never a hang, nothing left" {
    script true
    compact
    match "$("$PROBE" change "$BUNDLE" "$ROOT" "$ID" 2>&1)" '^[0-9]{3,} runs, 0 wrong$'
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
