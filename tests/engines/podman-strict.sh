#!/bin/bash
# podman-strict.sh: a real Podman, as root, with agentrt under the policy strict: its network, pods,
# exec, stop and removal; then the same under the policy oci, where each control must be missed.
# Prints TAP and leaves nothing. AGENTRT names the runtime.
set -u
here=$(cd "$(dirname "$0")" && pwd)

# inner POLICY: the checks in a cage, as TAP.
inner ()
{
    local rc

    W=$(mktemp -d /var/tmp/podman-strict.XXXXXX)
    POLICY=$1 W=$W "$here/../lib/cage" -c v1 -- "$here/podman-strict.sh" --inner
    rc=$?
    find /sys/fs/cgroup -depth -type d \( -path "*/${W##*/}*" -o -name 'libpod_parent*' \) \
        -exec rmdir {} \; 2>/dev/null
    rm -rf --one-file-system "$W"
    return $rc
}

# A control is behind each check of this name: with the policy `oci` it must fail.
controlled='^(run: |--privileged|exec|--network container|and nothing else)'
if [ "${1:-}" != --inner ]; then
    AGENTRT=$(realpath "${AGENTRT:?the runtime under test}")
    export AGENTRT
    out=$(inner strict)
    rc=$?
    grep -v '^1\.\.' <<<"$out"
    n=$(grep -cE '^(not )?ok' <<<"$out")
    [ "$n" -gt 0 ] || rc=1
    while read -r line; do
        name=${line#*ok * - }
        [[ $name =~ $controlled ]] || continue
        n=$((n + 1)) verdict=ok
        [[ $line == "not ok "* ]] || { verdict='not ok' rc=1; }
        echo "$verdict $n - self-check: without the policy it is missed: $name"
    done < <(inner oci | grep -E '^(not )?ok')
    echo "1..$n"
    exit $rc
fi

n=0 failed=0
# check NAME WANT COMMAND...: what the command prints is WANT
check ()
{
    local name=$1 want=$2 got

    shift 2
    got=$(timeout 60 "$@" 2>&1 </dev/null | tail -n 1 | tr -d '\r')
    n=$((n + 1))
    if [ "$got" = "$want" ]; then
        echo "ok $n - $name"
    else
        failed=$((failed + 1))
        printf 'not ok %s - %s\n# got %s, want %s\n' "$n" "$name" "$got" "$want"
    fi
}

printf '#!/bin/sh\nexec %s --policy %s "$@"\n' "$AGENTRT" "$POLICY" >"$W/agentrt"
cat >"$W/containers.conf" <<-END
	[containers]
	log_driver="k8s-file"
	pids_limit=0
	[engine]
	cgroup_manager="cgroupfs"
	events_logger="file"
END
printf '#!/bin/sh\nexec podman --root %s/data --runroot %s/run --tmpdir %s/tmp --runtime %s/agentrt \
    --network-config-dir %s/net "$@"\n' "$W" "$W" "$W" "$W" "$W" >"$W/p"
chmod 755 "$W" "$W/agentrt" "$W/p"
mkdir "$W/net"
export CONTAINERS_CONF=$W/containers.conf PODMAN_IGNORE_CGROUPSV1_WARNING=1
"$here/../lib/image.sh" "$W/image"
tar -C "$W/image" -c . | "$W/p" import - bb >/dev/null 2>&1 || { echo '1..0 # Podman cannot import'; exit 1; }
at=--cgroup-parent=/${W##*/}
links='ls /sys/class/net | tr "\n" " "; ip -o link | wc -l'
sets='grep -c "^Cap.*0000000000000000" /proc/self/status'

check 'run: only lo' 'lo 1' "$W/p" run --rm "$at" bb sh -c "$links"
check 'run: no capability' 5 "$W/p" run --rm "$at" bb sh -c "$sets"
check '--privileged --network host: only lo' 'lo 1' \
    "$W/p" run --rm --privileged --network host "$at" bb sh -c "$links"
check '--privileged: no capability' 5 "$W/p" run --rm --privileged "$at" bb sh -c "$sets"
"$W/p" run -d --name web -p 18080:8080 "$at" bb httpd -f -p 8080 -h /etc >/dev/null
check 'a published port does not stop it' running "$W/p" inspect -f '{{.State.Status}}' web
check 'exec: only lo' 'lo 1' "$W/p" exec web sh -c "$links"
check 'exec --privileged: no capability' 5 "$W/p" exec --privileged web sh -c "$sets"
check '--network container: a stranger gets its own lo' 0 "$W/p" run --rm --network container:web "$at" bb \
    sh -c 'wget -qO- http://127.0.0.1:8080/passwd 2>/dev/null | wc -l'
check 'stop' web "$W/p" stop -t 1 web
check 'rm' web "$W/p" rm web
"$W/p" pod create --name pod --infra-image bb --infra-command 'sleep 100' "$at" >/dev/null
"$W/p" run -d --pod pod --name one bb httpd -f -p 8080 -h /etc >/dev/null
check 'a pod shares lo' root:x:0:0:root:/root:/bin/sh "$W/p" run --rm --pod pod bb \
    sh -c 'wget -qO- http://127.0.0.1:8080/passwd | head -n 1'
check 'and nothing else' 'lo 1' "$W/p" exec one sh -c "$links"
"$W/p" pod rm -f -t 1 pod >/dev/null 2>&1
check 'all is gone: states, cgroups, network namespaces' '0 0 0' sh -c "echo \$(
    ls /run/agentrt 2>/dev/null | wc -l; find /sys/fs/cgroup -path '*/${W##*/}/libpod-*' | grep -vc conmon
    ls /run/netns 2>/dev/null | wc -l)"
echo "1..$n"
[ "$failed" = 0 ]
