#!/usr/bin/env bats
# The mount guard from outside: what opens the host is refused under strict, by whatever name, and
# what people and engines need passes.

load ../lib/helpers

prepare ()
{
    mkdir "$TMP/project" "$TMP/binds"
    echo hello >"$TMP/project/file"
}

# strict SOURCE [OPTION...]: runs the container under the policy strict with SOURCE bound on /mnt.
strict ()
{
    local source=$1

    shift
    edit '.mounts |= map (select (.destination != "/mnt"))'
    add_mount /mnt bind "$source" "${@:-rbind}"
    args sh -c 'cat /mnt/file 2>/dev/null; echo ran'
    try rt ${ACCEPT:---policy strict} run -b "$BUNDLE" "$ID"
}

# opens RULE SOURCE...: each is refused, with a message that names mount, rule and policy.
opens ()
{
    local rule=$1 source n

    shift
    for source in "$@"; do
        strict "$source"
        refused "mount guard, $rule\\)"
        n=$(jq '.mounts | length - 1' "$BUNDLE/config.json")
        match "$output" "/mounts.$n. .* on /mnt: .* policy 'strict'"
    done
}

# socket FILE: a unix socket, made by somebody who listens there for a moment.
socket ()
{
    "$PROBE" console "$1" </dev/null >/dev/null 2>&1 3>&- &
    wait_for 5 test -S "$1"
    kill $!
    wait $! || true
    [ -S "$1" ]
}

@test "the host's roots, by name, by link, by another mount and through /proc" {
    local root rule

    for root in /:host-root /etc:etc /proc:proc /sys:sys /dev:dev /root:home /boot:boot; do
        rule=${root#*:} root=${root%:*}
        [ -e "$root" ] || continue
        ln -sfn "$root" "$TMP/link"
        mkdir -p "$TMP/binds/$rule"
        mount --bind "$root" "$TMP/binds/$rule"
        opens "$rule" "$root" "$TMP/link" "/proc/self/root$root" "$TMP/binds/$rule"
        umount "$TMP/binds/$rule"
    done
}

@test "an engine's socket, its folder and other names of it" {
    mkdir /run/socket.d
    socket "$TMP/project/docker.sock"
    mv "$TMP/project/docker.sock" /run/docker.sock
    ln -s /run/docker.sock "$TMP/link"
    ln /run/docker.sock /run/socket.d/x
    opens socket /run/docker.sock "$TMP/link" /run/socket.d/x
    opens engine-socket /run/socket.d
    rm /run/socket.d/x
    mv /run/docker.sock /run/socket.d/docker.sock
    opens engine-socket /run/socket.d
    rm -r /run/socket.d
}

@test "credentials, homes, devices, a proc mounted in the source" {
    mkdir -p "$TMP/someone/.ssh"
    opens credentials "$TMP/someone/.ssh" "$TMP/someone" /etc/shadow
    opens home /home
    mknod "$TMP/disk" b 7 250
    mkfifo "$TMP/pipe"
    opens device "$TMP/disk"
    opens fifo "$TMP/pipe"
    mkdir "$TMP/project/proc"
    mount -t proc proc "$TMP/project/proc"
    opens proc "$TMP/project"
    umount "$TMP/project/proc"
}

@test "agentrt's own state is not bound" {
    mkdir -p "$ROOT"
    opens agentrt "$ROOT"
    opens agentrt "$TMP"
}

@test "a project folder, a volume, a user's tmpfs pass" {
    strict "$TMP/project"
    eq "$status $output" $'0 hello\nran'
    mount -t tmpfs lib /var/lib
    mkdir -p /var/lib/docker/volumes/v/_data
    echo volume >/var/lib/docker/volumes/v/_data/file
    strict /var/lib/docker/volumes/v/_data
    eq "$status $output" $'0 volume\nran'
    opens engine-data /var/lib/docker/volumes/v
    umount /var/lib
    mount -t tmpfs mine "$TMP/binds"
    strict "$TMP/binds"
    eq "$status $output" "0 ran"
    umount "$TMP/binds"
}

@test "what the policy accepts passes; policy oci takes everything" {
    mkdir -p "$TMP/someone/.aws" "$TMP/policies"
    echo key >"$TMP/someone/.aws/file"
    printf '{"extend": "strict", "mounts": {"accept": ["%s"]}}\n' "$TMP/someone/.aws" \
        >"$TMP/policies/p.json"
    opens credentials "$TMP/someone/.aws"
    ACCEPT="--policy $TMP/policies/p.json" strict "$TMP/someone/.aws"
    eq "$status $output" $'0 key\nran'
    ACCEPT="--policy oci" strict "$TMP/someone"
    eq "$status $output" "0 ran"
}
