#!/usr/bin/env bash
# The (library, type) pairs that are used most, as far as Debian has what they need, in real containers and to their end:
# scikit-learn, PyTorch, XGBoost, DeepSpeed's way of starting processes, and MPI.  What is learned needs what every task
# has: each sees one of the weights only, or some of the rows, and the result has all of them.
. "$(dirname "$0")/lib.bash"
command -v podman >/dev/null || skip_all "podman is not installed"
[ "$(id -u)" = 0 ] || skip_all "only root can run containers as other users"
[ -x /usr/sbin/sshd ] && command -v ssh >/dev/null || skip_all "openssh-server or openssh-client is not installed"
command -v mpirun >/dev/null || skip_all "openmpi-bin is not installed"
for package in sklearn torch xgboost mpi4py; do
    /usr/bin/python3 -c "import $package" 2>/dev/null || skip_all "python3-$package is not installed"
done
new_spool local || exit 1
set_setting cpus 8 # what they take together is less than they ask for
start_daemon
mkdir -p "$scratch/code" && mkdir -m 777 "$scratch/out"

# The weights are 3, -2, 1.5, ...: as many as tasks.  A task's rows have zeros for all but its own.
cat >"$scratch/code/common.py" <<'PROGRAM'
import json
import os

import numpy

WEIGHTS = numpy.array([3.0, -2.0, 1.5, 0.5])

def rows_of(number, count):
    rows = numpy.zeros((64, count))
    rows[:, number] = numpy.random.default_rng(number).uniform(0.5, 1.5, 64)
    return rows, rows @ WEIGHTS[:count]

def tell(name, weights):
    with open(f"{os.environ.get('RESULTS', '/job/output')}/{name}", "w") as result:
        result.write(json.dumps([round(float(weight), 1) for weight in weights]) + "\n")
PROGRAM
cat >"$scratch/code/ddp.py" <<'PROGRAM'
import os, torch, torch.distributed as dist
from common import rows_of, tell
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(rank)
model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(world, 1, bias=False))
optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
rows, wanted = (torch.tensor(part, dtype=torch.float32) for part in rows_of(rank, world))
for step in range(200):
    optimizer.zero_grad()
    ((model(rows)[:, 0] - wanted) ** 2).mean().backward()
    optimizer.step()
tell(f"{os.environ['CELL']}-{rank}", model.module.weight[0].tolist())
PROGRAM
cat >"$scratch/code/single.py" <<'PROGRAM'
import os, torch
from common import rows_of, tell
rows, wanted = (torch.tensor(part, dtype=torch.float32) for part in rows_of(0, 1))
model = torch.nn.Linear(1, 1, bias=False)
optimizer = torch.optim.SGD(model.parameters(), lr=float(os.environ.get("RATE", "0.3")))
for step in range(100):
    optimizer.zero_grad()
    ((model(rows)[:, 0] - wanted) ** 2).mean().backward()
    optimizer.step()
tell(f"{os.environ['CELL']}-{os.environ.get('DLSPOOL_ARRAY_INDEX', 0)}", model.weight[0].tolist())
PROGRAM
cat >"$scratch/code/forest.py" <<'PROGRAM'
import os
from sklearn.linear_model import SGDRegressor
from common import rows_of, tell
rows, wanted = rows_of(0, 1)
model = SGDRegressor(alpha=float(os.environ.get("ALPHA", "0")), fit_intercept=False, max_iter=2000, tol=1e-9, random_state=0)
tell(f"{os.environ['CELL']}-{os.environ.get('DLSPOOL_ARRAY_INDEX', 0)}", model.fit(rows, wanted).coef_)
PROGRAM
cat >"$scratch/code/boost.py" <<'PROGRAM'
import os, time, xgboost
from xgboost.tracker import RabitTracker
from common import rows_of, tell
rank, world = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
host, port = os.environ["DMLC_TRACKER_URI"], int(os.environ["DMLC_TRACKER_PORT"])
if rank == 0:
    tracker = RabitTracker(host_ip=host, n_workers=world, port=port)
    tracker.start(world)
parameters = {"DMLC_TRACKER_URI": host, "DMLC_TRACKER_PORT": port, "DMLC_TASK_ID": os.environ["DMLC_TASK_ID"]}
for attempt in range(60):
    try:
        xgboost.collective.CommunicatorContext(**parameters).__enter__()
        break
    except xgboost.core.XGBoostError:
        time.sleep(1)
