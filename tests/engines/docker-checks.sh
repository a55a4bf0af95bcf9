#!/bin/bash
# docker-checks.sh RUNTIME [ARGUMENT...], in the cage: starts dockerd with RUNTIME as its default
# runtime, uses it as people do, stops it. TAP on standard output; one line "NAME|STATUS|OUTPUT" for
# each check in RESULTS, with what differs from run to run (ids, times, addresses) taken out.
#   ONLY=regex  only some checks
set -u
# shellcheck source=tests/engines/dockerd.sh
. "$(dirname "$0")/dockerd.sh"
cd "$WORK" || exit 1
start_dockerd "$@" || exit 1

N='--network none'
echo '{"defaultAction": "SCMP_ACT_ALLOW", "syscalls": [{"names": ["mount"],
    "action": "SCMP_ACT_ERRNO", "errnoRet": 13}]}' >$run/no-mount.json

# ---- run ----
check 'run'                 0 '^hello$'      D run --rm $N bb echo hello
check 'exit code 7'         7 ''             D run --rm $N bb sh -c 'exit 7'
check 'exit code 137'     137 ''             D run --rm $N bb sh -c 'kill -9 $$; sleep 1; exit 137'
sh_   'standard input'      0 '^in$'         "echo in | D run --rm -i $N bb cat"
sh_   'standard error'      0 '^E$' \
    "D run --rm $N bb sh -c 'echo O; echo E >&2' 2>&1 >/dev/null"
sh_   'a megabyte through'  0 '^1000000$' \
    "head -c 1000000 /dev/zero | D run --rm -i $N bb cat | wc -c"
check 'no such command'   127 'exec: "nonexist": executable file not found' \
    D run --rm $N bb nonexist
check 'no such path'      127 'no such file or directory' D run --rm $N bb /non/exist
check 'not executable'    126 'permission denied'         D run --rm $N bb /etc/passwd
check 'a folder'          126 '(permission denied|is a directory)' D run --rm $N bb /etc
pty   'terminal'            0 '/dev/pts/0'   "D run --rm -it $N bb tty"
pty   'terminal exit code'  5 ''             "D run --rm -it $N bb sh -c \"exit 5\""
sh_   'terminal, detached'  0 '/dev/pts/0' \
    "c=\$(D run -dt $N bb tty); D wait \$c; D logs \$c; D rm \$c >/dev/null"
check 'user by number'      0 '^1000:1000$'  D run --rm $N -u 1000 bb sh -c 'echo $(id -u):$(id -g)'
check 'user by name'        0 '^1000:1000$'  D run --rm $N -u user bb sh -c 'echo $(id -u):$(id -g)'
check 'user and groups'     0 '^6 77$'         D run --rm $N -u 5:6 --group-add 77 bb id -G
check 'working directory'   0 '^/srv$'       D run --rm $N -w /srv bb pwd
check 'made working dir'    0 '^/new/dir$'   D run --rm $N -w /new/dir bb pwd
check 'environment'         0 '^1 /root$'    D run --rm $N -e A=1 bb sh -c 'echo $A $HOME'
check 'hostname'            0 '^box$'        D run --rm $N --hostname box bb hostname
check 'hosts file'          0 '^1.2.3.4.*a$' \
    D run --rm $N --hostname box --add-host a:1.2.3.4 bb cat /etc/hosts
check 'init'                0 'docker-init|tini|/sbin' D run --rm $N --init bb cat /proc/1/cmdline
check 'pid namespace'       0 '^1$'          D run --rm $N bb sh -c 'echo $$'
check 'host ipc and uts'    0 ''             D run --rm $N --ipc host --uts host bb true
check 'host pid namespace'  0 '^[0-9]+$' \
    D run --rm $N --pid host bb sh -c '[ $$ -gt 1 ] && echo 2'

# ---- file systems ----
mkdir -p $run/volume && echo data >$run/volume/file
check 'bind mount'          0 '^data$'       D run --rm $N -v $run/volume:/mnt bb cat /mnt/file
check 'bind mount, written' 0 '' \
    D run --rm $N -v $run/volume:/mnt bb sh -c 'echo new >/mnt/new'
check '... as seen outside' 0 '^new$'        cat $run/volume/new
check 'read-only bind'      0 'Read-only' \
    D run --rm $N -v $run/volume:/mnt:ro bb sh -c 'touch /mnt/x; true'
