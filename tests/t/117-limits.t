#!/usr/bin/env bash
# What a site lets jobs ask for (`limits` of dlspool.yaml): priorities, the longest time_limit, and how many jobs
# of a user wait.  What is refused says what was found, what is allowed and who can change it; nothing is lost.
#
# Seen to fail with: tests/mutants/limits-*.patch and tests/mutants/backlog-*.patch.
. "$(dirname "$0")/lib.bash"
[ "$(id -u)" = 0 ] || skip_all "other users' files are made by root"
new_spool null || exit 1
chmod 1777 "$spool/incoming"
start_daemon

ask() { printf '%s: %s\n' "$2" "$3" >"$scratch/ask.tmp"; chown "$1" "$scratch/ask.tmp"; mv "$scratch/ask.tmp" "$spool/incoming/$2-$1-$3.yaml"; }
why() { cat "$(job_dir "$1")/why"; }
has() { grep -q "$2" "$(job_dir "$1")/job.yaml"; }
# says NAME PATTERN: it has failed, and why says this.
says() { in_state "$1" failed && why "$1" 2>/dev/null | grep -q "$2"; }
somebody() { setpriv --reuid nobody --regid nogroup --clear-groups "$DLSPOOL" -s "$spool" "$@"; }
change() { set_setting "$@"; wait_for 20 grep -q "dlspool.yaml has changed" "$scratch/daemon.log"; }

# Priority: what is anybody's harms nobody.
as nobody high 'priority: 100'
ok "a user's priority: 100 is refused" wait_for 20 says high \
    'priority: found 100, expected a whole number from -100 to 0; an administrator.s job may have -100 to 100 (limits.priority.users of dlspool.yaml, which an administrator can change)'
like "$(why high)" '^Next: not retried. Change the job file and submit it again.' "and what to do"
as root urgent 'priority: 100'
ok "root's is taken" wait_for 20 in_state urgent "done"
as nobody nice 'priority: -100'
ok "a user may be behind all others" wait_for 20 in_state nice "done"
cat >"$scratch/prod.yaml" <<'JOB'
protocolVersion: 2
name: prod
type: job
prerequisites: [{type: dockerimage, name: i, uri: "debian:12"}]
taskRoles: {one: {dockerImage: i, resourcePerInstance: {cpu: 1, memoryMB: 1024, gpu: 0}, commands: ["true"]}}
extras: {hivedScheduler: {jobPriorityClass: prod}}
JOB
chown nobody "$scratch/prod.yaml" && mv "$scratch/prod.yaml" "$spool/incoming/prod.yaml"
ok "another system's job file is taken" wait_for 20 in_state prod "done"
like "$(<"$(job_dir prod)/log")" ' note field=priority text="taken as 0: this site allows -100 to 0 ' "with a note"
ok "and its priority is the highest that its owner may have" has prod '^priority: 0'

ask nobody retry high
ok "what was refused is taken when it is retried" wait_for 20 in_state high "done"
like "$(<"$(job_dir high)/log")" ' requeued .* priority=0$' "at the priority that it may have"

# submit, --dry-run and render tell it at once.
printf 'name: told\nscript: "true"\npriority: 5\n' >"$scratch/told.yaml"
refusal='priority: found 5, expected a whole number from -100 to 0;'
for verb in submit "submit --dry-run" render; do
    said=$(somebody $verb "$scratch/told.yaml" 2>&1)
    is "$?" 1 "$verb refuses it"
    like "$said" "$refusal" "$verb says why"
done
is "$(job_dir told)" "" "and nothing is dropped"
ok "root's may be submitted" dlspool submit "$scratch/told.yaml"

# The longest time_limit, for all.
change time_limit 1h
as root long 'time_limit: 90m'
ok "a longer time_limit is refused" wait_for 20 says long \
    'time_limit: found 1 h 30 min, expected at most 1 h, the longest that this site allows (limits.time_limit of dlspool.yaml'
as nobody short 'time_limit: 20m'
as nobody unsaid
ok "a shorter one stays" wait_for 20 in_state short "done"
ok "as it is" has short '^time_limit_ms: 1200000'
ok "who names none is taken" wait_for 20 in_state unsaid "done"
ok "and has the longest" has unsaid '^time_limit_ms: 3600000'
like "$(somebody submit --dry-run --set time_limit=2h --set priority=0 "$scratch/told.yaml" 2>&1)" \
    'time_limit: found 2 h, expected at most 1 h' "submit tells that, too"

# Jobs that wait.
>"$scratch/daemon.log"
change waiting 3
for i in 1 2 3; do as nobody "wait$i" 'hold: true'; done
for i in 1 2 3; do ok "job $i of 3 waits" wait_for 20 in_state "wait$i" held; done
as nobody wait4 'hold: true'
ok "the fourth is refused" wait_for 20 says wait4 \
    '^3 jobs of nobody wait already, and no more may (limits.waiting of dlspool.yaml, which an administrator can change)$'
