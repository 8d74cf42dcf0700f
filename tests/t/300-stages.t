#!/usr/bin/env bash
# The supervisor: a killed stage comes back, a second daemon stands by and takes over, a changed
# dlspool.yaml takes effect, and what a kill -9 left is taken up again.
. "$(dirname "$0")/lib.bash"
new_spool null || exit 1
start_daemon
job() { printf 'name: %s\nlibrary: any\ntype: single\nscript: "#!/bin/sh"\n' "$1" | drop "$1.yaml"; }
stage_pid() { pgrep -P "$daemon" -x "$1"; }

job first
ok "a first job is done" wait_for 20 in_state first "done"
for stage in intake submit track resubmit; do
    pid=$(stage_pid $stage)
    kill -KILL "$pid"
    back() { local now; now=$(stage_pid $stage) && [ -n "$now" ] && [ "$now" != "$pid" ]; }
    ok "$stage comes back" wait_for 20 back
    job "after-$stage"
    ok "and serves" wait_for 20 in_state "after-$stage" "done"
done

# Intake is confined.
pid=$(stage_pid intake)
is "$(grep '^NoNewPrivs' "/proc/$pid/status" | cut -f2)" 1 "intake can gain no privileges"
is "$(grep '^Seccomp:' "/proc/$pid/status" | cut -f2)" 2 "intake runs under a seccomp filter"
capabilities() { sed -n 's/^Cap\(Eff\|Prm\|Inh\):\t//p' "/proc/$(stage_pid intake)/status" | tr '\n' ' '; }
if [ "$(id -u)" = 0 ]; then
    is "$(capabilities)" "0000000000000000 000000001000000b 000000001000000b " \
        "of root's powers it has CHOWN, DAC_OVERRIDE, FOWNER and LEASE"
fi

# What is no job is said once, however often it is seen.
touch "$spool/rendered/x.yaml" "$spool/rendered/y.yaml"
told() { grep -q 'rendered/: "y.yaml" is no job' "$scratch/daemon.log"; }
ok "a file that somebody has put into rendered/ is said" wait_for 10 told
sleep 1.5
is "$(grep -c 'rendered/: "[xy].yaml" is no job' "$scratch/daemon.log")" 2 "once for each"
rm "$spool/rendered/x.yaml" "$spool/rendered/y.yaml"

# A second one stands by, and takes over.
"$DLSPOOL" -s "$spool" run -v 2>"$scratch/second.log" &
second=$!
ok "a second daemon stands by" wait_for 10 grep -q 'standing by' "$scratch/second.log"
is "$(pgrep -c -P $second)" 0 "without stages"
kill -KILL "$daemon"
ok "it takes over" wait_for 20 grep -q 'taking over' "$scratch/second.log"
wait "$daemon" 2>/dev/null
daemon=$second
job taken-over
ok "and serves" wait_for 20 in_state taken-over "done"

# A changed dlspool.yaml takes effect; a wrong one is said, and the old stays in force.
before=$(stage_pid submit)
set_setting batch 7
changed() { local now; now=$(stage_pid submit) && [ -n "$now" ] && [ "$now" != "$before" ]; }
ok "the stages start again when dlspool.yaml changes" wait_for 20 changed
is "$(grep -c 'dlspool.yaml has changed and is good' "$scratch/second.log")" 1 "which one line confirms"
sed -i 's/^batch: 7/batch: many/' "$spool/dlspool.yaml"
ok "a wrong dlspool.yaml is said" wait_for 10 grep -q 'batch: found "many"' "$scratch/second.log"
report=$(dlspool check 2>&1)
is $? 1 "check fails on it"
like "$report" '^dlspool.yaml:[0-9]+:[0-9]+: batch: found "many", expected a whole number' "and says the same"
job still
ok "and jobs are served with the old settings" wait_for 20 in_state still "done"
sed -i 's/^batch: many/batch: 64/' "$spool/dlspool.yaml"

# A request to stop that comes while the stages stop for new settings counts.
has_changed() { [ "$(grep -c 'has changed and is good' "$scratch/second.log")" = 2 ]; }
ok "the right one takes effect again" wait_for 10 has_changed
serving() { [ "$(pgrep -c -P "$daemon" -x 'intake|resubmit|submit|track')" = 4 ]; }
ok "with all four stages" wait_for 10 serving
slow=$(stage_pid submit)
kill -STOP "$slow"
echo '# changed once more' >>"$spool/dlspool.yaml"
stopped() { ! stage_pid resubmit; }
ok "the stages before a slow one have stopped" wait_for 10 stopped
kill -TERM "$daemon"
taken() { [ $((0x$(sed -n 's/^ShdPnd:\t//p' "/proc/$daemon/status") & 1 << 14)) = 0 ]; }
ok "SIGTERM comes meanwhile" wait_for 10 taken
kill -CONT "$slow"
gone() { [ ! -e "/proc/$daemon" ] || grep -q '^State:.*zombie' "/proc/$daemon/status"; }
ok "and the daemon stops" wait_for 10 gone
kill -KILL "$daemon" 2>/dev/null
wait "$daemon"

