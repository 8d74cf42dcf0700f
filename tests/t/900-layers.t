#!/usr/bin/env bash
# Includes point downwards only: each room, which is a directory, has a line below with what it may
# include, and no room comes back to itself, however long the way.
# Seen to fail with: base/error.h including spool/id.h; executors/completion.c including the registry;
# a new directory with a .c file and no line here.
. "$(dirname "$0")/lib.bash"
cd "$top" || exit 1

sources=$(find . -mindepth 2 -maxdepth 3 -name '*.[ch]' -not -path './tests/*' -not -path './build*' \
    -not -path './debian/*' -not -path './.*/*' | sed 's|^\./||' | LC_ALL=C sort)
of() { grep -E "$1" <<<"$sources"; }        # those whose name matches
# file:line:included, with the include's path, one a line
includes=$(grep -Hn '^#include "' $sources | sed -E 's/:#include "([^"]*)".*/:\1/')

listed=
# room ROOM OTHER...: the room includes only itself and these.
room() {
    local room=$1
    shift
    listed="$listed$room"$'\n'
    [ -d "$room" ] || return 0
    is "$(awk -F: -v room="$room" -v others=" $room $* " '
        function directory(path) { sub("/[^/]*$", "", path); return path }
        directory($1) == room && !index(others, " " directory($3) " ")' <<<"$includes")" \
        "" "$room includes only itself${*:+ and $*}"
}
room base
room spool base
room watcher base
room request base
room renderer base
room executors base
room executors/slurm base executors
room executors/registry base executors executors/slurm
room planner base
room stages base spool watcher request renderer executors executors/registry planner
room simulation base planner
room commands base spool watcher request renderer executors executors/registry planner stages simulation

is "$(sed 's|/[^/]*$||' <<<"$sources" | sort -u | grep -vxFf <(echo "$listed"))" "" "every room says what it may include"

# The circles in "this includes that" lines, by tsort.
circles() { awk '$1 != $2' | sort -u | tsort 2>&1 >/dev/null | sed 's/^tsort: //'; }
modules=$(sed -E 's/^([^:]*)\.[ch]:[0-9]*:(.*)\.h$/\1 \2/' <<<"$includes")
is "$(sed -E 's|/[^/ ]* | |; s|/[^/ ]*$||' <<<"$modules" | circles)" "" \
    "no room includes itself in a circle"

found=$(grep -nE '\b(strcpy|strcat|sprintf|gets|alloca|strtok|system|popen)\(' $(of '\.c$'))
is "$found" "" "no function that is banned is called"
is "$(for file in $sources; do IFS= read -r line <"$file"; [[ $line == "/* $file - "* ]] || echo "$file"; done)" "" \
    "every file starts with its name and what it is"
found=$(grep -nE '\b(exit|_exit|abort)\(' $(of '^(spool|watcher|request|renderer|executors|planner|simulation)/.*\.c$') |
    grep -v 'out of memory' | grep -Ev '/(process|podman_service|local_access)\.c:')
is "$found" "" "no library code ends the process"

found=$(grep -nE '#include <(time|sys/|stdio|unistd|fcntl)|\b(time|clock_[a-z]+|rand|random)\(' $(of '^planner/'))
is "$found" "" "the planner has no clock, no input or output, and no random numbers"

done_testing
