#!/usr/bin/env bash
# A stream of jobs to a cluster, and dlspool killed with SIGKILL every two seconds: every job runs
# exactly once, and comes to its end.  Some jobs are of several objects; some answers are lost.
# JOBS=N (1,000); a longer run by hand: JOBS=20000.
# Seen to fail with: adoption refused; the attempt's number counted up on an unknown outcome.
. "$(dirname "$0")/lib.bash"
. "$(dirname "$0")/kubernetes.bash"
jobs=${JOBS:-1000}
start_cluster --set run_seconds=0.2 || give_up "the stand-in starts"
kubernetes_spool || exit 1
at_exit 'stop_all; stop_cluster'
set_setting kubernetes.live_max 0

# Stages are in the daemon's process group, so that all can be killed at once.
start_all() {
    setsid "$DLSPOOL" -s "$spool" run 2>>"$scratch/daemon.log" &
    all=$!
}
stop_all() { kill -KILL -- "-$all" 2>/dev/null; wait "$all" 2>/dev/null; }
finished() { find "$spool/done" -mindepth 2 -maxdepth 2 | wc -l; }
all_done() { [ "$(finished)" = "$jobs" ]; }

mkdir "$scratch/made"
for i in $(seq "$jobs"); do
    if [ $((i % 20)) = 0 ]; then
        printf 'name: pair%d\nlibrary: any\ntype: distributed\ntasks:\n  main: {count: 2, command: [work]}\n' "$i"
    else
        printf 'name: one%d\nlibrary: any\ntype: single\ntasks:\n  main: {command: [work]}\n' "$i"
    fi >"$scratch/made/$i.yaml"
done
order '{"order": "misbehave", "method": "POST", "skip": 50, "count": 20, "action": "cut_answer", "bytes": 10}' \
    '{"order": "misbehave", "method": "POST", "skip": 150, "count": 20, "action": "status", "code": 500, "done": true}' \
    '{"order": "misbehave", "method": "PATCH", "skip": 5, "count": 5, "action": "cut_answer", "bytes": 0}' >/dev/null
mv "$scratch/made"/*.yaml "$spool/incoming/"
kills=0
start_all
until all_done || [ $SECONDS -gt 240 ]; do
    until=$((SECONDS + 2))
    wait_for 3 test $SECONDS -ge $until
    all_done && break
    [ "$kills" -lt $((5 + jobs / 300)) ] || { wait_for 60 all_done; continue; }
    stop_all
    kills=$((kills + 1))
    start_all
done
is "$(finished)" "$jobs" "all jobs are done, after $kills kills"
is "$(find "$spool"/{incoming,rendered,submitted,failed,held} -mindepth 1 -maxdepth 1 | wc -l)" 0 "nothing is anywhere else"

created=$(order '{"order": "dump", "what": "creations", "kind": "jobs"}' | jq -r '.creations[].name')
echo "# $(order '{"order": "dump", "what": "creations", "kind": "jobs"}' |
    jq -r '[.creations[].time] | "\(length) Jobs created in \(max - min | floor) s: \(length / (max - min) | floor)/s"')"
is "$(sort <<<"$created" | uniq -d | wc -l)" 0 "no Job was created twice"
is "$(wc -l <<<"$created")" "$jobs" "there was one for each"
is "$(grep -vc -- '-a1$' <<<"$created")" 0 "each in its first attempt"
ran=$(order '{"order": "dump", "what": "pods"}' | jq -r '.pods[].name' | sed -E 's/-[a-z0-9]{5}$//')
is "$(sort <<<"$ran" | uniq -d | wc -l)" 0 "no task ran twice"
is "$(wc -l <<<"$ran")" $((jobs + jobs / 20)) "every task ran"
outputs=$(find "$spool/done" -name 'main-*.log' | wc -l)
is "$outputs" $((jobs + jobs / 20)) "and has its output"
is "$(find "$spool/done" -name 'main-*.log' -size +0 -exec grep -c . {} + | grep -vc ':1$')" 0 "once"
left() { order "{\"order\": \"dump\", \"what\": \"objects\", \"kind\": \"$1\"}" | jq '.objects | length'; }
nothing_left() { [ "$(left jobs)$(left pods)$(left services)$(left configmaps)" = 0000 ]; }
ok "nothing is left at the server" wait_for 20 nothing_left

done_testing
