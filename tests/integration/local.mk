# Seen from inside containers: tests/integration/run, see CONTRIBUTING.md.
EXTRA_DIST += %D%
