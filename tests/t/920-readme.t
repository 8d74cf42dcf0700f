#!/usr/bin/env bash
# The commands that the documentation shows work: the blocks marked `console` of README.md and
# docs/*.md are run in order, in a spool of their own for each page, with the null executor.  And
# README's two commands set up what they need.
. "$(dirname "$0")/lib.bash"
cd "$top" || exit 1

# commands PAGE: each command of its console blocks, ended by a NUL: what follows `$ `, and the lines
# after it that follow `> `.
commands() {
    awk '/^```console$/ {on = 1; next}
         /^```$/ {on = 0}
         on && /^\$ / {if (n++) printf "%c", 0; printf "%s", substr($0, 3); next}
         on && /^> / {printf "\n%s", substr($0, 3)}
         END {if (n) printf "%c", 0}' "$1"
}

# `dlspool` in the PATH is the program under test; a spool made without --executor gets null.
mkdir "$scratch/bin"
cat >"$scratch/bin/dlspool" <<SHIM
#!/usr/bin/env bash
for word; do
    if [ "\$word" = --executor ]; then exec "$DLSPOOL" "\$@"; fi
done
for word; do
    if [ "\$word" = init ]; then exec "$DLSPOOL" "\$@" --executor null; fi
done
exec "$DLSPOOL" "\$@"
SHIM
chmod +x "$scratch/bin/dlspool"

# start_shell PAGE: a shell with a home of its own in the top directory; docs/ pages other than those
# that make a spool find one at $DLSPOOL_DIR, with a job that is done and some that failed.
start_shell() {
    home=$scratch/home-$(basename "$1" .md)
    mkdir "$home"
    spool=$home/spool
    coproc SHELL_ {
        exec env HOME="$home" PATH="$scratch/bin:$PATH" DLSPOOL_DIR="$spool" \
            bash --noprofile --norc 2>&1
    }
    shell=$SHELL__PID
    exec {to}>&"${SHELL_[1]}" {from}<&"${SHELL_[0]}"
}
# run COMMAND: in that shell; its output, and its status as ours.
run() {
    local line
    output=
    # shellcheck disable=SC2016 # it is for the other shell
    printf '%s\nprintf "\\nstatus %%d\\n" $?\n' "$1" >&"$to"
    while IFS= read -r -t 60 line <&"$from"; do
        case $line in "status "*) return "${line#status }" ;; esac
        output+=$line$'\n'
    done
    output+="no answer within 60 s"
    return 255
}
stop_shell() {
    [ -n "${shell:-}" ] || return 0
    run 'kill $(jobs -p) 2>/dev/null; wait' || true
    exec {to}>&- {from}<&-
    kill "$shell" 2>/dev/null
    wait "$shell" 2>/dev/null
    shell=
}
cleanup=stop_shell

# furnish: a spool for pages that only look at one.
furnish() {
    new_spool null || return 1
    without_templates local/mxnet/ps.yaml local/any/ps.yaml || return 1
    printf 'name: sad\nlibrary: any\n' | drop sad.yaml
    printf 'name: waits\nlibrary: mxnet\ntype: ps\ntasks: {server: {command: ["true"]}}\n' | drop waits.yaml
    cp examples/hello/job.sh "$spool/incoming/hello.sh"
    sed "s|^program: \.|program: $top/examples/digits|" examples/digits/job.yaml >"$spool/incoming/digits.yaml"
    ( DLSPOOL_DIR=$spool timeout 180 "$DLSPOOL" run --drain 2>>"$scratch/daemon.log" )
}

pages=0
for page in README.md docs/*.md; do
    commands "$page" >"$scratch/commands"
    [ -s "$scratch/commands" ] || continue
    pages=$((pages + 1))
    start_shell "$page"
    grep -qzE '(^| )init( |$)' "$scratch/commands" || ok "a spool for $page" furnish
    while IFS= read -r -d '' command; do
        if run "$command"; then
            pass "$page: ${command//$'\n'/ }"
        else
            fail "$page: ${command//$'\n'/ }" "status $?" "$output"
        fi
    done <"$scratch/commands"
    # What the page has left behind is what it said: no file waits, and jobs are done.
    is "$(ls "$spool/incoming")" "" "$page leaves nothing in incoming/"
    ok "$page has a job that is done" sh -c "ls -d '$spool'/done/*/*"
    stop_shell
done
is "$((pages >= 3))" 1 "at least three pages have commands that are run"

# README's two commands, and what CI calls.
readme=$(awk '/^```sh$/ {on = 1; next} /^```$/ {if (on) exit} on {print $1, $2}' README.md | tr '\n' ';')
is "$readme" "apt-get update;apt-get install;git clone;tools/setup build;make demo;" \
    "README's first commands lead from nothing to the first result"
for target in demo check; do
    like "$(make --no-print-directory -n $target 2>&1 | head -n 1)" "^tools/setup $target\$" "make $target sets up first"
done
like "$(make --no-print-directory -n demo 2>&1)" 'tools/demo$' "make demo runs the demonstration"
# What containers need is told, each in a sentence, before anything is tried.
fake=$scratch/fake
mkdir -p "$fake"/{etc,dev,sys/fs/cgroup/memory,proc/self,proc/sys/user,proc/sys/kernel}
lacks() { CONTAINERS_UID=$1 tools/containers "$fake" 2>&1 | grep -v 'the program'; }
echo '1 0 8:1 / /mnt rw - ext4 /dev/sda rw' >"$fake/proc/self/mountinfo"
like "$(lacks 0)" '^containers cannot be started here: / is a directory that chroot made the root' "a plain chroot is told"
echo '1 0 8:1 / / rw - ext4 /dev/sda rw' >"$fake/proc/self/mountinfo"
is "$(lacks 0)" "" "root lacks nothing more"
echo 0 >"$fake/proc/sys/user/max_user_namespaces"
lacking=$(lacks 1000)
for what in '/etc/subuid gives the user .* no range' '/etc/subgid gives' 'there is no /dev/fuse' 'no user namespaces'; do
    like "$lacking" "$what" "an ordinary user lacks: $what"
done
for file in subuid subgid; do echo "$(id -un):100000:65536" >"$fake/etc/$file"; done
echo 10000 >"$fake/proc/sys/user/max_user_namespaces"
touch "$fake/dev/fuse"
is "$(lacks 1000)" "" "and then nothing"
rm -r "$fake/sys/fs/cgroup"
like "$(lacks 0)" 'no control groups are mounted' "control groups are looked for"

is "$(grep -vE '^(#|set -e$|cd "\$\(dirname "\$0"\)/\.\."$|$)' .ci/run)" "exec make check" \
    ".ci/run runs make check and nothing else"
packages=$(sed -n 's/^PACKAGES := //p' Makefile)
for package in $packages; do
    case $package in yaml-0.1) name=libyaml ;; lib*) name=$package ;; *) name=$package ;; esac
    like "$(sed -n '/^| package/,/^$/p' README.md)" "$name" "README says what $package is for"
done
is "$(($(wc -l <README.md) <= 140))" 1 "README is short"

done_testing
