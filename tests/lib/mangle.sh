#!/bin/bash
# mangle.sh cut|change BUNDLE ROOT ID: creates (cut) or runs (change) a container from the good
# config.json of BUNDLE, cut off before every byte, or with one byte changed. Prints what went
# wrong. A program of its own: bats traps every command of a test, which is slow.
set -u
mode=$1 bundle=$2 root=$3 id=$4
good=$(<"$bundle/config.json")

cut ()
{
    local n status lines

    for ((n = 0; n < ${#good}; n++)); do
        printf %s "${good:0:n}" >"$bundle/config.json"
        status=0
        "$AGENTRT" --root "$root" create -b "$bundle" "$id" </dev/null >"$bundle/out" 2>&1 ||
            status=$?
        mapfile -t lines <"$bundle/out"
        if [ $status -ne 1 ] || [ ${#lines[@]} -ne 1 ]; then
            echo "cut at $n: status $status: $(<"$bundle/out")"
        fi
    done
}

change ()
{
    local n status bytes=('"' '{' '0' ',' ' ' ']' '-' $'\xff' "\\" $'\x01')

    for ((n = 0; n < ${#good}; n += 5)); do
        printf %s "${good:0:n}${bytes[n / 5 % 10]}${good:n+1}" >"$bundle/config.json"
        status=0
        timeout 10 "$AGENTRT" --root "$root" run -b "$bundle" "$id" \
            </dev/null >"$bundle/out" 2>&1 || status=$?
        [ $status -lt 124 ] || echo "byte $n: status $status: $(<"$bundle/out")"
    done
}

"$mode"
printf %s "$good" >"$bundle/config.json"
