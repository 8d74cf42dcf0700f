#!/usr/bin/env bash
# Jobs of several parts on a real Slurm: sweeps as job arrays, roles of different sizes as heterogeneous
# jobs, and jobs that wait for others.
. "$(dirname "$0")/lib.bash"
. "$(dirname "$0")/slurm.bash"
ordinary_user
at_exit 'stop_daemon; stop_slurm'
start_slurm
slurm_spool || exit 1
shared=$scratch/shared
mkdir "$shared"
start_daemon

# A job's directory is removed while no daemon serves the spool; another spool of the same path has handed in one, too.
job stray 'sleep 1000'
ok "a job runs" wait_for 40 says stray ' started '
stray=$(slurm_id stray)
stop_daemon
comment=$(squeue -h -j "$stray" -o %k)
like "$comment" "^dlspool:[0-9a-f]{16}:stray-[^:]*:1:$(cut -d' ' -f1 "$spool/.identity"):released\$" "it was handed in with the spool's identity"
other=$(sbatch --parsable -o /dev/null -J other-1m7y5dm13etbd-a1 --comment "${comment/:1:????????????????:/:1:0123456789abcdef:}" --wrap 'sleep 1000')
stray_name=$(basename "$(job_dir stray)")
rm -r "$(job_dir stray)"
start_daemon

cat <<JOB | drop rates.yaml
name: rates
library: any
type: array
array: {values: {RATE: [0.1, 0.01], SIZE: [a, b, "c d"]}, at_once: 2}
tasks: {main: {cpus: 1, memory: 64Mi}}
script: |
  #!/bin/bash
  say() { echo "\$1 \$DLSPOOL_ARRAY_INDEX \$(date +%s%N)" >>"$shared/events"; }
  say begin
  echo "\$DLSPOOL_ARRAY_INDEX: \$RATE \$SIZE"
  sleep 0.5
  say end
  [ "\$DLSPOOL_ARRAY_INDEX" != 4 ] || [ -e "$shared/mended" ]
JOB
cat <<JOB | drop uneven.yaml
name: uneven
library: any
type: distributed
tasks:
  ps: {count: 1, cpus: 1, memory: 100Mi, command: [sh, -c, 'echo ps\$CUDA_VISIBLE_DEVICES; sleep 100']}
  worker: {count: 2, cpus: 2, memory: 200Mi, gpus: 2, command: [sh, -c, 'echo worker "\$CUDA_VISIBLE_DEVICES"; sleep 1']}
complete: {worker: {succeeded: 2}}
JOB
job second "echo second >>$shared/order" 'after: [third]'
job third "sleep 1; echo third >>$shared/order"

indexes() { awk '$1 == "begin" {print $2}' "$shared/events" | sort -n | tr '\n' ' '; }
must "a sweep of which one task fails ends in failed/" wait_for 90 has_ended rates
is "$(state_of rates)" failed "not in done/"
is "$(indexes)" "0 1 2 3 4 5 " "each index ran once"
is "$(sort -n -k3 "$shared/events" |
    awk '$1 == "begin" && ++now > most {most = now} $1 == "end" {now--} END {print most}')" 2 "two at once"
is "$(sort "$(job_dir rates)"/output/main-*.log | tr '\n' ';')" \
    "0: 0.1 a;1: 0.1 b;2: 0.1 c d;3: 0.01 a;4: 0.01 b;5: 0.01 c d;" "each had its values"
like "$(<"$(job_dir rates)/why")" '1 of 6 tasks failed, that of the index 4: main-4' "why says which"

ok "a job of roles of different sizes is done" wait_for 40 in_state uneven "done"
is "$(cd "$(job_dir uneven)/output" && sed 's/[0-3],[0-3]/two/' ps-*.log worker-*.log | sort | tr '\n' ';')" "ps;worker two;worker two;" \
    "each role had its GPUs, or none"
