#!/usr/bin/env bash
# Slurm with slurmdbd and its database: accounts and their limits, what slurmctld has forgotten long ago;
# and the older versions of slurmrestd's interface.
. "$(dirname "$0")/lib.bash"
. "$(dirname "$0")/slurm.bash"
ordinary_user
command -v mariadbd >/dev/null || skip_all "no mariadbd: tools/setup check installs it"
at_exit 'stop_daemon; stop_slurm'
start_slurm --accounting --line MinJobAge=2 --line JobAcctGatherType=jobacct_gather/linux --line JobAcctGatherFrequency=task=1
slurm_spool || exit 1
start_daemon

job plain 'echo plain; sleep 1'
must "a job is done" wait_for 40 in_state plain "done"
ended() { [ "$(sacct -n -X -o state -j "$1" | tr -d ' ')" = COMPLETED ]; }
ok "and in the accounting" wait_for 20 ended 1

# The accounts say what sacct says: when, where, what it had and what it used, also of a job array.
used='import time; x = bytearray(40 << 20)
while time.process_time() < 0.5: pass
time.sleep(1)'
job busy "exec python3 -c '$used'" 'tasks: {main: {cpus: 2, memory: 300Mi, gpus: 1}}' 'time_limit: 5m'
type=array job sweep "exec python3 -c '$used'" 'array: 0-1' 'tasks: {main: {cpus: 1, memory: 200Mi}}'
number() { dlspool acct -P --noheader -o SchedulerID "$(basename "$(job_dir "$1")")"; }
acct() { dlspool acct -P --noheader -o "$2" "$(basename "$(job_dir "$1")")"; }
for name in busy sweep; do ok "$name is done" wait_for 60 in_state $name "done"; done
same=State,ExitCode,Start,End,Elapsed,NNodes,NCPUS,NodeList,Timelimit
is "$(acct busy $same)" "$(sacct -n -X -P -o $same -j "$(number busy)")" "the accounts have sacct's times, nodes and processors"
like "$(acct busy AllocTRES)" "cpu=2,gres/gpu=1,mem=300M,node=1" "and its resources"
is "$(acct busy TotalCPU,MaxRSS)" \
    "$(sacct -n -P -o TotalCPU -j "$(number busy)" | head -n 1)|$(sacct -n -P -o MaxRSS -j "$(number busy)" | grep -o '[0-9]*K' | sort -n | tail -n 1)" \
    "and what sacct says that it used"
like "$(acct busy TotalCPU,MaxRSS)" '^00:0(0[.][5-9]|[1-9]).*[|][1-9][0-9]*K$' "half a second at least"
# seconds: the sum of lines such as 00:01.234.
seconds() { awk -F: '{ sum += $1 * 60 + $2 } END { printf "%.2f\n", sum }'; }
# (Each element's time is rounded to thousandths by one of the two.)
ours=$(acct sweep TotalCPU | seconds)
theirs=$(sacct -n -P -o JobID,TotalCPU --name "$(basename "$(job_dir sweep)")-a1" | awk -F'|' '$1 !~ /[.]/ { print $2 }' | seconds)
is "$(awk "BEGIN { d = $ours - $theirs; print (d < 0.02 && d > -0.02) ? \"as much\" : \"$ours instead of $theirs\" }")" "as much" \
    "of an array all elements"
is "$(acct sweep CPUTimeRAW)" "$(sacct -n -X -P -o CPUTimeRAW --name "$(basename "$(job_dir sweep)")-a1" | awk '{ sum += $1 } END { print sum }')" \
    "each for its own time"

# A limit of the account makes a job wait, and its log says so.
sacctmgr -i modify account dl set MaxJobs=1 >/dev/null
job first 'sleep 3'
wait_for 20 says first ' started '
job next 'true'
ok "a limit of the account is the reason why a job waits" wait_for 20 says next 'waiting .*Assoc[A-Za-z]*Job'
ok "it goes on when there is room" wait_for 40 in_state next "done"
sacctmgr -i modify account dl set MaxJobs=-1 >/dev/null

# A job ends, and slurmctld forgets it, while no dlspool looks.
job unseen 'echo unseen; sleep 1; exit 4'
job unseen-too 'echo unseen too; sleep 1'
ok "two jobs run" wait_for 20 says unseen-too ' started '
wait_for 20 says unseen ' started '
stop_daemon
forgotten() { [ "$(squeue -h -t all | wc -l)" = 0 ]; }
ok "slurmctld has forgotten all jobs" wait_for 60 forgotten
start_daemon
ok "one that failed is known to have failed" wait_for 20 has_ended unseen
like "$(<"$(job_dir unseen)/job.yaml")" 'exit_code: 4' "with its exit code"
ok "one that succeeded to have succeeded" wait_for 20 in_state unseen-too "done"
is "$(<"$(job_dir unseen-too)/output/main-0.log")" "unseen too" "with what it printed"
is "$(sacct -n -X -o jobid | wc -l)" 8 "and none ran again"

# Older versions of the interface
for version in v0.0.36 v0.0.37; do
    stop_daemon
    set_setting api "$version"
    start_daemon
    short=${version##*.}
    job "good$short" 'echo "$CUDA_VISIBLE_DEVICES"' 'tasks: {main: {gpus: 2, cpus: 2}}' 'time_limit: 1h'
    job "bad$short" 'exit 5'
    job "long$short" 'sleep 100'
    ok "$version: a job is done" wait_for 40 in_state "good$short" "done"
    like "$(output_of "good$short")" '^[0-3],[0-3]$' "it had its GPUs"
    ok "one that fails has failed" wait_for 20 has_ended "bad$short"
    like "$(record "bad$short")" 'exit_code: 5' "with its exit code"
    wait_for 20 says "long$short" ' started '
    ok "one that runs is to be killed" dlspool kill "long$short"
    ok "and is" wait_for 20 in_state "long$short" failed
    like "$(dlspool status --json | jq -c '[.executor.capacity.nodes.total, .executor.capacity.gpus.total]')" '^.4,16.$' "there is what there is"
done
ok "nothing is left at Slurm" wait_for 20 slurm_is_idle
stop_daemon
unlike "$(<"$scratch/daemon.log")" 'stage .* (died|ended)' "no stage died"

done_testing
