# shellcheck shell=bash
# A private dockerd for the scripts that run in a cage.
# shellcheck source=tests/engines/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# The Debian client, whatever else is in PATH.
docker=/usr/bin/docker
[ -x $docker ] || docker=$(command -v docker)
export docker
client=(D)

D ()
{
    "$docker" "$@"
}

# start_dockerd RUNTIME [ARGUMENT...]: dockerd on a private socket, with a busybox image "bb".
start_dockerd ()
{
    local runtime=$1 i

    shift
    inner_start
    mkdir -p "$WORK/data"
    export DOCKER_HOST=unix://$run/docker.sock HOME=$run
    jq -n --arg path "$runtime" --arg mark "/$MARK" '{ "default-runtime": "under-test",
        runtimes: { "under-test": { path: $path, runtimeArgs: $ARGS.positional } },
        "cgroup-parent": $mark }' --args -- "$@" >$run/daemon.json
    dockerd --config-file $run/daemon.json --data-root "$WORK/data" --exec-root $run/exec \
        --pidfile $run/docker.pid -H "$DOCKER_HOST" --storage-driver overlay2 \
        --exec-opt native.cgroupdriver=cgroupfs >"$WORK/dockerd.log" 2>&1 &
    daemon=$!
    for i in {1..600}; do
        D version >/dev/null 2>&1 && break
        kill -0 $daemon 2>/dev/null || break
        sleep 0.1
    done
    D version --format '# docker {{.Client.Version}} {{.Server.Version}}' ||
        { tail -n 30 "$WORK/dockerd.log" >&2; return 1; }
    tar -C $run/image -c . | D import - bb >/dev/null
}

# stop_dockerd: and the plan.
stop_dockerd ()
{
    kill $daemon
    wait $daemon 2>/dev/null
    inner_end
}
