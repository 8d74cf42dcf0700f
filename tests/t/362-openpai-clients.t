#!/usr/bin/env bash
# OpenPAI's clients against dlspool web: the requests are those that the clients sent when they were run against it, with
# their headers and bodies: the VS Code extension (microsoft/openpaivscode@67f9754), the JavaScript SDK 0.1.5 with its
# command pai, and the Python SDK of OpenPAI 0.14.
#
# Seen to fail with: tests/mutants/openpai-takes-forms-of-anybody.patch, tests/mutants/openpai-calls-stopped-jobs-failed.patch.
. "$(dirname "$0")/lib.bash"
. "$(dirname "$0")/web.bash"
own_spool "$@"
start_daemon
start_web --idle 5s

# as N PATH CURL-OPTION...: a request of that user.  $status and $body are of the reply.
as() { request "$@"; }
api=/rest-server/api
vscode() { local path=$1; shift; as 1 "$path" -A '' -H 'Accept: application/json' "$@"; }
sdk() { local path=$1; shift; as 1 "$path" -A axios/0.21.4 -H 'Accept: application/json, text/plain, */*' -H 'Authorization: Bearer secret1' "$@"; }
python() { local path=$1; shift; as 1 "$path" -A python-requests/2.28.1 -H 'Content-Type: application/json' "$@"; }
got() { jq -cr "$1" <<<"$body" 2>&1; }

# ---- the VS Code extension: a cluster is added (src/pai/clusterManager.ts:123-267) ----
vscode /healthz
is "$status" 200 "it is healthy, so the REST server is at HOST/rest-server"
vscode $api/v2/jobs/protocolversion/config
is "$status $(got .code)" "404 NoJobError" "it speaks version 2"
vscode $api/v1/token -d 'username=user1&password=secret1&expiration=4000'
is "$status $(got '.user, .admin')" $'200 user1\nfalse' "it signs in"
is "$(got .token)" secret1 "a token that is given as the password is the token"
vscode $api/v1/token -d 'username=user2&password=secret1&expiration=4000'
is "$status $(got .code)" "400 NoUserError" "but nobody is somebody else by saying so"

# ---- it submits (src/pai/paiJobManager.ts:507-630) ----
vscode $api/v1/user/user1/jobs/vscode_v1 -H 'Authorization: Bearer secret1'
is "$status $(got .code)" "404 NoJobError" "the name is free"
form='jobName=vscode_v1&image=x%2Fy%3A1&codeDir=&dataDir=&outputDir=&taskRoles%5B0%5D%5Bname%5D=ps_server&taskRoles%5B0%5D%5BtaskNumber%5D=1&taskRoles%5B0%5D%5BcpuNumber%5D=1&taskRoles%5B0%5D%5BgpuNumber%5D=0&taskRoles%5B0%5D%5BmemoryMB%5D=1000&taskRoles%5B0%5D%5Bcommand%5D=python%20a.py%20--x%3D%221%20%26%202%22&taskRoles%5B1%5D%5Bname%5D=worker&taskRoles%5B1%5D%5BtaskNumber%5D=2&taskRoles%5B1%5D%5BgpuNumber%5D=1&taskRoles%5B1%5D%5Bcommand%5D=true&jobEnvs%5BA%5D=%2B1'
vscode $api/v1/user/user1/jobs --data-raw "$form"
is "$status $(got .code)" "401 UnauthorizedUserError" "a form without the clients' header is refused, as another site's page could send it"
vscode $api/v1/user/user2/jobs -H 'Authorization: Bearer secret1' --data-raw "$form"
is "$status $(got .code)" "403 ForbiddenUserError" "a job in the name of another is refused"
is "$(ls -A "$spool/incoming")" "" "nothing was dropped"
vscode $api/v1/user/user1/jobs -H 'Authorization: Bearer secret1' --data-raw "$form"
is "$status $(got .message)" "202 Update job vscode_v1 for user user1 successfully." "a job of version 1 comes as a form"
ok "it goes its way" wait_for 20 in_state vscode-v1 "done"
is "$(jq -c '[.jobName, .taskRoles[0].command, .taskRoles[1].taskNumber, .jobEnvs.A]' "$(job_dir vscode-v1)/request.json")" '["vscode_v1","python a.py --x=\"1 & 2\"","2","+1"]' "with what the form said"
vscode $api/v1/user/user1/jobs/vscode_v1 -H 'Authorization: Bearer secret1'
is "$status $(got .name)" "200 vscode_v1" "the name is taken"
cat >"$scratch/v2.yaml" <<'YAML'
protocolVersion: 2
name: vscode_v2
type: job
prerequisites:
  - protocolVersion: 2
    name: img
    type: dockerimage
    uri: 'x/y:1'
taskRoles:
  t:
    instances: 2
    dockerImage: img
    resourcePerInstance:
      cpu: 1
      memoryMB: 512
      gpu: 1
    commands:
      - 'true'
