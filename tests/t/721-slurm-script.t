#!/usr/bin/env bash
# The batch script that templates make for Slurm, without Slurm: it starts the user's program once for each
# attempt whoever starts it again, keeps what its tasks ended with, finds nodes and ports, and starts
# containers.  (tests/unit/slurm_node.bash has the stand-ins.)
. "$(dirname "$0")/lib.bash"
# Each change of the site is checked with all templates: those of Slurm are the ones that it is about.
new_spool slurm && without_templates local kubernetes || exit 1
export FOUND_ADDRESS=10.9.8.7

# site NAME=VALUE...: other values of site.yaml; in containers tasks run in $image.
site() {
    local clone=$scratch/site setting images=
    rm -rf "$clone"
    git clone -q "$spool/templates.git" "$clone" 2>/dev/null
    case " $* " in *container=none*) ;; *container=*) images=${image:-docker.io/team/image:1} ;; esac
    for setting; do
        sed -i -E "/^slurm:/,/^[a-z]/s|^  ${setting%%=*}: .*|  ${setting%%=*}: ${setting#*=}|" "$clone/site.yaml"
    done
    printf '* * * * %s\n' "${images:-host}" >"$clone/images.new"
    cat "$clone/images.new" "$clone/images.txt" >"$clone/images.all" && mv "$clone/images.all" "$clone/images.txt"
    rm "$clone/images.new"
    git -C "$clone" commit -qam "site: $*" && git -C "$clone" push -q 2>>"$scratch/push.log" || cat "$scratch/push.log"
}
# script NAME [LINE...]: the batch script of a job; standard input is more of its file.
script() {
    local name=$1
    { printf 'name: %s\nlibrary: any\n' "$name"; cat; } >"$scratch/$name.yaml"
    dlspool render "$scratch/$name.yaml" >"$scratch/$name.manifest" || { cat "$scratch/$name.manifest"; return 1; }
    python3 -c 'import sys, yaml; print(yaml.safe_load(open(sys.argv[1]))["script"], end="")' "$scratch/$name.manifest" >"$scratch/$name.sh"
    bash -n "$scratch/$name.sh"
}
# run NAME DIRECTORY: as Slurm would; SLURM_JOB_ID is $number.
run() {
    mkdir -p "$2"
    timeout 300 bash "$top/tests/unit/slurm_node.bash" "$scratch/$1.sh" "$2" batch
}
content() { cat "$1" 2>/dev/null; }

site heartbeat=1 grace=1
must "a script is rendered" script once <<JOB
type: distributed
tasks: {worker: {count: 2, cpus: 1, memory: 8Mi, command: [sh, -c, 'echo ran >>$scratch/runs; sleep 0.5; exit 4']}}
JOB
ran() { content "$scratch/runs" | wc -l; }

# ---- once for each attempt ----
run once "$scratch/a"
is $? 4 "a failure is the script's status"
is "$(content "$scratch/a/ended") $(content "$scratch/a/worker-0.ended") $(content "$scratch/a/worker-1.ended")" "4 4 4" "and everywhere to be read"
is "$(content "$scratch/a/started")" "77 node0" "who started it stands in started"
run once "$scratch/a"
is "$? $(ran)" "4 2" "a second run of what has ended ends the same, and runs nothing"

mkdir "$scratch/b"
echo "76 node9" >"$scratch/b/started"
(sleep 2; echo 5 >"$scratch/b/ended.new"; mv "$scratch/b/ended.new" "$scratch/b/ended") &
(for beat in 1 2 3 4 5; do echo "76.$beat" >"$scratch/b/alive"; sleep 0.5; done) &
run once "$scratch/b"
is "$? $(ran)" "5 2" "a second run waits for the first one, and ends as it does"
wait
for owner in "76 node9" "77 node0"; do
    rm -rf "$scratch/c"
    mkdir "$scratch/c"
    echo "$owner" >"$scratch/c/started"
    echo "76.3" >"$scratch/c/alive"
    run once "$scratch/c"
    is "$? $(ran) $(content "$scratch/c/ended")" "193 2 193 NodeLost" "a first run (job ${owner% *}) without a sign of life: another attempt, and nothing runs"
done

rm -f "$scratch/runs"
for round in 1 2 3 4 5; do
    for racer in 1 2 3; do run once "$scratch/race$round" & done
    wait
done 2>/dev/null
is "$(ran)" 10 "three at once, five times: each time one of them runs the two tasks"
[ "$(ran)" = 10 ] || tail -n 20 "$scratch"/race*/batch.log >&2

