#!/bin/bash
# The completions in real shells: what comes from the option tables, from the program, from disk.
. "${TOP:-.}/tests/lint/lib.sh"
needs bash fish zsh script
SCRIPTS=$BUILD/contrib/completions
tmp=$(mktemp -d) && trap 'rm -rf "$tmp"' EXIT
mkdir "$tmp/bin" "$tmp/work" "$tmp/work/folder" "$tmp/home"
touch "$tmp/work/file"
# It knows two containers, and others in the state root /r.
cat >"$tmp/bin/agentrt" <<'END'
#!/bin/sh
case "$*" in
'list -q') printf 'one\ntwo\n' ;;
'--root /r list -q') echo elsewhere ;;
*) echo "called: $*" ;;
esac
END
chmod 755 "$tmp/bin/agentrt"
export PATH="$tmp/bin:$PATH" HOME="$tmp/home" XDG_CONFIG_HOME="$tmp/home" TERM=dumb
cd "$tmp/work" || exit 1

# in_bash WORD...: what bash offers for the last word; words are split as readline does, at '='.
in_bash ()
{
    bash --norc -c 'source "$0" && COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) && _agentrt &&
        printf "%s\n" "${COMPREPLY[@]}"' "$SCRIPTS/agentrt.bash" agentrt "$@" 2>&1
}

in_fish ()
{
    fish --no-config -c 'source $argv[1]; complete -C $argv[2]' "$SCRIPTS/agentrt.fish" \
        "agentrt $*" 2>&1 | cut -f 1
}

# in_zsh WORD...: zsh's own functions that show matches are replaced by ones that print them.
in_zsh ()
{
    zsh -f -c 'setopt extendedglob
        compadd () { shift ${@[(i)--]}; print -l -- "$@" }
        _describe () { local list=${@[-1]}; print -l -- ${${(P)list}%%:*} }
        _files () { print -l -- ${${(M)1:#-/}:+folder} ${${1:-x}:#-/} }
        compset () { PREFIX=${PREFIX#*=} }
        words=("${@:2}") CURRENT=$(($# - 1)) PREFIX=$words[-1]
        source $1' - "$SCRIPTS/_agentrt" agentrt "$@" 2>&1
}

# offers SHELL NAME WANTED WORD...: each of WANTED is among what SHELL offers, and nothing of it
# begins with what WANTED has behind '!'.
offers ()
{
    local shell=$1 name=$2 wanted=$3 got w bad=''

    shift 3
    got=$("in_$shell" "$@")
    for w in $wanted; do
        case $w in
        !*) ! grep -q -- "^${w#!}" <<<"$got" || bad="$bad unwanted: ${w#!}" ;;
        *) grep -qx -- "$w" <<<"$got" || bad="$bad missing: $w" ;;
        esac
    done
    check "$shell: $name" "${bad:+$bad, got: $(tr '\n' ' ' <<<"$got")}"
}

for shell in bash fish zsh; do
    folder=folder
    [ $shell != fish ] || folder=folder/
    offers $shell 'commands' 'create exec list !--root' ''
    offers $shell 'global options' '--root --policy --systemd-cgroup !--bundle' --
    offers $shell 'words of a global option' 'text json !file' --log-format ''
    offers $shell 'options of a command' '--bundle --pid-file --no-pivot !--cap' create --
    offers $shell 'options of another' '--cap --cgroup --ignore-paused !--bundle' exec --
    offers $shell 'folders' "$folder !file" create --bundle ''
    offers $shell 'choices' 'table json !one' list --format ''
    offers $shell 'containers' 'one two !elsewhere !--' kill ''
    offers $shell 'containers of a state root' 'elsewhere !one' --root /r kill ''
    offers $shell 'no container where an option wants a value' '!one !two' exec --user ''
    offers $shell 'commands of help' 'create kill' help ''
    offers $shell 'alternatives' 'show check' policy ''
    offers $shell 'names of policies' 'strict oci system' policy show ''
done
offers bash 'a prefix' 'create !delete' cr
offers bash 'a value behind =' 'json !text' --log-format = j
offers bash 'a flag with a value is no operand' 'one' exec --tty = false ''
offers zsh 'behind the id nothing is ours' '!--cap' exec one --
offers bash 'behind the id nothing is ours' '!--cap' exec one --
offers bash 'signals' 'SIGKILL !SIGTERM' kill one K
offers bash 'names of policies and files' 'strict file' --policy ''

# On a terminal, by the key.
printf '%s\n' "bind 'set enable-bracketed-paste off'" "source '$SCRIPTS/agentrt.bash'" >"$tmp/rc"
printf 'agentrt kil\ton\tKILL\nexit\n' | script -qec "bash --noprofile --rcfile $tmp/rc -i" /dev/null \
    >"$tmp/screen" 2>&1
check 'bash: the tab key' "$(grep -q 'called: kill one KILL' "$tmp/screen" || cat "$tmp/screen")"
finish
