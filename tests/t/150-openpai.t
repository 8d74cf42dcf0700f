#!/usr/bin/env bash
# Job files of OpenPAI's version 1 and of SCM: they become jobs, what they say is in the tasks'
# environment, what has no effect is in their logs, and what is wrong is refused with the field named.
. "$(dirname "$0")/lib.bash"
command -v jq >/dev/null || skip_all "jq is not installed"
python3 -c 'import yaml' 2>/dev/null || skip_all "python3 has no yaml"
new_spool null || exit 1
start_daemon

log_of() { cat "$(job_dir "$1")/log"; }
why() { cat "$(job_dir "$1")/why"; }
as_json() { python3 -c 'import sys, json, yaml; json.dump(yaml.safe_load(sys.stdin), sys.stdout)'; }

# As it stands, a new spool takes them.
cp "$top/examples/openpai/two-roles.json" "$spool/incoming/"
ok "the example becomes a job" wait_for 20 in_state two-roles "done"
job=$(job_dir two-roles)
like "$(<"$job/job.yaml")" 'image: "docker.io/library/python:3.12-slim-bookworm"' "with its own image"
like "$(<"$job/job.yaml")" 'template_path: "local/any/roles.yaml"' "and the template of roles"
like "$(<"$job/job.yaml")" 'image_line: 0' "which no line of images.txt named"
is "$(cmp "$job/request.json" "$top/examples/openpai/two-roles.json" 2>&1)" "" \
    "the request is kept with its comments"

# SCM: fields that only its form reads, and capitals and underscores in names.
drop scm.json <<'JOB'
{"jobName": "Hello_World_16be675e", "image": "team/ai:16.04-9.0", "authFile": "", "dataDir": "",
 "outputDir": "", "codeDir": "", "retryCount": 0,
 "taskRoles": [{"name": "task_1", "taskNumber": 1, "cpuNumber": 1, "memoryMB": 8192, "shmMB": 64,
   "gpuNumber": 1, "storageGB": 5, "minFailedTaskCount": null, "minSucceededTaskCount": null,
   "command": "jupyter --port=$PAI_CONTAINER_HOST_jupyter_PORT_LIST --token=\"\"",
   "portList": [{"label": "jupyter", "beginAt": 0, "portNumber": 1}]}],
 "jobEnvs": {}, "extras": {}, "gpuType": "TITANX", "tmp": {"vgInfo": {"名称": "test"}}}
JOB
ok "a file of SCM becomes a job" wait_for 20 in_state hello-world-16be675e "done"
log=$(log_of hello-world-16be675e)
like "$log" ' note field=tmp text="no effect: ' "its log says that tmp was ignored"
like "$log" ' note field="?taskRoles\[0\].storageGB"? text="no effect: ' "and storageGB, here"
like "$log" ' note field="?taskRoles\[0\].minFailedTaskCount"? ' "and what null means"
is "$(grep -c ' note ' <<<"$log")" 3 "and nothing else"
is "$(grep -c ' note ' "$job/log")" 0 "nor anything of the other job"

# What a site maps, and what it does not.
drop staged.json <<'JOB'
{"jobName": "staged", "image": "a/b", "dataDir": "$PAI_DEFAULT_FS_URI/data",
 "virtualCluster": "vc1", "killAllOnCompletedTaskNumber": 1, "jobEnvs": {"paiAzRDMA": true},
 "extras": {"a": 1}, "taskRoles": [{"name": "w", "command": "true"}]}
JOB
ok "HDFS that is not here does not hold up a job" wait_for 20 in_state staged "done"
for field in dataDir virtualCluster killAllOnCompletedTaskNumber jobEnvs.paiAzRDMA extras; do
    like "$(log_of staged)" " note field=$field text=\"no effect" "its log has a line for $field"
done

