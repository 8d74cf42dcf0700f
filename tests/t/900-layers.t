#!/usr/bin/env bash
# Includes point downwards only: base; then spool, watcher, request, renderer, executors, planner,
# which do not know one another but for spool's job; then stages, and simulation, which knows planner
# only; then commands.
. "$(dirname "$0")/lib.bash"
cd "$top" || exit 1

# allowed ROOM OTHER...: the room includes only itself and these.
allowed() {
    local room=$1 found
    shift
    [ -d "$room" ] || return 0
    found=$(grep -Hn '^#include "' "$room"/*.[ch] | grep -Ev "\"($(IFS='|'; echo "$room|$*" | tr ' ' '|'))/")
    is "$found" "" "$room includes only itself ${*:+and $*}"
}
allowed base
allowed spool base
allowed watcher base
allowed request base
allowed renderer base
allowed executors base
allowed executors/slurm executors base
allowed planner base
allowed stages base spool watcher request renderer executors planner
allowed simulation base planner
allowed commands base spool watcher request renderer executors planner stages simulation

found=$(grep -nE '\b(strcpy|strcat|sprintf|gets|alloca|strtok|system|popen)\(' {base,spool,watcher,request,renderer,executors,executors/slurm,planner,stages,simulation,commands}/*.c)
is "$found" "" "no function that is banned is called"
found=$(grep -LE '^/\* [a-z_/]+/[a-z0-9_]+\.[ch] - ' {base,spool,watcher,request,renderer,executors,executors/slurm,planner,stages,simulation,commands}/*.[ch])
is "$found" "" "every file starts with what it is"
found=$(grep -nE '\b(exit|_exit|abort)\(' {spool,watcher,request,renderer,executors,executors/slurm,planner,simulation}/*.c | grep -v 'out of memory' | grep -v 'executors/process.c\|executors/podman_service.c\|executors/local_access.c')
is "$found" "" "no library code ends the process"

found=$(grep -nE '#include <(time|sys/|stdio|unistd|fcntl)|\b(time|clock_[a-z]+|rand|random)\(' planner/*.[ch])
is "$found" "" "the planner has no clock, no input or output, and no random numbers"

done_testing
