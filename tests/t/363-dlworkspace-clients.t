#!/usr/bin/env bash
# DLWorkspace's REST calls against dlspool web, with the names, parameters and replies of src/RestAPI/dlwsrestapi.py
# (microsoft/DLWorkspace@27d3a3a, and c94fdd3 for SubmitJob); what changes something by POST only.
#
# Seen to fail with: tests/mutants/dlworkspace-believes-user-names.patch, dlworkspace-knows-no-all.patch.
. "$(dirname "$0")/lib.bash"
. "$(dirname "$0")/web.bash"
own_spool "$@"
approvers_are '[user2]' '{"true": {host_network: true}}'
start_daemon
start_web --idle 5s

# as N METHOD NAME-AND-QUERY CURL-OPTION...: a request of that user.  $status and $body are of the reply.
as() { request "$1" "/dlws/$3" -X "$2" "${@:4}"; }
got() { jq -cr "$1" <<<"$body" 2>&1; }
json=(-H 'Content-Type: application/json')

# ---- jobs are posted ----
as 1 POST PostJob "${json[@]}" -d '{"jobName": "cifar", "userName": "user1", "vcName": "default", "jobtrainingtype": "RegularJob", "jobType": "training", "image": "org/tools:1", "resourcegpu": "1", "cmd": "python train.py"}'
is "$status" 200 "PostJob takes a job"
id=$(got .jobId)
like "$id" '^cifar-' "and says its id"
as 1 POST "SubmitJob?jobName=old&userName=user1&userId=5001&jobType=training&jobtrainingtype=PSDistJob&numps=1&numpsworker=2&resourcegpu=0&cmd=echo%20%22a%26b%22&image=org%2Ftools%3A1"
is "$status" 200 "SubmitJob takes its parameters in the query"
ok "it runs" wait_for 20 in_state old "done"
is "$(jq -r .cmd "$(job_dir old)/request.json")" 'echo "a&b"' "as they were"
as 1 POST PostJob "${json[@]}" -d '{"jobName": "x", "userName": "user2", "cmd": "true"}'
is "$status $(got .error)" "403 userName: found \"user2\", and this connection is user1's" "nobody is somebody else by saying so"
as 1 POST PostJob "${json[@]}" -d '{"jobName": "x", "userName": "user1", "cmd": "true", "jobPath": "../../etc"}'
is "$status" 400 "a faulty job is refused"
like "$(got .error)" '^Cannot create job!.*jobPath' "with what is wrong"
as 1 POST PostJob "${json[@]}" -d '{"jobName": "x", "cmd": "true"}'
is "$status" 400 "userName is required"
as 1 POST PostJob "${json[@]}" -d '{"jobName": '
is "$status" 400 "a broken body"
is "$(ls -A "$spool/incoming")" "" "of these nothing was dropped"

# ---- and shown ----
wait_for 20 in_state cifar "done"
as 1 GET "ListJobs?userName=user1&vcName=default&jobOwner=user1&num=10"
is "$(got '[.meta, (.finishedJobs | map([.jobName, .userName, .vcName, .jobStatus, .jobType, .jobParams.resourcegpu]))]')" \
    '[{"queuedJobs":0,"runningJobs":0,"finishedJobs":2,"visualizationJobs":0},[["old","user1","default","finished","training",0],["cifar","user1","default","finished","training",1]]]' "ListJobs has both"
