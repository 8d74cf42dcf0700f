#!/usr/bin/env bash
# A stream of 200 jobs to a real Slurm, in which slurmctld is killed with SIGKILL four times, and dlspool,
# too: every job's program runs exactly once, and every job is done.  slurmctld forgets what it accepted in
# the seconds before, also what runs already, and gives the ids to others.
# At the end, slurmctld comes back with a state in which arrays that run were still waiting.
# JOBS=N (200) for a longer run by hand.
. "$(dirname "$0")/lib.bash"
. "$(dirname "$0")/slurm.bash"
ordinary_user
jobs=${JOBS:-200}
at_exit 'stop_all; stop_slurm'
# What Slurm puts back into its queue may begin again when its credential has expired.
start_slurm --line MessageTimeout=4 --line "AuthInfo=socket=$slurm/munge.sock,cred_expire=10"
slurm_spool || exit 1
git clone -q "$spool/templates.git" "$scratch/site" 2>/dev/null
sed -i 's/^  heartbeat: .*/  heartbeat: 2/' "$scratch/site/site.yaml"
git -C "$scratch/site" commit -qam "site: a quicker heartbeat" && git -C "$scratch/site" push -q 2>/dev/null || exit 1
mkdir "$scratch/begun" "$scratch/ran"

# Stages are in the daemon's process group, so that all can be killed at once.
all=
start_all() {
    setsid "$DLSPOOL" -s "$spool" run 2>>"$scratch/daemon.log" &
    all=$!
}
stop_all() { [ -z "$all" ] || { kill -KILL -- "-$all"; wait "$all"; } 2>/dev/null; all=; }
finished() { find "$spool/done" -mindepth 2 -maxdepth 2 | wc -l; }
all_done() { [ "$(finished)" = "$jobs" ]; }
# Supervisors of jobs that ended while slurmctld was away tell it every fifteen seconds.  Until they have, no
# other job may run under their numbers, or slurmctld takes the node out of service ("Duplicate jobid").
no_supervisors() { ! readlink $(pgrep -x slurmstepd | sed 's|.*|/proc/&/fd/*|') 2>/dev/null | grep -qF "$slurm/log/"; }
# What runs says when it begins, and when it comes to its end.
program() { printf 'echo "$SLURM_JOB_ID" >>%s\nsleep 0.5\necho "$SLURM_JOB_ID" >>%s' "$scratch/begun/$1" "$scratch/ran/$1"; }
stream() {
    for i in $(seq "$jobs"); do
        job "run-$i" "$(program "$i")"
        touch "$scratch/dropped/$i"
        sleep 0.05 # they come one after another, for a while
    done
}
dropped() { test -e "$scratch/dropped/$1"; }
mkdir "$scratch/dropped"
start_all
stream &
for round in 1 2 3 4; do
    wait_for 60 dropped $((jobs * round / 5))
    cluster kill slurmctld
    cluster start slurmctld
    wait_for 10 scontrol update partition=gpu state=down
    wait_for 60 dropped $((jobs * round / 5 + jobs / 10))
    stop_all
    start_all
