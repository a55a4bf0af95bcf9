#!/bin/bash
# cri-strict.sh: what the pods of a real containerd get, through its CRI plugin and with a network
# that CNI made, with agentrt's default policy, seen from inside; then the same under the policy
# `oci`, where each control must be missed. TAP. Needs root and Debian's containerd,
# containernetworking-plugins, python3-grpcio, jq; everything runs in cages and is gone afterwards.
#   AGENTRT  the runtime (default ./agentrt);  ONLY=regex  only some checks
set -u
# shellcheck source=tests/engines/lib.sh
. "$(dirname "$0")/lib.sh"

# Works with and without the policy: what CRI asks for itself, and what people do.
neutral='runs as root|devices|masked paths|read-only paths|no mount|the pod has the address.*|'
neutral+='the containers of a pod share lo|another pod.s lo is its own|exec|exec: .*|exec on a terminal|'
neutral+='a terminal|exit code|both streams are logged|no such command|a user|lower limits stay|stop|'
neutral+='a project folder|a volume of the pod|what is there of a pod|remove .*|and nothing is left of it'
strict_test cri "$neutral" containerd ctr containerd-shim-runc-v2 /usr/lib/cni/bridge busybox jq
