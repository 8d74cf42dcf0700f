#!/usr/bin/env bash
# The local executor, with real containers: success and failure, limits, room, kill, and that
# nothing stays behind.
. "$(dirname "$0")/lib.bash"
command -v podman >/dev/null || skip_all "podman is not installed"
new_spool local || exit 1
set_setting cpus 2
set_setting memory 4Gi
start_daemon
podman_storage=$spool/.podman
containers() {
    CONTAINERS_STORAGE_CONF=$podman_storage/storage.conf CONTAINERS_CONF=$podman_storage/containers.conf \
        podman ps -a --format '{{.Names}}' 2>/dev/null
}
why() { cat "$(job_dir "$1")/why"; }
job() { # job NAME CPUS [LINE...]: standard input is the script
    local name=$1 cpus=$2
    shift 2
    { printf 'name: %s\nlibrary: any\ntype: single\ntasks: {main: {cpus: %s, memory: 64Mi}}\n' "$name" "$cpus"
      for line; do printf '%s\n' "$line"; done
      echo 'script: |'; sed 's/^/  /'; } | drop "$name.yaml"
}

job hello 0.5 'env: {GREETING: "it''s ${x} $(y) \"z\""}' <<'S'
#!/bin/sh
echo "hello from $DLSPOOL_JOB_ID, $GREETING"
id -u
S
must "a job ends in done/" wait_for 60 in_state hello "done"
log=$(<"$(job_dir hello)/output/main-0.log")
like "$log" "hello from $(basename "$(job_dir hello)"), its \\\$\{x\} \\\$\(y\) \"z\"" "its output is beside it"
is "$(dlspool logs hello)" "$log" "logs prints that file"

job three 0.5 'env: {HUB_TOKEN: 0a1b2c3d4e}' <<'S'
#!/bin/sh
echo "going to fail with $HUB_TOKEN"
exit 3
S
ok "a program that exits 3 ends in failed/" wait_for 60 has_ended three
like "$(why three)" 'main-0.* exited with 3|exit(ed)?.*3' "why says which task and which status"
ok "its output is kept" grep -q 'going to fail' "$(job_dir three)/output/main-0.log"
is "$(why three | sed -n '3,5p')" "The last lines that main-0 printed:
    going to fail with ******
All of it: dlspool logs $(basename "$(job_dir three)")" "why has its last lines without its secrets, and how to get all"
like "$(why three)" "^Next: not retried. To run it again: dlspool retry $(basename "$(job_dir three)")$" "and what to type"
is "$(stat -c %a "$(job_dir three)/why")" "$(stat -c %a "$(job_dir three)/output/main-0.log")" "who may read the output may read it"
if [ "$(id -u)" = 0 ]; then
    somebody() { setpriv --reuid nobody --regid nogroup --clear-groups "$@"; }
    chmod 755 "$scratch" "$spool"
    is "$(somebody cat "$(job_dir three)/why" 2>&1 | grep -c going)" 0 "others may not"
    like "$(somebody "$DLSPOOL" -s "$spool" list)" 'three-.*task main-0 ended with exit code 3' "list gives them the sentence"
    unlike "$(somebody "$DLSPOOL" -s "$spool" show "$(basename "$(job_dir three)")")" 'going to fail' "show no more"
fi
like "$(<"$(job_dir three)/job.yaml")" 'exit_code: 3' "job.yaml has the status"

job retried 0.5 'retries: 1' <<'S'
#!/bin/sh
echo "a line that is the same in each attempt"
echo "attempt at $(date +%s%N)"
/usr/bin/python3 -c 'import time
while time.process_time() < 0.1: pass'
exit 3
S
sed -i 's/^retry_first: .*/retry_first: 1s/' "$spool/dlspool.yaml"
ok "with retries: 1 it is tried twice" wait_for 90 sh -c "grep -q ' intent attempt=2' $spool/*/retried-*/log"
ok "and then stays" wait_for 60 sh -c "grep -q '^  retry: .never' $spool/failed/retried-*/job.yaml"
is "$(cat "$(job_dir retried)"/output{-1,}/main-0.log | grep -c 'the same in each')" 2 \
    "the output of each attempt is kept"

job huge 1000 <<'S'
#!/bin/sh
S
ok "1000 processors end in failed/" wait_for 60 has_ended huge
like "$(why huge)" '1000' "why says what was asked for"
like "$(why huge)" ' of 2$' "and what there is"
like "$(why huge)" '^Next: change the job file and submit it again' "and what to do"

