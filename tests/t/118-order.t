#!/usr/bin/env bash
# Who is next: classes of priority, a place on top, another priority, and shares by what users have used of late.  Owners
# put their jobs before or behind each other, administrators raise them, and show says which place a job has, and why.
#
# Seen to fail with: tests/mutants/order-*.patch.
. "$(dirname "$0")/lib.bash"
[ "$(id -u)" = 0 ] || skip_all "other users' files are made by root"
new_spool null || exit 1
chmod 1777 "$spool/incoming"

# as USER NAME [LINE...]: a job of that user is dropped.
as() {
    local user=$1 name=$2
    shift 2
    printf '%s\n' "name: $name" 'script: "#!/bin/sh"' "$@" >"$scratch/as.tmp"
    chown "$user" "$scratch/as.tmp"
    mv "$scratch/as.tmp" "$spool/incoming/$name.yaml"
}
# ask USER NAME LINE: a control file of that user.
ask() { printf '%s\n' "$3" >"$scratch/ask.tmp"; chown "$1" "$scratch/ask.tmp"; mv "$scratch/ask.tmp" "$spool/incoming/$2.yaml"; }
says() { in_state "$1" failed && grep -q "$2" "$(job_dir "$1")/why"; }
has() { grep -q "$2" "$(job_dir "$1")/job.yaml" 2>/dev/null; }
log_has() { grep -q "$2" "$(job_dir "$1")/log" 2>/dev/null; }
id_of() { basename "$(job_dir "$1")"; }
shows() { dlspool show "$1" | grep -q "$2"; }

set_setting weights '[{user: "*", weight: 1}, {user: daemon, weight: 2}]'
set_setting priority_classes '[{name: normal, value: -1, default: true}, {name: paper, value: 60, users: [daemon]}, {name: low, value: -50}]'
now=$(date -u +%FT%T.000Z)
hour_ago=$(date -u -d '-1 hour' +%FT%T.000Z)
mkdir -p "$spool/history/usage"
# used ID UID GPU-HOURS: what an attempt held that has just ended.
used() { echo "$now usage id=$1 attempt=1 user=x uid=$2 gid=$2 name=x library=any type=single priority=0 executor=local submitted=$hour_ago eligible=$hour_ago accepted=$hour_ago started=$hour_ago ended=$now outcome=succeeded exit_code=0 time_limit_ms=0 cpus_milli=1000 memory_bytes=1 gpus=$3 cpus_asked_milli=1000 gpus_asked=$3 cpu_held_ms=3600000 gpu_held_ms=$((3600000 * $3)) whole=1"; }
used x-1m80ns077fb01 "$(id -u nobody)" 4 >>"$spool/history/usage/$(date -u +%Y-%m)"
used x-1m80ns077fb02 "$(id -u daemon)" 6 >>"$spool/history/usage/$(date -u +%Y-%m)"
start_daemon
dlspool pause >/dev/null
must "the spool is paused" wait_for 20 test -e "$spool/rendered/PAUSED"

# Classes.
as nobody n1
ok "who names no priority has the default class" wait_for 20 has n1 '^priority_class: "normal"'
ok "and its value" has n1 '^priority: -1'
as nobody n2 'priority: paper'
ok "a class of others is refused" wait_for 20 says n2 'priority: found paper, which is for others, expected a whole number or one of normal, low (priority_classes of dlspool.yaml'
as daemon d1 'priority: paper'
ok "whose it is has it, above what users may have" wait_for 20 has d1 '^priority: 60'
as nobody n3
as daemon d2
as daemon d3
for job in n3 d2 d3; do wait_for 20 in_state $job rendered; done
like "$(dlspool show d1)" '^priority  *60 \(paper\)' "show says the class"
like "$(dlspool list -o id,priority)" 'd1-[^ ]*  *paper' "list, too"
is "$(dlspool show --json d1 | jq -r .priority_class)" paper "and so with --json"

