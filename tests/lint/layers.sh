#!/bin/sh
# The include graph points only up the table of docs/architecture.md, each external library is used
# by its one home only, and nothing below cmd/ prints or exits.
. "$(dirname "$0")/lib.sh"
needs nm awk

# Lowest layer first. A folder includes itself and what stands before it.
LAYERS='libocispec base spec policy plan ns mnt cgroup harden tty hook state exec task warden egress
        boundary cmd'

rank ()
{
    i=0
    for l in $LAYERS; do
        i=$((i + 1))
        [ "$l" = "$1" ] && { echo $i; return; }
    done
    echo 0
}

# layer_of PATH: the folder that owns a source file; src/main.c stands above all.
layer_of ()
{
    case $1 in
    libocispec/*) echo libocispec ;;
    src/*/*) f=${1#src/}; echo "${f%%/*}" ;;
    *) echo cmd ;;
    esac
}

include_graph ()
{
    c_files libocispec src | while read -r file; do
        own=$(rank "$(layer_of "$file")")
        [ "$own" -gt 0 ] || echo "$file: its folder is not in the table of layers"
        sed -n 's/^[ \t]*#[ \t]*include[ \t]*"\([^"]*\)".*/\1/p' "$TOP/$file" | while read -r inc; do
            case $inc in
            config.h) continue ;;
            */*) other=${inc%%/*} ;;
            *) [ -e "$TOP/${file%/*}/$inc" ] || echo "$file: includes $inc: where is it?"
               continue ;;
            esac
            r=$(rank "$other")
            [ "$r" -gt 0 ] || echo "$file: includes $inc, which is in no layer"
            [ "$r" -le "$own" ] || echo "$file: includes $inc from a higher layer"
        done
    done
}

# header HOME PATTERN: system headers matching PATTERN appear below HOME only.
header ()
{
    (cd "$TOP" && grep -rnE "^[ \t]*#[ \t]*include[ \t]*<$2" --include='*.[ch]' libocispec src |
        grep -v "^$1")
}

# foreign LIBRARY HOME: symbols of LIBRARY that objects outside HOME take from it.
foreign ()
{
    so=$(${CC:-cc} -print-file-name="lib$1.so")
    case $so in /*) ;; *) echo "lib$1.so not found"; return ;; esac
    nm -D --defined-only "$so" | awk '{ sub (/@.*/, "", $NF); print $NF }' | sort -u >"$tmp/lib"
    (cd "$BUILD" && objects | xargs -r nm -A --undefined-only 2>/dev/null) |
        awk '{ split ($1, f, ":"); print $NF, f[1] }' | sort >"$tmp/used"
    join "$tmp/used" "$tmp/lib" | sort -u | join -v1 - "$tmp/own" |
        awk -v home="$2" 'index ($2, home) != 1 { print $2 ": calls " $1 }'
}

# printers: objects below cmd/ that reach for standard output, standard error or exit.
printers ()
{
    banned='(__)?v?f?printf(_chk)?|puts|putchar|fputs|perror|stdout|stderr|exit|errx?|warnx?'
    (cd "$BUILD" && objects | grep -vE '^src/(cmd/|main)' | xargs -r nm -A --undefined-only) |
        awk '{ split ($1, f, ":"); sub (/@.*/, "", $NF); print f[1], $NF }' |
        grep -E " ($banned)\$" |
        grep -vE '^src/base/.*log\.o ' | sed 's/ / uses /'
}

tmp=$(mktemp -d) && trap 'rm -rf "$tmp"' EXIT
check "includes point up the table of layers" "$(include_graph)"
check "yajl headers in one folder" "$(header libocispec/ yajl/)"
homes=$(cd "$TOP" && grep -lE '#[[:space:]]*include[[:space:]]*<yajl/' libocispec/*.[ch] | wc -l)
check "yajl headers in exactly one file" "$([ "$homes" -eq 1 ] || echo "$homes files include them")"
check "libseccomp headers in src/harden" "$(header src/harden/ seccomp.h)"
check "libcap headers in src/harden" "$(header src/harden/ sys/capability.h)"
check "libselinux headers in src/harden" "$(header src/harden/ selinux/)"
check "libcgroup headers in src/cgroup" "$(header src/cgroup/ libcgroup)"
check "libdbus headers in src/cgroup/bus.c" "$(header src/cgroup/bus.c dbus/)"
check "nettle headers in src/base/digest.c" "$(header src/base/digest.c nettle/)"
check "objects are there to look at" "$([ -n "$(objects)" ] || echo "no *.o below $BUILD: run make")"
(cd "$BUILD" && objects | xargs -r nm --defined-only 2>/dev/null) | awk 'NF == 3 { print $3 }' |
    sort -u >"$tmp/own"
check "yajl is called from libocispec only" "$(foreign yajl libocispec/)"
check "libseccomp is called from src/harden only" "$(foreign seccomp src/harden/)"
check "libcap is called from src/harden only" "$(foreign cap src/harden/)"
check "libselinux is called from src/harden only" "$(foreign selinux src/harden/)"
check "libcgroup is called from src/cgroup only" "$(foreign cgroup src/cgroup/)"
check "libdbus is called from src/cgroup/bus only" "$(foreign dbus-1 src/cgroup/bus.o)"
check "nettle is called from src/base only" "$(foreign nettle src/base/)"
check "nothing below cmd/ prints or exits" "$(printers)"
finish
