#!/bin/sh
# quiet.sh COMMAND...: runs it and prints its output in one piece, so that streams of parallel runs
# do not mix.
out=$("$@" 2>&1)
status=$?
printf '%s\n' "$out"
exit $status
