#!/bin/bash
# docker-strict-checks.sh RUNTIME [ARGUMENT...], in the cage: starts dockerd with RUNTIME as its
# default runtime and looks from inside at what its containers get when nobody asks for anything,
# when somebody asks for everything, and at what is refused. TAP on standard output.
#   ONLY=regex  only some checks
set -u
# shellcheck source=tests/engines/dockerd.sh
. "$(dirname "$0")/dockerd.sh"
cd "$WORK" || exit 1
start_dockerd "$@" || exit 1
U 'D network inspect bridge >/dev/null 2>&1' || exit 1
refused="refused by rule '[a-z._]+' of policy 'strict'"

# ---- nothing asked for ----
check 'read-only root'          0 'Read-only file system' D run --rm bb sh -c 'touch /x; true'
check 'root has no capability'  0 '^0 1$' D run --rm bb sh -c \
    'echo $(id -u) $(grep -E "^Cap(Inh|Prm|Eff|Bnd|Amb):" /proc/self/status | grep -c -v 0000000000000000 |
         sed "s/^0$/1/")'
check 'no new privileges'       0 '^NoNewPrivs:.1$' D run --rm bb grep NoNewPrivs /proc/self/status
check 'seccomp'                 0 '^Seccomp:.2$' D run --rm bb grep Seccomp: /proc/self/status
check 'two filters'             0 '^Seccomp_filters:.2$' \
    D run --rm bb grep Seccomp_filters /proc/self/status
check 'only lo'                 0 '^lo 1$' \
    D run --rm bb sh -c 'echo $(ls /sys/class/net) $(ip -o link | wc -l)'
check 'no route'                0 '^1$' D run --rm bb sh -c 'cat /proc/net/route | wc -l'
check 'no way out'              0 'unreachable' \
    D run --rm bb sh -c 'nc -w 2 172.17.0.1 80; true'
check 'devices'                 0 '^fd full mqueue null ptmx pts random shm stderr stdin stdout tty urandom zero$' \
    D run --rm bb sh -c 'echo $(ls /dev)'
check 'memory'                  0 '^1073741824$' \
    D run --rm bb cat /sys/fs/cgroup/memory/memory.limit_in_bytes
check 'no swap'                 0 '^1073741824$' \
    D run --rm bb cat /sys/fs/cgroup/memory/memory.memsw.limit_in_bytes
check 'pids'                    0 '^128$' D run --rm bb cat /sys/fs/cgroup/pids/pids.max
check 'cpus'                    0 '^100000 100000$' D run --rm bb \
    sh -c 'cd /sys/fs/cgroup/cpu; echo $(cat cpu.cfs_quota_us cpu.cfs_period_us)'
check 'open files'              0 '^1024$' D run --rm bb sh -c 'ulimit -Hn'
check 'core'                    0 '^0$' D run --rm bb sh -c 'ulimit -Hc'
check '/tmp is small and noexec' 0 '^tmpfs.*nosuid,nodev,noexec.*size=65536k' \
    D run --rm bb grep ' /tmp ' /proc/mounts
check '/tmp is full at 64 MiB'  0 'No space left' \
    D run --rm bb sh -c 'dd if=/dev/zero of=/tmp/x bs=1M count=65; true'
check '/dev/shm'                0 'nosuid,nodev,noexec.*size=65536k.*nr_inodes=' \
    D run --rm bb grep ' /dev/shm ' /proc/mounts
check 'nosuid and nodev on all mounts' 0 '^0$' D run --rm bb sh -c \
    'grep -v -E "^[^ ]+ /dev(/pts|/console)? " /proc/mounts | grep -v -E "^[^ ]+ [^ ]+ devtmpfs |^tmpfs /proc/" |
         grep -c -v -E "^[^ ]+ [^ ]+ [^ ]+ [^ ]*nosuid,nodev"; true'
check 'masked paths'            0 '^0$' D run --rm bb sh -c 'wc -c </proc/keys'
check 'read-only paths'         0 'Read-only' \
    D run --rm bb sh -c 'echo 1 >/proc/sys/kernel/panic; true'
check 'no mount'                '*' 'not permitted|denied' D run --rm bb mount -t tmpfs x /mnt
check 'works as a shell'        0 '^42$' D run --rm bb sh -c 'echo 6 7 >/tmp/x; read a b </tmp/x; echo $((a * b))'

# ---- everything asked for: the same, byte for byte ----
everything='--privileged --network host --pid host --ipc host --uts host --cgroupns host'
everything+=' --security-opt seccomp=unconfined --security-opt apparmor=unconfined'
everything+=' --cap-add ALL --ulimit nofile=65536 --memory 8g --cpus 2 --pids-limit 4096'
everything+=' --oom-score-adj -500'
within='grep -E "^(Cap|NoNew)|^Seccomp:" /proc/self/status; ls /sys/class/net /dev; ulimit -Hn; echo $$
    cat /sys/fs/cgroup/memory/memory.limit_in_bytes /sys/fs/cgroup/pids/pids.max
    cat /sys/fs/cgroup/cpu/cpu.cfs_quota_us; cat /proc/self/oom_score_adj
    touch /x 2>&1; cut -d" " -f2- /proc/mounts | grep -v overlay | sort'
D run --rm bb sh -c "$within" >$run/plain 2>&1
# shellcheck disable=SC2086
D run --rm $everything bb sh -c "$within" >$run/greedy 2>&1
check 'everything asked for gives nothing more' 0 'CapEff' \
    bash -c 'diff "$1" "$2" && cat "$1"' - $run/plain $run/greedy
