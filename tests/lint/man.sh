#!/bin/sh
# Manual pages and program say the same: each command has its page, each option of `--help` stands
# in it and the other way round, and the pages are well-formed.
. "$(dirname "$0")/lib.sh"
needs mandoc awk
AGENTRT=${AGENTRT:-$BUILD/agentrt}
MAN=$TOP/docs/man

# shown_options: from a help text, "--name" and "-x", one a line.
shown_options ()
{
    sed -n '/^OPTIONS:/,/^$/p' | sed -nE 's/^ {2,6}((-[A-Za-z]), )?(--[a-z0-9-]+).*/\2 \3/p' |
        tr ' ' '\n' | grep . | sort
}

# described_options PAGE: the options that its list items explain. .Fl itself puts one dash.
described_options ()
{
    sed -n 's/^\.It //p' "$1" | grep -E '^Fl ' | grep -oE '\bFl -?[A-Za-z][a-z0-9-]*' |
        sed 's/^Fl /-/' | sort
}

# differ PAGE <HELP
differ ()
{
    shown_options >"$tmp/shown"
    described_options "$1" >"$tmp/described"
    comm -23 "$tmp/shown" "$tmp/described" | sed 's/$/: not in the page/'
    comm -13 "$tmp/shown" "$tmp/described" | sed 's/$/: not an option/'
}

tmp=$(mktemp -d) && trap 'rm -rf "$tmp"' EXIT
"$AGENTRT" --help >"$tmp/help" 2>&1
commands=$(sed -n '/^COMMANDS:/,/^$/p' "$tmp/help" | awk 'NF > 1 { print $1 }')
check "there are commands" "$([ -n "$commands" ] || echo none)"
check "agentrt.1 has the global options" "$(differ "$MAN/agentrt.1" <"$tmp/help")"
check "agentrt.1 names all commands" "$(for c in $commands; do
    grep -qx "\.Xr agentrt-$c 1 ," "$MAN/agentrt.1" || echo "$c"; done)"
for c in $commands; do
    "$AGENTRT" "$c" --help >"$tmp/help" 2>&1
    check "agentrt-$c.1 has the options of $c" "$(differ "$MAN/agentrt-$c.1" <"$tmp/help" 2>&1)"
done
check "no page without a command" "$(for f in "$MAN"/agentrt-*.1; do
    c=${f##*/agentrt-}; echo "$commands" | grep -qx "${c%.1}" || echo "$f"; done)"
check "every page is installed" "$(for f in "$MAN"/*.1; do
    grep -q "man/${f##*/}" "$TOP/docs/local.mk" || echo "$f"; done)"
check "mandoc finds nothing" "$(mandoc -Tlint -Wwarning "$MAN"/*.[15] 2>&1)"
finish
