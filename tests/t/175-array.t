#!/usr/bin/env bash
# Sweeps on the local executor, with real containers: so many at once, each index once, a failed one
# ends nothing and alone is tried again; a kill and a kill -9 in the middle.
#
# Seen to fail: with the limit of choose_tasks() in executors/local/turns.c doubled (three at once); with
# sweep_continue() of stages/shared/sweep.c empty (all six run again); with `ending` never set in
# stages/track/follow.c (tasks start after the kill); with local_poll() not looking at `killed` (the task that
# waits is started); with retry_released() of stages/shared/control.c empty (the task that was held never runs);
# with sweep_is_incomplete() always false (in done/, although a task was killed).
. "$(dirname "$0")/lib.bash"
command -v podman >/dev/null || skip_all "podman is not installed"
new_spool local || exit 1
set_setting cpus 4
set_setting memory 4Gi
set_setting poll_interval 50ms
start_daemon
shared=$scratch/shared
mkdir -m 1777 "$shared"

# Each task says when it began and when it ended, in a file that all share.
sweep() { # sweep NAME ARRAY [COUNT-OF-SECONDS [LINE]]
    mkdir -m 1777 "$shared/$1"
    cat <<JOB | drop "$1.yaml"
name: $1
library: any
type: array
array: $2
output: $shared/$1
${4:-}
tasks: {main: {cpus: 0.2, memory: 64Mi}}
script: |
  #!/bin/bash
  # As programs do that save their state: what a kill ends says that it ended well.
  trap 'exit 0' TERM
  say() { echo "\$1 \$DLSPOOL_ARRAY_INDEX \$(date +%s%N)" >>"\$DLSPOOL_OUTPUT/events"; }
  say begin
  echo "index \$DLSPOOL_ARRAY_INDEX of \$DLSPOOL_ARRAY_COUNT: \${RATE:-} \${BATCH:-}"
  echo "\$DLSPOOL_ARRAY_INDEX \${RATE:-} \${BATCH:-}" >>"\$DLSPOOL_OUTPUT/values"
  until [ -e "\$DLSPOOL_OUTPUT/go" ] || [ -e "\$DLSPOOL_OUTPUT/go-\$DLSPOOL_ARRAY_INDEX" ]; do sleep 0.02; done
  sleep ${3:-0.3}
  say end
  [ "\$DLSPOOL_ARRAY_INDEX" != 3 ] || [ -e "\$DLSPOOL_OUTPUT/mended" ]
JOB
}
begun() { grep -c '^begin' "$shared/$1/events" 2>/dev/null; }
has_begun() { [ "$(begun "$1")" -ge "$2" ]; }
# The indexes that began, in order, each as often as it did.
indexes() { awk '$1 == "begin" {print $2}' "$shared/$1/events" | sort -n | tr '\n' ' '; }
# How many were between begin and end at most.
most_at_once() {
    sort -n -k3 "$shared/$1/events" |
        awk '$1 == "begin" && ++now > most {most = now} $1 == "end" {now--} END {print most}'
}
directory() { job_dir "$1"; }
containers() {
    CONTAINERS_STORAGE_CONF=$spool/.podman/storage.conf CONTAINERS_CONF=$spool/.podman/containers.conf \
        podman ps -a --format '{{.Names}} {{.State}}' 2>/dev/null
}

sweep values '{values: {RATE: [0.1, 0.01], BATCH: [32, 64, 128]}, at_once: 2}'
must "a sweep begins" wait_for 60 has_begun values 2
is "$(dlspool list --json 2>/dev/null | grep -c values)" 1 "list shows one job"
touch "$shared/values/go"
must "a sweep of which one task fails ends in failed/" wait_for 60 has_ended values
is "$(state_of values)" failed "not in done/"
is "$(indexes values)" "0 1 2 3 4 5 " "each index ran once, the failed one ended nothing"
is "$(most_at_once values)" 2 "two at once, as at_once says"
is "$(sort -n "$shared/values/values" | tr '\n' ';')" \
    "0 0.1 32;1 0.1 64;2 0.1 128;3 0.01 32;4 0.01 64;5 0.01 128;" "each had its values"
like "$(<"$(directory values)/why")" '1 of 6 tasks failed, that of the index 3: task main-3' \
    "why says how many of how many, and which"
like "$(<"$(directory values)/job.yaml")" '^array_left: "?3"?$' "job.yaml has what is left"
is "$(cd "$(directory values)/output" && ls | tr '\n' ' ')" \
    "main-0.log main-1.log main-2.log main-3.log main-4.log main-5.log " "the output of each is there"
