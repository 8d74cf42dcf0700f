#!/usr/bin/env bash
# Scripts that were written for Slurm and PBS, dropped as they are: they run in real containers with what
# they ask for, start where their user expects, and are told what is kept, what is not, and why.
. "$(dirname "$0")/lib.bash"
command -v podman >/dev/null || skip_all "podman is not installed"
new_spool local || exit 1
set_setting cpus 4
set_setting memory 4Gi
start_daemon
project=$scratch/project
mkdir "$project"
chmod 777 "$project"
echo 'print("trained")' >"$project/train.py"
log() { cat "$(job_dir "$1")/log"; }
printed() { cat "$(job_dir "$1")/output/main-${2:-0}.log"; }

cat >"$project/train.sh" <<'S'
#!/bin/bash
#SBATCH --job-name=train-it
#SBATCH --time=1-00:10
#SBATCH --ntasks=1 --cpus-per-task=2
#SBATCH --mem=200M
#SBATCH --partition=gpu --account=physics
#SBATCH --output=slurm-%j.out
#SBATCH --mail-type=END,FAIL --mail-user=ann@example.org
#SBATCH --export=ALL,GREETING="good morning"
cd "$SLURM_SUBMIT_DIR" || exit 1
cat train.py
echo "$GREETING from $SLURM_JOB_NAME, $SLURM_CPUS_PER_TASK CPUs, $OMP_NUM_THREADS threads" >result
[ "$SLURM_JOB_ID" = "$DLSPOOL_JOB_ID" ] && echo numbered
S
said=$(cd "$project" && dlspool submit train.sh 2>&1 >/dev/null)
like "$said" "train.sh:9: --chdir=$project is added, the directory of this shell" "submit says where the script will start"
like "$said" 'line 7: --output: no effect: what the job prints is kept in the spool' "and what has no effect"
must "a script for Slurm ends in done/" wait_for 60 in_state train-it "done"
like "$(printed train-it)" '^print\("trained"\)$' "it starts in the directory of the shell that submitted it, and finds its files"
is "$(cat "$project/result")" "good morning from train-it, 2 CPUs, 2 threads" "what it writes there stays; it has the variables that it knows"
like "$(printed train-it)" '^numbered$' "its job has a number"
record=$(<"$(job_dir train-it)/job.yaml")
like "$record" 'time_limit_ms: 87000000' "a day and ten minutes are its time"
like "$(log train-it)" 'note field=notify text="no effect: this site sends no messages' "the log has the notes"
like "$(log train-it)" 'note .*--account.*no effect here' "and that this machine has one queue"

cat >"$project/count.pbs" <<'S'
#!/bin/sh
#PBS -N count
#PBS -l nodes=1:ppn=1,mem=100mb,walltime=00:05:00
#PBS -t 5-6
#PBS -j oe
echo "in $PWD, $PBS_ENVIRONMENT of $PBS_JOBNAME"
cd "$PBS_O_WORKDIR" && echo "task $PBS_ARRAYID of $NCPUS" >"task-$PBS_ARRAY_INDEX"
S
ok "a script for PBS is submitted" sh -c "cd '$project' && '$DLSPOOL' -s '$spool' submit count.pbs"
must "and ends in done/" wait_for 60 in_state count "done"
is "$(cat "$project"/task-*)" "task 5 of 1
task 6 of 1" "its array has the indexes that it names, and PBS's variables"
like "$(printed count)" '^in (/tmp|/root|/home/[^,]*), PBS_BATCH of count$' "it starts in HOME, as with PBS"

