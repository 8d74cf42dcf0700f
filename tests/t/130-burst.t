#!/usr/bin/env bash
# 20,000 files renamed in within a second: more than inotify's queue holds.  All are taken, once.
. "$(dirname "$0")/lib.bash"
new_spool null || exit 1
count=20000

cat >"$scratch/make.py" <<'PY'
import os, sys, time
source, target, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
os.mkdir(source)
for i in range(count):
    with open(f"{source}/b{i:05}.yaml", "w") as f:
        f.write(f"name: b{i:05}\nlibrary: any\ntype: single\nscript: \"#!/bin/sh\"\n")
start = time.monotonic()
for i in range(count):
    os.rename(f"{source}/b{i:05}.yaml", f"{target}/b{i:05}.yaml")
print(f"{time.monotonic() - start:.2f}")
PY
start_daemon
seconds=$(/usr/bin/python3 "$scratch/make.py" "$scratch/source" "$spool/incoming" $count)
echo "# renamed in within $seconds s"
all_done() { [ "$(ls "$spool"/done/* 2>/dev/null | grep -c '^b')" -ge $count ]; }
ok "all are done" wait_for 240 all_done
is "$(ls "$spool"/done/* | grep '^b' | cut -c1-6 | sort -u | wc -l)" $count "each of them"
is "$(ls "$spool"/done/* "$spool/failed" | grep -c '^b')" $count "and each once"
is "$(ls "$spool/incoming")" "" "incoming/ is empty"
is "$(ls "$spool/failed")" "" "failed/ is empty"
done_testing
