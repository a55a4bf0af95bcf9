#!/bin/sh
# Size budgets: functions, files and lines (docs/architecture.md, "Style").
. "$(dirname "$0")/lib.sh"
needs ctags awk

# functions FOLDER...: LENGTH FILE:LINE NAME of each function definition.
functions ()
{
    (cd "$TOP" && c_files "$@" | ctags -L - --languages=C --langmap=C:.c.h --kinds-C=f \
        --fields=+ne --sort=no -f - 2>/dev/null) |
        awk -F '\t' '{
            line = end = 0
            for (i = 4; i <= NF; i++) {
                if ($i ~ /^line:/) line = substr ($i, 6)
                if ($i ~ /^end:/) end = substr ($i, 5)
            }
            if (end) print end - line + 1, $2 ":" line, $1
        }' | sort -n
}

# quantile PERCENT <FUNCTIONS: the length that PERCENT of the functions do not exceed.
quantile ()
{
    awk -v p="$1" '{ len[NR] = $1 }
        END { i = int (NR * p / 100 + 0.9999); print len[i < 1 ? 1 : i] + 0 }'
}

long_files ()
{
    (cd "$TOP" && { c_files libocispec src tests
                    find tests -name '*.sh' -o -name '*.bats' -o -name '*.bash'; } |
        xargs wc -l | awk '$2 != "total" && $1 > 700 { print $2 ": " $1 " lines, at most 700" }')
}

# C alone: what a jq filter or a here-document says is not clearer for being broken.
long_lines ()
{
    (cd "$TOP" && c_files libocispec src tests |
        xargs awk 'length ($0) > 100 { print FILENAME ":" FNR ": " length ($0) " columns" }')
}

tmp=$(mktemp) && trap 'rm -f "$tmp"' EXIT
functions libocispec src >"$tmp"
n=$(wc -l <"$tmp")
echo "# $n functions, median $(quantile 50 <"$tmp"), 95 % $(quantile 95 <"$tmp")," \
    "longest $(quantile 100 <"$tmp") lines"
check "ctags finds the functions" "$([ "$n" -gt 0 ] || echo 'none found')"
check "median function has at most 15 lines" \
    "$([ "$(quantile 50 <"$tmp")" -le 15 ] || echo "it has $(quantile 50 <"$tmp")")"
check "95 % of the functions have at most 45 lines" \
    "$([ "$(quantile 95 <"$tmp")" -le 45 ] || awk '$1 > 45' "$tmp")"
check "no function has more than 80 lines" "$(functions libocispec src tests | awk '$1 > 80')"
check "no file has more than 700 lines" "$(long_files)"
check "no line has more than 100 columns" "$(long_lines)"
finish
