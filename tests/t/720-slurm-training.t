#!/usr/bin/env bash
# Real training programs on a real Slurm: scikit-learn, PyTorch over several nodes by itself and by torchrun,
# MPI's mpirun, parameter servers in a heterogeneous job, an array, XGBoost, and a server.
. "$(dirname "$0")/lib.bash"
. "$(dirname "$0")/slurm.bash"
/usr/bin/python3 -c 'import sklearn' 2>/dev/null || skip_all "python3-sklearn is not installed"
/usr/bin/python3 -c 'import torch' 2>/dev/null || skip_all "python3-torch is not installed"
/usr/bin/python3 -c 'import xgboost' 2>/dev/null || skip_all "python3-xgboost is not installed"
/usr/bin/python3 -c 'import mpi4py' 2>/dev/null || skip_all "python3-mpi4py is not installed"
ordinary_user
at_exit 'stop_daemon; stop_slurm'
start_slurm
slurm_spool || exit 1
start_daemon
example() { sed "s|^program: \.|program: $top/examples/$1|; $2" "$top/examples/$1/job.yaml"; }
said() { output_of "$1" "$2.log" 2>/dev/null; }
# A rank on each of several nodes: two of these do not fit on one.
alone='cpus: 5'

example digits '' | drop digits.yaml
must "digits: trained" wait_for 90 in_state digits "done"
like "$(said digits main-0)" 'accuracy.*0\.9' "and the accuracy is in output/"

# Programs that find one another.  Of one the agent of rank 1 is killed with its program, started again, and
# taken back by the other, which waits half a minute for it.
cat >"$scratch/elastic.py" <<'PROGRAM'
import os, signal, torch, torch.distributed as dist
dist.init_process_group("gloo")
total, killed = torch.ones(1), os.path.join(os.path.dirname(__file__), "killed")
dist.all_reduce(total)
here = f"rank {dist.get_rank()} of {dist.get_world_size()} has {int(total)} on {os.environ['SLURMD_NODENAME']}"
print(here, flush=True)
# (What is printed goes by way of the agent, which may be killed before it has passed it on.)
with open(os.path.join(os.path.dirname(__file__), "met"), "a") as met:
    met.write(here + "\n")
if os.environ["DLSPOOL_INDEX"] == "1" and not os.path.exists(killed):
    open(killed, "w").close()
    os.kill(os.getppid(), signal.SIGKILL)
    os.kill(os.getpid(), signal.SIGKILL)
dist.all_reduce(total)      # fails while the other is gone
print(f"finished with {dist.get_world_size()}")
PROGRAM
example ddp "s/cpus: 0.5/$alone/; s/EPOCHS: \"5\"/EPOCHS: \"2\", OMP_NUM_THREADS: \"1\"/" | drop ddp.yaml
cat <<JOB | drop elastic.yaml
name: elastic
library: pytorch
type: elastic
program: $scratch
env: {PET_REDIRECTS: "1", PET_TEE: "1", OMP_NUM_THREADS: "1"}
tasks:
  worker:
    count: 2
    $alone
    memory: 1Gi
    command: [python3, -m, torch.distributed.run, $scratch/elastic.py]
JOB
ok "ddp: trained" wait_for 120 in_state ddp "done"
for worker in 0 1; do
    like "$(said ddp worker-$worker)" 'loss' "worker $worker printed its losses"
    like "$(said ddp worker-$worker)" "rank $worker" "and its rank"
done
# MPI: the launcher's own command, after one of the hosts' own, and a program that is started on all slots.
# (Nodes that are one machine cannot share memory by the name of the host.)
cat >"$scratch/allreduce.py" <<'PROGRAM'
import os
from mpi4py import MPI
everybody = MPI.COMM_WORLD
total = everybody.allreduce(everybody.rank)
print(f"rank {everybody.rank} of {everybody.size} on {os.environ['SLURMD_NODENAME']}: {total} {os.environ['WORD']}\n", end="", flush=True)
PROGRAM
mkdir -m 777 "$scratch/results"
cat <<JOB | drop allreduce.yaml
name: allreduce
library: any
type: mpi
program: $scratch
entry: allreduce.py
env: {OMPI_MCA_btl: "self,tcp", WORD: "it's \$HOME"}
tasks:
  launcher: {cpus: 0.5, memory: 256Mi}
  worker: {count: 3, cpus: 4, memory: 512Mi}
JOB
cat <<JOB | drop handmade.yaml
name: handmade
library: horovod
type: mpi
output: $scratch/results
env: {OMPI_MCA_btl: "self,tcp", WORD: x}
tasks:
  launcher: {cpus: 0.5, memory: 256Mi, command: [sh, -c, 'cat "\$DLSPOOL_HOSTFILE"; exec mpirun -np 3 python3 $scratch/allreduce.py']}
  worker: {count: 2, cpus: 5, memory: 512Mi, command: [sh, -c, 'echo ready; touch "\$DLSPOOL_OUTPUT/\$DLSPOOL_INDEX"']}
