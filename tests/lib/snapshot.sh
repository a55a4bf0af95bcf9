#!/bin/bash
# snapshot.sh MARK ROOT: the state of the host as text: processes, mounts, our cgroups and
# containers, shared memory, links. A program of its own: bats traps every command of a test, which is slow.
for p in /proc/[0-9]*; do
    # Not this program, nor the subshell that waits for it.
    case $p in "/proc/$$" | "/proc/$PPID") continue ;; esac
    { read -r comm <"$p/comm"; } 2>/dev/null || continue
    echo "process ${p#/proc/} $comm"
done
cat /proc/self/mountinfo
find /sys/fs/cgroup -type d -name "*$1*" 2>/dev/null
for f in "$2"/* /dev/shm/* /sys/class/net/*; do
    [ ! -e "$f" ] || echo "$f"
done
