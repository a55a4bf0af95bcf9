#!/bin/bash
# cri-strict-checks.sh RUNTIME [ARGUMENT...], in the cage: starts containerd with RUNTIME for its
# pods and looks from inside at what their containers get when nobody asks for anything, when
# somebody asks for everything, and at what is refused. TAP on standard output.
#   ONLY=regex  only some checks
set -u
# shellcheck source=tests/engines/lib.sh
. "$(dirname "$0")/lib.sh"
cd "$WORK" || exit 1
inner_start
runtime=$(wrapped "$@")

# ---- containerd, as Debian sets it up, with folders of the cage's own ----

mount -t tmpfs -o mode=755 lib /var/lib
mkdir -p "$WORK/data" /var/lib/containerd $run/cni $run/logs
mount --bind "$WORK/data" /var/lib/containerd
cat >$run/cni/10-bridge.conflist <<'END'
{ "cniVersion": "0.4.0", "name": "pods", "plugins": [ { "type": "bridge", "bridge": "pods0",
  "isGateway": true, "ipam": { "type": "host-local", "ranges": [[ { "subnet": "10.88.77.0/24" } ]],
  "routes": [ { "dst": "0.0.0.0/0" } ] } } ] }
END
# restrict_oom_score_adj: where root has no CAP_SYS_RESOURCE the sandbox's -998 is not allowed.
cat >$run/config.toml <<END
version = 2
[plugins."io.containerd.internal.v1.opt"]
  path = "$run/opt"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "docker.io/library/bb:latest"
  restrict_oom_score_adj = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = "$run/cni"
  [plugins."io.containerd.grpc.v1.cri".containerd]
    default_runtime_name = "agentrt"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.agentrt]
      runtime_type = "io.containerd.runc.v2"
      [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.agentrt.options]
        BinaryName = "$runtime"
END
export CRI_SOCKET=/run/containerd/containerd.sock engines
containerd --config $run/config.toml >"$WORK/containerd.log" 2>&1 &
daemon=$!

# save_image: the root file system as an image whose command sleeps, as `docker save` writes it.
save_image ()
{
    mkdir $run/save
    tar -C $run/image -c . >$run/save/layer.tar
    jq -n --arg layer "sha256:$(sha256sum <$run/save/layer.tar | cut -d' ' -f1)" '
        { architecture: "amd64", os: "linux", config: { Cmd: ["sleep", "100000"], Env: ["PATH=/bin"] },
          rootfs: { type: "layers", diff_ids: [$layer] } }' >$run/save/config.json
    jq -n '[{ Config: "config.json", RepoTags: ["bb:latest"], Layers: ["layer.tar"] }]' \
        >$run/save/manifest.json
    tar -C $run/save -c manifest.json config.json layer.tar
}

# ---- the client ----

# K ...: cri.py.
K ()
{
    /usr/bin/python3 "$engines/cri.py" "$@"
}

# pod NAME [JQ]: runs a pod whose config the filter JQ changes.
pod ()
{
    jq -nc --arg name "$1" --arg run $run --arg parent "/$MARK" '
        { metadata: { name: $name, uid: $name, namespace: "test" }, log_directory: "\($run)/logs",
          linux: { cgroup_parent: $parent,
                   security_context: { namespace_options: { pid: 1 } } } }'"${2:+ | $2}" >"$run/$1.pod"
    K RunPodSandbox "{\"config\": $(<"$run/$1.pod")}" | jq -r .pod_sandbox_id >"$run/$1.id"
}

# in_pod once|start POD JQ COMMAND...: a container of the POD.
in_pod ()
{
    local how=$1 pod=$2 change=$3

    shift 3
    K "$how" "$(<"$run/$pod.id")" "$(<"$run/$pod.pod")" "$(jq -nc --arg name "c$BASHPID" '
        { metadata: { name: $name }, image: { image: "bb" }, command: $ARGS.positional,
          log_path: "\($name).log",
          linux: { security_context: { namespace_options: { pid: 1 } } } } | '"$change" --args -- "$@")"
}

# remove POD
remove ()
{
    K StopPodSandbox "{\"pod_sandbox_id\": \"$(<"$run/$1.id")\"}" >/dev/null &&
        K RemovePodSandbox "{\"pod_sandbox_id\": \"$(<"$run/$1.id")\"}" >/dev/null
}

# exec_in CONTAINER COMMAND...: what it prints.
exec_in ()
{
    local id=$1

    shift
    K ExecSync "$(jq -nc --arg id "$id" '{ container_id: $id, cmd: $ARGS.positional, timeout: 20 }' \
        --args -- "$@")" | jq -r '(.stdout, .stderr | @base64d), "status \(.exit_code)"'
}

