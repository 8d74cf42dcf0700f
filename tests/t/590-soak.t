#!/usr/bin/env bash
# A short run of tests/bench/soak: jobs all the time, stages and all of them together killed in the
# middle of their work, every half second; nothing is lost or doubled, memory and descriptors are
# flat.  SOAK_SECONDS for longer.
. "$(dirname "$0")/lib.bash"
DLSPOOL=$DLSPOOL /usr/bin/python3 "$top/tests/bench/soak" --spool "$scratch/soak" \
    --seconds "${SOAK_SECONDS:-12}" --kill-every 0.5 --rate 30
