#!/usr/bin/env bash
# A short run of tests/bench/soak: jobs all the time, a process killed every second;
# nothing is lost or doubled, memory and descriptors are flat.  SOAK_SECONDS for longer.
# To see it fail: DEFAULT_NAMES of watcher/watch.c at 1 << 20 (memory).  The narrow windows in which a
# kill loses or doubles a job are tried one by one by tests/crash; random kills seldom meet them.
. "$(dirname "$0")/lib.bash"
DLSPOOL=$DLSPOOL /usr/bin/python3 "$top/tests/bench/soak" --spool "$scratch/soak" \
    --seconds "${SOAK_SECONDS:-20}" --kill-every 1 --rate 100
