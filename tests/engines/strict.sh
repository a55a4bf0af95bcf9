#!/bin/bash
# strict.sh: a real dockerd whose host has the policy strict: no option of docker run gets more. TAP.
# Needs what docker.sh needs; everything runs in a cage and is gone afterwards.
#   AGENTRT  the runtime (default ./agentrt);  ONLY=regex  only some checks
set -u
here=$(cd "$(dirname "$0")" && pwd)
AGENTRT=$(realpath "${AGENTRT:-agentrt}")
work=$(mktemp -d /var/tmp/agentrt-strict.XXXXXX)
chmod 755 "$work"
trap 'rm -rf --one-file-system "$work"' EXIT

WORK=$work MARK=artstrict$$ RUNTIME=$AGENTRT RESULTS=$work/results \
    "$here/../lib/cage" -p strict -- bash "$here/strict-checks.sh" </dev/null
find /sys/fs/cgroup -depth -type d -path "*/artstrict$$*" -exec rmdir {} \; 2>/dev/null
exit 0
