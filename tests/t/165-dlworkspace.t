#!/usr/bin/env bash
# What users of DLWorkspace posted, as job files: rendered and run as they are.
. "$(dirname "$0")/lib.bash"
new_spool null || exit 1
git clone -q "$spool/templates.git" "$scratch/work" 2>/dev/null
sed -i -e '/^dlworkspace:/,/^  images/s|^  paths: .*|  paths: [{prefix: data, path: /srv/storage}, {prefix: work, path: /srv/work}]|' \
    -e '/^dlworkspace:/,/^  images/s|^  virtual_clusters: .*|  virtual_clusters: {platform: night}|' "$scratch/work/site.yaml"
git -C "$scratch/work" commit -qam "site: what is where"
ok "a site says where DLWorkspace's directories are" git -C "$scratch/work" push -q
sed -i '/^dlworkspace:/,/^  images/s|^  paths: .*|  paths: /srv/work|' "$scratch/work/site.yaml"
git -C "$scratch/work" commit -qam "site: a mistake"
like "$(git -C "$scratch/work" push -q 2>&1)" 'site.yaml:[0-9]+:[0-9]+: dlworkspace.paths: expected a list' \
    "one that says it wrong is told so when it pushes"

cat >"$scratch/regular.json" <<'F'
{"jobName": "My first job", "vcName": "platform", "userName": "alice@example.org",
 "jobType": "training", "jobtrainingtype": "RegularJob", "image": "org/train:1",
 "cmd": "cd $DLSPOOL_PROGRAM\npython train.py --data $DLSPOOL_DATASET", "resourcegpu": "1", "gpuType": "P40",
 "dataPath": "cifar/", "enabledatapath": "true", "workPath": "alice/code", "jobPath": "alice/jobs/1",
 "interactivePort": "8888", "envs": [{"name": "EPOCHS", "value": "3"}],
 "plugins": {"imagePull": [{"registry": "r.example.org", "username": "bob", "password": "S3CR3T-pw"}]}}
F
manifest=$(dlspool render "$scratch/regular.json" 2>/dev/null)
like "$manifest" 'image: "docker.io/org/train:1"' "render takes such a file"
like "$manifest" 'source: "/srv/storage/cifar"' "its data is where the site says"
like "$manifest" 'source: "/srv/work/alice/jobs/1"' "and its results go"
like "$manifest" 'python train.py --data \$DLSPOOL_DATASET' "its command runs"
like "$manifest" 'DLWS_VC_NAME: "platform"' "with DLWorkspace's variables"
like "$manifest" 'EPOCHS: "3"' "and the user's own"
unlike "$manifest" 'PAI_' "and no other system's"

start_daemon
drop regular.json <"$scratch/regular.json"
ok "dropped, it becomes a job" wait_for 30 in_state my-first-job "done"
like "$(<"$(job_dir my-first-job)/job.yaml")" '^queue: "night"' "in the queue that its virtual cluster means"
log=$(<"$(job_dir my-first-job)/log")
like "$log" ' note .*field=userName ' "its log says what has no effect"
like "$log" ' note .*field=plugins.imagePull ' "line by line"
unlike "$(dlspool show "$(basename "$(job_dir my-first-job)")"; cat "$(job_dir my-first-job)"/{log,job.yaml})" 'S3CR3T' \
    "and no password"

cat <<'F' | drop distributed.yaml
jobName: distributed
jobtrainingtype: PSDistJob
numps: 1
numpsworker: 2
resourcegpu: 0
image: org/train:1
cmd: ./run.sh
F
ok "so does a distributed one" wait_for 30 in_state distributed "done"
manifest=$(<"$(job_dir distributed)/manifest.yaml")
is "$(grep -c 'role: "worker"' <<<"$manifest")" 2 "with its workers"
like "$manifest" 'DLWS_NUM_WORKER: "2"' "that know how many they are"

printf 'jobName: bad\ncmd: a\nworkPath: /alice\nnumpsworkers: 2\n' | drop bad.yaml
ok "one with mistakes is refused" wait_for 30 has_ended bad
like "$(<"$(job_dir bad)/why")" 'bad.yaml:3:11: workPath: found "/alice"' "and told where"
like "$(<"$(job_dir bad)/why")" 'numpsworkers: unknown field; did you mean numpsworker' "and what was meant"
done_testing