check 'named volume'        0 '^kept$' \
    bash -c "D run --rm $N -v vol:/mnt bb sh -c 'echo kept >/mnt/x'
             D run --rm $N -v vol:/mnt bb cat /mnt/x"
check 'tmpfs'               0 'tmpfs.*noexec' \
    D run --rm $N --tmpfs /srv:size=1m bb grep ' /srv ' /proc/mounts
check 'tmpfs for any user'  0 '^1777$' \
    D run --rm $N --tmpfs /scratch -u 1000 bb stat -c %a /scratch
check 'read-only root'      0 'Read-only' \
    D run --rm $N --read-only --tmpfs /tmp bb sh -c 'touch /tmp/a && touch /x; true'
check 'shm size'            0 '1024 '        D run --rm $N --shm-size 1m bb df -k /dev/shm
check 'masked paths'        0 '^0$'          D run --rm $N bb sh -c 'wc -c </proc/keys'
check 'read-only paths'     0 'Read-only' \
    D run --rm $N bb sh -c 'echo 1 >/proc/sys/kernel/panic; true'
check 'mount propagation'   0 '^data$' \
    D run --rm $N -v $run/volume:/mnt:rslave bb cat /mnt/file

# ---- privileges ----
status='Cap|NoNew|Seccomp:'
check 'default privileges'  0 'CapEff'       D run --rm $N bb grep -E "$status" /proc/self/status
check 'cap-drop all'        0 'CapEff:.*0000000000000000' \
    D run --rm $N --cap-drop ALL bb grep -E "$status" /proc/self/status
check 'cap-add'             0 'CapEff' \
    D run --rm $N --cap-add NET_ADMIN bb grep -E "$status" /proc/self/status
check 'capabilities of a user' 0 'CapEff:.*0000000000000000' \
    D run --rm $N -u 1000 bb grep -E "$status" /proc/self/status
check 'no-new-privileges'   0 'NoNewPrivs:.1' \
    D run --rm $N --security-opt no-new-privileges bb grep -E "$status" /proc/self/status
check 'seccomp unconfined'  0 'Seccomp:.0' \
    D run --rm $N --security-opt seccomp=unconfined bb grep -E "$status" /proc/self/status
check 'own seccomp profile' '*' 'denied'  \
    D run --rm $N --cap-add SYS_ADMIN --security-opt seccomp=$run/no-mount.json bb \
        mount -t tmpfs x /mnt
check 'seccomp profile'     0 'not permitted' \
    D run --rm $N bb sh -c 'exec 2>&1; unshare -m true || mount -t tmpfs x /mnt; true'
check 'privileged'          0 'CapEff:.*f{6}' \
    D run --rm $N --privileged bb sh -c 'ls /dev/loop0; grep CapEff /proc/self/status'
check 'device'              0 '^opened$' \
    D run --rm $N --device /dev/fuse bb \
        sh -c 'stat -c "%F %a %t:%T" /dev/fuse; exec 3<>/dev/fuse && echo opened'
check 'device, denied'    '*' 'not permitted' \
    D run --rm $N bb sh -c 'mknod /dev/x c 10 229; exec 3<>/dev/x; true' 
check 'sysctl'              0 '^5$' \
    D run --rm $N --sysctl net.ipv4.ip_default_ttl=5 bb cat /proc/sys/net/ipv4/ip_default_ttl
check 'sysctl of the host' 125 'not'          D run --rm $N --sysctl kernel.core_pattern=x bb true
check 'ulimit'              0 '^77$' \
    D run --rm $N --ulimit nofile=77:77 bb sh -c 'ulimit -n'
check 'oom score'           0 '^500$' \
    D run --rm $N --oom-score-adj 500 bb cat /proc/self/oom_score_adj

# ---- limits ----
check 'memory limit'        0 '^67108864$' \
    D run --rm $N --memory 64m bb cat /sys/fs/cgroup/memory/memory.limit_in_bytes
sh_   'OOM kill'            0 '137 true' \
    "D run --name oom $N --memory 32m bb tail -c 200m /dev/zero
     U 'D inspect -f \"{{.State.ExitCode}} {{.State.OOMKilled}}\" oom | tee $run/oom | grep -q true'
     cat $run/oom; D rm oom >/dev/null"
