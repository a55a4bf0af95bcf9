#!/bin/bash
# faults.sh GROUP, in the cage: kills the runtime at its system calls, one by one, and makes them fail.
#
# For each command a reference trace says which system calls are made and how often. Then it is run
# again and again: strace kills it on entry of the Nth call of a kind, or makes that call fail with an
# errno of table.txt. After each, the host must be as before:
#   kill   once `delete --force` has run
#   fail   the command says so in one line, and create and run leave nothing by themselves; or it
#          succeeds, and the payload sees the same confinement. The fault is one call's of each
#          process: undoing meets it too, and then no other
# A group is one command of one kind ("kill run", "fail exec"), or "self": that all this can fail.
set -u
GROUP=$1
WORK=/run/t
ROOT=$WORK/root
ID=fault$SUITE
BUNDLE=$WORK/bundle
LIMIT=10 # seconds; more is a hang
n=0 bad=0
mkdir -p "$WORK"

# Points of each kind of call: all, or the first FIRST and every STEPth.
if [ "${FULL:-}" ]; then FIRST=1000000 STEP=1; else FIRST=${FIRST:-2} STEP=${STEP:-17}; fi

result () # OK? NAME [DETAIL]
{
    n=$((n + 1))
    if [ "$1" = 0 ]; then
        echo "ok $n - $2"
    else
        bad=$((bad + 1))
        echo "not ok $n - $2"
        printf '%s\n' "${3:-}" | head -c 3000 | sed 's/^/# /'
    fi
}

# host: what must be the same before and after.
host ()
{
    local p comm

    for p in /proc/[0-9]*; do
        [ "$p" != "/proc/$BASHPID" ] || continue
        { read -r comm <"$p/comm"; } 2>/dev/null || continue
        echo "process ${p#/proc/} $comm"
    done
    echo "$(</proc/self/mountinfo)"
    compgen -G "/sys/fs/cgroup/*/$ID*"
    compgen -G "$ROOT/*"
    compgen -G '/dev/shm/*'
}

rt ()
{
    timeout -k 2 "$LIMIT" "$AGENTRT" --root "$ROOT" "$@" </dev/null
}

# settled: true once `host` is as $before (a killed process takes a moment to go).
settled ()
{
    local i

    for ((i = 0; i < ${PATIENCE:-60}; i++)); do
        now=$(host)
        [ "$now" != "$before" ] || return 0
        sleep 0.05
    done
    return 1
}

left_behind ()
{
    diff <(echo "$before") <(echo "$now") | grep '^[<>]'
}

payload ()
{
    jq --arg s "$1" '.process.args = ["sh", "-c", $s]' "$WORK/config.json" >"$BUNDLE/config.json"
}

# What is there before the command: prepare_X, untraced.
prepare_none () { :; }
prepare_created () { rt create -b "$BUNDLE" "$ID" >"$WORK/out" 2>&1; }
prepare_running () { prepare_created && rt start "$ID"; }

# after_X: what shows the confinement once the command has succeeded.
after_none () { :; }
stopped () { [ "$(rt state "$ID" 2>/dev/null | jq -r .status)" = stopped ]; }
after_start ()
{
    local i

    for ((i = 0; i < 100; i++)); do
        ! stopped || return 0
        sleep 0.03
    done
    echo 'does not run to its end'
}
after_create () { rt start "$ID" && after_start; }

# traced SYSCALL OPTION COMMAND...: under strace, which does OPTION; the status is the runtime's.
traced ()
{
    local call=$1 option=$2

    shift 2
    # shellcheck disable=SC2086
    timeout -k 2 "$LIMIT" strace ${FOLLOW:-} -qq -o "$WORK/trace" -e trace="$call" \
        -e inject="$call:$option" "$AGENTRT" --root "$ROOT" "$@" \
        </dev/null >"$WORK/out" 2>"$WORK/err"
}

# unsealed: the runtime stands on a read-only mount, so that it need not run itself again: strace lets
# go of what calls execve, as the payload's own calls are none of ours (FOLLOW).
unsealed ()
{
    touch "$WORK/agentrt"
    mount --bind "$AGENTRT" "$WORK/agentrt" && mount -o remount,bind,ro "$WORK/agentrt" || exit 1
    AGENTRT=$WORK/agentrt
    before=$(host) || true
}

# calls COMMAND...: "COUNT SYSCALL", the most that any one process makes.
calls ()
{
    # shellcheck disable=SC2086
    timeout "$LIMIT" strace ${FOLLOW:-} -qq -o "$WORK/trace" "$AGENTRT" --root "$ROOT" "$@" \
        </dev/null >"$WORK/out" 2>"$WORK/err"
    sed -nE 's/^([0-9]+ +)?([a-z0-9_]+)\(.*/\1\2/p' "$WORK/trace" | sort | uniq -c |
        awk '{ if ($1 > most[$NF]) most[$NF] = $1 } END { for (c in most) print most[c], c }' | sort -k2
}

