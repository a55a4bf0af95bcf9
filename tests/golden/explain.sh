#!/bin/sh
# explain's output for every recorded config, compared with the files in tests/golden/explain: a change of
# what agentrt does is a text diff in review. UPDATE=1 writes the files anew. Prints TAP.
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

for config in "$here"/configs/*.json; do
    name=$(basename "$config" .json)
    case $name in process-* | update-*) continue ;; esac
    "$agentrt" explain --bundle "$here" --config "$config" >"$out/text" 2>&1 || true
    "$agentrt" explain --bundle "$here" --config "$config" --json >"$out/json" 2>&1 || true
    compare "$name.txt" "$out/text"
    compare "$name.json" "$out/json"
done

# The same as an ordinary user: explain needs no privilege.
if [ "$(id -u)" = 0 ]; then
    chmod 711 "$out"
    cp "$agentrt" "$out/agentrt"
    cp "$config" "$out/config.json"
    chmod 755 "$out/agentrt"
    chmod 644 "$out/config.json"
    n=$((n + 1))
    if setpriv --reuid=65534 --regid=65534 --clear-groups \
        "$out/agentrt" explain --bundle "$out" >"$out/text" 2>&1 &&
        diff -q "$here/explain/$name.txt" "$out/text" >/dev/null; then
        echo "ok $n - as an ordinary user"
    else
        failed=$((failed + 1))
        echo "not ok $n - as an ordinary user"
        sed 's/^/# /' "$out/text"
    fi
fi
echo "1..$n"
[ "$failed" = 0 ]
