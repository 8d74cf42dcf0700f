#!/usr/bin/env bash
# Deadlines in service, with real containers: jobs go by deadline and not by arrival, capacity holds
# them back, and everybody is told how they stand; what was planned is decided again.
# Runs alone: jobs are predicted by how fast they run.
. "$(dirname "$0")/lib.bash"
command -v podman >/dev/null || skip_all "podman is not installed"
new_spool local || exit 1
set_setting cpus 1
set_setting memory 4Gi
set_setting tick 200ms
set_setting reserve 0
set_setting budget 1
set_setting record true

# Jobs like these have done ten units a second.
mkdir "$spool/history"
for i in 1 2 3; do
    echo "2026-11-22T10:00:0$i.000Z run of=fixed id=past$i-0000000000000 attempt=1 owner=$(id -un)" \
        "template=local/any/single.yaml commit=0 image=host arguments=0 size=1 cpus_milli=1000 gpus=0" \
        "finished=1 whole=1 deadline=0 total=10 units=10 rate=10 seconds=1 start_up_ms=500 restart_ms=-1" \
        "resize_ms=-1 tail_ms=100 cpu_used_ms=500 cpu_allocated_ms=1000"
done >"$spool/history/runs"
start_daemon

# job NAME TOTAL [LINE...]: so many units are declared; ten are done.
job() {
    local name=$1 total=$2
    shift 2
    { printf 'name: %s\nlibrary: any\ntype: single\ntasks: {main: {cpus: 1, memory: 64Mi}}\n' "$name"
      printf 'units: {total: %s, pattern: "step {done}"}\n' "$total"
      for line; do printf '%s\n' "$line"; done
      printf 'script: |\n  #!/bin/sh\n  for i in $(seq 10); do sleep 0.1; echo "step $i"; done\n'
      [ "$name" != blocker ] || printf '  sleep 3\n'
    } | drop "$name.yaml"
}
planned() { grep " id=$1-" "$spool/plan"; }
stands() { planned "$1" | grep -qE "standing=\"?$2"; }
json() { dlspool show --json "$(basename "$(job_dir "$1")")" | jq -r "$2"; }
submitted_at() { sed -n 's/ submitted attempt=1.*//p' "$(job_dir "$1")/log"; }

# One is there, and holds all there is; the others come in the wrong order.
job blocker 10 'deadline: +1h'
must "the first is handed over" wait_for 30 in_state blocker submitted
job none 10 'priority: 100'
job far 10 'deadline: +2h'
job near 10 'deadline: +20m'
job over 10 'deadline: +1s'
job hopeless 100000 'deadline: +30m'
job greedy 100000 'deadline: +20h'
ok "all are planned" wait_for 20 eval 'planned none && planned far && planned near && planned over && planned hopeless && planned greedy'
ok "who is predicted to be in time is on track" wait_for 20 stands near "on track"
ok "who cannot be is told so" wait_for 10 stands hopeless "cannot meet"
ok "whose deadline is over is late" wait_for 20 stands over late
like "$(planned near)" 'finish=2.* late=2.*reason="waiting' "the plan says when it is predicted to be done"
is "$(json near .standing)" "on track" "show knows it"
like "$(json near .predicted_finish)" '^2[0-9-]+T' "and when it is predicted to be done"
like "$(dlspool list | grep '^near-')" 'on track 2' "list has a column for it"
like "$(dlspool show "$(basename "$(job_dir near)")")" 'deadline status +on track: estimated completion' "show says it to people"
like "$(dlspool status)" '^plan +[1-9].* on track, .*1 late.*1 best effort' "status counts them"
is "$(json none .standing)" "best effort" "a job without a deadline is best effort"
ok "who claims more than a day's share is planned after the others" eval 'planned greedy | grep -q planner.budget && ! planned far | grep -q planner.budget'
dlspool kill "$(basename "$(job_dir greedy)")" "$(basename "$(job_dir hopeless)")" >/dev/null
ok "who waits for the plan can be killed" wait_for 20 eval 'in_state greedy failed && in_state hopeless failed'

ok "all are done at last" wait_for 60 eval 'in_state near "done" && in_state far "done" && in_state none "done" && in_state over "done"'
order=$(for name in none far near; do echo "$(submitted_at "$name") $name"; done | sort | sed 's/.* //' | tr '\n' ' ')
is "$order" "near far none " "they were handed over by deadline, not by arrival, and not by priority before it"
is "$(json near .standing)" met "one that was done in time has met its deadline"
is "$(json over .standing)" missed "one that was done too late has missed its deadline"
is "$(cat "$spool"/done/*/*/log | grep -c ' failed .*NoRoom')" 0 "nobody was handed over without room"
like "$(<"$(job_dir near)/log")" ' predicted seconds=[0-9]+ late=[0-9]+' "what was predicted is in the log"
ok "without deadlines there is no plan" wait_for 10 test ! -e "$spool/plan"
stop_daemon

# The same code decides the same of what was recorded.
output=$("$DLSPOOL" simulate --replay "$spool/history/plans")
is $? 0 "what was recorded is decided again"
like "$output" '^[1-9][0-9]* plans, [1-9][0-9]* decisions: all the same$' "and is all the same"
keys=$("$DLSPOOL" simulate --json --replay "$spool/history/plans" | jq -r '[keys[], (.simulated[0] | keys[] | "simulated[]." + .)] | .[]')
is "$(comm -23 <(sort <<<"$keys") <(tr ' ' '\n' <"$top/docs/man/dlspool-json.5" | sort))" "" "its --json has the keys of dlspool-json(5)"
like "$output" 'simulated as a trace, cpus, capacity 1000: [1-9]' "and it runs as a trace"
sed '0,/ give=1000/s// give=0/' "$spool/history/plans" >"$scratch/changed"
output=$("$DLSPOOL" simulate --replay "$scratch/changed")
is $? 1 "a decision that differs"
like "$output" '1 differ' "is found"

done_testing
