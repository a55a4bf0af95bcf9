# Real engines with agentrt as their runtime: tests/engines/docker.sh, and strict.sh for what nobody
# can ask for.
EXTRA_DIST += %D%
