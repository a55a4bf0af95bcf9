#!/usr/bin/env bats
# The runtime defends itself: its binary, its descriptors, and what the config may refer to.

load ../lib/helpers

prepare ()
{
    # A copy that may be lost: if the attack works, the host keeps its runtime.
    COPY=$TMP/runtime
    cp "$AGENTRT" "$COPY"
    HASH=$(sha256sum <"$COPY")
    edit '.root.readonly = false'
}

# with_copy ARG...: the copy as the runtime.
with_copy ()
{
    try timeout 30 "$COPY" --root "$ROOT" "$@"
}

untouched ()
{
    eq "$(sha256sum <"$COPY")" "$HASH"
}

@test "the payload cannot open the runtime's binary for writing (CVE-2019-5736)" {
    # pid 1 is still the runtime's image while the payload's args name /proc/self/exe.
    args /proc/self/exe --version
    with_copy run -b "$BUNDLE" "$ID"
    untouched
    printf '#!/proc/self/exe --version\n' >"$BUNDLE/rootfs/bin/shebang"
    chmod 755 "$BUNDLE/rootfs/bin/shebang"
    args shebang
    with_copy run -b "$BUNDLE" "$ID"
    untouched
}

@test "a watcher inside cannot open the exe of processes that enter" {
    cat >"$BUNDLE/rootfs/bin/watch" <<-'END'
	#!/bin/sh
	# For a while: try to write to the exe of whoever appears.
	: >/srv/seen
	touch /srv/up
	while [ ! -e /srv/stop ]; do
	    for p in /proc/[0-9]*; do
	        case $p in /proc/1|/proc/$$) continue ;; esac
	        t=$(readlink $p/exe) || continue
	        case $t in /bin/busybox|"") continue ;; esac
	        echo "$t $(probe reopen $p/exe)" >>/srv/seen
	    done
	done
	END
    chmod 755 "$BUNDLE/rootfs/bin/watch"
    edit '.process.capabilities |= map_values (["CAP_SYS_PTRACE", "CAP_DAC_OVERRIDE"])'
    args watch
    created
    rt start "$ID"
    wait_for 5 test -e "$BUNDLE/rootfs/srv/up"
    for _ in {1..40}; do with_copy exec "$ID" true; done
    touch "$BUNDLE/rootfs/srv/stop"
    wait_for 10 is_status stopped "$ID"
    rt delete "$ID"
    no_match "$(cat "$BUNDLE/rootfs/srv/seen")" ' ok '
    untouched
    # Is the file still writable for the host? Then "untouched" says something.
    echo x >>"$COPY"
}

@test "processes that enter show no host paths by their descriptors, root or working directory" {
    cat >"$BUNDLE/rootfs/bin/watch" <<-'END'
	#!/bin/sh
	touch /srv/up
	while [ ! -e /srv/stop ]; do
	    for p in /proc/[0-9]*; do
	        case $p in /proc/1|/proc/$$) continue ;; esac
	        ls -l $p/fd/ $p/cwd $p/root $p/exe >>/srv/leak 2>/dev/null
	        ls -d $p/root/run/t $p/cwd/run/t >>/srv/leak 2>/dev/null
	    done
	done
	END
    chmod 755 "$BUNDLE/rootfs/bin/watch"
    args watch
    created
    rt start "$ID"
    wait_for 5 test -e "$BUNDLE/rootfs/srv/up"
    for _ in {1..40}; do with_copy exec "$ID" true; done
    touch "$BUNDLE/rootfs/srv/stop"
    wait_for 10 is_status stopped "$ID"
    rt delete "$ID"
    match "$(cat "$BUNDLE/rootfs/srv/leak")" '/' # it did look
    no_match "$(grep -v '/output$' "$BUNDLE/rootfs/srv/leak")" '/run/t|agentrt|runtime|memfd'
}

