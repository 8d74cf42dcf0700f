#!/usr/bin/env bash
# Queues that lend GPUs and take them back, in a cluster whose pods are really run: two jobs of a queue that owns none
# have all four GPUs, and a job of the lender comes.  The pods of both are ended; one saves its state, the other one
# does not listen and is killed when its grace is over.  Then the lender's job runs, and when it has ended they do
# again, as other objects.  (That a pod is sent another signal than SIGTERM before its end: 645-kubernetes-sizes.t.)
#
# Seen to fail with: tests/mutants/kubernetes-pod-has-no-time-to-save.patch.
[ "$(id -u)" != 0 ] || [ -n "$DLSPOOL_TEST_MOUNTS" ] || exec env DLSPOOL_TEST_MOUNTS=own unshare -m bash "$0" "$@"
. "$(dirname "$0")/lib.bash"
. "$(dirname "$0")/kubernetes.bash"
[ "$(id -u)" = 0 ] || skip_all "only root can run pods' commands"
start_cluster --really-run --node node-1,cpu=8,memory=64Gi,nvidia.com/gpu=4 || give_up "the stand-in starts"
kubernetes_spool || exit 1
at_exit 'stop_daemon; stop_cluster'
mkdir -m 777 "$scratch/kept"
git clone -q "$spool/templates.git" "$scratch/templates" &&
    sed -i "s|^  storage: \[\]|  storage: [{prefix: $scratch/kept, hostPath: {path: $scratch/kept}}]|; s|^  queues: {}|  queues: {prod: {}, research: {}}|" \
        "$scratch/templates/site.yaml" &&
    git -C "$scratch/templates" commit -qam "site: queues" && git -C "$scratch/templates" push -q || exit 1
set_setting host_paths "[$scratch/kept]" rows '[{queue: prod, gpus: 4, lend_gpus: 4}, {queue: research, gpus: 0, borrow_gpus: 4}]'
start_daemon

# job NAME SCRIPT LINE...: one that prints, and keeps files in its output.
job() {
    local name=$1 script=$2
    shift 2
    { printf '%s\n' "name: $name" "library: any" "type: single" "output: $scratch/kept" "$@" 'script: |' '  #!/bin/sh'
      sed 's/^/  /' <<<"$script"; } | drop "$name.yaml"
}
output_of() { cat "$(job_dir "$1")/output/main-0.log"; }
prints() { output_of "$1" | grep -q "$2"; }
printed() { grep -qs "$2" "$(job_dir "$1")/output-1/main-0.log"; }
log_of() { cat "$(job_dir "$1")/log"; }
record() { cat "$(job_dir "$1")/job.yaml"; }
job saves "echo \"begins at \$(cat \$DLSPOOL_OUTPUT/step 2>/dev/null || echo 0)\"
trap 'echo told; sleep 1.5; echo 7 >\$DLSPOOL_OUTPUT/step; echo saved; exit 3' TERM
[ -e \$DLSPOOL_OUTPUT/step ] || while :; do sleep 0.1; done" \
    'queue: research' 'tasks: {main: {gpus: 2}}' 'checkpoint: {signal: TERM, grace: 100s}'
job deaf "trap : TERM; echo begins
until [ -e \$DLSPOOL_OUTPUT/deaf-may-end ]; do sleep 0.1; done" \
    'queue: research' 'tasks: {main: {gpus: 2}}' 'checkpoint: {signal: TERM, grace: 1s}'
must "a job of a queue that owns no GPUs has two that another lends" wait_for 40 prints saves '^begins at 0$'
must "so has another" wait_for 40 prints deaf '^begins$'
like "$(dlspool limits)" 'queue research  *-  *borrow_gpus  *4  *4  *0$' "limits shows what is borrowed"
like "$(dlspool limits)" 'queue prod  *-  *lend_gpus  *4  *4  *0$' "and lent"

job own "echo runs; until [ -e \$DLSPOOL_OUTPUT/own-may-end ]; do sleep 0.1; done" 'queue: prod' 'tasks: {main: {gpus: 4}}'
must "when a job of the lender comes, it has them" wait_for 40 prints own '^runs$'
no_other_pods() { [ "$(objects pods | sed 's/-.*//' | xargs)" = own ]; }
ok "and no pod of the borrowers is left" wait_for 20 no_other_pods
for name in saves deaf; do
    ok "$name waits again" wait_for 20 in_state $name rendered
    like "$(log_of $name)" ' stopping .*signal=TERM .*reason="queue prod takes back GPUs of its own that were borrowed, for own-' \
        "was told for whom"
    like "$(log_of $name)" ' failed reason=Preempted .*why="The job was stopped at its checkpoint to free resources for other jobs: queue prod' \
        "as Preempted"
done
ok "what saves its state was told" printed saves '^told$'
must "and had its time for it" printed saves '^saved$'
# Which of them is told what depends on who came back first.
waits() {
    grep -q -e 'queue research .*, and the job needs 2, which no other queue has idle to lend' -e 'queue research has none of its own left' \
        -e 'queue research: jobs that came before it wait for room' "$(job_dir saves)/why"
}
ok "why says what it waits for" wait_for 20 waits
waits || { cat "$(job_dir saves)/why" "$(job_dir saves)/log"; } | sed 's/^/# /' >&2

touch "$scratch/kept/own-may-end" "$scratch/kept/deaf-may-end"
for name in own saves deaf; do ok "$name is done" wait_for 40 in_state $name "done"; done
ok "what had saved its state began there" prints saves '^begins at 7$'
for name in saves deaf; do
    is "$(record $name | grep -E '^(attempt|retried):' | xargs)" "retried: 0 attempt: 2" "$name has had a second attempt, and no retry"
done
is "$(order '{"order": "dump", "what": "users"}' | jq -c '[.users[] | .refused | keys[]] | unique')" '[]' "the Role of etc/ was enough"
done_testing
