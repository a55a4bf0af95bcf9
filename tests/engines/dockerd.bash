# Sourced by the checks, in the cage: dockerd with RUNTIME as its default runtime, an image `bb`, and
# what a check is. Works in the folders $run and $WORK. TAP on standard output; one line
# "NAME|STATUS|OUTPUT" for each check in RESULTS, with what differs from run to run (ids, times,
# addresses) taken out.
# shellcheck shell=bash
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cd "$WORK" || exit 1
mkdir -p $run "$WORK/data"
: >"$RESULTS"
n=0

export DOCKER_HOST=unix://$run/docker.sock HOME=$run
# The Debian client, whatever else is in PATH.
docker=/usr/bin/docker
[ -x $docker ] || docker=$(command -v docker)

D ()
{
    "$docker" "$@"
}

# normal: takes out what no two runs share, the client's noise, and two differences without a
# consequence: newer runc, too, says that a folder is one; agentrt gives a tmpfs its mode at mount.
normal ()
{
    sed -E -e 's/\x1b\[[0-9;]*[a-zA-Z]//g' -e 's/\r//g' \
        -e 's/[0-9a-f]{64}/ID/g' -e 's/\b[0-9a-f]{12}\b/id/g' \
        -e 's/[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z?/TIME/g' \
        -e '/context canceled/d' -e 's/.*(exec: )/\1/' -e 's/: unknown\.?$//' \
        -e 's/is a directory: (permission denied)/\1/' -e 's/,mode=755//' |
        tr '\n' ' ' | head -c 1500
}

# check NAME STATUS ERE COMMAND...: STATUS is a glob; the output (both streams) must match.
check ()
{
    local name=$1 want=$2 ere=$3 out status

    shift 3
    [[ $name =~ ${ONLY:-.} ]] || return 0
    n=$((n + 1))
    out=$(export -f D; export docker run; timeout -k 5 60 bash -c '"$@"' - "$@" 2>&1 </dev/null)
    status=$?
    # shellcheck disable=SC2053
    if [[ $status == $want ]] && grep -Eq -- "$ere" <<<"$out"; then
        echo "ok $n - $name"
    else
        echo "not ok $n - $name"
        printf '# status %s (want %s), want /%s/\n' "$status" "$want" "$ere"
        head -c 800 <<<"$out" | sed 's/^/#   /'
    fi
    printf '%s|%s|%s\n' "$name" "$status" "$(normal <<<"$out")" >>"$RESULTS"
}

# sh_ TEXT: a shell line that may use D.
sh_ ()
{
    check "$1" "$2" "$3" bash -c "$4"
}

# pty NAME STATUS ERE TEXT: on a terminal whose keyboard stays silent but open.
pty ()
{
    # shellcheck disable=SC2016
    check "$1" "$2" "$3" bash -c 'exec script -qec "$0" /dev/null 0<>"$1"' \
        "bash -c '$4'" $run/keyboard
}

mkfifo $run/keyboard

cat >$run/daemon.json <<J
{ "runtimes": { "under-test": { "path": "$RUNTIME" } }, "default-runtime": "under-test",
  "cgroup-parent": "/$MARK" }
J
dockerd --config-file $run/daemon.json --data-root "$WORK/data" --exec-root $run/exec \
    --pidfile $run/docker.pid -H "$DOCKER_HOST" --storage-driver overlay2 \
    --exec-opt native.cgroupdriver=cgroupfs >"$WORK/dockerd.log" 2>&1 &
daemon=$!
for _ in {1..200}; do
    D version >/dev/null 2>&1 && break
    kill -0 $daemon 2>/dev/null || break
    sleep 0.1
done
D version --format '# docker {{.Client.Version}} {{.Server.Version}}' ||
    { tail -n 30 "$WORK/dockerd.log" >&2; exit 1; }
"$here/../lib/image.sh" $run/image
tar -C $run/image -c . | D import - bb >/dev/null || exit 1

# dockerd_end: stops it, ends the TAP.
dockerd_end ()
{
    kill $daemon
    wait $daemon 2>/dev/null
    echo "1..$n"
}
