#!/usr/bin/env bash
# Files that commands are given by name are read if they are files; what could make them wait is refused at once.
. "$(dirname "$0")/lib.bash"
new_spool null || exit 1
mkfifo "$scratch/fifo"
mkdir "$scratch/directory"
python3 -c 'import socket, sys; socket.socket(socket.AF_UNIX).bind(sys.argv[1])' "$scratch/socket"
job='{"jobName": "piped", "image": "docker.io/a/b:1", "taskRoles": [{"name": "w", "taskNumber": 1, "cpuNumber": 1, "memoryMB": 100, "command": "date"}]}'
echo "$job" >"$scratch/job.json"
# It ends, with status 1 and this sentence.
refuses() {
    local output status
    output=$(timeout 20 "$DLSPOOL" -s "$spool" "${@:3}" 2>&1 </dev/null)
    status=$?
    is "$status $(grep -cF "$1 is $2, expected a regular file" <<<"$output")" "1 1" "$3 of $2 is refused at once"
}
for verb in render submit convert "submit --dry-run" eval "simulate --gpus 4 --profiles ." "simulate --replay"; do
    other=()
    [ "$verb" != eval ] || other=("$scratch/job.json")
    read -ra words <<<"$verb"
    refuses "$scratch/fifo" "a FIFO" "${words[@]}" "$scratch/fifo" "${other[@]}"
done
for verb in render submit convert; do
    refuses "$scratch/directory" "a directory" $verb "$scratch/directory"
    refuses "$scratch/socket" "a socket" $verb "$scratch/socket"
    refuses /dev/zero "a device" $verb /dev/zero
done
mkdir -p "$spool/failed/x-1m82000000001"
mkfifo "$spool/failed/x-1m82000000001/dropped"
refuses "$spool/failed/x-1m82000000001/dropped" "a FIFO" render "$spool/failed/x-1m82000000001/dropped"
like "$(dlspool render "$scratch/fifo" 2>&1)" 'give it as standard input: - < FILE$' "what to do is said"

# What is open already is read, under each of its names.
renders() { like "$(cd "$scratch" && timeout 20 "$DLSPOOL" -s "$spool" render "$@" 2>&1)" "docker.io/a/b:1" "$what"; }
what="a pipe as standard input" renders - < <(cat "$scratch/job.json")
what="as /dev/stdin" renders /dev/stdin < <(cat "$scratch/job.json")
what="a file as /dev/stdin" renders /dev/stdin <"$scratch/job.json"
what="a FIFO as standard input" renders - < <(cat "$scratch/job.json" >"$scratch/fifo" & cat "$scratch/fifo")
what="process substitution" renders <(cat "$scratch/job.json")
cat "$scratch/job.json" >"$scratch/fifo" &
what="a FIFO that is standard input" renders /dev/stdin <"$scratch/fifo"
what="a descriptor of one's own" renders /dev/fd/9 9<"$scratch/job.json"
what="by its other name" renders /proc/self/fd/9 9< <(cat "$scratch/job.json")
ln -s job.json "$scratch/link"
what="a link to a file" renders "$scratch/link"
like "$(dlspool render /dev/fd/77 2>&1)" '/dev/fd/77 could not be opened: Bad file descriptor' "one that is not open is not"
like "$(dlspool submit <(cat "$scratch/job.json") 2>&1)" 'is in incoming/ as ' "submit takes process substitution"
echo '{"a": 1}' >"$scratch/template"
is "$(dlspool eval <(echo '{"a": {"$eval": "b"}}') <(echo '{"b": 2}'))" '{"a":2}' "and eval two of them"
printf 'name: relative\nlibrary: any\ntype: single\nprogram: .\nentry: job.json\n' >"$scratch/relative.yaml"
like "$(cd "$scratch" && "$DLSPOOL" -s "$spool" render <(cat relative.yaml) 2>&1)" "$scratch" "relative paths in a pipe are relative to where one is"
done_testing