YAML
vscode $api/v2/jobs -H 'Authorization: Bearer secret1' -H 'Content-Type: text/yaml' --data-binary @"$scratch/v2.yaml"
is "$status $(got .message)" "202 Update job vscode_v2 for user user1 successfully." "a job of version 2 comes as YAML"
sdk $api/v2/jobs -H 'Content-Type: text/yaml' --data-binary $'protocolVersion: 2\nname: x\n'
is "$status $(got .code)" "400 InvalidProtocolError" "a faulty one is refused"
like "$(got .message)" 'taskRoles: missing' "with what is wrong"
vscode $api/v2/tokens/application -X POST -H 'Authorization: Bearer secret1' -H 'Content-Type: application/json' -d '{}'
is "$status $(got .token)" "200 secret1" "a token for the application"
vscode $api/v2/storages
is "$status $(got .)" '200 {"storages":[]}' "there are no storages"

# ---- links that it opens (src/pai/utility/paiUri.ts) ----
where() { setpriv --reuid 5001 --regid 5001 --clear-groups curl -sS --unix-socket "$socket" -o /dev/null -w '%{http_code} %{redirect_url}' "http://localhost$1"; }
is "$(where /view.html)" "303 http://localhost/jobs" "the old list leads to the list"
like "$(where '/view.html?username=user1&jobName=vscode_v1')" '^303 http://localhost/jobs/vscode-v1-' "the old page of a job to its page"

# ---- the JavaScript SDK (src/api/v2/clients, src/commom/paiHttpClient.ts) ----
wait_for 20 in_state vscode-v1 "done" && wait_for 20 in_state vscode-v2 "done"
as 1 $api/v2/authn/basic/login -A axios/0.21.4 -d 'expiration=4000&password=secret1&username=user1'
is "$status $(got '.user, .token')" $'200 user1\nsecret1' "it signs in"
sdk $api/v2/info -H 'Content-Type: application/json'
is "$status $(got '.launcherType, .authnMethod')" $'200 k8s\nbasic' "it asks what this is"
sdk "$api/v2/jobs?username=user1&state=SUCCEEDED,RUNNING,WAITING&withTotalCount=true"
is "$(got '[.totalCount, (.data[] | .name, .username, .state, .executionType, .totalTaskNumber, .totalTaskRoleNumber, .totalGpuNumber, .appExitCode, .virtualCluster)]')" \
    '[2,"vscode_v2","user1","SUCCEEDED","START",2,1,2,0,"default","vscode_v1","user1","SUCCEEDED","START",3,2,2,0,"default"]' "it lists jobs"
is "$(got '[.data[] | .completedTime >= .launchedTime, .launchedTime >= .submissionTime, .submissionTime > 1700000000000] | all')" true "with times in milliseconds"
for query in username=user2 state=FAILED vc=other keyword=none offset=2 limit=0; do
    sdk "$api/v2/jobs?$query"
    is "$status $(got .)" "200 []" "$query selects none of them"
done
for query in keyword=vscode vc=default,x 'username=user2,user1' limit=2; do
    sdk "$api/v2/jobs?$query"
    is "$(got length)" 2 "$query selects both"
done
sdk "$api/v2/jobs?order=jobName,ASC&limit=1"
is "$(got '.[0].name')" vscode_v1 "jobs in another order"
sdk "$api/v2/jobs?order=jobName,ASC&offset=1"
is "$(got 'map(.name)')" '["vscode_v2"]' "and their second page"
sdk "$api/v2/jobs?limit=50001"
is "$status $(got .code)" "400 InvalidParametersError" "too many at once"
sdk $api/v2/jobs/user1~vscode_v1 -H 'Content-Type: application/json'
is "$(got '[.name, .jobStatus.state, .jobStatus.appExitCode, (.taskRoles | to_entries[] | .key, (.value.taskStatuses | length))]')" \
    '["vscode_v1","SUCCEEDED",0,"ps_server",1,"worker",2]' "it shows a job with its roles by their own names"
is "$(got '[.taskRoles[].taskStatuses[] | .taskIndex, (.containerPorts | type)] | @csv')" '0,"object",0,"object",1,"object"' "and each task"
echo '2026-11-22T11:30:00.000Z ended attempt=1 outcome=failed worker-0=0 worker-1=3' >>"$(job_dir vscode-v1)/log"
as 2 $api/v2/jobs/user1~vscode_v1
is "$(got '[.taskRoles | to_entries[] | .key, (.value.taskStatuses[] | .taskState, .containerExitCode)]')" '["worker","SUCCEEDED",0,"FAILED",3]' \
    "who may not read the job file sees the tasks of which the log tells"