# The first one is judged while it lives: it ends its tasks.
script long <<'JOB'
type: single
script: sleep 120
JOB
mkdir -p "$scratch/store/.news"
run long "$scratch/store/judged-1-a1/job" & runner=$!
ok "a task that lasts shows that it lives" wait_for 20 test -s "$scratch/store/judged-1-a1/job/alive"
ok "and tells dlspool that there is news" wait_for 5 test -e "$scratch/store/.news/judged-1-a1"
echo 193 >"$scratch/store/judged-1-a1/job/ended"
ok "a run that was taken for dead ends itself" wait_for 10 grep -q -- '--signal=KILL --full 77' "$scratch/store/judged-1-a1/job/.scancel"
wait "$runner"
is "$(content "$scratch/store/judged-1-a1/job/ended")" 193 "and the diagnosis stands"

# What ends soon needs few files, and tells dlspool that it has ended.
script soon <<'JOB'
type: single
script: echo ran
JOB
run soon "$scratch/store/soon-1-a1/job"
is "$? $(content "$scratch/store/soon-1-a1/job/main-0.log")" "0 ran" "a short task is run"
is "$(cd "$scratch/store/soon-1-a1/job" && find . -path ./.bin -prune -o -type f ! -name batch.log -print | sort | xargs)" \
    "./ended ./job/script ./main-0.ended ./main-0.log ./main.image ./started" "and leaves these files: nothing says that it lives"
ok "dlspool finds it among those that have ended" test -e "$scratch/store/.news/soon-1-a1"

# The attempt was given up, its directory taken away, and slurmctld knows nothing of it any more.
run long "$scratch/taken" & runner=$!
wait_for 10 test -e "$scratch/taken/main-0.log"
mv "$scratch/taken" "$scratch/away"
gone() { ! kill -0 "$runner" 2>/dev/null; }
ok "a run whose directory was taken away ends itself" wait_for 15 gone
wait "$runner"

# Elements of an array put the same files into one directory, while others start them.
script several <<'JOB'
type: array
array: {values: {RATE: [1, 2]}}
script: echo ran
JOB
mkdir -p "$scratch/several/.bin"
cat >"$scratch/several/.bin/mv" <<'STOP'
#!/bin/sh
case $3 in
*/job) echo "$(stat -c %a "$2/script") ${3#"$DLSPOOL_DIRECTORY/"}" >>"$DLSPOOL_DIRECTORY/.moved" ;;
esac
exec /bin/mv "$@"
STOP
chmod 755 "$scratch/several/.bin/mv"
ELEMENTS=2 run several "$scratch/several"
is "$(cat "$scratch/several/.moved")" "755 job" "the files of an array are there at once, with their mode, and are made once"

# ---- ends ----
script signalled <<'JOB'
type: distributed
tasks:
  worker: {count: 1, cpus: 1, memory: 8Mi, command: [sh, -c, 'kill -SEGV $$']}
  other: {count: 1, cpus: 1, memory: 8Mi, command: [sh, -c, 'kill -KILL $PPID; sleep 1']}
  missing: {count: 1, cpus: 1, memory: 8Mi, command: [/no/such/program]}
JOB
run signalled "$scratch/d"
is "$(content "$scratch/d/worker-0.ended") $(content "$scratch/d/other-0.ended") $(content "$scratch/d/missing-0.ended")" "139 137 127" \
    "a signal, a shell that was killed with its task, and a program that is not there"
cat >"$scratch/d/.bin/srun" <<'STOP'
#!/bin/sh
echo "srun: error: Unable to create step" >&2
exit 1
STOP
rm -rf "$scratch"/d/[^.]*
run signalled "$scratch/d"
is "$? $(content "$scratch/d/worker-0.ended") $(content "$scratch/d/missing-0.ended")" "193 193 LaunchFailed 193 LaunchFailed" "a step that is not started: another attempt"