# Nobody reads its messages any more; signals that mean nothing to it; SIGHUP.
mkfifo "$scratch/messages"
head -n 1 "$scratch/messages" >/dev/null &
reader=$!
"$DLSPOOL" -s "$spool" run -v 2>"$scratch/messages" &
daemon=$!
job unread
wait "$reader"
job unread-too
ok "without a reader of its messages jobs are done" wait_for 10 in_state unread-too "done"
stop_daemon
is $? 0 "and the daemon stops when it is told to"
start_daemon
ok "a daemon serves" wait_for 10 serving
stages=$(pgrep -P "$daemon")
for signal in HUP USR1 USR2 ALRM VTALRM PROF IO PIPE; do kill -$signal $stages "$daemon"; done
ok "what SIGHUP found is said" wait_for 10 grep -q 'SIGHUP: dlspool.yaml is what is in force' "$scratch/daemon.log"
is "$(pgrep -P "$daemon")" "$stages" "no signal without a meaning has ended a process of it"
stop_daemon
env --default-signal=HUP script -qfc "'$DLSPOOL' -s '$spool' run" /dev/null </dev/null >/dev/null 2>&1 &
terminal=$!
on_terminal() { daemon=$(pgrep -f "^$DLSPOOL -s $spool run\$" | head -n 1) && serving; }
wait_for 10 on_terminal
ok "one is started on a terminal" serving
pid=$(stage_pid intake)
is "$(readlink "/proc/$pid/fd/0")" /dev/null "intake cannot read what is typed there"
is "$(sed -n 's/^flags:.*\(.\)$/\1/p' "/proc/$pid/fdinfo/"{1,2} | xargs)" "1 1" "nor from where messages go, which it only writes to"
kill -KILL "$terminal"
ok "it stops when the terminal is gone" wait_for 10 gone
daemon=

# What systemd is told: that the service is ready, and, as long as all stages make rounds, that it is well.
perl -MIO::Socket::UNIX -e '
    my $socket = IO::Socket::UNIX->new(Type => SOCK_DGRAM, Local => $ARGV[0]) or die;
    $| = 1;
    while (defined $socket->recv(my $message, 4096)) { $message =~ tr/\n/ /; print "$message\n"; }
' "$scratch/notify" >"$scratch/notified" &
listener=$!
ok "somebody listens in place of systemd" wait_for 5 test -S "$scratch/notify"
NOTIFY_SOCKET=$scratch/notify WATCHDOG_USEC=4000000 start_daemon
ok "systemd is told that the daemon serves" wait_for 10 grep -qx 'READY=1 STATUS=serving' "$scratch/notified"
pets() { grep -cx WATCHDOG=1 "$scratch/notified"; }
more_pets() { [ "$(pets)" -gt "$((before + 1))" ]; }
before=$(pets)
ok "and that it is well, again and again" wait_for 10 more_pets
kill -STOP "$(stage_pid track)"
silent() { grep -q 'track has made no progress for' "$scratch/daemon.log"; }
ok "a stage that hangs is told on" wait_for 10 silent
before=$(pets)
sleep 1.5
is "$(pets)" "$before" "and systemd is not told that all is well"
kill -CONT "$(stage_pid track)"
ok "but again when the stage gets on" wait_for 10 more_pets
stop_daemon
ok "systemd is told that the service stops" grep -qx 'STOPPING=1 STATUS=stopping' "$scratch/notified"
kill "$listener"

# All killed at once in the middle of a stream of jobs, again and again: each job is there once in
# the end.  Every other time when claims are there, and when the first of them have become jobs.
family() { echo "$1"; pgrep -P "$1"; }
# comes_up DIRECTORY: wait, for a few seconds, until something is in it.
comes_up() {
    local until=$((SECONDS + 5)) entries
    while [ $SECONDS -lt $until ]; do
        entries=("$spool/$1"/*)
        [ -e "${entries[0]}" ] && return
    done
    false
}
left=0
mkdir "$scratch/stream"
for round in 1 2 3 4 5 6 7 8; do
    for i in $(seq 25); do
        printf 'name: s%d%02d\nlibrary: any\ntype: single\nscript: "#!/bin/sh"\n' "$round" "$i" \
            >"$scratch/stream/s$round-$i.yaml"
    done
    "$DLSPOOL" -s "$spool" run 2>>"$scratch/daemon.log" &
    daemon=$!
    intake_is_there() { stage_pid intake && stage_pid track; }
    wait_for 10 intake_is_there
    processes=$(family "$daemon")
    mv "$scratch/stream"/* "$spool/incoming/"
    if [ $((round % 2)) = 0 ]; then comes_up .claims; else comes_up rendered; fi
    kill -KILL $processes
    wait "$daemon" 2>/dev/null
    left=$((left + $(ls "$spool/.claims" | wc -l)))
done
daemon=
echo "# $left claims were left by the kills"
ok "drained in the end" timeout 300 "$DLSPOOL" -s "$spool" run --drain
is "$(ls "$spool"/done/* | grep -c '^s[0-9]')" 200 "all jobs are done"
is "$(ls "$spool"/done/* | grep '^s[0-9]' | cut -c1-4 | sort -u | wc -l)" 200 "each once"
is "$(ls -A "$spool/.claims")" "" "no claim is left"


# Root's intake as another user: what it is, from outside.
if [ "$(id -u)" = 0 ]; then
    stop_daemon
    chown -R nobody "$spool"
    set_setting .user nobody
    start_daemon
    job as-nobody
    ok "intake as another user serves" wait_for 20 in_state as-nobody "done"
    pid=$(stage_pid intake)
    is "$(stat -c %U "/proc/$pid") $(sed -n 's/^\(NoNewPrivs\|Seccomp\):\t//p' "/proc/$pid/status" | tr '\n' ' ')" "nobody 1 2 " \
        "it is that user, without new privileges, under a filter"
    is "$(capabilities)" "0000000000000000 0000000010000000 0000000010000000 " "with LEASE alone"
fi
done_testing
