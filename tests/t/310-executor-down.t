#!/usr/bin/env bash
# An executor that does not answer: jobs wait where they are, one is killed nevertheless, wrong
# settings of the executor are said before anything starts.
. "$(dirname "$0")/lib.bash"
new_spool local || exit 1
set_setting local.socket "$scratch/nobody-listens.sock"
set_setting probe_interval 100ms
start_daemon
job() { printf 'name: %s\nlibrary: any\ntype: single\nscript: "#!/bin/sh"\n' "$1" | drop "$1.yaml"; }

for name in one two three; do job $name; done
for name in one two three; do ok "$name is rendered" wait_for 20 in_state $name rendered; done
ok "the log says what is wrong" wait_for 20 grep -q 'nobody-listens.sock' "$scratch/daemon.log"
ok "kill" dlspool kill one
ok "a job that waits is killed without the executor" wait_for 20 in_state one failed
like "$(<"$(job_dir one)/why")" "killed by $(id -un)" "why says who killed it"
in_state two rendered
is $? 0 "the others wait on"
sleep 3                         # thirty probes
probes=$(grep -c 'nobody-listens.sock' "$scratch/daemon.log")
is "$((probes <= 8))" 1 "the log is not filled: $probes lines"
stop_daemon

sed -i 's/^  in_flight: .*/  in_flight: several/' "$spool/dlspool.yaml"
output=$(dlspool run --drain 2>&1)
is $? 1 "run with wrong settings of the executor ends with status 1"
like "$output" 'dlspool.yaml:[0-9]+.*in_flight.*several' "and says where and what"

done_testing