sdk $api/v2/jobs/user2~vscode_v1
is "$status $(got .code)" "404 NoJobError" "of another user there is none of the name"
sdk $api/v2/jobs/user1~vscode_v2/config
is "$status $(printf '%s' "$body")" "200 $(<"$scratch/v2.yaml")" "it reads the job file"
as 2 $api/v2/jobs/user1~vscode_v2/config
is "$status $(got .code)" "403 ForbiddenUserError" "which another may not"
sed 's/vscode_v2/waits/; $a extras: {}' "$scratch/v2.yaml" >"$scratch/waits.yaml"
"$DLSPOOL" -s "$spool" pause >/dev/null
sdk $api/v2/jobs -H 'Content-Type: text/yaml' --data-binary @"$scratch/waits.yaml"
sdk $api/v2/jobs/user1~waits
is "$(got .jobStatus.state)" WAITING "createRunningJob sees that it waits"
as 2 $api/v2/jobs/user1~waits/executionType -X PUT -H 'Content-Type: application/json' -d '{"value":"STOP"}'
is "$status $(got .code)" "403 ForbiddenUserError" "another does not stop it"
sdk $api/v2/jobs/user1~waits/executionType -X PUT -H 'Content-Type: application/json' -d '{"value":"STOP"}'
is "$status $(got .message)" "202 Execute job user1~waits successfully." "its owner does, and is told in OpenPAI's words"
stopped() { sdk $api/v2/jobs/user1~waits; [ "$(got '[.jobStatus.state, .jobStatus.executionType] | @csv')" = '"STOPPED","STOP"' ]; }
ok "it is stopped" wait_for 20 stopped
sdk $api/v2/jobs/user1~waits/executionType -X PUT -H 'Content-Type: application/json' -d '{"value":"STOP"}'
is "$status" 202 "once more changes nothing"
"$DLSPOOL" -s "$spool" resume >/dev/null
sdk $api/v2/jobs/user1~waits/executionType -X PUT -H 'Content-Type: application/json' -d '{"value":"START"}'
is "$status" 202 "it is started again"
ok "and runs" wait_for 20 in_state waits "done"
sdk $api/v2/jobs/user1~waits/executionType -X PUT -H 'Content-Type: application/json' -d '{"value":"JUMP"}'
is "$status $(got .code)" "400 InvalidParametersError" "nothing else can be asked"
as 1 "$api/v1/jobs?username=user1" -A ''
is "$(got 'map(.name)')" '["waits","vscode_v2","vscode_v1"]' "its first version lists jobs, newest first"

# ---- the Python SDK (contrib/python-sdk/openpaisdk/cluster.py of v0.14.0), which sends {} with every GET ----
python $api/v1/token -d '{"username": "user1", "password": "secret1", "expiration": 3600}'
is "$status $(got .token)" "200 secret1" "it signs in"
as 1 $api/v2/jobs -A python-requests/2.28.1 -H 'Authorization: Bearer secret1' -H 'Content-Type: text/yaml' --data-binary '{"protocolVersion": 2, "name": "python_v2", "type": "job", "prerequisites": [{"protocolVersion": 2, "name": "img", "type": "dockerimage", "uri": "x/y:1"}], "taskRoles": {"t": {"instances": 1, "dockerImage": "img", "resourcePerInstance": {"cpu": 1, "memoryMB": 512, "gpu": 0}, "commands": ["true"]}}}'
is "$status" 202 "a job of version 2, which it calls YAML and sends as JSON"
python $api/v1/user/user1/jobs -H 'Authorization: Bearer secret1' --data-binary '{"jobName": "python_v1", "image": "x/y:1", "taskRoles": [{"name": "main", "taskNumber": 1, "cpuNumber": 1, "memoryMB": 512, "gpuNumber": 0, "command": "false"}]}'
is "$status" 202 "a job of version 1 as JSON"
python $api/v1/user/user1/jobs -X GET -d '{}'
is "$(got 'map(.name)[:2]')" '["python_v1","python_v2"]' "it lists one's jobs"
ended() { python $api/v1/user/user1/jobs/python_v2 -X GET -d '{}'; [ "$(got .jobStatus.state)" = SUCCEEDED ]; }
ok "it waits for the end" wait_for 20 ended
python $api/v1/user/user1/jobs/python_v2/config -X GET -d '{}'
is "$status $(got .name)" "200 python_v2" "version 1 has a job file as JSON"
python $api/v1/user/user1/jobs/python_v1/ssh -X GET -d '{}'
is "$status $(got .code)" "404 NoJobSshInfoError" "there is no ssh"

# ---- nothing else is there, and nothing of it for another site's page ----
vscode $api/v1/virtual-clusters
is "$status $(got .code)" "404 NoApiError" "other calls say that there is none"
as 1 $api/v2/jobs -X DELETE
is "$status $(got .code)" "404 NoApiError" "nor with another method"
as 1 $api/v2/jobs -H 'Origin: http://evil.example' -H 'Content-Type: text/yaml' --data-binary @"$scratch/v2.yaml"
is "$status" 403 "another site's page submits nothing"
kill $web && wait $web
is "$(<"$scratch/web.err")" "" "it had nothing to say"
done_testing
