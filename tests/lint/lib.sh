#!/bin/sh
# Sourced by every lint test: the files to look at and TAP output.
# TOP is the source tree, BUILD the build folder (make check sets TOP and AGENTRT).
set -u
export LC_ALL=C
TOP=${TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
BUILD=${AGENTRT:+$(dirname "$AGENTRT")}
BUILD=${BUILD:-$TOP}
tap_n=0 tap_bad=0

# check NAME TEXT: passes when TEXT (what is wrong, one finding a line) is empty.
check ()
{
    tap_n=$((tap_n + 1))
    if [ -z "$2" ]; then
        echo "ok $tap_n - $1"
        return
    fi
    tap_bad=$((tap_bad + 1))
    echo "not ok $tap_n - $1"
    printf '%s\n' "$2" | sed 's/^/# /'
}

# needs TOOL...: without them the whole test is skipped (tests/run-all counts a skip as a failure).
needs ()
{
    for tool in "$@"; do
        command -v "$tool" >/dev/null && continue
        echo "1..0 # SKIP $tool is not installed"
        exit 0
    done
}

finish ()
{
    echo "1..$tap_n"
    [ "$tap_bad" -eq 0 ]
}

# c_files FOLDER...: the C sources below the folders, relative to TOP.
c_files ()
{
    (cd "$TOP" && find "$@" -type f -name '*.[ch]' | sort)
}

# all_text: every text file that people wrote, relative to TOP.
all_text ()
{
    (cd "$TOP" && find libocispec src tests docs contrib .ci README.md CONTRIBUTING.md \
        configure.ac Makefile.am autogen.sh -type f ! -name '*.json' ! -name '*.log' \
        ! -name '*.trs' ! -path '*/.deps/*' 2>/dev/null | sort |
        while read -r f; do if grep -Iq . "$f"; then echo "$f"; fi; done)
}

# without_comments FILE: C text with comments blanked and line numbers kept.
without_comments ()
{
    awk '{
        line = ""
        n = length ($0)
        for (i = 1; i <= n; i++) {
            two = substr ($0, i, 2); ch = substr ($0, i, 1)
            if (block) { if (two == "*/") { block = 0; i++ } continue }
            if (quote) {
                line = line "."
                if (ch == "\\") i++; else if (ch == quote) quote = ""
                continue
            }
            if (two == "/*") { block = 1; i++; continue }
            if (two == "//") break
            if (ch == "\"" || ch == "\047") quote = ch
            line = line ch
        }
        quote = ""
        print line
    }' "$1"
}

# objects: the compiled objects of the library and the program, relative to BUILD.
objects ()
{
    (cd "$BUILD" && find libocispec src -name '*.o' ! -name '*gen[dm]*' 2>/dev/null | sort)
}