JOB
ok "MPI, a program: done" wait_for 90 in_state allreduce "done"
is "$(said allreduce launcher-0 | grep -c "of 12 on n[1-4]: 66 it's \\\$HOME")" 12 "a rank for each processor of the hosts has the sum"
is "$(said allreduce launcher-0 | sed 's/.* on \(n[0-9]\).*/\1/' | sort -u | wc -l)" 2 "on two nodes"
ok "MPI, the user's own mpirun: done" wait_for 90 in_state handmade "done"
is "$(said handmade launcher-0 | grep -c 'of 3 on n[1-4]: 3 x')" 3 "it starts as many as it is told to"
is "$(said handmade launcher-0 | grep -c '^n[1-4] slots=5$')" 2 "and finds a hostfile"
is "$(said handmade worker-0) $(said handmade worker-1) $(ls "$scratch/results" | tr '\n' ' ')" "ready ready 0 1 " "the hosts' own commands ran before"

# Parameter servers, which never end by themselves, beside workers that ask for something else
example ps 's/worker: {count: 2, cpus: 0.25/worker: {count: 2, cpus: 2/' | drop servers.yaml
example xgboost "s/cpus: 0.5/$alone/" | drop boosted.yaml
ok "parameter servers: the job is done when its workers are" wait_for 90 in_state servers "done"
like "$(said servers worker-1)" 'worker 1 of 2 done' "each worker has trained"
like "$(said servers server-1)" 'server 1 of 2 serves columns' "with both servers, which are gone"
like "$(<"$(job_dir servers)/manifest.yaml")" 'cpus_per_task: 2' "the roles are two components"
ok "XGBoost: trained" wait_for 90 in_state boosted "done"

# An array
cat <<'JOB' | drop sweep.yaml
name: sweep
library: any
type: array
script: |
  echo "$DLSPOOL_ARRAY_INDEX of $DLSPOOL_ARRAY_COUNT: $RATE $SIZE on element $SLURM_ARRAY_TASK_ID"
  [ "$DLSPOOL_ARRAY_INDEX" != 4 ]
array: {values: {RATE: [0.1, "it's", "$HOME"], SIZE: [1, 2]}, at_once: 2}
tasks:
  main: {cpus: 1, memory: 64Mi}
JOB
ok "array: it has ended" wait_for 60 in_state sweep failed
is "$(for i in 0 1 2 3 4 5; do said sweep main-$i; done)" "0 of 6: 0.1 1 on element 0
1 of 6: 0.1 2 on element 1
2 of 6: it's 1 on element 2
3 of 6: it's 2 on element 3
4 of 6: \$HOME 1 on element 4
5 of 6: \$HOME 2 on element 5" "each element had its own values"
like "$(<"$(job_dir sweep)/why")" 'that of the index 4: main-4' "why names the one that failed"

ok "torchrun, elastic: one of two is lost, and the job is done" wait_for 180 in_state elastic "done"
like "$(<"$(job_dir elastic)/log")" ' lost attempt=1 task=worker-1 exit_code=137 ' "the log told of it when it was"
like "$(<"$(job_dir elastic)/log")" ' returned attempt=1 task=worker-1$' "and that it was started again"
is "$(grep -c 'rank 1 of 2 has 2 on n[1-4]' "$scratch/met")" 2 "two agents met, and two again"
is "$(cat <(said elastic worker-0) <(said elastic worker-1) | sed -n 's/.* of 2 has 2 on //p' | sort -u | wc -l)" 2 "on two nodes"
is "$(cat <(said elastic worker-0) <(said elastic worker-1) | grep -c 'finished with 2')" 2 "and both ended together"
like "$(said elastic worker-1)" '^dlspool: the task has failed \(137\), and is started again$' "the output says so, too"

# Others connect to these: a server until it is killed, a notebook (a real Jupyter) for its time
command -v jupyter-notebook >/dev/null && cat <<'JOB' | drop notebook.yaml
name: notebook
library: any
type: notebook
time_limit: 60s
tasks:
  main: {cpus: 1, memory: 256Mi}
JOB
cat <<'JOB' | drop serving.yaml
name: serving
library: any
type: serving
script: exec python3 -m http.server "$PORT"
tasks:
  server: {cpus: 1, memory: 128Mi}
JOB
if command -v jupyter-notebook >/dev/null; then
    address() { said notebook main-0 | grep -Eo 'http://127.0.0.1:[0-9]+/\S*token=\S+' | tail -n 1; }
    opens() { [ -n "$(address)" ] && curl -fsL -o /dev/null "$(address)"; }
    ok "notebook: its address with the token opens it" wait_for 60 opens
    ok "notebook: its end is a success" wait_for 60 in_state notebook "done"
    like "$(said notebook main-0)" 'the time of 50 s is over' "and comes before Slurm's"
fi
announced() { said serving server-0 | sed -n 's/.*at port \([0-9]*\) of .*/\1/p'; }
answers() { curl -fs -o /dev/null "http://127.0.0.1:$(announced)/"; }
shown() { dlspool show serving | grep -Eq "^address +[^ :]+:$(announced)$"; }
ok "serving: it answers where it says it does" wait_for 60 answers
ok "and show says where that is" wait_for 60 shown
ok "kill" dlspool kill serving
ok "serving: it ends" wait_for 30 in_state serving failed
ok "nothing is left at Slurm" wait_for 20 slurm_is_idle
done_testing
