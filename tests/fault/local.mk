# The runtime killed and failed at its system calls: tests/fault/run.
EXTRA_DIST += %D%
