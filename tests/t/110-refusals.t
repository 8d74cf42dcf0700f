#!/usr/bin/env bash
# What cannot be run ends in failed/ with a sentence to act on; what only a change can mend waits
# for that change.
. "$(dirname "$0")/lib.bash"
new_spool null && without_templates local/mxnet/ps.yaml local/any/ps.yaml kubernetes slurm || exit 1
start_daemon

why() { cat "$(job_dir "$1")/why"; }

# A wrong request: file, line, field, what was found and what was expected.
drop bad-field.yaml <<'JOB'
name: bad
library: sklearn
type: single
script: "x"
tasks:
  main:
    memory: lots
JOB
ok "a wrong value ends in failed/" wait_for 20 has_ended bad-field
like "$(why bad-field)" 'bad-field.yaml:7:13: tasks.main.memory: found "lots", expected' \
    "why gives file, line, column, field, found and expected"
like "$(why bad-field)" '^Next: not retried. Correct bad-field.yaml and submit it again: dlspool submit bad-field.yaml$' "and what to do"
ok "the bytes that were dropped are kept" grep -q lots "$(job_dir bad-field)/request.yaml"

drop bad-key.yaml <<'JOB'
name: bad
libary: sklearn
type: single
script: "x"
JOB
ok "an unknown field ends in failed/" wait_for 20 has_ended bad-key
like "$(why bad-key)" 'library' "why names the nearest field"

like "$(grep ' bad-key-' "$scratch/daemon.log")" \
    "intake\]: bad-key-[a-z0-9]{13}: owner=$(id -un) state=failed reason=BadRequest class=permanent retry=never attempt=1 \(The job file cannot be used: bad-key.yaml:2:1: .*did you mean library.*\)" \
    "one line of the service's log says who, what and why"
printf '{"name": "bad", "lib\\u001b[31m\\nary": 1}' | drop bad-bytes.json
ok "a key with control characters ends in failed/" wait_for 20 has_ended bad-bytes
is "$(grep -c 'bad-bytes-' "$scratch/daemon.log") $(grep -c $'\e' "$scratch/daemon.log")" "1 0" \
    "and they do not reach the service's log"

printf 'a: [1, 2\n' | drop bad-yaml.yaml
ok "what is not YAML ends in failed/" wait_for 20 has_ended bad-yaml
like "$(why bad-yaml)" 'bad-yaml.yaml:[0-9]+:[0-9]+:' "why says where"

drop later.yaml <<'JOB'
name: later
library: sklearn
type: single
script: "x"
privileged: true
JOB
ok "a privilege that the site does not have is refused" wait_for 20 has_ended later
like "$(why later)" 'privileged: found "true", which is no privilege of this site' "and says so"

# No template for (library, type): waits for a push, and goes through then.
drop nothing.yaml <<'JOB'
name: nothing
library: mxnet
type: ps
tasks: {server: {command: ["true"]}, worker: {command: ["true"]}}
JOB
ok "a job without a template ends in failed/" wait_for 20 has_ended nothing
like "$(why nothing)" 'local/mxnet/ps.yaml' "why names the template that is missing"
like "$(why nothing)" '^Next: .*tell an administrator.*retried by itself' "and says that a push mends it"

# A template does not want the job: its owner reads why, not where in the template.
drop unwanted.yaml <<'JOB'
name: unwanted
library: tensorflow
type: ps
script: "x"
tasks: {ps: {}, boss: {}}
JOB
ok "a job that its template refuses ends in failed/" wait_for 20 has_ended unwanted
is "$(why unwanted | head -n 1)" "the role boss is none of TensorFlow; expected chief, ps, worker and evaluator" \
    "why begins with the template's sentence"
like "$(why unwanted)" '^Next: not retried. Change the job file and submit it again' "and says what to do"

# No row in images.txt.
ok "clone" git clone -q "$spool/templates.git" "$scratch/clone"
cd "$scratch/clone" || exit 1
cp images.txt "$scratch/images.txt"
echo 'pytorch * * * host' >images.txt
git commit -qam "only pytorch" && ok "push without images" git push -q
cd "$scratch" || exit 1
drop imageless.yaml <<'JOB'
name: imageless
library: sklearn
type: single
script: "x"
JOB
ok "a job without an image ends in failed/" wait_for 20 has_ended imageless
like "$(why imageless)" 'images.txt' "why names images.txt"
like "$(why imageless)" 'sklearn' "and what was asked for"

# Both go through when the change comes.
cd "$scratch/clone" || exit 1
cp "$scratch/images.txt" images.txt
mkdir -p local/mxnet
cp local/any/distributed.yaml local/mxnet/ps.yaml
echo 'mxnet * * * host' >>images.txt
git add -A && git commit -qm "mxnet, and images again" && ok "push the missing ones" git push -q
new=$(git rev-parse HEAD)
cd "$scratch" || exit 1
ok "the job without an image goes through" wait_for 20 in_state imageless "done"
ok "the job without a template goes through" wait_for 20 in_state nothing "done"
like "$(<"$(job_dir nothing)/job.yaml")" "template_commit: \"$new\"" "and names the new commit"
like "$(<"$(job_dir nothing)/log")" ' requeued cause=change ' "and its log says why it came back"

# retry asks again; for a bad request that changes nothing, and says so.
ok "retry" dlspool retry bad-field
ok "the request is granted and gone" wait_for 20 test ! -e "$(job_dir bad-field)/retry"
ok "the job is still there" in_state bad-field failed

done_testing
