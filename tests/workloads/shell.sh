#!/bin/sh
# A shell with coreutils, findutils, tar, sed, awk, grep and xz.
set -eu
mkdir -p tree/a/b && cd tree
seq 1 2000 | shuf | sort -n | uniq -c | awk '{ n += $2 } END { print n }' | grep -qx 2001000
for i in $(seq 1 50); do echo "line $i" >"a/b/file$i.txt"; done
[ "$(find . -name '*.txt' -exec cat {} + | wc -l)" -eq 50 ]
find . -name '*.txt' -print0 | xargs -0 -P4 -n5 sha256sum | sort -k2 >../sums
sha256sum -c --quiet ../sums
cd .. && tar -cJf tree.tar.xz tree && mkdir out && tar -xJf tree.tar.xz -C out && diff -r tree out/tree
cp -a tree copy && ln -s copy link && [ "$(readlink link)" = copy ] && ln sums hard && [ "$(stat -c %h hard)" = 2 ]
mkfifo pipe && { echo through >pipe & } && [ "$(cat pipe)" = through ] && wait
dd if=/dev/zero of=zeros bs=64k count=16 status=none && truncate -s 10 zeros && [ "$(stat -c %s zeros)" = 10 ]
split -n 4 sums part. && cat part.a? | cmp - sums
printf 'b 2\na 1\n' | sort | sed 's/a/A/' | tr 1 9 | paste -sd, | grep -qx 'A 9,b 2'
install -m 750 sums tool && [ "$(stat -c %a tool)" = 750 ] && touch -d 2020-01-01 tool
timeout 5 sleep 0.01 && nice -n 5 true && nohup true 2>/dev/null && setsid true && flock sums true
sync && df . >/dev/null && du -s tree >/dev/null && date >/dev/null && id -u | grep -qx 1000
[ "$(mktemp -d | cut -d/ -f2)" = work ] && env -i sh -c 'echo ok' | tee copy/ok | grep -qx ok
rm -rf out copy tree && (sleep 100 & kill $! && ! wait $!)
echo passed