# points <CALLS: "SYSCALL N" to try.
points ()
{
    awk -v first="$FIRST" -v step="$STEP" '{
        for (i = 1; i <= $1; i++) if (i <= first || i % step == 0) print $2, i }' |
        grep -vE '^(exit|exit_group|rt_sigreturn|restart_syscall|execve) '
}

clean_up ()
{
    rt delete -f "$ID" >"$WORK/delete" 2>&1
}

# reference PREPARE AFTER COMMAND...: $WORK/calls, and what the payload sees in $WORK/reference.
reference ()
{
    local prepare=$1 after=$2

    shift 2
    "prepare_$prepare"
    calls "$@" >"$WORK/calls"
    "after_$after" >>"$WORK/out" 2>&1
    cp "$WORK/out" "$WORK/reference"
    clean_up
}

# kill_at PREPARE COMMAND...
kill_at ()
{
    local prepare=$1 call at status tried=0 hit=0 failures=""

    shift
    reference "$prepare" none "$@"
    while read -r call at; do
        "prepare_$prepare"
        status=0
        traced "$call" "signal=KILL:when=$at" "$@" || status=$?
        tried=$((tried + 1))
        [ $status -ne 137 ] || hit=$((hit + 1))
        clean_up || failures+="$call #$at: delete -f: $(<"$WORK/delete")"$'\n'
        settled || failures+="$call #$at: $(left_behind)"$'\n'
        [ -z "$failures" ] || break # what is left would be blamed on the next
    done < <(points <"$WORK/calls")
    result "$([ -z "$failures" ] && [ $tried -gt 10 ] && [ $((hit * 10)) -ge $((tried * 8)) ]
        echo $?)" "$GROUP: $tried points, killed at $hit" "$failures"
}

# verdict STATUS CALL AFTER: prints what is wrong.
verdict ()
{
    local status=$1 call=$2

    case $status in
    0)
        "after_$3" >>"$WORK/out" 2>&1
        cmp -s "$WORK/out" "$WORK/reference" ||
            echo "success, but: $(diff "$WORK/reference" "$WORK/out" | head -n 5)"
        ;;
    124 | 137) echo "hangs" ;;
    *)
        [ "$status" -lt 128 ] || [ "$status" -eq 255 ] || echo "dies: $status"
        [ "$(grep -c . "$WORK/err")" -eq 1 ] || [ "$call" = write ] ||
            echo "status $status, and says: $(<"$WORK/err")"
        ;;
    esac
}

# fail_at PREPARE AFTER COMMAND...
fail_at ()
{
    local prepare=$1 after=$2 call at error wrong status tried=0 hit=0 failures=""

    shift 2
    reference "$prepare" "$after" "$@"
    while read -r call at; do
        for error in $(awk -v c="$call" '$1 == c { $1 = ""; print }' "$HERE/table.txt"); do
            "prepare_$prepare"
            status=0
            traced "$call" "error=$error:when=$at" "$@" || status=$?
            tried=$((tried + 1))
            ! grep -q INJECTED "$WORK/trace" || hit=$((hit + 1))
            wrong=$(verdict $status "$call" "$after")
            if [ $status -ne 0 ] && [ "$prepare" = none ]; then
                settled || wrong+="$(<"$WORK/err")"$'\n'"leaves $(left_behind)"
            fi
            clean_up || wrong+=$'\n'"delete -f: $(<"$WORK/delete")"
            settled || wrong+=$'\n'"left behind: $(left_behind)"
            [ -z "$wrong" ] || failures+="$call #$at $error: $wrong"$'\n'
        done
    done < <(points <"$WORK/calls")
    result "$([ -z "$failures" ] && [ $tried -gt 10 ] && [ $((hit * 10)) -ge $((tried * 8)) ]
        echo $?)" "$GROUP: $tried faults, $hit injected" "$failures"
}

# ---- the bundle: every kind of control, so that the loss of any one shows ----

