#!/bin/bash
# podman-strict-checks.sh RUNTIME [ARGUMENT...], in the cage: looks from inside at what the
# containers of a Podman with RUNTIME get. TAP on standard output.
#   ONLY=regex  only some checks
set -u
# shellcheck source=tests/engines/lib.sh
. "$(dirname "$0")/lib.sh"
cd "$WORK" || exit 1
inner_start
runtime=$(wrapped "$@")
export runtime
client=(P)

P ()
{
    podman --root "$WORK/data" --runroot $run/podman --tmpdir $run/tmp --runtime "$runtime" \
        --network-config-dir $run/net "$@"
}

mkdir $run/net
cat >$run/containers.conf <<-END
	[containers]
	log_driver="k8s-file"
	pids_limit=0
	[engine]
	cgroup_manager="cgroupfs"
	events_logger="file"
END
export CONTAINERS_CONF=$run/containers.conf PODMAN_IGNORE_CGROUPSV1_WARNING=1
tar -C $run/image -c . | P import - bb >/dev/null || exit 1
at=--cgroup-parent=/$MARK
links='echo $(ls /sys/class/net) $(ip -o link | wc -l)'
sets='grep -c "^Cap.*0000000000000000" /proc/self/status'
fetch='wget -qO- http://127.0.0.1:8080/passwd 2>/dev/null | wc -l'

check 'run: only lo'            0 '^lo 1$' P run --rm "$at" bb sh -c "$links"
check 'run: no capability'      0 '^5$'    P run --rm "$at" bb sh -c "$sets"
check '--privileged --network host: only lo' 0 '^lo 1$' \
    P run --rm --privileged --network host "$at" bb sh -c "$links"
check '--privileged: no capability' 0 '^5$' P run --rm --privileged "$at" bb sh -c "$sets"
P run -d --name web -p 18080:8080 "$at" bb httpd -f -p 8080 -h /etc >/dev/null
check 'a published port does not stop it' 0 '^running$' P inspect -f '{{.State.Status}}' web
check 'exec: only lo'           0 '^lo 1$' P exec web sh -c "$links"
check 'exec --privileged: no capability' 0 '^5$' P exec --privileged web sh -c "$sets"
check '--network container: a stranger gets its own lo' 0 '^0$' \
    P run --rm --network container:web "$at" bb sh -c "$fetch"
check 'stop'                    0 '^web$'  P stop -t 1 web
check 'rm'                      0 '^web$'  P rm web
P pod create --name pod --infra-image bb --infra-command 'sleep 100' "$at" >/dev/null
P run -d --pod pod --name one bb httpd -f -p 8080 -h /etc >/dev/null
check 'a pod shares lo'         0 '^3$'    P run --rm --pod pod bb sh -c "$fetch"
check 'a pod has nothing but lo' 0 '^lo 1$' P exec one sh -c "$links"
P pod rm -f -t 1 pod >/dev/null 2>&1
check 'all is gone: states, cgroups, network namespaces' 0 '^0 0 0$' bash -c 'echo \
    $(ls /run/agentrt 2>/dev/null | wc -l) \
    $(find /sys/fs/cgroup -path "*/$MARK/libpod-*" | grep -vc conmon) \
    $(ls /run/netns 2>/dev/null | wc -l)'
inner_end
