#!/usr/bin/env bash
# A job of a real Slurm that is given another size: a running job cannot grow there, so its program is told to
# save its state, ends, and goes on in a job of the new size.
. "$(dirname "$0")/lib.bash"
. "$(dirname "$0")/slurm.bash"
ordinary_user
at_exit 'stop_daemon; stop_slurm'
start_slurm
slurm_spool || exit 1
set_setting tick 250ms
set_setting dwell 500ms
set_setting reserve 0
set_setting budget 0
start_daemon
steps() {
    cat <<PYTHON
sh -c 'python3 -u -; exit \$?' <<'P'
import os, signal, sys, time
path = "$scratch/state"
step = int(open(path).read()) if os.path.exists(path) else 0
told = []
signal.signal(signal.SIGUSR1, lambda *_: told.append(1))
print("from", step, "with", os.environ["SLURM_CPUS_ON_NODE"], flush=True)
while step < 40000:
    step += 1
    print(f"step {step}/40000", flush=True)
    time.sleep(0.05)
    if os.path.exists("$scratch/enough") and step > 3:
        print("done at", step)
        sys.exit(0)
    if told:
        open(path, "w").write(str(step))
        print("saved", step)
        sys.exit(3)
P
PYTHON
}
printed() { grep -q "$2" "$(job_dir "$1")/output/main-0.log"; }
# A step takes a twentieth of a second: with one processor that would be 33 minutes.
job grows "$(steps)" 'tasks: {main: {cpus: 1, memory: 16Mi}}' 'size: {min: 1, max: 2}' 'deadline: +30m' \
    'units: {total: 40000, pattern: "step {done}/{total}"}' 'checkpoint: {signal: USR1, grace: 30s}'
must "a job runs" wait_for 30 printed grows '^from 0 with 1$'
again() { in_state grows submitted && [ -e "$(job_dir grows)/output-1/main-0.log" ]; }
ok "when it shows that it will be late, it is handed in again" wait_for 40 again
like "$(<"$(job_dir grows)/output-1/main-0.log")" '^saved [0-9]+$' "its program was told, and saved its state"
is "$(cat "$(job_dir grows)/output-1/main-0.log" | grep -c saved)" 1 "once"
like "$(log_of grows)" ' failed .*reason=Resized' "the log says why it ended"
saved=$(sed -n 's/^saved //p' "$(job_dir grows)/output-1/main-0.log")
ok "it goes on from there, with two processors" wait_for 30 printed grows "^from $saved with 2\$"
touch "$scratch/enough"
ok "to its end" wait_for 30 in_state grows "done"
is "$(record grows | sed -n 's/^attempt: //p') $(squeue -h -t all -n "$(basename "$(job_dir grows)")-a1,$(basename "$(job_dir grows)")-a2" -o '%C %T' -S i | tr '\n' ' ')" "2 1 FAILED 2 COMPLETED " \
    "there were two jobs at Slurm, of both sizes"

done_testing
