#!/usr/bin/env bash
# OpenPAI job files of protocol version 2: what was accepted there becomes a job, what was refused is
# refused with its field, what has no effect is said in the log, and a secret stays one.
. "$(dirname "$0")/lib.bash"

# site LINE...: change site.yaml, each LINE a sed expression, and push it.
site() {
    git clone -q "$spool/templates.git" "$scratch/work" 2>/dev/null &&
        sed -i "${@/#/-e}" "$scratch/work/site.yaml" &&
        git -C "$scratch/work" commit -qam "site: for this test" &&
        git -C "$scratch/work" push -q 2>/dev/null
    local status=$?
    rm -rf "$scratch/work"
    return $status
}
why() { cat "$(job_dir "$1")/why"; }
log() { cat "$(job_dir "$1")/log"; }

secret=hunter2-Xq7-Zz9
file() { # file NAME IMAGE: standard input is the commands, as items of a list
    cat <<F
protocolVersion: 2
name: $1
type: job
jobRetryCount: 0
contributor: somebody
prerequisites:
  - {type: dockerimage, name: image, uri: "$2"}
  - {type: data, name: set, uri: [/data/one, /data/two]}
parameters: {epochs: 3, rate: 1.0}
secrets:
  token: $secret
taskRoles:
  my_Worker:
    instances: 2
    dockerImage: image
    data: set
    taskRetryCount: 1
    resourcePerInstance: {cpu: 1, memoryMB: 128, gpu: 0, ports: {rpc: 2}}
    commands:
$(sed 's/^/      /')
defaults: {virtualCluster: default}
extras:
  com.microsoft.pai.runtimeplugin:
    - plugin: ssh
      parameters: {jobssh: true}
F
}

# ---- with the executor that takes everything ----

new_spool null || exit 1
start_daemon
file First_Job org/train:1 <<'C' | drop first.yaml
- train --epochs <% $parameters.epochs %> --rate <% $parameters.rate %> <% $data.uri[1] %>
C
must "a job file of OpenPAI v2 ends in done/" wait_for 30 in_state first-job "done"
manifest=$(<"$(job_dir first-job)/manifest.yaml")
like "$manifest" 'train --epochs 3 --rate 1 /data/two' "names are looked up"
like "$manifest" 'PAI_CURRENT_TASK_ROLE_NAME: "my_Worker"' "tasks know the role by the name that it has"
like "$manifest" 'role: "my-worker"' "which as a host's name is a label"
like "$manifest" 'PAI_JOB_NAME: "[^"]*~First_Job"' "and the job's"
like "$(log first-job)" ' note .*field=taskRoles\.my_Worker\.taskRetryCount .*no effect' "the log says what has no effect"
like "$(log first-job)" ' note .*runtimeplugin\[0\]' "line by line"
like "$(<"$(job_dir first-job)/job.yaml")" 'type: .?roles' "it is a job of type roles"

file bad org/train:1 <<'C' | drop bad.yaml
- train --epochs <% $parameters.epoch %>
C
ok "an unknown parameter ends in failed/" wait_for 30 has_ended bad
like "$(why bad)" 'bad\.yaml:20:9: taskRoles\.my_Worker\.commands\[0\]: <% \$parameters\.epoch %>: unknown; \$parameters has epochs, rate' \
    "why says where, and what is known"
file wrong org/train:1 <<<'- "true"' | sed 's/instances: 2/instance: 2/; s/gpu: 0/gpus: 0/' | drop wrong.yaml
ok "a file with other mistakes ends in failed/" wait_for 30 has_ended wrong
like "$(why wrong)" 'wrong\.yaml:14:5: taskRoles\.my_Worker\.instance: unknown field; did you mean instances' \
    "why names the field"
like "$(why wrong)" 'resourcePerInstance\.gpu: missing' "and the other one"

# YAML as OpenPAI's own reader takes it: fields of a role that another one takes over.
drop shared.yaml <<'F'
protocolVersion: !!int "2"
name: shared
type: job
prerequisites: [{type: dockerimage, name: i, uri: org/train:1}]
taskRoles:
  chief: &role
    dockerImage: i
    resourcePerInstance: {cpu: 1, memoryMB: 128, gpu: 0, ports: }
    commands: [first]
  worker:
    <<: *role
    commands: [second]
