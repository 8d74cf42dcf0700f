#!/usr/bin/env bash
# Which jobs are meant by what stands on the command line, what is told of them, and the statuses that
# commands end with.  The jobs are made by hand: most of it needs no daemon.
. "$(dirname "$0")/lib.bash"
new_spool null || exit 1
me=$(id -u)
count=0

# make STATE NAME [KEY=VALUE...]: a job as the daemon leaves it; its id in $id.  uid, state, retry, code, log.
make() {
    local directory=$1 name=$2 uid=$me owner retry=never code=1 log='' why='' reason=Exited
    shift 2
    for setting; do local "${setting%%=*}=${setting#*=}"; done
    owner=${owner:-$(id -un "$uid" 2>/dev/null || echo "$uid")}
    count=$((count + 1))
    id=$name-$(printf '1m82%09d' "$count")
    local job=$spool/$directory/$id
    mkdir -p "$job/output"
    {
        printf 'format: 1\nid: "%s"\nname: "%s"\nowner: "%s"\nuid: %s\ngid: %s\n' "$id" "$name" "$owner" "$uid" "$uid"
        printf 'accepted: "2026-11-22T10:00:00.000Z"\nsource: "%s.yaml"\nrequest_file: "request.yaml"\n' "$name"
        printf 'library: "any"\ntype: "single"\npriority: 0\nretries: 0\nretried: 0\nbackoff_ms: 0\ntime_limit_ms: 0\n'
        printf 'cpus_milli: 2000\nmemory_bytes: 1073741824\ngpus: 1\nexecutor: "null"\nimage_line: 0\nattempt: 1\ndlspool: "1"\n'
        [ "$directory" != failed ] ||
            printf 'failure:\n  retry: "%s"\n  reason: "%s"\n  class: "unknown"\n  exit_code: %s\n  failed: "2026-11-22T10:05:00.000Z"\n' "$retry" "$reason" "$code"
    } >"$job/job.yaml"
    printf '2026-11-22T10:00:00.000Z accepted\n%b' "$log" >"$job/log"
    [ -z "$why" ] || printf '%s\n' "$why" >"$job/why"
}
began='2026-11-22T10:00:00.000Z intent attempt=1\n2026-11-22T10:00:01.000Z submitted attempt=1\n'
began+='2026-11-22T10:00:02.000Z started attempt=1 at=2026-11-22T10:00:02.000Z\n'
ended="${began}2026-11-22T10:05:02.000Z ended attempt=1 at=2026-11-22T10:05:02.000Z outcome=failed main-0=3\n"
today=done/2026-11-22

# run COMMAND...: what it prints, and how it ends.
run() { output=$("$@" 2>&1); status=$?; }

make "$today" digits "log=$ended"; first=$id
make failed digits "log=$ended" code=3 why="task main-0 ended with exit code 3"; second=$id
make submitted digits "log=$began"; third=$id
lost='2026-11-22T10:01:00.000Z lost attempt=1 task=main-1 exit_code=137 reason=Exited\n'
printf '2026-11-22T10:01:00.000Z tasks attempt=1 id=4711 state=RUNNING waiting=0 running=2 succeeded=0 failed=1\n' >"$spool/submitted/$id/tasks"
printf "$lost" >>"$spool/submitted/$id/log"
make submitted queuing; queuing=$id
make rendered waits; waits=$id
make held rests; rests=$id
printf '2026-11-22T10:00:00.000Z hold by=ann uid=%s\n' "$me" >"$spool/held/$id/hold"
make submitted stops "log=$began"; stops=$id
printf '2026-11-22T10:00:00.000Z kill by=ann uid=%s\n' "$me" >"$spool/submitted/$id/kill"
make rendered foreign uid=4711; foreign=$id
make rendered digits uid=4711; others=$id

# One word for where a job is.
state() { dlspool show --json "$1" | jq -r .state; }
is "$(for job in $first $second $third $queuing $waits $rests $stops; do state "$job"; done | tr '\n' ' ')" \
    "done failed running queued waiting held stopping " "show tells one word"
