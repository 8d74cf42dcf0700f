#!/usr/bin/env bash
# Metrics: what `dlspool metrics` and a served spool tell Prometheus is what happened, is in its format, and no counter goes back
# when the daemon is killed, or jobs and accounts are removed.
. "$(dirname "$0")/lib.bash"
new_spool null || exit 1
file=$scratch/node/dlspool.prom
mkdir "$scratch/node"
counts=$scratch/counts
job() { printf '#!/bin/sh\n#DL name=%s\n#DL library=any\n#DL type=single\n#DL tasks.main={cpus: 1, memory: 64Mi}\ntrue\n' "$1" | drop "$1.sh"; }
# value SERIES [FILE]: of the file, or of what the command prints.
value() { series=dlspool_$1 awk 'BEGIN { series = ENVIRON["series"] } $0 ~ /^#/ { next } substr($0, 1, length(series) + 1) == series " " { print $NF }' "${2:-$counts}"; }
collect() { dlspool metrics "$@" >"$counts"; }
checked() { # the format, where promtool is installed
    command -v promtool >/dev/null || { pass "$2 # SKIP promtool (package prometheus) is not installed"; return; }
    is "$(promtool check metrics <"$1" 2>&1)" "" "$2"
}

collect
is "$(value lease_held) $(value 'jobs{state="done"}') $(value incoming_files)" "0 0 0" "an empty spool that nobody serves"
is "$(value 'build_info{version="'"$(<"$top/VERSION")"'"}')" 1 "the version"
is "$(value attempts_total)" "" "what has not happened has no series"
job early
collect
is "$(value incoming_files)" 1 "a file that waits is counted"
checked "$counts" "promtool takes it"

# By hand, without the setting.
start_daemon
must "a job is done" wait_for 10 in_state early "done"
collect
is "$(value lease_held) $(value 'jobs{state="done"}') $(value 'attempts_total{outcome="succeeded",class=""}')" "1 1 1" "what ended is counted"
is "$(value 'executor_up{executor="null"}') $(value wait_seconds_count\{queue=\"\"\})" "1 1" "the executor is asked"
sed -i -E 's/^[0-9]{4}/2001/' "$spool/capacity"
collect
ok "also for what it has, where the daemon was told so long ago" test "$(value capacity_timestamp_seconds | cut -d. -f1)" -gt 1600000000
is "$(value jobs_accepted_total)" "" "what only the daemon's processes count is not there"
set_setting rows '[{queue: short, running: 2}]'
collect
is "$(value 'queue_limit{queue="short",resource="jobs",gpu_type=""}') $(value 'queue_used{queue="short",resource="jobs",gpu_type=""}')" "2 0" \
    "a row for a queue is told, and what the queue has of it"
ok "what was summed up is kept" grep -q 'attempts_total' "$spool/history/metrics"
ok "--textfile writes a file" dlspool metrics --textfile "$scratch/node/by-hand.prom"
is "$(value 'jobs{state="done"}' "$scratch/node/by-hand.prom") $(ls -A "$scratch/node")" "1 by-hand.prom" "as a whole, with nothing beside it"
rm "$scratch/node/by-hand.prom"
output=$(dlspool metrics --textfile "$scratch/nowhere/x.prom" 2>&1)
is $? 1 "where there is no directory"
like "$output" 'nowhere/ could not be opened: No such file or directory' "that is said"

# Strangers' words, which need not be UTF-8, or end where they should.
month=$(date -u +%Y-%m)
stamp=$(date -u +%FT%T.000Z)
usage() { printf '%s usage id=%s-1m8000000000%s attempt=%s user=ann uid=1000 gid=100 priority=0 eligible=%s started=%s ended=%s %s whole=1\n' \
    "$stamp" "$1" "$2" "$3" "$stamp" "$stamp" "$stamp" "${*:4}" >>"$spool/history/usage/$month"; }
