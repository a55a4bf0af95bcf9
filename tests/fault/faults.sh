#!/bin/bash
# In the cage: kills the runtime at its system calls, one by one, and makes them fail.
#
# For each command a reference trace says which system calls are made and how often. Then it is run
# again and again, each time with strace killing it on entry of the Nth call of a kind, or making that
# call fail. After each: `delete --force` succeeds, and the host is as before. A run that succeeds
# although a call failed must show its payload the same confinement as without.
#
# By default only the runtime's own process is traced; FOLLOW=-f takes the container's with it.
set -u
WORK=/run/t
ROOT=$WORK/root
ID=fault$SUITE
BUNDLE=$WORK/bundle
n=0 bad=0
mkdir -p "$WORK"

# Per kind of call: the first FIRST occurrences, then every STEPth.
if [ "${FAULT_FULL:-}" ]; then FIRST=1000000 STEP=1; else FIRST=1 STEP=9; fi

result () # OK? NAME [DETAIL]
{
    n=$((n + 1))
    if [ "$1" = 0 ]; then
        echo "ok $n - $2"
    else
        bad=$((bad + 1))
        echo "not ok $n - $2"
        printf '%s\n' "${3:-}" | head -c 2000 | sed 's/^/# /'
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
    cat /proc/self/mountinfo
    find /sys/fs/cgroup -type d -name "*$ID*" 2>/dev/null
    find "$ROOT" -mindepth 1 -maxdepth 1 ! -name '.*' 2>/dev/null
    find /dev/shm -mindepth 1
}

rt ()
{
    timeout -k 2 20 "$AGENTRT" --root "$ROOT" "$@" </dev/null
}

# settled WANT: true once `host` is WANT (reaping and cgroup removal take a moment).
settled ()
{
    local i

    for i in {1..30}; do
        now=$(host)
        [ "$now" != "$1" ] || return 0
        sleep 0.05
    done
    return 1
}

# Each case has prepare_X (untraced) and a command line in command_X.
prepare_none () { :; }
prepare_created () { rt create -b "$BUNDLE" "$ID" >/dev/null 2>&1; }
prepare_running () { prepare_created && rt start "$ID"; }

payload ()
{
    jq --arg s "$1" '.process.args = ["sh", "-c", $s]' "$WORK/config.json" >"$BUNDLE/config.json"
}

# traced INJECT COMMAND...: under strace; the status is the runtime's.
traced ()
{
    local inject=$1

    shift
    # shellcheck disable=SC2086
    timeout -k 2 20 strace ${FOLLOW:-} -qq -o /dev/null -e trace=none -e inject="$inject" \
        "$AGENTRT" --root "$ROOT" --log "$WORK/log" "$@" </dev/null >"$WORK/output" 2>&1
}

# calls COMMAND...: "COUNT SYSCALL", the most that any one process makes. Leaves the command's output
# in $WORK/reference.
calls ()
{
    # shellcheck disable=SC2086
    timeout 20 strace ${FOLLOW:-} -qq -o "$WORK/trace" "$AGENTRT" --root "$ROOT" --log "$WORK/log" \
        "$@" </dev/null >"$WORK/reference" 2>&1
    sed -nE 's/^([0-9]+ +)?([a-z0-9_]+)\(.*/\1\2/p' "$WORK/trace" | sort | uniq -c |
        awk '{ if ($1 > most[$NF]) most[$NF] = $1 } END { for (c in most) print most[c], c }' | sort -k2
}

# points <CALLS: "SYSCALL N" to try.
points ()
{
    awk -v first="$FIRST" -v step="$STEP" '{
        for (i = 1; i <= $1; i++) if (i <= first || i % step == 0) print $2, i }' |
        grep -vE '^(exit_group|rt_sigreturn|restart_syscall) '
}

clean_up ()
{
    rt delete -f "$ID" >"$WORK/delete" 2>&1
}

# kill_at NAME PREPARE COMMAND...
kill_at ()
{
    local name=$1 prepare=$2 call at status tried=0 failures=""

    shift 2
    [[ "kill $name" =~ ${ONLY:-.} ]] || return 0
    "prepare_$prepare"
    calls "$@" >"$WORK/calls"
    clean_up
    [ -s "$WORK/calls" ] || { result 1 "$name: a reference trace" "$(cat "$WORK/trace")"; return; }
    while read -r call at; do
        "prepare_$prepare"
        traced "$call:signal=KILL:when=$at" "$@"
        tried=$((tried + 1))
        clean_up || failures+="$call #$at: delete -f: $(cat "$WORK/delete")"$'\n'
        settled "$before" ||
            failures+="$call #$at: left behind: $(diff <(echo "$before") <(echo "$now"))"$'\n'
        if [ "$failures" ]; then break; fi
    done < <(points <"$WORK/calls")
    result "$([ -z "$failures" ]; echo $?)" "$name: killed at each of $tried points" "$failures"
}