job missing 0.5 'units: {total: 9, pattern: "step {done}"}' <<'S'
#!/no/such/interpreter
S
ok "a program that cannot be started ends in failed/" wait_for 60 has_ended missing
like "$(why missing)" 'could not start its command /job/script \(its first line is #!/no/such/interpreter\): No such file' \
    "why names the command and its interpreter"
unlike "$(<"$scratch/daemon.log")" 'track was ended' "that it counts units, and never ran, does no harm"

# What its owner has to mend is looked at before anything is started.
mkdir "$scratch/program" && chmod 755 "$scratch/program"
echo 'print("as meant")' >"$scratch/program/train.py"
chmod 755 "$scratch"
printf 'name: misspelt\nlibrary: any\ntype: single\nprogram: %s\nentry: trian.py\n' "$scratch/program" |
    drop misspelt.yaml
ok "a misspelt entry ends in failed/" wait_for 60 has_ended misspelt
like "$(why misspelt)" '^entry: .*/trian.py: No such file.*did you mean train.py\?' "why says which was meant"
like "$(why misspelt)" "^Next: not retried. .*dlspool retry $(basename "$(job_dir misspelt)")" "and what to type"
is "$(grep -c ' started ' "$(job_dir misspelt)/log")" 0 "and nothing was started"
mv "$scratch/program/train.py" "$scratch/program/trian.py"
command=$(why misspelt | sed -n 's/.*then run: //p')
like "$command" '^dlspool retry misspelt-[0-9a-z]*$' "the command stands at the end of the line"
ok "it is typed" eval "$command"
ok "and it is done" wait_for 60 in_state misspelt "done"

# More than is free just now: it waits until there is room.
job holder 1.5 <<'S'
#!/bin/sh
exec sleep 1000
S
started() { grep -q ' started ' "$(job_dir "$1")/log"; }
ok "a job takes most of the machine" wait_for 60 started holder
job waiter 1 <<'S'
#!/bin/sh
echo my turn
S
has_why() { [ -e "$spool/rendered/$(basename "$(job_dir "$1")")/why" ]; }
ok "one that does not fit beside it waits in rendered/" wait_for 60 has_why waiter
like "$(why waiter)" '^Waiting for resources: needs 1 CPU, 0.5 of 2 free.$' "why says what is free"
like "$(why waiter)" '^Next: the job starts automatically' "and what happens next"
like "$(dlspool list)" 'waiter-.*Waiting for resources: needs 1 CPU, 0.5 of 2 free' "and so does list"
ok "kill" dlspool kill holder
gone() { ! containers | grep -q '^holder-'; }
ok "its container is gone" wait_for 30 gone
ok "it ends in failed/" wait_for 20 has_ended holder
like "$(why holder)" "killed by $(id -un)" "why says who killed it"
ok "the waiting job goes through" wait_for 60 in_state waiter "done"
is "$(grep -c ' failed \| requeued ' "$(job_dir waiter)/log")" 0 "and has not failed meanwhile"
is "$(ls "$(job_dir waiter)" | grep -c '^why$')" 0 "its why is gone"

# The first that does not fit keeps its place: a stream of small jobs does not pass it.
for name in early1 early2; do
    job $name 1 <<'S'
#!/bin/sh
exec sleep 1000
S
done
for name in early1 early2; do ok "$name runs" wait_for 60 started $name; done
job big 2 'priority: 10' <<'S'
#!/bin/sh
echo large
S
ok "a job for the whole machine waits" wait_for 20 has_why big
for i in 1 2 3; do
    job small$i 1 <<'S'
#!/bin/sh
echo small
S
    ok "small$i comes after it" wait_for 20 in_state small$i rendered
done
dlspool kill early1
ok "one of those ends that ran when it came" wait_for 20 has_ended early1
ok "its why follows" wait_for 20 grep -q '^Waiting for resources: needs 2 CPUs, 1 of 2 free\.$' "$spool"/rendered/big-*/why
is "$(ls "$spool/submitted" | cut -d- -f1)" early2 "and nobody passes it"
dlspool kill early2
for name in big small1 small2 small3; do ok "$name ends" wait_for 60 in_state $name "done"; done
is "$(for name in big small1 small2 small3; do echo "$(sed -n 's/ submitted .*//p' "$(job_dir $name)/log") $name"; done |
    LC_ALL=C sort | head -n 1 | cut -d' ' -f2)" big "it started before all of them"

