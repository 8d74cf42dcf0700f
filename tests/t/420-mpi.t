#!/usr/bin/env bash
# MPI jobs in real containers: a launcher that starts ranks on its workers by ssh, with keys that are made
# for the job alone.
. "$(dirname "$0")/lib.bash"
command -v podman >/dev/null || skip_all "podman is not installed"
[ "$(id -u)" = 0 ] || skip_all "only root can run containers as other users"
[ -x /usr/sbin/sshd ] && command -v ssh >/dev/null || skip_all "openssh-server or openssh-client is not installed"
command -v mpirun >/dev/null || skip_all "openmpi-bin is not installed"
/usr/bin/python3 -c 'import mpi4py' 2>/dev/null || skip_all "python3-mpi4py is not installed"
new_spool local || exit 1
set_setting cpus 8 # what they take together is less than they ask for
start_daemon
containers() {
    CONTAINERS_STORAGE_CONF=$spool/.podman/storage.conf CONTAINERS_CONF=$spool/.podman/containers.conf \
        podman "$@" 2>/dev/null
}
drop_as() { # drop_as USER NAME: as that user, standard input
    cat >"$scratch/drop.tmp" && chown "$1" "$scratch/drop.tmp" && mv "$scratch/drop.tmp" "$spool/incoming/$2"
}
output() { cat "$(job_dir "$1")/output/$2.log"; }
mkdir "$scratch/program"
cat >"$scratch/program/train.py" <<'PROGRAM'
import os
import sys
import time

import numpy
from mpi4py import MPI

world = MPI.COMM_WORLD
total = numpy.zeros(1000)
world.Allreduce(numpy.full(1000, world.Get_rank() + 1.0), total)
line = "rank %d of %d: sum %d, on %s-%s, as %d, in %s, %s" % (
    world.Get_rank(), world.Get_size(), total[-1], os.environ["DLSPOOL_ROLE"],
    os.environ["DLSPOOL_INDEX"], os.getuid(), os.getcwd(), os.environ.get("WORDS", "").encode().hex())
sys.stdout.write(line + "\n")
sys.stdout.flush()
if len(sys.argv) > 1:
    world.Barrier()
    time.sleep(float(sys.argv[1]))
PROGRAM

# ---- a job that ends well ----

cat <<JOB | drop_as nobody sum.yaml
name: sum
library: any
type: mpi
program: $scratch/program
entry: train.py
env: {WORDS: "two  words, 'a'\n\"second\" \$HOME \`line\` \\\\"}
tasks:
  launcher: {cpus: 0.5, memory: 256Mi}
  worker: {count: 2, cpus: 2, memory: 512Mi}
JOB
must "sum: the job ends well" wait_for 60 in_state sum "done"
for rank in 0 1 2 3; do
    like "$(output sum launcher-0)" "rank $rank of 4: sum 10, on worker-$((rank / 2)), as $(id -u nobody), in /job/program" \
        "rank $rank ran on worker $((rank / 2)), as the user, and had the others' numbers"
