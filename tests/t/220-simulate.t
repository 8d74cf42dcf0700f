#!/usr/bin/env bash
# dlspool simulate: the table, JSON and the picture over a small made-up trace (tests/data/simulate),
# wrong usage and wrong files; and how many deadlines are met on published traces, where they are:
# DLSPOOL_TRACES is a directory with 195job.csv, cluster01.csv ... and profiles/ as they come from
# https://github.com/microsoft/elasticflow-traces and its artifact.
. "$(dirname "$0")/lib.bash"

data=$top/tests/data/simulate
simulate() { "$DLSPOOL" simulate "$data/trace.csv" --profiles "$data/profiles" "$@"; }
all=fifo,backfill,sjf,edf,llf,paper,elasticflow,ours

# ---- the table ----
output=$(simulate --gpus 8 --policy $all 2>&1)
is $? 0 "a trace is simulated with all policies"
is "$(awk 'NR > 1 {print $1}' <<<"$output" | tr '\n' ,)" "$all," "with a line for each, in their order"
like "$(head -n 1 <<<"$output")" '^policy +jobs +feasible +met +DSR .*unfinished' "under a line of names"
output=$(simulate --gpus 8 --seeds 3 --error .3 2>&1)
like "$output" 'DSR from \.\. to' "several seeds show the span"

# ---- JSON ----
simulate --gpus 8 --policy $all --json >"$scratch/all.json"
is "$(jq -r '.results | map(.policy) | join(",")' "$scratch/all.json")" "$all" "--json has a result for each policy"
is "$(jq -r '.gpus, .seeds' "$scratch/all.json" | tr '\n' ' ')" "8 1 " "and what was asked for"
fields=$(jq -r '.results[0] | keys_unsorted | join(" ")' "$scratch/all.json")
for field in jobs deadline_jobs best_effort_jobs feasible met dsr dsr_feasible unfinished tardiness_mean_seconds \
    tardiness_p95_seconds utilisation_allocated utilisation_effective best_effort_seconds_mean late_seconds_mean \
    promised broken starts resizes preemptions restart_gpu_seconds decisions decision_microseconds; do
    like " $fields " " $field " "with $field"
done
is "$(jq '[.results[] | .jobs == 60 and .deadline_jobs == 56 and .best_effort_jobs == 4 and .unfinished == 0
    and .met <= .feasible and .dsr == .met / 56 and .utilisation_effective <= .utilisation_allocated
    and .utilisation_allocated <= 1] | all' "$scratch/all.json")" true "and the figures fit each other"
is "$(jq '(.results | max_by(.met) | .met) == .results[-1].met' "$scratch/all.json")" true "ours meets the most"
is "$(jq '.results[-1].dsr >= 0.75 and .results[0].dsr < 0.1' "$scratch/all.json")" true "many more than fifo"

# ---- the same again ----
unhurried='del(.results[].decision_microseconds)'
simulate --gpus 8 --policy $all --json >"$scratch/again.json"
is "$(jq -S "$unhurried" "$scratch/again.json")" "$(jq -S "$unhurried" "$scratch/all.json")" \
    "the same trace gives the same figures"
seeded() { simulate --gpus 8 --error .5 --best-effort .3 --curves learned --seed "$1" --json | jq -S "$unhurried"; }
one=$(seeded 1) again=$(seeded 1) two=$(seeded 2)
is "$again" "$one" "and so does the same seed"
ok "but not another one" test "$one" != "$two"
head -n 1 "$data/trace.csv" >"$scratch/shuffled.csv"
tail -n +2 "$data/trace.csv" | sort -r >>"$scratch/shuffled.csv"
is "$("$DLSPOOL" simulate "$scratch/shuffled.csv" --profiles "$data/profiles" -g 8 --policy $all --json | jq -S "$unhurried")" \
    "$(jq -S "$unhurried" "$scratch/all.json")" "the order of the lines does not matter"

# ---- the picture ----
cp "$data/trace.csv" "$scratch/a<b&c.csv"
ok "--plot draws" "$DLSPOOL" simulate "$scratch/a<b&c.csv" --profiles "$data/profiles" -g 8 --policy fifo,ours \
    --plot "$scratch/plot.svg"