usage evil 1 1 'queue="a\"} 1\ndlspool_evil 1" outcome=failed reason=Exited class=unknown cpu_held_ms=90000 gpu_held_ms=45000'
usage late 2 1 outcome=failed reason=Preempted class=transient deadline=$stamp met=no
usage late 2 2 outcome=failed reason=Exited class=unknown deadline=$stamp met=no
usage late 2 2 outcome=failed reason=Exited class=unknown deadline=$stamp met=no
usage ontime 3 1 outcome=succeeded deadline=$stamp met=yes
collect --users
checked "$counts" "promtool takes what users wrote"
is "$(value evil)" "" "which is no series of its own"
is "$(value 'wait_seconds_count{queue="a\"} 1?dlspool_evil 1"}')" 1 "but a label"
is "$(value 'attempts_total{outcome="failed",class="unknown"}') $(value 'preempted_total{reason="Preempted"}')" "2 1" "a line that a crash has doubled counts once"
is "$(value 'deadlines_total{result="missed"}') $(value 'deadlines_total{result="met"}')" "1 1" "a job misses its deadline once"
is "$(value 'user_attempts_total{user="ann"}') $(value 'user_gpu_held_seconds_total{user="ann"}')" "4 45" "--users tells them apart"
dlspool pause >/dev/null
wait_for 10 test -e "$spool/rendered/PAUSED"
job one; job two
must "jobs wait" wait_for 10 in_state two rendered
collect --users
is "$(value 'jobs_waiting{reason="pause"}') $(value paused) $(value 'pending_requested{resource="memory_bytes",gpu_type=""}')" "2 1 $((128 << 20))" \
    "what waits is counted, and what it asks for"
is "$(value 'user_jobs{user="'"$(id -un)"'",state="rendered"}')" 2 "and whose it is"
dlspool resume >/dev/null
must "they go on" wait_for 10 in_state two "done"
collect
is "$(value gpu_held_seconds_total) $(grep -c 'user=' "$counts")" "45 0" "without it they are not"

# A file that the daemon writes.
sed -i "s|^  file: .*|  file: $file|; s|^  interval: .*|  interval: 1s|" "$spool/dlspool.yaml"
must "the daemon writes the file" wait_for 10 test -s "$file"
job more
must "a job is done" wait_for 10 in_state more "done"
printf 'library: any\ntype: nosuch\n' | drop bad.yaml
must "another is refused" wait_for 10 has_ended bad
says() { [ "$(value "$1" "$file")" = "$2" ]; }
ok "jobs are counted as they come" wait_for 10 says jobs_accepted_total 5
ok "and as they end" wait_for 10 says 'jobs_ended_total{result="done",reason=""}' 4
is "$(value 'jobs_ended_total{result="failed",reason="BadRequest"}' "$file")" 1 "with the reason"
is "$(value 'attempts_total{outcome="succeeded",class=""}' "$file")" 5 "what was summed up before goes on"
ok "rounds are counted" test "$(value 'stage_seconds_count{stage="track"}' "$file")" -gt 0
checked "$file" "promtool takes the file"
kill -KILL "$daemon"; wait "$daemon" 2>/dev/null; daemon=
rm -r "$spool"/done/* "$file"
start_daemon
must "a daemon that was killed and started again writes on" wait_for 10 test -s "$file"
is "$(value jobs_accepted_total "$file") $(value 'attempts_total{outcome="succeeded",class=""}' "$file") $(value 'jobs{state="done"}' "$file")" \
    "5 5 0" "and counts on, although the jobs are removed"
job last
ok "from where it was" wait_for 10 says jobs_accepted_total 6
rm "$spool/history/usage/$month"
job very-last
must "a job is done" wait_for 10 in_state very-last "done"
ok "also when old accounts are moved away" wait_for 10 says jobs_accepted_total 7
is "$(value 'attempts_total{outcome="succeeded",class=""}' "$file")" 7 "attempts are counted on"
stop_daemon

# Mistakes.
sed -i "s|^  file: .*|  file: dlspool.txt|" "$spool/dlspool.yaml"
like "$(dlspool metrics 2>&1)" 'dlspool.yaml:[0-9:]*: metrics.file: found "dlspool.txt", expected an absolute path that ends in .prom' "a wrong name is refused"

done_testing