F
must "a file with anchors and merge keys ends in done/" wait_for 30 in_state shared "done"
is "$(grep -oE '#!/bin/bash\\n[a-z]+' "$(job_dir shared)/manifest.yaml" | sort -u | paste -sd ' ')" \
    '#!/bin/bash\nfirst #!/bin/bash\nsecond' "and each role has its own commands"
printf 'secrets: {a: &a %s}\nparameters: {b: *a}\nprotocolVersion: 2\n' "$secret" | drop alias.yaml
ok "an alias of a secret ends in failed/" wait_for 30 has_ended alias
like "$(why alias)" 'alias\.yaml:1:14: parameters\.b: an alias' "why names the field"
unlike "$(why alias; log alias)" "$secret" "and nothing tells the secret"

# The files that others have written, where they are.
others=${DLSPOOL_SHARED:-$top/../shared}/data/openpai/v2
if [ -d "$others" ]; then
    count=0
    for path in "$others"/*; do
        count=$((count + 1))
        cp "$path" "$scratch/other.yaml"
        sed -i "s/^name: .*/name: other-$count/" "$scratch/other.yaml"
        drop "other-$count.yaml" <"$scratch/other.yaml"
        ok "$(basename "$path") becomes a job" wait_for 30 in_state "other-$count" "done"
    done
else
    pass "the files of others # SKIP $others is not there"
fi
stop_daemon

# ---- for a cluster: what is secret stands in Secrets and nowhere else ----

"$DLSPOOL" init --executor kubernetes "$scratch/cluster" >/dev/null
cat >"$scratch/cluster.yaml" <<F
protocolVersion: 2
name: cluster
type: job
prerequisites:
  - {type: dockerimage, name: one, uri: r.example.org/one:1, auth: {username: bob, password: <% \$secrets.token %>, registryuri: r.example.org}}
  - {type: dockerimage, name: two, uri: r.example.org/two:2}
secrets: {token: $secret}
taskRoles:
  ps: {dockerImage: one, resourcePerInstance: {cpu: 1, memoryMB: 128, gpu: 0}, commands: [serve <% \$secrets.token %>]}
  worker: {dockerImage: two, resourcePerInstance: {cpu: 1, memoryMB: 128, gpu: 0}, commands: [work]}
F
manifest=$("$DLSPOOL" -s "$scratch/cluster" render --secrets "$scratch/cluster.yaml" 2>/dev/null)
# kinds_with TEXT: of the objects that hold the text.
kinds_with() {
    text=$1 awk '/^  kind:/ {kind = $2} index($0, ENVIRON["text"]) {print kind}' <<<"$manifest" | sort | uniq -c | xargs
}
is "$(kinds_with "$secret")" "2 Secret" "a cluster is told of a secret in Secrets only: the role's script and the registry's"
is "$(kinds_with 'work\n"')" "1 ConfigMap" "a script without is in a ConfigMap"
is "$(grep -oE 'image: "r.example.org/[a-z:0-9]*"' <<<"$manifest" | xargs)" 'image: r.example.org/one:1 image: r.example.org/two:2' \
    "each role has its own image"
is "$(kinds_with cluster-0000000000000-a1-registries)" "2 Job 1 Secret" "and each may be fetched as the file says"
unlike "$("$DLSPOOL" -s "$scratch/cluster" render "$scratch/cluster.yaml" 2>&1)" "$secret" "render prints no secret unless asked to"

# ---- with containers ----

if ! command -v podman >/dev/null; then
    pass "in containers # SKIP podman is not installed"
    done_testing
fi
rm -rf "$spool"
mkdir -p "$scratch/gate"
chmod 755 "$scratch/gate"
new_spool local || exit 1
must "a site allows the image of this machine" site '/^openpai:/,/^  workdir/s|^  images: .*|  images: [host, docker.io/]|' \
    's|^  allow_user: .*|  allow_user: [docker.io/]|' \
    "s|^  mounts: \[\]|  mounts: [{source: $scratch/gate, target: /gate, readonly: true}]|"
