#!/usr/bin/env bash
# What a site gives only by approval: such a job waits in held/ until an approver who is not its owner has approved it,
# and fails with the words of a refusal.  Nobody approves a job of their own, as owners could in DLWorkspace; neither
# root nor an administrator passes by the list; an approval of something else is void.
#
# Seen to fail with: tests/mutants/approval-*.patch.
. "$(dirname "$0")/lib.bash"
[ "$(id -u)" = 0 ] || skip_all "other users' files are made by root"
owner=nobody approver=games other=news
new_spool null || exit 1
chmod 1777 "$spool/incoming"
cat >"$scratch/privileges" <<ROWS
administrators: [daemon]
approvers: [$approver, $other]
privileges:
  rdma: {capabilities: [IPC_LOCK], devices: [/dev/infiniband/uverbs0]}
  perf: {capabilities: [PERFMON], approve: no}
  hostnet: {host_network: true}
ROWS
rows='[]'
settings() { # the rows above into dlspool.yaml, in force
    local stages
    stages=$(grep -c 'dlspool.yaml has changed' "$scratch/daemon.log" 2>/dev/null)
    sed -i -e '/^administrators:/d' -e '/^approvers:/d' -e '/^privileges:/d' -e '/^  \(rdma\|perf\|hostnet\): /d' "$spool/dlspool.yaml"
    cat "$scratch/privileges" >>"$spool/dlspool.yaml"
    set_setting rows "$rows"
    [ -z "$daemon" ] || wait_for 20 changed "$stages"
}
changed() { [ "$(grep -c 'dlspool.yaml has changed' "$scratch/daemon.log")" -gt "$1" ]; }
settings
start_daemon

# as USER NAME [LINE...]: a job of that user is dropped.
as() {
    local user=$1 name=$2
    shift 2
    printf '%s\n' "name: $name" 'script: "true"' "$@" >"$scratch/as.tmp"
    chown "$user" "$scratch/as.tmp"
    mv "$scratch/as.tmp" "$spool/incoming/$name.yaml"
}
tell() { printf '%s\n' "$3" >"$scratch/tell.tmp"; chown "$1" "$scratch/tell.tmp"; mv "$scratch/tell.tmp" "$spool/incoming/$2.yaml"; }
run_as() { local user=$1; shift; setpriv --reuid "$user" --regid nogroup --clear-groups "$DLSPOOL" -s "$spool" "$@"; }
why() { cat "$(job_dir "$1")/why"; }
id_of() { basename "$(job_dir "$1")"; }
says() { in_state "$1" "$2" && why "$1" 2>/dev/null | grep -q "$3"; }
manifest() { sed -n 's/^first_manifest_sha256: "\(.*\)"/\1/p' "$(job_dir "$1")/job.yaml"; }
# refuses NAME PATTERN: a control file of that name became a failed job that says so.
refuses() { wait_for 20 says "$1" failed "$2"; }

# It waits, and says for what and whom.
as $owner fast 'privileged: [rdma, perf]'
must "a job that asks for a privilege waits" wait_for 20 in_state fast held
id=$(id_of fast)
like "$(why fast)" '^Waiting for approval: privilege rdma \(capability IPC_LOCK, device /dev/infiniband/uverbs0\)\.$' \
    "why says what wants approval, and no more"
like "$(why fast)" "it goes on when games or news approves it: dlspool approve $id, and fails" "and who may, by which command"
like "$(<"$(job_dir fast)/log")" ' held cause=approval wants="privilege rdma"' "the log has it"
like "$(run_as $approver list --approvals)" "$id" "list --approvals shows it to an approver"
is "$(run_as $owner list --approvals --json)" "[]" "and nothing to its owner"

printf 'name: dry\nprivileged: rdma\nscript: "true"\n' >"$scratch/dry.yaml"
like "$(dlspool submit --dry-run "$scratch/dry.yaml" 2>&1)" 'note: approval: the job will wait in held/ for it: privilege rdma' \
    "submit --dry-run says so before"

