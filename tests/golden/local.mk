# Golden data and the tests that compare with it.
TESTS += %D%/config-reference.sh %D%/seccomp-calls.sh %D%/mount-guard.sh
EXTRA_DIST += %D%/config-reference.sh %D%/seccomp-calls.sh %D%/mount-guard.sh %D%/configs %D%/broken
