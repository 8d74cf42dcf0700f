# lib.bash - what the test scripts share: TAP, waiting for conditions, and a private spool
#
# Source it first.  DLSPOOL is the program.  Each script gets a directory of its own, $scratch,
# which goes away at the end with everything that was started.

set -u
DLSPOOL=${DLSPOOL:-$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)/build/dlspool}
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
scratch=$(mktemp -d "${TMPDIR:-/tmp}/dlspool-test.XXXXXX")
chmod 755 "$scratch"
spool=$scratch/spool
daemon=
tests=0
failures=0
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1
export GIT_AUTHOR_NAME=tester GIT_AUTHOR_EMAIL=tester@localhost
export GIT_COMMITTER_NAME=tester GIT_COMMITTER_EMAIL=tester@localhost

dlspool() { "$DLSPOOL" -s "$spool" "$@"; }

pass() { tests=$((tests + 1)); echo "ok $tests - $1"; }
fail() {
    tests=$((tests + 1)); failures=$((failures + 1)); echo "not ok $tests - $1"
    shift
    for line; do printf '%s\n' "$line" | sed 's/^/#   /'; done >&2
}

# give_up SENTENCE: end this script as failed; the others go on, which they would not after "Bail out!".
give_up() { fail "$1"; echo "1..$tests"; exit 1; }

# must DESCRIPTION COMMAND...: as ok, but without it the rest makes no sense.
must() {
    local before=$failures
    ok "$@"
    [ "$failures" = "$before" ] || { sed 's/^/# daemon: /' "$scratch/daemon.log" | tail -n 20 >&2; echo "1..$tests"; exit 1; }
}