done
wait_for 40 no_supervisors
# A slurmctld that was killed may have forgotten that a job ended, and takes it for running until its node says
# again what runs there, some time after the job began.
say_what_runs() { scontrol reconfigure; sleep 2; return 1; }
scontrol update partition=gpu state=up
all_told() { all_done || say_what_runs; }
wait_for 120 all_told
is "$(finished)" "$jobs" "all jobs are done, after four kills of slurmctld and four of dlspool"
all_done || { # where the others are, for whoever reads what failed
    for directory in "$spool"/{rendered,submitted,failed,held}/*/; do
        [ -d "$directory" ] || continue
        printf '%s\n' "$directory"
        head -n 3 "$directory/why" 2>/dev/null
        tail -n 5 "$directory/log"
    done | head -n 100
    squeue -o '%i %j %T %r %M %k'
    sinfo -o '%P %a %D %T %E'
    tail -n 20 "$scratch/daemon.log"
} | sed 's/^/# /' >&2
is "$(find "$spool"/{incoming,rendered,submitted,failed,held} -mindepth 1 -maxdepth 1 | wc -l)" 0 "nothing is anywhere else"
is "$(ls "$scratch/ran" | wc -l)" "$jobs" "every program ran"
lines() { (cd "$scratch/$1" && grep -c . -- * | grep -v ':1$' | tr '\n' ' '); }
is "$(lines ran)" "" "to its end, and only once"
# slurmctld ends what runs under a number that it did not know any more, or gave away: then the attempt has
# failed, and there is another.
more=$(for i in $(seq "$jobs"); do
    attempts=$(grep -c ' intent ' "$(job_dir "run-$i")/log")
    begun=$(cat "$scratch/begun/$i" | wc -l)
    [ "$begun" -le "$attempts" ] || echo "run-$i: $begun of $attempts"
done)
is "$more" "" "and never began twice in one attempt"
echo "# $(grep -c 'is submitted again' "$scratch/daemon.log") times a job was submitted again that slurmctld had forgotten"
nothing_left() { slurm_is_idle || say_what_runs; }
ok "nothing is left at Slurm" wait_for 60 nothing_left
slurm_is_idle || {
    squeue -o '%i %j %T %r %M %k'
    grep -a "$(squeue -h -o %i | head -n 1)" "$scratch/daemon.log" | tail -n 20
} | sed 's/^/# /' >&2

# Arrays run, and slurmctld comes back with the state of before.  The nodes tell it of elements that are to wait, and it
# has them killed and starts them again under their numbers.  What finds that its attempt has begun runs nothing, and waits
# for a sign of life.
partitions() { local name; for name in gpu short down; do scontrol update "partition=$name" "state=$1"; done; }
elements() { squeue -h -r -t all -o '%T %r' | grep -c "$1"; }
elements_are() { [ "$(elements "$1")" = 4 ]; }
partitions down
once='[ "$DLSPOOL_ATTEMPT" = 2 ] || sleep 300'
type=array job again "$(program '$SLURM_ARRAY_TASK_ID'); $once" "array: 900-901"
type=array job ended "$(program '$SLURM_ARRAY_TASK_ID'); $once" "array: 902-903"
waiting_are_saved() { elements_are ^PENDING && find "$slurm/state/job_state" -newer "$scratch/submitted" | grep -q .; }
released() { [ "$(squeue -h -t pending -o %k | grep -c ':released$')" = 2 ] && touch "$scratch/submitted"; }
ok "two arrays wait at Slurm" wait_for 20 released
ok "slurmctld has written down that they do" wait_for 20 waiting_are_saved
cp -a "$slurm/state" "$scratch/older"
partitions up
ok "they run" wait_for 20 elements_are ^RUNNING
begun() { [ "$(ls "$scratch/begun" | grep -c '^90[0-3]$')" = 4 ]; }
ok "their programs have begun" wait_for 20 begun
cluster kill slurmctld
rm -rf "$slurm/state" && mv "$scratch/older" "$slurm/state"
cluster start slurmctld
wait_for 10 partitions up
follow() { [ "$(cat "$spool"/.slurm/*/job/batch.log | grep -c 'this attempt runs already')" = 4 ]; }
ok "slurmctld starts all of their elements again, which run nothing" wait_for 60 follow
"$DLSPOOL" -s "$spool" kill ended
ok "one of them is killed" wait_for 40 in_state ended failed
is "$(record ended | grep '^  *reason:')" '  reason: "Killed"' "as its user asked"
ok "the other is tried again, and done" wait_for 120 in_state again "done"
like "$(log_of again)" ' failed reason=NodeLost ' "its log says why"
is "$(cat "$scratch"/begun/90[01] | wc -l)" 4 "each of its programs ran once in each attempt"
ok "nothing of either is left at Slurm" wait_for 60 slurm_is_idle

unlike "$(<"$scratch/daemon.log")" 'stage .* (died|ended)' "no stage died"

done_testing