is "$(squeue -h -t all -o '%j %i' | grep -c '^uneven.*+')" 2 "two components were one job at Slurm"
ok "a job that waits for another is done" wait_for 40 in_state second "done"
is "$(tr '\n' ' ' <"$shared/order")" "third second " "after it"

touch "$shared/mended"
ok "retry" dlspool retry "$(basename "$(job_dir rates)")"
must "tried again the sweep ends in done/" wait_for 60 in_state rates "done"
is "$(indexes)" "0 1 2 3 4 4 5 " "only what failed ran again"

# Single tasks of one are killed: one that runs, and one that has not begun.
type=array job some "echo begin \$DLSPOOL_ARRAY_INDEX >>$shared/some; until [ -e $shared/some-go ]; do sleep 0.1; done" \
    'array: {values: {RATE: [1, 2, 3, 4, 5]}, at_once: 2}'
some_begun() { [ "$(wc -l <"$shared/some")" = "$1" ]; }
ok "two of a sweep run" wait_for 30 some_begun 2
counted() {
    [[ $(dlspool list --name some --format tasks,scheduler | tail -n 1) =~ ^"3 waiting, 2 running  "([0-9]+)" RUNNING"$ ]] &&
        squeue -h -j "${BASH_REMATCH[1]}" -o '%F %k' | grep -q "^${BASH_REMATCH[1]} dlspool:.*:some-"
}
ok "list tells how many elements wait and run, and what Slurm calls the job" wait_for 30 counted
like "$(dlspool kill some/1,3)" '^asked to kill some-[^ ]*/1,3$' "two of its tasks are to be killed"
ok "another takes the place of the one that ran" wait_for 40 some_begun 3
touch "$shared/some-go"
must "when the others have ended it ends in failed/" wait_for 60 in_state some failed
is "$(sort "$shared/some" | tr '\n' ' ')" "begin 0 begin 1 begin 2 begin 4 " "the one that had not begun did not"
is "$(dlspool show --json some | jq -c .tasks)" '{"waiting":0,"running":0,"succeeded":3,"failed":2}' "show tells how many ended how"
like "$(<"$(job_dir some)/why")" \
    '^2 of 5 tasks were killed, those of the indexes 1,3, by [^ ]* at ' "why says so"
ok "retry of one" dlspool retry some/3
retried() { in_state some failed && [ "$(grep -c ' failed ' "$(job_dir some)/log")" = 2 ]; }
ok "that one runs" wait_for 60 retried
is "$(sort "$shared/some" | tr '\n' ' ')" "begin 0 begin 1 begin 2 begin 3 begin 4 " "and no other"

# A sweep is killed while some of it runs and the rest waits.
type=array job many "touch $shared/many-\$DLSPOOL_ARRAY_INDEX; sleep 100" 'array: {values: {RATE: [1, 2, 3, 4, 5, 6]}, at_once: 2}'
two_run() { [ "$(ls "$shared" | grep -c many)" = 2 ]; }
ok "two of a sweep run" wait_for 30 two_run
ok "somebody wants it killed" dlspool kill many
ok "it is killed" wait_for 40 in_state many failed
removed() { [ "$(dlspool status --json | jq -r '.removed[].id')" = "$stray_name" ]; }
ok "the job whose directory was removed is ended" wait_for 60 removed
like "$(dlspool status)" "^removed +1 job whose directory was removed was ended at the executor .*: $stray_name " "status says so"
like "$(<"$scratch/daemon.log")" "warning: $stray_name: the executor has tasks of it, and its directory is nowhere" "and the log"
like "$(<"$scratch/daemon.log")" "$stray_name: state=removed attempt=1 " "that nothing is left of it"
ok "also none of its files" test ! -e "$spool/.slurm/$stray_name-a1"
is "$(squeue -h -o %i)" "$other" "what another spool has handed in runs on"
scancel "$other"
ok "nothing is left at Slurm" wait_for 20 slurm_is_idle
is "$(ls "$shared" | grep -c many)" 2 "and none of the rest began"

done_testing
