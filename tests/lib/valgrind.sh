#!/bin/sh
# valgrind.sh ARG...: the runtime REAL_AGENTRT (of a build with shared libraries) under valgrind, with
# the stand-ins OPENAT2 (tests/lib/openat2.c) for what valgrind lacks. Status 99: an error was found.
[ -r "${OPENAT2:?}" ] || exit 99
LD_PRELOAD=$OPENAT2 exec valgrind -q --error-exitcode=99 --leak-check=full \
    --errors-for-leak-kinds=definite --show-leak-kinds=definite --trace-children=no \
    --suppressions="${0%/*}/valgrind.supp" \
    --child-silent-after-fork=yes --log-file="${VALGRIND_LOGS:-/tmp}/valgrind.%p" \
    "$REAL_AGENTRT" "$@"
