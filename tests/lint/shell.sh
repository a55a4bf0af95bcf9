#!/bin/sh
# Our scripts are as shellcheck wants them.
. "$(dirname "$0")/lib.sh"
needs shellcheck

scripts ()
{
    (cd "$TOP" && all_text | while read -r f; do
        case $f in tests/lib/*.bash) echo "$f"; continue ;; esac
        if head -n1 "$f" | grep -Eq '^#!.*\b(sh|bash|bats)$'; then echo "$f"; fi
    done)
}

list=$(scripts)
check "scripts were found" "$([ -n "$list" ] || echo none)"
for f in $list; do
    check "shellcheck $f" "$(cd "$TOP" && shellcheck -S warning -f gcc "$f" 2>&1)"
done
finish
