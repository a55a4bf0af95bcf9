#!/bin/sh
# valgrind.sh ARG...: the runtime REAL_AGENTRT under valgrind, as a runtime. Status 99: an error found.
exec valgrind -q --error-exitcode=99 --leak-check=full --errors-for-leak-kinds=definite \
    --show-leak-kinds=definite --trace-children=no --child-silent-after-fork=yes \
    --log-file="${VALGRIND_LOGS:-/tmp}/valgrind.%p" "$REAL_AGENTRT" "$@"
