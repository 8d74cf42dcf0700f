# tests/unit/slurm_node.bash - run a batch script for Slurm without Slurm
#
#   bash slurm_node.bash SCRIPT DIRECTORY [task | batch] [WORD...]
#
# Every task has a node of its own: node0, node1, ...  `task` starts each task as srun would, where there are several;
# `batch` the whole script, with stand-ins for srun, scontrol and scancel, which refuse what the real ones do not take.  With
# WORDs, these run in place of every task's own command.  What came of it is in DIRECTORY.  FOUND_ADDRESS is
# every host's address; ELEMENTS makes an array of so many.
set -u
script=$1 directory=$2 mode=$3 elements=${ELEMENTS:-}
unset ELEMENTS
shift 3
mkdir -p "$directory/.bin"
export DLSPOOL_DIRECTORY=$directory DLSPOOL_ID=cell DLSPOOL_ATTEMPT=1 SLURM_JOB_ID=77 SLURMD_NODENAME=node0
export PATH=$directory/.bin:/usr/local/bin:/usr/bin:/bin FOUND_ADDRESS=${FOUND_ADDRESS:-10.9.8.7}

# stand_in NAME: a program whose text is the standard input.  Several runs may begin in one directory at once, so
# that it is never seen half written.
stand_in() {
    local own=$directory/.bin/$1.$$
    cat >"$own" && chmod 755 "$own" && mv "$own" "$directory/.bin/$1"
}
if [ ! -e "$directory/.bin/srun" ]; then
    stand_in getent <<'STOP'
#!/bin/sh
echo "$FOUND_ADDRESS  $2"
STOP
    stand_in scontrol <<'STOP'
#!/bin/bash
[ "$1 $2" = "show hostnames" ] || { echo "scontrol: $*" >&2; exit 1; }
first=${3#node} last=${3#node}
case $3 in *'['*) first=${3#*[} last=${3#*-} first=${first%-*} last=${last%]} ;; esac
for ((i = first; i <= last; i++)); do echo "node$i"; done
STOP
    stand_in scancel <<'STOP'
#!/bin/bash
echo "$*" >>"$DLSPOOL_DIRECTORY/.scancel"
case $1 in
--signal=TERM | --signal=KILL) ;;
*) echo "scancel: $*" >&2; exit 1 ;;
esac
# As proctrack/linuxproc does: the whole tree.
below() { local child; for child in $(ps -o pid= --ppid "$1"); do below "$child"; echo "$child"; done; }
kill "-${1#--signal=}" $(below "$(cat "$DLSPOOL_DIRECTORY/.srun")")
STOP
    stand_in srun <<'STOP'
#!/bin/bash
# Options before a command, components with : between them; each task is on its own node.
echo $$ >"$DLSPOOL_DIRECTORY/.srun"
printf '%s\n' "$@" >"$DLSPOOL_DIRECTORY/.srun-words"
tasks=0 number=0 group=0 pids=()
while [ $# -gt 0 ]; do
    case $1 in
    --het-group=$group | --kill-on-bad-exit=0 | --wait=0 | --input=none | --distribution=block) shift ;;
    --cpus-per-task=[1-9]* | --gpus-per-task=[1-9a-z]*) shift ;;
    --container-image=?* | --container-mounts=/?*:/?* | --no-container-mount-home | --no-container-remap-root) shift ;;
    -n) tasks=$2; shift 2 ;;
    -N) [ "$2" -le "$tasks" ] || { echo "srun: -N $2 -n $tasks" >&2; exit 1; }; shift 2 ;;
    -*) echo "srun: unrecognized option '$1'" >&2; exit 1 ;;
    *)
        command=()
        while [ $# -gt 0 ] && [ "$1" != : ]; do command+=("$1"); shift; done
        [ $# -eq 0 ] || shift
        for ((i = 0; i < tasks; i++, number++)); do
            SLURM_PROCID=$number SLURMD_NODENAME=node$number "${command[@]}" &
            pids+=($!)
        done
        group=$((group + 1)) ;;
    esac
done
status=0
for pid in "${pids[@]}"; do wait "$pid" || { code=$?; [ $code -le $status ] || status=$code; }; done
exit $status
STOP
fi

# What Slurm says of the allocation.
eval "$(grep -a '^places=' "$script" | head -n 1)"
list() { if [ "$2" = 1 ]; then echo "node$1"; else echo "node[$1-$(($1 + $2 - 1))]"; fi; }
total=0 group=0
for count in "${places[@]}"; do
    if [ ${#places[@]} -gt 1 ]; then
        export "SLURM_HET_SIZE=${#places[@]}" "SLURM_JOB_ID_HET_GROUP_$group=$((77 + group))"
        export "SLURM_JOB_NODELIST_HET_GROUP_$group=$(list $total "$count")" "SLURM_TASKS_PER_NODE_HET_GROUP_$group=1(x$count)"
    fi
    [ $group != 0 ] || export "SLURM_JOB_NODELIST=$(list 0 "$count")" "SLURM_TASKS_PER_NODE=1(x$count)"
    total=$((total + count)) group=$((group + 1))
done

# Other words for the tasks, behind what the script itself says of them; they need no paths of the job.
if [ $# -gt 0 ]; then
    cp "$script" "$directory/.original"
    roles=$(grep -ac '^role_[0-9]*() {$' "$script")

    head -n -2 "$directory/.original" | sed 's/^needed=(.*/needed=()/' >"$directory/.changed"
    for ((i = 0; i < roles; i++)); do
        printf 'eval "was_$(declare -f role_%d)"\nrole_%d() { was_role_%d; command=(%s); workdir=/; }\n' $i $i $i "${*@Q}"
    done >>"$directory/.changed"
    tail -n 2 "$directory/.original" >>"$directory/.changed"
    script=$directory/.changed
fi

# A script that runs its task itself knows of no tasks.
[ "$(tail -n 2 "$script" | head -n 1)" != batch ] || mode=batch
if [ "$mode" = batch ]; then
    export SLURM_PROCID=0
    if [ -z "$elements" ]; then exec bash "$script" 2>>"$directory/batch.log"; fi
    for ((element = 0; element < elements; element++)); do
        SLURM_ARRAY_TASK_ID=$element bash "$script" 2>>"$directory/batch.log"
    done
    exit
fi
for ((number = 0; number < total; number++)); do echo "node$number"; done >"$directory/nodes"
cp "$directory/nodes" "$directory/hosts"
[ "$(grep -a '^task_count=' "$script" | sed 's/ .*//')" != task_count=1 ] || echo 127.0.0.1 >"$directory/hosts"
cp "$script" "$directory/script"
if [ -n "$elements" ]; then
    for ((element = 0; element < elements; element++)); do
        cp "$directory/nodes" "$directory/nodes-$element"
        cp "$directory/hosts" "$directory/hosts-$element"
        SLURM_ARRAY_TASK_ID=$element SLURM_PROCID=0 bash "$script" task 2>>"$directory/batch.log" || exit
    done
    exit 0
fi
for ((number = 0; number < total; number++)); do
    SLURM_PROCID=$number SLURMD_NODENAME=node$number bash "$script" task 2>>"$directory/batch.log" || exit
done
