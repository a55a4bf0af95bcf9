#!/bin/sh
# valgrind.sh ARG...: the runtime REAL_AGENTRT under valgrind. Status 99: an error was found.
exec valgrind -q --error-exitcode=99 --leak-check=full --errors-for-leak-kinds=definite \
    --show-leak-kinds=definite --trace-children=no --child-silent-after-fork=yes \
    --log-file="${VALGRIND_LOGS:-/tmp}/valgrind.%p" "$REAL_AGENTRT" "$@"
