#!/bin/bash
# docker.sh: what users do with Docker, once with runc and once with agentrt as the runtime of a
# private dockerd; each check must give what is expected, and no check may differ between the two.
# Prints TAP. Needs docker.io, runc, iptables, busybox-static, util-linux, jq.
#   AGENTRT  the runtime under test
#   ONLY     a regular expression: only the checks whose names match
#
# Everything runs in a cage (tests/lib/cage): processes, mounts, sockets and networks end with it.
set -u
here=$(cd "$(dirname "$0")" && pwd)
if [ "${1:-}" != inside ]; then
    AGENTRT=$(realpath "${AGENTRT:?the runtime under test}")
    WORK=$(mktemp -d /var/tmp/agentrt-docker.XXXXXX)
    export AGENTRT WORK
    chmod 755 "$WORK"
    "$here/../lib/cage" -c v1 -- bash "$here/docker.sh" inside
    status=$?
    # dockerd leaves the parent folders of its containers' cgroups.
    find /sys/fs/cgroup -depth -type d -path "*/${WORK##*/}*" -exec rmdir {} \; 2>/dev/null
    left=$(find /sys/fs/cgroup -type d -path "*/${WORK##*/}*" | wc -l)
    rm -rf --one-file-system "$WORK"
    [ "$left" = 0 ] || { echo "not ok 1000 - cgroups are left" && status=1; }
    exit $status
fi

cd "$WORK" || exit 1
mkdir bin
export PATH=$WORK/bin:$PATH
printf '#!/bin/sh\nexec /usr/bin/docker -H "unix://%s/docker.sock" "$@"\n' "$WORK" >bin/D
# pty COMMAND: on a terminal whose keyboard stays silent, and open.
mkfifo keyboard
printf '#!/bin/sh\nexec script -qec "$1" /dev/null 0<>"%s/keyboard"\n' "$WORK" >bin/pty
chmod +x bin/D bin/pty
"$here/../lib/image.sh" "$WORK/image"
mkdir -p "$WORK/data" "$WORK/project"
echo inside >"$WORK/project/file"
number=0 failed=0

# check NAME STATUS PATTERN COMMAND...: STATUS is a glob, PATTERN an extended regular expression for
# both streams. Name, status and standard output, with ids and times taken out, go to $results.
check ()
{
    local name=$1 want=$2 pattern=$3 out status

    shift 3
    [[ $name =~ ${ONLY:-.} ]] || return 0
    number=$((number + 1))
    out=$(timeout 60 "$@" 2>errors </dev/null)
    status=$?
    # shellcheck disable=SC2053
    if [[ $status == $want ]] && grep -Eq -- "$pattern" <<<"$out$(<errors)"; then
        echo "ok $number - $runtime: $name"
    else
        failed=1
        echo "not ok $number - $runtime: $name (status $status, want $want and /$pattern/)"
        sed 's/^/# /' <<<"$out"
        sed 's/^/# /' errors
    fi
    { echo "== $name: $status" && sed -E 's/[0-9a-f]{12,}/ID/g; s/[0-9]{4}-[0-9T:. -]+Z?/TIME/g' \
        <<<"$out"; } >>"$results"
}


