#!/usr/bin/env bash
# MPI jobs as pods: the stand-in runs a launcher and its workers for real, each in a network of its own,
# with the Secret of keys that the executor fills.
. "$(dirname "$0")/lib.bash"
. "$(dirname "$0")/kubernetes.bash"
[ "$(id -u)" = 0 ] || skip_all "only root can run pods' commands"
[ -x /usr/sbin/sshd ] && command -v ssh >/dev/null || skip_all "openssh-server or openssh-client is not installed"
command -v mpirun >/dev/null || skip_all "openmpi-bin is not installed"
/usr/bin/python3 -c 'import mpi4py' 2>/dev/null || skip_all "python3-mpi4py is not installed"
start_cluster --really-run || give_up "the stand-in starts"
kubernetes_spool || exit 1
at_exit 'stop_daemon; stop_cluster'
mkdir "$scratch/program"
set_setting host_paths "[$scratch/program]"
git clone -q "$spool/templates.git" "$scratch/templates" || exit 1
sed -i "s|^  storage: \[\]|  storage: [{prefix: $scratch/program, hostPath: {path: $scratch/program}}]|" "$scratch/templates/site.yaml" &&
    git -C "$scratch/templates" add -A && git -C "$scratch/templates" commit -qm "site: the program" &&
    git -C "$scratch/templates" push -q || exit 1
start_daemon
drop_as() { # drop_as USER NAME: as that user, standard input
    cat >"$scratch/drop.tmp" && chown "$1" "$scratch/drop.tmp" && mv "$scratch/drop.tmp" "$spool/incoming/$2"
}
output() { cat "$(job_dir "$1")/output/$2.log"; }
cat >"$scratch/program/train.py" <<'PROGRAM'
import os
import sys

from mpi4py import MPI

world = MPI.COMM_WORLD
line = "rank %d of %d: sum %d, on %s-%s (%s), as %d, %s" % (
    world.Get_rank(), world.Get_size(), world.allreduce(world.Get_rank() + 1),
    os.environ["DLSPOOL_ROLE"], os.environ["DLSPOOL_INDEX"], os.uname().nodename, os.getuid(),
    os.environ["WORDS"])
sys.stdout.write(line + "\n")
PROGRAM

cat <<JOB | drop_as nobody sum.yaml
name: sum
library: any
type: mpi
program: $scratch/program
entry: train.py
env: {WORDS: "\$(HOME) and 'quotes'"}
tasks:
  launcher: {cpus: 0.5, memory: 256Mi}
  worker: {count: 2, cpus: 1, memory: 512Mi}
JOB
must "sum: the job ends well" wait_for 90 in_state sum "done"
for rank in 0 1; do
    like "$(output sum launcher-0)" "rank $rank of 2: sum 3, on worker-$rank \(sum-.*-a1-worker-$rank\), as $(id -u nobody), .\(HOME\) and 'quotes'" \
        "rank $rank ran in the pod of worker $rank, as the user, in its environment"
done
is "$(grep -c 'PRIVATE KEY' "$(job_dir sum)"/{manifest.yaml,job.yaml,log})" "$(printf '%s:0\n' "$(job_dir sum)"/{manifest.yaml,job.yaml,log})" \
    "no key is in the job's files"
is "$(stat -c '%a %g' "$(job_dir sum)/output/launcher-0.log")" "640 $(id -g nobody)" "what it printed is for its owner"
gone() { [ "$(objects pods | grep -c .)" = 0 ] && [ "$(objects secrets | grep -c .)" = 0 ]; }
ok "nothing is left at the server, the keys neither" wait_for 20 gone

cat <<JOB | drop_as daemon own.yaml
name: own
library: any
type: mpi
script: |
  #!/bin/sh
  ssh worker-0 true && echo "by its short name"
  ssh \$(cut -d' ' -f1 /job/hostfile) hostname
  exit 5
tasks:
  launcher: {cpus: 0.5, memory: 256Mi}
  worker: {cpus: 0.5, memory: 256Mi}
JOB
ok "own: the job ends" wait_for 90 in_state own failed
wait_for 5 has_ended own
like "$(<"$(job_dir own)/why")" 'exit code 5' "with the launcher's exit code"
like "$(output own launcher-0)" 'by its short name' "another user's ssh reads the keys as well"
like "$(output own launcher-0)" '^own-.*-a1-worker-0$' "and reaches the worker's pod"

sed 's/^name: own/name: roots/' "$(job_dir own)/request.yaml" | drop_as root roots.yaml
ok "roots: refused" wait_for 20 in_state roots failed
like "$(<"$(job_dir roots)/why")" 'does not run as root in a pod without capabilities; submit the job as another user' \
    "because root's server would not run there"

done_testing
