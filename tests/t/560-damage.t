#!/usr/bin/env bash
# The files of jobs are damaged while nobody serves the spool, in every way that test 17 of the table
# names: `dlspool check` explains each in a sentence; the daemon starts nevertheless; each damaged job is
# in failed/ with a reason, or has come to its proper end; all others come to theirs.
# tests/crash/damage.c does this at every byte; here is the program and what it says.
. "$(dirname "$0")/lib.bash"
new_spool local || exit 1
set_setting local.socket "$scratch/nobody.sock"
# What is checked here are jobs, not templates.
others=$(cd "$top/templates" && ls -d local/* | grep -v /any)
without_templates local/any/mpi.yaml kubernetes slurm $others || exit 1
job() { printf 'name: %s\nlibrary: any\ntype: %s\nscript: "#!/bin/sh"\n' "$1" "${2:-single}" | drop "$1.yaml"; }
rendered="cut flip gone dir link pipe empty badlog nolog manifest request sound copied moved"
start_daemon
for name in $rendered; do job "$name"; done
for name in later1 later2; do job "$name" mpi; done
for name in $rendered; do ok "$name is rendered" wait_for 20 in_state "$name" rendered; done
for name in later1 later2; do ok "$name waits" wait_for 20 has_ended "$name"; done
stop_daemon
is $? 0 "the daemon stops"
report=$(dlspool check 2>&1)
is "$(grep -v "^executor local: cannot take jobs: podman does not answer" <<<"$report" | grep -vc " good")" 0 "check finds all files good at first, and that podman is away"
like "$report" 'the files of 16 jobs are good' "and says of how many jobs"

at() { job_dir "$1"; }
id() { basename "$(job_dir "$1")"; }
truncate -s 200 "$(at cut)/job.yaml"
sed -i 's/^uid: .*/uid: 12345/' "$(at flip)/job.yaml"
rm "$(at gone)/job.yaml"
rm "$(at dir)/job.yaml" && mkdir "$(at dir)/job.yaml"
ln -sf /etc/passwd "$(at link)/job.yaml"
rm "$(at pipe)/job.yaml" && mkfifo "$(at pipe)/job.yaml"
: >"$(at empty)/job.yaml"
sed -i '1s/.*/nonsense/' "$(at badlog)/log"
rm "$(at nolog)/log"
echo '# more' >>"$(at manifest)/manifest.yaml"
echo '# more' >>"$(at request)/request.yaml"
copied=$(id copied)
cp -a "$(at copied)" "$spool/failed/"
cp -a "$(at sound)" "$spool/rendered/other-0000000000000"
moved=$(id moved)
mv "$(at moved)" "$spool/failed/"
rm "$(at later1)/why"
truncate -s 300 "$(at later2)/job.yaml"
touch "$spool/rendered/NOTES"

report=$(dlspool check 2>&1)
is $? 1 "check fails now"
explains() { like "$report" "^$1: $2" "check explains: $3"; }
explains "rendered/cut-[a-z0-9]*" 'job.yaml is damaged: it is not what' "a record cut short"
explains "rendered/flip-[a-z0-9]*" 'job.yaml is damaged: it is not what' "a changed user"
like "$(dlspool show "$(basename "$(at flip)")")" "^job.yaml is damaged: it is not what .* submit its request again" "show says so, and what to do"
explains "rendered/gone-[a-z0-9]*" 'job.yaml .*No such file' "a record that is gone"
explains "rendered/dir-[a-z0-9]*" 'job.yaml is not a regular file' "a directory for a record"
explains "rendered/link-[a-z0-9]*" 'job.yaml could not be opened: .*symbolic' "a link for a record"
explains "rendered/pipe-[a-z0-9]*" 'job.yaml is not a regular file' "a pipe for a record"
explains "rendered/empty-[a-z0-9]*" 'job.yaml' "an empty record"
explains "rendered/badlog-[a-z0-9]*" 'log does not begin' "a log without its beginning"
explains "rendered/badlog-[a-z0-9]*" '1 line of log is no event' "a line that is no event"
explains "rendered/nolog-[a-z0-9]*" 'log could not be opened' "a log that is gone"
explains "rendered/manifest-[a-z0-9]*" 'manifest.yaml is not what was written' "a changed manifest"
explains "rendered/request-[a-z0-9]*" 'request.yaml is not what was written' "a changed request"
explains "failed/$copied" "the job is also in rendered/$copied" "a copy in another directory"
explains "rendered/other-0*" 'job.yaml is that of sound-' "a copy under another name"
explains "failed/$moved" 'job.yaml does not say why the job failed' "a job that was moved by hand"
explains "failed/later1-[a-z0-9]*" 'why is missing or empty; the reason in job.yaml is NoTemplate' "no why"
explains "failed/later2-[a-z0-9]*" 'job.yaml is damaged' "a failed job's record"
explains "rendered/" '"NOTES" is no job' "something else"
unlike "$report" '/sound-[a-z0-9]*: ' "and says nothing of a sound job"
before=$(find "$spool" -path "$spool/.podman" -prune -o -printf '%p %s %T@\n' | sort | sha256sum)
dlspool check >/dev/null 2>&1
is "$(find "$spool" -path "$spool/.podman" -prune -o -printf '%p %s %T@\n' | sort | sha256sum)" "$before" "check changes nothing"

sed -i 's/^executor: .*/executor: null/' "$spool/dlspool.yaml"
: >"$scratch/daemon.log"
start_daemon
job new
ok "a new job is done" wait_for 20 in_state new "done"
for name in sound badlog nolog request; do
    ok "$name is done" wait_for 20 in_state "$name" "done"
done
ok "copied is done" wait_for 20 sh -c "ls -d '$spool'/done/*/$copied"
why() { head -n 1 "$(at "$1")/why"; }
for name in cut flip gone dir link pipe empty manifest other later2 moved; do
    ok "$name has come to rest in failed/" wait_for 20 sh -c "grep -q DamagedRecord '$(at "$name" | sed 's|/rendered/|/failed/|')/job.yaml'"
    like "$(why "$name")" "^The spool's own files of this job are damaged: " "$name: why says so"
done
is "$(find "$spool/failed" -maxdepth 1 -name 'copied-*' | wc -l)" 1 "the copy is set aside"
is "$(find "$spool/failed" "$spool/rendered" -maxdepth 1 -name "$copied" | wc -l)" 0 "under an id of its own"
like "$(cat "$spool"/failed/copied-*/why)" "copy that was found in failed/ while the job itself" "its why says so"
unlike "$(<"$scratch/daemon.log")" 'was ended by|could not be (started|read)' "no stage failed"
report=$(dlspool check 2>&1)
like "$report" 'failed/cut-[a-z0-9]*: warning: was quarantined \(DamagedRecord\)' "check tells of what was set aside"
unlike "$report" '^failed/cut-[a-z0-9]*: job.yaml' "and has no more to say of it"
ok "nothing else is left to do" sh -c "[ -z \"\$(ls '$spool/rendered' '$spool/submitted' | grep -v -e NOTES -e : -e '^\$')\" ]"
stop_daemon
is $? 0 "the daemon stops as it should"
done_testing
