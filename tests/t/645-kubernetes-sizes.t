#!/usr/bin/env bash
# Jobs in a cluster that are given other sizes while they run: an elastic one has tasks added, a pod has
# its processors changed, and what can neither is told to save its state, ended, and made again as another
# object; and the signal for that, as a pod is told it.  An elastic job that loses a task gets it back.
. "$(dirname "$0")/lib.bash"
. "$(dirname "$0")/kubernetes.bash"
start_cluster || give_up "the stand-in starts"
kubernetes_spool || exit 1
at_exit 'stop_daemon; stop_cluster'
set_setting dwell 500ms
fate 'flexible-|grows-|again-|loses-' '"seconds": -1'
start_daemon
job() { # job NAME TYPE LINES...
    local name=$1 type=$2
    shift 2
    { printf 'name: %s\nlibrary: any\ntype: %s\n' "$name" "$type"
      for line; do printf '%s\n' "$line"; done; } | drop "$name.yaml"
}
log_of() { cat "$(job_dir "$1")/log"; }
# the_job NAME: its newest Job at the server.
the_job() { order '{"order": "dump", "what": "objects", "kind": "jobs"}' |
    jq -c "[.objects[] | select(.metadata.name | startswith(\"$1-\"))] | sort_by(.metadata.name) | last"; }
