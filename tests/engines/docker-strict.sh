#!/bin/bash
# docker-strict.sh: what a real dockerd's containers get with agentrt's default policy, seen from
# inside; then the same checks under the policy `oci`, where each control must be missed. TAP. Needs
# root and Debian's docker.io, iptables, jq; everything runs in cages and is gone afterwards.
#   AGENTRT  the runtime (default ./agentrt);  ONLY=regex  only some checks
set -u
# shellcheck source=tests/engines/lib.sh
. "$(dirname "$0")/lib.sh"
engine_prologue dockstrict dockerd docker containerd iptables busybox jq
policy=none

# Works with and without the policy: nothing that a control is behind.
neutral='^(works as a shell|no mount|devices|a tmpfs of the user|masked paths|read-only paths|seccomp|lower limits stay|'
neutral+='refused leaves nothing|a project folder|\.\.\. is writable|a volume|hosts, .*|standard input|'
neutral+='a terminal|a user|OOM kill|a policy file.*|refused: a sysctl.*)$'

caged agentrt "$engines/docker-strict-checks.sh" "$AGENTRT" &
caged oci "$engines/docker-strict-checks.sh" "$AGENTRT" --policy oci &
wait
copy_results agentrt
while read -r line; do
    name=${line#*ok * - }
    [[ ! $name =~ $neutral ]] || continue
    [[ $line == "not ok "* ]]
    result $? "self-check: without the policy it is missed: $name"
done < <(grep -E '^(not )?ok' "$work/oci/tap")
nothing_left
engine_end