is "$(dlspool status --json 2>/dev/null | jq -c '[.jobs | .waiting, .queued, .running, .stopping, .done, .failed, .held]')" \
    "[3,1,1,1,1,1,1]" "status counts by it"
like "$(dlspool status 2>/dev/null)" "^waiting +3, the oldest $waits for" "and tells which has waited for the longest"
is "$(dlspool list --json --state running | jq -r '.[].id')" "$third" "list selects by it"
is "$(dlspool list --json --state submitted | jq length)" 3 "and by a directory, as before"
is "$(dlspool show --json "$stops" | jq -r .directory)" submitted "the directory is told as well"

# list: newest first, with what is asked for.
is "$(dlspool list --format id | head -n 2 | tr '\n' ' ')" "$others $foreign " "list is newest first"
is "$(dlspool list --name digits --mine --format state,elapsed,cpus,gpus,exit,reason | tr -s ' ' | tail -n +2)" \
    "failed 5:00 2 1 3 task main-0 ended with exit code 3
done 5:00 2 1 0 -" "list has the columns that are asked for"
is "$(dlspool list --state running --format tasks,scheduler,reason | tr -s ' ')" \
    "2 running, 1 failed 4711 RUNNING main-1 is lost, and the job goes on without it" "and what the scheduler and its tasks do"
is "$(dlspool show --json "$third" | jq -c '[.scheduler, .tasks, .lost]')" \
    '[{"id":"4711","state":"RUNNING"},{"waiting":0,"running":2,"succeeded":0,"failed":1},["main-1"]]' "show has it as well"
like "$(dlspool show "$third" | tr -s ' ')" $'tasks 2 running, 1 failed\nlost main-1\nat scheduler 4711, RUNNING' "for people, too"
is "$(dlspool show --json "$queuing" | jq -c '[.scheduler, .tasks, .lost]')" '[null,null,[]]' "and nothing of which nothing is known"
is "$(dlspool list --user 4711 --sort name --format name | tr '\n' ' ')" "digits foreign " "--user and --sort"
is "$(TZ=Asia/Tokyo dlspool list --limit 1 --state running --format started)" "2026-11-22 19:00:02" "times are by TZ"
is "$(dlspool list --since 2020-01-01 --format id | wc -l)" 9 "--since takes a date"
is "$(dlspool list --since 1s 2>/dev/null | wc -l)" 0 "or a duration"
day() { TZ=Asia/Tokyo date -d "$1 00:00" +%s; }
is "$(TZ=Asia/Tokyo dlspool report users -S yesterday -E today --json | jq -r '"\(.from) \(.until)"' | xargs -n 1 date +%s -d | xargs)" \
    "$(day yesterday) $(day today)" "today and yesterday begin at midnight, where the caller is"
run dlspool list --format id,stat
is $status 2 "a column that is not known"
like "$output" 'did you mean state' "is answered with the nearest"
is "$(dlspool list --json --all | jq -c '[.[] | select(.state == "done" or .state == "failed") | .exit_code] | sort')" '[0,3]' \
    "exit codes are numbers of what has ended"
on_terminal() { script -qec "stty cols ${columns:-80}; $DLSPOOL -s $spool list $*" /dev/null </dev/null | tr -d '\r'; }
output=$(on_terminal --state failed)
like "$output" '^ID +STATE +USER +ELAPSED +CPUS +GPUS +REASON' "on a terminal there are headings, and no empty columns"
output=$(columns=70 on_terminal)
is "$(awk 'length($0) > 72' <<<"$output")" "" "and lines are cut to its width"

