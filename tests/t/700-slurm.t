#!/usr/bin/env bash
# Jobs to a real Slurm, from drop to done: slurmctld, four nodes with four GPUs each, slurmrestd.
# Seen to fail with: a polite end by DELETE?signal=SIGTERM; a task's shell that traps signals; a job that Slurm
# put back into its queue left waiting there.
. "$(dirname "$0")/lib.bash"
. "$(dirname "$0")/slurm.bash"
ordinary_user
at_exit 'stop_daemon; stop_proxy; stop_slurm'
start_slurm --jwt --line MessageTimeout=3
start_proxy || give_up "no proxy"
slurm_spool "$scratch/proxy/sock" || exit 1

# What there is
answers() { dlspool status --json | jq -e .executor.ready; }
must "slurmrestd answers" wait_for 10 answers
status=$(dlspool status --json)
is "$(jq -c '[.executor.ready, .executor.capacity.nodes.total, .executor.capacity.gpus.total]' <<<"$status")" \
    '[true,4,16]' "status: ready, four nodes, sixteen GPUs"
like "$(scontrol update nodename=n4 state=drain reason="a fan is broken" 2>&1; dlspool nodes --not-ready 2>&1)" \
    '^n4 +drained +0 of 8 .* 0 of 4 v100 +a fan is broken [(]' "nodes tells which node is drained, and why"
is "$(dlspool nodes --json | jq -c '[.nodes[] | [.name, .state, .scheduler_state, .features]]')" \
    '[["n1","ready","IDLE",["fast"]],["n2","ready","IDLE",["fast"]],["n3","ready","IDLE",[]],["n4","drained","IDLE+DRAIN",[]]]' "and the others"
like "$(dlspool status)" '^  nodes +3 of 4 take jobs; `dlspool nodes --not-ready` says why' "status says where to look"
is "$(dlspool status --json | jq -c .executor.capacity.gpus.total)" 12 "what it has is not there for jobs"
scontrol update nodename=n4 state=resume
start_daemon

# From drop to done, and how jobs fail
job quick $'echo one line\nprintf "and another"'
job three $'echo no luck; exit 3'
job shot 'kill -SEGV $$'
job gpus 'echo "<$CUDA_VISIBLE_DEVICES> $SLURMD_NODENAME"' 'gpu_type: v100' 'tasks: {main: {gpus: 2}}'
job greedy 'true' 'tasks: {main: {gpus: 9}}'
job untyped 'true' 'gpu_type: h100' 'tasks: {main: {gpus: 1}}'
job lost 'true' 'queue: nowhere'
job long 'true' 'queue: short' 'time_limit: 1h'
job slow 'sleep 100' 'time_limit: 2s'
job hostile 'printf "<%s>\n" "$@"; env | grep ^ODD' 'args: ["$(touch /tmp/dlspool-pwned)", "a b", "'"'"'; exit 9 #", "", "ä`id`", "two\nlines"]' \
    'env: {ODD: "$HOME \"x\" `id`"}'
mkdir "$scratch/code" && echo 'print("trained")' >"$scratch/code/train.py"
job trained '' "program: $scratch/code" 'entry: train.py'
type=distributed job misnamed '' "program: $scratch/code" 'entry: trian.py' 'retries: 2' 'tasks: {main: {count: 2, gpus: 1}}'
printf '%s\n' '#!/bin/bash' '#SBATCH -J batch -n2 --mem=200M -t2 -p short' \
    'echo "$PWD=$SLURM_SUBMIT_DIR" && timeout 30 srun bash -c '"'"'echo "rank $SLURM_PROCID of $SLURM_NTASKS"'"'"' | sort' >"$scratch/code/batch.sh"
ok "a script for sbatch is submitted" sh -c "cd '$scratch/code' && '$DLSPOOL' -s '$spool' submit batch.sh"
# Told before its time is over, through the srun of its own; and a task on each of two nodes that have a feature.
printf '%s\n' '#!/bin/bash' '#SBATCH -J warned --mem=100M -t1 --signal=USR1@57' \
    'srun bash -c '"'"'trap "echo step told; exit 0" USR1; for i in {1..300}; do sleep 0.1; done'"'" >"$scratch/code/warned.sh"
printf '%s\n' '#!/bin/bash' '#DL type=distributed' '#SBATCH -J spread -N2 --mem=100M -t2 --constraint=fast' \
    'echo "on $SLURMD_NODENAME"' >"$scratch/code/spread.sh"
