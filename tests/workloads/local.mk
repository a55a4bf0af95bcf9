# What agents run, under the policy strict: tests/workloads/run.
EXTRA_DIST += %D%
