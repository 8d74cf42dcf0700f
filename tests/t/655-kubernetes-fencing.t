#!/usr/bin/env bash
# A daemon is stopped (SIGSTOP) while it sends a batch to a cluster, and another one takes over and runs the jobs.
# When the first wakes up, it sends nothing of what is left of its batch: nothing is created twice.
. "$(dirname "$0")/lib.bash"
. "$(dirname "$0")/kubernetes.bash"
stopped= first=
at_exit 'kill -CONT $stopped 2>/dev/null; kill $first 2>/dev/null; stop_cluster'
start_cluster --set run_seconds=0.1 || give_up "the stand-in starts"
kubernetes_spool || exit 1
set_setting takeover_time 2s
set_setting kubernetes.in_flight 1
drop_jobs() {
    mkdir "$scratch/dropped"
    for i in $(seq "$1" "$2"); do
        printf 'name: j%03d\nlibrary: any\ntype: single\ntasks:\n  main: {command: [work]}\n' "$i" >"$scratch/dropped/j$i.yaml"
    done
    for i in $(seq "$1" "$2"); do mv "$scratch/dropped/j$i.yaml" "$spool/incoming"; done
    rmdir "$scratch/dropped"
}
creations() { order '{"order": "dump", "what": "creations", "kind": "jobs"}' | jq -r '.creations[].name'; }
done_to() { [ "$(ls "$spool"/done/* 2>/dev/null | grep -c '^j')" -ge "$1" ]; }
created() { [ "$(creations | wc -l)" -ge "$1" ]; }

"$DLSPOOL" -s "$spool" run -v 2>"$scratch/first.log" &
first=$!
drop_jobs 1 3
ok "the first daemon serves" wait_for 30 done_to 3
# A byte every 0.3 ms: half a second for each creation, one at a time.
order '{"order": "misbehave", "method": "POST", "action": "slow", "seconds": 0.0003, "count": 0}' >/dev/null
drop_jobs 4 33
ok "it sends a batch" wait_for 30 created 6
stopped="$first $(pgrep -P $first) $(for child in $(pgrep -P $first); do pgrep -P "$child"; done)"
kill -STOP $stopped
count=$(creations | wc -l)
is "$((count < 33))" 1 "it is stopped in the middle: after $count of 33"
order '{"order": "calm"}' >/dev/null
"$DLSPOOL" -s "$spool" run -v 2>"$scratch/second.log" &
daemon=$!
ok "the second takes over" wait_for 30 grep -q 'taking over' "$scratch/second.log"
ok "all jobs are done" wait_for 60 done_to 33
kill -CONT $stopped
ok "the first sees that it was taken for dead" wait_for 30 grep -q 'another daemon has taken over' "$scratch/first.log"
ok "and stands by" wait_for 30 grep -q 'standing by' "$scratch/first.log"
is "$(creations | sort | uniq -d)" "" "nothing was created twice"
is "$(creations | wc -l)" 33 "and nothing is missing"
kill $first && wait $first
is $? 0 "the first stops cleanly"
stop_daemon
is $? 0 "and the second"
done_testing