# traces: how many state folders, cgroups, network namespaces and mounts of containers there are.
traces ()
{
    echo "$(find /run/containerd/runc -mindepth 2 -maxdepth 2 | wc -l)" \
        "$(find /sys/fs/cgroup -path "*/$MARK/*" -type d | wc -l)" \
        "$(find /run/netns -type f 2>/dev/null | wc -l)" \
        "$(grep -c /run/containerd/ /proc/self/mountinfo)"
}
client=(K in_pod exec_in traces remove)

U 'ctr version >/dev/null 2>&1' && save_image | ctr -n k8s.io images import - >/dev/null &&
    U 'K Status | jq -e "[.status.conditions[] | .status] == [true, true]" >/dev/null 2>&1' ||
    { tail -n 30 "$WORK/containerd.log" >&2; exit 1; }
echo "# containerd $(ctr version | sed -n 's/.*Version: *//p' | tail -n 1)"

# ---- nothing asked for ----

status='grep -E "^(Cap(Inh|Prm|Eff|Bnd|Amb)|NoNewPrivs|Seccomp):" /proc/self/status'
facts=$status'
    echo id $(id -u); echo links $(ls /sys/class/net) $(ip -o link | wc -l)
    echo routes $(wc -l </proc/net/route); echo devices $(ls /dev); echo keys $(wc -c </proc/keys)
    echo files $(ulimit -Hn); echo core $(ulimit -Hc); echo oom $(cat /proc/self/oom_score_adj)
    cd /sys/fs/cgroup
    echo memory $(cat memory/memory.limit_in_bytes memory/memory.memsw.limit_in_bytes)
    echo pids $(cat pids/pids.max); echo cpu $(cat cpu/cpu.cfs_quota_us cpu/cpu.cfs_period_us)
    touch /x 2>&1; echo 1 2>&1 >/proc/sys/kernel/panic; mount -t tmpfs x /mnt 2>&1
    sed "s/^[^ ]* /mount /" /proc/mounts | grep -v "^mount / " | sort'
processes='ls /proc | grep -c "^[0-9]"'

# says NAME ERE: a line of what the first container has seen.
says ()
{
    check "$1" 0 "$2" cat $run/plain
}

pod one
in_pod once one . sh -c "$facts" >$run/plain 2>&1
says  'read-only root'          '^touch: /x: Read-only file system$'
says  'runs as root'            '^id 0$'
check '... without a capability' 0 '^5$' grep -cE '^Cap...:.0000000000000000$' $run/plain
says  'no new privileges'       '^NoNewPrivs:.1$'
says  'seccomp'                 '^Seccomp:.2$'
says  'only lo'                 '^links lo 1$'
says  'no route'                '^routes 1$'
says  'devices' '^devices fd full mqueue null ptmx pts random shm stderr stdin stdout tty urandom zero$'
says  'memory, and no swap'     '^memory 1073741824 1073741824$'
says  'pids'                    '^pids 128$'
says  'cpus'                    '^cpu 100000 100000$'
says  'open files'              '^files 1024$'
says  'core'                    '^core 0$'
says  '/tmp is small and noexec' '^mount /tmp tmpfs .*nosuid,nodev,noexec.*size=65536k,nr_inodes='
says  'masked paths'            '^keys 0$'
says  'read-only paths'         'panic: Read-only file system$'
says  'no mount'                '^mount: .*(not permitted|denied)'
check 'nosuid and nodev on all mounts' 0 '^0$' bash -c '
    grep "^mount /" $run/plain | grep -vE "^mount (/dev|/dev/pts|/proc/[a-z._-]+|/sys/[a-z/]+) " |
        grep -cvE "nosuid,nodev"; true'
check 'the pod has the address that CNI gave' 0 '^10\.88\.77\.' bash -c '
    K PodSandboxStatus "{\"pod_sandbox_id\": \"$(<$run/one.id)\"}" | jq -r .status.network.ip'
check 'no way out'              0 'unreachable' \
    in_pod once one . sh -c 'nc -w 2 10.88.77.1 80; true'

# ---- a pod ----

server=$(in_pod start one . httpd -f -p 127.0.0.1:8080 -h /etc)
check 'the containers of a pod share lo' 0 '^root:' in_pod once one . sh -c '
    for i in 1 2 3 4 5 6 7 8 9; do
        wget -qO- http://127.0.0.1:8080/passwd && break; usleep 100000; done'
check '... and nothing else'    0 '^lo 1$' \
    exec_in "$server" sh -c 'echo $(ls /sys/class/net) $(ip -o link | wc -l)'
pod two
check "another pod's lo is its own" 0 'refused|^0$' \
    in_pod once two . sh -c 'wget -qO- http://127.0.0.1:8080/passwd; true'
check 'exec'                    0 '^out$' exec_in "$server" echo out
check 'exec: exit code, both streams' 0 '^o e status 5$' \
    bash -c 'echo $(exec_in "$1" sh -c "echo o; echo e >&2; exit 5")' - "$server"
check 'exec has no capability'  0 '^5$' \
    exec_in "$server" sh -c 'grep -cE "^Cap...:.0000000000000000$" /proc/self/status'
pty   'exec on a terminal'      0 '/dev/pts/0' \
    "ctr -n k8s.io task exec -t --exec-id t1 $server tty"
check 'a terminal'              0 '/dev/pts/0' in_pod once one '.tty = true' tty
check 'exit code'               7 '' in_pod once one . sh -c 'exit 7'
check 'both streams are logged' 0 '^o e $' \
    bash -c 'in_pod once one . sh -c "echo o; echo e >&2" | sort -r | tr "\n" " "'
check 'no such command'       125 'executable file not found' in_pod once one . nonexist
check 'a user' 0 '^1000$' \
    in_pod once one '.linux.security_context.run_as_user = { value: 1000 }' id -u
check 'lower limits stay'       0 '^33554432 50000$' in_pod once one '.linux.resources =
    { memory_limit_in_bytes: 33554432, cpu_period: 100000, cpu_quota: 50000 }' \
    sh -c 'cd /sys/fs/cgroup; echo $(cat memory/memory.limit_in_bytes cpu/cpu.cfs_quota_us)'
check 'higher ones do not'      0 '^1073741824 100000$' in_pod once one '.linux.resources =
    { memory_limit_in_bytes: 8589934592, cpu_period: 100000, cpu_quota: 200000 }' \
    sh -c 'cd /sys/fs/cgroup; echo $(cat memory/memory.limit_in_bytes cpu/cpu.cfs_quota_us)'
waiter=$(in_pod start one . sh -c 'trap "exit 9" TERM; echo up; while :; do sleep 0.1; done')
check 'stop'                    0 '^9$' bash -c '
    U "grep -qs up \$(ls -t $run/logs/*.log | head -n 1)"
    K StopContainer "{\"container_id\": \"$1\", \"timeout\": 20}" >/dev/null &&
        K ContainerStatus "{\"container_id\": \"$1\"}" | jq .status.exit_code' - "$waiter"

# ---- everything asked for: the same, byte for byte ----

pod greedy '.linux.security_context = { privileged: true,
    namespace_options: { network: 2, pid: 2, ipc: 2 } }'