assert xgboost.collective.get_world_size() == world
rows, wanted = rows_of(rank, world)
model = xgboost.train({"max_depth": 3, "tree_method": "hist", "eta": 0.5, "lambda": 0}, xgboost.DMatrix(rows, wanted), 30)
# What the model says of the rows of each worker, none of which has those of another.
tell(f"{os.environ['CELL']}-{rank}", [abs(model.predict(xgboost.DMatrix(rows_of(n, world)[0])) - rows_of(n, world)[1]).max() < 0.3 for n in range(world)])
xgboost.collective.finalize()
PROGRAM
cat >"$scratch/code/ranks.py" <<'PROGRAM'
import os, numpy
from mpi4py import MPI
from common import rows_of, tell
world = MPI.COMM_WORLD
rows, wanted = rows_of(world.rank, world.size)
weights, total = numpy.zeros(world.size), numpy.zeros(world.size)
for step in range(200):
    world.Allreduce(rows.T @ (rows @ weights - wanted) / len(rows), total)
    weights -= 0.5 * total
tell(f"{os.environ['CELL']}-{world.rank}", weights)
PROGRAM
# The same over plain sockets, for libraries that find the others by DLSPOOL_PEERS: the last role serves, or rank 0.
cat >"$scratch/code/peers.py" <<'PROGRAM'
import json, os, signal, socket, time, numpy
from common import rows_of, tell
peers = [peer.rsplit(":", 1) for peer in os.environ["DLSPOOL_PEERS"].split(",")]
rank, role = int(os.environ["DLSPOOL_RANK"]), os.environ["DLSPOOL_ROLE"]
servers = int(os.environ['SERVERS'])
count = len(peers) - servers
if rank < servers:
    listener = socket.create_server(("", int(peers[rank][1])))
    lines = []
    streams = [listener.accept()[0].makefile("rw") for worker in range(count)]
    weights = numpy.zeros(count)
    while True:
        for stream in streams:
            line = stream.readline()
            if not line:
                signal.pause() # a worker has ended before the others: until it is told to end, too
            weights -= 0.5 * numpy.array(json.loads(line))
        for stream in streams:
            print(json.dumps(weights.tolist()), file=stream, flush=True)
for attempt in range(600):
    try:
        stream = socket.create_connection((peers[0][0], int(peers[0][1]))).makefile("rw")
        break
    except OSError:
        time.sleep(0.1)
rows, wanted = rows_of(rank - servers, count)
weights = numpy.zeros(count)
for step in range(100):
    print(json.dumps((rows.T @ (rows @ weights - wanted) / len(rows)).tolist()), file=stream, flush=True)
    weights = numpy.array(json.loads(stream.readline()))
tell(f"{os.environ['CELL']}-{rank - servers}", weights)
PROGRAM

# cell NAME LIBRARY TYPE ENTRY TASKS [LINE...]: without ENTRY where all roles have commands
cell() {
    printf '%s\n' "name: $1" "library: $2" "type: $3" "program: $scratch/code" "${4:+entry: $4}" "output: $scratch/out" "tasks: $5" \
        "env: {CELL: $1, OMP_NUM_THREADS: \"1\", SERVERS: \"1\"}" "${@:6}" | drop "$1.yaml"
}
learned() { cat "$scratch/out/$1-"* 2>/dev/null; }
same() { printf "$1\n%.0s" $(seq "$2"); }
workers='worker: {count: 2, cpus: 0.5, memory: 512Mi}'
# (The default of Debian's torchrun does not work with its Python: docs/libraries.md.)
torchrun='command: [python3, -m, torch.distributed.run, -r, "1", -t, "1", /job/program/ddp.py]'

cell one pytorch single single.py '{main: {memory: 512Mi}}'
cell rates pytorch array single.py '{main: {memory: 512Mi}}' 'array: {values: {RATE: ["0.3", "0"]}}'
cell forest sklearn single forest.py '{main: {memory: 512Mi}}'
cell sweep sklearn array forest.py '{main: {memory: 512Mi}}' 'array: {values: {ALPHA: ["0", "1000"]}}'
for name in one rates forest sweep; do
    ok "$name: done" wait_for 120 in_state $name "done"
done
is "$(learned one)" '[3.0]' "(pytorch, single) has learned"
is "$(cat "$scratch/out/rates-0")" '[3.0]' "(pytorch, array): one rate has"
unlike "$(cat "$scratch/out/rates-1")" '3\.0' "and the other one has not, at which nothing is learned"
is "$(learned forest)" '[3.0]' "(sklearn, single) has learned"
is "$(learned sweep)" $'[3.0]\n[0.0]' "(sklearn, array): each task with its own value"

cell ddp pytorch distributed ddp.py "{watch: {cpus: 0.1, memory: 64Mi, command: [sleep, infinity]}, $workers}"
cell agents pytorch distributed "" "{evaluator: {cpus: 0.1, memory: 64Mi, command: [sleep, infinity]}, worker: {count: 2, cpus: 0.5, memory: 1Gi, $torchrun}}"
ok "ddp: done, though who works beside it never ends" wait_for 180 in_state ddp "done"
is "$(learned ddp)" "$(same '[3.0, -2.0]' 2)" "(pytorch, distributed): each has what the other one has seen"
ok "agents: done" wait_for 180 in_state agents "done"
is "$(learned agents)" "$(same '[3.0, -2.0]' 2)" "and so it has by torchrun"