# Who may not.
said=$(run_as $owner approve "$id" 2>&1)
is "$?" 1 "its owner cannot approve it"
like "$said" "nobody decides about a job of their own" "and is told"
tell $owner own "approve: $id"
ok "nor by a file, as owners could in DLWorkspace" refuses own 'nobody decides about a job of their own'
tell root root "approve: $id"
ok "root has no by-pass" refuses root 'root is none of the approvers of dlspool.yaml'
tell daemon admin "approve: $id"
ok "nor has an administrator" refuses admin 'daemon is none of the approvers'
printf 'approve: %s\n' "$id" >"$scratch/open.tmp"
chown $approver "$scratch/open.tmp" && chmod 666 "$scratch/open.tmp" && mv "$scratch/open.tmp" "$spool/incoming/open.yaml"
ok "a file of the approver's that others may write is nobody's word" refuses open 'chmod'
like "$(dlspool release "$id" 2>&1)" 'is not held: it waits for an approval' "release says that it gives none"
tell root release "release: $id"
wait_for 20 test ! -e "$spool/incoming/release.yaml"
tell $approver older "approve: {job: $id, manifest: $(printf '%064d' 0)}"
ok "an approval of another manifest is refused" refuses older 'its manifest is another one now'
is "$(state_of fast)" held "it still waits"

# Who may.
is "$(run_as $approver approve fast)" "asked to approve $id: privilege rdma" "an approver approves it, by its name"
ok "and it runs" wait_for 20 in_state fast "done"
like "$(<"$(job_dir fast)/log")" " approve by=games uid=$(id -u $approver) request=[0-9a-f]{64} manifest=[0-9a-f]{64} " "the log says who"
like "$(<"$(job_dir fast)/log")" ' requeued cause=approved ' "and that it went on for that"
as $owner cheap 'privileged: perf'
ok "what the site gives without approval does not wait" wait_for 20 in_state cheap "done"

# Refusals.
as $owner greedy 'privileged: hostnet'
wait_for 20 in_state greedy held
run_as $approver refuse "$(id_of greedy)" 2>"$scratch/said"
is "$?" 2 "a refusal needs words"
like "$(run_as $approver refuse greedy --reason $'no\nno' 2>&1)" 'found several lines, expected one that says why' "a refusal of several lines is none"
is "$(run_as $approver refuse "$(id_of greedy)" --reason 'use the fabric: "rdma"')" \
    "asked to refuse $(id_of greedy): privilege hostnet" "a job is refused"
ok "it fails with the words" wait_for 20 says greedy failed 'Refused by games: use the fabric: "rdma"'
like "$(why greedy)" 'not retried. To ask again: dlspool retry' "and says what its owner can do"
run_as $owner retry greedy >/dev/null
ok "asked for again it waits again" wait_for 20 says greedy held 'Waiting for approval: privilege hostnet'
tell $other yes "approve: $(id_of greedy)"
ok "and can be approved by another one" wait_for 20 in_state greedy "done"

# What the site does not have.
as $owner strange 'privileged: fuse'
ok "a privilege that the site does not have is refused" wait_for 20 says strange failed \
    'found "fuse", which is no privilege of this site; .* names rdma, perf, hostnet'
as $owner all 'privileged: true'
ok "so is true, of which there is no row" wait_for 20 says all failed 'found "true", which is no privilege'

# Root's own job, and an approver's own.
as root mine 'privileged: rdma'
as $approver own-rdma 'privileged: rdma'
wait_for 20 in_state mine held && wait_for 20 in_state own-rdma held
like "$(why own-rdma)" 'when news approves it' "an approver is not asked about a job of their own"
is "$(run_as $approver list --approvals -o name | tr -d " " | grep -v NAME)" mine "nor shown it"
tell $approver root-job "approve: $(id_of mine)"
ok "root's own job is approved like any" wait_for 20 in_state mine "done"

