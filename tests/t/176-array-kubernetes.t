#!/usr/bin/env bash
# Sweeps on a cluster: the stand-in makes so many pods at once, and runs what they run.  A failed index
# ends nothing, and alone is tried again.
. "$(dirname "$0")/lib.bash"
. "$(dirname "$0")/kubernetes.bash"
[ "$(id -u)" = 0 ] || skip_all "only root can run pods' commands"
start_cluster --really-run || give_up "the stand-in starts"
kubernetes_spool || exit 1
at_exit 'stop_daemon; stop_cluster'
shared=$scratch/shared
mkdir -m 1777 "$shared"
set_setting host_paths "[$shared]"
git clone -q "$spool/templates.git" "$scratch/templates" &&
    sed -i "s|^  storage: \[\]|  storage: [{prefix: $shared, hostPath: {path: $shared}}]|" "$scratch/templates/site.yaml" &&
    git -C "$scratch/templates" commit -qam "site: what is shared" && git -C "$scratch/templates" push -q || exit 1
start_daemon
cat <<JOB | drop rates.yaml
name: rates
library: any
type: array
array: {values: {RATE: [0.1, 0.01], SIZE: [a, b, "c d"]}, at_once: 2}
tasks: {main: {cpus: 0.2, memory: 64Mi}}
output: $shared
script: |
  #!/bin/bash
  say() { echo "\$1 \$DLSPOOL_ARRAY_INDEX \$(date +%s%N)" >>"\$DLSPOOL_OUTPUT/events"; }
  say begin
  echo "\$DLSPOOL_ARRAY_INDEX: \$RATE \$SIZE"
  # The first two meet, however busy the machine is.
  case \$DLSPOOL_ARRAY_INDEX in [01]) until [ "\$(grep -c '^begin [01] ' "\$DLSPOOL_OUTPUT/events")" = 2 ]; do sleep 0.1; done ;; esac
  sleep 0.3
  say end
  [ "\$DLSPOOL_ARRAY_INDEX" != 4 ] || [ -e "\$DLSPOOL_OUTPUT/mended" ]
JOB
indexes() { awk '$1 == "begin" {print $2}' "$shared/events" | sort -n | tr '\n' ' '; }
must "a sweep of which one task fails ends in failed/" wait_for 60 has_ended rates
is "$(state_of rates)" failed "not in done/"
is "$(indexes)" "0 1 2 3 4 5 " "each index ran once"
is "$(sort -n -k3 "$shared/events" |
    awk '$1 == "begin" && ++now > most {most = now} $1 == "end" {now--} END {print most}')" 2 "two at once"
is "$(sort "$(job_dir rates)"/output/*.log | tr '\n' ';')" \
    "0: 0.1 a;1: 0.1 b;2: 0.1 c d;3: 0.01 a;4: 0.01 b;5: 0.01 c d;" "each had its values"
like "$(<"$(job_dir rates)/why")" '1 of 6 tasks failed, that of the index 4: task main-4' "why says which"
touch "$shared/mended"
ok "retry" dlspool retry "$(basename "$(job_dir rates)")"
must "tried again it ends in done/" wait_for 60 in_state rates "done"
is "$(indexes)" "0 1 2 3 4 4 5 " "only what failed ran again"
is "$(<"$(job_dir rates)/output/main-0.log")" "4: 0.01 b" "with its index and values"

# Single tasks are killed: one that runs, and one whose pod is made, and ended, when its turn comes.
cat <<JOB | drop some.yaml
name: some
library: any
type: array
array: "0-4%2"
tasks: {main: {cpus: 0.2, memory: 64Mi}}
output: $shared
script: |
  #!/bin/bash
  echo "begin \$DLSPOOL_ARRAY_INDEX" >>"\$DLSPOOL_OUTPUT/some"
  until [ -e "\$DLSPOOL_OUTPUT/go-\$DLSPOOL_ARRAY_INDEX" ]; do sleep 0.05; done
JOB
some_began() { grep -q "^begin $1\$" "$shared/some"; }
must "a task of another sweep runs" wait_for 60 some_began 1
like "$(dlspool kill some/1,3)" '^asked to kill some-[^ ]*/1,3$' "two are to be killed"
ok "another takes the place of the one that ran" wait_for 60 some_began 2
touch "$shared"/go-{0,2,4}
must "when the others have ended it ends in failed/" wait_for 90 in_state some failed
is "$(grep -v 3 "$shared/some" | sort | tr '\n' ' ')" "begin 0 begin 1 begin 2 begin 4 " "the others ran"
like "$(<"$(job_dir some)/why")" \
    '^2 of 5 tasks were killed, those of the indexes 1,3, by [^ ]* at ' "why says so"
done_testing
