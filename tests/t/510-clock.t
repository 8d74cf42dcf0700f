#!/usr/bin/env bash
# The clock is set, by a second, an hour and ten years, forwards and backwards, while jobs are made
# and while others wait for their back-off: no retry storm, nothing waits until a year that was never
# meant, ids are unique and valid.  Only the time of day is set; the monotonic clock goes on, as it
# does on a real machine.
# Seen to fail with: tests/mutants/due-waits-until-that-year.patch and id-comes-twice.patch.
. "$(dirname "$0")/lib.bash"
command -v cc >/dev/null || skip_all "no C compiler for the clock that can be set"
new_spool null || exit 1
set_setting sync none

# A time of day that is off by as many seconds as the shared file says.
cat >"$scratch/clock.c" <<'C'
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
static volatile const long *offset;
__attribute__((constructor)) static void start(void)
{
    int file = open(getenv("CLOCK_OFFSET"), O_RDONLY | O_CLOEXEC);
    void *at = mmap(NULL, sizeof(*offset), PROT_READ, MAP_SHARED, file, 0);
    if (file < 0 || at == MAP_FAILED)
        abort();
    offset = at;
}
int clock_gettime(clockid_t id, struct timespec *time)
{
    int result = (int)syscall(SYS_clock_gettime, id, time);
    if (id == CLOCK_REALTIME)
        time->tv_sec += *offset;
    return result;
}
C
must "a clock that can be set" cc -shared -fPIC -O1 -o "$scratch/clock.so" "$scratch/clock.c"
# set_clock SECONDS: off by so much from now on; written over, so that those who have it mapped see it.
set_clock() {
    /usr/bin/python3 -c 'import struct, sys; sys.stdout.buffer.write(struct.pack("l", int(sys.argv[1])))' \
        "$1" | dd of="$scratch/offset" conv=notrunc status=none
}
: >"$scratch/offset"
set_clock 0
export CLOCK_OFFSET=$scratch/offset
start_off() {
    LD_PRELOAD="$scratch/clock.so${LD_PRELOAD:+:$LD_PRELOAD}" "$DLSPOOL" -s "$spool" run -v \
        2>>"$scratch/daemon.log" &
    daemon=$!
}
year=$((365 * 86400))
steps="1 -1 3600 -3600 $((10 * year)) $((-10 * year))"

# Ids, made before, during and after each step: 40 jobs for each.
drop_jobs() {
    local i
    for i in $(seq 40); do
        printf 'name: %s\nlibrary: any\ntype: single\nscript: "#!/bin/sh"\n' "$1" >"$scratch/made/$1-$2-$i.yaml"
    done
    mv "$scratch/made"/* "$spool/incoming/" 2>/dev/null
}
mkdir "$scratch/made"
done_count() { ls "$spool"/done/* 2>/dev/null | grep -c '^ids-'; }
has_done() { [ "$(done_count)" -ge "$1" ]; }
start_off
round=0
for step in $steps; do
    for now in $step 0; do
        round=$((round + 1))
        drop_jobs ids before
        set_clock "$now"
        drop_jobs ids after
        wait_for 20 has_done $((round * 80)) || break 2
    done
done
is "$(done_count)" $((round * 80)) "all jobs of all times are done"
is "$(ls "$spool"/done/* | grep '^ids-' | sort -u | wc -l)" $((round * 80)) "each under an id of its own"
is "$(ls "$spool"/done/* | grep '^ids-' | grep -vcE '^ids-[0-9a-hjkmnp-tv-z]{13}$')" 0 "each id is valid"
echo "# days in done/: $(ls "$spool/done" | tr '\n' ' ')"
is "$(($(ls "$spool/done" | wc -l) >= 3))" 1 "they are in the days that the clock showed"
is "$(grep -l '^' "$spool"/done/*/ids-*/log | xargs grep -c ' submitted ' | grep -vc ':1$')" 0 "each was submitted once"
stop_daemon

# wait_back_off NAME NEXT DELAY: a job that is done becomes one that failed and waits, for NEXT
# seconds from now, after a back-off of DELAY seconds.
template=$(ls -d "$spool"/done/*/ids-* | head -n 1)
made=0
wait_back_off() {
    local token id
    made=$((made + 1))
    token=$(printf '1m0000000%04d' $made)
    id=$1-$token
    cp -r "$template" "$scratch/$id"
    sed -i "/^sum:/d; s/^id: .*/id: \"$id\"/; s/^name: .*/name: \"$1\"/; /^failure:/,\$d" "$scratch/$id/job.yaml"
    cat >>"$scratch/$id/job.yaml" <<YAML
failure:
  retry: "at"
  reason: "Exited"
  class: "transient"
  exit_code: 1
  failed: "$(date -u +%Y-%m-%dT%H:%M:%S.000Z)"
  next: "$(date -u -d "@$(($(date +%s) + $2))" +%Y-%m-%dT%H:%M:%S.000Z)"
  delay_ms: $(($3 * 1000))
YAML
    echo "waits" >"$scratch/$id/why"
    mv "$scratch/$id" "$spool/failed/"
}
waits() { [ "$(ls -d "$spool/failed/$1"-* 2>/dev/null | wc -l)" = "$2" ]; }

# For each step backwards: a back-off that was computed before it is not waited for from then on.
set_clock 0
wait_back_off soon 4 30
wait_back_off honest 1700 1800
wait_back_off hour 3630 30
wait_back_off years $((10 * year + 30)) 30
start_off
ok "one that the clock had put an hour away is tried" wait_for 10 in_state hour "done"
ok "and one that it had put ten years away" wait_for 10 in_state years "done"
ok "one that is due in four seconds is tried then" wait_for 10 in_state soon "done"
ok "one whose back-off is really half an hour goes on waiting" in_state honest failed

# Forwards: all are due at once, and each is tried once.
for i in $(seq 50); do wait_back_off storm 1700 1800; done
sleep 1
ok "fifty more wait" waits storm 50
set_clock 3600
ok "an hour forwards: they are tried" wait_for 20 waits storm 0
all_done() { [ "$(ls "$spool"/done/* | grep -c '^storm-')" = 50 ]; }
ok "and end" wait_for 20 all_done
is "$(cat "$spool"/done/*/storm-*/log | grep -c ' requeued ')" 50 "each was tried once: no storm"
for step in $steps 0; do
    set_clock "$step"
    sleep 0.3
done
is "$(cat "$spool"/*/*/*/log | grep -c ' requeued ')" $((54)) "nothing is tried again by more steps"
is "$(cat "$spool"/.new/* 2>/dev/null | wc -l)" 0 "nothing is left half made"
stop_daemon
is $? 0 "the daemon stops as it should"
lines=$(grep -c 'warning' "$scratch/daemon.log")
is "$((lines < 20))" 1 "the log is not filled: $lines warnings"
done_testing
