# shellcheck shell=bash disable=SC2034
# What the tests with real engines share. The outer half, for the scripts that tests/run-all calls:
# a work folder, cages (tests/lib/cage) for the engine, TAP, what is left behind. The inner half, for
# the scripts that run in a cage: checks through the engine's client. dockerd.sh: a private dockerd.
engines=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

# ---- outer ----

# engine_prologue NAME TOOL...: $work, $mark, $AGENTRT; bails out if a TOOL is missing.
engine_prologue ()
{
    local name=$1 tool

    shift
    for tool in "$@"; do
        command -v "$tool" >/dev/null || { echo "Bail out! $tool is not installed"; exit 1; }
    done
    AGENTRT=$(realpath "${AGENTRT:-agentrt}")
    [ -x "$AGENTRT" ] || { echo "Bail out! no runtime at $AGENTRT"; exit 1; }
    work=$(mktemp -d "/var/tmp/agentrt-$name.XXXXXX")
    mark=art$name$$
    n=0 bad=0
    chmod 755 "$work"
    trap 'rm -rf --one-file-system "$work"' EXIT
}

result () # STATUS NAME
{
    n=$((n + 1))
    if [ "$1" = 0 ]; then echo "ok $n - $2"; else echo "not ok $n - $2"; bad=$((bad + 1)); fi
}

# engine_end: the plan; the script's exit status.
engine_end ()
{
    echo "1..$n"
    [ $bad -eq 0 ]
}

# caged NAME SCRIPT RUNTIME [ARGUMENT...]: SCRIPT in a cage with RUNTIME, which gets the ARGUMENTs
# before each command. $policy, $layout: the cage's (tests/lib/cage -p, -c). Leaves
# $work/NAME/{tap,err,results}. Several may run at once.
caged ()
{
    local name=$1 script=$2

    shift 2
    mkdir -p "$work/$name"
    WORK=$work/$name MARK=$mark$name RESULTS=$work/$name/results "$engines/../lib/cage" \
        -p "${policy:-oci}" -c "${layout:-hybrid}" -- bash "$script" "$@" \
        >"$work/$name/tap" 2>"$work/$name/err" </dev/null
    # The engine's own parent folder; what a runtime has forgotten in it, the script in the cage
    # reports.
    find /sys/fs/cgroup -depth -type d -path "*/$mark$name*" -exec rmdir {} \; 2>/dev/null
}

# leftovers: one line for each trace of our cages on the host. Their network interfaces and packet
# filter rules live in a network namespace that goes with its last process or mount. Namespaces
# themselves are no sign: their numbers are used again at once.
leftovers ()
{
    grep -lszE "^MARK=$mark" /proc/[0-9]*/environ | sed 's/^/process /'
    grep -lsF "/$mark" /proc/[0-9]*/cgroup | sed 's/^/process /'
    grep -F "$work" /proc/self/mountinfo | sed 's/^/mount /'
    find /sys/fs/cgroup -type d -path "*/$mark*" 2>/dev/null | sed 's/^/cgroup /'
}

# nothing_left: as results; and each kind of trace, planted, is seen.
nothing_left ()
{
    local left kind sleeper cgroup=/sys/fs/cgroup/pids/$mark

    left=$(leftovers)
    result "$([ -z "$left" ]; echo $?)" "nothing is left on the host"
    [ -z "$left" ] || head -n 20 <<<"$left" | sed 's/^/# /'

    mkdir -p "$work/planted" "$cgroup"
    mount -t tmpfs planted "$work/planted"
    MARK=$mark sleep 60 &
    sleeper=$!
    until grep -qsz "^MARK=$mark" /proc/$sleeper/environ; do :; done
    left=$(leftovers)
    kill $sleeper
    wait $sleeper 2>/dev/null
    umount "$work/planted"
    rmdir "$cgroup"
    for kind in process mount cgroup; do
        result "$(grep -q "^$kind " <<<"$left"; echo $?)" "self-check: a $kind left behind is seen"
    done
}

# copy_results NAME: the TAP lines of that cage as ours.
copy_results ()
{
    local line

    while read -r line; do
        case $line in
        "ok "*) result 0 "$1: ${line#* - }" ;;
        "not ok "*) result 1 "$1: ${line#* - }" ;;
        \#*) echo "$line" ;;
        esac
    done <"$work/$1/tap"
    ended "$1"
}

# ended NAME: a failure if the checks in that cage did not come to their end.
ended ()
{
    grep -q '^1\.\.[1-9]' "$work/$1/tap" && return
    result 1 "$1: the checks came to their end"
    tail -n 40 "$work/$1/err" | sed 's/^/# /'
}

# strict_test ENGINE NEUTRAL TOOL...: ENGINE-strict-checks.sh with the runtime as it is installed, so
# under its default policy; then again under the policy `oci`, where each check must fail whose name
# NEUTRAL (an ERE for a whole name) does not match: it passes with and without a control.
strict_test ()
{
    local engine=$1 neutral=$2 script=$engines/$1-strict-checks.sh line name

    shift 2
    engine_prologue "${engine}strict" "$@"
    local policy=none
    caged strict "$script" "$AGENTRT" &
    caged oci "$script" "$AGENTRT" --policy oci &
    wait
    copy_results strict
    while read -r line; do
        name=${line#*ok * - }
        [[ ! $name =~ ^($neutral)$ ]] || continue
        [[ $line == "not ok "* ]]
        result $? "self-check: without the policy it is missed: $name"
    done < <(grep -E '^(not )?ok' "$work/oci/tap")
    ended oci
    nothing_left
    engine_end
}

# ---- inner: needs $WORK, $MARK, $RESULTS ----

run=/run/t
client=() # functions that the commands of check use

# inner_start: $run, with a root file system in $run/image; the checks begin.
inner_start ()
{
    mkdir -p $run
    : >"$RESULTS"
    n=0
    mkfifo $run/keyboard
    "$engines/../lib/image.sh" $run/image
}

# inner_end: the plan.
inner_end ()
{
    echo "1..$n"
}

# wrapped RUNTIME [ARGUMENT...]: prints a path that an engine can call without ARGUMENTs.
wrapped ()
{
    printf '#!/bin/sh\nexec %s "$@"\n' "$*" >$run/agentrt
    chmod 755 $run/agentrt
    echo $run/agentrt
}

# U TEXT: runs the shell line TEXT until it succeeds, for at most 30 seconds.
U ()
{
    local end=$((SECONDS + 30))

    until eval "$1"; do
        [ $SECONDS -lt $end ] || return 1
        sleep 0.1
    done
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
    # A file, not a pipe: a client that outlives its time must not hold us up.
    (export -f U "${client[@]}"; export run; exec timeout -k 5 100 bash -c '"$@"' - "$@") \
        >"$run/output" 2>&1 </dev/null
    status=$?
    out=$(<"$run/output")
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

# sh_ NAME STATUS ERE TEXT: a shell line that may use the client.
sh_ ()
{
    check "$1" "$2" "$3" bash -c "$4"
}

# pty NAME STATUS ERE TEXT: on a terminal whose keyboard stays silent but open. script runs $SHELL,
# and only bash hands functions on.
pty ()
{
    # shellcheck disable=SC2016
    check "$1" "$2" "$3" bash -c 'SHELL=/bin/bash exec script -qec "$0" /dev/null 0<>"$1"' \
        "bash -c '$4'" $run/keyboard
}
