#!/usr/bin/env bash
# Queues that lend GPUs and take them back, on a real Slurm: two jobs of a queue that owns none have all four GPUs of
# the only node of both partitions, and a job of the lender comes.  Both are sent the signal of their checkpoint; one
# saves its state, the other one does not listen and is ended when its grace is over.  Then the lender's job runs, and
# when it has ended they do again, in new jobs of Slurm.
#
# Seen to fail with: tests/mutants/slurm-tells-no-program-to-save.patch.
. "$(dirname "$0")/lib.bash"
. "$(dirname "$0")/slurm.bash"
ordinary_user
at_exit 'stop_daemon; stop_slurm'
start_slurm --line $'PartitionName=gpu Nodes=n[1-4] Default=YES\nPartitionName=prod Nodes=n1\nPartitionName=research Nodes=n1'
slurm_spool || exit 1
set_setting rows '[{queue: prod, gpus: 4, lend_gpus: 4}, {queue: research, gpus: 0, borrow_gpus: 4}]'
start_daemon

prints() { output_of "$1" | grep -q "$2"; }
printed() { grep -qs "$2" "$(job_dir "$1")/output-1/main-0.log"; }
job saves "step=$scratch/step
echo \"begins at \$(cat \$step 2>/dev/null || echo 0)\"
trap 'echo told; sleep 0.3; echo 7 >\$step; echo saved; exit 3' USR1
[ -e \$step ] || while :; do sleep 0.1; done" \
    'queue: research' 'tasks: {main: {gpus: 2}}' 'checkpoint: {signal: USR1, grace: 100s}'
job deaf "trap : USR1; echo begins
until [ -e $scratch/deaf-may-end ]; do sleep 0.1; done" \
    'queue: research' 'tasks: {main: {gpus: 2}}' 'checkpoint: {signal: USR1, grace: 1s}'
must "a job of a queue that owns no GPUs has two that another lends" wait_for 40 prints saves '^begins at 0$'
must "so has another" wait_for 40 prints deaf '^begins$'
is "$(squeue -h -p research -t running -o %D | wc -l)" 2 "both run at Slurm"
like "$(dlspool limits)" 'queue research  *-  *borrow_gpus  *4  *4  *0$' "limits shows what is borrowed"
like "$(dlspool limits)" 'queue prod  *-  *lend_gpus  *4  *4  *0$' "and lent"

job own "echo runs; until [ -e $scratch/own-may-end ]; do sleep 0.1; done" 'queue: prod' 'tasks: {main: {gpus: 4}}'
must "when a job of the lender comes, it has them" wait_for 40 prints own '^runs$'
is "$(squeue -h -p research -t pending,running | wc -l)" 0 "and no job of the borrowers is left at Slurm"
for name in saves deaf; do
    ok "$name waits again" wait_for 20 in_state $name rendered
    like "$(log_of $name)" ' stopping .*signal=USR1 .*reason="queue prod takes back GPUs of its own that were borrowed, for own-' \
        "was told for whom"
    like "$(log_of $name)" ' failed reason=Preempted .*why="The job was stopped at its checkpoint to free resources for other jobs: queue prod' \
        "as Preempted"
done
must "what saves its state was told" printed saves '^told$'
ok "and had its time for it" printed saves '^saved$'
waits() { grep -q 'queue research .*, and the job needs 2, which no other queue has idle to lend\|queue research has none of its own left' "$(job_dir saves)/why"; }
ok "why says what it waits for" wait_for 20 waits

touch "$scratch/own-may-end" "$scratch/deaf-may-end"
for name in own saves deaf; do ok "$name is done" wait_for 40 in_state $name "done"; done
ok "what had saved its state began there" prints saves '^begins at 7$'
for name in saves deaf; do
    is "$(record $name | grep -E '^(attempt|retried):' | xargs)" "retried: 0 attempt: 2" "$name has had a second attempt, and no retry"
done
done_testing
