#!/usr/bin/env bash
# What fills its output, forks without end, or holds all descriptors is kept within bounds, and others' jobs go on beside it.
. "$(dirname "$0")/lib.bash"
command -v podman >/dev/null || skip_all "podman is not installed"
[ "$(id -u)" = 0 ] || skip_all "root is needed for jobs of two users"
nasty=54711 honest=54712 # users of nobody else
new_spool local || exit 1
set_setting cpus 4
set_setting memory 4Gi
set_setting pids 40
sed -i '/^local:/,/^[a-z]*:$/ s/^  log_limit: .*/  log_limit: 1Mi/' "$spool/dlspool.yaml"
start_daemon
job() { # job NAME USER: standard input is the script
    { printf 'name: %s\nlibrary: any\ntype: single\nretries: 0\ntasks: {main: {cpus: 0.2, memory: 64Mi}}\nscript: |\n' "$1"
      sed 's/^/  /'; } >"$scratch/$1.yaml"
    chown "$2" "$scratch/$1.yaml"
    mv "$scratch/$1.yaml" "$spool/incoming/"
}
log_of() { echo "$(job_dir "$1")/output/main-0.log"; }
size_of() { stat -c %s "$(log_of "$1")" 2>/dev/null || echo 0; }
printed() { grep -q "$2" "$(log_of "$1")"; }
processes() { ps -o pid= -u "$nasty" | wc -l; }

job lines $nasty <<'S'
#!/bin/sh
exec yes what fills the disk
S
job endless $nasty <<'S'
#!/bin/sh
# One line without an end.
exec tr '\0' x </dev/zero
S
job forks $nasty <<'S'
#!/bin/bash
(while :; do sleep 1000 & done) 2>/dev/null
echo may not fork
exec sleep 1000
S
job holds $nasty <<'S'
#!/bin/bash
ulimit -n 2000
for ((i = 300; i < 1300; i++)); do eval "exec $i>&1"; done
echo "holds $(ls /proc/$$/fd | wc -l)"
for i in 1 2 3; do sleep 1000 & done
wait
S
job outlived $nasty <<'S'
#!/bin/bash
# Its children keep what it prints to.
for i in 1 2 3; do setsid sleep 1000 & done
echo left
S
job namespaces $nasty <<'S'
#!/bin/sh
unshare -U id 2>&1
unshare -Ur id 2>&1
/usr/bin/python3 -c 'import threading; t = threading.Thread(target=print, args=("a thread",)); t.start(); t.join()'
echo tried
S
full() { [ "$(size_of "$1")" -ge $((1 << 20)) ]; }
must "one fills its output with lines" wait_for 60 full lines
ok "another with one line" wait_for 60 full endless
ok "a third forks until it may not" wait_for 60 printed forks 'may not fork'
ok "a fourth holds a thousand descriptors" wait_for 60 printed holds 'holds 1[0-9][0-9][0-9]$'

ok "a fifth asks for a user namespace of its own" wait_for 60 printed namespaces tried
is "$(grep -c 'unshare failed: Operation not permitted' "$(log_of namespaces)")" 2 "and gets none, in which it would have all capabilities"
like "$(cat "$(log_of namespaces)")" '^a thread$' "threads and processes are made as elsewhere"

# Beside them, another user's jobs.
for i in 1 2 3; do
    job "honest-$i" $honest <<'S'
#!/bin/bash
(sleep 0.1; echo "forks and prints $(seq 1000 | wc -l)") | cat
S
done
for i in 1 2 3; do
    ok "job $i of another is done meanwhile" wait_for 60 in_state "honest-$i" "done"
    is "$(cat "$(log_of "honest-$i")")" "forks and prints 1000" "and has printed all"
done
for name in lines endless forks holds; do ok "$name goes on" in_state "$name" submitted; done

# Bounds.
limit=$(((1 << 20) + 1024))
for name in lines endless; do
    ok "of $name no more than log_limit is kept" test "$(size_of "$name")" -le $limit
    like "$(tail -c 300 "$(log_of "$name")")" 'the rest of it was cut' "and the rest is said to be cut"
done
conmon() { find "$spool/.podman/root/overlay-containers" -name ctr.log -size +32M | grep -c .; }
emptied() { [ "$(conmon)" = 0 ]; }
ok "what podman keeps of it is emptied" wait_for 30 emptied
ok "no task has more than pids processes" test "$(processes)" -le $((5 * 40))
forked=$(for group in $(find /sys/fs/cgroup -name pids.max -exec grep -lx 40 {} + 2>/dev/null); do cat "$(dirname "$group")/pids.current"; done | sort -n | tail -n 1)
ok "the most in one of them is the limit" test "${forked:-0}" -le 40
ok "what ends with children of its own that print is done" wait_for 60 in_state outlived "done"
is "$(<"$(log_of outlived)")" left "and has printed all"

# They can be ended, and leave nothing.
for name in lines endless forks holds; do dlspool kill "$(basename "$(job_dir "$name")")" >/dev/null; done
for name in lines endless forks holds; do ok "$name is killed" wait_for 60 has_ended "$name"; done
gone() { [ "$(processes)" = 0 ]; }
ok "no process of theirs is left" wait_for 30 gone
unlike "$(<"$scratch/daemon.log")" '(intake|submit|track|resubmit) was ended' "no stage ended over it"
stop_daemon
done_testing