one_container ()
{
    local n="--network none"

    # shellcheck disable=SC2086
    {
    check "run" 0 '^hello$' D run --rm $n bb echo hello
    check "exit code" 7 '' D run --rm $n bb sh -c 'exit 7'
    check "killed by a signal" 137 '' D run --rm $n bb sh -c 'kill -KILL $$; kill -KILL -1; exit 137'
    check "stdin" 0 '^in$' bash -c 'echo in | D run --rm -i --network none bb cat'
    check "stderr apart" 0 '^E$' bash -c 'D run --rm --network none bb sh -c "echo O; echo E >&2" 2>&1 >/dev/null'
    check "no such command" 127 'executable file not found' D run --rm $n bb nonexistent
    check "no such path" 127 'no such file' D run --rm $n bb /nonexistent
    check "not executable" 126 'permission denied' D run --rm $n bb /etc/passwd
    check "a folder as command" 126 'permission denied|is a directory' D run --rm $n bb /etc
    check "-it" 0 '/dev/pts/0' pty "D run --rm -it $n bb tty"
    check "-dt and logs" 0 '/dev/pts/0' bash -c 'c=$(D run -dt --network none bb sh -c "tty; sleep 0.1"); D wait $c; D logs $c; D rm $c >/dev/null'
    check "-u -w -e" 0 '^1000:/tmp:x1$' D run --rm $n -u 1000 -w /tmp -e X=x1 bb sh -c 'echo $(id -u):$PWD:$X'
    check "groups" 0 'groups=.*5000' D run --rm $n -u 1000:1000 --group-add 5000 bb id
    check "a working directory that is not there" 0 '^/not/there$' D run --rm $n -w /not/there bb pwd
    check "hostname" 0 '^box$' D run --rm $n --hostname box bb hostname
    check "bind mount" 0 '^inside$' D run --rm $n -v "$WORK/project:/work" bb cat /work/file
    check "bind mount, written" 0 '^new$' bash -c 'D run --rm --network none -v "$WORK/project:/work" bb sh -c "echo new >/work/new" && cat "$WORK/project/new"; rm -f "$WORK/project/new"'
    check "bind mount, read-only" 1 'Read-only' D run --rm $n -v "$WORK/project:/work:ro" bb touch /work/x
    check "volume" 0 '^kept$' bash -c 'D run --rm --network none -v vol:/v bb sh -c "echo kept >/v/f"; D run --rm --network none -v vol:/v bb cat /v/f; D volume rm vol >/dev/null'
    check "tmpfs" 0 'tmpfs on /scratch .*size=1024k' bash -c 'D run --rm --network none --tmpfs /scratch:size=1m bb sh -c "mount | grep scratch"'
    check "tmpfs, for any user" 0 '^1777$' D run --rm $n --tmpfs /scratch -u 1000 bb stat -c %a /scratch
    check "--read-only" 1 'Read-only' D run --rm $n --read-only --tmpfs /tmp bb sh -c 'touch /tmp/a && touch /x'
    check "shm size" 0 ' 1024 ' D run --rm $n --shm-size 1m bb df -k /dev/shm
    check "--cap-drop ALL" 0 'CapEff:.0{16}' D run --rm $n --cap-drop ALL bb grep CapEff /proc/self/status
    check "--cap-add" 0 'CapEff:.0{12}1000' D run --rm $n --cap-drop ALL --cap-add NET_ADMIN bb grep CapEff /proc/self/status
    check "no-new-privileges" 0 'NoNewPrivs:.1' D run --rm $n --security-opt no-new-privileges bb grep NoNewPrivs /proc/self/status
    check "seccomp" 0 'Seccomp:.2' D run --rm $n bb grep Seccomp: /proc/self/status
    check "seccomp, what it denies" 1 'permission denied' D run --rm $n --cap-add SYS_ADMIN --security-opt seccomp="$WORK/no-mount.json" bb mount -t tmpfs x /mnt
    check "seccomp=unconfined" 0 'Seccomp:.0' D run --rm $n --security-opt seccomp=unconfined bb grep Seccomp: /proc/self/status
    check "masked path" 0 '^0$' D run --rm $n bb sh -c 'wc -c </proc/keys'
    check "sysctl" 0 '^5$' D run --rm $n --sysctl net.ipv4.ip_default_ttl=5 bb cat /proc/sys/net/ipv4/ip_default_ttl
    check "sysctl of the host" '125' 'not' D run --rm $n --sysctl kernel.core_pattern=x bb true
    check "ulimit" 0 '^77$' D run --rm $n --ulimit nofile=77:77 bb sh -c 'ulimit -n'
    check "device" 0 '^character special file a:e5 600$' D run --rm $n --device /dev/fuse bb stat -c '%F %t:%T %a' /dev/fuse
    check "device that was not given" 1 'not permitted' D run --rm $n bb sh -c 'mknod /dev/x b 254 0; head -c1 /dev/x'
    check "--init" 0 'init' D run --rm $n --init bb cat /proc/1/comm
    check "--pid host" 0 'dockerd' bash -c 'D run --rm --network none --pid host bb ps | grep -o dockerd | head -n 1'
    check "--ipc host, --uts host" 0 '' D run --rm $n --ipc host --uts host bb true
    }
}

