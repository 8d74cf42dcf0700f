# nfs.bash - for scripts that run among real NFS hosts
#
# Source it first, instead of lib.bash.  Outside, it boots the hosts of tests/nfs/rig and has the
# script run there; inside, it goes on.  See tests/nfs/hosts.bash for what hosts can do.
#
# The spool is /run/nfs/spool on the clients ($spool), and $served is the same directory as the
# server has it.

if [ -z "${RIG_HOSTS:-}" ]; then
    export DLSPOOL=${DLSPOOL:-$(cd "$(dirname "$0")/../.." && pwd)/build/dlspool}
    why=$("$(dirname "$0")/../nfs/rig" "$0" 2>&1 >&3 3>&-)
    status=$?
    [ $status != 77 ] || { echo "1..0 # SKIP $(tail -n 1 <<<"$why")"; exit 0; }
    [ -z "$why" ] || printf '%s\n' "$why" >&2
    exit $status
fi 3>&1
. "$(dirname "$0")/lib.bash"
. "$RIG_FILES/hosts.bash"
spool=$shared/spool
served=/run/export/plain/spool

pause=0.3 # between looks: there is one processor, and looking is slow
# on_user HOST UID COMMAND: with that user's rights.
on_user() { local host=$1 uid=$2; shift 2; on "$host" setpriv --reuid "$uid" --regid "$uid" --clear-groups -- "$@"; }

# change_settings UID EXPRESSION: of the spool's dlspool.yaml, with sed -E.  On A, where the daemon reads
# it: a client may believe for half a minute what it saw before the server's own copy was replaced.
change_settings() { on_user A "$1" sed -i -E "$2" "$spool/dlspool.yaml"; }

# job NAME: the bytes of a small job file.
job() { printf 'name: %s\nlibrary: any\ntype: single\nscript: "#!/bin/sh"\n' "$1"; }
# drop_on HOST NAME: standard input becomes incoming/NAME by a rename there.
drop_on() { on "$1" sh -c 'cat >"$1/incoming/.$2" && mv "$1/incoming/.$2" "$1/incoming/$2"' drop "$spool" "$2"; }

# start_on HOST [OPTIONS]: a daemon there, in a process group of its own; its output is $scratch/HOST.log.
start_on() {
    local host=$1
    shift
    setsid "$RIG_FILES/on" "$host" "$DLSPOOL" -s "$spool" run -v "$@" 2>>"$scratch/$host.log" &
    eval "daemon_$host=\$!"
}
signal_on() {
    local process=daemon_$1
    kill "-$2" -- "-${!process}" 2>/dev/null
    [ "$2" != KILL ] || wait "${!process}" 2>/dev/null
}
stop_on() { local process=daemon_$1; kill -TERM "${!process}" 2>/dev/null; wait "${!process}"; }
said_on() { grep -q -- "$2" "$scratch/$1.log"; }

# What the server has, asked without any client's caches.
served_dir() { find_job "$1" "$served" && printf '%s\n' "$found_job"; }
served_in() { find_job "$1" "$served" && [[ $found_job == "$served/$2/"* ]]; }
