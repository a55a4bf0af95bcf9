#!/bin/bash
# docker.sh: the same checks through a real dockerd, once with runc and once with agentrt; each must
# pass with agentrt and say the same as with runc. TAP. Needs root and Debian's docker.io, runc,
# iptables; everything runs in cages (tests/lib/cage) and is gone afterwards.
#   AGENTRT  the runtime (default ./agentrt);  ONLY=regex  only some checks
set -u
here=$(cd "$(dirname "$0")" && pwd)
AGENTRT=$(realpath "${AGENTRT:-agentrt}")
work=$(mktemp -d /var/tmp/agentrt-docker.XXXXXX)
mark=artdocker$$
export WORK=$work MARK=$mark
chmod 755 "$work"
trap 'rm -rf --one-file-system "$work"' EXIT
n=0 bad=0

for tool in dockerd docker containerd iptables runc busybox; do
    command -v $tool >/dev/null || { echo "Bail out! $tool is not installed"; exit 1; }
done

result () # STATUS NAME
{
    n=$((n + 1))
    if [ "$1" = 0 ]; then echo "ok $n - $2"; else echo "not ok $n - $2"; bad=$((bad + 1)); fi
}

# with NAME PATH: all checks through one runtime; records in $work/NAME.{tap,results}.
with ()
{
    echo "# $1: $2"
    RUNTIME=$2 RESULTS=$work/$1.results \
        "$here/../lib/cage" -- bash "$here/docker-checks.sh" >"$work/$1.tap" 2>"$work/$1.err" \
        </dev/null
    rm -rf --one-file-system "$work/data"
    find /sys/fs/cgroup -depth -type d -path "*/$mark*" -exec rmdir {} \; 2>/dev/null
}

processes ()
{
    ps -eo comm= | grep -cE '^(dockerd|containerd|containerd-shim.*|docker-proxy|docker-init)$'
}

before=$(processes)
with runc "$(command -v runc)"
with agentrt "$AGENTRT"

# 1. what must hold with agentrt, whatever runc does
while read -r line; do
    case $line in
    "ok "*) result 0 "agentrt: ${line#* - }" ;;
    "not ok "*) result 1 "agentrt: ${line#* - }" ;;
    \#*) echo "$line" ;;
    esac
done <"$work/agentrt.tap"
[ -s "$work/agentrt.results" ] || { result 1 "dockerd runs"; sed 's/^/# /' "$work"/*.err; }

# 2. no difference from runc, check by check
while IFS='|' read -r name rest; do
    # runc gives up where the host's root lacks a capability that --privileged asks for.
    [ "$name" != privileged ] || continue
    other=$(awk -F'|' -v n="$name" '$1 == n { print; exit }' "$work/agentrt.results")
    [ "$name|$rest" = "$other" ]
    result $? "as with runc: $name"
    [ "$name|$rest" = "$other" ] || printf '# runc    %s\n# agentrt %s\n' "$rest" "${other#*|}"
done <"$work/runc.results"

# 3. nothing is left on the host
result "$([ "$(processes)" -eq "$before" ]; echo $?)" "no process of an engine is left"
result "$(! grep -q "$work" /proc/self/mountinfo; echo $?)" "no mount is left"
result "$([ -z "$(find /sys/fs/cgroup -path "*$mark*" | head -n1)" ]; echo $?)" "no cgroup is left"
echo "1..$n"
[ $bad -eq 0 ]