bundle ()
{
    "$HERE/../lib/image.sh" "$WORK/image"
    mkdir -p "$BUNDLE" "$WORK/mapped"
    cp -a "$WORK/image" "$BUNDLE/rootfs"
    mkdir "$BUNDLE/rootfs/srv/masked" "$BUNDLE/rootfs/srv/mapped"
    touch "$BUNDLE/rootfs/srv/masked/secret" "$WORK/mapped/file"
    (cd "$WORK" && "$AGENTRT" spec)
    jq --arg m "$WORK/mapped" '.process.terminal = false | .root.readonly = true |
        .hostname = "box" | .annotations = {} |
        .process.oomScoreAdj = 321 | .process.user.additionalGids = [7] |
        .process.rlimits = [{type: "RLIMIT_NOFILE", soft: 77, hard: 99}] |
        .linux.resources.pids = {limit: 50} | .linux.sysctl = {"net.ipv4.ip_default_ttl": "5"} |
        .linux.maskedPaths += ["/srv/masked"] |
        .mounts += [{destination: "/srv/mapped", type: "none", source: $m, options: ["bind"],
            uidMappings: [{containerID: 0, hostID: 1000, size: 10}],
            gidMappings: [{containerID: 0, hostID: 1000, size: 10}]}] |
        .linux.seccomp = {defaultAction: "SCMP_ACT_ALLOW",
            syscalls: [{names: ["sync"], action: "SCMP_ACT_ERRNO"}]}' \
        "$WORK/config.json" >"$WORK/c" && mv "$WORK/c" "$WORK/config.json"
}

# A device node that cannot be made is the host's, bound: no difference. Nor is the order of mounts.
look='exec 2>&1; hostname; id; umask; ls -A /srv/masked; ls /proc/self/fd /dev /sys/class/net
    ls -ln /srv/mapped | cut -c1-40
    grep -E "^(Cap|NoNewPrivs|Seccomp|Groups|SigBlk|SigIgn)" /proc/self/status
    cut -d" " -f5,6 /proc/self/mountinfo | grep -Ev "^/dev/(null|zero|full|u?random|tty) " | sort
    cat /proc/self/oom_score_adj /proc/self/limits
    cat /proc/sys/net/ipv4/ip_default_ttl; touch /x; true'

# ---- that a fault would be seen ----

self_check ()
{
    prepare_created
    PATIENCE=2 settled
    result $((! $?)) 'self: a container that nobody deletes is seen' "$(left_behind)"
    clean_up
    settled
    result $? 'self: and its removal, too' "$(left_behind)"
    # Undoing is sabotaged: no folder can be removed.
    jq '.process.args = ["/nonexistent"]' "$WORK/config.json" >"$BUNDLE/config.json"
    traced unlinkat 'error=EACCES' create -b "$BUNDLE" "$ID"
    PATIENCE=2 settled
    result $((! $?)) 'self: a sabotaged undo leaves something, which is seen' "$(left_behind)"
    clean_up
    settled
    result $? 'self: and delete --force removes it' "$(left_behind)"
    payload 'sleep 100'
    LIMIT=1 traced getpid 'error=EPERM:when=9999' run -b "$BUNDLE" "$ID"
    status=$?
    result "$([ -n "$(verdict $status getpid none)" ]; echo $?)" 'self: a hang is seen' "$status"
    clean_up
    echo 'one line' >"$WORK/reference"
    echo 'another' >"$WORK/out"
    result "$([ -n "$(verdict 0 read none)" ]; echo $?)" 'self: another confinement is seen'
    : >"$WORK/err"
    result "$([ -n "$(verdict 1 read none)" ]; echo $?)" 'self: a failure without a word is seen'
    settled
    result $? 'self: nothing is left' "$(left_behind)"
}

exec 2>/dev/null # the shell tells of each killed process
bundle
payload "$look"
rt run -b "$BUNDLE" "$ID" >"$WORK/out" 2>&1 || {
    echo "Bail out! the runtime cannot run at all: $(<"$WORK/out")"
    exit 1
}
before=$(host)
look_again=(exec "$ID" sh -c "$look")

case $GROUP in
self) self_check ;;
'kill run') payload 'sleep 0.05' && kill_at none run -b "$BUNDLE" "$ID" ;;
'kill create') payload 'sleep 100' && kill_at none create -b "$BUNDLE" "$ID" ;;
'kill start') payload 'sleep 100' && kill_at created start "$ID" ;;
'kill exec') payload 'sleep 100' && kill_at running exec "$ID" true ;;
'kill delete') payload 'sleep 100' && kill_at running delete -f "$ID" ;;
'fail run') unsealed && FOLLOW='-f -b execve' fail_at none none run -b "$BUNDLE" "$ID" ;;
'fail seal') fail_at none none run -b "$BUNDLE" "$ID" ;;
'fail create') fail_at none create create -b "$BUNDLE" "$ID" ;;
'fail start') fail_at created start start "$ID" ;;
'fail exec') payload 'sleep 100' && unsealed && FOLLOW='-f -b execve' fail_at running none "${look_again[@]}" ;;
'fail delete') payload 'sleep 100' && fail_at running none delete -f "$ID" ;;
*) echo "Bail out! no group '$GROUP'" && exit 1 ;;
esac
echo "1..$n"
[ $bad -eq 0 ]