touch "$shared/values/mended"
ok "retry" dlspool retry "$(basename "$(directory values)")"
must "tried again it ends in done/" wait_for 60 in_state values "done"
is "$(indexes values)" "0 1 2 3 3 4 5 " "only what failed ran again"
like "$(<"$(directory values)/log")" ' requeued .* array=3' "the log says which indexes run"
like "$(<"$(directory values)/output/main-0.log")" '^index 3 of [0-9]+: 0.01 32$' "with its index and values"
is "$(ls "$(directory values)/output-1" | wc -l)" 6 "the output of the attempt before is kept"

sweep killed '"0-5%2"' 0.05
must "another begins" wait_for 60 has_begun killed 2
ok "kill" dlspool kill "$(basename "$(directory killed)")"
must "it ends in failed/" wait_for 60 has_ended killed
is "$(indexes killed)" "0 1 " "the rest was never started"
like "$(<"$(directory killed)/job.yaml")" '^array_left: "?0-5"?$' "all of it is left"
is "$(containers)" "" "no container stays"

# Single tasks: one that runs, one that has not begun, and one that fails by itself.
sweep parts '"0-5%2"' 0.05 'deadline: +6h'
must "another begins" wait_for 60 has_begun parts 2
parts=$(basename "$(directory parts)")
is "$(dlspool kill parts/9 2>&1)" "dlspool kill: $parts has no task of the index 9 to be killed; there are 0-5" \
    "a task that is not there cannot be killed"
is "$(dlspool hold parts/1 2>&1)" "dlspool hold: $parts is in submitted/; its tasks can be held only before that; end some with dlspool kill $parts/1, and run them later with dlspool retry $parts/1" \
    "nor one be held that the executor has"
is "$(dlspool kill parts/1,4)" "asked to kill $parts/1,4" "two are killed"
ok "another takes the place of the one that ran" wait_for 30 has_begun parts 3
states() { dlspool list --name parts --tasks --format id,state | awk '{sub(".*/", "", $1); print $1, $2}' | tr '\n' ';'; }
told() { [ "$(states)" = "$1" ]; }
ok "list has a row for the tasks in each state" wait_for 30 told "3,5 queued;0,2 running;1,4 failed;"
is "$(dlspool list --name parts --tasks --format id,deadline | awk '/1,4/ {print $2}')" "-" "whether its deadline is met is not said of tasks that have ended"
is "$(dlspool show --json parts | jq -c .array.states)" '{"queued":"3,5","running":"0,2","failed":"1,4"}' "show tells them, too"
like "$(dlspool show parts/1)" "state +failed" "a task has a state of its own"
like "$(dlspool show parts/1,2)" 'Somebody has killed it\.' "and why"
says_two() { dlspool logs parts/2 | grep -q '^index 2 of 6'; }
ok "logs prints what one has printed" wait_for 30 says_two
timeout 1 "$DLSPOOL" -s "$spool" wait -q parts/2
is $? 124 "wait waits for one that runs"
dlspool wait -q parts/1
is $? 6 "and tells that one has failed"
is "$(dlspool show parts/9 2>&1)" "dlspool show: $parts has no task 9; its tasks are 0-5" "one that is not there is not shown"
touch "$shared/parts/go"
# Each is told when it is seen to have ended, whichever that is first.
is "$(dlspool wait parts/0,2 | sort)" "$parts/0 done
$parts/2 done" "wait tells when they are done"
must "when the others have ended it ends in failed/" wait_for 60 has_ended parts
is "$(indexes parts)" "0 1 2 3 5 " "the others ran, and the one that had not begun did not"
like "$(<"$(directory parts)/why")" \
    '^1 of 6 tasks failed, that of the index 3, and 2 were killed, those of the indexes 1,4: task main-3 ' \
    "why tells which were killed, and which failed by itself decides"
is "$(dlspool show --json parts | jq -c .array)" '{"tasks":"0-5","killed":"1,4","aside":null,"held":null,"left":"1,3,4","states":{"done":"0,2,5","failed":"1,3,4"}}' "as does show"
like "$(dlspool show parts/3)" 'state +failed, exit code 1' "and show of a task what it ended with"
like "$(<"$(directory parts)/log")" ' kill by=[^ ]* uid=[0-9]+ array=1,4' "the log says who killed which"
like "$(<"$(directory parts)/job.yaml")" '^array_left: "?1,3,4"?$' "all three are left"
is "$(dlspool retry parts/2 2>&1)" "dlspool retry: $parts has no task of the index 2 to be retried; there are 1,3,4" \
    "what succeeded is not retried"