# ---- tasks that an elastic job has lost ----
cat >"$scratch/part.sh" <<'PART'
# What stands in $PLACE/INDEX is how its runs end, one after the other.  Each leaves something behind in a session of
# its own.
echo "$DLSPOOL_INDEX $DLSPOOL_RANK $SLURM_PROCID" >>"$PLACE/runs"
number=$(grep -c "^$DLSPOOL_INDEX " "$PLACE/runs")
setsid sleep 300 &
echo $! >"$PLACE/left.$DLSPOOL_INDEX.$number"
until_there() { until [ -e "$1" ]; do sleep 0.1; done; }
case $(cut -d ' ' -f "$number" "$PLACE/$DLSPOOL_INDEX") in
stay) trap 'exit 143' TERM; until_there "$PLACE/over"; exit 0 ;;
deaf) trap '' TERM; until_there "$PLACE/over"; exit 0 ;;
late) until_there "$PLACE/../worker-2.ended"; until_there "$PLACE/../worker-4.ended"; exit 6 ;;
shell) kill -KILL $PPID; sleep 300 ;;
*) exit 3 ;;
esac
PART
script elastic <<JOB
type: elastic
size: {min: 1, max: 5}
tasks: {worker: {count: 5, cpus: 1, memory: 8Mi, command: [bash, $scratch/part.sh]}}
JOB
sed 's/ rest=10$/ rest=60/' "$scratch/elastic.sh" >"$scratch/patient.sh"
sed -i 's/ rest=10$/ rest=1/' "$scratch/elastic.sh"
# begin NAME FATES...: a run in the background, with the fates of each task.
begin() {
    local index=0 name=$1
    export PLACE=$scratch/$name/place
    mkdir -p "$PLACE"
    shift
    for fate; do echo "$fate" >"$PLACE/$((index++))"; done
    run "$script" "$scratch/$name" & runner=$!
}
ran_often() { [ "$(grep -c "^$1 " "$PLACE/runs" 2>/dev/null)" = "$2" ]; }
is_over() { [ ! -d "/proc/$(<"$PLACE/left.$1")" ] || grep -qs '^State:.Z' "/proc/$(<"$PLACE/left.$1")/status"; }
tasks_left() { [ "$(ps -o pid= --ppid "$(<"$PLACE/../.srun")" | wc -l)" = "$1" ]; }
has_ended() { [ -e "$PLACE/../worker-$1.ended" ]; }
let_go() { touch "$PLACE/over"; wait "$runner"; status=$?; kill $(cat "$PLACE"/left.*) 2>/dev/null; }

script=elastic
begin lost 'x' 'x late' 'shell stay' 'x x x x' stay
ok "a task that is lost is started again, a few times" wait_for 60 ran_often 3 4
ok "as one whose shell was killed is" wait_for 30 ran_often 2 2
ok "and another" wait_for 30 ran_often 1 2
ok "what its program has left behind is ended" is_over 1.1
ok "and the program whose shell is gone" is_over 2.1
is "$(sort -u "$PLACE/runs" | tr '\n' ' ')" "0 0 0 1 1 1 2 2 2 3 3 3 4 4 4 " "each time it is told the same of itself"
ok "one that runs again has not ended" eval '! has_ended 1 && ! has_ended 2'
like "$(content "$scratch/lost/worker-1.log")" '^dlspool: the task has failed \(3\), and is started again$' "its output says so"
let_go
is "$(cat "$scratch"/lost/worker-?.ended | tr '\n' ' ')$status" "3 6 0 3 0 3" "with nobody left to work with it is not"
ok "nor is the first one, at which the others meet" ran_often 0 1

script=patient
begin told deaf x stay stay stay
wait_for 30 has_ended 1
DLSPOOL_DIRECTORY=$scratch/told "$scratch/told/.bin/scancel" --signal=TERM 77.0 2>/dev/null
ok "one that rests when all are told to end, ends" wait_for 30 tasks_left 1
let_go
ok "and was not started again" ran_often 1 1
begin asked stay x stay stay stay
wait_for 30 has_ended 1
touch "$scratch/asked/signal"
ok "so does one when its job is to save its state" wait_for 30 tasks_left 4
let_go
ok "and was not, either" ran_often 1 1

script limited <<'JOB'
type: single
time_limit: 3s
script: |
  #!/bin/bash
  trap 'echo told; exit 7' TERM
  # Its child may be told, and end, before it is told itself.
  for again in 1 2 3; do sleep 20 & wait; done
JOB
run limited "$scratch/e"
is "$? $(content "$scratch/e/main-0.log")" "7 told" "at the time limit the program is told"
ok "and a file says why" test -e "$scratch/e/timed-out"
script several_limited <<'JOB'
type: distributed
time_limit: 3s
tasks:
  worker:
    count: 2
    cpus: 1
    memory: 8Mi
    command: [bash, -c, 'trap "echo told; exit 7" TERM; for again in 1 2 3; do sleep 20 & wait; done']
