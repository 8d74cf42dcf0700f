#!/usr/bin/env bash
# Queues that lend GPUs and take them back, in real containers: who has borrowed is stopped at the checkpoint, has its
# grace, and goes on from there when there is room; one without a checkpoint begins anew.  The GPUs are devices that
# every machine has.
#
# Seen to fail with: tests/mutants/preempt-ends-at-once.patch.
. "$(dirname "$0")/lib.bash"
command -v podman >/dev/null || skip_all "podman is not installed"
new_spool local || exit 1
set_setting cpus 4 memory 4Gi gpus '[/dev/zero, /dev/full]' poll_interval 200ms \
    rows '[{queue: prod, gpus: 2, lend_gpus: 2}, {queue: research, gpus: 0, borrow_gpus: 2}]'
mkdir -m 777 "$scratch/kept"

cpus=0.5 # of each job
# job NAME QUEUE GPUS LINE... <SCRIPT
job() {
    local name=$1 queue=$2 gpus=$3
    shift 3
    {
        printf '%s\n' "name: $name" "queue: $queue" "tasks: {main: {cpus: $cpus, memory: 64Mi, gpus: $gpus}}" \
            "output: $scratch/kept" "$@" 'script: |'
        sed 's/^/  /'
    } >"$scratch/$name.tmp"
    mv "$scratch/$name.tmp" "$spool/incoming/$name.yaml"
}
log_of() { cat "$(job_dir "$1")/log"; }
why() { cat "$(job_dir "$1")/why"; }
prints() { grep -qs "$2" "$(job_dir "$1")"/output/*; }

start_daemon
job saves research 1 'checkpoint: {signal: USR1, grace: 30s}' <<'JOB'
#!/bin/sh
step="$DLSPOOL_OUTPUT/step"
echo "begins at $(cat "$step" 2>/dev/null || echo 0)"
trap 'sleep 0.5; echo 7 >"$step"; exit 3' USR1
[ -e "$step" ] || while :; do sleep 0.1; done
JOB
job plain research 1 <<'JOB'
#!/bin/sh
echo "begins"
while [ ! -e "$DLSPOOL_OUTPUT/plain-may-end" ]; do sleep 0.1; done
JOB
ok "a job of a queue that owns none has a GPU that another lends" wait_for 60 prints saves 'begins at 0'
ok "so has another" wait_for 60 prints plain begins
like "$(dlspool limits)" 'queue research  *-  *borrow_gpus  *2  *2  *0$' "limits shows what is borrowed"
like "$(dlspool limits)" 'queue prod  *-  *lend_gpus  *2  *2  *0$' "and lent"

job own prod 1 <<'JOB'
#!/bin/sh
while [ ! -e "$DLSPOOL_OUTPUT/own-may-end" ]; do sleep 0.1; done
JOB
ok "when a job of the lender comes, it has one of them" wait_for 60 in_state own submitted
stopped() { log_of saves | grep -q ' stopping .*signal=USR1 .*reason="queue prod takes back GPUs of its own that were borrowed, for own-'; }
ok "who has a checkpoint was stopped for it, and its log says for whom" stopped
is "$(grep -c stopping "$(job_dir plain)/log")" 0 "the other one goes on"
waits() { in_state saves rendered && why saves | grep -q 'queue research .*, and the job needs 1, which no other queue has idle to lend\|queue research has none of its own left'; }
ok "it waits, and says for what" wait_for 60 waits
like "$(log_of saves)" ' failed reason=Preempted .*why="The job was stopped at its checkpoint to free resources for other jobs: queue prod' "as Preempted"
touch "$scratch/kept/own-may-end"
ok "when there is room it goes on" wait_for 60 in_state saves "done"
ok "from its checkpoint" prints saves 'begins at 7'
like "$(<"$(job_dir saves)/job.yaml")" 'retried: 0' "and without a retry"

job both prod 2 <<'JOB'
#!/bin/sh
true
JOB
ok "a job that needs all is done" wait_for 60 in_state both "done"
like "$(log_of plain)" ' failed reason=Preempted .*why="The job was stopped to free resources' "the one without a checkpoint was stopped"
touch "$scratch/kept/plain-may-end"
ok "and is done in another attempt" wait_for 60 in_state plain "done"
like "$(<"$(job_dir plain)/job.yaml")" 'attempt: 2' "its second"

# Inside a queue, and where the machine has no room.
>"$scratch/daemon.log"
set_setting rows '[{queue: batch, preempt: lower}]'
ok "the rows may be changed" wait_for 20 grep -q "dlspool.yaml has changed" "$scratch/daemon.log"
rm -f "$scratch/kept/step"
cpus=3
job low batch 0 'priority: -10' 'checkpoint: {signal: USR1, grace: 30s}' <<'JOB'
#!/bin/sh
step="$DLSPOOL_OUTPUT/step"
echo "begins at $(cat "$step" 2>/dev/null || echo 0)"
trap 'echo 8 >"$step"; exit 3' USR1
[ -e "$step" ] || while :; do sleep 0.1; done
JOB
ok "a job of low priority runs" wait_for 60 prints low 'begins at 0'
job high batch 0 'priority: 10' <<'JOB'
#!/bin/sh
true
JOB
ok "one of higher priority is done first" wait_for 60 in_state high "done"
ok "then the other one" wait_for 60 in_state low "done"
like "$(log_of low)" ' stopping .*reason="high-.* has a higher priority in queue batch"' "which was stopped for it"
ok "and went on from its checkpoint" prints low 'begins at 8'
stop_daemon
done_testing
