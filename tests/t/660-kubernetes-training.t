#!/usr/bin/env bash
# Real training programs as pods: the stand-in runs each pod's command for real, with the user's id, in
# a root directory and a network of its own, and its peers under the names that the Service gives.
# scikit-learn on the digits, PyTorch's DistributedDataParallel over gloo, and one role that serves
# others until they are done; torchrun that loses an agent and takes it back; and a HOME that keeps.
[ "$(id -u)" != 0 ] || [ -n "$DLSPOOL_TEST_MOUNTS" ] || exec env DLSPOOL_TEST_MOUNTS=own unshare -m bash "$0" "$@"
. "$(dirname "$0")/lib.bash"
. "$(dirname "$0")/kubernetes.bash"
[ "$(id -u)" = 0 ] || skip_all "only root can run pods' commands"
/usr/bin/python3 -c 'import sklearn' 2>/dev/null || skip_all "python3-sklearn is not installed"
/usr/bin/python3 -c 'import torch' 2>/dev/null || skip_all "python3-torch is not installed"
start_cluster --really-run || give_up "the stand-in starts"
kubernetes_spool || exit 1
at_exit 'stop_daemon; stop_cluster'
mkdir -p "$scratch/homes/ann"
chown 54399:54399 "$scratch/homes/ann" && chmod 755 "$scratch" || exit 1
{ cat /etc/passwd; echo "pod-ann:x:54399:54399::/home/ann:/bin/sh"; } >"$scratch/passwd"
mount --bind "$scratch/passwd" /etc/passwd || exit 1
set_setting host_paths "[$top/examples, $scratch/homes]"
git clone -q "$spool/templates.git" "$scratch/templates" &&
    sed -i "s|^  storage: \[\]|  storage: [{prefix: $top/examples, hostPath: {path: $top/examples}}, {prefix: /home, hostPath: {path: $scratch/homes}}]|" "$scratch/templates/site.yaml" &&
    git -C "$scratch/templates" commit -qam "site: the examples" && git -C "$scratch/templates" push -q || exit 1
start_daemon
example() { sed "s|^program: \.|program: $top/examples/$1|; $2" "$top/examples/$1/job.yaml"; }
output() { cat "$(job_dir "$1")/output/$2.log"; }
why() { cat "$(job_dir "$1")/why"; }
drop_as() { # drop_as USER NAME: as that user, standard input
    cat >"$scratch/drop.tmp" && chown "$1" "$scratch/drop.tmp" && mv "$scratch/drop.tmp" "$spool/incoming/$2"
}

# Whose process it is, and what it may do
cat <<'JOB' | drop_as nobody whoami.yaml
name: whoami
library: any
type: single
env: {WORDS: "$(HOME) and $$ and 'quotes'"}
script: |
  #!/bin/sh
  id -u
  grep -E 'NoNewPrivs|CapEff' /proc/self/status
  printf '%s\n' "$WORDS"
  pwd
JOB
must "a script runs" wait_for 60 in_state whoami "done"
like "$(output whoami main-0)" "^$(id -u nobody)\$" "as the user who dropped it"
like "$(output whoami main-0)" 'CapEff:.0000000000000000' "without capabilities"
like "$(output whoami main-0)" "^\\\$\(HOME\) and \\\$\\\$ and 'quotes'\$" "and what a user writes arrives as it is"

unlike "$(output whoami main-0)" "^/home" "and who has no home there"
like "$("$DLSPOOL" -s "$spool" show whoami)" "HOME.*is /tmp on this cluster, and gone when the job ends" "is told that HOME does not keep"
cat <<'JOB' | drop_as 54399 first.yaml
name: first
library: any
type: single
script: |
  #!/bin/sh
  echo "HOME is $HOME, and this is $(pwd)"
  mkdir -p ~/.cache && echo found >~/.cache/data
JOB
cat <<'JOB' | drop_as 54399 second.yaml
name: second
after: first
script: |
  #!/bin/sh
  cat ~/.cache/data
JOB
ok "a job of who has a home there" wait_for 60 in_state second "done"
like "$(output first main-0)" "^HOME is /home/ann, and this is /home/ann\$" "starts in it"
like "$(output second main-0)" "^found\$" "and the next one finds what it has written to HOME"
is "$(stat -c %u "$scratch/homes/ann/.cache/data")" 54399 "which is the owner's"
unlike "$("$DLSPOOL" -s "$spool" show first)" "HOME" "of which nothing is to be told"

