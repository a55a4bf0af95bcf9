#!/bin/sh
# docs/config-reference.md and agentrt-policy.json(5) say what the rows of libocispec say.
. "${TOP:-.}/tests/lint/lib.sh"

tmp=$(mktemp) && trap 'rm -f "$tmp"' EXIT
"$BUILD/libocispec/genman" >"$tmp"
check "docs/config-reference.md is fresh (make docs-reference)" \
    "$("$BUILD/libocispec/gendoc" | diff - "$TOP/docs/config-reference.md" 2>&1 | head -n 20)"
check "the keys of agentrt-policy.json.5 are fresh (make docs-reference)" \
    "$(sed -n '/begin keys/,/end keys/{/ keys$/!p;}' "$TOP/docs/man/agentrt-policy.json.5" |
        diff - "$tmp" 2>&1 | head -n 20)"
finish
