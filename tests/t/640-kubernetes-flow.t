#!/usr/bin/env bash
# Jobs on a cluster, from drop to done: the server is the stand-in, with the rights of
# etc/kubernetes-role.yaml.
. "$(dirname "$0")/lib.bash"
. "$(dirname "$0")/kubernetes.bash"
start_cluster || give_up "the stand-in starts"
kubernetes_spool || exit 1
set_setting probe_interval 500ms
at_exit 'stop_daemon; stop_cluster'

# job NAME [LINE...]: drop a job that says a word; more lines of its file.
job() {
    local name=$1
    shift
    { printf 'name: %s\nlibrary: any\ntype: %s\n' "$name" "${type:-single}"; [ $# = 0 ] || printf '%s\n' "$@"; case "$*" in
    *tasks:* | *script:*) ;; *) echo 'script: "#!/bin/sh\necho hello"' ;; esac; } | drop "$name.yaml"
}
# One that is not an annotation of its pods, so that it is an object of its own.
long_script="script: \"#!/bin/sh\\necho hello\\n$(printf '#%.0s' {1..3000})\""
log_of() { cat "$(job_dir "$1")/log"; }
says() { log_of "$1" | grep -Eq -- "$2"; }

# What there is
there_is() { [ "$(dlspool status --json | jq -c '[.executor.ready, .executor.capacity.nodes.total, .executor.capacity.gpus.total]')" = "$1" ]; }
ok "status: ready, two nodes, sixteen GPUs" wait_for 10 there_is '[true,2,16]'
order '{"order": "node", "name": "node-2", "action": "cordon"}' >/dev/null
like "$(dlspool nodes 2>&1)" '^node-1 +ready +0 of 64 .* 0 of 8 nvidia.com/gpu'$'\n''node-2 +drained .* cordoned [(]20' "nodes tells which node is cordoned"
order '{"order": "node", "name": "node-2", "action": "uncordon"}' >/dev/null
fate 'quick-' '"output": "one line\nand another"'
start_daemon

# From drop to done
job quick
must "a job is done" wait_for 30 in_state quick "done"
is "$(<"$(job_dir quick)/output/main-0.log")" $'one line\nand another' "what it printed is in output/"
is "$(ls -A "$(job_dir quick)/output")" main-0.log "and nothing else, as it was copied at once"
like "$(dlspool logs --since 10m quick)" '^one line' "logs --since prints it"
is "$(touch -d '1 hour ago' "$(job_dir quick)/output/main-0.log"; dlspool logs --since 10m quick 2>/dev/null)" "" "but not what is older"
like "$(dlspool show --json quick | jq -c .ran)" '^\[\{"role":"main","image":"sha256:[0-9a-f]{64}"\}\]$' \
    "the digest of the image that the node ran is in its record"
gone() { ! objects "$1" | grep -q "^$2"; }
ok "its Jobs are gone" wait_for 20 gone jobs quick
ok "its pods are gone" wait_for 20 gone pods quick

# How jobs fail
fate 'three-' '"exit_code": 3, "output": "no luck"'
fate 'greedy-' '"oom": true'
fate 'missing-' '"start_error": "exec: \"train\": executable file not found in $PATH"'
fate 'slow-' '"seconds": -1'
fate 'pushed-' '"evict": "The node was low on resource: memory.", "seconds": 0.1, "count": 1'
job three; job greedy; job missing 'units: {total: 9, pattern: "step {done}"}'; job slow 'time_limit: 1s'; job pushed
for name in three greedy missing slow; do
    ok "$name fails" wait_for 40 has_ended $name
done
like "$(<"$(job_dir three)/job.yaml")" 'exit_code: 3' "the exit code is kept"
like "$(<"$(job_dir greedy)/why")" 'more memory than it asked for' "out of memory is told apart"
like "$(<"$(job_dir missing)/job.yaml")" 'reason: "StartError"' "so is a command that is not there"
unlike "$(<"$scratch/daemon.log")" 'track was ended' "that it counts units, and never ran, does no harm"
like "$(<"$(job_dir slow)/job.yaml")" 'reason: "TimeLimit"' "and the time limit"
ok "a job that was evicted is tried again" wait_for 40 in_state pushed "done"
like "$(log_of pushed)" 'reason=Evicted' "and its log says why"
like "$(log_of pushed)" 'submitted attempt=2' "under a new name"