# `submit` says the same at once, and `show` in a place of its own.  (OpenI's fields are understood, too.)
cat >"$scratch/openi.json" <<'JOB'
{"jobName": "openi", "image": "a/b", "virtualCluster": "vc1",
 "taskRoles": [{"name": "w", "taskNumber": 2, "command": "true", "needIBDevice": true, "isMainRole": true}]}
JOB
id=$(dlspool submit "$scratch/openi.json" 2>"$scratch/said")
is "$?" 0 "submit accepts a job of which something has no effect"
like "$(<"$scratch/said")" "^dlspool submit: $id: note: taskRoles\[0\].needIBDevice: no effect: " "and prints the notes"
like "$(<"$scratch/said")" "note: taskRoles\[0\].isMainRole: .*when 2 of this role's tasks have succeeded" "one by one"
like "$(<"$scratch/said")" "note: virtualCluster: no effect: .* virtual cluster vc1 .*the job goes to the default queue" \
    "which name what was asked for"
like "$(dlspool show "$id" | sed -n '/^Notes:/,/^$/p')" "^  taskRoles\[0\].needIBDevice: no effect" "show has them in a paragraph of their own"

# Refused, with the field named.
number=0
refused() { # refused PATTERN DESCRIPTION: standard input is the file
    number=$((number + 1))
    drop "wrong$number.json"
    ok "$2 is refused" wait_for 20 has_ended "wrong$number"
    like "$(why "wrong$number")" "$1" "and why names it"
}
role='"name": "main", "command": "true"'
refused 'wrong1.json:2:2: retryCnt: unknown field; did you mean retryCount' "an unknown key" <<JOB
{"jobName": "x", "image": "b", "taskRoles": [{$role}],
 "retryCnt": 3}
JOB
refused 'taskRoles\[0\].taskNumber: found "two", expected a whole number' "a wrong type" <<JOB
{"jobName": "x", "image": "b", "taskRoles": [{$role, "taskNumber": "two"}]}
JOB
refused 'wrong3.json:1:1: image: missing' "a missing field" <<JOB
{"jobName": "x", "taskRoles": [{$role}]}
JOB
refused 'taskRoles\[1\].name: found "main" a second time' "a second role of one name" <<JOB
{"jobName": "x", "image": "b", "taskRoles": [{$role}, {$role}]}
JOB
refused 'taskRoles\[0\].portList\[0\].beginAt: found 70000' "a port that is none" <<JOB
{"jobName": "x", "image": "b", "taskRoles": [{$role, "portList": [{"label": "a", "beginAt": 70000}]}]}
JOB
refused 'jobName: found "a~b"' "a job's name with ~" <<JOB
{"jobName": "a~b", "image": "b", "taskRoles": [{$role}]}
JOB
refused 'taskRoles\[0\].name: found "a-b"' "a role's name with -" <<JOB
{"jobName": "x", "image": "b", "taskRoles": [{"name": "a-b", "command": "true"}]}
JOB
refused 'taskRoles\[0\].memoryMB: found 99, expected a whole number from 100' "too little memory" <<JOB
{"jobName": "x", "image": "b", "taskRoles": [{$role, "memoryMB": 99}]}
JOB

# 500 tasks, and the real files where they are here.
drop many.json <<JOB
{"jobName": "many", "image": "b", "taskRoles": [{$role, "taskNumber": 500, "portList": [{"label": "a", "portNumber": 3}]}]}
JOB
ok "500 tasks are a job" wait_for 60 in_state many "done"
is "$(grep -E '^  PAI_PORT_LIST_main_[0-9]+_(a|http|ssh): ' "$(job_dir many)/manifest.yaml" |
    grep -oE '[0-9]{5}' | sort | uniq -d | wc -l)" 0 "no two of their 2500 ports are the same"

