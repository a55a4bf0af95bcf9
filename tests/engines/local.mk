# Real engines with agentrt as their runtime: docker.sh (as with runc); docker-strict.sh,
# podman-strict.sh and cri-strict.sh (what strict promises). lib.sh is what the scripts share.
EXTRA_DIST += %D%
