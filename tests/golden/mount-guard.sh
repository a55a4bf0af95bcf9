#!/bin/sh
# docs/mount-guard-rows.md says what src/policy/guard.def says.
. "${TOP:-.}/tests/lint/lib.sh"

check "docs/mount-guard-rows.md is fresh (make docs-guard)" \
    "$("$BUILD/src/policy/guard_gendoc" | diff - "$TOP/docs/mount-guard-rows.md" 2>&1 | head -n 20)"
finish
