#!/usr/bin/env bash
# A daemon is killed before each call with which it takes over a spool; the next one serves at once, whether
# it was started before or after.  (tests/crash/takeover.c tries all calls, hosts and kinds of locks.)
. "$(dirname "$0")/lib.bash"
command -v strace >/dev/null && strace -o /dev/null true 2>/dev/null || skip_all "no process may be traced here"
new_spool null || exit 1

# killed_at CALL NTH: run a daemon that is killed before its Nth such call, or serves.
killed_at() {
    strace -qq -o "$scratch/trace" -e trace="$1" -e inject="$1:signal=KILL:when=$2" \
        "$DLSPOOL" -s "$spool" run -v 2>"$scratch/killed.log" &
    killed=$!
    ended_or_serves() { ! kill -0 $killed 2>/dev/null || pgrep -x intake -P "$(pgrep -P $killed)"; }
    wait_for 20 ended_or_serves
    kill -0 $killed 2>/dev/null || { wait $killed 2>/dev/null; return 0; }
    pkill -TERM -P $killed
    wait $killed 2>/dev/null
    return 1
}
job() { printf 'name: %s\nlibrary: any\ntype: single\nscript: "#!/bin/sh"\n' "$1" | drop "$1.yaml"; }

points=0
for call in linkat unlinkat renameat fsync openat; do
    n=1 step=1
    [ $call = openat ] && step=9 # of some hundred, most of which read settings
    while killed_at $call $n; do
        points=$((points + 1))
        : >"$scratch/daemon.log"
        started=$(date +%s%3N)
        start_daemon
        job "j$points"
        ok "killed before $call $n: the next serves" wait_for 10 in_state "j$points" "done"
        is "$(grep -c 'standing by' "$scratch/daemon.log")" 0 "at once ($(($(date +%s%3N) - started)) ms)"
        stop_daemon
        n=$((n + step))
    done
done
is "$((points >= 8))" 1 "it was killed at $points calls"
is "$(cd "$spool" && ls -d .lease-* .epoch-* 2>/dev/null | wc -l)" 1 "and nothing is left of them"
done_testing