# Many jobs that are done cost nothing until they are asked for.
many() { # many DAY FROM TO
    local jobs file
    mapfile -t jobs < <(seq -f "$spool/done/$1/many-1m7%010.0f" "$2" "$3")
    mkdir -p "${jobs[@]}"
    for file in job.yaml log; do tee "${jobs[@]/%//$file}" <"$spool/$today/$first/$file" >/dev/null; done
}
many 2026-11-20 1 30
many 2026-11-21 31 100
opened=$(strace -f -e trace=openat -o /dev/stdout "$DLSPOOL" -s "$spool" list --format id 2>/dev/null)
is "$(grep -o "done/.*job.yaml\|job.yaml" <<<"$opened" | wc -l)" $((7 + 50 + 1)) "list reads all that have not ended, and 50 that have (one that failed twice)"
like "$(dlspool list 2>&1 >/dev/null)" "52 more; --all lists all" "and says how many there are more"
is "$(dlspool list --all --format id | wc -l)" 109 "list --all has them all"
is "$(dlspool list --all --json | jq length)" 109 "as has --json"
opened=$(strace -f -e trace=openat -o /dev/stdout "$DLSPOOL" -s "$spool" list --limit 2 2>/dev/null)
unlike "$opened" '2026-11-20' "a day that is not needed is not read"
many 2026-11-19 1000 3000
is "$(ulimit -d 20000; dlspool list --all --json | jq length)" 2110 "a list of thousands takes little memory"
rm -rf "$spool/done/2026-11-19" "$spool/done/2026-11-2"[01]

# Names.
is "$(dlspool show --json digits | jq -r .id)" "$third" "a name means the newest job of that name of one's own"
is "$(dlspool show --json queuing-1 | jq -r .id)" "$queuing" "a beginning that is unambiguous means that job"
is "$(dlspool show --json foreign | jq -r .id)" "$foreign" "a name that only somebody else uses means that job"
run dlspool show dig
is $status 4 "an ambiguous beginning ends with status 4"
like "$output" "4 jobs have an id that starts with \"dig\"" "and says so"
like "$output" "$second +failed .* ago" "with the candidates"
run dlspool show --json nosuch
is $status 4 "a job that is not there ends with status 4"
is "$(dlspool show --json nosuch 2>/dev/null | jq -r '"\(.operand) \(.status)"')" "nosuch 4" "and is an object with an error"
run dlspool kill foreig
is $status 4 "kill takes no beginning that cuts a name"
is "$(ls "$spool/incoming")" "" "and asks for nothing"
run dlspool retry digits
is "$status $output" "0 asked to retry $second" "retry NAME means the one job that can be retried"
run dlspool kill digits
is "$status $output" "0 asked to kill $third" "kill NAME means the one that has not ended"
make rendered digits
run dlspool kill digits
is $status 4 "kill NAME that two of one's jobs have is refused"
like "$output" "2 jobs have the name \"digits\"" "with a sentence"
like "$output" "$third +running" "and the candidates"
rm -rf "$spool/rendered/$id"