# ok DESCRIPTION COMMAND...: the command succeeds.
ok() {
    local what=$1 output
    shift
    if output=$("$@" 2>&1); then pass "$what"; else fail "$what" "command: $*" "$output"; fi
}
# is GOT WANTED DESCRIPTION
is() { if [ "$1" = "$2" ]; then pass "$3"; else fail "$3" "got:    $1" "wanted: $2"; fi; }
# matches TEXT PATTERN: does one of its lines, as grep -E sees it?  A process costs more than most texts do here.
matches() {
    local line for_grep=
    [ ${#1} -lt 10000 ] && [[ $2 != *$'\n'* ]] || for_grep=1
    [ "$for_grep" ] || while IFS= read -r line; do
        [[ $line =~ $2 ]] && return 0
        [ $? = 1 ] || { for_grep=1; break; } # not a pattern to bash
    done <<<"$1"
    [ "$for_grep" ] && grep -Eq -- "$2" <<<"$1"
}
# like TEXT PATTERN DESCRIPTION: the text holds the extended regular expression.
like() { if matches "$1" "$2"; then pass "$3"; else fail "$3" "text: $1" "pattern: $2"; fi; }
unlike() { if matches "$1" "$2"; then fail "$3" "text: $1" "pattern: $2"; else pass "$3"; fi; }
skip_all() { echo "1..0 # SKIP $1"; exit 0; }
done_testing() { echo "1..$tests"; exit $((failures > 0)); }

# wait_for SECONDS COMMAND...: until the command succeeds; fails when the time is over.  The seconds are what
# a quiet machine needs at most; PATIENCE times as many are given, as others may have the processors.
patience=${PATIENCE:-6}
pause=0.05
exec {nothing}<> <(:) # is never written to
wait_for() {
    local until=$((SECONDS + $1 * patience))
    shift
    until "$@" >/dev/null 2>&1; do
        [ $SECONDS -lt $until ] || return 1
        read -rt $pause -u "$nothing" || : # sleeps, without a process
    done
}

# new_spool EXECUTOR: a spool with short intervals.
new_spool() {
    "$DLSPOOL" init --executor "${1:-null}" "$spool" >/dev/null || return 1
    set_setting scan_interval 500ms quiet_time 500ms retry_interval 200ms probe_interval 500ms poll_interval 100ms
}
# set_setting NAME VALUE [NAME VALUE...]: in dlspool.yaml.  A name that several parts have is written PART.NAME, or .NAME
# where it is in none.
set_setting() {
    local edits=() text IFS=
    text=$'\n'$(<"$spool/dlspool.yaml")
    for (( ; $# > 1; )); do
        case $1 in
        .*) edits+=(-e "s|^${1#.}: .*|${1#.}: $2|") ;;
        *.*) edits+=(-e "/^${1%.*}:/,/^[^ #]/s|^( +)${1#*.}: .*|\\1${1#*.}: $2|") ;;
        *)
            [[ ! $text =~ $'\n'\ *"$1: ".*$'\n'\ *"$1: " ]] || give_up "dlspool.yaml has $1 in several parts"
            edits+=(-e "s|^( *)$1: .*|\\1$1: $2|")
            ;;
        esac
        shift 2
    done
    sed -i -E "${edits[@]}" "$spool/dlspool.yaml"
}

# without_templates PATH...: push a commit that removes them from templates.git.
without_templates() {
    local clone
    clone=$(mktemp -d "$scratch/clone.XXXXXX")
    git clone -q "$spool/templates.git" "$clone" 2>/dev/null && git -C "$clone" rm -qr "$@" &&
        git -C "$clone" commit -qm "without $*" && git -C "$clone" push -q 2>/dev/null
    local result=$?
    rm -rf "$clone"
    return $result
}

start_daemon() {
    "$DLSPOOL" -s "$spool" run -v "$@" 2>>"$scratch/daemon.log" &
    daemon=$!
}
stop_daemon() {
    [ -n "$daemon" ] || return 0
    # Until its exec it is this shell, whose trap for TERM would be forgotten then.
    while [ "/proc/$daemon/exe" -ef "/proc/$$/exe" ]; do :; done
    kill -TERM "$daemon" 2>/dev/null
    wait "$daemon"
    local status=$?
    daemon=
    return $status
}

# drop NAME: standard input becomes incoming/NAME, by a rename.
drop() { cat >"$scratch/drop.tmp" && mv "$scratch/drop.tmp" "$spool/incoming/$1"; }

# as USER NAME [LINE...]: a job of that user is dropped, which needs root.
as() {
    local user=$1 name=$2
    shift 2
    printf '%s\n' "name: $name" 'script: "#!/bin/sh"' "$@" >"$scratch/as.tmp"
    chown "$user" "$scratch/as.tmp"
    mv "$scratch/as.tmp" "$spool/incoming/$name.yaml"
}

# find_job NAME [SPOOL]: found_job is the directory of the newest job whose id starts with NAME.  The states are looked at on
# the way of a job, so that one that moves is met; without a process, as most waiting is for this.
find_job() {
    local IFS= state candidates in=${2:-$spool}
    found_job=
    for state in rendered submitted failed held 'done/*'; do
        # shellcheck disable=SC2206 # patterns
        candidates=("$in"/$state/$1-?????????????)
        [ -d "${candidates[-1]}" ] && [[ ${candidates[-1]} > $found_job ]] && found_job=${candidates[-1]}
    done
    [ "$found_job" ]
}
job_dir() { find_job "$1" && printf '%s\n' "$found_job"; }
state_of() {
    find_job "$1" && found_job=${found_job#"$spool/"} && printf '%s\n' "${found_job%%/*}"
}
in_state() {
    find_job "$1"
    [[ ${found_job#"$spool/"}/ == "$2"/* ]]
}
# has_ended NAME: in done/, or in failed/ with `why` there.
has_ended() { in_state "$1" "done" || { in_state "$1" failed && [ -e "$(job_dir "$1")/why" ]; }; }

finish() {
    stop_daemon
    # podman leaves its storage mounted on itself.
    findmnt -rno TARGET | grep "^$scratch/" | sort -r | xargs -r umount -l 2>/dev/null
    # and empty control groups of containers that the script has removed itself
    [ ! -d "$spool/.podman" ] || find /sys/fs/cgroup -depth -type d \
        -path "*/libpod_parent/dlspool-$(cut -c 1-16 "$spool/.identity")-*" -exec rmdir {} + 2>/dev/null
    rm -rf "$scratch"
}
# at_exit COMMANDS: done at the end, before the scratch directory goes, by the script alone: a child that is told to
# end after its fork and before its exec runs the trap, too.  ([ may seem to fail there: bash takes it for the fork.)
at_exit() { trap "[[ \$BASHPID != \$\$ ]] || { $1; finish; }" EXIT; }
at_exit :
trap 'exit 1' INT TERM