# The agent of rank 1 is killed with its program.  Its Job makes another pod for it, and the other agent, which
# waits half a minute, takes it back.
order '{"order": "set", "name": "job_backoff", "value": 5}' >/dev/null
mkdir -m 777 "$scratch/homes/elastic"
cat >"$scratch/homes/elastic/elastic.py" <<'PROGRAM'
import os, signal, torch, torch.distributed as dist
dist.init_process_group("gloo")
total, killed = torch.ones(1), "/job/output/killed"
dist.all_reduce(total)
if os.environ["DLSPOOL_INDEX"] == "1" and not os.path.exists(killed):
    open(killed, "w").close()
    os.kill(os.getppid(), signal.SIGKILL)
    os.kill(os.getpid(), signal.SIGKILL)
dist.all_reduce(total)      # fails while the other is gone
print(f"finished with {dist.get_world_size()}")
PROGRAM
cat <<'JOB' | drop elastic.yaml
name: elastic
library: pytorch
type: elastic
program: /home/elastic
output: /home/elastic
env: {PET_REDIRECTS: "1", PET_TEE: "1", OMP_NUM_THREADS: "1"}
tasks:
  worker:
    count: 2
    cpus: 1
    memory: 1Gi
    command: [python3, -m, torch.distributed.run, /job/program/elastic.py]
JOB

example digits '' | drop digits.yaml
ok "digits: trained" wait_for 120 in_state digits "done"
like "$(output digits main-0)" 'accuracy.*0\.9' "and the accuracy is in output/"

# An entry that is not there
example digits 's|^name: .*|name: misnamed|; s|train.py|trian.py|; 1a retries: 2' | drop misnamed.yaml
example ddp 's|^name: .*|name: misnamed-ddp|; s|train.py|trian.py|; 1a retries: 2' | drop misnamed-ddp.yaml
for name in misnamed misnamed-ddp; do
    ok "$name fails" wait_for 60 has_ended $name
    like "$(why $name)" '^Next: not retried' "and is not retried"
done
like "$(why misnamed)" 'The entry point /job/program/trian.py does not exist: check `program` and `entry`' "Python says that the entry is missing"
like "$(why misnamed-ddp)" '^Nothing was started: entry: /job/program/trian.py: No such file or directory' "of several tasks the shell that starts them"
like "$(why misnamed-ddp)" 'Nothing was started: correct `entry` in the job file' "says so before it starts any"

example ddp '' | drop ddp.yaml
ok "ddp: trained" wait_for 240 in_state ddp "done"
for worker in 0 1; do
    like "$(output ddp worker-$worker)" 'loss' "worker $worker printed its losses"
    like "$(output ddp worker-$worker)" "rank $worker" "and its rank"
done

cat <<'JOB' | drop servers.yaml
name: servers
library: any
type: distributed
tasks:
  server:
    command: [python3, -m, http.server, "18080", --directory, /etc]
  worker:
    count: 2
    command: [python3, -c, "import os, time, urllib.request as r\nfor i in range(100):\n  try:\n    print('rank', os.environ['DLSPOOL_RANK'], len(r.urlopen('http://' + os.environ['DLSPOOL_PEERS'].split(',')[0].split(':')[0] + ':18080/hosts').read()) > 0)\n    break\n  except OSError:\n    time.sleep(0.1)\nelse:\n  raise SystemExit(1)\n"]
complete: {worker: {succeeded: 2}}
JOB
ok "a job is done when its workers are" wait_for 60 in_state servers "done"
like "$(output servers worker-0)" 'rank 1 True' "worker 0 reached the server by its name"
like "$(output servers worker-1)" 'rank 2 True' "and so did worker 1, whose rank is 2"
ok "torchrun, elastic: one of two is lost, and the job is done" wait_for 120 in_state elastic "done"
like "$(<"$(job_dir elastic)/log")" ' lost attempt=1 task=worker-1 exit_code=137 ' "the log told of it when it was"
like "$(<"$(job_dir elastic)/log")" ' returned attempt=1 task=worker-1$' "and that it was started again"
for worker in 0 1; do like "$(output elastic worker-$worker)" 'finished with 2$' "worker $worker ended with both"; done
like "$(output elastic worker-1)" '^.dlspool: the task was started again, as pod elastic-' "the output says so, too"
gone() { [ "$(objects pods | grep -c .)" = 0 ]; }
ok "nothing is left at the server" wait_for 20 gone
like "$(<"$(job_dir servers)/output/server-0.log")" 'GET /hosts' "the server's output was kept"

done_testing