check 'pids limit'        '*' "can't fork" \
    D run --rm $N --pids-limit 8 bb sh -c 'for i in 1 2 3 4 5 6 7 8 9; do sleep 1 & done; wait'
check 'cpus'                0 '^50000 100000$' \
    D run --rm $N --cpus 0.5 bb \
        sh -c 'cd /sys/fs/cgroup/cpu; echo $(cat cpu.cfs_quota_us cpu.cfs_period_us)'
check 'cpu shares'          0 '^512$' \
    D run --rm $N --cpu-shares 512 bb cat /sys/fs/cgroup/cpu/cpu.shares
check 'cpuset'              0 '^0$' \
    D run --rm $N --cpuset-cpus 0 bb cat /sys/fs/cgroup/cpuset/cpuset.cpus

# ---- a life: exec, logs, top, inspect, stop, restart, kill, rm ----
# lives N: c1 has come to its loop N times.
started='U "[ \$(D logs c1 | wc -l) = \$lives ]"'
sh_   'start detached'      0 '^running$' \
    "D run -d --name c1 $N -e FROM=run bb sh -c \
         'trap \"exit 9\" TERM; echo started; while :; do sleep 0.1; done' >/dev/null
     lives=1; $started; D inspect -f '{{.State.Status}}' c1"
check 'logs'                0 '^started$'    D logs c1
check 'exec'                0 '^e run$'      D exec c1 sh -c 'echo e $FROM'
check 'exec exit code'      5 ''             D exec c1 sh -c 'exit 5'
sh_   'exec input'          0 '^in$'         'echo in | D exec -i c1 cat'
pty   'exec terminal'       0 '/dev/pts/'    'D exec -it c1 tty'
check 'exec user, dir, env' 0 '^1000:/srv:y$' \
    D exec -u 1000 -w /srv -e Y=y c1 sh -c 'echo $(id -u):$PWD:$Y'
check 'exec privileges'     0 'CapEff'       D exec c1 grep -E "$status" /proc/self/status
check 'exec, no command' '12[67]' 'executable file not found|no such file' D exec c1 nonexist
check 'exec, no program'  126 'permission denied' D exec c1 /etc/passwd
sh_   'exec detached, top'  0 '^sleep 1234$' \
    "D exec -d c1 sleep 1234; U 'D top c1 -o pid,args | grep -o \"sleep 1234\"'"
sh_   'top'                 0 'COMMAND|CMD'  "D top c1 | head -n1 | tr -s ' '"
check 'inspect'             0 '^true 0 false under-test$' D inspect c1 -f \
    '{{.State.Running}} {{.State.ExitCode}} {{.State.OOMKilled}} {{.HostConfig.Runtime}}'
sh_   'stats'               0 '^c1$'         "D stats --no-stream --format '{{.Name}}' c1"
sh_   'copy out and in'     0 '^root' \
    "D cp c1:/etc/passwd $run/p; D cp $run/p c1:/srv/p; D exec c1 head -n1 /srv/p"
sh_   'pause'               0 '^paused$'     "D pause c1 >/dev/null; D inspect -f '{{.State.Status}}' c1"
check 'exec in paused'      1 'is paused'    D exec c1 true
sh_   'unpause'             0 '^running in$' \
    "D unpause c1 >/dev/null; echo \$(D inspect -f '{{.State.Status}}' c1; D exec c1 echo in)"
sh_   'rm of a paused one'  0 '^cp$' \
    "D run -d --name cp $N bb sleep 1000 >/dev/null; D pause cp >/dev/null; D rm -f cp"
limits='cd /sys/fs/cgroup; echo \$(cat memory/memory.limit_in_bytes memory/memory.memsw.limit_in_bytes'
limits+=' pids/pids.max cpu/cpu.shares cpu/cpu.cfs_quota_us cpuset/cpuset.cpus)'
sh_   'update'              0 '^67108864 134217728 40 512 50000 0$' \
    "D update --memory 64m --memory-swap 128m --pids-limit 40 --cpu-shares 512 --cpu-quota 50000 \
         --cpuset-cpus 0 c1 >/dev/null; D exec c1 sh -c \"$limits\""
sh_   'update of one thing' 0 '^33554432 134217728 40 512 50000 0$' \
    "D update --memory 32m c1 >/dev/null; D exec c1 sh -c \"$limits\""
