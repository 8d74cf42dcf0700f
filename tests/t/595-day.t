#!/usr/bin/env bash
# A day of mixed jobs by ten users, replayed at speed, with limits, holds and mail, while stages, the supervisor and
# all of them together are killed: no limit is exceeded at any moment, as the executor sees it, each event is mailed,
# the accounts are what the executor counted, and what has ended is pruned and still found.  tests/day/replay tells how.
# DAY_JOBS for more jobs, DAY_SEED for others, DAY_RUSH for so many of each unit of weight where users share.
#
# Seen to fail with: tests/mutants/day-*.patch.
. "$(dirname "$0")/lib.bash"
[ "$(id -u)" = 0 ] || skip_all "other users' files are made by root"
export DLSPOOL
/usr/bin/python3 -B "$top/tests/day/replay" --jobs "${DAY_JOBS:-160}" --seed "${DAY_SEED:-17}" \
    --rush "${DAY_RUSH:-0}" --directory "$scratch/day"