a_life ()
{
    D run -d --name c1 --network none bb \
        sh -c 'echo started; trap "exit 9" TERM; while :; do sleep 0.1; done' >/dev/null
    check "logs" 0 '^started$' bash -c 'for i in 1 2 3 4 5 6 7 8 9; do D logs c1 | grep started && break; sleep 0.1; done'
    check "exec" 0 '^e$' D exec c1 echo e
    check "exec, exit code" 5 '' D exec c1 sh -c 'exit 5'
    check "exec -i" 0 '^in$' bash -c 'echo in | D exec -i c1 cat'
    check "exec -t" 0 '/dev/pts/' pty "D exec -t c1 tty"
    check "exec -it" 0 '/dev/pts/' pty "D exec -it c1 tty"
    check "exec -u -w -e" 0 '^1000:/tmp:y$' D exec -u 1000 -w /tmp -e Y=y c1 sh -c 'echo $(id -u):$PWD:$Y'
    check "exec -d" 0 '' bash -c 'D exec -d c1 sh -c "echo d >/tmp/d" && for i in 1 2 3 4 5 6 7 8 9; do D exec c1 cat /tmp/d && break; sleep 0.1; done'
    check "exec, confined as init" 0 '^1$' bash -c 'f="^(Cap|Seccomp:|NoNewPrivs|Groups)"; (D exec c1 cat /proc/self/status; D exec c1 cat /proc/1/status) | grep -E "$f" | sort | uniq -c | awk "{ print \$1 }" | sort -u | grep -c 2'
    check "exec, no such command" '12[67]' 'executable file not found' bash -c 'D exec c1 nonexistent >&2'
    check "top" 0 'sleep' bash -c 'D top c1 -o comm | sort -u'
    check "inspect" 0 '^running true$' bash -c 'D inspect -f "{{.State.Status}} {{.State.Running}}" c1'
    check "stats" 0 'c1' bash -c 'D stats --no-stream --format "{{.Name}}" c1'
    check "stop" 0 '^c1$' D stop -t 20 c1
    check "stop, exit code" 0 '^9$' D inspect -f '{{.State.ExitCode}}' c1
    check "exec in a stopped one" 1 'not running' D exec c1 true
    check "start, restart" 0 '^running$' bash -c 'D start c1 >/dev/null && D restart -t 0 c1 >/dev/null && D inspect -f "{{.State.Status}}" c1'
    check "kill" 0 '^137$' bash -c 'D kill c1 >/dev/null; D wait c1'
    check "kill -s" 0 '^9$' bash -c 'D start c1 >/dev/null; sleep 0.5; D kill -s TERM c1 >/dev/null; D wait c1'
    check "rm" 0 '^c1$' D rm c1
    check "rm -f of a running one" 0 '^c2$' bash -c 'D run -d --name c2 --network none bb sleep 1000 >/dev/null; D rm -f c2'
    check "cp" 0 '^inside$' bash -c 'D create --name c3 --network none bb cat /file >/dev/null; D cp "$WORK/project/file" c3:/file; D start -a c3; D rm c3 >/dev/null'
}

