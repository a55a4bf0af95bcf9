#!/bin/bash
# docker.sh: the same checks through a real dockerd, once with runc and once with agentrt under the
# policy `oci`; each must pass with agentrt and say the same as with runc. Then a part of them with a
# careless runtime, which must fail. TAP. Needs root and Debian's docker.io, runc, iptables, jq;
# everything runs in cages (tests/lib/cage) and is gone afterwards.
#   AGENTRT  the runtime (default ./agentrt);  ONLY=regex  only some checks
set -u
engines=$(dirname "$0") work=
# shellcheck source=tests/engines/lib.sh
. "$(dirname "$0")/lib.sh"
engine_prologue docker dockerd docker containerd iptables runc busybox jq

# same NAME REST: the check's line from the cage NAME is REST.
same ()
{
    other=$(awk -F'|' -v n="$2" '$1 == n { print; exit }' "$work/$1/results")
    [ "$2|$3" = "$other" ]
}

# What the careless runtime must be seen to lose.
lost='^(user by number|user and groups|working directory|environment|hostname|bind mount|tmpfs|'
lost+='read-only root|masked paths|read-only paths|cap-drop all|capabilities of a user|'
lost+='no-new-privileges|own seccomp profile|device, denied|sysctl|ulimit|oom score|memory limit|'
lost+='pids limit|cpus|cpu shares|cpuset|exec user, dir, env)$'

caged runc "$engines/docker-checks.sh" "$(command -v runc)" &
caged agentrt "$engines/docker-checks.sh" "$AGENTRT" --policy oci &
wait

# 1. what must hold with agentrt, whatever runc does
copy_results agentrt
ended runc

# 2. no difference from runc, check by check
while IFS='|' read -r name rest; do
    # runc gives up where the host's root lacks a capability that --privileged asks for.
    [ "$name" != privileged ] || continue
    same agentrt "$name" "$rest"
    result $? "as with runc: $name"
    same agentrt "$name" "$rest" || printf '# runc    %s\n# agentrt %s\n' "$rest" "${other#*|}"
done <"$work/runc/results"

# 3. these checks can fail
[ "${ONLY:-}" ] || export ONLY="(start detached|${lost:2:-2})\$"
caged careless "$engines/docker-checks.sh" "$engines/careless" "$AGENTRT" --policy oci
while IFS='|' read -r name rest; do
    [[ $name =~ $lost ]] || continue
    ! grep -q "^ok [0-9]* - $name\$" "$work/careless/tap" && ! same careless "$name" "$rest"
    result $? "self-check: a runtime that loses it is caught: $name"
done <"$work/runc/results"

# 4. nothing is left on the host
nothing_left
engine_end