set_setting cpus 4
set_setting memory 4Gi
start_daemon

file runs host <<'C' | drop runs.yaml
- echo "token of <% $secrets.token %>" | sha256sum
- export HERE=$PWD
- mkdir below && cd below
- "false"
- echo "went on in ${PWD#$HERE}"
- echo "index $PAI_CURRENT_TASK_ROLE_CURRENT_TASK_INDEX of $PAI_TASK_ROLE_TASK_COUNT_my_Worker"
- "echo ports $PAI_CONTAINER_HOST_rpc_PORT_LIST = $(eval echo \\$PAI_PORT_LIST_my_Worker_${PAI_CURRENT_TASK_ROLE_CURRENT_TASK_INDEX}_rpc)"
- while ! [ -e /gate/go ]; do sleep 0.2; done
C
printed() { grep -q '^ports' "$(job_dir runs)/output/my-worker-$1.log"; }
is_decided() { { printed 0 && printed 1; } || has_ended runs; }
wait_for 90 is_decided
has_ended runs && why runs | sed 's/^/# /'
must "it runs in containers" printed 1
output=$(<"$(job_dir runs)/output/my-worker-1.log")
hash=$(echo "token of $secret" | sha256sum | cut -d' ' -f1)
like "$output" "^$hash" "a command is given the secret"
like "$output" '^went on in /below' "commands run one after another in one shell, as on OpenPAI"
like "$output" '^index 1 of 2' "a task knows which it is"
like "$output" '^ports ([0-9]+,[0-9]+) = \1$' "and its ports, as the others know them"

# While it runs: who can see the secret?  (The machine's own files are mounted below the spool too.)
holders() { "$@" find "$spool" "$scratch/daemon.log" -xdev -type f -exec grep -laF "$secret" {} + 2>/dev/null; }
rest=$(holders | sed "s|^$spool/||" |
    grep -vE '^(submitted/runs-[^/]*/(request|manifest)\.yaml|\.podman/jobs/runs-[^/]*/files/my-worker-[01]/0)$')
is "$rest" "" "no file holds it but the request, the manifest and the tasks' scripts"
open=$(holders | xargs -r stat -c '%a %n' | grep -v '^[0-7]*0 ')
is "$open" "" "and none of these can be read by others"
if setpriv --reuid=65534 --regid=65534 --clear-groups true 2>/dev/null; then
    is "$(holders setpriv --reuid=65534 --regid=65534 --clear-groups)" "" \
        "another user finds it nowhere in the spool"
else
    pass "another user # SKIP not root"
fi
echo "$secret" >"$scratch/secret"
is "$(cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\0' '\n' | grep -aF -f "$scratch/secret")" "" \
    "it is on no command line"
config() {
    CONTAINERS_STORAGE_CONF=$spool/.podman/storage.conf CONTAINERS_CONF=$spool/.podman/containers.conf \
        podman "$@" 2>/dev/null
}
containers=$(config ps -aq)
like "$(config inspect $containers)" 'my-worker-1' "podman tells of the containers"
unlike "$(config inspect $containers)" "$secret" "and not of the secret"
id=$(basename "$(job_dir runs)")
unlike "$(dlspool show "$id"; dlspool show --json "$id"; dlspool list; dlspool status; dlspool logs "$id")" "$secret" \
    "no command shows it"
unlike "$(dlspool render "$id" 2>&1)" "$secret" "nor does render"
like "$(dlspool render "$id" 2>&1)" '\*\*\*\*\*\*' "which prints asterisks"
is "$(dlspool render --secrets "$id" 2>/dev/null)" "$(<"$(job_dir runs)/manifest.yaml")" "unless it is asked to: the same bytes"

touch "$scratch/gate/go"
must "it ends in done/" wait_for 60 in_state runs "done"
unlike "$(cat "$(job_dir runs)"/{log,job.yaml} "$(job_dir runs)"/output/*)" "$secret" "what is kept does not tell it"