done
words=$(printf '%s\n%s' "two  words, 'a'" '"second" $HOME `line` \' | od -An -tx1 | tr -d ' \n')
is "$(output sum launcher-0 | grep -c " $words\$")" 4 "a variable of two lines reached all of them as it is"
is "$(ls "$spool/.podman/jobs")" "" "nothing of it is left, its keys neither"
is "$(stat -c '%a %g' "$(job_dir sum)/output/launcher-0.log")" "640 $(id -g nobody)" "what it printed is for its owner"
as() { setpriv --reuid "$1" --regid "$(id -g "$1")" --clear-groups "$DLSPOOL" -s "$spool" logs sum launcher-0 2>&1; }
is "$(as nobody | grep -c 'rank')" 4 "who can read it"
is "$(as daemon)" "dlspool logs: the output of $(basename "$(job_dir sum)") may be read by its owner and the owner's primary group only; ask its owner" \
    "and others cannot"

# ---- a launcher of the user's own, and workers that are prepared ----

cat <<JOB | drop_as nobody own.yaml
name: own
library: any
type: mpi
script: |
  #!/bin/sh
  cat /job/hostfile
  ssh worker-1 cat /tmp/prepared
  mpirun -N 1 sh -c 'echo "a rank on \$(hostname)"'
  # Another key opens nothing, and neither does none.
  ssh-keygen -q -t ed25519 -N '' -f /tmp/other
  for key in /tmp/other /job/ssh/id; do
      ssh -F /dev/null -p \$((DLSPOOL_PORT + DLSPOOL_RANK + 1)) -i "\$key" -o IdentitiesOnly=yes -o BatchMode=yes \\
          -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null 127.0.0.1 echo "let in with \$key"
  done
  ssh -o PreferredAuthentications=none,password,keyboard-interactive worker-0 echo "let in with nothing"
  # Nor is a host believed that has another key than the job's.
  printf '* %s\n' "\$(cut -d' ' -f1,2 /tmp/other.pub)" >/tmp/hosts
  ssh -o UserKnownHostsFile=/tmp/hosts worker-0 echo "believed another key"
  exit 3
tasks:
  launcher: {cpus: 0.5, memory: 256Mi}
  worker: {count: 2, cpus: 0.5, memory: 256Mi, command: [sh, -c, "echo ready \$DLSPOOL_INDEX | tee /tmp/prepared"]}
JOB
ok "own: the job ends" wait_for 60 in_state own failed
wait_for 5 has_ended own
like "$(<"$(job_dir own)/why")" 'task launcher-0 ended with exit code 3' "with the launcher's exit code"
like "$(output own worker-0)" '^ready 0$' "a worker's own command ran first"
like "$(output own launcher-0)" '^ready 1$' "and what it made is there for what ssh starts"
like "$(output own launcher-0)" '^worker-1 slots=1$' "the hosts are in /job/hostfile"
like "$(output own launcher-0)" 'a rank on worker-0' "mpirun on the user's own terms: on worker 0"
like "$(output own launcher-0)" 'a rank on worker-1' "and on worker 1"
like "$(output own launcher-0)" 'let in with /job/ssh/id' "the job's key opens"
unlike "$(output own launcher-0)" 'let in with /tmp/other' "another key does not"
unlike "$(output own launcher-0)" 'let in with nothing' "nor does none"
unlike "$(output own launcher-0)" 'believed another' "a server with another key than the job's is no host of it"

# ---- keys, and a kill ----

cat <<JOB | drop_as nobody endless.yaml
name: endless
library: any
type: mpi
program: $scratch/program
entry: train.py
args: ["600"]
tasks:
  launcher: {cpus: 0.5, memory: 256Mi}
  worker: {count: 2, cpus: 0.5, memory: 256Mi}
JOB
runs() { grep -q 'rank 1 of 2' "$(job_dir endless)/output/launcher-0.log"; }
ok "endless: its ranks run" wait_for 60 runs
id=$(basename "$(job_dir endless)")
key=$spool/.podman/jobs/$id-a1/ssh/id
is "$(stat -c '%a %U' "$key")" "400 nobody" "the private key is its user's"
for user in nobody daemon; do
    is "$(setpriv --reuid "$user" --regid "$(id -g "$user")" --clear-groups cat "$key" 2>/dev/null)" "" \
        "and $user cannot read it on this machine"
done
middle=$(sed -n 3p "$key")
is "${#middle}" 70 "a part of the key to look for"
is "$(find "$spool" "$scratch/daemon.log" -xdev -type f -print0 | xargs -0 grep -lF -e "$middle")" "$key" \
    "it is in no other file of the spool or the log"
for name in $(containers ps -a --format '{{.Names}}'); do containers inspect "$name"; done >"$scratch/inspected"
like "$(<"$scratch/inspected")" '"/job/ssh"' "podman says that it is mounted"
unlike "$(<"$scratch/inspected")" "PRIVATE|$middle|ssh-ed25519" "and nothing of what it is"
ok "kill" dlspool kill endless
gone() { [ -z "$(containers ps -aq)" ]; }
ok "all containers are gone" wait_for 30 gone
ok "and so is the key" wait_for 10 test ! -e "$key"
ok "the job is in failed/" wait_for 10 in_state endless failed

# ---- workers alone, and workers that never answer ----

cat <<JOB | drop_as nobody workers.yaml
name: workers
library: any
type: mpi
program: $scratch/program
entry: train.py
tasks:
  worker: {count: 2, cpus: 0.5, memory: 256Mi}
JOB
ok "workers: without a launcher the first task is one" wait_for 60 in_state workers "done"
like "$(output workers worker-0)" 'rank 1 of 2: sum 3, on worker-1' "and the other gets its rank"

git clone -q "$spool/templates.git" "$scratch/templates" &&
    sed -i 's/^mpi_wait: .*/mpi_wait: 2/' "$scratch/templates/site.yaml" &&
    git -C "$scratch/templates" commit -qam "site: little patience" && git -C "$scratch/templates" push -q 2>/dev/null
cat <<JOB | drop_as nobody silent.yaml
name: silent
library: any
type: mpi
script: echo launched
retries: 0
tasks:
  launcher: {cpus: 0.5, memory: 256Mi}
  worker: {cpus: 0.5, memory: 256Mi, command: [sleep, "600"]}
JOB
ok "silent: a launcher does not wait for ever" wait_for 60 in_state silent failed
wait_for 5 has_ended silent
like "$(<"$(job_dir silent)/why")" 'launcher-0 ended with exit code 193' "it asks to be tried again"
like "$(output silent launcher-0)" 'dlspool: no answer from worker-0 after 2 seconds: .*refused' "and says who did not answer"
unlike "$(output silent launcher-0)" '^launched$' "nothing was launched"
ok "and is killed" dlspool kill silent

done_testing
