#!/bin/bash
# podman-strict.sh: what a real Podman's containers get, as root, with agentrt's default policy: its
# network, pods, exec, stop and removal; then the same under the policy `oci`, where each control
# must be missed. TAP. Needs root and Debian's podman, containernetworking-plugins, jq; everything
# runs in cages and is gone afterwards.
#   AGENTRT  the runtime (default ./agentrt);  ONLY=regex  only some checks
set -u
# shellcheck source=tests/engines/lib.sh
. "$(dirname "$0")/lib.sh"

layout=v1 # Podman takes a hybrid host for one without cgroups
neutral='a published port.*|stop|rm|a pod shares lo|all is gone.*'
strict_test podman "$neutral" podman conmon iptables busybox jq