# An approver of two names is one: by the user id alone.
echo "$(sed -n "s/^approvers: .*/approvers: [$(id -u $owner)]/p; /^approvers/!p" "$scratch/privileges")" >"$scratch/p2"
cp "$scratch/privileges" "$scratch/p1"; cp "$scratch/p2" "$scratch/privileges"
settings
as $owner second 'privileged: rdma'
ok "with nobody else to approve, why says what an administrator does" wait_for 20 says second held \
    'it waits until an administrator names somebody but its owner under approvers of dlspool.yaml'
tell $owner alias "approve: $(id_of second)"
ok "the owner by another name is the owner" refuses alias 'nobody decides about a job of their own'
cp "$scratch/p1" "$scratch/privileges"

# What was approved is another now: templates, and the table.
settings
as $owner void 'privileged: rdma' 'hold: true'
wait_for 20 in_state void held
tell $approver void-yes "approve: $(id_of void)"
wait_for 20 test -e "$(job_dir void)/approve"
git clone -q "$spool/templates.git" "$scratch/clone" 2>/dev/null
sed -i 's|^env: {}|env: {PUSHED: "1"}|' "$scratch/clone/site.yaml"
git -C "$scratch/clone" commit -qam pushed && git -C "$scratch/clone" push -q 2>/dev/null
run_as $owner release void >/dev/null
ok "an approval is void when the job is rendered to something else" wait_for 20 says void held \
    'An approval does not count: the job was rendered again, by commit .* its manifest is another'
unlike "$(<"$(job_dir void)/log")" ' (intent|submitted) ' "and nothing ran"
tell $approver void-again "approve: {job: $(id_of void), manifest: $(manifest void)}"
ok "approved as it is now it runs" wait_for 20 in_state void "done"

as $owner wider 'privileged: rdma' 'hold: true'
as $owner removed 'privileged: hostnet' 'hold: true'
wait_for 20 in_state wider held && wait_for 20 in_state removed held
tell $other wider-yes "approve: $(id_of wider)" # who stays an approver
tell $approver removed-yes "approve: $(id_of removed)"
wait_for 20 test -e "$(job_dir wider)/approve" && wait_for 20 test -e "$(job_dir removed)/approve"
sed -i -e 's/\[IPC_LOCK\]/[IPC_LOCK, SYS_ADMIN]/' -e "s/^approvers: .*/approvers: [$other]/" "$scratch/privileges"
settings
run_as $owner release wider removed >/dev/null
ok "an approval is void when its approver is none any more" wait_for 20 says removed held \
    'An approval does not count: games is none of the approvers'
tell $other wider-other "approve: $(id_of removed)"
ok "another approver's counts" wait_for 20 in_state removed "done"
ok "and when the table gives more than was approved" wait_for 20 says wider held \
    'An approval does not count: the job wants something else now, or dlspool.yaml gives something else'
tell $other wider-one "approve: $(id_of wider)"
ok "what the table gives now is what is approved" wait_for 20 in_state wider "done"

# Limits and images by approval.
rows='[{user: "*", cpus: 2, over: approve}]'
settings
as $owner large 'tasks: {main: {cpus: 4}}'
ok "a job that is over a row waits for an approval" wait_for 20 says large held \
    'Waiting for approval: more than 2 CPUs for each user (limits.rows of dlspool.yaml, line [0-9]*, which an administrator can change).'
as $owner small 'tasks: {main: {cpus: 2}}'
ok "so does one that is with what its owner has waiting" wait_for 20 in_state small held
like "$(run_as $other approve large)" ': more than 2 CPUs for each user$' "the approver is told what is approved"
ok "and runs once that is approved, as the row does not hold for it then" wait_for 20 in_state large "done"
run_as $other refuse small --reason no >/dev/null
wait_for 20 in_state small failed
as $owner sweep 'type: array' 'array: 0-3' 'tasks: {main: {cpus: 1}}'
ok "an array that would run more at once than the row allows waits for an approval, and is not cut down" \
    wait_for 20 says sweep held 'Waiting for approval: more than 2 CPUs for each user'
