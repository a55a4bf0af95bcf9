#!/bin/sh
# image.sh DIR: makes a small busybox root file system in DIR. PROBE, where set, becomes /bin/probe.
set -eu
dir=$1
mkdir -p "$dir/bin" "$dir/etc" "$dir/proc" "$dir/sys" "$dir/dev" "$dir/root" "$dir/mnt" "$dir/run" \
    "$dir/var" "$dir/srv"
mkdir "$dir/tmp" && chmod 1777 "$dir/tmp"
cp "$(command -v busybox)" "$dir/bin/busybox"
for applet in sh ash cat chmod chown cp cut date dd df dirname echo env expr false find grep \
    head hostname httpd id ifconfig ionice ip kill ln ls mkdir mkfifo mknod mount mv nc nice nohup \
    od ps printf pwd readlink realpath rm rmdir seq setsid sh sleep sort stat stty sync tail test \
    touch tr true tty umount uname uniq unshare uptime usleep wc wget whoami xargs yes; do
    ln -sf busybox "$dir/bin/$applet"
done
[ -z "${PROBE:-}" ] || cp "$PROBE" "$dir/bin/probe"
cat >"$dir/etc/passwd" <<-END
	root:x:0:0:root:/root:/bin/sh
	user:x:1000:1000::/home/user:/bin/sh
	nobody:x:99:99::/:/bin/sh
END
printf 'root:x:0:\nuser:x:1000:\nstaff:x:50:user\nnobody:x:99:\n' >"$dir/etc/group"
mkdir -p "$dir/home/user"
chown 1000:1000 "$dir/home/user"
