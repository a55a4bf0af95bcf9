#!/bin/sh
# explain's output for every recorded config, compared with the files in tests/golden/explain: a
# change of what agentrt does is a text diff in review. UPDATE=1 writes the files anew. Prints TAP.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
agentrt=${AGENTRT:?the program under test}
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
n=0 failed=0

# compare NAME FILE: the golden file NAME against what was printed
compare() {
    n=$((n + 1))
    [ -z "${UPDATE:-}" ] || cp "$2" "$here/explain/$1"
    if diff -u "$here/explain/$1" "$2" >"$out/diff" 2>&1; then
        echo "ok $n - $1"
    else
        failed=$((failed + 1))
        echo "not ok $n - $1"
        sed 's/^/# /' "$out/diff"
    fi
}

# explain CONFIG ARGUMENT...: what is printed under $policy, errors too
policy=oci
explain() {
    config=$1
    shift
    "$agentrt" --policy "$policy" explain --bundle "$here" --config "$config" "$@" 2>&1 || true
}

for config in "$here"/configs/config-*.json "$here/configs/full.json"; do
    name=$(basename "$config" .json)
    explain "$config" >"$out/text"
    compare "$name.txt" "$out/text"
done

# What strict decides about them.
policy=strict
for config in "$here"/configs/config-*.json; do
    explain "$config" | awk '/^$/ { done = 1 } !done || /^agentrt: /' >"$out/text"
    compare "strict-$(basename "$config" .json).txt" "$out/text"
done
policy=oci

name="config-docker28"
config=$here/configs/$name.json
explain "$config" --json >"$out/json"
compare "$name.json" "$out/json"

# explain needs no privilege: the same as an ordinary user.
if [ "$(id -u)" = 0 ]; then
    chmod 711 "$out"
    install -m 755 "$agentrt" "$out/agentrt"
    install -m 644 "$config" "$out/config.json"
    setpriv --reuid=65534 --regid=65534 --clear-groups \
        "$out/agentrt" --policy oci explain --bundle "$out" >"$out/text" 2>&1 || true
    unset UPDATE
    compare "$name.txt" "$out/text"
fi
echo "1..$n"
[ "$failed" = 0 ]