# Many at once.
rm -f "$spool"/incoming/*
run dlspool kill --state waiting
is "$status $output" "0 asked to kill $waits" "kill --state means one's own jobs of that state"
run dlspool release --mine
is "$status $output" "0 asked to release $rests" "release --mine means those that are held"
run dlspool kill --name 'w*' --json
is "$(jq -r '"\(.id) \(.asked)"' <<<"$output")" "$waits kill" "--name takes a pattern, and --json gives objects"
is "$(cat "$spool"/incoming/kill-*.yaml | sort -u)" "kill: $waits" "what is asked is in incoming/"
rm -f "$spool"/incoming/*
run dlspool kill "$waits" 2
is $status 4 "an id and an index apart from it end with status 4"
like "$output" "did you mean task 2 of $waits\? That is $waits/2" "and are told how to be written"
is "$(ls "$spool/incoming")" "" "and the whole of it is not killed"
run dlspool kill --name nosuch
is $status 4 "an empty selection ends with status 4"
run dlspool kill
is $status 2 "neither ids nor a selection is wrong usage"
run dlspool kill --mine "$waits"
is $status 2 "and so are both"
rm -f "$spool"/incoming/*

# logs.
printf 'one\ntwo\nthree\n' >"$spool/$today/$first/output/main-0.log"
mkdir "$spool/$today/$first/output-1" "$spool/$today/$first/output-2"
echo before >"$spool/$today/$first/output-2/main-0.log"
echo other >"$spool/$today/$first/output/main-1.log"
is "$(dlspool logs "$first" main-0)" "$(printf 'one\ntwo\nthree')" "logs prints a task"
is "$(dlspool logs --tail 2 "$first" main-0)" "$(printf 'two\nthree')" "or its last lines"
is "$(dlspool logs --tail 0 "$first" main-0 2>/dev/null)" "" "or none"
is "$(dlspool logs --previous "$first")" "before" "or what the attempt before printed"
is "$(dlspool logs --follow --tail 1 "$first")" "$(printf 'main-0| three\nmain-1| other')" \
    "several tasks that are followed are told apart line by line"
is "$(dlspool logs --json "$first" main-1 | jq -c '[.task, .line]')" '["main-1","other"]' "--json gives an object for each"
is "$(dlspool logs --since 1h "$first" main-0)" "$(printf 'one\ntwo\nthree')" "what was copied at once is as old as its file"
touch -d '2 hours ago' "$spool/$today/$first/output/main-0.log"
is "$(dlspool logs --since 1h "$first" main-0 2>/dev/null)" "" "and left out by logs --since when that is older"
ago() { echo $((($(date +%s) - $1) * 1000)); }
printf '0 %s\n4 %s\n8 %s\n' "$(ago 7200)" "$(ago 1800)" "$(ago 60)" >"$spool/$today/$first/output/.main-0.log.times"
is "$(dlspool logs --since 1h "$first" main-0)" "$(printf 'two\nthree')" "logs --since prints what was copied since then"
is "$(dlspool logs --since 2m "$first" main-0)" three "or later"
is "$(dlspool logs --since 65s "$first" main-0)" three "and what was copied within ten seconds before, as that may be newer"
is "$(dlspool show "$first" | grep output/ | sort | xargs)" "output/main-0.log output/main-1.log" "show lists what a task printed, and no file of dlspool's own"
is "$(dlspool logs --since 3h --tail 1 "$first" main-0)" three "--tail leaves out more"
is "$(dlspool logs --since "$(date -d '-10 minutes' '+%Y-%m-%d %H:%M')" "$first" main-0)" three "a time does as well"
run dlspool logs --since 10s "$first" main-0
is "$status $output" "0 dlspool logs: $first has printed nothing since then" "and nothing is told so"
run dlspool logs --since soon "$first"
is $status 2 "what is no time is wrong usage"
run dlspool logs "$first" worker-0
is $status 4 "a task that is not there ends with status 4"
like "$output" "there is output of main-0, main-1" "and the sentence says which there are"
run dlspool logs "$second"
is "$status $output" "0 dlspool logs: $second has printed nothing" "a job without output is told so"
run timeout 3 "$DLSPOOL" -s "$spool" logs -f "$rests"
like "$output" "$rests has not started yet, it is held" "logs -f says what it waits for"

# wait.
run dlspool wait -q "$first"
is $status 0 "wait for a job that is done ends with status 0"
run dlspool wait "$second"
is $status 6 "for one that failed with 6"
run dlspool wait --exit-status "$second"
is $status 3 "or with the exit code of its program"
run dlspool wait --any "$third" "$first"
is "$status $output" "0 $today/$first" "wait --any ends with the first"
run dlspool wait --timeout 1s "$waits"
is $status 3 "when the time is over and nobody serves, with 3"
run dlspool wait nosuch
is $status 4 "a job that is not there, with 4"
is "$(dlspool wait --json "$second" | jq -r '"\(.id) \(.failure.exit_code)"')" "$second 3" "wait --json gives the job"

# What one may not read is told so.
if [ "$me" = 0 ]; then
    chmod 0 "$spool/rendered/$waits"
    run setpriv --reuid 65534 --clear-groups "$DLSPOOL" -s "$spool" show "$waits"
    is $status 1 "a job that may not be read"
    like "$output" "may not be read by you" "is told so"
    chmod 755 "$spool/rendered/$waits"
    run setpriv --reuid 65534 --clear-groups sh -c "echo name: x >'$spool/rendered/x.yaml'"
    like "$output" "Permission denied" "nobody but the daemon writes into rendered/"
    echo "epoch 1" >"$spool/submitted/$third/output/main-0.log"
    chmod 700 "$spool/submitted/$third/output"
    run setpriv --reuid 65534 --clear-groups "$DLSPOOL" -s "$spool" logs "$third"
    is $status 1 "output that may not be read"
    like "$output" "may be read by its owner and the owner's primary group only; ask its owner" "is told so"
    chmod 755 "$spool/submitted/$third/output"
fi
echo "epoch 1" >"$spool/submitted/$third/output/main-0.log"
run dlspool logs "$third" worker-0
is $status 4 "logs of a task that is not there ends with status 4"
like "$output" 'has no output of a task "worker-0"; there is output of main-0' "and tells which there are"
run dlspool wait -t 2sec "$third"
is $status 2 "a time limit of another form ends with status 2"
like "$output" '--timeout: found "2sec", expected a duration such as 30s, 5m or 1h' "and the sentence says how it is written"
run "$DLSPOOL" -s "$scratch/nowhere" list
like "$output" "-s DIR or DLSPOOL_DIR" "a spool that is not there: the sentence says how it is named"

# submit.
start_daemon
ok "the daemon serves" wait_for 20 eval '[ "$(dlspool status --json | jq -r .daemon)" != null ]'
cat >"$scratch/train.yaml" <<'JOB'
# a comment
name: train
library: any
type: single
env: {RATE: 1.10}
script: "#!/bin/sh"
tasks:
  main: {cpus: 1}
JOB
printf '#!/bin/sh\n#DL name=batch\n#DL library=any\n#DL type=single\n#DL tasks.main.cpus=1\necho\n' >"$scratch/batch.sh"
run dlspool submit --dry-run --set tasks.main.cpus=2 "$scratch/train.yaml"
is $status 0 "submit --dry-run of a good file ends with status 0"
like "$output" "train.yaml is good: train would run in .*, with 2 CPUs, 1 GiB$" "and says what would run"
is "$(dlspool submit --dry-run --json "$scratch/train.yaml" | jq -c '[.name, .cpus]')" '["train",1]' "as an object, too"
run dlspool submit --dry-run --set tasks.main.gpuz=2 "$scratch/train.yaml"
is $status 1 "a field that there is not is refused"
like "$output" "gpuz: unknown field; did you mean gpus" "as it is in a file"
run dlspool submit --set gpus "$scratch/train.yaml"
like "$output" "expected FIELD=VALUE" "so is what sets nothing"
is "$(dlspool list --name train 2>/dev/null)" "" "and nothing was dropped"
id=$(dlspool submit --hold --name other --set tasks.main.gpus=3 --set 'args=[--lr, "0.1"]' "$scratch/train.yaml" 2>"$scratch/errors") || cat "$scratch/errors"
ok "submit --hold is held" wait_for 20 test -d "$spool/held/$id"
is "$(dlspool show --json "$id" | jq -c '[.name, .gpus]')" '["other",3]' "--set changes what it says"
run dlspool submit --hold --name other --set tasks.main.gpus=4 "$scratch/train.yaml"
unlike "$output" "note" "another file of that name is submitted without a note"
run dlspool submit --hold --name other --set tasks.main.gpus=4 "$scratch/train.yaml"
like "$output" "note: the same job file is also the job other-[^ ]*, which is held; both run" "the same file again is not"
like "$(<"$spool/held/$id/request.yaml")" 'RATE: "1.10"' "and nothing else"
is "$(dlspool submit --json --hold --set tasks.main.cpus=0.5 "$scratch/batch.sh" | jq -c '[.name, .cpus]')" '["batch",0.5]' \
    "a batch script is changed by lines of #DL; --json gives the job"
# A command in place of a file.
mkdir -p "$scratch/a place"
words=(sh -c 'echo "$@"' x "a b" 'q"u' $'new\nline' '$HOME' --json)
id=$(cd "$scratch/a place" && dlspool submit --hold --set tasks.main.cpus=2 -- "${words[@]}")
like "$id" '^sh-' "submit -- COMMAND is a job named after the command"
is "$(dlspool render --json "$spool/held/$id/request.yaml" | jq -r .manifest | sed -n 's/^  - "/"/p' | jq -sc .)" \
    "$(jq -cn '$ARGS.positional' --args -- "${words[@]}")" "whose task has the words as they are"
like "$(<"$spool/held/$id/request.yaml")" "^program: \"?$scratch/a place\"?$" "in the directory that it was called in"
run dlspool submit "$scratch/train.yaml" -- true
is $status 2 "not a file as well"
run dlspool submit --
is $status 2 "nor nothing"
run dlspool submit --dry-run --set program=/ --set tasks.main.cpus=x -- true
like "$output" 'true.yaml, as changed by --set:.*cpus' "a mistake is told as in a file"

run dlspool submit -w --set after=afterok:nosuch-0123456789abc "$scratch/train.yaml"
is $status 6 "submit -w of a job that fails at once ends with status 6"
is "$(grep -c 'failed/\|nosuch' <<<"$output")" 1 "and its failure is told once"
like "$output" '^failed/train-[^ ]*: .' "with the reason"
is "$(dlspool submit --json --set name=-x "$scratch/train.yaml" 2>/dev/null | jq .status)" 1 "a refusal is an object"
ok "what the executor has is in a file" wait_for 20 test -s "$spool/capacity"
if [ "$me" = 0 ]; then
    output=$(setpriv --reuid 65534 --clear-groups "$DLSPOOL" -s "$spool" status)
    like "$output" 'as the daemon found it 20' "status tells users who may not ask the executor"
    like "$output" '^  gpus +[0-9]+ of [0-9]+ in use' "how many GPUs are in use"
fi
output=$(TZ=Asia/Tokyo dlspool show "$second")
like "$output" '^state +failed, exit code 3$' "show has the exit code"
like "$output" '^started +2026-11-22 19:00:02$' "and when it started, by TZ"
like "$output" '^elapsed +5:00$' "and how long it ran"
like "$output" '^requests +2 CPUs, 1 GiB, 1 GPU$' "and what it asked for"
printf 'name: x\nlibrary: any\ntype: single\ntasks: {main: {command: [python3, train.py, "two words"]}}\n' \
    >"$scratch/command.yaml"
id=$(dlspool submit --hold "$scratch/command.yaml")
like "$(dlspool show "$id")" '^command +python3 train.py two words$' "and its command"
is "$(dlspool version --json | jq -r .version)" "$(<"$top/VERSION")" "version --json"

# One schema for --json: what each verb prints, at every depth, is what dlspool-json(5) says, no more and no less.
# keys SECTION: of the page, lines `SUBJECT KEY`, with the verb as the subject of "Of the verbs".
keys() {
    sed 's/\\-/-/g' "$top/docs/man/dlspool-json.5" | awk -v section="$1" '
        function names(line) { sub(/^\.BR? /, "", line); gsub(/" *, *"/, "\n", line); gsub(/ *", " */, "\n", line)
            gsub(/"/, "", line); gsub(/ *\n */, "\n", line); return line }
        /^\.S[SH] / { on = $0 == ".SS " section; depth = 0 }
        !on { next }
        /^\.RS/ { depth++ } /^\.RE/ { depth-- }
        tag { count = split(names($0), found, "\n"); if (section == "A job" || depth) { for (i = 1; i <= count; i++)
                for (j = 1; j <= (depth ? verbs : 1); j++) print (depth ? verb[j] : "job") " " found[i] }
            else { verbs = count; for (i = 1; i <= count; i++) verb[i] = found[i] } }
        { tag = $0 == ".TP" }'
}
# described VERB, and printed VERB from what was kept of it: paths such as runs[].id.
described() {
    { keys "Of the verbs" | sed -n "s/^$1 //p"
      case $1 in list | show | wait | submit) keys "A job" | sed 's/^job //' ;; esac; } | sort -u
}
printed() {
    jq -r 'if type == "array" then .[] else . end | select(has("error") | not)
        | if has("job") then .job = 1 elif has("result") then .result = 1 else . end
        | if .nodes | type == "array" then (.nodes[].gpu_types) |= with_entries(.key = "TYPE") else . end
        | if .executor | type == "object" then
            (.executor.host | objects) |= with_entries(.key = "LIBRARY")
            | (.executor.capacity | objects | .gpu_types) |= with_entries(.key = "TYPE") else . end
        | paths(. == null or . == [] or . == {} or (type != "object" and type != "array"))
        | map(if type == "number" then "[]" else . end) | join(".") | gsub("\\.\\[\\]"; "[]")' "$scratch/json/$1" | sort -u
}
# beyond A B: the paths of A that are neither in B nor lead to one of it, as what is null or empty does.
beyond() { awk 'NR == FNR {know[$0]; for (p = $0; match(p, /(\.[^.]*|\[\])$/);) {p = substr(p, 1, RSTART - 1); know[p]}; next} !($0 in know)' "$2" "$1"; }
absent() { awk 'NR == FNR {know[$0]; next} {for (p = $0; p != "" && !(p in know);) {if (!match(p, /(\.[^.]*|\[\])$/)) p = ""; else p = substr(p, 1, RSTART - 1)}; if (p == "") print}' "$2" "$1"; }
mkdir "$scratch/json" "$scratch/plain"
keep() { verb=$1; shift; "$DLSPOOL" -s "${in:-$spool}" "$verb" --json "$@" 2>/dev/null >>"$scratch/json/$verb"; }
in=$scratch/another keep init -e null
echo '{a: 1}' >"$scratch/plain/tree.yaml"
data=$top/tests/data/simulate
make failed digits "log=$ended" code=3 "why=task main-0 ended with exit code 3"
keep submit --set after=afterany:"$second" "$scratch/batch.sh"
keep submit --dry-run "$scratch/train.yaml"
id=$(dlspool submit -w "$scratch/batch.sh" 2>/dev/null | head -n 1)
printf 'hold: %s\n' "$queuing" >"$scratch/plain/hold.yaml"
keep submit "$scratch/plain/hold.yaml"
keep list --all
for job in $second $third "$id"; do keep show "$job"; done
keep wait "$id" "$second"
keep status
keep logs "$first"
keep render "$scratch/train.yaml" "$scratch/batch.sh"
keep convert "$top/examples/openpai/two-roles.json"
keep check
keep eval --repeat 1 "$scratch/plain/tree.yaml" "$scratch/plain/tree.yaml"
keep version
keep diff "$id"
keep plan HEAD
keep history
keep history --rebuild
set_setting rows '[{user: root, running: 1, waiting: 1, cpus: 1, memory: 1Gi, gpus: 1, time_limit: 1h, gpu_type: a}]'
keep limits
set_setting weights '[{user: "*", weight: 1}]'
keep share
set_setting weights '[]'
printf 'paused by=ann uid=1 since=2026-11-22T10:00:00.000Z reason=x\n' >"$spool/rendered/PAUSED"
keep status
rm -f "$spool/rendered/PAUSED"
make held wanted uid=4711
printf 'wants: "privilege rdma"\nfirst_manifest_sha256: "%064d"\n' 0 >>"$spool/held/$id/job.yaml"
set_setting approvers "[$me]"
keep approve "$id"
keep refuse "$id" --reason "not today"
keep pause --reason maintenance
keep resume
set_setting rows '[]'
mkdir -p "$spool/history/usage"
date -u '+%FT%TZ' >"$scratch/plain/now"
{   sed "s/\$/ usage id=$first attempt=1 user=ann uid=$me gid=$me name=digits library=any type=array queue=gpu array=0-1 gpu_type=a100 executor=slurm scheduler=1 node=n1 nodes=1 submitted=$(<"$scratch/plain/now") eligible=$(<"$scratch/plain/now") accepted=$(<"$scratch/plain/now") started=$(<"$scratch/plain/now") ended=$(<"$scratch/plain/now") outcome=failed reason=Exited class=unknown exit_code=1 time_limit_ms=1000 cpus_milli=1 memory_bytes=1 gpus=1 cpus_asked_milli=1 gpus_asked=1 cpu_held_ms=1 gpu_held_ms=1 cpu_used_ms=1 memory_peak_bytes=1 deadline=$(<"$scratch/plain/now") met=no whole=1/" "$scratch/plain/now"
} >"$spool/history/usage/$(date -u +%Y-%m)"
keep acct --all
keep report users --all
keep simulate "$data/trace.csv" --profiles "$data/profiles" --gpus 8
stop_daemon
make rendered asked; keep kill "$id"
make rendered asked; keep hold "$id"
make rendered asked; keep top "$id"
make rendered asked; keep priority "$id" -5
make held asked; printf '2026-11-22T10:00:00.000Z hold by=ann uid=%s\n' "$me" >"$spool/held/$id/hold"; keep release "$id"
keep retry "$second"
keep resubmit
sed -i 's/^  done: null/  done: 90d/' "$spool/dlspool.yaml"
keep prune
keep metrics
keep run --drain --verbose
start_daemon
keep token --name laptop
keep token --list
keep token --revoke laptop
# A node of which all is known.
in=$scratch/another
sed -i "s|^executor: .*|executor: slurm|; s|^  address: unix:/run/slurmrestd.*|  address: unix:$scratch/rest|" "$in/dlspool.yaml"
python3 -B "$top/tests/stand-in/slurmrestd" --socket "$scratch/rest" --nodes '[{"name": "n1", "state": "idle", "state_flags": ["DRAIN"],
    "reason": "a fan", "reason_set_by_user": "ann", "reason_changed_at": 1764125000, "cpus": 8, "alloc_cpus": 1, "real_memory": 100,
    "gres": "gpu:a100:4", "gres_used": "gpu:a100:1", "features": "fast,near"}]' &
