#!/usr/bin/env bash
# The system calls that a job makes in each stage, from incoming/ to done/, with the null executor, counted
# by strace.  tests/system-calls has the most that each stage may make; a change that needs more raises it
# there and says why, one that saves some lowers it.
#
# Each stage is stopped until all jobs are in front of it, so that it takes them in as few batches as it can,
# however busy the machine is.  What is counted is what the second lot of jobs adds.
. "$(dirname "$0")/lib.bash"
command -v strace >/dev/null || skip_all "strace is not installed"
strace -o /dev/null true 2>"$scratch/strace.err" || skip_all "strace cannot trace here: $(tail -n 1 "$scratch/strace.err")"
new_spool null || exit 1
# Nothing is looked for while it counts: jobs are told of by inotify alone.
set_setting scan_interval 60s
set_setting retry_interval 60s
set_setting poll_interval 1s

jobs=256
stages="intake submit track resubmit"
start_daemon
stage() { pgrep -P "$daemon" -x "$1"; }
all_there() { for s in $stages; do [ -n "$(stage "$s")" ] || return 1; done; }
must "the stages are there" wait_for 10 all_there
printf 'name: warm\nlibrary: any\ntype: single\nscript: "#!/bin/sh"\n' | drop warm.yaml
must "a job goes through them" wait_for 10 in_state warm "done"

for s in $stages; do
    strace -f -qq -o "$scratch/$s" -p "$(stage "$s")" 2>>"$scratch/strace.err" &
done
traced() { for s in $stages; do grep -q '^TracerPid:[^0-9]*[1-9]' "/proc/$(stage "$s")/status" || return 1; done; }
must "all are traced" wait_for 10 traced

there() { [ "$(find "$spool/$1" -mindepth "${3:-1}" -maxdepth "${3:-1}" -type d | wc -l)" = "$2" ]; }
# Calls, not the rest of one that was said before, nor signals.
calls() { grep -vc -e ' resumed>' -e '--- SIG' -e '+++ ' "$scratch/$1"; }
# lot DONE: as many jobs go through all stages; then so many are in done/.
lot() {
    local i
    mkdir "$scratch/lot"
    for i in $(seq "$jobs"); do
        printf 'name: j%d\nlibrary: any\ntype: single\nscript: "#!/bin/sh"\n' "$i" >"$scratch/lot/j$i.yaml"
    done
    for s in $stages; do kill -STOP "$(stage "$s")"; done
    mv "$scratch"/lot/* "$spool/incoming/"
    rmdir "$scratch/lot"
    kill -CONT "$(stage intake)"
    must "$1: intake takes them all" wait_for 60 there rendered "$jobs"
    kill -CONT "$(stage submit)"
    must "$1: submit hands them all in" wait_for 60 there submitted "$jobs"
    kill -CONT "$(stage track)" "$(stage resubmit)"
    must "$1: track ends them all" wait_for 60 there "done" "$1" 2
}
lot $((jobs + 1))
declare -A before
for s in $stages; do before[$s]=$(calls "$s"); done
lot $((2 * jobs + 1))
total=0
while read -r s most; do
    [[ $s != '#'* ]] || continue
    # In tenths, for each job.
    count=$((10 * ($(calls "$s") - ${before[$s]}) / jobs))
    total=$((total + count))
    ok "$s makes $((count / 10)).$((count % 10)) system calls for a job, at most $most" [ "$count" -le "${most/./}" ]
done <"$top/tests/system-calls"
echo "# $((total / 10)).$((total % 10)) system calls for a job in all"
done_testing