data=${DLSPOOL_SHARED:-$top/../shared}/data/openpai
if [ -d "$data" ]; then
    for file in "$data"/seed/*.json "$data"/v1/*.json; do
        ok "$(basename "$file") renders" dlspool render "$file"
    done
else
    pass "real files # SKIP they are not here"
fi

# Ports can be worked out again by anybody.
id=$(basename "$job")
hash=$(printf '%s' "$id-a1/worker/0/http/0/0" | sha256sum | cut -c1-8)
like "$(<"$job/manifest.yaml")" \
    "PAI_PORT_LIST_worker_0_http: \"$((15000 + 0x$hash % 17000))\"" "a port is the hash that docs tell"

# A site that allows no images of users' own says so.
git clone -q "$spool/templates.git" "$scratch/clone" 2>/dev/null
cd "$scratch/clone" || exit 1
mkdir -p "$scratch/fs/Data" "$scratch/fs/out" "$scratch/fs/code"
echo 'echo "the code says $1"' >"$scratch/fs/code/say.sh"
chmod -R a+rwX "$scratch/fs"
sed -i -e 's|^  images: true|  images: [host]|' -e 's|^  default_fs: .*|  default_fs: "hdfs://h:9000"|' \
    -e "s|^  paths: \\[\\]|  paths: [{prefix: \$PAI_DEFAULT_FS_URI, path: $scratch/fs}]|" \
    -e 's|^  virtual_clusters: .*|  virtual_clusters: {vc1: night}|' site.yaml
git commit -qam "a site of our own"
ok "a site's own values are let in" git push -q
cp "$top/examples/openpai/two-roles.json" "$spool/incoming/refused-image.json"
sleep_until_refused() { grep -lq 'openpai.images' "$spool"/failed/two-roles-*/why; }
ok "an image that the site does not allow is not taken" wait_for 20 sleep_until_refused

# The tasks' environment, as tasks see it.
cat >"$scratch/seen.json" <<'JOB'
{"jobName": "seen", "image": "host", "virtualCluster": "vc1", // which is a queue here
 "dataDir": "$PAI_DEFAULT_FS_URI/Data", "outputDir": "hdfs://h:9000/out", "codeDir": "$PAI_DEFAULT_FS_URI/code",
 "jobEnvs": {"MINE": "it's ${x} $(y)", "PAI_USERNAME": "me"},
 "taskRoles": [
  {"name": "ps_server", "taskNumber": 2, "memoryMB": 128, "shmMB": 64, "command": "env -0 | sort -z | tr '\\n\\0' ' \\n' | grep -E '^(PAI_|MINE)' && bash code/say.sh 'it''s' && touch \"$PAI_OUTPUT_DIR/$PAI_TASK_ROLE_NAME-$PAI_TASK_INDEX\""},
  {"name": "a.b", "memoryMB": 128, "minFailedTaskCount": null, "minSucceededTaskCount": 1,
   "portList": [{"label": "web", "portNumber": 2}, {"label": "fixed", "beginAt": 8080}],
   "command": "sleep 1; env -0 | sort -z | tr '\\n\\0' ' \\n' | grep -E '^(PAI_|MINE)'"}]}
JOB
stop_daemon
set_setting executor local
dlspool render --id seen-0123456789abc "$scratch/seen.json" >"$scratch/seen.yaml" 2>"$scratch/notes"
is "$(cut -d: -f2 "$scratch/notes" | tr -d '\n ')" "taskRoles[1].nametaskRoles[1].minFailedTaskCount" \
    "what render notes is about odd names and null alone"
env_of() { # env_of ROLE INDEX: what the manifest says
    as_json <"$scratch/seen.yaml" | jq -r --arg role "$1" --argjson index "$2" \
        '.env + (.tasks[] | select(.role == $role and .index == $index) | .env) | to_entries[] |
         select(.key | test("^(PAI_|MINE)")) | .key + "=" + .value' | LC_ALL=C sort
}
if ! command -v podman >/dev/null; then
    pass "tasks that print their environment # SKIP podman is not installed"