check 'privileged exec gives nothing more' 0 '^same$' bash -c '
    D run -d --name ee bb sleep 60 >/dev/null
    D exec ee grep -E "^(Cap|NoNew|Seccomp)" /proc/self/status >$run/inside
    D exec --privileged -u 0 ee grep -E "^(Cap|NoNew|Seccomp)" /proc/self/status >$run/inside+
    D rm -f ee >/dev/null; diff $run/inside $run/inside+ && grep -q "CapBnd:.0000000000000000" $run/inside &&
        echo same'
check 'lower limits stay'       0 '^33554432 7 50000$' D run --rm --memory 32m --pids-limit 7 --cpus 0.5 bb \
    sh -c 'cd /sys/fs/cgroup; echo $(cat memory/memory.limit_in_bytes pids/pids.max cpu/cpu.cfs_quota_us)'
check 'an update stays below the ceilings' 0 '^1073741824 1073741824 128 100000 16777216 9$' bash -c '
    D run -d --name up bb sleep 60 >/dev/null
    D update --memory 8g --memory-swap 8g --pids-limit 4096 --cpu-period 100000 --cpu-quota 400000 up >/dev/null
    cd="cd /sys/fs/cgroup; cat memory/memory.limit_in_bytes pids/pids.max"
    a=$(D exec up sh -c "cd /sys/fs/cgroup; cat memory/memory.limit_in_bytes memory/memory.memsw.limit_in_bytes \\
        pids/pids.max cpu/cpu.cfs_quota_us")
    D update --memory 16m --memory-swap 16m --pids-limit 9 up >/dev/null
    echo $a $(D exec up sh -c "$cd"); D rm -f up >/dev/null'
check 'what was tightened is told' 0 'limits.memory|memory' \
    bash -c 'D run -d --name tt --memory 8g bb sleep 60 >/dev/null
        root=$(find /run/t /run/docker -type d -path "*runtime*/moby" | head -n 1)
        "$1" --root "$root" state "$(D inspect -f "{{.Id}}" tt)"; D rm -f tt >/dev/null' - "$1"

# ---- refused: with mount, rule and policy ----
mkdir -p /run/host/project /run/host/.ssh && echo data >/run/host/project/file
ln -s $run/docker.sock /run/host/innocent
ln -s / /run/host/looks-fine
for source in / /etc /proc /sys /dev /root /boot /home "$run/docker.sock" /run/host/innocent "$run" \
    /run/host/looks-fine /proc/1/root /run/host/.ssh /run /var/lib; do
    check "refused: $source"    125 "$refused" D run --rm -v "$source:/mnt" bb true
done
check 'refused, read-only too'  125 "$refused" D run --rm -v /etc:/mnt:ro bb true
check 'refused, as a bind of it' 125 "$refused" bash -c 'mkdir -p /run/host/bound && mount --bind /etc /run/host/bound &&
    D run --rm -v /run/host/bound:/mnt bb true; rc=$?; umount /run/host/bound; exit $rc'
check 'refused: a sysctl of the host' 125 '' D run --rm --sysctl kernel.shm_rmid_forced=1 --ipc host bb true
check 'refused leaves nothing'  0 '^0$' bash -c 'D ps -aq | grep -c . || true'

# ---- what people do works ----
check 'a project folder'        0 '^data$' D run --rm -v /run/host/project:/work bb cat /work/file
check '... is writable'         0 '^new$' bash -c \
    'D run --rm -v /run/host/project:/work bb sh -c "echo new >/work/new"; cat /run/host/project/new'
check '... nosuid and nodev'    0 'nosuid,nodev' \
    D run --rm -v /run/host/project:/work bb grep ' /work ' /proc/mounts
check 'a volume'                0 '^kept$' bash -c \
    'D run --rm -v vol:/v bb sh -c "echo kept >/v/x"; D run --rm -v vol:/v bb cat /v/x'
check 'a tmpfs of the user'     0 'nosuid,nodev' \
    D run --rm --tmpfs /scratch:size=1m,exec bb grep ' /scratch ' /proc/mounts
check 'hosts, resolv.conf, hostname' 0 '^box 3$' D run --rm --hostname box bb \
    sh -c 'echo $(cat /etc/hostname) $(ls /etc/hosts /etc/resolv.conf /etc/hostname | wc -l)'
check 'a published port'        0 '^172[0-9.]+ lo$' bash -c '
    D run -d --name pp -p 127.0.0.1:18080:80 bb sleep 60 >/dev/null &&
    echo $(D inspect -f "{{.NetworkSettings.IPAddress}}" pp) $(D exec pp ls /sys/class/net)'
check '... stop, start, remove' 0 '^lo$' bash -c '
    D stop -t 0 pp >/dev/null && D start pp >/dev/null && echo $(D exec pp ls /sys/class/net) && D rm -f pp >/dev/null'
sh_   'standard input'          0 '^in$' 'echo in | D run --rm -i bb cat'
pty   'a terminal'              0 '/dev/pts/0' 'D run --rm -it bb tty'
check 'a user'                  0 '^1000$' D run --rm -u 1000 bb id -u
sh_   'OOM kill'                0 '137 true' \
    "D run --name oom --memory 32m bb tail -c 200m /dev/zero
     U 'D inspect -f \"{{.State.ExitCode}} {{.State.OOMKilled}}\" oom | tee $run/oom | grep -q true'
     cat $run/oom; D rm oom >/dev/null"

# ---- a policy that anybody could write is none ----
check 'a policy file that others can write' 125 'policy.json' bash -c '
    mkdir -p /etc/agentrt && echo "{\"extend\": \"oci\"}" >/etc/agentrt/policy.json &&
    chmod 666 /etc/agentrt/policy.json && D run --rm bb true; rc=$?; rm -r /etc/agentrt; exit $rc'
stop_dockerd
