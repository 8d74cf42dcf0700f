#!/usr/bin/env bash
# What jobs took is shown with what was predicted, for people and for programs, and can be made again; what they used stays.
. "$(dirname "$0")/lib.bash"
new_spool null || exit 1

is "$(dlspool history)" "0 runs" "without a history there are no runs"
# What a job used must not be lost: it waits with its end until that can be written.
mkdir -p "$spool/history"
: >"$spool/history/usage"
start_daemon
echo_job() { printf 'name: %s\nlibrary: any\ntype: single\nscript: echo hello\n' "$1" >"$spool/incoming/$1.yaml"; }
echo_job right
ok "that the accounts cannot be written is said" \
    wait_for 20 grep -q 'history/usage/ could not be opened: Not a directory; jobs that have ended stay in submitted/' "$scratch/daemon.log"
is "$(ls "$spool/submitted" | wc -l)" 1 "and the job waits"
end=$(grep -c ' finished ' "$(job_dir right)/log")
rm "$spool/history/usage"
for name in wrong resized plain; do echo_job $name; done
for name in right wrong resized plain; do
    ok "$name ends in done/" wait_for 20 in_state $name "done"
done
is "$end $(grep -c ' finished ' "$(job_dir right)/log")" "1 1" "its end is written down once, however long it waits"
stop_daemon

# The accounts have a line for each attempt; they stay when the job goes.
is "$(dlspool acct -P --noheader -o JobName,State,NodeList,Met | sort | xargs)" \
    "plain|COMPLETED|unknown| resized|COMPLETED|unknown| right|COMPLETED|unknown| wrong|COMPLETED|unknown|" \
    "each job is in the accounts, and what nobody knows of it is said so"
is "$(stat -c %a "$spool"/history/usage/*)" 644 "in a file which all may read"
removed=$(basename "$(job_dir resized)")
mkdir "$scratch/removed" && cp -r "$(job_dir resized)" "$scratch/removed/" && rm -r "$(job_dir resized)"
is "$(dlspool acct -P --noheader -o ID "$removed")" "$removed" "one that was removed is there"
mv "$scratch/removed/$removed" "$(dirname "$(job_dir plain)")/"

# As if they had run: the null executor's jobs take no time.
ran() { # ran NAME SECONDS PREDICTED LATE [MORE-SIZES]
    local job now
    job=$(job_dir "$1") now=$(date -u +%Y-%m-%dT%H:%M:%S.000Z)
    printf '%s progress attempt=1 started=%s done=400 total=400 size=1 rate=2.5 start_up_ms=-1 restart_ms=-1\n%s size attempt=1 size=1 rate=2.5 running_ms=%s000 resize_ms=-1 cpu_used_ms=%s cpu_allocated_ms=%s000\n%s' \
        "$now" "$now" "$now" "$2" "$2" "$2" "${5:+$now size attempt=1 size=2 running_ms=1 resize_ms=-1 cpu_used_ms=-1 cpu_allocated_ms=0
}" >"$job/progress"
    [ "$3" = 0 ] || printf '%s predicted seconds=%s late=%s\n' "$now" "$3" "$4" >>"$job/log"
}
ran right 100 105 120
ran wrong 100 50 75
ran resized 100 5 6 more
ran plain 100 0 0
is "$(dlspool history --rebuild)" "5 runs from done/" "it is made again from done/"
is "$(grep -c ' run of=fixed ' "$spool/history/runs")" 5 "a line for each size, for cat"
is "$(stat -c %a "$spool/history/runs")" 644 "which all may read"

output=$(dlspool history)
like "$output" "right-[a-z0-9]{13} +- +finished +- +2\.5 +100 +105 +120 +0%" "history shows a run"
like "$output" "plain-[a-z0-9]{13} +- +finished +- +2\.5 +100 +- +- " "and one that was not predicted"
like "$output" "5 runs; of 2 predicted: median error 28 %, mean error 28 %, 50 % took no longer than LATE" \
    "and how good predictions were, not counting what was resized"
json=$(dlspool history --json)
is "$(jq -c '.predictions' <<<"$json")" '{"count":2,"median_error":0.275,"mean_error":0.275,"covered":0.5}' \
    "as JSON too"
is "$(jq -r '.runs[] | select(.id | startswith("wrong-")) | "\(.seconds) \(.predicted) \(.late) \(.whole)"' <<<"$json")" \
    "100 50 75 true" "with each run"

printf 'rubbish\n' >>"$spool/history/runs"
is "$(dlspool history --json | jq '.runs | length')" 5 "a damaged line does not count"
cat "$spool/history/runs" >>"$spool/history/runs.twice" && cat "$spool/history/runs.twice" >>"$spool/history/runs"
is "$(dlspool history --json | jq '.runs | length')" 5 "nor does one that is there twice"
rm "$spool/history/runs" && mkdir "$spool/history/runs"
output=$(dlspool history 2>&1)
is $? 1 "what cannot be read is an error"
like "$output" "history.*runs" "that names it"
is "$(dlspool history --rebuild)" "5 runs from done/" "and is put aside when it is made again"

done_testing
