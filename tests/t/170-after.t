#!/usr/bin/env bash
# after, hold and release: a job waits in held/ for others or for somebody's word, says for whom, and
# goes on, or fails, when that is settled.
. "$(dirname "$0")/lib.bash"
new_spool null || exit 1
root=$([ "$(id -u)" = 0 ] && echo yes)
start_daemon

# body NAME [LINE...]: a job file.
body() {
    printf 'name: %s\nlibrary: any\ntype: single\nscript: "#!/bin/sh"\n' "$1"
    shift
    for line; do printf '%s\n' "$line"; done
}
job() { body "$@" | drop "$1.yaml"; }
# job_as USER NAME [LINE...]
job_as() {
    local user=$1
    shift
    body "$@" >"$scratch/as.tmp"
    chown "$user" "$scratch/as.tmp"
    mv "$scratch/as.tmp" "$spool/incoming/$1.yaml"
}
id_of() { basename "$(job_dir "$1")"; }
why() { cat "$(job_dir "$1")/why"; }
says() { why "$1" 2>/dev/null | grep -q "$2"; }
held_for() { in_state "$1" held && says "$1" "$2"; }
lost() { in_state "$1" failed && grep -q '^  reason: "Dependency"' "$(job_dir "$1")/job.yaml"; }
refused() { in_state "$1" failed && grep -q '^  reason: "BadAfter"' "$(job_dir "$1")/job.yaml"; }
# when NAME EVENT: the time of a job's event.
when() { sed -n "s/^\([^ ]*\) $2 .*/\1/p" "$(job_dir "$1")/log" | tail -n 1; }
# begins_after NAME OTHER
begins_after() { [[ ! "$(when "$1" intent)" < "$(when "$2" finished)" ]]; }
# gate NAME: a job that ends when it is let go.
gate() { job "$1" 'hold: true'; wait_for 20 in_state "$1" held; }
let_go() { dlspool release "$(id_of "$1")"; }
fail_it() { dlspool kill "$(id_of "$1")" >/dev/null; wait_for 20 in_state "$1" failed; }

# A chain, dropped from its end.
job chain-c 'after: chain-b'
job chain-b 'after: [chain-a]'
ok "c waits for b" wait_for 20 held_for chain-c '^Waiting for: chain-b-[0-9a-z]* (must succeed)\.$'
ok "b waits for a, which has not come" wait_for 20 held_for chain-b 'chain-a is not known yet'
like "$(why chain-b)" 'A job that has not come by 20.*Z is not waited for any longer' \
    "why says until when"
like "$(why chain-b)" 'If the name is wrong, change the job file and submit it again; to end this one: dlspool kill chain-b-' \
    "and what to do about a wrong name"
like "$(grep -c . "$(job_dir chain-c)/manifest.yaml")" '[1-9]' "a job that waits is rendered"
job chain-a
ok "a, b and c end well" wait_for 20 in_state chain-c "done"
ok "b began after a" begins_after chain-b chain-a
ok "c began after b" begins_after chain-c chain-b
like "$(<"$(job_dir chain-c)/job.yaml")" '^  id: "chain-b-' "job.yaml says which job was meant"
like "$(<"$(job_dir chain-c)/log")" " after condition=afterok job=chain-b id=$(id_of chain-b)\$" \
    "and so does the log"
ls "$(job_dir chain-c)" | grep -q why; is $? 1 "no why in done/"

# A name means the latest of one's own before; a later one does not change that.
job again 'after: chain-a'
ok "a job in done/ counts, by name" wait_for 20 in_state again "done"
job again 'after: again'
twice() { [ "$(find "$spool/done" -maxdepth 2 -name 'again-*' | wc -l)" = 2 ]; }
ok "one's own name means the one before" wait_for 20 twice
job by-id "after: $(id_of chain-a)"
ok "and by id" wait_for 20 in_state by-id "done"

# All of them together: a diamond, with every way to write it.
gate top
job left 'after: {afterok: top}'
job right 'after: "afterany:top"'
job bottom 'after: afterok:left:right,afterany:top'
ok "the diamond's bottom waits for three" wait_for 20 held_for bottom \
    '^Waiting for: left-.* (must succeed), right-.* (must succeed), top-.* (must finish)\.$'