JOB
run several_limited "$scratch/e2"
is "$? $(cat "$scratch"/e2/worker-?.log | xargs)" "7 told told" "so are several"

# What a file asks for reaches the program behind its shells, once, and ends none of them.
script saves <<'JOB'
type: single
checkpoint: {signal: USR1}
script: |
  #!/bin/bash
  sleep 6 &
  sh -c 'python3 -u -c "
  import os, signal, time
  def save(*_):
      print(\"told\")
      if os.getpid() == main:
          time.sleep(0.2)
          os._exit(5)
  signal.signal(signal.SIGUSR1, save)
  main = os.getpid()
  if os.fork():
      print(\"ready\")
  time.sleep(6)
  "; echo "it ended with $?"; exit 6'
JOB
run saves "$scratch/v" & runner=$!
wait_for 10 grep -qs ready "$scratch/v/main-0.log"
: >"$scratch/v/signal"
wait "$runner"
is "$? $(content "$scratch/v/main-0.log" | tr '\n' ' ')" "6 ready told it ended with 5 " \
    "a file has the program told to save its state, and the shells around it go on"
# So it is when the time is nearly over, and the program has its time.
script warned <<'JOB'
type: single
time_limit: 60s
signal: {name: USR1, before: 59s}
script: |
  #!/bin/bash
  trap 'echo told; exit 3' USR1
  for again in {1..20}; do sleep 0.5; done
JOB
run warned "$scratch/w"
is "$? $(content "$scratch/w/main-0.log")" "3 told" "a program is told before its time is over"
# A program that wakes up and falls asleep all the time is found each time.
cat >"$scratch/restless" <<'BASH'
kill() { case $1 in -l) builtin kill "$@" ;; *) told=$((told + 1)) ;; esac; }
told=0 program=$$
python3 -c '
import signal, time
signal.signal(signal.SIGUSR1, lambda *_: None)
print("ready", flush=True)
while True: time.sleep(0.0005)
' >"$0.said" &
until grep -qs ready "$0.said"; do sleep 0.05; done
for i in {1..400}; do tell_program USR1; done
builtin kill $!
echo "$told"
BASH
sed -i "1r "<(sed -n '/^tell_program() {/,/^}/p' "$scratch/saves.sh") "$scratch/restless"
is "$(unshare --fork --pid --mount-proc --kill-child bash "$scratch/restless" 2>/dev/null || bash "$scratch/restless")" 400 \
    "one that wakes up and falls asleep all the time is told each time"

# With cgroups, Slurm signals only the first process of a step: of one that srun starts, and of the batch script's own.
for name in limited several_limited long; do
    sed "s|read -rd '' groups </proc/self/cgroup|groups=1:cpu:/slurm/job_77/step_x|" "$scratch/$name.sh" >"$scratch/grouped_$name.sh"
    ok "(the script looks at its cgroup)" test -n "$(cmp "$scratch/$name.sh" "$scratch/grouped_$name.sh")"
done
mkdir "$scratch/k"
cp -r "$scratch/e2/.bin" "$scratch/k/.bin"
cat >"$scratch/k/.bin/scancel" <<'STOP'
#!/bin/bash
kill "-${1#--signal=}" $(ps -o pid= --ppid "$(<"$DLSPOOL_DIRECTORY/.srun")")
STOP
for round in 1 2 3 4 5; do
    rm -rf "$scratch"/k/[^.]*
    run grouped_several_limited "$scratch/k"
    is "$? $(cat "$scratch"/k/worker-?.log | xargs)" "7 told told" "with cgroups tasks pass signals on ($round)"
done
run grouped_limited "$scratch/k2"
is "$? $(content "$scratch/k2/main-0.log")" "7 told" "and a batch script that runs its task itself tells it that its time is over"
# Also before it shows signs of life, which is soon, or, in the second, late.
sed 's/^brief=2 /brief=100 /' "$scratch/grouped_long.sh" >"$scratch/grouped_patient.sh"
for name in long patient; do
    run grouped_$name "$scratch/k-$name" & runner=$!
    wait_for 10 test -e "$scratch/k-$name/main-0.log"
    kill -TERM "$(pgrep -o -f "^bash $scratch/grouped_$name.sh")"
    ok "and passes on what Slurm tells it ($name)" wait_for 10 test -s "$scratch/k-$name/main-0.ended"
    wait "$runner"
