# Golden data and the tests that compare with it.
TESTS += %D%/config-reference.sh %D%/seccomp-calls.sh %D%/mount-guard.sh %D%/completions.sh
EXTRA_DIST += %D%/config-reference.sh %D%/seccomp-calls.sh %D%/mount-guard.sh %D%/completions.sh %D%/configs %D%/broken