ok "left waits for top, which waits itself" wait_for 20 held_for left 'which waits in held/ itself'
is "$(dlspool list --state held | wc -l)" 4 "list knows them"
like "$(dlspool show "$(id_of left)")" 'state +held' "show does"
timeout 1 "$DLSPOOL" -s "$spool" wait -q "$(id_of bottom)"
is $? 124 "wait waits on"
let_go top >/dev/null
ok "the diamond ends" wait_for 20 in_state bottom "done"
ok "bottom after left" begins_after bottom left
ok "bottom after right" begins_after bottom right

# Failure: afterok fails in turn, afterany and afternotok go on.
gate bad
job wants-ok 'after: bad'
job wants-any 'after: afterany:bad'
job wants-not 'after: afternotok:bad'
job in-turn 'after: wants-ok'
job in-turn-any 'after: afterany:wants-ok'
for name in wants-ok wants-any wants-not; do wait_for 20 held_for $name 'bad-'; done
ok "in-turn waits for wants-ok" wait_for 20 held_for in-turn 'wants-ok-'
fail_it bad
ok "afterok of a failed job fails" wait_for 20 lost wants-ok
like "$(why wants-ok)" "^The job waited for $(id_of bad) \\(must succeed\\), which has failed permanently: Killed\\.\$" \
    "why says which and why"
ok "afterany goes on" wait_for 20 in_state wants-any "done"
ok "afternotok goes on" wait_for 20 in_state wants-not "done"
ok "what waits for a dependent follows" wait_for 20 lost in-turn
like "$(why in-turn)" "$(id_of wants-ok) .*: Dependency" "and says so"
ok "and goes on with afterany" wait_for 20 in_state in-turn-any "done"
like "$(<"$(job_dir wants-ok)/job.yaml")" 'retry: "never"' "a lost job is not tried again"
dlspool wait -q "$(id_of wants-ok)"
is $? 6 "wait ends with it"

# What cannot be from the beginning.
job too-late 'after: bad'
ok "afterok of what has failed permanently" wait_for 20 lost too-late
job never-fails 'after: afternotok:chain-a'
ok "afternotok of what is done" wait_for 20 lost never-fails
like "$(why never-fails)" 'chain-a-[^ ]* \(must fail\), which has succeeded' "why says so"
job no-such 'after: prepare-1m80ns077fbyy'
ok "an id that is not there" wait_for 20 refused no-such
like "$(why no-such)" 'prepare-1m80ns077fbyy, which is not in the spool' "why says so"
job self 'after: self'
ok "a job that names itself" wait_for 20 refused self
like "$(why self)" 'waits for self, which is its own name' "why says so"