# Dropped, not submitted: where it lay is not known, so that it starts in HOME.
sed -e 's/--job-name=train-it/-J dropped/' -e '/^cd /,$d' "$project/train.sh" >"$scratch/dropped.sh"
echo 'echo "in $PWD of $SLURM_SUBMIT_DIR, HOME is $HOME"' >>"$scratch/dropped.sh"
drop dropped.sh <"$scratch/dropped.sh"
must "one that is dropped runs as well" wait_for 60 in_state dropped "done"
[[ $(printed dropped) =~ ^in\ (.*)\ of\ (.*),\ HOME\ is\ (.*)$ ]]
is "${BASH_REMATCH[1]-}=${BASH_REMATCH[2]-}" "${BASH_REMATCH[3]-}=${BASH_REMATCH[3]-}" "in HOME, which counts as the directory of its submission"

cat >"$project/saves.sh" <<'S'
#!/bin/bash
#SBATCH --array=3-4 --mem=50M
#SBATCH --time=0:40 --signal=B:USR1@38
trap 'echo "saved $SLURM_ARRAY_TASK_ID"; exit 0' USR1
for i in {1..100}; do sleep 0.2; done
exit 1
S
ok "a script that saves its work before its time is over is submitted" sh -c "cd '$project' && '$DLSPOOL' -s '$spool' submit saves.sh"
must "it ends in done/" wait_for 60 in_state saves "done"
is "$(printed saves 0) $(printed saves 1)" "saved 3 saved 4" "as both of its tasks were told"
like "$(log saves)" ' signalled attempt=1 signal=USR1 tasks=' "the log says when"
cat >"$project/habits.sh" <<'S'
#!/usr/bin/env python3
#SBATCH --job-name="habits of all kinds"
#SBATCH --begin=now+2 --requeue --comment="nothing" -N 1-1
#SBATCH --time=0-00:05 --mem 80
#SBATCH --ntasks-per-node=1 -c 2
import os
print(*[os.environ.get("SLURM_" + name) for name in ("CPUS_ON_NODE", "NNODES", "CPUS_PER_TASK")], os.getcwd())
S
ok "a program in Python is submitted" sh -c "cd '$project' && '$DLSPOOL' -s '$spool' submit habits.sh"
must "it begins when its time has come" wait_for 60 in_state habits-of-all-kinds "done"
like "$(printed habits-of-all-kinds)" '^2 1 2 ' "it finds what Slurm would tell it"
like "$(log habits-of-all-kinds)" ' requeued cause=begin ' "and its log says that it waited"
drop wrong.sh <<'S'
#!/bin/bash
#SBATCH --time=soon --nodes=2
#SBATCH --frobnicate
#SBATCH --constraint=a100 --dependency=aftercorr:sweep
srun true
S
ok "one that asks for what cannot be kept is refused" wait_for 30 has_ended wrong
why=$(<"$(job_dir wrong)/why")
like "$why" 'wrong.sh:2:9: --time: found "soon", expected a time as Slurm writes it' "by its line, with what to write: a time"
like "$why" 'wrong.sh:2:21: --nodes: found 2 nodes, expected 1, .*#DL type=distributed' "nodes"
like "$why" 'wrong.sh:3:9: found --frobnicate, which dlspool does not know' "an option that nobody knows"
like "$why" 'wrong.sh:4:27: --dependency: aftercorr cannot be kept here; write afterok:JOB' "a dependency"

{ echo '#!/bin/bash'; echo '#SBATCH --constraint=a100'; echo true; } | drop featured.sh
ok "a feature that the site does not know is refused" wait_for 30 has_ended featured
like "$(<"$(job_dir featured)/why")" 'this machine does not have the feature a100; site.yaml names those that it has under local.features' "with where an administrator can name it"
git clone -q "$spool/templates.git" "$scratch/work" 2>/dev/null
sed -i '/^sbatch:/,/^pbs:/s/^  rules: .*/  rules: [{constraint: a100, gpu_type: a100}]/' "$scratch/work/site.yaml"
ok "a rule that names it is pushed" sh -c "cd '$scratch/work' && git commit -qam 'site: name a feature' && git push -q"
{ echo '#!/bin/bash'; echo '#SBATCH --constraint=a100 --mem=50M'; echo true; } | drop known.sh
ok "and the job runs" wait_for 60 in_state known "done"
done_testing
