#!/usr/bin/env bash
# Includes point downwards only: each room, which is a directory, has a line below with what it may
# include, and no room and no module comes back to itself, however long the way.
#
# No mutant is for this script: it looks at the mutants, too, and of a tree with one applied none else applies.
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
room job base
room spool base job
room archive base spool
room watcher base
room request base job
room request/openpai base request
room request/dlworkspace base request
room request/sbatch base request
room request/dialects base request request/openpai request/dlworkspace request/sbatch
room renderer/jsone base
room renderer base job renderer/jsone
room executors base job
room executors/http base
room executors/local base executors executors/http
room executors/kubernetes base job executors executors/http
room executors/slurm base executors executors/http
room executors/registry base executors executors/local executors/kubernetes executors/slurm
room planner base
room stages base spool renderer executors executors/registry
room stages/shared base job spool request renderer executors executors/registry stages
room stages/prepare base spool request request/dialects renderer stages stages/shared
room stages/intake base spool watcher request stages stages/shared stages/prepare
room stages/planning base spool planner executors stages stages/shared stages/prepare
room stages/submit base spool watcher executors stages stages/shared stages/prepare stages/planning
room stages/track base job spool watcher request planner executors stages stages/shared
room stages/resubmit base spool watcher request stages stages/shared stages/prepare
room stages/metrics base spool executors stages stages/shared
room stages/prune base spool archive stages stages/shared
room stages/notify base job spool stages
room stages/preview base spool executors executors/registry stages/prepare
room stages/service base spool watcher renderer executors executors/registry stages stages/metrics stages/resubmit stages/prune
room client base job spool archive request request/dialects renderer stages stages/shared stages/prepare stages/preview
room web base job spool archive request renderer stages stages/shared client
room simulation base planner
room commands base job spool archive watcher request request/openpai request/dlworkspace request/sbatch request/dialects renderer/jsone renderer executors executors/http executors/local executors/kubernetes executors/slurm executors/registry planner stages stages/shared stages/prepare stages/intake stages/planning stages/submit stages/track stages/resubmit stages/metrics stages/prune stages/preview stages/service client web simulation

is "$(sed 's|/[^/]*$||' <<<"$sources" | sort -u | grep -vxFf <(echo "$listed"))" "" "every room says what it may include"

# The circles in "this includes that" lines, by tsort.
circles() { awk '$1 != $2' | sort -u | tsort 2>&1 >/dev/null | sed 's/^tsort: //'; }
modules=$(sed -E 's/^([^:]*)\.[ch]:[0-9]*:(.*)\.h$/\1 \2/' <<<"$includes")
is "$(sed -E 's|/[^/ ]* | |; s|/[^/ ]*$||' <<<"$modules" | circles)" "" \
    "no room includes itself in a circle"
# A module is a .c file with the .h of its name.
is "$(circles <<<"$modules")" "" "no module includes itself in a circle"

# Functions that others cannot see have no header that says what they do.
found=$(find $(tools/modules | sed -n 's|/ may include.*||p' | cut -d/ -f1 | sort -u) -name '*.c' | sort | xargs awk '
    FNR == 1 { signature = inside = 0 }
    !inside && /^static/ { signature = FNR; told = before ~ /\*\/$/ && before !~ /^\/\* ----/ }
    !inside && /;$/ { signature = 0 }
    /^{$/ { inside = FNR }
    /^}$/ {
        if (signature && !told && FNR - inside > 25)
            print FILENAME ":" signature
        signature = inside = 0
    }
    { before = $0 }')
is "$found" "" "static functions of 25 lines and more have a sentence before them"

is "$(tools/modules --prefixes 2>&1)" "" "what headers declare begins with a prefix that is their module's alone"

found=$(grep -nE '\b(strcpy|strcat|sprintf|gets|alloca|strtok|system|popen)\(' $(of '\.c$'))
is "$found" "" "no function that is banned is called"
is "$(for file in $sources; do IFS= read -r line <"$file"; [[ $line == "/* $file - "* ]] || echo "$file"; done)" "" \
    "every file starts with its name and what it is"
is "$(awk 'length > 120 && !/https:/ { print FILENAME ":" FNR }' $sources)" "" "no line is longer than 120 columns"
found=$(grep -nE '\b(exit|_exit|abort)\(' $(of '^(spool|watcher|request|renderer|executors|planner|simulation)/.*\.c$') |
    grep -v 'out of memory' | grep -Ev '^executors/local/(process|podman_service|access)\.c:')
is "$found" "" "no library code ends the process"

found=$(grep -nE '#include <(time|sys/|stdio|unistd|fcntl)|\b(time|clock_[a-z]+|rand|random)\(' $(of '^planner/'))
is "$found" "" "the planner has no clock, no input or output, and no random numbers"

# make mutants runs them.
found=$(perl - tests/mutants/*.patch <<'PROGRAM'
local $/;
my %texts;
sub text_of { my ($name) = @_; $texts{$name} //= do { open my $file, '<', $name or return undef; <$file> } }
for my $patch (@ARGV) {
    my ($head, @files) = split /^--- a\/(?=\S+\n\+\+\+ )/m, text_of($patch);
    my @tests = $head =~ /^Caught by: (.*)$/m ? split ' ', $1 : 'nothing';
    -f or print "$patch names $_\n" for @tests;
    print "$patch changes nothing\n" unless @files;
    for (@files) {
        my ($name) = /^(\S+)/;
        my ($text, $at) = (text_of($name), 0);
        my (undef, @hunks) = split /^@@ .*\n/m;
        for (@hunks) {
            my $old = join '', map { s/^[ -]//r } grep { /^[ -]/ } /^.*\n/gm;
            my $found = defined $text ? index "\n$text", "\n$old", $at : -1;
            if ($found < 0) { print "$patch does not apply to $name\n"; last }
            $at = $found + length $old;
        }
    }
}
PROGRAM
)
is "$found" "" "every mutant applies, and names tests that are there"

# Other versions lay out in other ways.
layout=$(command -v clang-format-14)
if [ -n "$layout" ]; then
    found=$(find . -path ./build -prune -o \( -name '*.c' -o -name '*.h' \) -print | xargs -P 2 -n 50 "$layout" --dry-run 2>&1 |
        sed -n 's/^\([^ ]*\.[ch]:[0-9]*\):.*clang-format.*/\1/p' | sort -u | head)
    is "$found" "" "every file is laid out by .clang-format: make format"
else
    pass "every file is laid out by .clang-format # SKIP clang-format-14 is not installed"
fi

done_testing
