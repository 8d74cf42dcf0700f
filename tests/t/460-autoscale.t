#!/usr/bin/env bash
# Jobs that really train, in real containers, and what the plan gives them while they run: who is in a
# hurry gets the processors, and who is not has what is left over; and a job of one task goes on with
# two, from its checkpoint.
# Runs alone: jobs are sized by how fast they run, and use all processors.
. "$(dirname "$0")/lib.bash"
command -v podman >/dev/null || skip_all "podman is not installed"
[ "$(nproc)" -ge 2 ] || skip_all "this machine has one processor"
[ -x /usr/bin/python3 ] || skip_all "python3 is not installed"
new_spool local || exit 1
set_setting cpus 2
set_setting memory 4Gi
set_setting tick 250ms
set_setting dwell 3s
set_setting reserve 0
set_setting budget 0
mkdir -m 777 "$scratch/out"

# Linear regression by gradient descent, each step shared among processes: so many of its own, and those
# of the job's other tasks.  On SIGUSR1 it saves what it has, and ends; it goes on from what was saved.
cat >"$scratch/train.py" <<'PYTHON'
#!/usr/bin/python3
import json, multiprocessing, os, random, signal, sys, time
from multiprocessing.connection import Client, Listener

def share(wanted, rows):
    parameters, first, last = wanted
    gradient = [0.0] * len(parameters)
    for features, target in rows[first:last]:
        error = sum(p * x for p, x in zip(parameters, features)) - target
        for i, x in enumerate(features):
            gradient[i] += error * x
    return gradient

def serve(connection, rows):
    try:
        while True:
            connection.send(share(connection.recv(), rows))
    except (EOFError, OSError):
        pass

def train(steps, workers, pause, rows, saved, rank, tasks):
    parameters, done = [0.0] * 8, 0
    if saved and os.path.exists(saved):
        done, parameters = json.load(open(saved))
        print(f"goes on after step {done} with {tasks} tasks", flush=True)
    helpers = []
    if tasks > 1:
        address = f"{saved}.{tasks}"
        listener = Listener(address, "AF_UNIX")
        helpers = [listener.accept() for _ in range(tasks - 1)]
    for _ in range(workers):
        ours, theirs = multiprocessing.Pipe()
        multiprocessing.Process(target=serve, args=(theirs, rows), daemon=True).start()
        helpers.append(ours)
    told = []
    signal.signal(signal.SIGUSR1, lambda *_: told.append(1))
    count = len(helpers) + (workers == 0)
    part = len(rows) // count
    while done < steps:
        parts = [(parameters, i * part, (i + 1) * part) for i in range(count)]
        for helper, wanted in zip(helpers, parts):
            helper.send(wanted)
        gradients = [helper.recv() for helper in helpers]
        if workers == 0:
            gradients.append(share(parts[-1], rows))
        parameters = [p - 0.5 * sum(g[i] for g in gradients) / len(rows)
                      for i, p in enumerate(parameters)]
        done += 1
        print(f"step {done}/{steps} first {parameters[0]:.3f}", flush=True)
        time.sleep(pause)
        if told:
            with open(saved + ".new", "w") as file:
                json.dump((done, parameters), file)
            os.rename(saved + ".new", saved)
            print("saved", flush=True)
            sys.exit(0)

steps, workers, pause = int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])
saved = sys.argv[4] if len(sys.argv) > 4 else None
rank, tasks = int(os.environ.get("DLSPOOL_RANK", 0)), int(os.environ.get("DLSPOOL_TASK_COUNT", 1))
chance = random.Random(1)
rows = []
for _ in range(int(os.environ.get("ROWS", 12000))):
    features = [chance.uniform(-1, 1) for _ in range(8)]
    rows.append((features, 3 * features[0] - 2 * features[1] + chance.gauss(0, 0.1)))
if rank:
    signal.signal(signal.SIGUSR1, lambda *_: sys.exit(0))
    while True:
        try:
            serve(Client(f"{saved}.{tasks}", "AF_UNIX"), rows)
            break
        except OSError:
            time.sleep(0.05)
else:
    train(steps, workers, pause, rows, saved, rank, tasks)
PYTHON

# job NAME ARGUMENTS [LINE...]
job() {
    local name=$1 arguments=$2
    shift 2
    { printf 'name: %s\nlibrary: any\n' "$name"
      for line; do printf '%s\n' "$line"; done
      printf 'program: %s\nentry: train.py\nargs: [%s]\n' "$scratch" "$arguments"
    } | drop "$name.yaml"
}
log() { cat "$(job_dir "$1")/log"; }
fact() { sed -n "s/^$2: //p" "$(job_dir "$1")/job.yaml"; }
# grown NAME: it was given more while it ran.
grown() {
    log "$1" | awk '/ resized / {
        match($0, /from=[0-9]+/); from = substr($0, RSTART + 5, RLENGTH - 5)
        match($0, / to=[0-9]+/); if (substr($0, RSTART + 4, RLENGTH - 4) + 0 > from + 0) found = 1 }
        END { exit !found }'
}
# used NAME [SIZE]: of the processors that it had, in percent.
used() { log "$1" | sed -nE "s/.* measured ${2:+.*size=$2 }.*cpu_percent=([0-9]+).*/\\1/p" | tail -n 1; }

start_daemon

# Somebody asks for far more than the program can use.
job wasteful '10, 0, 0.2' 'type: single' 'tasks: {main: {cpus: 1.5, memory: 256Mi}}' 'env: {ROWS: "50000"}'
must "a job of fixed size is done" wait_for 60 in_state wasteful "done"

