#!/usr/bin/env bash
# What a job file says of deadline, size, units and checkpoint: in every way to write it, in job.yaml, and
# in what is rendered; what cannot be is refused with a reason.
. "$(dirname "$0")/lib.bash"
new_spool null || exit 1

fact() { sed -n "s/^ *$2: //p" "$(job_dir "$1")/job.yaml" | tr -d '"'; }
refused() {     # refused NAME SENTENCE: by submit, which drops nothing
    dlspool submit "$scratch/$1.yaml" 2>"$scratch/refusal" && fail "$1 is refused"
    like "$(<"$scratch/refusal")" "$2" "$1: the reason"
}

# Rendering needs no daemon.
cat >"$scratch/grows.yaml" <<'JOB'
name: grows
library: any
type: single
script: "#!/bin/sh"
tasks: {main: {cpus: 2}}
size: {min: 1, max: 4}
deadline: +6h
weight: 2
units: {total: 400, pattern: "step {done}/{total}"}
checkpoint: {signal: USR1, grace: 1m}
JOB
manifest=$(dlspool render "$scratch/grows.yaml")
like "$manifest" '^ *"?cpus"?: 2$' "a job begins at the size that it asks for"
like "$manifest" 'OMP_NUM_THREADS"?: "4"' "and has threads for the most that it may be given"
like "$manifest" 'OMP_WAIT_POLICY"?: "PASSIVE"' "which sleep when they wait"
sed '/^size/d' "$scratch/grows.yaml" >"$scratch/fixed.yaml"
manifest=$(dlspool render "$scratch/fixed.yaml")
like "$manifest" 'OMP_NUM_THREADS"?: "2"' "one that stays as it is has threads for its processors"
unlike "$manifest" OMP_WAIT_POLICY "which wait as they do"
cat >"$scratch/wide.yaml" <<'JOB'
name: wide
library: any
type: distributed
script: "#!/bin/sh"
size: {min: 3, max: 8}
checkpoint: {}
JOB
is "$(dlspool render "$scratch/wide.yaml" | grep -cE '^ *(- )?"?index"?: ')" 3 "a job has at least the tasks of its smallest size"

# Refused at once, with the place.
printf 'name: late\nlibrary: any\ntype: single\nscript: x\ndeadline: 2020-05-01T18:00Z\n' >"$scratch/late.yaml"
refused late 'late.yaml:5:11: deadline: found 2020-05-01T18:00Z, which is over, expected a time after 20'
printf 'name: stuck\nlibrary: any\ntype: distributed\nscript: x\nsize: {max: 4}\n' >"$scratch/stuck.yaml"
refused stuck 'stuck.yaml:5:7: size: found without a way to change it: expected checkpoint as well'
printf 'name: units\nlibrary: any\ntype: single\nscript: x\nunits: {total: 4, pattern: "step (.*)"}\n' >"$scratch/units.yaml"
refused units 'units.yaml:5:28: units.pattern: found "step \(\.\*\)", expected \{done\} in it'
is "$(ls -A "$spool/incoming")" "" "nothing of that was dropped"

# The same in each way to write it, and in the record.  They are held, as a plan would give them other sizes.
start_daemon
{ cat "$scratch/grows.yaml" && echo "hold: true"; } | drop grows.yaml
cat <<'JOB' | drop json.json
{"name": "json", "library": "any", "type": "single", "script": "#!/bin/sh",
 "tasks": {"main": {"cpus": 2}}, "size": {"min": 1, "max": 4}, "deadline": "+6h", "weight": 2, "hold": true,
 "units": {"total": 400, "pattern": "step {done}/{total}"},
 "checkpoint": {"signal": "USR1", "grace": "1m"}}
JOB
cat <<'JOB' | drop script.sh
#!/bin/sh
#DL name=script
#DL library=any
#DL type=single
#DL tasks.main.cpus=2
#DL size={min: 1, max: 4}
#DL deadline=+6h
#DL weight=2
#DL units.total=400
#DL units.pattern="step {done}/{total}"
#DL checkpoint={signal: USR1, grace: 1m}
#DL hold=true
true
JOB
drop late.yaml <"$scratch/late.yaml"
for name in grows json script; do
    ok "$name is taken" wait_for 20 in_state "$name" held
    facts=$(for field in deadline_mode weight size size_asked total pattern of least most signal grace_ms; do
        printf '%s=%s ' $field "$(fact "$name" $field)"
    done)
    is "$facts" "deadline_mode=count weight=2 size=2000 size_asked=2000 total=400 pattern=step {done}/{total} of=cpus least=1000 most=4000 signal=USR1 grace_ms=60000 " \
        "$name: all of it is in job.yaml"
    is "$(date -d "$(fact "$name" deadline)" +%s.%3N)" "$(date -d "$(fact "$name" accepted) + 6 hours" +%s.%3N)" \
        "$name: the deadline counts from when it was accepted"
    like "$(dlspool list --format reason --name "$name")" '^Held by' "$name: no deadline status is told before there is one"
done
is "$(fact grows arguments_sha256)" "$(fact json arguments_sha256)" "what there is to do is the same"
id=$(basename "$(job_dir grows)")
dlspool render "$id" >"$scratch/again"
ok "it is rendered again as it was" cmp "$scratch/again" "$(job_dir grows)/manifest.yaml"
ok "a late job that is dropped ends in failed/" wait_for 20 has_ended late
like "$(<"$(job_dir late)/why")" 'late.yaml:5:11: deadline: found 2020-05-01T18:00Z, which is over' "why says so"

done_testing