else
    set_setting retry_first 200ms
    set_setting cpus 4
    set_setting memory 4Gi
    start_daemon
    cp "$scratch/seen.json" "$spool/incoming/"
    ok "a job of two roles runs to its end" wait_for 90 has_ended seen
    is "$(state_of seen)" "done" "and it ended well"
    [ "$(state_of seen)" = "done" ] || sed 's/^/# /' "$(job_dir seen)"/why "$(job_dir seen)"/output/*
    seen=$(basename "$(job_dir seen)")
    dlspool render "$seen" >"$scratch/seen.yaml" 2>/dev/null
    for task in ps-server:0 ps-server:1 a-b:0; do
        role=${task%:*} index=${task#*:}
        grep -E '^(PAI_|MINE)' "$(job_dir seen)/output/$role-$index.log" | grep -v '^PAI_WORK_DIR=' |
            LC_ALL=C sort >"$scratch/had"
        env_of "$role" "$index" >"$scratch/wanted"
        ok "task $task had what the manifest says" diff "$scratch/wanted" "$scratch/had"
        ok "and a directory to work in" grep -q '^PAI_WORK_DIR=/' "$(job_dir seen)/output/$role-$index.log"
    done
    like "$(<"$(job_dir seen)/output/ps-server-1.log")" "the code says its" "the code was there"
    ok "and what it wrote is where the site says" test -e "$scratch/fs/out/ps_server-1"
    cp "$scratch/seen.yaml" "$scratch/manifest.yaml"
fi

# The values one by one.  `user` is who runs this; hosts and ports are looked up.
user=$(id -un)
env_of ps-server 1 >"$scratch/env"
value() { sed -n "s/^$1=//p" "$scratch/env"; }
id=$(as_json <"$scratch/seen.yaml" | jq -r '.env.APP_ID')
port_of() { value "PAI_PORT_LIST_$1"; }
while IFS='|' read -r name wanted; do
    is "$(value "$name")" "$wanted" "$name"
done <<TABLE
PAI_JOB_NAME|$user~seen
PAI_USER_NAME|$user
PAI_USERNAME|me
PAI_VIRTUAL_CLUSTER|vc1
PAI_DEFAULT_FS_URI|hdfs://h:9000
PAI_DATA_DIR|/job/dataset
PAI_OUTPUT_DIR|/job/output
PAI_CODE_DIR|/job/program
PAI_TASK_ROLE_COUNT|2
PAI_TASK_ROLE_LIST|ps_server,a.b
PAI_JOB_TASK_COUNT|3
PAI_TASKS_NUM|3
PAI_JOB_TASK_ROLE_COUNT|2
PAI_TASK_ROLES_NUM|2
PAI_JOB_TASK_ROLE_LIST|ps_server,a.b
PAI_TASK_ROLE_TASK_COUNT_ps_server|2
PAI_RESOURCE_ps_server|0,1,128,64
PAI_RESOURCE_a.b|0,1,128,64
PAI_RESOURCE|0,1,128,64
PAI_MIN_FAILED_TASK_COUNT_ps_server|1
PAI_MIN_SUCCEEDED_TASK_COUNT_ps_server|
PAI_MIN_FAILED_TASK_COUNT_a.b|
PAI_MIN_SUCCEEDED_TASK_COUNT_a.b|1
PAI_HOST_IP_ps_server_0|127.0.0.1
PAI_HOST_IP_a.b_0|127.0.0.1
PAI_TASK_ROLE_ps_server_HOST_LIST|127.0.0.1:$(port_of ps_server_0_http),127.0.0.1:$(port_of ps_server_1_http)
PAI_TASK_ROLE_a.b_HOST_LIST|127.0.0.1:$(port_of a.b_0_http)
PAI_PORT_LIST_a.b_0_fixed|8080
PAI_a.b_0_fixed_PORT|8080
PAI_ps_server_1_http_PORT|$(port_of ps_server_1_http)
PAI_CURRENT_TASK_ROLE_NAME|ps_server
PAI_TASK_ROLE_NAME|ps_server
PAI_CURRENT_TASK_ROLE_TASK_COUNT|2
PAI_TASK_ROLE_NUM|2
PAI_CURRENT_TASK_ROLE_CPU_COUNT|1
PAI_TASK_CPU_NUM|1
PAI_CURRENT_TASK_ROLE_MEM_MB|128
PAI_TASK_MEM_MB|128
PAI_CURRENT_TASK_ROLE_GPU_COUNT|0
PAI_TASK_GPU_NUM|0
PAI_CURRENT_TASK_ROLE_SHM_MB|64
PAI_CURRENT_TASK_ROLE_MIN_FAILED_TASK_COUNT|1
PAI_CURRENT_TASK_ROLE_MIN_SUCCEEDED_TASK_COUNT|
PAI_CURRENT_TASK_ROLE_CURRENT_TASK_INDEX|1
PAI_TASK_INDEX|1
PAI_TASK_ROLE_INDEX|1
PAI_CONTAINER_ID|$id-ps-server-1
PAI_CONTAINER_HOST_IP|127.0.0.1
PAI_CURRENT_CONTAINER_IP|127.0.0.1
PAI_CONTAINER_HOST_PORT_LIST|http:$(port_of ps_server_1_http);ssh:$(port_of ps_server_1_ssh);
PAI_CONTAINER_HOST_http_PORT_LIST|$(port_of ps_server_1_http)
PAI_CONTAINER_HOST_PORT|$(port_of ps_server_1_http)
PAI_CURRENT_CONTAINER_PORT|$(port_of ps_server_1_http)
PAI_CONTAINER_SSH_PORT|$(port_of ps_server_1_ssh)
MINE|it's \${x} \$(y)
TABLE
like "$(port_of a.b_0_web)" '^[0-9]{5},[0-9]{5}$' "two ports of one label"

# retryCount -2: whatever its end, it is run again; -1: a failure that may pass, for ever.
if command -v podman >/dev/null; then
    drop service.json <<'JOB'
{"jobName": "service", "image": "host", "retryCount": -2, "taskRoles": [{"name": "w", "memoryMB": 100, "command": "true"}]}
JOB
    drop stubborn.json <<'JOB'
{"jobName": "stubborn", "image": "host", "retryCount": -1, "taskRoles": [{"name": "w", "memoryMB": 100, "command": "exit 7"}]}
JOB
    drop forbidden.json <<'JOB'
{"jobName": "forbidden", "image": "host", "retryCount": -1, "taskRoles": [{"name": "w", "memoryMB": 100, "command": "exit 194"}]}
JOB
    drop debugged.json <<'JOB'
{"jobName": "debugged", "image": "host", "jobEnvs": {"isDebug": true}, "taskRoles": [{"name": "w", "memoryMB": 100, "command": "exit 7"}]}
JOB
    attempts() { grep -hc ' intent ' "$spool"/*/"$1"-?????????????/log "$spool"/done/*/"$1"-?????????????/log 2>/dev/null | head -n 1; }
    tried_three_times() { [ "$(attempts "$1")" -ge 3 ]; }
    ok "retryCount -2 runs a job again that ended well" wait_for 90 tried_three_times service
    ok "retryCount -1 tries for ever" wait_for 90 tried_three_times stubborn
    ok "but not what a program forbids" wait_for 90 has_ended forbidden
    like "$(why forbidden)" '\(permanent: line [0-9]+ of retry.txt\)' "as why says"
    stays() { grep -q 'the container is kept for 604800 s' "$(job_dir debugged)"/output/w-0.log; }
    ok "a task of a debug job that failed stays" wait_for 60 stays
    is "$(state_of debugged)" "submitted" "and so does the job"
    for name in service stubborn debugged; do
        dlspool kill "$(basename "$(job_dir "$name")")" >/dev/null 2>&1
    done
    ok "a debug job that is killed ends" wait_for 60 has_ended debugged
fi
done_testing