printf '%s\n' '#!/bin/bash' '#SBATCH -J alone -c1 --mem=50M -t2 --exclusive' \
    'echo "$OMP_NUM_THREADS: $(scontrol show job "$SLURM_JOB_ID" | grep -o "OverSubscribe=[A-Z]*\|NumCPUs=[0-9]*" | paste -sd " ")"' >"$scratch/code/alone.sh"
ok "others are submitted" sh -c "cd '$scratch/code' && '$DLSPOOL' -s '$spool' submit warned.sh spread.sh alone.sh"
mkdir -m 777 "$scratch/begun"
type=distributed job servers '' 'tasks:' "  ps: {count: 1, command: [sh, -c, 'echo ps; : >$scratch/begun/ps; sleep 100']}" \
    "  worker: {count: 2, command: [sh, -c, 'until [ -e $scratch/begun/ps ]; do sleep 0.1; done; echo worker']}" \
    'complete: {worker: {succeeded: 2}}'
for name in three shot greedy untyped lost long slow misnamed; do
    ok "$name fails" wait_for 40 has_ended $name
    # As it is then: a node that did not answer for a moment, under load, counts as new when it is back, and what failed
    # for want of nodes is tried again.
    why $name >"$scratch/why.$name" && record $name >"$scratch/record.$name"
done
for name in quick gpus hostile servers trained batch warned spread alone; do
    ok "$name is done" wait_for 40 in_state $name "done"
done
is "$(output_of quick)" $'one line\nand another' "what it printed is in output/"
is "$(ls "$(job_dir quick)/output")" main-0.log "and nothing else"
is "$(dlspool show --json quick | jq -c .ran)" '[{"role":"main","image":"host"}]' "what it ran in is in its record"
is "$(output_of three)" 'no luck' "so it is of one that fails"
like "$(record three)" 'exit_code: 3' "the exit code is kept"
like "$(record shot)" 'exit_code: 139' "a signal is 128 and its number"
like "$(output_of gpus)" '^<[0-3],[0-3]> n[34]$' "GPUs of a type are on a node that has them"
# (A job that is handed in held waits at Slurm, which says so; one that is to begin at once is refused.)
like "$(<"$scratch/why.greedy")" 'no node(s of the partition have that| has what it asks for)' "more GPUs than a node has: nobody waits for ever"
like "$(<"$scratch/why.untyped")" 'gpu_type: no node of the cluster has GPUs of the type h100; there are a100, v100$' "a type of GPU that no node has: which there are"
like "$(<"$scratch/record.untyped")" 'reason: "NeverFits"' "and it does not come back before there are such"
is "$(dlspool status --json | jq -c '.executor.capacity.gpu_types | keys')" '["a100","v100"]' "status shows the types"
like "$(why lost)" 'Invalid partition name specified \(2000\)' "a partition that is not there: Slurm's words"
like "$(<"$scratch/why.long")" 'limit' "a time limit over the partition's is refused"
ok "and what Slurm kept of it is gone" wait_for 20 sh -c '[ -z "$(squeue -h -t pending)" ]'
like "$(record slow)" 'reason: "TimeLimit"' "the time limit"
is "$(output_of trained)" trained "a program is started by its entry"
like "$(output_of warned)" '^step told$' "a script's srun passes on the signal before its time limit"
is "$(output_of spread main-0.log) $(output_of spread main-1.log)" "on n1 on n2" "tasks that want nodes of their own have them, with the feature"
is "$(output_of alone)" "1: NumCPUs=8 OverSubscribe=NO" "a job that is to be alone has a whole node, and the CPUs that it asks for"
is "$(output_of batch)" "$scratch/code=$scratch/code"$'\nrank 0 of 2\nrank 1 of 2' "a script for sbatch starts where it was submitted, and its srun in what the job has"
like "$(why misnamed)" "^Nothing was started: entry: $scratch/code/trian.py: No such file or directory \\(checked on n[1-4] as user slurm\\)" \
    "an entry that is not there is told"
like "$(why misnamed)" 'Nothing was started: correct `entry` in the job file' "before any task starts"
like "$(why misnamed)" '^Next: not retried. ' "which no retry mends"
is "$(output_of hostile)" $'<$(touch /tmp/dlspool-pwned)>\n<a b>\n<\'; exit 9 #>\n<>\n<ä`id`>\n<two\nlines>\nODD=$HOME "x" `id`' \
    "arguments and environment are what they are, whatever is in them"