ok "well-formed XML" python3 -c 'import sys, xml.dom.minidom as m
root = m.parse(sys.argv[1]).documentElement
assert root.tagName == "svg" and len(root.getElementsByTagName("path")) >= 8
words = [t.firstChild.data for t in root.getElementsByTagName("text")]
assert "fifo" in words and "ours" in words and "a<b&c.csv on 8 GPUs" in words' "$scratch/plot.svg"
output=$(simulate -g 8 --plot "$scratch/no/plot.svg" 2>&1)
is $? 1 "a picture that cannot be written ends with status 1"
like "$output" 'no/plot.svg could not be opened' "and a sentence"

# ---- wrong usage, wrong files ----
refused() { # refused STATUS PATTERN OPTION...
    local wanted=$1 pattern=$2 output status
    shift 2
    output=$("$DLSPOOL" simulate "$@" 2>&1)
    status=$?
    is "$status" "$wanted" "status $wanted: ${*: -2}"
    like "$output" "$pattern" "and a sentence"
}
good=("$data/trace.csv" --profiles "$data/profiles" --gpus 8)
refused 2 '--profiles is missing' "$data/trace.csv" --gpus 8
refused 2 '--gpus: found 0, expected a number from 1' "$data/trace.csv" --profiles "$data/profiles"
refused 2 'found "best", expected some of fifo' "${good[@]}" --policy best
refused 2 '--curves: found "steep", expected known, prior or learned' "${good[@]}" --curves steep
refused 2 '--error: found "nan", expected a number of at least 0' "${good[@]}" --error nan
refused 2 '--restart: found "inf", expected' "${good[@]}" --restart inf
refused 2 '--restart: found "-1", expected' "${good[@]}" --restart -1
refused 2 '--guard: found "10s", expected' "${good[@]}" --guard 10s
refused 2 '--tick: found 0, expected a number from 1' "${good[@]}" --tick 0
refused 2 '--best-effort: found 1.5, expected a number from 0 to 1' "${good[@]}" --best-effort 1.5
refused 2 '--firm: found 2, expected a number from 0 to 1' "${good[@]}" --firm 2
refused 2 '--seeds: found 0' "${good[@]}" --seeds 0
refused 1 'nowhere.csv could not be opened' "$scratch/nowhere.csv" --profiles "$data/profiles" -g 8
refused 1 'found no profile of model "near"' "$data/trace.csv" --profiles "$scratch" -g 8
sed 's/,near,/,..\/profiles\/near,/' "$data/trace.csv" >"$scratch/elsewhere.csv"
refused 1 'found no profile of model "\.\./profiles/near"' "$scratch/elsewhere.csv" --profiles "$data/profiles" -g 8
sed '5s/^\([^,]*\),[^,]*/\1,nan/' "$data/trace.csv" >"$scratch/bad.csv"
refused 1 'bad.csv: line 5: column submission_time: found "nan"' "$scratch/bad.csv" --profiles "$data/profiles" -g 8

# ---- published traces ----
traces=${DLSPOOL_TRACES:-$top/../shared/data/traces}
at_least() { # at_least DSR TRACE GPUS OPTION...
    local least=$1 trace=$2 gpus=$3 policies=ours
    shift 3
    [ $# -gt 0 ] || policies=$all
    if [ ! -e "$traces/$trace.csv" ]; then
        tests=$((tests + 1))
        echo "ok $tests - $trace on $gpus GPUs # SKIP no $trace.csv in DLSPOOL_TRACES"
        return
    fi
    "$DLSPOOL" simulate "$traces/$trace.csv" --profiles "$traces/profiles" -g "$gpus" --policy $policies --json "$@" >"$scratch/real.json"
    is "$(jq --argjson least "$least" '.results[-1].dsr >= $least' "$scratch/real.json")" true \
        "ours meets $(jq '.results[-1].dsr * 1000 | round / 1000' "$scratch/real.json"), at least $least, of $trace on $gpus GPUs${*:+ with $*}"
    is "$(jq '[.results[:-1][].dsr] + [0] | max < '"$(jq '.results[-1].dsr' "$scratch/real.json")" "$scratch/real.json")" true \
        "more than any other policy"
}
at_least 0.862 195job 64
at_least 0.769 195job 32
at_least 0.765 cluster06 64
at_least 0.690 cluster03 128
at_least 0.528 cluster01 32
realistic=(--restart 30 --curves learned --error .3 --tick 15 --guard 15 --seeds 5)
at_least 0.836 195job 64 "${realistic[@]}"
at_least 0.682 cluster06 64 "${realistic[@]}"

done_testing