has() { [ "$(the_job "$1" | jq -r "$2")" = "$3" ]; }
running() { [ "$(order '{"order": "dump", "what": "objects", "kind": "pods"}' |
    jq "[.objects[] | select((.metadata.name | startswith(\"$1-\")) and .metadata.deletionTimestamp == null and .status.phase == \"Running\")] | length")" = "$2" ]; }
pod_cpus() { order '{"order": "dump", "what": "objects", "kind": "pods"}' |
    jq -r ".objects[] | select(.metadata.name | startswith(\"$1-\")) | .spec.containers[0].resources.limits.cpu"; }

cpus_are() { [ "$(pod_cpus "$1")" = "$2" ]; }
pods_of() { order '{"order": "dump", "what": "pods"}' | jq "[.pods[] | select(.name | startswith(\"$1-\"))] | length"; }
# request NAME GENERATION KIND FROM TO: what the submit stage writes when its plan has changed.  (Of jobs of which
# nothing is known, its own plans change nothing.)  Its pod may run before the job is in submitted/.
request() {
    local directory
    wait_for 30 in_state "$1" submitted
    directory=$(job_dir "$1")
    printf '%s resize generation=%d kind=%s from=%d to=%d reason="a test"\n' "$(date -u +%FT%T.000Z)" "${@:2}" \
        >"$directory/.resize.new" && mv "$directory/.resize.new" "$directory/resize"
}

job flexible single 'tasks: {main: {cpus: 1, memory: 64Mi, command: [work]}}' 'size: {min: 1, max: 2}'
must "a job runs in a pod" wait_for 30 running flexible 1
request flexible 1 cpus 1000 2000
ok "its processors are changed" wait_for 30 cpus_are flexible 2
resized() { log_of "$1" | grep -q " resized .*to=$2"; }
ok "as soon as its node says so, the log does" wait_for 30 resized flexible 2000
is "$(pods_of flexible)" 1 "it is the same pod all the time"

job grows elastic 'tasks: {worker: {count: 1, cpus: 1, memory: 64Mi, command: [work]}}' 'size: {min: 1, max: 4}'
ok "an elastic job begins with one task" wait_for 30 running grows 1
request grows 1 tasks 1 4
ok "it gets more" wait_for 30 running grows 4
is "$(the_job grows | jq -c '[.spec.parallelism, .spec.completions, .spec.maxFailedIndexes, .metadata.name[-3:]]')" \
    '[4,4,3,"-a1"]' "by its one Job, which runs on"
ok "the log says so" wait_for 10 resized grows 4
request grows 2 tasks 4 2
ok "and loses some" wait_for 30 running grows 2
ok "which is no failure" in_state grows submitted

# A task that is lost: it rests, its Job makes another pod for it, and the job fails when too few are left.
lose() { # lose INDEX...: the newest pods of these tasks end, and rest until they are let go
    local index
    order '{"order": "set", "name": "job_backoff", "value": 1000}' >/dev/null
    for index; do
        order "{\"order\": \"pod\", \"action\": \"finish\", \"exit_code\": 137, \"name\": \"$(newest "$index")\"}" >/dev/null
    done
}
newest() { order '{"order": "dump", "what": "objects", "kind": "pods"}' |
    jq -r "[.objects[] | select(.metadata.name | test(\"^loses-.*-$1-[a-z0-9]*$\"))] | sort_by(.status.phase == \"Running\") | last | .metadata.name"; }
said() { log_of loses | grep -q "$1"; }
job loses elastic 'tasks: {worker: {count: 3, cpus: 1, memory: 64Mi, command: [work]}}' 'size: {min: 2, max: 3}'
must "an elastic job of three runs" wait_for 30 running loses 3
wait_for 30 in_state loses submitted
first=$(newest 2)
lose 2
ok "the log says that it has lost a task" wait_for 30 said ' lost attempt=1 task=worker-2 exit_code=137 '
is "$("$DLSPOOL" -s "$spool" show --json loses | jq -c .lost)" '["worker-2"]' "and so does \`show\`"
like "$("$DLSPOOL" -s "$spool" list)" 'worker-2 is lost' "and \`list\`"
order '{"order": "set", "name": "job_backoff", "value": 0.1}' >/dev/null
ok "it is started again" wait_for 30 said ' returned attempt=1 task=worker-2$'
said ' returned attempt=1' || { log_of loses; tail -n 20 "$scratch/daemon.log"; order '{"order": "dump", "what": "objects", "kind": "pods"}' |
    jq -c '.objects[] | select(.metadata.name | test("^loses-")) | [.metadata.name, .metadata.annotations, .status]'; } | sed 's/^/# /' >&2
is "$("$DLSPOOL" -s "$spool" show --json loses | jq -c .lost)" '[]' "so it is not lost any more"
unlike "$(newest 2)" "^$first\$" "in another pod"
unlike "$(log_of loses)" ' failed ' "of the same attempt"
lose 1 2
ok "with fewer than size.min left the attempt fails" wait_for 30 said ' ended attempt=1 .* outcome=failed worker-0=143 worker-1=137 worker-2=137'

# What knows only its first size is stopped, and made again.
job again distributed 'tasks: {worker: {count: 2, cpus: 1, memory: 64Mi, command: [work]}}' 'size: {min: 1, max: 4}' \
    'checkpoint: {signal: USR1, grace: 40s}' 'time_limit: 1h' 'signal: {name: USR2, before: 10m}'
ok "another job runs" wait_for 30 running again 2
is "$(the_job again | jq -c '[.spec.template.spec.terminationGracePeriodSeconds, .spec.template.spec.containers[0].lifecycle.preStop.exec.command[4]]')" \
    '[40,"USR1"]' "it is told to save its state before it is ended"
request again 1 tasks 2 4
again() { [ "$(the_job again | jq -r '.metadata.name[-3:]')" = -a2 ]; }
ok "it is made again, as another object" wait_for 40 again
like "$(log_of again)" ' failed .*reason=Resized' "the log says why the first one ended"

# What the pod does then, in a place where no process but its own can be seen.
the_job again | jq -r '.spec.template.spec.containers[0].lifecycle.preStop.exec.command[2]' >"$scratch/hook"
cat >"$scratch/program.py" <<'PYTHON'
import os, signal, time
def save(*_):
    print("told", flush=True)
    if os.getpid() == main:
        time.sleep(0.3)
        print("saved", flush=True)
        os._exit(0)
signal.signal(signal.SIGUSR1, save)
main = os.getpid()
if os.fork():
    print("ready", flush=True)
time.sleep(20)
PYTHON
if unshare --fork --pid --mount-proc true 2>/dev/null; then
    said=$(unshare --fork --pid --mount-proc --kill-child bash -c '
        cd "$0"
        sh -c "sleep 20 & sh -c \"python3 program.py; echo goes on\"" >said &
        until grep -qs ready said; do sleep 0.05; done
        timeout 10 /bin/sh -c "$(cat hook)" dlspool USR1 10 && echo over >>said
        tr "\n" " " <said' "$scratch")
    like "$said" '^ready told saved (goes on over|over goes on) $' \
        "the program behind its shells is told, once, and is waited for"
    # Before its time limit, it is told by what runs beside it, since the pod began.
    is "$(the_job again | jq -r '.spec.template.spec.containers[0].env[] | select(.name == "DLSPOOL_SIGNAL") | .value')" \
        "USR2 12 3000" "a pod is told when to send which signal"
    the_job again | jq -r '.spec.template.spec.containers[0].command[2]' | sed 's/\$\$/$/g' >"$scratch/start"
    said=$(DLSPOOL_SIGNAL='USR2 12 1' unshare --fork --pid --mount-proc --kill-child bash -c '
        cd "$0"
        sh -c "$(cat start)" dlspool bash -c "trap \"echo warned; exit\" USR2; for i in {1..100}; do sleep 0.1; done"
        exit' "$scratch")
    is "$said" warned "and sends it"
    # A shell that reads ahead, as bash does, finds a program that wakes up and falls asleep all the time.
    sed '/^}/q' "$scratch/hook" >"$scratch/look"
    said=$(unshare --fork --pid --mount-proc --kill-child bash -c '
        cd "$0"
        python3 -c "
import signal, time
signal.signal(signal.SIGUSR1, lambda *_: None)
open(\"restless\", \"w\").close()
while True: time.sleep(0.0005)
" &
        until test -e restless; do sleep 0.05; done
        . ./look
        dlspool_bit=9 seen=0
        for i in {1..1000}; do look $! && [ "$dlspool_parent $dlspool_caught" = "$$ 1" ] && seen=$((seen + 1)); done
        echo $seen' "$scratch")
    is "$said" 1000 "also one that wakes up and falls asleep all the time"
else
    echo "# no process namespaces here: what the pod does then was not tried"
fi
is "$(order '{"order": "dump", "what": "users"}' | jq -c '[.users[] | .refused | keys[]] | unique')" '[]' "the Role of etc/ was enough"

done_testing
