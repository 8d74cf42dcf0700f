#!/usr/bin/env bash
# The supervisor is killed before each call with which it starts its stages, lets them read changed settings, waits
# for them and stops them.  No stage outlives it; the next daemon serves, and every job runs once.
# (325-takeover-killed.t kills it while it takes over.)
. "$(dirname "$0")/lib.bash"
command -v strace >/dev/null && strace -o /dev/null true 2>/dev/null || skip_all "no process may be traced here"
new_spool null || exit 1
set_setting takeover_time 1h            # nobody waits for that on the same machine

job() { printf 'name: %s\nlibrary: any\ntype: single\nscript: "#!/bin/sh"\n' "$1" | drop "$1.yaml"; }
nobody_is_left() { ! pgrep -f -- "-s $spool run" >/dev/null; }
# By the shell's own list: another process may have its number by then.
has_ended() { ! grep -qx "$traced" <<<"$(jobs -rp)"; }
serves() { has_ended || in_state "$1" "done"; }

# killed_at CALLS NTH [ACTION...]: run a daemon that is killed before its Nth such call, and do ACTION when it
# serves.  Fails when there is no Nth.
killed_at() {
    local calls=$1 nth=$2 last=j$points supervisor
    shift 2
    strace -qq -o "$scratch/trace" -e trace="$calls" -e inject="$calls:signal=KILL:when=$nth" \
        "$DLSPOOL" -s "$spool" run -v 2>"$scratch/killed.log" &
    traced=$!
    wait_for 20 serves "$last" || give_up "the daemon that is to be killed does not serve"
    supervisor=
    has_ended || supervisor=$(pgrep -P $traced)
    [ -z "$supervisor" ] || "$@" "$supervisor"
    if ! wait_for 10 has_ended; then
        kill -TERM "$supervisor"
        wait $traced
        return 1
    fi
    wait $traced
    [ $? = 137 ]                        # as strace ends like what it traced
}
stop_it() { kill -TERM "$1"; }
change_settings() { set_setting takeover_time $((1 + points))m; }

points=0
# try CALLS WHAT [ACTION...]: killed at each of them.
try() {
    local calls=$1 what=$2 nth=1
    shift 2
    while job "j$points" && killed_at "$calls" $nth "$@"; do
        ok "killed before call $nth of $what: its stages end" wait_for 10 nobody_is_left
        start_daemon
        ok "... and the next serves" wait_for 10 in_state "j$points" "done"
        stop_daemon
        points=$((points + 1)) nth=$((nth + 1))
    done
    is "$((nth > 3))" 1 "killed at $((nth - 1)) calls of $what"
    points=$((points + 1))
    wait_for 10 nobody_is_left
}
try '/^(clone|clone3|fork|vfork)$' "starting stages" stop_it
try kill "stopping" stop_it
try kill "changed settings" change_settings
is "$(find "$spool"/done -name log -path '*/j*' -exec grep -c ' submitted ' {} + | grep -vc ':1$')" 0 \
    "no job was submitted twice"
is "$(ls "$spool/failed" "$spool/rendered" "$spool/submitted" | grep -c '^j')" 0 "and none is left"
# Told to end before it is dlspool, it is a copy of this script.
for _ in {1..10}; do start_daemon; kill -TERM "$daemon"; stop_daemon; done
ok "stopped as soon as it was started, it takes nothing of the test with it" [ -d "$scratch" ]
done_testing
