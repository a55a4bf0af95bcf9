#!/bin/sh
# count.sh LOG...: "PASSED FAILED" of TAP logs. A skipped test counts as failed: a prerequisite that
# is missing must not look like success. So does a plan that was not fulfilled.
cat "$@" | awk '
    /^[0-9]+\.\.[0-9]+/ { split ($1, plan, /\.\./); planned += plan[2] }
    /^1\.\.0/ { failed++ }
    /^ok/ { if (/# [sS][kK][iI][pP]/) failed++; else passed++; seen++ }
    /^not ok/ { failed++; seen++ }
    END {
        if (seen < planned) failed += planned - seen
        print passed + 0, failed + 0
    }'
