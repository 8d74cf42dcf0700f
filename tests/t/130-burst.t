#!/usr/bin/env bash
# More names within a second than inotify's queue holds, while intake does not get to reading: hidden files fill
# the queue, and 1,500 job files come after.  All are taken, once, and not by the next timed scan, which is ten
# minutes away.
. "$(dirname "$0")/lib.bash"
new_spool null || exit 1
set_setting scan_interval 10m
queue=$(cat /proc/sys/fs/inotify/max_queued_events 2>/dev/null || echo 16384)
count=1500
[ "$queue" -le 100000 ] || skip_all "inotify's queue holds $queue events here"

cat >"$scratch/make.py" <<'PY'
import os, sys, time
source, target, count, queue = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
os.mkdir(source)
for i in range(count):
    with open(f"{source}/b{i:05}.yaml", "w") as f:
        f.write(f"name: b{i:05}\nlibrary: any\ntype: single\nscript: \"#!/bin/sh\"\n")
start = time.monotonic()
for i in range(queue):
    os.close(os.open(f"{target}/.fill{i}", os.O_CREAT | os.O_WRONLY))
for i in range(count):
    os.rename(f"{source}/b{i:05}.yaml", f"{target}/b{i:05}.yaml")
print(f"{time.monotonic() - start:.2f}")
PY
start_daemon
intake() { pgrep -P "$daemon" -x intake; }
served() { [ "$(ls "$spool"/done/* 2>/dev/null | grep -c '^first-')" = 1 ]; }
printf 'name: first\nlibrary: any\ntype: single\nscript: "#!/bin/sh"\n' | drop first.yaml
must "intake serves" wait_for 20 served
kill -STOP "$(intake)"
seconds=$(/usr/bin/python3 "$scratch/make.py" "$scratch/source" "$spool/incoming" $count "$queue")
echo "# named within $seconds s"
kill -CONT "$(intake)"
all_done() { [ "$(ls "$spool"/done/* 2>/dev/null | grep -c '^b')" -ge $count ]; }
ok "all are done" wait_for 60 all_done
is "$(ls "$spool"/done/* | grep '^b' | cut -c1-6 | sort -u | wc -l)" $count "each of them"
is "$(ls "$spool"/done/* "$spool/failed" | grep -c '^b')" $count "and each once"
is "$(ls "$spool/incoming")" "" "incoming/ is empty"
is "$(ls "$spool/failed")" "" "failed/ is empty"
done_testing
