# Real engines with agentrt as their runtime: docker.sh (as with runc), docker-strict.sh (what strict
# promises), on what lib.sh shares.
EXTRA_DIST += %D%