check 'device after update' 0 '^0$'          D exec c1 sh -c 'head -c 4 /dev/zero | wc -c >/dev/null; echo $?'
check 'ps'                  0 'c1'           D ps --format '{{.Names}} {{.Image}}'
check 'stop'                0 '^c1$'         D stop -t 20 c1
check 'stop exit code'      0 '^9 exited$'   D inspect -f '{{.State.ExitCode}} {{.State.Status}}' c1
check 'exec in stopped'     1 'is not running' D exec c1 true
sh_   'start again'         0 '^running$' \
    "D start c1 >/dev/null; D inspect -f '{{.State.Status}}' c1"
sh_   'restart'             0 '^running$' \
    "D restart -t 20 c1 >/dev/null; D inspect -f '{{.State.Status}}' c1"
check 'logs of three lives' 0 '^started$'    D logs c1
sh_   'kill'                0 '^137$'        'D kill c1 >/dev/null; D wait c1'
sh_   'kill with a signal'  0 '^9$' \
    "D start c1 >/dev/null; lives=4; $started; D kill -s TERM c1 >/dev/null; D wait c1"
sh_   'rm of a running one' 0 '^c1$'         'D start c1 >/dev/null; D rm -f c1'
sh_   'stop by force'       0 '^137$' \
    "D run -d --name c2 $N bb sh -c 'trap : TERM; while :; do sleep 0.1; done' >/dev/null
     D stop -t 1 c2 >/dev/null; D inspect -f '{{.State.ExitCode}}' c2; D rm c2 >/dev/null"
sh_   'restart policy'      0 '^2$' \
    "D run -d --name c3 $N --restart on-failure:2 bb false >/dev/null
     U '[ \$(D inspect -f {{.RestartCount}} c3) = 2 ]'
     D inspect -f '{{.RestartCount}}' c3; D rm -f c3 >/dev/null"
sh_   'attach'              0 'tick' \
    "D run -d --name c4 $N bb sh -c 'while :; do echo tick; sleep 0.1; done' >/dev/null
     D attach --no-stdin c4 | head -n1; D rm -f c4 >/dev/null"
sh_   'events'              0 'die' \
    "D run --rm $N bb true
     D events --since 5m --until 0s --format '{{.Status}}' | grep -x die | head -n1"

# ---- networks ----
check 'none: only lo'       0 '^lo$'         D run --rm $N bb ls /sys/class/net
check 'bridge'              0 'inet 172'     D run --rm bb ip addr show eth0
check 'host network'        0 'docker0'      D run --rm --network host bb ls /sys/class/net
fetch='for i in $(seq 99); do wget -qO- $0 2>/dev/null && break; sleep 0.1; done; true'
sh_   'published port'      0 '^root:' \
    "D run -d --name web -p 18080:80 bb httpd -f -p 80 -h /etc >/dev/null
     U 'busybox wget -qO- http://127.0.0.1:18080/passwd 2>/dev/null'
     D rm -f web >/dev/null"
sh_   'container to container by name' 0 '^root:' \
    "D network create net1 >/dev/null
     D run -d --name web --network net1 bb httpd -f -p 80 -h /etc >/dev/null
     D run --rm --network net1 bb sh -c '$fetch' http://web/passwd
     D rm -f web >/dev/null; D network rm net1 >/dev/null"
sh_   'a shared network'    0 '^root:' \
    "D run -d --name web bb httpd -f -p 80 -h /etc >/dev/null
     D run --rm --network container:web bb sh -c '$fetch' http://127.0.0.1/passwd
     D rm -f web >/dev/null"

# ---- many ----
sh_   'ten at once'         0 '^10$' \
    "for i in 1 2 3 4 5 6 7 8 9 10; do D run --rm $N bb echo x & done | grep -c x; wait"
check 'nothing is left'     0 '^0$'          bash -c 'D ps -aq | wc -l'
# containerd's shims take a moment to end; the runtime has removed its cgroups long before that.
check 'no cgroup is left'   0 '^0$' \
    bash -c "find /sys/fs/cgroup -mindepth 3 -type d -path '*/$MARK/*' 2>/dev/null | wc -l"
check 'no interface is left' 0 '^docker0: lo: $' \
    bash -c 'ip -o link | cut -d " " -f 2 | sort | tr "\n" " "'
check 'no mount is left'    0 '^0$' \
    bash -c 'grep -cE " (/run/t/exec|$WORK)/.*(rootfs|merged) " /proc/self/mountinfo || true'

stop_dockerd