job limited 0.5 'time_limit: 2s' <<'S'
#!/bin/sh
exec sleep 1000
S
ok "a time limit ends a job" wait_for 60 has_ended limited
like "$(why limited)" 'limit' "why says so"
like "$(grep ' limited-' "$scratch/daemon.log" | grep state=)" \
    'track\]: limited-[a-z0-9]*: owner=.* state=failed reason=TimeLimit class=.* retry=.* elapsed=[1-9][.][0-9]s attempt=1 \(.*time limit' \
    "and one line of the service's log"

# What they used is in the accounts, by the control groups of their containers.
acct() { dlspool acct --parsable2 --noheader --format "$2" "$(basename "$(job_dir "$1")")"; }
is "$(acct retried State,ExitCode,Attempt | xargs)" "FAILED|3:0|1 FAILED|3:0|2" "each attempt has a line"
tenth='00:0([1-9][.][0-9]{3}|0[.][1-9][0-9]{2})' # of a second, at least
like "$(acct retried TotalCPU | xargs)" "^$tenth $tenth\$" "also what each used after the last look at it"
like "$(acct holder State,NCPUS,AllocTRES,NodeList,TotalCPU,MaxRSS)" \
    "^CANCELLED[|]2[|]cpu=2,mem=64M,node=1[|]$(hostname)[|]00:[0-9:.]*[1-9][0-9:.]*[|][1-9][0-9]*K$" "with processor time and memory"
is "$(dlspool acct --json "$(basename "$(job_dir holder)")" | jq -c '.[0] | (.cpu_held_seconds / .elapsed_seconds * 10 | round), .met')" \
    "$(printf '15\nnull')" "and what it held, for as long as it ran"
like "$(acct limited State,Timelimit,ElapsedRaw)" '^TIMEOUT[|]00:00:02[|][1-9]' "a time limit is told"
rm -r "$(job_dir hello)"
is "$(dlspool acct --parsable2 --noheader --format State hello)" COMPLETED "a job that was removed has its line"

# Out of memory is told from other deaths.
cat <<'JOB' | drop hungry.yaml
name: hungry
library: any
type: single
tasks: {main: {cpus: 0.5, memory: 64Mi}}
script: |
  #!/usr/bin/python3
  x = bytearray(1 << 30)
JOB
ok "a job that needs too much memory fails" wait_for 60 has_ended hungry
like "$(why hungry)" 'memory' "why says that it was the memory"
if [ "$(id -u)" = 0 ]; then # whose containers have a group around them, which tells it when they have ended
    like "$(acct hungry MaxRSS)" '^[3-6][0-9]{4}K$' "and the accounts have it, however short it was"
fi

# A program directory and a data set, by the user who owns them.
mkdir -p "$scratch/program" "$scratch/data" "$scratch/results"
printf '#!/bin/sh\ncat "$DLSPOOL_DATASET/in" >"$DLSPOOL_OUTPUT/out"\necho "$@"\n' >"$scratch/program/go.sh"
chmod 755 "$scratch/program/go.sh" && echo data >"$scratch/data/in"
cat <<JOB | drop bound.yaml
name: bound
library: any
type: single
program: $scratch/program
entry: go.sh
args: [one, "two words", 3]
dataset: $scratch/data
output: $scratch/results
tasks: {main: {cpus: 0.5, memory: 64Mi}}
JOB
ok "program, dataset and output are bound" wait_for 60 in_state bound "done"
is "$(<"$scratch/results/out")" data "the output is where it was asked for"
is "$(<"$(job_dir bound)/output/main-0.log")" "one two words 3" "arguments are words"
cat <<JOB | drop lost.yaml
name: lost
library: any
type: single
program: $scratch/nowhere
entry: go.sh
JOB
ok "a program that is not there ends in failed/" wait_for 60 has_ended lost
like "$(why lost)" "$scratch/nowhere" "why names the path"

if [ "$(id -u)" = 0 ]; then
    job somebody 0.5 <<'S'
