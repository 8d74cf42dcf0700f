#!/usr/bin/env bash
# Programs of several libraries, as their users write them, in real containers: torchrun and an elastic
# job whose node is lost (PyTorch), the workers and the evaluator of docs/job-file.md, a tracker and its workers
# (XGBoost), parameter servers that are told to end when the workers have.
. "$(dirname "$0")/lib.bash"
command -v podman >/dev/null || skip_all "podman is not installed"
/usr/bin/python3 -c 'import sklearn' 2>/dev/null || skip_all "python3-sklearn is not installed"
/usr/bin/python3 -c 'import torch' 2>/dev/null || skip_all "python3-torch is not installed"
/usr/bin/python3 -c 'import xgboost' 2>/dev/null || skip_all "python3-xgboost is not installed"
new_spool local || exit 1
start_daemon
example() { sed "s|^program: \.|program: $top/examples/$1|; $2" "$top/examples/$1/job.yaml"; }
said() { cat "$(job_dir "$1")/output/$2.log" 2>/dev/null; }

# A node is lost: the agent of rank 1 is killed with its program.  The other waits half a minute for another
# one, and that is the same, started again.
cat >"$scratch/elastic.py" <<'PROGRAM'
import os, signal, sys, time
import torch, torch.distributed as dist
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
def say(sentence):
    with open("/job/output/events", "a") as events:
        print(sentence, file=events)
say(f"rank {rank} of {world} is up")
total = torch.ones(1)
dist.all_reduce(total)
if os.environ["DLSPOOL_INDEX"] == "1" and not os.path.exists("/job/output/killed"):
    open("/job/output/killed", "w").close()
    os.kill(os.getppid(), signal.SIGKILL)
    os.kill(os.getpid(), signal.SIGKILL)
if world == 2:
    dist.all_reduce(total)      # fails when the other is gone
say(f"finished with {world}")
PROGRAM
mkdir -m 777 "$scratch/results"
cat <<JOB | drop elastic.yaml
name: elastic
library: pytorch
type: elastic
program: $scratch
output: $scratch/results
size: {min: 1, max: 2}
env: {PET_REDIRECTS: "1", PET_TEE: "1"}
tasks:
  worker:
    count: 2
    cpus: 0.3
    memory: 1Gi
    command: [python3, -m, torch.distributed.run, /job/program/elastic.py]
JOB

# The job file of the page, but for the machines that it wants: two workers train together, and an evaluator with a
# command of its own looks for checkpoints until it is told to end.
mkdir -p "$scratch/vision/train" && mkdir -m 777 "$scratch/vision/results"
cat >"$scratch/vision/train/main.py" <<'PROGRAM'
import os, sys, time, torch, torch.distributed as dist
assert sys.argv[1:] == ["--epochs", "90", "--lr", "0.1"], sys.argv
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(rank)
model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(2, 1, bias=False))
optimizer = torch.optim.SGD(model.parameters(), lr=1)
inputs = torch.rand(64, 2)
for epoch in range(90):
    optimizer.zero_grad()
    # Each worker sees one of the two weights only.
    mine = inputs * torch.tensor([float(rank == 0), float(rank == 1)])
    loss = ((model(mine) - mine @ torch.tensor([[3.0], [-2.0]])) ** 2).mean()
    loss.backward()
    optimizer.step()
print(f"rank {rank} of {world} done", flush=True)
if rank == 0:
    torch.save(model.module.state_dict(), "/job/output/new")
    os.rename("/job/output/new", "/job/output/checkpoint")
# Until the evaluator has seen it.
while not os.path.exists("/job/output/seen"):
    time.sleep(0.2)
PROGRAM
cat >"$scratch/vision/train/evaluate.py" <<'PROGRAM'
import os, sys, time, torch
assert sys.argv[1] == "--watch" and "RANK" not in os.environ
while not os.path.exists("/job/output/checkpoint"):
    time.sleep(0.2)
print("weights", [round(w, 1) for w in torch.load("/job/output/checkpoint")["weight"][0].tolist()], flush=True)
open("/job/output/seen", "w").close()
while True:
    time.sleep(1)
PROGRAM
awk '/^# Two workers with a GPU each, and an evaluator/ { on = 1 } on && /^```/ { exit } on' "$top/docs/job-file.md" |
    sed "s|/srv/projects/vision|$scratch/vision|; s|/srv/results/resnet-night-run|$scratch/vision/results|; s|/srv/datasets/cifar10|$scratch/vision|
        s/cpus: 8/cpus: 0.3/; s/cpus: 500m/cpus: 0.2/; s/memory:.*/memory: 512Mi/; /version:\|gpus:\|shm:\|gpu_type:\|priority:/d" | drop documented.yaml

ok "two examples are submitted as they are delivered" dlspool submit "$top/examples/ps/job.yaml" "$top/examples/xgboost/job.yaml"

must "parameter servers: the job is done when its workers are" wait_for 120 in_state servers "done"
like "$(said servers worker-1)" 'worker 1 of 2 done' "each worker has trained"
like "$(said servers worker-0)" 'epoch 30 accuracy 0\.[89]' "with both servers' weights"
like "$(said servers server-1)" 'server 1 of 2 serves columns' "and the servers, which never end by themselves, are gone"

ok "XGBoost: trained" wait_for 120 in_state boosted "done"
checksum=$(said boosted worker-0 | sed -n 's/.*checksum //p')
like "$checksum" '^[0-9a-f]{8}$' "the worker that was the tracker has a model"
like "$(said boosted worker-1)" "rank 1 of 2 done, checksum $checksum" "and the other one the same"

# torchrun takes all it needs from the environment.  (Where the output goes has to be said: the default
# of torch 1.13 does not work with Python 3.11, which come together in Debian 12.)
example ddp 's/^name: ddp/name: by-torchrun/; s/^entry:.*//; s/^env:.*/env: {EPOCHS: "2", PET_REDIRECTS: "1", PET_TEE: "1"}/
    s/cpus: 0.5, /cpus: 0.5, command: [python3, -m, torch.distributed.run, \/job\/program\/train.py], /' |
    drop by-torchrun.yaml
ok "torchrun: trained" wait_for 180 in_state by-torchrun "done"
for worker in 0 1; do
    like "$(said by-torchrun worker-$worker)" "rank $worker of 2 is up" "node $worker has its rank"
done

ok "the job file of the page: trained" wait_for 120 in_state resnet-night-run "done"
like "$(said resnet-night-run worker-0)" 'rank 0 of 2 done' "two workers are counted, and"
like "$(said resnet-night-run evaluator-0)" '^weights \[3\.0, -2\.0\]$' "the evaluator saw what they have learned together"

ok "elastic: one node of two is lost, and the job is done" wait_for 150 in_state elastic "done"
like "$(<"$(job_dir elastic)/log")" ' lost attempt=1 task=worker-1 exit_code=137 ' "the log told of it when it was"
like "$(<"$(job_dir elastic)/log")" ' returned attempt=1 task=worker-1$' "and that it was started again"
is "$(dlspool show --json elastic | jq -c .lost)" '[]' "so it is not lost any more"
is "$(grep -c 'rank 1 of 2 is up' "$scratch/results/events")" 2 "there were two, and two again"
is "$(tail -n 1 "$scratch/results/events")" 'finished with 2' "both ended together"
like "$(grep ' ended ' "$(job_dir elastic)/log")" 'worker-0=0 worker-1=0' "well"

done_testing