run_as $other approve sweep >/dev/null
ok "and then runs" wait_for 20 in_state sweep "done"
like "$(<"$(job_dir sweep)/job.yaml")" 'array_at_once: 4' "with all its tasks at once"
as bin within 'tasks: {main: {cpus: 2}}'
ok "what is within the row does not wait" wait_for 20 in_state within "done"
rows='[{user: "*", gpu_hours: 10/30d, over: approve}]'
settings
then=$(date -u -d '2 days ago' +%Y-%m-%dT%H:00:00.000Z)
printf '%s usage id=past-1m80ns077fbyy attempt=1 user=bin uid=%s gid=%s started=%s ended=%s outcome=succeeded gpu_held_ms=32400000 whole=1\n' \
    "$then" "$(id -u bin)" "$(id -g bin)" "$then" "$then" >>"$spool/history/usage/${then:0:7}"
as bin hours 'time_limit: 2h' 'tasks: {main: {gpus: 1}}'
ok "a job for which too many GPU-hours were used waits for an approval" wait_for 20 says hours held \
    'Waiting for approval: more than 10 GPU-hours within 30 d for each user (limits.rows'
as $owner fewer 'time_limit: 2h' 'tasks: {main: {gpus: 1}}'
ok "that of a user who used none does not" wait_for 20 in_state fewer "done"
run_as $other approve hours >/dev/null
ok "and runs once it is approved" wait_for 20 in_state hours "done"
as $owner image 'image: docker.io/debian:12'
ok "an image that the site does not list is refused" wait_for 20 says image failed 'may not be asked for here'
sed -i 's/^  others: refuse/  others: approve/' "$scratch/clone/site.yaml"
git -C "$scratch/clone" commit -qam others && git -C "$scratch/clone" push -q 2>/dev/null
as $owner image2 'image: docker.io/debian:12'
ok "or waits for an approval, where site.yaml says so" wait_for 20 says image2 held 'Waiting for approval: image docker.io/debian:12'
run_as $other approve image2 >/dev/null
ok "and runs" wait_for 20 in_state image2 "done"

# What is given is had, and a later attempt needs no other approval.
if command -v podman >/dev/null; then
    stop_daemon
    sed -i -e 's/^executor: .*/executor: local/' -e 's/^  others: .*//' "$spool/dlspool.yaml"
    sed -i 's/^  rdma: .*/  rdma: {capabilities: [IPC_LOCK], devices: [\/dev\/fuse]}/' "$scratch/privileges"
    rows='[]'
    settings
    start_daemon
    cat >"$scratch/as.tmp" <<'JOB'
name: real
privileged: [rdma, hostnet]
script: |
  #!/bin/sh
  grep CapEff: /proc/self/status; ls /dev/fuse; readlink /proc/self/ns/net
  [ "$DLSPOOL_ATTEMPT" = 2 ]
JOB
    chown $owner "$scratch/as.tmp" && mv "$scratch/as.tmp" "$spool/incoming/real.yaml"
    wait_for 20 in_state real held
    run_as $other approve real >/dev/null
    ok "a container was started, and failed" wait_for 30 test -e "$spool/failed/$(id_of real)/output/main-0.log"
    wait_for 20 in_state real failed
    is "$(<"$(job_dir real)/output/main-0.log")" "CapEff:	0000000000004000
/dev/fuse
$(readlink /proc/self/ns/net)" "it had the capability, the device and the network that were approved, and no more"
    run_as $owner retry real >/dev/null
    ok "another attempt needs no other approval" wait_for 30 in_state real "done"
else
    pass "containers # SKIP podman is not installed"
fi
done_testing