# ... nor by one that comes later: whoever decides is stopped until that has ended.
stage=$(pgrep -P "$daemon" -x resubmit)
kill -STOP "$stage"
job same 'after: same'
wait_for 20 in_state same held
first_same=$(id_of same)
body same | drop same-2.yaml
ended() { ls "$spool"/done/* | grep -q '^same-'; }
wait_for 20 ended
kill -CONT "$stage"
first_refused() { grep -q 'BadAfter' "$spool/failed/$first_same/job.yaml"; }
ok "its own name does not mean one that comes later" wait_for 20 first_refused

# A job in failed/ that can still come back is waited for.
without_templates local/any/mpi.yaml kubernetes slurm
body waits-change | sed "s/^type: .*/type: mpi/" | drop waits-change.yaml
ok "a job waits for a change" wait_for 20 in_state waits-change failed
job patient 'after: waits-change'
ok "one that is to come after it waits" wait_for 20 held_for patient 'has failed (NoTemplate) and can still'
fail_it patient
like "$(why patient)" 'was killed by' "a held job can be killed"
dlspool retry "$(id_of patient)" >/dev/null
ok "and tried again: it waits again" wait_for 20 held_for patient '^Waiting for: waits-change'
ls "$(job_dir patient)" | grep -Eqx 'kill|retry'; is $? 1 "without the requests that were granted"
fail_it patient

# retry looks at the conditions again.
gate second-chance
job dependent 'after: second-chance'
wait_for 20 held_for dependent 'second-chance-'
fail_it second-chance
ok "a dependent is lost" wait_for 20 lost dependent
dlspool retry "$(id_of second-chance)" >/dev/null
ok "what it waited for is tried again, and held as before" wait_for 20 in_state second-chance held
dlspool retry "$(id_of dependent)" >/dev/null
ok "then it waits again" wait_for 20 held_for dependent '^Waiting for: second-chance'
let_go second-chance >/dev/null
ok "and ends" wait_for 20 in_state dependent "done"

# Circles.  The job that closes one is refused; the others wait for another of its name.
job two-a 'after: two-b'
ok "a waits for b" wait_for 20 held_for two-a 'two-b is not known'
job two-b 'after: two-a'
ok "b, which closes the circle, is refused" wait_for 20 refused two-b
like "$(why two-b)" "wait for itself: $(id_of two-b) waits for $(id_of two-a), which waits for $(id_of two-b)\\." \
    "why shows the circle"
ok "a still waits" wait_for 20 held_for two-a 'two-b is not known'
job three-x 'after: three-y'
job three-y 'after: three-z'
wait_for 20 held_for three-y 'three-z is not known'
wait_for 20 held_for three-x '^Waiting for: three-y-'
job three-z 'after: three-x'
ok "a circle of three" wait_for 20 refused three-z
like "$(why three-z)" "three-z-[^ ]* waits for three-x-[^ ]*, which waits for three-y-[^ ]*, which waits for three-z-" \
    "why shows it"
mkdir "$scratch/together"
for pair in four-a:four-b four-b:four-c four-c:four-d four-d:four-a; do
    body "${pair%:*}" "after: ${pair#*:}" >"$scratch/together/${pair%:*}.yaml"
done
mv "$scratch"/together/*.yaml "$spool/incoming/" 2>/dev/null
ok "a circle of four, dropped together: the youngest" wait_for 20 refused four-d
is "$(ls "$spool/held" | grep -c '^four-[abc]-')" 3 "and no other"
for name in two-b three-z four-d; do job $name; done
ok "one of two goes on with a right job" wait_for 20 in_state two-a "done"
ok "and those of three" wait_for 60 in_state three-x "done"
ok "and those of four" wait_for 60 in_state four-a "done"

# hold and release.
gate held-one
like "$(why held-one)" '^Held by [^ ]*\.$' "why says who holds it"
like "$(why held-one)" "^Next: not started until its owner or an administrator releases it: dlspool release $(id_of held-one)$" "and what next"
like "$(dlspool release "$(id_of chain-a)" 2>&1)" 'finished already' "a finished job is not released"
like "$(dlspool hold "$(id_of chain-a)" 2>&1)" 'finished already' "nor held"
job waits-two 'after: held-one' 'hold: true'
ok "held, and waiting for another" wait_for 20 held_for waits-two '^Held by [^ ]*\. Waiting for: held-one-'
like "$(let_go waits-two)" '^asked to release waits-two-' "release"
released() { says waits-two '^Waiting for: held-one-'; }
ok "a released job goes on waiting" wait_for 20 released
like "$(dlspool release "$(id_of waits-two)" 2>&1)" 'is not held' "what is not held is not released"
let_go held-one >/dev/null
ok "then both go on" wait_for 20 in_state waits-two "done"
like "$(<"$(job_dir held-one)/log")" ' release by=[^ ]* uid=' "the log tells of the release"
like "$(dlspool hold "$(id_of bad)" 2>&1)" 'has failed permanently' "what has failed permanently cannot be held"
echo "hold: $(id_of bad)" | drop hold-bad.yaml
wait_for 20 in_state hold-bad failed
like "$(why hold-bad)" 'has failed permanently; there is nothing to hold' "nor by a file"
job file-held 'hold: true'
ok "a job is held" wait_for 20 in_state file-held held
like "$(dlspool kill file-held/1 2>&1)" 'is no array \(its type is single\): only the whole job can be killed' \
    "no single task of it can be killed"
echo "kill: $(id_of file-held)/1" | drop kill-one.yaml
wait_for 20 in_state kill-one failed
like "$(why kill-one)" 'is no array \(its type is single\): only the whole job can be killed' "nor by a file"
job later 'begin: +1h'
ok "a job waits for its time" wait_for 20 held_for later '^Not before 20.*Z, as its begin says\.$'
like "$(why later)" "^Next: it is queued then; to have it begin before: dlspool release $(id_of later)$" "and why says how it begins before"
like "$(dlspool show "$(id_of later)")" '^begin +20' "show knows the time"
dlspool hold later >/dev/null
ok "it is held as well" wait_for 20 held_for later '^Held by [^ ]*\. Not before 20'
let_go later >/dev/null
ok "a release ends the hold" wait_for 20 held_for later '^Not before 20'
job at-its-time 'begin: +2s' 'after: file-held'
ok "a job with a time waits for others, too" wait_for 20 held_for at-its-time '^Not before 20[^ ]*, as its begin says\. Waiting for: file-held'
let_go later >/dev/null
ok "another release ends the wait for its time" wait_for 20 in_state later "done"
is "$(grep -c '^begin:' "$(job_dir later)/job.yaml")" 0 "for good"
job by-itself 'begin: +2s'
ok "a job begins when its time has come" wait_for 20 in_state by-itself "done"
like "$(<"$(job_dir by-itself)/log")" ' requeued cause=begin ' "and its log says so"
begun=$(date -d "$(when by-itself requeued)" +%s%3N) until=$(date -d "$(sed -n 's/.* until=//p' "$(job_dir by-itself)/log")" +%s%3N)
ok "not before" [ "$begun" -ge "$until" ]
echo "release: file-hel" | drop release-cut.yaml
wait_for 20 in_state release-cut failed
like "$(why release-cut)" 'there is no job "file-hel" in ' "a file takes no beginning that cuts a name"
echo "release: file-held" | drop release-name.yaml
ok "but a name that only one job has" wait_for 20 in_state file-held "done"

# A job in rendered/ and one in failed/ can be held.  The executor is away meanwhile.
stop_daemon
job in-rendered
job waits-room
sed -i 's/^executor: .*/executor: local/' "$spool/dlspool.yaml"
set_setting local.socket "$scratch/nobody-listens.sock"
start_daemon
ok "a job waits for the executor" wait_for 20 in_state in-rendered rendered
dlspool hold "$(id_of in-rendered)" >/dev/null
ok "it is held while the executor is away" wait_for 20 in_state in-rendered held
stop_daemon
ok "a drain does not wait for held jobs" timeout 120 bash -c "
    sed -i 's/^executor: .*/executor: null/' '$spool/dlspool.yaml'; '$DLSPOOL' -s '$spool' run --drain"
ok "which stay" in_state in-rendered held
job drained-b 'after: drained-a'
job drained-a
ok "a drain waits for a job that waits for another" timeout 120 "$DLSPOOL" -s "$spool" run --drain
ok "until it has ended" in_state drained-b "done"

# Restarts change nothing.
start_daemon
gate before
job over-restart 'after: before' ; job over-unknown 'after: unknown-yet'
wait_for 20 held_for over-restart 'before-'
wait_for 20 held_for over-unknown 'unknown-yet'
log_before=$(cat "$(job_dir over-restart)/log" "$(job_dir over-unknown)/log")
stop_daemon
job before                      # another of that name
start_daemon
another() { ls "$spool"/done/* | grep -q '^before-'; }
ok "another of the name comes" wait_for 20 another
ok "it is not the one that was meant" in_state over-restart held
is "$(cat "$(job_dir over-restart)/log" "$(job_dir over-unknown)/log")" "$log_before" \
    "a restart adds nothing to the logs"
job unknown-yet
ok "a name is still found" wait_for 20 in_state over-unknown "done"
first_before=$(sed -n 's/^  id: "\(.*\)"/\1/p' "$(job_dir over-restart)/job.yaml")
dlspool release "$first_before" >/dev/null
ok "the one that was meant lets it go on" wait_for 20 in_state over-restart "done"

# What has been removed does not come.
gate removed
job after-removed 'after: afterany:removed'
wait_for 20 held_for after-removed '^Waiting for: removed-'
# At once: a job of which a part is gone is damaged, and is set aside.
mv "$(job_dir removed)" "$scratch/removed"
ok "a job that was removed is not waited for" wait_for 20 lost after-removed
like "$(why after-removed)" 'is no longer in the spool' "why says so"

# A held job whose record is damaged is set aside; a copy of one is, too.
gate damaged
printf 'x: 1\n' >>"$(job_dir damaged)/job.yaml"
set_aside() { in_state "$1" failed && grep -q '^  reason: "DamagedRecord"' "$(job_dir "$1")/job.yaml"; }
ok "a damaged job is set aside" wait_for 20 set_aside damaged
cp -a "$(job_dir by-id)" "$scratch/copied"
mv "$scratch/copied" "$spool/held/$(basename "$(job_dir by-id)")"
copy_gone() { [ "$(find "$spool"/held -name 'by-id-*')" = "" ] && find "$spool/failed" -name 'by-id-*' | grep -q .; }
ok "a job of done/ that is copied into held/ is not run again" wait_for 20 copy_gone

# What cannot be rendered any more when it is released fails as any other, and comes back.
git clone -q "$spool/templates.git" "$scratch/work"
push() { git -C "$scratch/work" push -q origin HEAD; }
gate breaks
git -C "$scratch/work" rm -q local/any/single.yaml
git -C "$scratch/work" commit -qm 'without a template'
ok "a push takes the template away" push
let_go breaks >/dev/null
ok "what cannot be rendered any more goes to failed/" wait_for 20 in_state breaks failed
like "$(why breaks)" 'local/any/single.yaml' "why says so"
git -C "$scratch/work" revert --no-edit HEAD >/dev/null
ok "a push brings it back" push
ok "and the job goes on" wait_for 20 in_state breaks "done"

# A job that does not come is given up.
set_setting after_unknown 1s
grep -q after_unknown "$spool/dlspool.yaml" || echo 'after_unknown: 1s' >>"$spool/dlspool.yaml"
job impatient 'after: nobody-comes'
ok "a job that does not come is given up" wait_for 20 lost impatient
like "$(why impatient)" "is called nobody-comes, and none was submitted within 1 s" "why says so"

# Other people's jobs, and other people's holds.
if [ -n "$root" ]; then
    # ask USER VERB ID: drop a control file.
    ask() { printf '%s: %s\n' "$2" "$3" >"$scratch/ask.tmp"; chown "$1" "$scratch/ask.tmp"; mv "$scratch/ask.tmp" "$spool/incoming/$2-$1.yaml"; }
    job_as nobody theirs 'hold: true'
    wait_for 20 in_state theirs held
    theirs=$(id_of theirs)
    job not-mine 'after: theirs'
    job by-their-id "after: $theirs"
    ok "another user's job can be waited for by id" wait_for 20 held_for by-their-id "$theirs"
    ok "but not by name" wait_for 20 lost not-mine
    ask daemon release "$theirs"
    ok "somebody else may not release it" wait_for 20 in_state release-daemon failed
    like "$(why release-daemon)" 'belongs to nobody; daemon may not release it' "and is told so"
    ask root hold "$theirs"
    held_by_root() { says theirs '^Held by root'; }
    ok "root holds it" wait_for 20 held_by_root
    ask nobody release "$theirs"
    ok "its owner may not release that" wait_for 20 in_state release-nobody failed
    like "$(why release-nobody)" 'is held by root; only an administrator may release it' "and is told so"
    said=$(setpriv --reuid nobody --regid nogroup --clear-groups "$DLSPOOL" -s "$spool" release "$theirs" 2>&1)
    is "$? $said" "1 dlspool release: $theirs is held by root; only an administrator may release it" "by the command at once"
    ask nobody hold "$theirs"
    gone() { [ ! -e "$spool/incoming/hold-nobody.yaml" ] && [ -z "$(ls "$spool/.claims")" ]; }
    wait_for 20 gone
    ok "nor make it their own" held_by_root
    ask nobody kill "$theirs"
    ok "but kill it" wait_for 20 in_state theirs failed
    ask nobody retry "$theirs"
    ok "and have it tried again: it is held as before" wait_for 20 held_for theirs '^Held by root'
    ask root release "$theirs"
    ok "root releases it" wait_for 20 in_state theirs "done"
else
    pass "other users' jobs # SKIP not root"
fi

# One at a time of a name: whatever becomes of those before.
begun() { echo "2026-01-01T00:00:00.000Z started attempt=1" >>"$(job_dir "$1")/log"; }
gate turn
first=$(id_of turn)
body turn 'after: singleton' | drop turn-2.yaml
all_turns() { ls "$spool"/*/ "$spool"/done/*/ | grep -c '^turn-.\{13\}$'; }
two() { [ "$(all_turns)" = 2 ]; }
wait_for 20 two
second=$(ls "$spool/held" | grep '^turn-' | grep -v "^$first\$")
body turn 'after: [singleton]' | drop turn-3.yaml
waits_for() { grep -q "^Waiting for: $2 (must finish)" "$spool/held/$1/why"; }
ok "a singleton waits for the one before" wait_for 20 waits_for "$second" "$first"
three() { [ "$(all_turns)" = 3 ]; }
wait_for 20 three
third=$(ls "$spool/held" | grep '^turn-' | grep -v "^$first\$" | grep -v "^$second\$")
ok "and the next for that one" wait_for 20 waits_for "$third" "$second"
dlspool kill "$second" >/dev/null
ok "when that is killed, for the one before it" wait_for 20 waits_for "$third" "$first"
dlspool kill "$first" >/dev/null
third_is_done() { ls -d "$spool"/done/*/"$third"; }
ok "it goes on when none is left, although they failed" wait_for 20 third_is_done
job alone 'after: singleton'
ok "one that is alone goes on at once" wait_for 20 in_state alone "done"

# When another has begun.
gate long
job beside 'after: "after:long"'
ok "a job waits for another to begin" wait_for 20 held_for beside '(must begin)'
ok "and says that it has not" wait_for 20 held_for beside '^after:long is long-[a-z0-9]*, which waits in held/ itself'
begun long
ok "it goes on when that has begun, and not only when it ends" wait_for 20 in_state beside "done"
ok "which is still there" in_state long held
job ended-well 'after: "after:beside"'
ok "what has ended has begun" wait_for 20 in_state ended-well "done"

# A thousand behind one.
gate one
mkdir "$scratch/thousand"
for i in $(seq 1000); do body "w$i" 'after: one' >"$scratch/thousand/w$i.yaml"; done
mv "$scratch"/thousand/* "$spool/incoming/" 2>/dev/null
# all NAME: until a thousand are counted, as long as there are more every 30 seconds.
all() {
    local now=0 before=-1
    while [ "$now" -lt 1000 ] && [ "$now" -gt "$before" ]; do
        before=$now
        more() { now=$("$1"); [ "$now" -gt "$before" ]; }
        wait_for 30 more "$1"
    done
    [ "$now" = 1000 ]
}
waiting() { grep -l '^  id: "one-' "$spool"/held/w*/job.yaml 2>/dev/null | wc -l; }
ok "a thousand jobs wait for one" all waiting
stage=$(pgrep -P "$daemon" -x resubmit)
let_go one >/dev/null
ended() { find "$spool/done" -maxdepth 2 -name 'w[0-9]*' | wc -l; }
ok "and all go on when it has ended" all ended
is "$(pgrep -P "$daemon" -x resubmit)" "$stage" "the stage was never restarted"
is "$(find "$spool/rendered" "$spool/submitted" -mindepth 1 | wc -l)" 0 "nothing is left"
dlspool check -q >/dev/null 2>"$scratch/check.log"
is "$(grep -v warning "$scratch/check.log")" "" "check finds nothing wrong"

done_testing