like "$(why wait4)" "^Next: not retried. Once fewer of its owner's jobs wait \(dlspool list\): dlspool retry wait4-" "which says what to do"
ok "with its own reason" has wait4 '^  reason: "TooManyWaiting"'
said=$(somebody submit --hold --set priority=0 "$scratch/told.yaml" 2>&1)
is $? 1 "so is one that is submitted"
like "$said" '3 jobs of nobody wait already' "and submit says why at once"
ask nobody retry wait4
asked() { says retry-nobody-wait4 'cannot be carried out: 3 jobs of nobody wait already'; }
ok "it cannot be retried either" wait_for 20 asked
in_state wait4 failed
is $? 0 "and stays where it is"
as daemon other 'hold: true'
ok "another user's job is taken" wait_for 20 in_state other held
for i in 1 2 3 4; do as root "roots$i" 'hold: true'; done
for i in 1 2 3 4; do ok "root's job $i is taken" wait_for 20 in_state "roots$i" held; done
ask nobody kill wait1
ok "when one waits no longer" wait_for 20 in_state wait1 failed
ask root retry wait4
ok "the other comes back, to wait as it was to" wait_for 20 in_state wait4 held
dlspool release wait4 >/dev/null
ok "and is done" wait_for 20 in_state wait4 "done"

# Rows of limits.rows.
>"$scratch/daemon.log"
change waiting 0 rows '[{user: nobody, gpus: 2}, {group: "*", running: 0, gpu_type: A100}, {queue: q, waiting: 1}, {user: nobody, time_limit: 30m}, {queue: prod, gpus: 8, groups: [root]}]'
as nobody many 'tasks: {main: {gpus: 4}}'
ok "a job that is more than its row is refused" wait_for 20 says many \
    'gpus: found 4, expected at most 2, as the user nobody may have no more (limits.rows of dlspool.yaml, line [0-9]*, which an administrator can change)$'
as nobody foreign 'queue: prod'
ok "who may not name a queue is refused" wait_for 20 says foreign 'queue: found prod, which is for others (limits.rows of dlspool.yaml, line'
as nobody lengthy 'time_limit: 45m'
ok "one that takes longer, too" wait_for 20 says lengthy 'time_limit: found 45 min, expected at most 30 min, as the user nobody'
as nobody timed
ok "one that names no time has the row's" wait_for 20 has timed '^time_limit_ms: 1800000'
as nobody typed 'gpu_type: A100' 'tasks: {main: {gpus: 1}}'
waits() { grep -q 'Waiting for a limit: group [0-9]* has 0 jobs with GPUs running, and no more may' "$(job_dir typed)/why"; }
ok "one that is over a row waits, and says for which" wait_for 20 waits
like "$("$DLSPOOL" -s "$spool" list --name typed 2>&1)" 'Waiting for a limit: group' "list says so"
as nobody queued1 'queue: q' 'hold: true'
ok "one may wait in the queue" wait_for 20 in_state queued1 held
as nobody queued2 'queue: q' 'hold: true'
ok "the next is refused" wait_for 20 says queued2 'queue q has 1 job waiting, and no more may'
like "$(why queued2)" '^Next: not retried. Once there is room under the limit \(dlspool limits\): dlspool retry' "and told what to do"
like "$("$DLSPOOL" -s "$spool" limits)" 'user nobody  .* gpus  *2  *0  *1$' "limits shows limit, use and what waits"
is "$("$DLSPOOL" -s "$spool" limits --json | jq -c '[.[] | select(.of == "queue").waiting | values]')" '[{"limit":1,"used":1,"waiting":1}]' "and so with --json"
>"$scratch/daemon.log"
change rows '[{user: nobody, gpu_hours: 10/30d}, {group: "*", running: 0, gpu_type: A100}]'
as nobody long2 'time_limit: 1h' 'tasks: {main: {gpus: 12}}'
ok "a job that may use more GPU-hours than its row has is refused" wait_for 20 says long2 \
    'gpus: found 12 GPU-hours until its time_limit, expected at most 10, as the user nobody may have no more'
mkdir -p "$spool/history/usage"
then=$(date -u -d '2 days ago' +%Y-%m-%dT%H:00:00.000Z)
printf '%s usage id=past-1m80ns077fbyy attempt=1 user=nobody uid=%s gid=%s started=%s ended=%s outcome=succeeded gpu_held_ms=32400000 whole=1\n' \
    "$then" "$(id -u nobody)" "$(id -g nobody)" "$then" "$then" >>"$spool/history/usage/${then:0:7}"
