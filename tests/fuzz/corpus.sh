#!/bin/sh
# Makes the seeds of fuzz_config in folder $1 from the golden configs below $2 (the source tree). The
# first byte of a seed chooses the document, as the target has it.
set -eu

out=$1
golden=$2/tests/golden

seed () # KIND FILE...
{
    kind=$1
    shift
    for file; do
        { printf '%b' "\\000$kind"; cat "$file"; } >"$out/$(basename "$file" .json)"
    done
}

mkdir -p "$out"
seed 0 "$golden"/configs/config-*.json "$golden"/configs/full.json "$golden"/broken/*.json
seed 1 "$golden"/configs/process-*.json
seed 2 "$golden"/configs/update-*.json
seed 6 "$2"/contrib/policies/*.json
