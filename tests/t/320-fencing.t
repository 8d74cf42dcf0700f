#!/usr/bin/env bash
# A daemon that is stopped in the middle (SIGSTOP) is taken for dead by a second one, which takes
# over; when it wakes up (SIGCONT) it fences itself: nothing is submitted twice.
# Runs alone: a daemon that gets no processor for 2 s is taken for dead here.
. "$(dirname "$0")/lib.bash"
new_spool null || exit 1
set_setting takeover_time 2s
family() { echo "$1"; pgrep -P "$1"; for child in $(pgrep -P "$1"); do pgrep -P "$child"; done; }

"$DLSPOOL" -s "$spool" run -v 2>"$scratch/first.log" &
first=$!
drop_jobs() { for i in $(seq "$1" "$2"); do printf 'name: j%03d\nlibrary: any\ntype: single\nscript: "#!/bin/sh"\n' "$i" | drop "j$i.yaml"; done; }
done_count() { ls "$spool"/done/* 2>/dev/null | grep -c '^j'; }
drop_jobs 1 50
some_done() { [ "$(done_count)" -ge 10 ]; }
ok "the first daemon serves" wait_for 20 some_done
stopped=$(family $first)
kill -STOP $stopped
echo "# stopped with $(done_count) of 50 done"

"$DLSPOOL" -s "$spool" run -v 2>"$scratch/second.log" &
daemon=$!
ok "the second stands by" wait_for 10 grep -q 'standing by' "$scratch/second.log"
ok "and takes over when the first gives no sign of life" wait_for 20 grep -q 'taking over' "$scratch/second.log"
drop_jobs 51 100
all_done() { [ "$(done_count)" -eq 100 ]; }
ok "all jobs are done" wait_for 30 all_done

drop_jobs 101 110
kill -CONT $stopped
drop_jobs 111 200
ok "the first sees that it was taken for dead" wait_for 20 grep -q 'another daemon has taken over' "$scratch/first.log"
ok "and stands by now" wait_for 20 grep -q 'standing by' "$scratch/first.log"
all_done() { [ "$(done_count)" -eq 200 ]; }
ok "all jobs are done, also after it woke up" wait_for 30 all_done
is "$(ls "$spool"/done/* | grep '^j' | cut -c1-4 | sort -u | wc -l)" 200 "each job is there once"
is "$(grep -c ' submitted ' "$spool"/done/*/j*/log | grep -vc ':1$')" 0 "each was submitted once"
is "$(ls "$spool/failed")" "" "none failed"

# What the first claimed before it saw that is not forgotten: a claim that another made is taken up.
# Its number is nobody's: a claim of which there is a job already is removed.
token=$(ls -d "$spool"/done/*/j200-* | sed -E 's/.*-(.{13})$/\1/')
case $token in *z) token=${token%z}y ;; *) token=${token%?}z ;; esac
printf 'name: stray\nlibrary: any\ntype: single\nscript: "#!/bin/sh"\n' >"$spool/.claims/.stray"
mv "$spool/.claims/.stray" "$spool/.claims/$token.stray.yaml"
ok "what another daemon has claimed is taken up" wait_for 20 in_state stray "done"
is "$(ls -A "$spool/.claims")" "" "and no claim is left"

# The second ends: the first takes over again, at once.
stop_daemon
ok "the first takes over again" wait_for 10 grep -q 'taking over' "$scratch/first.log"
drop_jobs 201 205
all_done() { [ "$(done_count)" -eq 205 ]; }
ok "and serves" wait_for 20 all_done
daemon=$first
stop_daemon
is $? 0 "and stops cleanly"

done_testing
