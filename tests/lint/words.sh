#!/bin/sh
# What must not be in the sources: unfinished business, goto, and mutable globals.
. "$(dirname "$0")/lib.sh"
needs objdump awk

# The variables that may change: the log level and sink (style, rule 5); and whom libdbus is told
# that it is, as it asks by a function without arguments.
GLOBALS='^src/base/[a-z_]*log\.o |^src/cgroup/bus\.o claimed$'

unfinished ()
{
    (cd "$TOP" && all_text | xargs grep -nE '\<(TODO|FIXME|XXX|HACK)\>' | grep -v '^tests/lint/')
}

gotos ()
{
    c_files libocispec src tests | while read -r f; do
        without_comments "$TOP/$f" | grep -nw goto | sed "s|^|$f:|"
    done
}

# Objects in .data and .bss; constant tables of pointers are in .data.rel.ro and do not count.
mutable ()
{
    objects | while read -r o; do
        objdump -t "$BUILD/$o" | awk -v o="$o" '
            / O \.(data|bss)/ && !/ O \.data\.rel\.ro/ && $NF !~ /^(__asan|__odr_asan|\.L)/ {
                print o, $NF
            }'
    done | grep -vE "$GLOBALS"
}

check "no TODO, FIXME or XXX" "$(unfinished)"
check "no goto" "$(gotos)"
check "no mutable globals but those listed" "$(mutable)"
finish