# fail_at NAME ERROR PREPARE COMMAND...: a call fails: either the command says so in one line and
# leaves nothing, or it succeeded all the same; it never crashes or hangs.
fail_at ()
{
    local name=$1 error=$2 prepare=$3 call at status tried=0 failures=""

    shift 3
    [[ "fail $name" =~ ${ONLY:-.} ]] || return 0
    "prepare_$prepare"
    calls "$@" >"$WORK/calls"
    clean_up
    while read -r call at; do
        # What even the C library's start-up cannot survive says nothing about us.
        case $call in
        execve | brk | arch_prctl | mmap | mprotect | rseq | set_tid_address | set_robust_list | \
            prlimit64) continue ;;
        esac
        "prepare_$prepare"
        status=0
        traced "$call:error=$error:when=$at" "$@" || status=$?
        tried=$((tried + 1))
        case $status in
        0) cmp -s "$WORK/output" "$WORK/reference" ||
            failures+="$call #$at: success, but: $(diff "$WORK/reference" "$WORK/output")"$'\n' ;;
        124 | 137) failures+="$call #$at: hangs"$'\n' ;;
        *)
            [ $status -lt 128 ] || [ $status -eq 255 ] || failures+="$call #$at: dies: $status"$'\n'
            [ -s "$WORK/output" ] || [ "$call" = write ] ||
                failures+="$call #$at: status $status without a word"$'\n'
            ;;
        esac
        clean_up || failures+="$call #$at: delete -f: $(cat "$WORK/delete")"$'\n'
        settled "$before" ||
            failures+="$call #$at: left behind: $(diff <(echo "$before") <(echo "$now"))"$'\n'
    done < <(points <"$WORK/calls")
    result "$([ -z "$failures" ]; echo $?)" "$name: $error from each of $tried calls" "$failures"
}

# ---- set-up ----

"$HERE/../lib/image.sh" "$WORK/image"
mkdir -p "$BUNDLE"
cp -a "$WORK/image" "$BUNDLE/rootfs"
mkdir "$BUNDLE/rootfs/srv/masked"
touch "$BUNDLE/rootfs/srv/masked/secret"
(cd "$WORK" && "$AGENTRT" spec)
# Every kind of control, so that the loss of any one shows.
jq '.process.terminal = false | .root.readonly = true | .hostname = "box" |
    .process.oomScoreAdj = 321 | .process.user.additionalGids = [7] |
    .process.rlimits = [{type: "RLIMIT_NOFILE", soft: 77, hard: 99}] |
    .linux.resources.pids = {limit: 50} | .linux.sysctl = {"net.ipv4.ip_default_ttl": "5"} |
    .linux.maskedPaths += ["/srv/masked"] |
    .linux.seccomp = {defaultAction: "SCMP_ACT_ALLOW",
        syscalls: [{names: ["sync"], action: "SCMP_ACT_ERRNO"}]}' \
    "$WORK/config.json" >"$WORK/c" && mv "$WORK/c" "$WORK/config.json"
look='set -e; hostname; id; umask; ls -A /srv/masked; ls /proc/self/fd /dev /sys/class/net
    grep -E "^(Cap|NoNewPrivs|Seccomp|Groups|SigBlk|SigIgn)" /proc/self/status
    cut -d" " -f5,6 /proc/self/mountinfo; cat /proc/self/oom_score_adj /proc/self/limits
    cat /proc/sys/net/ipv4/ip_default_ttl /sys/fs/cgroup/pids/pids.max
    ! touch /x 2>/dev/null'
payload "$look"
rt run -b "$BUNDLE" "$ID" >"$WORK/output" || { echo "Bail out! the runtime cannot run at all"; exit 1; }
touch "$WORK/log"
before=$(host)

payload 'sleep 0.05'
kill_at run none run -b "$BUNDLE" "$ID"
FOLLOW=-f kill_at 'run, with the container' none run -b "$BUNDLE" "$ID"
payload 'sleep 100'
kill_at create none create -b "$BUNDLE" "$ID"
kill_at start created start "$ID"
kill_at exec running exec "$ID" true
kill_at 'exec -d' running exec -d "$ID" sleep 50
kill_at kill running kill "$ID" KILL
kill_at 'delete -f' running delete -f "$ID"
kill_at delete created delete "$ID"

payload "$look"
for error in ENOMEM EPERM ENOSPC; do
    fail_at run $error none run -b "$BUNDLE" "$ID"
done
FOLLOW=-f fail_at 'run, with the container' EPERM none run -b "$BUNDLE" "$ID"
payload 'sleep 100'
fail_at create EIO none create -b "$BUNDLE" "$ID"
fail_at start ENOMEM created start "$ID"
fail_at exec ENOMEM running exec "$ID" grep -E '^(Cap|NoNewPrivs|Seccomp|Groups)' /proc/self/status
fail_at 'delete -f' EINTR running delete -f "$ID"
echo "1..$n"
[ $bad -eq 0 ]
