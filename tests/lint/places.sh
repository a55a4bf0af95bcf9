#!/bin/sh
# A place in a document is said in one way everywhere: /linux/resources/memory/limit, /mounts[3].
# (Names of rules, as "mounts.nosuid", and of files are no places.)
. "$(dirname "$0")/lib.sh"
needs awk

# dotted FILE...: the string literals in which a place is written with dots or without its slash.
dotted ()
{
    awk 'BEGIN {
        place = "(^|[^A-Za-z0-9_./])((linux|process|hooks)\\.[A-Za-z%]|root\\.(path|readonly)|mounts\\[)"
    }
    /^[ \t]*#[ \t]*include/ { next }
    {
        line = $0
        gsub (/\047\\?"\047/, "", line)
        while (match (line, /"([^"\\]|\\.)*"/)) {
            literal = substr (line, RSTART, RLENGTH)
            line = substr (line, RSTART + RLENGTH)
            if (literal ~ place) print FILENAME ":" FNR ": " literal
        }
    }' "$@"
}

tmp=$(mktemp) && trap 'rm -f "$tmp"' EXIT
cat >"$tmp" <<'END'
err_set (e, EINVAL, "linux.namespaces[%s].path: bad");
err_add (e, "here: process.cwd");
err_set (e, EINVAL, "no %s (root.readonly)", p->process.cwd);
err_add (e, "mounts[%zu]", i);
err_add (e, "/mounts[%zu] of /linux/x, run.oci.hooks.stdout", p->process.args, "mounts.nosuid");
END
check "self-check: dotted places are seen, and nothing else" \
    "$(dotted "$tmp" | sed 's/^[^:]*:\([0-9]*\):.*/\1/' | tr '\n' ' ' | grep -vx '1 2 3 4 ')"
# shellcheck disable=SC2046
check "no place is written with dots" \
    "$(cd "$TOP" && dotted $(find libocispec src -name '*.[ch]' -o -name '*.def'))"
finish