limits ()
{
    local n="--network none" m=/sys/fs/cgroup

    # shellcheck disable=SC2086
    {
    check "--memory" 0 '^67108864$' D run --rm $n --memory 64m bb cat $m/memory/memory.limit_in_bytes
    check "out of memory" 0 '^137 true$' bash -c 'D run --name o1 --network none --memory 32m bb dd if=/dev/zero of=/dev/null bs=100M count=1 >/dev/null 2>&1; D inspect -f "{{.State.ExitCode}} {{.State.OOMKilled}}" o1; D rm o1 >/dev/null'
    check "--pids-limit" '[02]' 'fork' D run --rm $n --pids-limit 8 bb sh -c 'for i in 1 2 3 4 5 6 7 8 9; do sleep 1 & done; true'
    check "--cpus" 0 '^50000$' D run --rm $n --cpus 0.5 bb cat $m/cpu/cpu.cfs_quota_us
    check "--cpuset-cpus" 0 '^0$' D run --rm $n --cpuset-cpus 0 bb cat $m/cpuset/cpuset.cpus
    check "--cpu-shares" 0 '^512$' D run --rm $n --cpu-shares 512 bb cat $m/cpu/cpu.shares
    check "a limit that is too low" '12[5-8]' 'emory' D run --rm $n --memory 6m --memory-swap 6m --kernel-memory 1k bb true
    }
}

networks ()
{
    check "--network host" 0 'LOOPBACK' D run --rm --network host bb ip addr show lo
    check "bridge" 0 'inet 172' bash -c 'D run --rm bb ip addr show eth0 | grep -o "inet 172"'
    check "published port" 0 '^root:' bash -c 'D run -d --name web -p 18080:80 bb httpd -f -p 80 -h /etc >/dev/null; for i in 1 2 3 4 5 6 7 8 9; do busybox wget -qO- http://127.0.0.1:18080/passwd && break; sleep 0.2; done; D rm -f web >/dev/null'
    check "container to container" 0 '^root:' bash -c 'D network create n1 >/dev/null; D run -d --name web --network n1 bb httpd -f -p 80 -h /etc >/dev/null; D run --rm --network n1 bb wget -qO- http://web/passwd; D rm -f web >/dev/null; D network rm n1 >/dev/null'
    check "network of another container" 0 '^same$' bash -c 'D run -d --name net1 bb sleep 1000 >/dev/null; a=$(D exec net1 readlink /proc/self/ns/net); b=$(D run --rm --network container:net1 bb readlink /proc/self/ns/net); [ "$a" = "$b" ] && echo same; D rm -f net1 >/dev/null'
}

printf '{"defaultAction":"SCMP_ACT_ALLOW","syscalls":[{"names":["mount"],"action":"SCMP_ACT_ERRNO","errnoRet":1}]}' \
    >no-mount.json

# with_runtime NAME PATH
with_runtime ()
{
    runtime=$1 results=$WORK/$1.results
    printf '{"runtimes":{"tested":{"path":"%s"}},"default-runtime":"tested","cgroup-parent":"/%s"}\n' \
        "$2" "${WORK##*/}" >daemon.json
    /usr/sbin/dockerd --config-file daemon.json --data-root "$WORK/data" --exec-root "$WORK/exec" \
        -p "$WORK/pid" -H "unix://$WORK/docker.sock" --storage-driver=overlay2 \
        --exec-opt native.cgroupdriver=cgroupfs >"$WORK/$1.log" 2>&1 &
    local daemon=$!
    for _ in {1..150}; do D version >/dev/null 2>&1 && break; sleep 0.1; done
    tar -C "$WORK/image" -c . | D import - bb >/dev/null 2>&1 || {
        echo "not ok 999 - $1: dockerd does not come up"
        sed 's/^/# /' "$WORK/$1.log" | tail -n 20
        failed=1
    }
    one_container
    a_life
    limits
    networks
    check "nothing is left" 0 '^0$' bash -c 'D ps -aq | wc -l'
    kill $daemon
    wait $daemon 2>/dev/null
}

with_runtime runc "$(command -v runc)"
with_runtime agentrt "$AGENTRT"
number=$((number + 1))
if diff runc.results agentrt.results >difference; then
    echo "ok $number - no check differs between runc and agentrt"
else
    failed=1
    echo "not ok $number - no check differs between runc and agentrt"
    sed 's/^/# /' difference
fi
echo "1..$number"
exit $failed