is "$(cd "$(job_dir servers)/output" && echo *.log)" "ps-0.log worker-0.log worker-1.log" "all tasks' output is there"
ok "nothing of them is left at Slurm" wait_for 20 slurm_is_idle

# Why jobs wait
job patient 'echo at last' 'queue: down'
job unlucky 'true' 'queue: down' 'units: {total: 9, pattern: "step {done}"}'
ok "a partition that is down is the reason why a job waits" wait_for 20 says patient 'waiting .*PartitionDown'
like "$(dlspool list --name patient)" "queued .* $(slurm_id patient) PENDING .*PartitionDown" "and list says so, with Slurm's number and state of it"
ok "so does another one" wait_for 20 says unlucky 'waiting .*PartitionDown'
scancel "$(slurm_id unlucky)"
ok "one that is cancelled at Slurm before it ran has failed" wait_for 40 in_state unlucky failed
unlike "$(<"$scratch/daemon.log")" 'track was ended' "that it counts units, and never ran, does no harm"
scontrol update partition=down state=up
ok "it runs when the partition is up" wait_for 40 in_state patient "done"
scontrol update partition=down state=down
is "$(log_of patient | grep -c ' submitted ')" 1 "and was submitted once"

# Killing
# (What it waits for is not to end first, or it has succeeded.)
job polite $'trap "echo told; exit 3" TERM\necho ready; (trap "" TERM; exec sleep 100) & wait'
job deaf $'trap "" TERM\necho ready; for i in $(seq 100); do sleep 1; done'
for name in polite deaf; do
    ok "$name runs" wait_for 20 says $name ' started '
    printed() { grep -q ready "$(job_dir $name)/output/main-0.log"; }
    wait_for 20 printed
    ok "$name is killed" dlspool kill $name
    ok "and fails" wait_for 30 in_state $name failed
    like "$(why $name)" 'killed by' "why says who killed it"
done
is "$(output_of polite)" $'ready\ntold' "the program was told before"
ok "nothing of them is left at Slurm" wait_for 20 slurm_is_idle

# A node fails; somebody ends a job with Slurm's own tools
job fallen 'echo "$SLURMD_NODENAME"; [ "$DLSPOOL_ATTEMPT" = 2 ] || sleep 100'
job ousted '[ "$DLSPOOL_ATTEMPT" = 2 ] || sleep 100'
ok "a job runs" wait_for 20 says fallen ' started '
wait_for 20 says ousted ' started '
scancel "$(slurm_id ousted)"
node=$(squeue -h -j "$(slurm_id fallen)" -o %N)
cluster kill "slurmd${node#n}"
scontrol update "nodename=$node" state=down reason=test
# (What runs on a node goes on without slurmd, and counts as long as it shows signs of life.)
kill -KILL $(grep -slzx "DLSPOOL_JOB_ID=$(basename "$(job_dir fallen)")" /proc/[0-9]*/environ | cut -d/ -f3)
ok "after its node failed it is tried again" wait_for 40 says fallen 'submitted attempt=2'
like "$(log_of fallen)" 'reason=NodeLost' "and its log says why"
cluster start "slurmd${node#n}"
cluster wait
ok "it is done" wait_for 40 in_state fallen "done"
ok "one that was cancelled behind dlspool's back has failed" wait_for 20 has_ended ousted

# Lost answers
fault cut POST job/submit 2
job unanswered 'echo once >>'"$scratch/unanswered"
ok "a job is done although the answer to its submission was lost" wait_for 40 in_state unanswered "done"
is "$(<"$scratch/unanswered")" once "it ran once"
# (Of the first job after slurmctld began to count anew: only that is held.)
handed_in=$(requests POST 'job/[0-9]+$')
job immediate 'echo at once'
ok "a job is handed in so that it begins at once" wait_for 40 in_state immediate "done"
is "$(requests POST 'job/[0-9]+$')" "$handed_in" "and was not held"
sdiag -r >"$scratch/sdiag.out"
fault cut POST 'job/[0-9]+' 1
job unreleased 'echo once >>'"$scratch/unreleased"
ok "and one of which the answer to its release was lost" wait_for 40 in_state unreleased "done"
is "$(<"$scratch/unreleased")" once "it ran once, too"

