#!/bin/sh
# Every C file is as clang-format leaves it.
. "$(dirname "$0")/lib.sh"
format=${CLANG_FORMAT:-clang-format}
needs "$format"
check "clang-format changes nothing" "$(cd "$TOP" && c_files libocispec src tests |
    xargs "$format" --dry-run --Werror 2>&1 | grep -E '(error|warning):' | cut -c1-200)"
finish
