#!/usr/bin/env bash
# Job files that crash, stall or fill what reads them, in intake and when failed jobs are read again:
# each is tried three times and then set aside with a reason and what was dropped; other people's jobs
# are accepted meanwhile; and what reads them comes to rest.
. "$(dirname "$0")/lib.bash"
${CC:-cc} -shared -fPIC -O1 -D_GNU_SOURCE -o "$scratch/poison.so" "$top/tests/poison.c" -ldl 2>"$scratch/cc.log" ||
    skip_all "no compiler for the library that crashes: $(head -n 1 "$scratch/cc.log")"
new_spool null || exit 1
log=$scratch/daemon.log
LD_PRELOAD=$scratch/poison.so start_daemon
must "the daemon serves" wait_for 10 grep -q locked "$spool/.lease"

# The letter that is not of ASCII has libyaml read it (base/yaml_quick.h).
text() { printf 'name: %s\nlibrary: any\ntype: %s\nscript: "#!/bin/sh"\nenv: {X: "%s"}\n# \303\251\n' "$1" "${3:-single}" "$2"; }
job() { text "$@" | drop "$1.yaml"; }
# quick NAME WHAT: a good job dropped now is done soon.  A stalled try takes half a second of processor
# time (tests/poison.c), which on a busy machine is more by the clock.
quick() { job "$1" fine; ok "$2: another job is accepted meanwhile" wait_for 40 in_state "$1" "done"; }
why() { cat "$(job_dir "$1")/why" 2>/dev/null; }
claims() { find "$spool/.claims" -mindepth 1; }
set_aside() { # NAME WHAT
    local dir
    ok "$2: it is set aside" wait_for 60 has_ended "$1"
    dir=$(job_dir "$1")
    is "$(state_of "$1")" failed "$2: in failed/"
    like "$(why "$1")" "ended dlspool's [a-z]* 3 times" "$2: why says so"
    like "$(why "$1")" '^Next: not retried' "$2: and that it is not tried again"
    like "$(<"$dir/job.yaml")" 'reason: "StopsReader"' "$2: so does job.yaml"
}

for i in 1 2 3; do job "before$i" fine; done
job crash POISON-CRASH
for i in 1 2 3; do job "beside$i" fine; done
for i in 1 2 3; do ok "dropped beside one that crashes: $i" wait_for 20 in_state "beside$i" "done"; done
quick during "crash"
set_aside crash "crash"
dir=$(job_dir crash)
is "$(<"$dir/dropped")" "$(text crash POISON-CRASH)" "crash: what was dropped is kept"
is "$(stat -c %U "$dir/dropped")" "$(id -un)" "crash: its owner owns it still"
like "$(<"$dir/job.yaml")" "owner: \"$(id -un)\"" "crash: and the job"
is "$(grep -c 'read the job file crash.yaml' "$log")" 3 "crash: three times, no more"

job stall POISON-STALL
ok "stall: it is being read" wait_for 10 sh -c "[ -n \"\$(ls '$spool/.claims')\" ]"
quick meanwhile "stall"
quick meanwhile2 "stall"
set_aside stall "stall"
like "$(grep 'intake was ended' "$log" | tail -n 1)" 'processor time' "stall: the log says that it took too long"

job fill POISON-FILL
set_aside fill "memory without end"
quick after "memory without end"

# Several at once, among good ones.
for i in 1 2 3; do job "bad$i" POISON-CRASH; job "good$i" fine; done
for i in 1 2 3; do ok "one of many good: $i" wait_for 20 in_state "good$i" "done"; done
for i in 1 2 3; do ok "one of many bad: $i" wait_for 40 has_ended "bad$i"; done
is "$(claims)" "" "no claim is left"

# A request that is read again.  In intake it was harmless.
git clone -q "$spool/templates.git" "$scratch/work" 2>/dev/null
rm -f "$spool/templates.git/hooks/pre-receive"
git -C "$scratch/work" rm -q local/any/mpi.yaml
git -C "$scratch/work" commit -qm "without a template" && git -C "$scratch/work" push -q 2>/dev/null
# Jobs over which another stage ends: they are set aside with a reason, and other jobs go on.
set_aside_by() { # STAGE NAME
    local dir
    ok "$2: it is set aside" wait_for 60 sh -c "grep -q \"ended dlspool's $1 stage 3 times\" '$spool'/failed/$2-?????????????/why"
    dir=$(job_dir "$2")
    like "$(why "$2")" "^Next: .*dlspool retry $(basename "$dir")" "$2: and says what its reader can do"
    like "$(<"$dir/log")" ' failed reason=StopsStage ' "$2: so says its log"
}
for stage in submit track; do
    for kind in poison late; do job "$kind-$stage" fine; job "beside-$stage-$kind" fine; done
done
job poison-resubmit fine mpi
printf 'name: poison-resubmit-held\nlibrary: any\ntype: single\nhold: true\nscript: fine\n' | drop held-late.yaml
for stage in submit track; do
    for kind in poison late; do set_aside_by "$stage" "$kind-$stage"; done
done
for name in poison-resubmit poison-resubmit-held; do set_aside_by resubmit $name; done
for stage in submit track; do
    for kind in poison late; do ok "one beside $kind-$stage is done" wait_for 40 in_state "beside-$stage-$kind" "done"; done
done
lines=$(grep -c 'was ended by' "$log")
quick after-stages "all stages"
is "$(grep -c 'was ended by' "$log")" "$lines" "no stage ends any more"

job again POISON-RESUBMIT mpi
job hope fine mpi
ok "a job waits for a change" wait_for 10 has_ended again
ok "and another" wait_for 10 has_ended hope
cp "$scratch/work/local/any/single.yaml" "$scratch/work/local/any/mpi.yaml"
mkdir -p "$scratch/work/null/any"
cp "$scratch/work/local/any/single.yaml" "$scratch/work/null/any/mpi.yaml"
git -C "$scratch/work" add . && git -C "$scratch/work" commit -qm "change" && git -C "$scratch/work" push -q 2>/dev/null
ok "read again: the other one goes on" wait_for 20 in_state hope "done"
ok "read again: it is set aside" wait_for 30 sh -c "grep -q \"ended dlspool's [a-z]* 3 times\" '$(job_dir again)/why'"
like "$(<"$(job_dir again)/job.yaml")" 'reason: "StopsReader"' "read again: so says job.yaml"
is "$(grep -c ' stopped stage=resubmit ' "$(job_dir again)/log")" 3 "read again: and the log, three times"
is "$(find "$(job_dir again)" -name request.yaml | wc -l)" 1 "read again: the request is kept"
# ... and one that was held.
printf 'name: held\nlibrary: any\ntype: single\nhold: true\nscript: POISON-RESUBMIT\n# \303\251\n' | drop held.yaml
ok "a job is held" wait_for 10 in_state held held
printf 'release: %s\n' "$(basename "$(job_dir held)")" | drop release.yaml
ok "read again when it is released: it is set aside" wait_for 30 in_state held failed
like "$(<"$(job_dir held)/why")" "ended dlspool's [a-z]* 3 times" "and says why"
lines=$(grep -c 'read its request again' "$log")
sleep 1.5
is "$(grep -c 'read its request again' "$log")" "$lines" "read again: it is left alone"
quick last "at the end"

stop_daemon
is $? 0 "the daemon stops as it should"
done_testing
