# Real engines with agentrt as their runtime: tests/engines/docker.sh.
EXTRA_DIST += %D%