rest=$!
wait_for 10 test -S "$scratch/rest"
in=$in keep nodes
output=$("$DLSPOOL" -s "$in" nodes 2>&1)
like "$output" '^n1 +drained +1 of 8 +0 bytes of 100 MiB +1 of 4 a100 +a fan [(]ann, 20' "nodes tells which node takes no jobs, and why"
kill "$rest"
run dlspool -s "$in" nodes
is $status 1 "nodes of an executor that is away is refused"
stop_daemon
keep web --socket "$scratch/plain/web" &
wait_for 10 test -s "$scratch/json/web"
pkill -TERM -P $! && wait $!
for verb in $("$DLSPOOL" --help | sed -n 's/^  \([a-z]*\)  *[a-z].*/\1/p'); do
    printed "$verb" >"$scratch/plain/printed"
    # What simulate --replay prints, 450-deadlines.t looks at.
    described "$verb" | grep -vE '^(plans|decisions|different|differences|simulated.*)$' >"$scratch/plain/described"
    ok "$verb --json prints objects" test -s "$scratch/plain/printed"
    is "$(beyond "$scratch/plain/printed" "$scratch/plain/described")" "" "with the keys of dlspool-json(5)"
    is "$(absent "$scratch/plain/described" "$scratch/plain/printed")" "" "and all of them"
done

# What could not be done is an object with --json, too, with the status that the command ends with.
refused() { # refused VERB WORD...
    output=$("$DLSPOOL" "$@" 2>"$scratch/errors") && output="status 0"
    is "$(tail -n 1 <<<"$output" | jq -c 'keys + [.status]' 2>&1)" "[\"error\",\"operand\",\"status\",$status]" "$1 --json: an error is an object"
    like "$(<"$scratch/errors")" "$(jq -r .error <<<"$output" | tail -n 1 | cut -c 1-20)" "and a sentence"
}
status=1
for verb in list status history run resubmit check; do refused $verb --json -s "$scratch/nowhere"; done
for verb in show logs wait kill retry hold release diff plan submit; do refused $verb --json -s "$scratch/nowhere" nosuch; done
refused init --json "$scratch/nowhere/at/all"
refused convert "$scratch/nowhere" --json
refused eval --json "$scratch/nowhere" "$scratch/nowhere"
refused simulate --json "$scratch/nowhere" --profiles "$data/profiles" --gpus 8
refused render --json "$scratch/nowhere.yaml"
status=2
refused version --json more
refused list --json --stat done

done_testing
