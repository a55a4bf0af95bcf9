#!/bin/sh
# make demo: a busybox bundle made by `agentrt spec`, run, and removed. Needs root.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
agentrt=${AGENTRT:-agentrt}
[ "$(id -u)" -eq 0 ] || { echo "demo: run me as root" >&2; exit 1; }

dir=$(mktemp -d)
chmod 755 "$dir"
trap 'rm -rf --one-file-system "$dir"' EXIT
"$here/image.sh" "$dir/rootfs"
"$agentrt" spec --bundle "$dir"
payload='["sh", "-c", "echo hello from pid $$ of $(hostname); ls /"]'
tr -d '\n' <"$dir/config.json" | sed -e 's|"terminal": *true|"terminal": false|' \
    -e "s|\"args\": *\[[^]]*\]|\"args\": $payload|" >"$dir/edited"
mv "$dir/edited" "$dir/config.json"
echo "$ agentrt run --bundle $dir demo"
"$agentrt" --root "$dir/state" run --bundle "$dir" "demo-$$"