cell elastic pytorch elastic "" "{worker: {count: 2, cpus: 0.5, memory: 1Gi, $torchrun}}"
cell boosted xgboost distributed boost.py "{evaluator: {cpus: 0.1, memory: 64Mi, command: [sleep, infinity]}, $workers}"
ok "elastic: done" wait_for 180 in_state elastic "done"
is "$(learned elastic)" "$(same '[3.0, -2.0]' 2)" "(pytorch, elastic) has learned"
ok "boosted: done" wait_for 180 in_state boosted "done"
is "$(learned boosted)" "$(same '[1.0, 1.0]' 2)" "(xgboost, distributed): each worker's model knows the rows of both"

cell ranks any mpi ranks.py '{launcher: {cpus: 0.5, memory: 256Mi}, worker: {count: 2, cpus: 2, memory: 512Mi}}'
cell servers any ps peers.py "{server: {cpus: 0.2, memory: 256Mi}, $workers}"
ok "ranks: done" wait_for 120 in_state ranks "done"
is "$(learned ranks)" "$(same '[3.0, -2.0, 1.5, 0.5]' 4)" "(any, mpi) has learned, on four ranks"
ok "servers: done, with its workers" wait_for 120 in_state servers "done"
is "$(learned servers)" "$(same '[3.0, -2.0]' 2)" "(any, ps): each worker has the weights of both"

# Tasks with several GPUs, which this machine has not: their words and environment as they are rendered, started by hand.
cat >"$scratch/code/member.py" <<'PROGRAM'
import os, time
role, number = os.environ["MS_ROLE"], os.environ["MS_NODE_ID"]
with open(f"{os.environ['RESULTS']}/member-{role}-{number}", "w") as result:
    result.write(f"{role} {number} of {os.environ['MS_WORKER_NUM']}\n")
if os.environ.get("FAILS") == number:
    raise SystemExit(3)
if "FAILS" in os.environ:
    time.sleep(60)
PROGRAM
several() { # several NAME LIBRARY ENTRY
    printf '%s\n' "name: $1" "library: $2" 'type: distributed' "program: $scratch/code" "entry: $3" \
        "env: {CELL: $1, PET_REDIRECTS: \"1\", PET_TEE: \"1\"}" 'tasks: {evaluator: {command: [watch]}, worker: {count: 2, gpus: 2}}' >"$scratch/$1.yaml"
    dlspool render "$scratch/$1.yaml" >"$scratch/$1.manifest"
}
# start NAME INDEX [VARIABLE]: what that worker runs, in its environment and with this machine's places
start() {
    local words variables
    awk -v wanted="$2" '/^- role:/ { on = /"worker"/ } on && /^  index:/ { on = $2 == wanted } on' "$scratch/$1.manifest" >"$scratch/$1-$2"
    words=$(sed -n '/^  command:/,/^  env:/s/^  - //p' "$scratch/$1-$2" | sed "s|/job/program|$scratch/code|" | jq -rs @sh)
    mapfile -t variables < <(sed -n 's/^ *\([A-Z_]*\): "\([^ ]*\)"$/\1=\2/p' "$scratch/$1-$2" && sed -n '/^env:/,/^tasks:/s/^  \([A-Z_]*\): "\([^ ]*\)"$/\1=\2/p' "$scratch/$1.manifest")
    env "${variables[@]}" "${@:3}" RESULTS="$scratch/out" PATH=/usr/bin:/bin bash -c "exec $words" >"$scratch/$1-$2.log" 2>&1
}
both() {
    start "$1" 0 "${@:2}" &
    start "$1" 1 "${@:2}" && wait $!
}
must "a job of DeepSpeed with several GPUs a task is rendered" several deep deepspeed ddp.py
ok "(deepspeed, distributed): torchrun starts a process for each GPU" both deep
is "$(learned deep)" "$(same '[3.0, -2.0, 1.5, 0.5]' 4)" "and the four of two tasks have learned together"
must "and one of MindSpore" several member mindspore member.py
ok "(mindspore, distributed): a worker for each GPU, and a scheduler" both member
is "$(learned member)" "$(printf '%s of 4\n' 'MS_SCHED scheduler' 'MS_WORKER 0' 'MS_WORKER 1' 'MS_WORKER 2' 'MS_WORKER 3')" "which are numbered through"
start member 1 FAILS=2
is $? 3 "a task ends with what a worker of it has failed with, and with it the others"

done_testing