@test "a process that enters is hidden from its first moment (CVE-2016-9962)" {
    local ns
    edit '.root.readonly = false | .process.capabilities |= map_values (["CAP_SYS_PTRACE"])'
    userns
    script 'probe seize /srv/stop >/srv/got & while [ ! -e /srv/stop ]; do sleep 0.1; done; wait'
    # In a pid namespace of its own the container sees the new process only, in the host's also the
    # one that joins and clones.
    for ns in own host; do
        if [ $ns = host ]; then
            without_ns pid
            edit '(.mounts[] | select (.type == "proc")) |=
                . + {type: "bind", source: "/proc", options: ["rbind"]}'
        fi
        created
        rt start "$ID"
        wait_for 5 grep up "$BUNDLE/rootfs/srv/got"
        for _ in {1..20}; do rt exec "$ID" true; done
        touch "$BUNDLE/rootfs/srv/stop"
        wait_for 10 is_status stopped "$ID"
        rt delete "$ID"
        # It got the container's own processes, and nothing that was not one yet.
        match "$(<"$BUNDLE/rootfs/srv/got")" '^(sh|sleep|exe)$' # exe: what busybox runs as itself
        no_match "$(grep -vxE 'up|sh|sleep|exe|true' "$BUNDLE/rootfs/srv/got")" .
        rm -f "$BUNDLE"/rootfs/srv/*
    done
}

@test "a process that enters has nothing of the host when the container can first seize it" {
    local i
    edit '.root.readonly = false | .process.capabilities |= map_values (["CAP_SYS_PTRACE"])'
    script 'probe rob /srv/stop >/srv/got & while [ ! -e /srv/stop ]; do sleep 0.1; done; wait'
    created
    rt start "$ID"
    wait_for 5 grep up "$BUNDLE/rootfs/srv/got"
    # Until ten were caught before their execve, under the runtime's own name.
    for i in {1..300}; do
        SECRET=leak rt exec "$ID" true
        [ "$(grep -cvE '^(up|sh|sleep|exe|true|fd .*|status .*|environ .*)$' \
            "$BUNDLE/rootfs/srv/got")" -lt 10 ] || break
    done
    touch "$BUNDLE/rootfs/srv/stop"
    wait_for 10 is_status stopped "$ID"
    rt delete "$ID"
    [ "$i" -lt 300 ] || fail "not caught before execve:" "$(sort "$BUNDLE/rootfs/srv/got" | uniq -c)"
    # One descriptor: the socket to the runtime. The tracer's own children have its list open.
    no_match "$(grep '^fd ' "$BUNDLE/rootfs/srv/got" | grep -vE '^fd [0-9]+ socket:')" .
    no_match "$(grep ^status "$BUNDLE/rootfs/srv/got" | grep -v 'CapPrm:.0000000000080000$')" .
    no_match "$(grep ^environ "$BUNDLE/rootfs/srv/got")" 'SECRET|AGENTRT'
    rm -f "$BUNDLE"/rootfs/srv/*
}

@test "programs and libraries of the image do not run for the runtime" {
    for n in xz gzip tar nsenter newuidmap newgidmap iptables ldconfig ps modprobe; do
        rm -f "$BUNDLE/rootfs/bin/$n"
        printf '#!/bin/sh\ntouch /srv/ran-%s\n' $n >"$BUNDLE/rootfs/bin/$n"
        chmod 755 "$BUNDLE/rootfs/bin/$n"
    done
    mkdir "$BUNDLE/rootfs/lib"
    echo /lib/evil.so >"$BUNDLE/rootfs/etc/ld.so.preload"
    echo "not a library" >"$BUNDLE/rootfs/lib/libnss_files.so.2"
    edit '.process.env += ["LD_PRELOAD=/lib/evil.so", "GCONV_PATH=/lib", "LD_LIBRARY_PATH=/lib"]'
    userns
    running
    rt exec "$ID" /bin/true
    rt ps "$ID" >/dev/null
    rt state "$ID" >/dev/null
    rt kill "$ID" KILL
    wait_for 5 is_status stopped "$ID"
    rt delete "$ID"
    eq "$(ls "$BUNDLE/rootfs/srv")" ""
}

@test "hostile annotations change nothing and run nothing" {
    edit --arg t "$TMP/ran" '.annotations = {
        "org.systemd.property.ExecStartPre": "touch \($t)", "run.oci.hooks.stdout": $t,
        "run.oci.handler": "krun", "org.criu.config": $t, "run.oci.seccomp_bpf_data": "AAAA"}'
    inside 'grep ^Groups /proc/self/status | tr -d "\t "; grep -c Seccomp_filters /proc/self/status'
    rc 0
    match "$output" '^Groups:$'
    edit '.annotations["run.oci.delegate-cgroup"] = "../../x"'
    inside true
    refused '/annotations/run.oci.delegate-cgroup'
    edit 'del (.annotations["run.oci.delegate-cgroup"]) |
        .annotations["run.oci.keep_original_groups"] = "1"'
    inside true
    refused '/annotations/run.oci.keep_original_groups'
    [ ! -e "$TMP/ran" ]
}

@test "sysctls: those of own namespaces are set, others refused" {
    edit '.linux.sysctl = {"net.ipv4.ip_default_ttl": "5", "kernel.shmmax": "1048576",
        "fs.mqueue.msg_max": "20", "kernel.msgmax": "4096"}'
    inside 'cat /proc/sys/net/ipv4/ip_default_ttl /proc/sys/kernel/shmmax /proc/sys/fs/mqueue/msg_max'
    rc 0
    eq "$output" $'5\n1048576\n20'
    eq "$(cat /proc/sys/net/ipv4/ip_default_ttl)" 64
    before=$(cat /proc/sys/kernel/core_pattern)
    for s in kernel.core_pattern kernel.modprobe vm.swappiness kernel.panic fs.suid_dumpable \
        kernel.hostname net/../kernel/panic net..x 'net.ipv4.ip_default_ttl/../x' /net/x ''; do
        edit --arg s "$s" '.linux.sysctl = {($s): "1"}'
        inside true
        refused 'sysctl'
    done
    eq "$(cat /proc/sys/kernel/core_pattern)" "$before"
    without_ns network
    edit '.linux.sysctl = {"net.ipv4.ip_default_ttl": "5"}'
    inside true
    refused 'sysctl|net'
    with_ns network
    without_ns ipc
    edit '.linux.sysctl = {"kernel.shmmax": "5"}'
    inside true
    refused 'sysctl|ipc'
}

@test "sysctls: slashes and dots; values the kernel refuses" {
    edit '.linux.sysctl = {"net/ipv4/ip_default_ttl": "7"}'
    inside 'cat /proc/sys/net/ipv4/ip_default_ttl'
    rc 0
    eq "$output" 7
    edit '.linux.sysctl = {"net.ipv4.ip_default_ttl": "many"}'
    inside true
    refused 'sysctl'
    edit '.linux.sysctl = {"net.ipv4.nonexistent": "1"}'
    inside true
    refused 'sysctl'
    no_match "$output" '[Nn]o such file or directory$'
}

@test "what this version does not do is refused, not ignored" {
    edit '.linux.intelRdt = {closID: "x"}'
    inside true
    refused 'intelRdt'
    edit 'del (.linux.intelRdt) | .linux.resources.rdma = {mlx5_1: {hcaHandles: 3}}'
    inside true
    refused "/linux/resources/rdma: this host has no cgroup controller 'rdma' for it"
    edit 'del (.linux.resources.rdma) | .process.apparmorProfile = "strict"'
    inside true
    refused '[aA]pp[aA]rmor'
    edit 'del (.process.apparmorProfile) | .process.selinuxLabel = "system_u:x:y:s0"'
    inside true
    refused '[sS][eE][lL]inux'
}

@test "pressure: few descriptors, no space for state, a read-only root: an error, no half container" {
    args true
    for n in 8 10 12 16 20; do
        try bash -c "ulimit -n $n; exec timeout 20 '$AGENTRT' --root '$ROOT' run -b '$BUNDLE' '$ID'"
        [ "$status" -lt 124 ] || fail "ulimit -n $n: $status $output"
        [ "$status" -eq 0 ] || [ -n "$output" ]
    done
    mkdir "$TMP/small" "$TMP/ro"
    mount -t tmpfs -o size=4k,nr_inodes=3 small "$TMP/small"
    mount -t tmpfs -o ro ro "$TMP/ro"
    for r in small ro; do
        try timeout 20 "$AGENTRT" --root "$TMP/$r" create -b "$BUNDLE" "$ID"
        rc 1
        match "$output" '[a-z]'
        eq "$(find "$TMP/$r" -mindepth 1 -maxdepth 1 ! -name '.*')" ""
        umount "$TMP/$r"
    done
}

@test "a damaged state is an error, and delete -f takes it away" {
    for n in 0 1 20; do
        running
        pid=$(cat "$TMP/pid")
        f=$(find "$ROOT/$ID" -name 'state*.json')
        head -c $n "$f" >"$TMP/cut" && cat "$TMP/cut" >"$f"
        try rt state "$ID"
        [ "$status" -ne 0 ] || fail "a state of $n bytes was believed"
        try rt list
        [ "$status" -lt 124 ]
        try rt delete -f "$ID"
        rc 0
        if [ -e "/proc/$pid" ]; then kill -9 "$pid"; fi
    done
    find /sys/fs/cgroup -depth -type d -name "$ID" -exec rmdir {} \; 2>/dev/null || true
}