like "$(got '.finishedJobs[0].jobTime')" '^[A-Z][a-z]{2}, [0-9]{2} [A-Z][a-z]{2} [0-9]{4} [0-9:]{8} GMT$' "with times as there"
as 1 GET "ListJobs?userName=user1&num=1"
is "$(got '.finishedJobs | map(.jobName)')" '["old"]' "num of those that have ended"
as 2 GET "ListJobs?userName=user2&vcName=default&jobOwner=user2"
is "$(got .meta.finishedJobs)" 0 "another has none of their own"
as 2 GET "ListJobs?userName=user2&vcName=default&jobOwner=all"
is "$(got .meta.finishedJobs)" 2 "and sees all when they ask for all"
as 1 GET "ListJobs?userName=user1&vcName=all&jobOwner=all"
is "$(got .meta.finishedJobs)" 2 "of whatever virtual cluster"
as 1 GET "ListJobs?userName=user1&vcName=none"
is "$(got .meta.finishedJobs)" 0 "one that has no jobs has none"
as 2 GET "ListJobs?userName=user1&jobOwner=user1"
is "$status" 403 "but not as somebody else"
as 1 GET "GetJobDetail?jobId=$id&userName=user1"
is "$(got '[.jobId, .jobStatus, .errorMsg, .log]')" "[\"$id\",\"finished\",null,\"\"]" "GetJobDetail"
as 2 GET "GetJobStatus?jobId=$id"
is "$(got 'keys')" '["errorMsg","jobStatus","jobTime"]' "GetJobStatus needs no user"
as 1 GET "GetJobDetail?jobId=nothing&userName=user1"
is "$status" 404 "a job that is not there"
mkdir -p "$(job_dir cifar)/output" && printf 'one\n\xff\n' >"$(job_dir cifar)/output/master-0.log" && chown -R 5001 "$(job_dir cifar)/output"
as 1 GET "GetJobLog?jobId=$id&userName=user1"
is "$(got '[.log, .cursor]')" $'[{"master-0":"one\\n\xef\xbf\xbd\\n"},"master-0=6"]' "GetJobLog has what the tasks printed"
as 1 GET "GetJobLog?jobId=$id&userName=user1&cursor=master-0=4"
is "$(got '[.log, .cursor]')" $'[{"master-0":"\xef\xbf\xbd\\n"},"master-0=6"]' "from the cursor on"
cat >"$spool/capacity" <<EOF
2026-11-26T10:00:00.000Z capacity cpus=8000 cpus_free=2000 memory=100 memory_free=40 gpus=4 gpus_free=1 nodes=2 nodes_ready=1
2026-11-26T10:00:00.000Z gpus type=a100 count=4 free=1
2026-11-26T10:00:00.000Z node name=n1 state=ready cpus=8000 cpus_free=2000 memory=100 memory_free=40 gpus=4 gpus_free=1
2026-11-26T10:00:00.000Z node_gpus node=n1 type=a100 count=4 free=1
2026-11-26T10:00:00.000Z node name=n2 state=down cpus=4000 cpus_free=4000 memory=50 memory_free=50 gpus=2 gpus_free=2
2026-11-26T10:00:00.000Z node_gpus node=n2 type=a100 count=2 free=2
EOF
as 1 GET "GetClusterStatus?userName=user1"
is "$(got '[.gpu_capacity, .gpu_used, .gpu_available, .gpu_unschedulable, .cpu_capacity, .cpu_unschedulable, (.node_status[] | [.name, .unschedulable, .gpu_unschedulable.a100])]')" \
    '[{"a100":6},{"a100":3},{"a100":1},{"a100":2},12,4,["n1",false,null],["n2",true,2]]' "with its nodes"
is "$(got '[.gpu_capacity, .gpu_avaliable, .user_status, .node_status] | map(type)')" '["object","object","array","array"]' "GetClusterStatus"
as 1 GET "ListVCs?userName=user1"
is "$(got '.result | map([.vcName, .admin])')" '[["default",false]]' "ListVCs"

# ---- and changed ----
"$DLSPOOL" -s "$spool" pause >/dev/null
post() { as 1 POST PostJob "${json[@]}" -d "{\"jobName\": \"$1\", \"userName\": \"user1\", \"image\": \"org/tools:1\", \"cmd\": \"true\"${2-}}"; id=$(got .jobId); }
post waits
as 1 GET "KillJob?jobId=$id&userName=user1"
is "$status" 405 "nothing is changed by GET"
like "$(got .detail)" 'this path takes POST' "which is said"
as 2 POST "KillJob?jobId=$id&userName=user2"
is "$status $(got .result)" "403 Cannot Kill the job. Job ID:$id" "another does not kill it"
as 2 POST "KillJob?jobId=$id&userName=user1"
is "$status" 403 "nor as its owner"
as 1 POST "PauseJob?jobId=$id&userName=user1"
is "$status $(got .result)" "200 Success, the job is scheduled to be paused." "its owner pauses it"
ok "it is paused" wait_for 20 in_state waits held
as 1 GET "GetJobStatus?jobId=$id"
is "$(got .jobStatus)" paused "which is its status"
as 1 POST ResumeJob -d "jobId=$id&userName=user1"
is "$status $(got .result)" "200 Success, the job is scheduled to be resumed." "and resumed, with a form"
ok "it waits again" wait_for 20 in_state waits rendered
first=$id
post second
as 1 POST "KillJobs?jobIds=$first,$id,nothing&userName=user1"
is "$(got ".result | [.[\"$first\"], .[\"$id\"], .nothing]")" '["successfully killed","successfully killed","failed to kill"]' "several at once"
killed() { as 1 GET "GetJobStatus?jobId=$id"; [ "$(got .jobStatus)" = killed ]; }
ok "they are killed" wait_for 20 killed
as 1 POST "KillJob?jobId=old&userName=user1"
is "$status" 409 "what has ended cannot be killed"
"$DLSPOOL" -s "$spool" resume >/dev/null
post special ', "isPrivileged": true'
ok "what is special waits" wait_for 20 in_state special held
as 1 GET "GetJobStatus?jobId=$id"
is "$(got .jobStatus)" unapproved "for an approval"
as 1 POST "ApproveJob?jobId=$id&userName=user1"
is "$status $(got .result)" "403 Cannot approve the job. Job ID:$id" "its owner does not approve it, as they could there"
as 2 POST "ApproveJob?jobId=$id&userName=user2"
is "$status $(got .result)" "200 Success, the job has been approved." "an approver does"
ok "and it runs" wait_for 20 in_state special "done"
as 1 POST "KillJob?jobId=$id&userName=user1" -H 'Origin: http://evil.example'
is "$status" 403 "another site's page asks for nothing"
kill $web && wait $web
is "$(<"$scratch/web.err")" "" "it had nothing to say"
done_testing
