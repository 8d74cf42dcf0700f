#!/usr/bin/env bash
# A running job that is held with its memory stands still where it is, also after the daemon was killed; its time limit does not run;
# it can be killed, and goes on where it was when it is released.
. "$(dirname "$0")/lib.bash"
command -v podman >/dev/null || skip_all "podman is not installed"
new_spool local || exit 1
set_setting cpus 4
set_setting memory 4Gi
start_daemon
# counter NAME [FIELD]: counts in a variable, so that one that began anew would tell.
counter() {
    { printf 'name: %s\nlibrary: any\ntype: single\nretries: 0\ntasks: {main: {cpus: 0.2, memory: 64Mi}}\n%s\n' "$1" "${2:-}"
      printf 'script: |\n  #!/bin/sh\n  n=0\n  while [ $n -lt 3000 ]; do n=$((n + 1)); echo $n; sleep 0.1; done\n'; } | drop "$1.yaml"
}
log_of() { echo "$(job_dir "$1")/output/main-0.log"; }
last() { tail -n 1 "$(log_of "$1")" 2>/dev/null; }
counts_beyond() { [ "$(last "$1")" -gt "$2" ]; }
logged() { grep -q " $2 attempt=1" "$(job_dir "$1")/log"; }
paused() { # as podman sees it
    [ -n "$(cd "$spool/.podman" && CONTAINERS_STORAGE_CONF=$PWD/storage.conf CONTAINERS_CONF=$PWD/containers.conf \
        podman ps -q --filter "name=^$(basename "$(job_dir "$1")")-a1-main-0$" --filter status=paused)" ]
}

counter first
must "a job runs" wait_for 30 counts_beyond first 1
output=$(dlspool hold --keep-memory first 2>&1)
is $? 1 "where the site does not allow it, it is refused"
like "$output" 'cannot be held with their memory here: .*local.suspend: true' "and why"
printf 'hold: {job: %s, keep_memory: true}\n' "$(basename "$(job_dir first)")" | drop ask.yaml
ok "so is a control file" wait_for 10 has_ended ask
like "$(<"$(job_dir ask)/why")" 'local.suspend: true' "with the same sentence"
like "$(dlspool hold first 2>&1)" 'names no checkpoint' "an ordinary hold takes a checkpoint"

set_setting suspend true
wait_for 20 grep -q 'is in force' "$scratch/daemon.log"
ok "where it does, it is done" dlspool hold --keep-memory first
must "the job is held" wait_for 20 logged first suspended
ok "it stands still" paused first
like "$(dlspool list)" 'first.* running .*Held by root where it is, since .*keeps its CPUs, memory and GPUs' "list says so, and what it keeps"
at=$(last first)
kill -KILL "$daemon"; wait "$daemon" 2>/dev/null
start_daemon
counter second 'time_limit: 4s'
must "after the daemon was killed others run" wait_for 30 counts_beyond second 1
ok "and it still stands still" paused first
ok "the second is held, too" dlspool hold --keep-memory second
must "in its turn" wait_for 20 logged second suspended
began=$(date +%s)
printf 'hold: {job: %s}\n' "$(basename "$(job_dir first)")" | drop again.yaml
ok "an ordinary hold of it is refused still" wait_for 10 has_ended again
ok "release lets it go on" dlspool release first
must "which it does" wait_for 20 logged first continued
ok "it counts on" wait_for 20 counts_beyond first $((at + 3))
is "$(sort -n "$(log_of first)" | uniq -c | awk '$1 != 1' | wc -l) $(head -n 1 "$(log_of first)")" "0 1" "from where it was"
unlike "$(dlspool list)" 'first.*Held by' "nobody holds it any more"
older() { [ "$(date +%s)" -gt $((began + 5)) ]; }
wait_for 20 older
ok "the time limit of the second does not run" paused second
ok "it is released" dlspool release second
ok "then it runs, and is over" wait_for 20 has_ended second
like "$(<"$(job_dir second)/why")" 'time limit of 4 s' "for its time limit"
ok "what stands still can be killed" dlspool hold --keep-memory first
wait_for 20 paused first
dlspool kill first >/dev/null
ok "and ends" wait_for 30 has_ended first
is "$(awk '/^  reason:/ { print $2 }' "$(job_dir first)/job.yaml")" '"Killed"' "as killed"
like "$(dlspool hold --keep-memory first 2>&1)" 'only a job that runs|has failed' "one that does not run cannot be held so"

done_testing