# The accounts have what the pods' status tells: when, where, how they ended; not what they used.
acct() { dlspool acct -P --noheader -o "$2" "$(basename "$(job_dir "$1")")"; }
like "$(acct three State,ExitCode,NNodes,NodeList,TotalCPU,MaxRSS,GPUSeconds)" '^FAILED[|]3:0[|]1[|][a-z0-9-]+[|]unknown[|]unknown[|]0$' "the accounts say where a job ran, and what nobody counts is unknown"
is "$(acct pushed Attempt,State,Reason | xargs)" "1|PREEMPTED|Evicted 2|COMPLETED|None" "an attempt that was evicted has its line"
is "$(for name in greedy missing slow; do acct $name State; done | xargs)" "OUT_OF_MEMORY FAILED TIMEOUT" "states are told apart"
is "$(dlspool acct --json "$(basename "$(job_dir slow)")" | jq -c '.[0] | (.ended > .started), (.elapsed_seconds - .cpu_held_seconds / .cpus | fabs < 0.01)' | xargs)" "true true" "it held what it had for as long as its pod ran"

# A pod that is told to go is gone as soon as it has ended: how it ended is not forgotten.
fate 'ousted-' '"seconds": -1, "count": 1'
job ousted
wait_for 20 says ousted '^[^ ]+ started'
order '{"order": "pod", "namespace": "dlspool", "name": "ousted-", "action": "preempt"}' >/dev/null
ok "a job that was preempted is tried again" wait_for 40 in_state ousted "done"
like "$(log_of ousted)" 'reason=Preempted' "and its log says why"

# Why jobs wait
fate 'tall-' '"unschedulable": "0/2 nodes are available: 2 Insufficient cpu."'
fate 'odd-' '"image_error": "manifest for docker.io/library/nothing:1 not found"'
job tall; job odd
ok "the scheduler's words are in the log" wait_for 30 says tall 'waiting .*2 Insufficient cpu'
ok "and the kubelet's" wait_for 30 says odd 'waiting .*nothing:1 not found'
sleep_until=$((SECONDS + 3))
wait_for 5 test $SECONDS -ge $sleep_until
is "$(log_of odd | grep -c waiting)" 1 "once, although the kubelet tries and backs off by turns"
order '{"order": "no_fates"}' >/dev/null
dlspool retry "$(basename "$(job_dir odd)")" >/dev/null 2>&1

# Killing
fate 'long-' '"seconds": -1'
job long
ok "a job runs" wait_for 20 says long ' started '
ok "it is killed" dlspool kill long
ok "and fails" wait_for 20 in_state long failed
like "$(<"$(job_dir long)/why")" 'killed by' "why says who killed it"
ok "nothing of it runs on" wait_for 20 gone pods long
fate 'deaf-' '"seconds": -1, "term_seconds": 600'
job deaf
ok "another runs" wait_for 20 says deaf ' started '
dlspool kill deaf
ok "one that ignores the polite signal is killed with force" wait_for 20 in_state deaf failed
ok "nothing of it runs on either" wait_for 20 gone pods deaf

# Quotas
admin() { curl -sS --cert "$api/admin.crt" --key "$api/admin.key" --cacert "$api/ca.crt" -H 'Content-Type: application/json' "$@"; }
server=https://127.0.0.1:$(<"$api/port")
admin -X POST "$server/api/v1/namespaces/dlspool/resourcequotas" -d '{"apiVersion": "v1", "kind": "ResourceQuota",
    "metadata": {"name": "few"}, "spec": {"hard": {"count/jobs.batch": "0"}}}' >/dev/null
job full
declined() { says full ' declined ' && [ -e "$(job_dir full)/why" ]; }
ok "a quota declines a job" wait_for 20 declined
is "$(state_of full)" rendered "which waits in rendered/"
like "$(<"$(job_dir full)/why")" '^Waiting for resources: .*exceeded quota' "why has the server's words"
admin -X DELETE "$server/api/v1/namespaces/dlspool/resourcequotas/few" >/dev/null
ok "it goes on when there is room" wait_for 40 in_state full "done"

# Roles
order '{"order": "no_fates"}' >/dev/null
fate 'servers-.*-ps-' '"seconds": -1'
type=distributed job servers 'tasks:' '  ps: {count: 2, command: [serve]}' '  worker: {count: 2, command: [work]}' \
    'complete: {worker: {succeeded: 2}}'
ok "a job is complete when its workers are, and its servers are ended" wait_for 40 in_state servers "done"
is "$(cd "$(job_dir servers)/output" && echo *.log)" "ps-0.log ps-1.log worker-0.log worker-1.log" "all tasks' output is there"
ok "nothing of it runs on" wait_for 20 gone pods servers

# The server goes away and comes back; watches expire; the credential changes
fate 'patient-' '"seconds": 3'
job patient
ok "a job runs" wait_for 20 says patient ' started '
order '{"order": "watches", "action": "compact"}' >/dev/null
order '{"order": "restart", "down": 1}' >/dev/null
ok "it is followed through a restart of the server" wait_for 40 in_state patient "done"
is "$(log_of patient | grep -c ' submitted ')" 1 "and ran once"
cp "$api/kubeconfig" "$scratch/old"
order '{"order": "token"}' >/dev/null
job renewed
ok "a new token in the kubeconfig is read" wait_for 40 in_state renewed "done"

