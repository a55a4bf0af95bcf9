#!/bin/bash
# In a cage whose host has the policy strict: what docker run gets, whatever it asks for.
set -u
run=/run/t # ours, in the cage
# shellcheck source=tests/engines/dockerd.bash
. "$(dirname "$0")/dockerd.bash"

# What the container has, line by line; seen from inside.
cat >"$run/look.sh" <<'L'
touch /x 2>&1 | sed 's/.*: //'
ls /sys/class/net | tr '\n' ' '; echo
ip -o link | wc -l
grep -E '^(Cap|NoNewPrivs|Seccomp:)' /proc/self/status
ls /dev | tr '\n' ' '; echo
awk '$4 !~ /nosuid/ { print $2 " lets setuid be" }' /proc/self/mounts
awk '$4 !~ /nodev/ && $3 != "devpts" && $3 != "devtmpfs" && $2 != "/dev" { print $2 " lets devices be" }' \
    /proc/self/mounts
ulimit -n; ulimit -c
L
# Everything that a container can be given by the client.
ALL='--privileged --network host --pid host --ipc host --uts host --security-opt seccomp=unconfined
     --security-opt apparmor=unconfined --cap-add ALL --ulimit nofile=100000 --device /dev/mem'
expected="Read-only file system
lo 
1
CapInh:	0000000000000000
CapPrm:	0000000000000000
CapEff:	0000000000000000
CapBnd:	0000000000000000
CapAmb:	0000000000000000
NoNewPrivs:	1
Seccomp:	2
fd full mqueue null ptmx pts random shm stderr stdin stdout tty urandom zero 
1024
0"

# has NAME COMMAND...: the output is `expected`, exactly.
has ()
{
    local name=$1

    shift
    sh_ "$name" 0 '^same$' "diff <(echo \"$expected\") <($* </dev/null 2>&1) && echo same"
}

mkdir -p "$run/home/project" && echo data >"$run/home/project/file"
has 'docker run' "D run --rm -v $run/look.sh:/look bb sh /look"
has 'docker run with everything' "D run --rm $(tr '\n' ' ' <<<"$ALL") -v $run/look.sh:/look bb sh /look"
has 'docker exec' "(c=\$(D run -d -v $run/look.sh:/look bb sleep 100); D exec \$c sh /look; D rm -f \$c >/dev/null)"
has 'docker exec --privileged' \
    "(c=\$(D run -d -v $run/look.sh:/look bb sleep 100); D exec --privileged \$c sh /look; D rm -f \$c >/dev/null)"

# ---- ceilings, from the host ----
# limit FILE...: what the first of these says for the container's cgroup, v1 or v2.
limits="c=\$(D run -d \$OPTIONS bb sleep 100)
    for f in memory.limit_in_bytes pids.max cpu.cfs_quota_us memory.max cpu.max; do
        find /sys/fs/cgroup -path \"*\$c/\$f\" -exec cat {} \; -quit
    done
    D rm -f \$c >/dev/null"
ceilings='1073741824 128 100000'
sh_ 'limits: ceilings' 0 '^same$' \
    "OPTIONS=; [ \"\$($limits)\" = \"\$(echo $ceilings | tr ' ' '\n')\" ] && echo same"
sh_ 'limits: more is asked for' 0 '^same$' \
    "OPTIONS='--memory 8g --pids-limit 9999 --cpus 2'
     [ \"\$($limits)\" = \"\$(echo $ceilings | tr ' ' '\n')\" ] && echo same"
sh_ 'limits: less stays' 0 '^33554432 9 50000 $' \
    "OPTIONS='--memory 32m --pids-limit 9 --cpus 0.5'; ($limits) | tr '\n' ' '"

# ---- mounts ----
check 'a project folder'     0 '^data$'   D run --rm -v "$run/home/project:/work" bb cat /work/file
check 'the docker socket' '12[5-7]' "mounts\[[0-9]*\].*rule 'mounts.guard' of policy 'cage'.*docker" \
    D run --rm -v $run/docker.sock:/x bb true
check 'the host root'     '12[5-7]' "rule 'mounts.guard' of policy 'cage'.*host-root" \
    D run --rm -v /:/host bb true
check 'a way to the host root' '12[5-7]' "rule 'mounts.guard'" \
    D run --rm -v /proc/1/root:/host bb true
check 'a volume' 0 '^x$' \
    D run --rm -v vol:/data bb sh -c 'echo x >/data/f; cat /data/f'

# ---- the engine's own work ----
sh_ 'stop and remove' 0 '^0$' "c=\$(D run -d bb sleep 100); D stop -t 1 \$c >/dev/null; D rm \$c >/dev/null
    D ps -aq | wc -l"
sh_ 'told' 0 'noNewPrivileges' \
    "c=\$(D run -d bb sleep 100)
     $RUNTIME --root $run/exec/runtime-under-test/moby state \$c 2>/dev/null ||
         $RUNTIME --root /run/docker/runtime-under-test/moby state \$c ||
         find $run /run/docker -name state.json -path \"*\$c*\" -exec cat {} \;
     D rm -f \$c >/dev/null"
check 'nothing is left' 0 '^0$' bash -c 'D ps -aq | wc -l'

dockerd_end
