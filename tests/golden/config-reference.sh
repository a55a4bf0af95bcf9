#!/bin/sh
# docs/config-reference.md says what the rows of libocispec say.
. "${TOP:-.}/tests/lint/lib.sh"

check "docs/config-reference.md is fresh (make docs-reference)" \
    "$("$BUILD/libocispec/gendoc" | diff - "$TOP/docs/config-reference.md" 2>&1 | head -n 20)"
finish