# Shares: daemon has had 6 of 10 GPU hours, with two of three parts.
like "$(dlspool share | sed -n 2p)" '^user daemon  .* 2  *5\.[89][0-9]  *60\.0%  *66\.7%$' "share says who has had what, the next one first"
is "$(dlspool share --json | jq -c '[.[] | [.name, .weight, (.share * 10 | round), (.theirs * 3 | round)]]')" '[["daemon",2,6,2],["nobody",1,4,1]]' "and so with --json"
ok "who has had less for the weight is next" shows d2 '1 of 5 jobs that wait comes before it'
ok "and then the own next one" shows d3 '2 of 5 jobs'
ok "show says why another waits" shows n1 'nobody has had 40\.0 % of what all have used of late, and is to have 33\.3 % (dlspool share)'

# On top, and another priority.
ask daemon top1 "top: $(id_of d3)"
ok "its owner puts a job on top" wait_for 20 log_has d3 ' top by=daemon uid='
ok "it goes before its owner's others" wait_for 20 shows d3 '1 of 5 jobs'
ok "and no other goes behind for it" shows d2 '2 of 5 jobs'
ask nobody top2 "top: $(id_of d2)"
ok "nobody else does" wait_for 20 says top2 'd2-[^ ]* belongs to daemon; nobody may not put it on top'
ask daemon up "priority: {job: $(id_of d2), value: 0}"
ok "owners do not raise a priority" wait_for 20 says up 'has priority -1, and 0 is higher; its owner may only lower it, and an administrator may raise it'
ask daemon down "priority: {job: $(id_of d2), value: low}"
ok "they lower it" wait_for 20 log_has d2 ' priority by=daemon uid=[0-9]* value=-50 before=-1 priority_class=low'
ok "the job is rendered again for it" wait_for 20 log_has d2 ' requeued cause=priority'
ok "its record says so" has d2 '^priority: -50'
ok "it comes behind all others" wait_for 20 shows d2 '4 of 5 jobs'
dlspool priority d2 30 >/dev/null
ok "an administrator raises it" wait_for 20 shows d2 '1 of 5 jobs'
like "$(dlspool priority d2 101 2>&1)" 'priority: found 101, expected a whole number from -100 to 100' "within the range"
as nobody held 'hold: true'
ok "one is held" wait_for 20 in_state held held
dlspool priority held 7 >/dev/null
ok "what is held takes a priority" wait_for 20 shows held '^priority  *7'

# A restart counts the same, from the files; and so it does when what is kept is gone.
stop_daemon
ok "what was counted is kept" test -s "$spool/history/shares"
before=$(dlspool show n1 | grep 'of 5 jobs')
# What was asked just before a crash is carried out; and a manifest that a crash left without its record is made again.
printf '%s order priority=-30 priority_from=owner\n' "$(date -u +%FT%T.000Z)" >"$(job_dir n3)/order"
printf '\n' >>"$(job_dir d2)/manifest.yaml"
start_daemon
ok "what was asked before a crash is carried out after it" wait_for 20 has n3 '^priority: -30'
ok "the place is the same after a restart" shows d2 '1 of 5 jobs'
is "$(dlspool show n1 | grep 'of 5 jobs')" "$before" "for others, too"
dlspool release held >/dev/null
ok "what was held comes back" wait_for 20 in_state held rendered
ok "with the priority that it was given" has held '^priority: 7'
dlspool resume >/dev/null
for job in n1 n3 d1 d2 d3 held; do ok "$job is done" wait_for 30 in_state $job "done"; done
ok "a manifest that did not fit its record was rendered again" log_has d2 ' requeued cause=size'
is "$(dlspool acct --all --noheader --parsable2 --format=ID,QOS,Priority | grep ^d1 | cut -d'|' -f2,3)" 'paper|60' "the accounts have the class as QOS"
like "$(dlspool top n1 2>&1)" 'has finished already' "what has ended takes no place"

done_testing