all='.linux.security_context = { privileged: true, capabilities: { add_capabilities: ["ALL"] },
    namespace_options: { network: 2, pid: 2, ipc: 2 } } |
    .linux.resources = { memory_limit_in_bytes: 8589934592, cpu_period: 100000, cpu_quota: 200000 }'
in_pod once greedy "$all" sh -c "$facts" >$run/greedy 2>&1
# In place of the host's /dev/shm stands an own one, with a cap on inodes as well.
sed -i '/\/dev\/shm/s/,nr_inodes=4096//' $run/greedy
check 'everything asked for gives nothing more' 0 'CapEff' \
    bash -c 'diff $run/plain $run/greedy && cat $run/plain'
check 'processes: those of the pod' 0 '^[1-9]$' in_pod once greedy "$all" sh -c "$processes"
greedy=$(in_pod start greedy "$all" sleep 100)
check 'exec in a privileged container gives nothing more' 0 '^same$' bash -c '
    exec_in "$1" sh -c "$3" >$run/inside+; exec_in "$2" sh -c "$3" >$run/inside
    diff $run/inside $run/inside+ && grep -q "CapBnd:.0000000000000000" $run/inside &&
        echo same' - "$greedy" "$server" "$status"

# ---- refused: with mount, rule and policy ----

refused="/mounts\[[0-9]+\].* on /mnt: .*refused by rule '[a-z._]+' of policy 'strict'"
volume=/var/lib/kubelet/pods/one/volumes/kubernetes.io~empty-dir/scratch
mkdir -p $volume /run/host/.ssh /run/host/project
echo data >/run/host/project/file
ln -s /run/containerd/containerd.sock /run/host/innocent
/usr/bin/python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind("/run/docker.sock")'
for source in / /etc /proc /root /run /run/docker.sock /var/run/docker.sock /run/host/innocent \
    /run/containerd/containerd.sock /run/containerd /var/lib/containerd /var/lib/kubelet \
    /run/host/.ssh; do
    check "refused: $source"    125 "$refused" in_pod once one \
        ".mounts = [{ container_path: \"/mnt\", host_path: \"$source\", readonly: true }]" true
done
check 'refused, privileged, too' 125 "$refused" in_pod once greedy \
    "$all"' | .mounts = [{ container_path: "/mnt", host_path: "/" }]' true
check 'a project folder'        0 '^data$' in_pod once one \
    '.mounts = [{ container_path: "/mnt", host_path: "/run/host/project" }]' cat /mnt/file
check 'a volume of the pod'     0 '^kept$' in_pod once one \
    ".mounts = [{ container_path: \"/mnt\", host_path: \"$volume\" }]" \
    sh -c 'echo kept >/mnt/x; cat /mnt/x'
check '... nosuid and nodev'    0 'nosuid,nodev' in_pod once one \
    ".mounts = [{ container_path: \"/mnt\", host_path: \"$volume\" }]" grep ' /mnt ' /proc/mounts

# ---- the end ----

check 'what is there of a pod'  0 '^[1-9][0-9]* [1-9][0-9]* [1-9][0-9]* [1-9][0-9]*$' traces
for name in one two greedy; do
    check "remove $name"        0 '' remove $name
done
check 'and nothing is left of it' 0 '^0 0 0 0$' traces
kill $daemon
wait $daemon 2>/dev/null
inner_end