touch "$shared/parts/mended"
is "$(dlspool retry "parts[3]")" "asked to retry $parts/3" "one is retried"
retried() { has_ended parts && [ "$(grep -c ' failed ' "$(directory parts)/log")" = 2 ]; }
must "which ends in failed/" wait_for 60 retried
like "$(<"$(directory parts)/why")" \
    '^2 tasks were not run again, those of the indexes 1,4\.' "as the killed ones have not run"
is "$(indexes parts)" "0 1 2 3 3 5 " "only that one ran"
ok "retry" dlspool retry parts
must "then those that were killed run, and it ends in done/" wait_for 60 in_state parts "done"
is "$(indexes parts)" "0 1 1 2 3 3 4 5 " "each that had not succeeded ran again"

# One that fails beside one that is held: neither keeps the other.
sweep partly '"1-5"' 0.05 'hold: true'
must "another waits" wait_for 30 in_state partly held
ok "all but one are released" dlspool release partly/1-4
must "four begin" wait_for 60 has_begun partly 4
counted() { [ "$(dlspool list --name partly --format tasks | tail -n 1)" = "4 running" ]; }
ok "list tells how many run" wait_for 30 counted
is "$(dlspool show --json partly | jq -c .tasks)" '{"waiting":0,"running":4,"succeeded":0,"failed":0}' "so does show"
is "$(dlspool show --json partly | jq -c '[.state, .array.tasks, .array.held]')" '["running","1-4","5"]' "show tells which do not"
like "$(dlspool show partly/5)" 'It is held; dlspool release partly-[^ ]*/5 lets it go on' "and of a task what to do about it"
touch "$shared/partly/go"
must "it ends in failed/" wait_for 60 in_state partly failed
like "$(<"$(directory partly)/why")" \
    '^1 of 4 tasks failed, that of the index 3, and 1 is held, that of the index 5: task main-2 ' "why tells of both"
ok "the held one is released" dlspool release partly/5
must "and runs" wait_for 60 has_begun partly 5
failed_again() { in_state partly failed && [ "$(grep -c ' failed ' "$(directory partly)/log")" = 2 ]; }
must "it fails again" wait_for 60 failed_again
like "$(<"$(directory partly)/why")" '^1 task was not run again, that of the index 3\.' "for the one that failed"
touch "$shared/partly/mended"
ok "retry" dlspool retry partly
must "then all is done" wait_for 60 in_state partly "done"
is "$(indexes partly)" "1 2 3 3 4 5 " "each ran once that did well"

sweep only '"0-2"' 0.05
must "another begins" wait_for 60 has_begun only 3
ok "a task of it is killed" dlspool kill only/2
only_ended() { [ "$(containers | grep -ci '^only-.* exited')" = 1 ]; }
ok "which ends" wait_for 30 only_ended
touch "$shared/only/go"
must "and the job with the others" wait_for 60 has_ended only
like "$(<"$(directory only)/why")" \
    '^1 of 3 tasks was killed, that of the index 2, by [^ ]+ at ' \
    "in failed/, although the program said that it ended well"
is "$(containers)" "" "no container stays"

# Its tasks end between the kill and the next look at it: their turns are not taken.  What was stopped may have been
# in the middle of a look, in which it knew of no kill yet, so it does not go on: another begins.
sweep late '"0-5%2"' 0.05
must "another begins" wait_for 60 has_begun late 2
track=$(pgrep -P "$daemon" -x track)
kill -STOP "$track"
ok "kill" dlspool kill "$(basename "$(directory late)")"
ok "the kill is there" wait_for 20 test -e "$(directory late)/kill"
touch "$shared/late/go"
both_ended() { [ "$(containers | grep -ci '^late-.* exited')" = 2 ]; }
ok "its tasks end meanwhile" wait_for 30 both_ended
kill -KILL "$track"
must "it ends in failed/" wait_for 60 has_ended late
is "$(indexes late)" "0 1 " "the rest was never started"
like "$(<"$(directory late)/job.yaml")" '^array_left: "?2-5"?$' "the rest is left"

sweep crashed '"10,12-20:2,30%3"' 0.4
must "a third begins" wait_for 60 has_begun crashed 3
# One ends at once; the others wait until dlspool has been killed.
touch "$shared/crashed/go-12"
ok "its second turn begins" wait_for 30 has_begun crashed 4
children=$(pgrep -P "$daemon")
kill -KILL "$daemon" $children
wait "$daemon" 2>/dev/null
before=$(begun crashed)
touch "$shared/crashed/go"
start_daemon
must "with dlspool killed with -9 and started again it ends in done/" wait_for 60 in_state crashed "done"
is "$(indexes crashed)" "10 12 14 16 18 20 30 " "each index ran once"
is "$(most_at_once crashed)" 3 "three at once"
is "$before" 4 "dlspool was killed when some were still to come"

done_testing
