# Golden data and the tests that compare with it.
TESTS += %D%/config-reference.sh
EXTRA_DIST += %D%/config-reference.sh %D%/configs %D%/broken
