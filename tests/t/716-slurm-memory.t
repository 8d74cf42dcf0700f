#!/usr/bin/env bash
# Programs that use more memory than their job has, on a real Slurm: by Slurm's own measuring (OverMemoryKill), and
# by control groups where this machine lets them be made.  Both are told from a program that was killed by others.
[ "$(id -u)" != 0 ] || [ -n "$DLSPOOL_TEST_MOUNTS" ] || exec env DLSPOOL_TEST_MOUNTS=own unshare -m bash "$0" "$@"
. "$(dirname "$0")/lib.bash"
. "$(dirname "$0")/slurm.bash"
[ "$(id -u)" = 0 ] || skip_all "only root can run jobs as other users, and make control groups"
at_exit 'stop_daemon; stop_slurm'

# check HOW: jobs that take too much, alone, of several tasks and in an array, and one that is killed.
greedy='python3 -c "
import time
taken = bytearray(400 << 20)
taken[::4096] = b\"x\" * len(taken[::4096])
time.sleep(60)"'
check() {
    local how=$1 name
    job "alone-$how" "$greedy" 'tasks: {main: {memory: 64Mi}}'
    type=array job "array-$how" "[ \$DLSPOOL_ARRAY_INDEX = 7 ] || exit 0; $greedy" 'tasks: {main: {memory: 64Mi}}' 'array: 5,7'
    type=distributed job "several-$how" "[ \$DLSPOOL_RANK = 1 ] || exec sleep 60; $greedy" 'tasks: {worker: {count: 2, memory: 64Mi}}'
    job "shot-$how" 'kill -KILL $$'
    for name in alone array several shot; do
        ok "$how: $name fails" wait_for 60 has_ended "$name-$how"
    done
    for name in alone array several; do
        like "$(record "$name-$how")" 'reason: "OOMKilled"' "$how: $name: it took too much memory"
        like "$(why "$name-$how")" 'raise `memory`' "$how: $name: what to do"
        unlike "$(cat "$(job_dir "$name-$how")/log")" 'retry=at' "$how: $name: and it is not retried"
    done
    like "$(why "array-$how")" 'needed more memory than it had asked for' "$how: why tells of the element"
    unlike "$(record "shot-$how")" 'OOMKilled' "$how: one that was killed by others did not"
}
# start LINE...: a cluster with these lines in slurm.conf, whose jobs are of who dropped them, and a daemon.
export dropper=games options=
start() {
    local line lines=()
    for line; do lines+=(--line "$line"); done
    start_slurm --users --jwt $options "${lines[@]}"
    set_setting address "http://$(<"$slurm/address")"
    cluster token games 600 >"$tokens/games.new" && chmod 600 "$tokens/games.new" && mv "$tokens/games.new" "$tokens/games"
    start_daemon
}
stop() {
    stop_daemon
    stop_slurm
    rm -rf "$slurm"
}
new_spool slurm || exit 1
tokens=$scratch/tokens
mkdir -m 700 "$tokens"
set_setting token_directory "$tokens" retry_first 500ms retry_longest 2s

start JobAcctGatherType=jobacct_gather/linux JobAcctGatherParams=OverMemoryKill JobAcctGatherFrequency=task=1
check measured
stop

# Slurm makes its control groups below those that this machine has.
if grep -q '^cgroup /sys/fs/cgroup/memory ' /proc/mounts && mkdir "/sys/fs/cgroup/memory/dlspool-$$" 2>/dev/null; then
    rmdir "/sys/fs/cgroup/memory/dlspool-$$"
    options=--cgroups
    start
    check grouped
    stop
else
    pass "control groups # SKIP no memory controller of cgroup v1 may be used here"
fi
done_testing
