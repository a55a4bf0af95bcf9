#!/bin/bash
# docker-strict.sh: what a real dockerd's containers get with agentrt's default policy, seen from
# inside; then the same checks under the policy `oci`, where each control must be missed. TAP. Needs
# root and Debian's docker.io, iptables, jq; everything runs in cages and is gone afterwards.
#   AGENTRT  the runtime (default ./agentrt);  ONLY=regex  only some checks
set -u
# shellcheck source=tests/engines/lib.sh
. "$(dirname "$0")/lib.sh"

# Works with and without the policy: nothing that a control is behind.
neutral='works as a shell|no mount|devices|a tmpfs of the user|masked paths|read-only paths|seccomp|lower limits stay|'
neutral+='refused leaves nothing|a project folder|\.\.\. is writable|a volume|hosts, .*|standard input|'
neutral+='a terminal|a user|OOM kill|a policy file.*|refused: a sysctl.*'
strict_test docker "$neutral" dockerd docker containerd iptables busybox jq