# The same, only longer, which may be of any size and has time.
job patient '120, 0, 0.2' 'type: single' 'tasks: {main: {cpus: 0.5, memory: 256Mi}}' 'env: {ROWS: "50000"}' \
    'size: {min: 0.5, max: 1.5}' 'deadline: +20m' 'units: {total: 120, pattern: "step {done}/{total}"}'
running() { grep -q '^step' "$(job_dir "$1")/output/main-0.log"; }
must "a job that has time runs" wait_for 30 running patient

# How many steps half a processor does, while this machine is as busy as it is.
job measure '1000000, 2, 0' 'type: single' 'tasks: {main: {cpus: 0.5, memory: 512Mi}}'
must "another runs beside it" wait_for 30 running measure
steps_now() { grep -c '^step' "$(job_dir measure)/output/main-0.log"; }
copied() { [ "$(steps_now)" != "$before" ]; }       # output comes in pieces
before=$(steps_now); wait_for 20 copied
first=$(steps_now) began=$(date +%s%N) before=$first; wait_for 20 copied; before=$(steps_now); wait_for 20 copied
rate=$(awk "BEGIN {print ($(steps_now) - $first) * 1e9 / ($(date +%s%N) - $began)}")
dlspool kill "$(basename "$(job_dir measure)")" >/dev/null
must "it ends" wait_for 60 has_ended measure

# One that half a processor cannot finish in time; one and a half can.
steps=$(awk "BEGIN {printf \"%d\", $rate * 1.3 * 30}")
echo "# half a processor does $rate steps a second, so it needs 39 s for $steps, of which there are 30"
job hurried "$steps, 2, 0" 'type: single' 'tasks: {main: {cpus: 0.5, memory: 512Mi}}' \
    'size: {min: 0.5, max: 1.5}' 'deadline: +30s' "units: {total: $steps, pattern: \"step {done}/{total}\"}"
must "one in a hurry is done" wait_for 180 in_state hurried "done"
like "$(tail -n 1 "$(job_dir hurried)/output/main-0.log")" "^step $steps/$steps first (2\.9|3\.0)" "it has learned what there was to learn"
must "the one that has time is done" wait_for 120 in_state patient "done"
is "$(fact patient attempt)$(fact hurried attempt)" 11 "each in one attempt"
done_at=$(log hurried | sed -n 's/ finished .*//p')
deadline=$(fact hurried deadline | tr -d '"')
least=$(log patient | sed -nE 's/.* measured .*size=([0-9]+) .*/\1/p' | sort -n | head -n 1)
echo "# deadline $deadline, done at $done_at; at half a processor it used $(used hurried 500) %, in the end $(used hurried) %"
echo "# used of the processors: $(used wasteful) % of 1500 thousandths as asked for; $(used patient "$least") % of $least as planned"
met=$([[ $done_at < $deadline ]] && echo met)
if [ "$(used hurried 500)" -lt 80 ]; then
    pass "who gets more # SKIP others use this machine's processors: not even half of one was to be had"
elif [ ! "$met" ] && grown hurried && [ "$(used hurried)" -lt 80 ]; then
    pass "who gets more # SKIP others use this machine's processors: what it was given more was not to be had"
elif [ "$met" ] && ! grown hurried; then
    pass "who gets more # SKIP others have left this machine's processors: half of one was enough"
else
    ok "the one in a hurry was given more, while it ran" grown hurried
    is "$met" met "it has met its deadline"
    is "$((least <= 1000))" 1 "the one that has time had no more than was left over"
    is "$(($(used patient "$least") > $(used wasteful)))" 1 "of what a job is given more is used than of what was asked for"
fi

# Of several tasks.  There is room for one; then for two.
job holder '100000, 0, 1' 'type: single' 'tasks: {main: {cpus: 1.5, memory: 256Mi}}' 'env: {ROWS: "10"}'
must "a job holds most of the processors" wait_for 30 running holder
job mover "100000, 0, 0.02, /job/output/state" 'type: distributed' 'tasks: {worker: {count: 1, cpus: 0.5, memory: 256Mi}}' \
    'env: {ROWS: "2000"}' 'size: {min: 1, max: 2}' 'checkpoint: {signal: USR1, grace: 20s}' \
    "output: $scratch/out" 'units: {total: 100000, pattern: "step {done}/{total}"}'
trains() { grep -q '^step' "$(job_dir mover)/output/worker-0.log"; }
must "a job of one task trains" wait_for 30 trains
dlspool kill "$(basename "$(job_dir holder)")" >/dev/null
goes_on() { grep -q '^goes on after step [1-9][0-9]* with 2 tasks' "$(job_dir mover)/output/worker-0.log" && trains; }
must "when there is room for two it goes on with two, from its checkpoint" wait_for 60 goes_on
stopped=$(sed -n 's/^step \([0-9]*\).*/\1/p' "$(job_dir mover)/output-1/worker-0.log" | tail -n 1)
is "$(sed -n 's/^goes on after step \([0-9]*\).*/\1/p' "$(job_dir mover)/output/worker-0.log")" "$stopped" \
    "no step was lost"
is "$(sed -n 's/^step \([0-9]*\).*/\1/p' "$(job_dir mover)/output/worker-0.log" | head -n 1)" $((stopped + 1)) "none was made twice"
like "$(log mover)" ' stopping .*to=2 signal=USR1' "its log says that it was told to save its state"
like "$(log mover)" ' failed reason=Resized class=transient .*with 2 tasks instead of 1 task' "and why it was stopped"
is "$(fact mover retried)" 0 "that used up no retry"
is "$(fact mover attempt)$(fact mover resizes)" 21 "it is the second attempt, and the first change"
ok "it can be killed" dlspool kill "$(basename "$(job_dir mover)")"
ok "and ends" wait_for 60 has_ended mover

done_testing
