#!/bin/sh
# docs/seccomp-calls.md says what src/harden/strict.def says.
. "${TOP:-.}/tests/lint/lib.sh"

check "docs/seccomp-calls.md is fresh (make docs-seccomp)" \
    "$("$BUILD/src/harden/strictgen" doc | diff - "$TOP/docs/seccomp-calls.md" 2>&1 | head -n 20)"
finish