# The completion that OpenPAI on Kubernetes has: a role whose instances have all succeeded ends the job.
cat <<'F' | drop roles.yaml
protocolVersion: "2"
name: two-roles
type: job
prerequisites: [{type: dockerimage, name: i, uri: host}]
taskRoles:
  ps:
    dockerImage: i
    resourcePerInstance: {cpu: 1, memoryMB: 64, gpu: 0}
    completion: {minSucceededInstances: -1}
    commands: [exec sleep 1000]
  worker:
    dockerImage: i
    resourcePerInstance: {cpu: 1, memoryMB: 64, gpu: 0}
    commands: [echo done]
F
ok "a job ends when all of a role have succeeded" wait_for 60 in_state two-roles "done"
cat <<'F' | drop fails.yaml
protocolVersion: 2
name: fails
type: job
prerequisites: [{type: dockerimage, name: i, uri: host}]
taskRoles:
  worker:
    dockerImage: i
    resourcePerInstance: {cpu: 1, memoryMB: 64, gpu: 0}
    commands: [exit 7]
F
ok "and fails when one of it has failed" wait_for 60 has_ended fails
like "$(why fails)" '7' "with its status"

# A secret in a file that is refused.
printf 'protocolVersion: 2\nname: leak\ntype: job\nsecrets: %s\n' "$secret" | drop leak.yaml
ok "a file with a mistake in its secrets is refused" wait_for 30 has_ended leak
unlike "$(why leak; log leak; dlspool show "$(basename "$(job_dir leak)")")" "$secret" "and nothing quotes them"

like "$(dlspool convert "$top/examples/openpai/two-roles.json" 2>&1 >/dev/null)" 'note: image: the site may refuse' \
    "convert tells that another rule of the site is about the image then"
# What `dlspool convert` prints becomes the same manifest, but for what docs/openpai.md says.
cat >"$scratch/compare.py" <<'P'
import re, sys, yaml
# What OpenPAI's programs find, and the words before a command that see to it.
THEIRS = re.compile("(PAI_.*|HADOOP_USER_NAME|FRAMEWORK_NAME|APP_ID|TASK_INDEX|CONTAINER_.*|DLSPOOL_(WORK|DEBUG|CODE))$")
def without(env):
    return {name: value for name, value in env.items() if not THEIRS.match(name)}
theirs, own = (yaml.safe_load(open(path)) for path in sys.argv[1:])
theirs["env"], own["env"] = without(theirs["env"]), without(own["env"])
for one, other in zip(theirs["tasks"], own["tasks"]):
    one["env"], other["env"] = without(one["env"]), without(other["env"])
    words, commands = one["command"], [f for f in one.get("files", []) if f["path"] == "/job/commands"]
    # A script of version 2 is a file there, and the words of a command here.
    if commands:
        assert words[-1] == "/job/commands", words
        words[-1:] = ["bash", "-c", commands[0]["content"]]
        one["files"].remove(commands[0])
    assert words[:2] == ["bash", "-c"], words
    one["command"] = words[len(words) - len(other["command"]):]
assert len(theirs["tasks"]) == len(own["tasks"])
for name in sorted(set(theirs) | set(own)):
    if theirs.get(name) != own.get(name):
        sys.exit("%s: %s\nand converted: %s" % (name, theirs.get(name), own.get(name)))
P
compared() {
    dlspool render --secrets "$1" >"$scratch/theirs" 2>/dev/null && dlspool convert --secrets "$1" >"$scratch/own.yaml" 2>/dev/null &&
        dlspool render --secrets "$scratch/own.yaml" >"$scratch/own" && /usr/bin/python3 "$scratch/compare.py" "$scratch/theirs" "$scratch/own"
}
data=${DLSPOOL_SHARED:-$top/../shared}/data/openpai
[ -d "$data" ] || pass "real files # SKIP they are not here"
corpus=$top/tests/fuzz/corpus
for file in "$top"/examples/openpai/*.json "$corpus"/openpai/{scm,staged} "$corpus"/request_openpai_v2/{anchors,small} "$data"/{seed,v1,v2}/*.{json,yaml}; do
    case $file in *\**) continue ;; esac
    sed 's|registry.example.org|docker.io|' "$file" >"$scratch/${file##*/}"
    ok "${file##*/} and what it is converted to become the same manifest" compared "$scratch/${file##*/}"
done
done_testing
