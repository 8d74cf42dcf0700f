#!/usr/bin/env bash
# A backlog: 20,000 files in incoming/ when the daemon starts, and 20,000 jobs in done/.  The
# first job is submitted soon, memory is bounded and does not grow, an urgent job passes the rest,
# and what is done costs nothing.
# BACKLOG and HISTORY set the numbers (make check-long: 100,000 and 200,000); 1,000,000 jobs in done/ are a matter of making them.
# With BACKLOG=5000 it fails: the urgent job has nobody to pass.
. "$(dirname "$0")/lib.bash"
# On the disk, making and removing so many files takes minutes: DISK=1 for that.
mkdir "$spool"
[ -z "${DISK:-}" ] && [ "$(id -u)" = 0 ] && mount -t tmpfs -o mode=755,nr_inodes=4000000 tmpfs "$spool" 2>/dev/null &&
    echo "# the spool is in memory"
new_spool null || exit 1
set_setting sync none
set_setting scan_interval 5s
set_setting retry_interval 5s
set_setting poll_interval 500ms
backlog=${BACKLOG:-20000}
history=${HISTORY:-20000}

cat >"$scratch/make.py" <<'PY'
import os, sys
what, directory, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
if what == "incoming":
    for i in range(count):
        with open(f"{directory}/b{i:06}.yaml", "w") as f:
            f.write(f"name: b{i:06}\nlibrary: any\ntype: single\nscript: \"#!/bin/sh\"\n...\n")
else:
    for i in range(count):
        day = f"{directory}/2025-{1 + i * 10 // count:02}-{1 + i % 5:02}"
        if i < count // 10 or i % 5 == 0:
            os.makedirs(day, exist_ok=True)
        os.makedirs(f"{day}/h{i:06}-1jg{i:010}", exist_ok=True)
PY

# Times are those of the processor: how busy the machine is does not count.
milliseconds() { echo $(($(date +%s%N) / 1000000)); }
# took COMMAND...: how many milliseconds of the processor it takes, the best of three.
took() {
    local best=999999 now TIMEFORMAT='%3U %3S'
    for _ in 1 2 3; do
        now=$({ time "$@" >/dev/null 2>&1; } 2>&1 | awk '{ printf "%d", ($1 + $2) * 1000 }')
        [ "$now" -lt $best ] && best=$now
    done
    echo $best
}
# used: how many milliseconds of the processor the daemon has used.
used() {
    local pid
    for pid in $daemon $(pgrep -P "$daemon"); do cat "/proc/$pid/stat"; done 2>/dev/null |
        awk -v tick="$(getconf CLK_TCK)" '{ sub(/.*\) /, ""); sum += $12 + $13 } END { printf "%d", sum * 1000 / tick }'
}
# costs NAME: how many milliseconds of the processor a job costs the daemon, the best of three.
costs() {
    local best=999999 before now
    for i in 1 2 3; do
        before=$(used)
        one_job "$1$i" || return
        now=$(($(used) - before))
        [ $now -lt $best ] && best=$now
    done
    echo $best
}
job() { printf 'name: %s\nlibrary: any\ntype: single\n%sscript: "#!/bin/sh"\n...\n' "$1" "${2:-}"; }
one_job() { job "$1" | drop "$1.yaml" && wait_for 20 in_recent "$1"; }
in_recent() { ls "$spool"/done/"$(date -u +%Y-%m-%d)" 2>/dev/null | grep -q "^$1-"; }