# What an administrator has to mend
cp "$api/kubeconfig" "$scratch/new"
order '{"order": "token"}' >/dev/null
cp "$api/kubeconfig" "$scratch/newest"
cp "$scratch/new" "$api/kubeconfig"
job locked
unauthorized() { grep -q '^Waiting for the executor: .*401 Unauthorized.*Renew it in the kubeconfig' "$(job_dir locked)/why"; }
ok "a job waits while the token is not accepted, and why says so" wait_for 20 unauthorized
is "$(state_of locked)" rendered "in rendered/"
cp "$scratch/newest" "$api/kubeconfig"
ok "and goes on with the next token" wait_for 40 in_state locked "done"
order '{"order": "misbehave", "method": "POST", "path": "/configmaps", "action": "status", "code": 403, "body": "{\"kind\": \"Status\", \"reason\": \"Forbidden\", \"message\": \"configmaps is forbidden: User \\\"dlspool\\\" cannot create resource\"}"}' >/dev/null
job rightless "$long_script"
ok "a job fails for which a right is missing" wait_for 20 in_state rightless failed
like "$(<"$(job_dir rightless)/why")" '^Next: not retried. Ask an administrator of the cluster for that right, then run: dlspool retry rightless-' \
    "why says whom to ask for it, and what to type then"
ok "which is retried" dlspool retry rightless
ok "and runs" wait_for 40 in_state rightless "done"

# Kept for a look
job kept 'debug: 3s' "$long_script"
ok "a job with debug is done" wait_for 20 in_state kept "done"
is "$(objects jobs | grep -c '^kept') $(objects configmaps | grep -c '^kept')" "1 1" "its Job is kept, and its script"
ok "until its time is over" wait_for 20 gone jobs kept
ok "and its script is gone, too" wait_for 20 gone configmaps kept

# Asking the server
printf 'name: ask\nlibrary: any\ntype: single\nscript: "#!/bin/sh"\n' >"$scratch/ask.yaml"
like "$(dlspool render --server "$scratch/ask.yaml")" 'dnsPolicy' "render --server shows the server's defaults"
is "$(objects jobs | grep -c '^ask')" 0 "and leaves nothing"

# live_max
stop_daemon
set_setting kubernetes.live_max 12
order '{"order": "no_fates"}' '{"order": "reset_counts"}' >/dev/null
fate 'many-' '"seconds": 0.2'
for i in $(seq 60); do
    printf 'name: many-%d\nlibrary: any\ntype: single\ntasks:\n  main: {command: [work]}\n' $i >"$scratch/many-$i.yaml"
done
mv "$scratch"/many-*.yaml "$spool/incoming/"
start_daemon
all_done() { [ "$(find "$spool/done" -maxdepth 2 -name 'many-*' | wc -l)" = 60 ]; }
ok "sixty jobs are done, a few at a time" wait_for 60 all_done
most=$(order '{"order": "dump", "what": "most"}' | jq '.most.jobs')
ok "never more than live_max at the server: $most" test "$most" -le 12
ok "but as many as it allows" test "$most" -ge 6

# Secrets, and rights
stop_daemon
token=$(<"$api/token") old=$(sed -n 's/.*token: *//p' "$scratch/old" | tr -d '"')
is "$(grep -rlF -e "$token" -e "$old" "$spool" "$scratch/daemon.log" | wc -l)" 0 "no file and no message has the token"
refused=$(order '{"order": "dump", "what": "users"}' | jq -c '[.users[] | .refused | keys[]] | unique')
is "$refused" '[]' "the Role of etc/ was enough"
revisions=$(order '{"order": "dump", "what": "pods"}' | jq -r '.pods[] | .name' | sort | uniq -d | wc -l)
is "$revisions" 0 "no pod's name came twice"
unlike "$(<"$scratch/daemon.log")" 'stage .* (died|ended)' "no stage died"

# Without the right to list nodes they are not known, which is said, and nothing else changes.
stop_daemon
stop_cluster
sed '/^# From here on it can be left out/,$d' "$top/etc/kubernetes-role.yaml" >"$scratch/role.yaml"
role=$scratch/role.yaml
api=$scratch/less
start_cluster || give_up "a cluster starts whose nodes may not be listed"
kubernetes_spool || exit 1
output=$(dlspool nodes 2>&1)
is $? 1 "nodes are not known there"
like "$output" 'may not list nodes [(]the ClusterRole in etc/kubernetes-role.yaml allows it' "and what would help is said"
start_daemon
job lowly
ok "jobs run as elsewhere" wait_for 30 in_state lowly "done"
unlike "$(<"$scratch/daemon.log")" 'may not list nodes.*may not list nodes' "and the log is not full of it"

done_testing