done
is "$(content "$scratch/k-patient/main-0.ended")" 143 "so that the program ends of it"

# ---- nodes and ports ----
script peers <<'JOB'
type: distributed
tasks: {worker: {count: 5, cpus: 1, memory: 8Mi, command: [sh, -c, 'echo "$DLSPOOL_PEERS"']}}
JOB
mkdir -p "$scratch/f/.bin"
run peers "$scratch/f" # makes the stand-ins
rm -rf "$scratch"/f/[^.]*
cat >"$scratch/f/.bin/getent" <<'STOP'
#!/bin/sh
[ "$1 $2" = "hosts node1" ]
STOP
cat >"$scratch/f/.bin/scontrol" <<'STOP'
#!/bin/sh
case "$1 $2" in
"show hostnames") printf '%s\n' node0 node1 node2 ;;
"show node") printf 'NodeName=node0 Arch=x86_64\n   NodeAddr=10.0.0.1 NodeHostName=x Version=22\n\nNodeName=node2 Arch=x86_64\n   NodeAddr=fourth.example NodeHostName=x\n' ;;
esac
STOP
cat >"$scratch/f/.bin/srun" <<'STOP'
#!/bin/bash
nodes=(node0 node0 node1 node1 node2)
for rank in 0 1 2 3 4; do SLURM_PROCID=$rank SLURMD_NODENAME=${nodes[rank]} bash "${@: -2}" & done
wait
STOP
PATH=$scratch/f/.bin:$PATH DLSPOOL_DIRECTORY=$scratch/f SLURM_JOB_ID=77 SLURMD_NODENAME=node0 SLURM_JOB_NODELIST='node[0-2]' \
    SLURM_TASKS_PER_NODE='2(x2),1' bash "$scratch/peers.sh" 2>"$scratch/f/batch.log"
is "$(sed 's/:[0-9]*//g' "$scratch/f/worker-4.log")" "10.0.0.1,10.0.0.1,node1,node1,fourth.example" "nodes by rank; one that is no host's name by its address"
rm -rf "$scratch"/f/[^.]*
sed -i 's/^nodes=.*/nodes=(node0 node1 node0 node1 node2)/' "$scratch/f/.bin/srun"
PATH=$scratch/f/.bin:$PATH DLSPOOL_DIRECTORY=$scratch/f SLURM_JOB_ID=77 SLURMD_NODENAME=node0 SLURM_JOB_NODELIST='node[0-2]' \
    SLURM_TASKS_PER_NODE='2(x2),1' bash "$scratch/peers.sh" 2>"$scratch/f/batch.log"
is "$(content "$scratch/f/worker-1.ended") $(content "$scratch/f/worker-4.ended")" "193 NodeRefused 0" "a task on another node than the others look for it asks for another attempt"

script serves <<'JOB'
type: serving
script: echo "PORT $PORT"
tasks: {main: {cpus: 1, memory: 8Mi}}
JOB
run serves "$scratch/g"
port=$(sed -n 's/^PORT //p' "$scratch/g/main-0.log")
python3 -c 'import socket, sys, time; s = socket.create_server(("", int(sys.argv[1]))); print(flush=True); time.sleep(20)' "$port" >"$scratch/taken" &
taker=$!
wait_for 10 test -s "$scratch/taken"
run serves "$scratch/h"
is "$(sed -n 's/^PORT //p' "$scratch/h/main-0.log")" $((port + 1)) "a port that is taken: the next one"
kill "$taker"