# slurmctld goes away and comes back
# (Once its program runs: a step that is made while slurmctld is away is refused, and runs in another attempt.)
job steady 'echo begun; sleep 4; echo steady'
begun() { grep -q begun "$(job_dir steady)/output/main-0.log"; }
ok "a job runs" wait_for 20 begun
scheduled() { [ "$(dlspool show --json steady | jq -c .scheduler)" = "{\"id\":\"$(slurm_id steady)\",\"state\":\"RUNNING\"}" ]; }
ok "show tells what Slurm calls it" wait_for 20 scheduled
state_saved() { [ -n "$(find "$slurm/state/job_state" -newer "$(job_dir steady)/job.yaml")" ]; }
wait_for 20 state_saved
cluster stop slurmctld
job later 'echo later'
away() { dlspool status --json | jq -e '.executor.ready == false'; }
ok "status: slurmctld does not answer" wait_for 30 away
is "$(state_of later)" rendered "a job that comes meanwhile waits"
cluster start slurmctld
ok "a job that ran is followed through it" wait_for 40 in_state steady "done" || {
    log_of steady
    squeue -t all
} | sed 's/^/# /' >&2
is "$(log_of steady | grep -c ' submitted ')" 1 "and ran once"
[ "$(log_of steady | grep -c ' submitted ')" = 1 ] || log_of steady | sed 's/^/# /' >&2
ok "the one that waited is done" wait_for 40 in_state later "done"

# One question for all jobs, once slurmctld has shown that its numbers are new ones: a job is not released any more then.
probes=0
is_known() {
    local before=$(requests POST 'job/[0-9]+$')
    job probe-$((++probes)) 'true' && wait_for 20 in_state probe-$probes "done" && [ "$(requests POST 'job/[0-9]+$')" = "$before" ]
}
ok "slurmctld is known again" wait_for 40 is_known
: >"$scratch/proxy/requests"
from=$SECONDS
for i in $(seq 40); do
    printf 'name: many-%d\nlibrary: any\ntype: single\nscript: "#!/bin/sh\\nsleep 1"\n' $i >"$scratch/many-$i.yaml"
done
mv "$scratch"/many-*.yaml "$spool/incoming/" 2>/dev/null
all_done() { [ "$(find "$spool/done" -maxdepth 2 -name 'many-*' | wc -l)" = 40 ]; }
ok "forty jobs are done" wait_for 60 all_done
is "$(requests POST 'job/submit$')" 40 "one request for each of forty jobs, to hand it in"
is "$(requests POST 'job/[0-9]+$')" 0 "and none to release it"
is "$(requests GET 'job/')" 0 "nothing was asked for one job"
lists=$(requests GET 'jobs') seconds=$((SECONDS - from))
ok "the list of jobs was asked for $lists times in $seconds s, not once for each job and poll" test "$lists" -le $((seconds * 22))
job quiet 'sleep 60'
must "a job is with Slurm" wait_for 30 in_state quiet submitted
unchanged() { [ "$(requests GET 'jobs.update_time' 304)" -gt 0 ]; }
ok "and is not sent again while nothing has changed" wait_for 30 unchanged
dlspool kill quiet >/dev/null
wait_for 30 in_state quiet failed

# A token, over TCP: it expires, and another is put into its place
stop_daemon
cluster token "$(id -un)" 1 >"$scratch/token"
chmod 600 "$scratch/token"
set_setting address "http://$(<"$slurm/address")"
set_setting token_file "$scratch/token"
cat "$scratch/token" >"$scratch/all-tokens"
sleep 2 # it was good for a second
start_daemon
job tokened 'echo token'
told() { grep -q 'token' "$scratch/daemon.log"; }
ok "an expired token is told of as what it is" wait_for 20 told
ok "the job waits" wait_for 10 in_state tokened rendered
cluster token "$(id -un)" >"$scratch/token.new"
cat "$scratch/token.new" >>"$scratch/all-tokens"
chmod 600 "$scratch/token.new" && mv "$scratch/token.new" "$scratch/token"
ok "with a new one it is done" wait_for 40 in_state tokened "done"
stop_daemon
is "$(grep -rlFf "$scratch/all-tokens" "$spool" "$scratch/daemon.log" | wc -l)" 0 "no file and no message has a token"
unlike "$(<"$scratch/daemon.log")" 'stage .* (died|ended)' "no stage died"

done_testing