# History: done/ as it is after months.
start_daemon
must "a first job is done" one_job first
before_one=$(costs before) before_list=$(took dlspool list)
stop_daemon
/usr/bin/python3 "$scratch/make.py" history "$spool/done" "$history"
is "$(find "$spool/done" -mindepth 2 -maxdepth 2 -name 'h*' | wc -l)" "$history" "$history jobs are in done/"
began=$(milliseconds)
start_daemon
ok "the first job after a start is done" one_job started
echo "# with $history jobs in done/: start to first job done $(($(milliseconds) - began)) ms, $(used) ms of the processor"
after_one=$(costs after)
after_list=$(took dlspool list)
id=$(ls "$spool/done/$(date -u +%Y-%m-%d)" | grep '^after1-' | head -n 1)
show=$(took dlspool show "$id")
echo "# a job: $before_one ms before, $after_one ms with them; list: $before_list ms before, $after_list ms; show ID: $show ms"
is "$((after_one < before_one + 50))" 1 "a job costs no more"
is "$((after_list < before_list + 1000))" 1 "nor does list"
is "$((show < 500))" 1 "show ID is quick"
stop_daemon
# Claims that a crash left are compared with all jobs there are, once.
for i in $(seq 10); do job claimed >"$spool/.claims/1m0000000000$i.claimed$i.yaml"; done 2>/dev/null
rm -f "$spool"/.claims/*10.yaml
claims=$(ls "$spool/.claims" | wc -l)
began=$(milliseconds)
start_daemon
claims_done() { [ "$(ls "$spool/done/$(date -u +%Y-%m-%d)" | grep -c '^claimed-')" = "$claims" ]; }
ok "$claims claims that a crash left become jobs" wait_for 60 claims_done
echo "# recovery of $claims claims with $history jobs in done/: $(($(milliseconds) - began)) ms, $(used) ms of the processor"
is "$(($(used) < 5000))" 1 "without looking through done/ for each"
stop_daemon

# The backlog.
/usr/bin/python3 "$scratch/make.py" incoming "$spool/incoming" "$backlog"
memory() { # KiB of all processes of the daemon together
    local pid
    for pid in $daemon $(pgrep -P "$daemon"); do cat "/proc/$pid/smaps_rollup" 2>/dev/null; done |
        awk '/^Pss:/ { sum += $2 } END { print sum + 0 }'
}
if ! grep -q '^Pss:' /proc/self/smaps_rollup 2>/dev/null; then
    memory() { echo 0; }
    echo "# no smaps_rollup here: memory is not measured"
fi
began=$(milliseconds)
"$DLSPOOL" -s "$spool" run 2>>"$scratch/daemon.log" &
daemon=$!
submitted() { ls "$spool/submitted" | grep -q '^b' || { [ -d "$spool/done/$(date -u +%Y-%m-%d)" ] && ls "$spool/done/$(date -u +%Y-%m-%d)" | grep -q '^b'; }; }
ok "a first job of $backlog is submitted" wait_for 60 submitted
echo "# first job submitted $(($(milliseconds) - began)) ms after the start"
is "$(($(ls -U "$spool/incoming" | wc -l) > backlog / 2))" 1 "before most of the others are looked at"
# By how much of it is left, not by time: one machine takes 2,000 a second, another 8,000.
most=0
a_part_is_taken() { # how many of 16 parts may be left
    left=$(ls -U "$spool/incoming" | wc -l)
    now=$(memory)
    [ "$now" -gt $most ] && most=$now
    [ "$left" -le $((backlog * $1 / 16)) ]
}
wait_for 60 a_part_is_taken 15
early=$now
wait_for 60 a_part_is_taken 13
job urgent $'priority: 100\n' >"$scratch/urgent.yaml"
began=$(milliseconds)
mv "$scratch/urgent.yaml" "$spool/incoming/urgent.yaml"
ok "an urgent job dropped in the middle is done" wait_for 60 in_recent urgent
urgent=$(($(milliseconds) - began))
rest=$(ls -U "$spool/incoming" | wc -l)
echo "# urgent job done $urgent ms after it was dropped behind $left others, $rest of which still wait"
is "$((rest > 0))" 1 "before the others"
late=
for i in $(seq 6); do
    sleep 0.5
    now=$(memory)
    [ "$now" -gt $most ] && most=$now
    [ -z "$late" ] || [ "$now" -lt "$late" ] && late=$now
done
echo "# memory of all processes together: $early KiB early, $late KiB late, $most KiB at most"
is "$((most <= 98304))" 1 "at most 96 MiB in all processes together"
# (Following takes a kilobyte for each job that track has not come to yet, handing a batch in some megabytes for a
# moment: the least of what was seen late counts.)
is "$((late <= early * 5 / 4 + 32768))" 1 "and it does not grow with each"
stop_daemon
today=$spool/done/$(date -u +%Y-%m-%d)
total=$({ ls -U "$spool/incoming" "$spool/rendered" "$spool/submitted" "$spool/failed"; ls -U "$today"; } | grep -cE '^b[0-9]{6}')
claims=$(ls -U "$spool/.claims" | grep -c '\.b[0-9]*\.yaml$')
echo "# left: $(ls -U "$spool/incoming" | wc -l) in incoming/, $claims claimed, $(ls -U "$today" | grep -c '^b') done"
is "$((total + claims))" "$backlog" "nothing is lost: incoming/, claims and states together hold all"
is "$(ls -U "$spool/failed")" "" "none failed"
done_testing