as nobody hours 'time_limit: 1h' 'tasks: {main: {gpus: 2}}'
used_up() { why hours 2>/dev/null | grep -q 'user nobody has used 9 of 10 GPU-hours within 30 d, and the job may use 2 until its time_limit; there is room from .* on if nobody uses more (limits.rows'; }
ok "one that may use more than is left of the period waits, and says when there is room" wait_for 20 used_up
like "$(dlspool limits)" 'user nobody  .* gpu_hours  *10  *9  *2.5$' "limits shows what was used"
is "$(dlspool limits --json | jq -c '.[] | select(.gpu_hours) | [.gpu_hours.used, .gpu_hours_period, .gpu_hours_falls]')" '[9,2592000,null]' "and so with --json"
>"$scratch/daemon.log"
change rows '[{user: nobody, gpu_hours: 10/30d, over: refuse}, {group: "*", running: 0, gpu_type: A100}]'
as nobody hours2 'time_limit: 30m' 'tasks: {main: {gpus: 1}}'
ok "with over: refuse it is refused for what was used, runs and waits" wait_for 20 says hours2 \
    'user nobody has used 9 of 10 GPU-hours within 30 d, what runs and waits may use [0-9.]* more, and the job may use 0.5 until'
like "$(why hours2)" '^Next: not retried. Once there is room under the limit \(dlspool limits\): dlspool retry' "and told what to do"
as daemon hours3 'time_limit: 30m' 'tasks: {main: {gpus: 1}}'
ok "another user's job is not" wait_for 20 in_state hours3 "done"
>"$scratch/daemon.log"
change rows '[{user: nobody, gpu_hours: 9/30d}, {group: "*", running: 0, gpu_type: A100}]'
like "$(dlspool limits)" 'below its gpu_hours again 20.*Z, if no more is used$' "and, when they are used up, until when"
>"$scratch/daemon.log"
change rows '[]' waiting 3
ok "without the row the job goes on" wait_for 20 in_state typed "done"
ask nobody kill queued1
ok "and none is left" wait_for 20 in_state queued1 failed

# The spool is paused and goes on.
said=$(somebody pause 2>&1)
is "$? $said" "1 dlspool pause: only an administrator may pause the spool" "a user may not pause the spool"
ask nobody pause x
ok "by a control file neither" wait_for 20 says pause-nobody-x 'only an administrator may pause the spool; nobody is none'
dlspool pause --reason 'disks: "new" ones' >/dev/null
ok "an administrator may" wait_for 20 test -e "$spool/rendered/PAUSED"
as root waiting
paused() { dlspool list --name waiting | grep -q 'The spool is paused by root since .*: disks: "new" ones\.'; }
ok "what is dropped then is taken, waits, and says why" wait_for 20 paused
like "$(dlspool status)" '^paused  *by root since [0-9-]* [0-9:]*: disks: "new" ones; nothing is started' "status says so"
is "$(dlspool status --json | jq -r '.paused.by + " " + .paused.reason')" 'root disks: "new" ones' "and so with --json"
unlike "$(dlspool check 2>&1)" PAUSED "check finds nothing wrong with it"
stop_daemon
"$DLSPOOL" -s "$spool" run --drain >/dev/null 2>&1 && in_state waiting rendered
is $? 0 "a restart changes nothing, and --drain does not wait for ever"
start_daemon
dlspool resume >/dev/null
ok "resume lets it go on" wait_for 20 in_state waiting "done"

# A job that names no queue may be in one all the same.
>"$scratch/daemon.log"
change default_queue usual rows '[{queue: usual, cpus: 1}]'
as root unnamed
as root unnamed2 'tasks: {main: {cpus: 2}}'
as root named 'queue: other' 'tasks: {main: {cpus: 2}}'
ok "a job that names no queue is in that of the site" wait_for 20 in_state unnamed "done"
ok "as its record says" has unnamed '^queue: "usual"'
unlike "$(cat "$(job_dir unnamed)/log")" ' note ' "of which there is no more to be said"
ok "and is held to its rows" wait_for 20 says unnamed2 'cpus: found 2, expected at most 1, as the queue usual may have no more'
ok "one that names another is not" wait_for 20 in_state named "done"

# A restart counts again what waits.
for i in 5 6 7; do as nobody "wait$i" 'hold: true'; done
settled() { for i in 5 6 7; do in_state "wait$i" held || in_state "wait$i" failed || return 1; done; }
ok "of three more" wait_for 20 settled
is "$(find "$spool/held" -maxdepth 1 -name 'wait*' | wc -l)" 3 "as many wait as may"
stop_daemon
start_daemon
as nobody wait8 'hold: true'
ok "and so it is after a restart" wait_for 20 says wait8 '3 jobs of nobody wait already'

done_testing