#!/bin/sh
id -u
S
    ok "root's job is root" wait_for 60 in_state somebody "done"
    printf 'name: nobodys\nlibrary: any\ntype: single\nscript: "#!/bin/sh\\nid -u\\n"\n' >"$scratch/n.yaml"
    chown nobody "$scratch/n.yaml" && mv "$scratch/n.yaml" "$spool/incoming/nobodys.yaml"
    ok "nobody's job is done" wait_for 60 in_state nobodys "done"
    is "$(<"$(job_dir nobodys)/output/main-0.log")" "$(id -u nobody)" "and ran as nobody"
    # A file made in incoming/ has the spool's group; the job must not.
    printf 'name: grouped\nlibrary: any\ntype: single\nscript: "#!/bin/sh\\nid -g; id -G\\n"\n' >"$scratch/g.yaml"
    setpriv --reuid nobody --regid nogroup --clear-groups cp "$scratch/g.yaml" "$spool/incoming/grouped.yaml"
    ok "nobody's copied job is done" wait_for 60 in_state grouped "done"
    unlike "$(<"$(job_dir grouped)/output/main-0.log")" '(^| )0( |$)' "and had no group of root's"
    is "$(stat -c %g "$(job_dir grouped)/request.yaml")" "$(id -g nobody)" "its owner's group may read the request"
    printf 'name: private\nlibrary: any\ntype: single\nprogram: /root\nentry: x\n' >"$scratch/n.yaml"
    chown nobody "$scratch/n.yaml" && mv "$scratch/n.yaml" "$spool/incoming/private.yaml"
    ok "what its owner may not read is refused" wait_for 60 has_ended private
    like "$(why private)" 'nobody' "why names the user"
    # Who may kill: the owner, root; not somebody else.
    job mine 0.5 <<'S'
#!/bin/sh
exec sleep 1000
S
    ok "a running job" wait_for 60 started mine
    echo "kill: $(basename "$(job_dir mine)")" >"$scratch/k.yaml"
    chown nobody "$scratch/k.yaml" && mv "$scratch/k.yaml" "$spool/incoming/stranger.yaml"
    ok "a stranger's kill is refused" wait_for 20 has_ended stranger
    like "$(why stranger)" 'belongs to' "with the reason"
    ok "and the job goes on" in_state mine submitted
    ok "root kills it" dlspool kill mine
    ok "it is gone" wait_for 20 has_ended mine
fi

# A job that runs is held at its checkpoint, and goes on from there.
mkdir "$scratch/kept" && chmod 777 "$scratch/kept"
cat >"$scratch/kept.tmp" <<JOB
name: keeps
library: any
tasks: {main: {cpus: 0.5, memory: 64Mi}}
checkpoint: {signal: TERM, grace: 30s}
output: $scratch/kept
script: |
  #!/bin/sh
  echo "begins at \$(cat "\$DLSPOOL_OUTPUT/step" 2>/dev/null || echo 0)"
  trap 'echo 7 >"\$DLSPOOL_OUTPUT/step"; exit 3' TERM
  [ -e "\$DLSPOOL_OUTPUT/step" ] || while :; do sleep 0.1; done
JOB
sed '/^checkpoint/d; s/keeps/plain/' "$scratch/kept.tmp" >"$scratch/plain.tmp"
rm -f "$scratch/kept/step"
mv "$scratch/kept.tmp" "$spool/incoming/keeps.yaml"
mv "$scratch/plain.tmp" "$spool/incoming/plain.yaml"
begins() { grep -qs 'begins at 0' "$(job_dir "$1")"/output/*; }
ok "a job with a checkpoint runs" wait_for 60 begins keeps
ok "and one without" wait_for 60 begins plain
like "$(dlspool hold plain 2>&1)" 'is in submitted/ and names no checkpoint, so it would begin anew; .* dlspool kill plain-' \
    "one without a checkpoint is not held"
dlspool kill plain >/dev/null
ok "the other one is" dlspool hold keeps
ok "and waits in held/" wait_for 60 in_state keeps held
like "$(why keeps)" '^Held by ' "as long as it is held"
like "$(<"$(job_dir keeps)/log")" ' failed reason=Preempted .*why="The job was stopped at its checkpoint, as it is held by ' "its log says why it stopped"
dlspool release keeps >/dev/null
ok "released, it is done" wait_for 60 in_state keeps "done"
like "$(cat "$(job_dir keeps)"/output/*)" 'begins at 7' "from its checkpoint"
like "$(<"$(job_dir keeps)/job.yaml")" 'retried: 0' "and without a retry"

is "$(containers)" "" "no container stays behind"
stop_daemon
is $? 0 "the daemon stops cleanly"
no_service() { ! pgrep -f "podman.*$podman_storage"; }
ok "and its podman service with it" wait_for 10 no_service
like "$(dlspool status)" 'cpus +0 of 2 in use' "status asks podman without a daemon, too"
ok "and leaves no service of it behind" wait_for 10 no_service
# podman 4 takes no path longer than 50 bytes for its run files: what to set is told.
long=$scratch/a-directory-with-quite-a-long-name
mkdir "$long"
set_setting storage "$long"
like "$(dlspool status 2>&1)" "$long/run has [0-9]+ bytes, .* at most 50: set local.storage in dlspool.yaml" \
    "a storage with too long a path: what to set"

done_testing
