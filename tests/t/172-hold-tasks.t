#!/usr/bin/env bash
# hold and release of single tasks of an array: the others run without them, a job of which nothing else is
# left waits in held/, and what is released runs, each task once.
. "$(dirname "$0")/lib.bash"
new_spool null || exit 1
start_daemon

# array NAME INDEXES [LINE...]
array() {
    { printf 'name: %s\nlibrary: any\ntype: array\narray: "%s"\nscript: "#!/bin/sh"\n' "$1" "$2"
      shift 2
      for line; do printf '%s\n' "$line"; done; } | drop "${array_name:-$1}.yaml"
}
id_of() { basename "$(job_dir "$1")"; }
why() { head -n 1 "$(job_dir "$1")/why"; }
# What each attempt ran.
attempts() { sed -n 's/.* requeued .* array=\([^ ]*\).*/\1/p' "$(job_dir "$1")/log" | tr '\n' ' '; }
handed() { grep -c ' submitted ' "$(job_dir "$1")/log"; }
holds_tasks() { in_state "$1" held && [ "$(why "$1")" = "Held by $(id -un): $2." ]; }
stage() { kill "-$1" "$(pgrep -P "$daemon" -x "$2")"; }

# One that waits as a whole: some tasks are let go, then the last.
array some 0-5 'hold: true'
wait_for 20 in_state some held
is "$(dlspool release some/0-2,4-5)" "asked to release $(id_of some)/0-2,4-5" "five of six are released"
must "the sixth waits in held/" wait_for 20 holds_tasks some "task 3"
is "$(attempts some)" "0-2,4,5 " "five have run"
is "$(dlspool show --json some | jq -c '[.state, .array]')" \
    '["held",{"tasks":"0-2,4,5","killed":null,"aside":null,"held":"3","left":"3","states":{"done":"0-2,4,5","held":"3"}}]' "show tells which is held"
like "$(<"$(job_dir some)/why")" "^Next: .*dlspool release $(id_of some)\$" "and what releases it"
is "$(dlspool release some/4 2>&1)" "dlspool release: $(id_of some) has no task of the index 4 to be released; there is 3" \
    "what has run is not released"
is "$(dlspool hold some/3 2>&1)" "dlspool hold: $(id_of some) has no task left to be held" "what is held is not held again"
stop_daemon
start_daemon
ok "it waits still after the daemon was started again" holds_tasks some "task 3"
ok "the sixth is released" dlspool release some
must "the job is done" wait_for 20 in_state some "done"
is "$(attempts some)" "0-2,4,5 3 " "each task has run once"

# One that waits in rendered/, with all its tasks.
stage STOP submit
array turn 0-3
must "another waits for its turn" wait_for 20 in_state turn rendered
ok "a task of it is held" dlspool hold turn/1
ok "and one more" dlspool hold 'turn[3]'
asked() { [ -z "$(ls -A "$spool/incoming" "$spool/.claims" | grep -v :)" ]; }
wait_for 20 asked
is "$(dlspool show --json turn | jq -r .array.held)" "1,3" "show tells at once"
stage CONT submit
must "the others run, these wait" wait_for 20 holds_tasks turn "tasks 1,3"
is "$(attempts turn) $(handed turn)" "0,2  1" "in one attempt"
ok "one is released" dlspool release turn/3
must "it runs, the other waits" wait_for 20 holds_tasks turn "task 1"
ok "the rest is released" dlspool release turn/1
must "all is done" wait_for 20 in_state turn "done"
is "$(attempts turn)" "0,2 3 1 " "each once"

# Held and let go before its turn.
stage STOP submit
array back 0-3
wait_for 20 in_state back rendered
dlspool hold back/0-1 >/dev/null
wait_for 20 asked
dlspool release back/0-1 >/dev/null
wait_for 20 asked
stage CONT submit
must "what was let go in time runs with the others" wait_for 20 in_state back "done"
is "$(handed back)" 1 "in one attempt"

# What cannot be held.
printf 'name: plain\nlibrary: any\ntype: single\nhold: true\nscript: "#!/bin/sh"\n' | drop plain.yaml
wait_for 20 in_state plain held
is "$(dlspool hold plain/1 2>&1)" \
    "dlspool hold: $(id_of plain) is no array (its type is single): only the whole job can be held" "no task of what is no array"
like "$(dlspool hold some/3 2>&1)" 'has finished already \(done/' "nor of what is done"

# Whose hold it is.
if [ "$(id -u)" = 0 ]; then
    ask() { printf '%s: %s\n' "$2" "$3" >"$scratch/ask.tmp"; chown "$1" "$scratch/ask.tmp"; mv "$scratch/ask.tmp" "$spool/incoming/$2-$1.yaml"; }
    printf 'name: theirs\nlibrary: any\ntype: array\narray: "0-3"\nhold: true\nscript: "#!/bin/sh"\n' >"$scratch/as.tmp"
    chown nobody "$scratch/as.tmp"
    mv "$scratch/as.tmp" "$spool/incoming/theirs.yaml"
    wait_for 20 in_state theirs held
    theirs=$(id_of theirs)
    ask nobody hold "$theirs/1"
    wait_for 20 asked
    ask root hold "$theirs/2"
    wait_for 20 asked
    ask nobody release "$theirs/2"
    ok "what an administrator holds its owner may not release" wait_for 20 in_state release-nobody failed
    like "$(why release-nobody)" "the tasks 2 are held by root; only an administrator may release them" "and is told so"
    ask nobody release "$theirs/0,3"
    # Back in held/: what is released while it waits for its turn goes with what was before.
    ran() { in_state theirs held && [ "$(handed theirs) $(attempts theirs)" = "$1" ]; }
    ok "but the others, which run" wait_for 20 ran "1 0,3 "
    ask nobody release "$theirs/1"
    ok "and their own" wait_for 20 ran "2 0,3 1 "
    ask root release "$theirs"
    must "the administrator releases the last" wait_for 20 in_state theirs "done"
    is "$(attempts theirs)" "0,3 1 2 " "each once"
fi
dlspool check -q >/dev/null 2>"$scratch/check.log"
is "$(grep -v warning "$scratch/check.log")" "" "check finds nothing wrong"
done_testing
