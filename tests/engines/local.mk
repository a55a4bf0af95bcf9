# Real engines with agentrt as their runtime: docker.sh (as with runc); docker-strict.sh and
# podman-strict.sh (what strict promises). lib.sh is what the scripts for dockerd share.
EXTRA_DIST += %D%