# ---- files and containers ----
mkdir -p "$scratch/data set" "$scratch/program"
: >"$scratch/program/train.py"
contained() {
    cat <<JOB
type: distributed
program: $scratch/program
entry: train.py
dataset: $scratch/data set
args: ['it''s', '\$HOME']
env: {WORD: '\`id\` \$x', LC_ALL: C}
tasks: {worker: {count: 1, cpus: 1, memory: 8Mi, gpus: 1}}
JOB
}
# HOME as the node has it, where that can be written.
own_home=$(unset HOME; printf '%s' ~) own_bound=$own_home
[ -w "$own_home" ] || own_home=/tmp own_bound=S/i/job/home:/job/home
site container=apptainer
contained | script boxed
mkdir -p "$scratch/i/.bin"
cat >"$scratch/i/.bin/apptainer" <<'STOP'
#!/bin/bash
# As strict as the real one, and more: options that it has, binds that exist; and it becomes the command.
[ "$1" = exec ] || { echo "apptainer: $1" >&2; exit 255; }
shift
while [ $# -gt 0 ]; do
    case $1 in
    --no-eval | --nv) ;;
    --home=/*:/* | --home=/* | --pwd=/*) ;;
    --bind=/*:/*) source=${1#--bind=} source=${source%%:*}
        [ -e "$source" ] || { echo "apptainer: no $source" >&2; exit 255; } ;;
    -*) echo "apptainer: unknown flag $1" >&2; exit 255 ;;
    *) break ;;
    esac
    echo "option $1"
    shift
done
echo "image $1"
shift
printf 'word <%s>\n' "$@"
echo "WORD=$APPTAINERENV_WORD RANK=$APPTAINERENV_DLSPOOL_RANK HOME=${APPTAINERENV_HOME-none} PROGRAM=$APPTAINERENV_DLSPOOL_PROGRAM"
STOP
chmod 755 "$scratch/i/.bin/apptainer"
cp -r "$scratch/h/.bin/." "$scratch/i/.bin/"
run boxed "$scratch/i"
boxed() { sed "s|$scratch|S|g" "$scratch/$1/worker-0.log"; }
is "$(boxed i)" "option --no-eval
option --home=$own_bound
option --pwd=/job/program
option --bind=S/i/job:/job
option --bind=S/program:/job/program
option --bind=S/data set:/job/dataset:ro
option --nv
image docker://docker.io/team/image:1
word <python3>
word <-u>
word </job/program/train.py>
word <it's>
word <\$HOME>
WORD=\`id\` \$x RANK=0 HOME=none PROGRAM=/job/program" "Apptainer is given the image, what it binds, and words and variables as they are"
ok "a tag is fetched by Apptainer, which does not say what it got: nothing is told of it" test ! -e "$scratch/i/worker.image"

plain=$'type: single\nscript: x'
unlike "$(script plain <<<"$plain" 2>&1)" "note" "with a HOME that keeps there is nothing to tell"
site home=none
like "$(script plain <<<"$plain" 2>&1)" "note: HOME: .* gone when the job ends" "and of one that does not keep the owner is told"
contained | script boxed
mkdir "$scratch/kept" && cp -r "$scratch/i/.bin" "$scratch/kept/" && run boxed "$scratch/kept"
like "$(boxed kept)" "^option --home=S/kept/job/home:/job/home\$" "HOME is in the job's own directory then"
like "$(boxed kept)" "HOME=none" "which Apptainer is told by that option alone"

# What else is known of images.  (images.txt is the site's: it may name files, and digests.)
digest=sha256:$(printf 0123456789abcdef%.0s 1 2 3 4)
for image in "$scratch/image.sif" "docker.io/team/image@$digest"; do
    site container=apptainer
    contained | script known
    printf 12345 >"$scratch/image.sif"
    touch -d 2026-11-22T10:00:00Z "$scratch/image.sif"
    rm -rf "$scratch/k"
    mkdir "$scratch/k"
    cp -r "$scratch/i/.bin" "$scratch/k/.bin"
    run known "$scratch/k"
    content "$scratch/k/worker.image"
done >"$scratch/known"
unset image
is "$(content "$scratch/known")" "file of 5 bytes, modified 2026-11-22T10:00:00Z
$digest" "of a file its size and time are told, and of a digest that it is that one"
is "$(content "$scratch/a/worker.image")" host "and host of what runs without a container"

site container=pyxis home=user
contained | script squashed
run squashed "$scratch/j"
is "$(sed "s|$scratch|S|g" "$scratch/j/.srun-words" | grep -e '^--.*container')" "--container-image=team/image:1
--container-mounts=S/j/job:/job,S/program:/job/program,S/data set:/job/dataset:ro,S/j:S/j
--container-mount-home
--no-container-remap-root" "pyxis is given the same in the words of srun"
{ contained | sed 's|data set|data,set|'; } >"$scratch/comma.rest"
like "$(script comma <"$scratch/comma.rest" 2>&1)" 'comma or a colon' "a path that cannot be passed to a container is refused"
like "$(printf 'type: mpi\nscript: mpirun true\ntasks: {launcher: {}, worker: {count: 2}}\n' | script boxedmpi 2>&1)" 'has to be .host.' "and so is MPI in a container"
site container=none
like "$(dlspool render <(contained | sed 's/^type/image: docker.io\/x\/y:1\nlibrary: any\nname: x\ntype/') 2>&1)" 'image|container' "and a container where the site has none"
done_testing
