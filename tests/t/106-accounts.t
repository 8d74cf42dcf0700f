#!/usr/bin/env bash
# dlspool acct and report: what is read of history/usage, in sacct's form as Open XDMoD reads it, and in sums.  The
# lines are made by hand; it needs no daemon.
. "$(dirname "$0")/lib.bash"
new_spool null || exit 1
export TZ=UTC
me=$(id -un)
gid=$(id -g)
mkdir -p "$spool/history/usage"

# line DAY TIME ID ATTEMPT [KEY=VALUE...]: an attempt that ran for an hour and ended then.
line() {
    local day=$1 time=$2 id=$3 attempt=$4 hour=$((10#${2%%:*}))
    shift 4
    printf '%sT%s.000Z usage id=%s attempt=%s priority=0 submitted=%sT%02d:30:00.000Z eligible=%sT%02d:45:00.000Z started=%sT%02d:%s.500Z ended=%sT%s.000Z %s whole=1\n' \
        "$day" "$time" "$id" "$attempt" "$day" $((hour - 2)) "$day" $((hour - 2)) "$day" $((hour - 1)) "${time#*:}" "$day" "$time" "$*"
}
mine="user=$me uid=$(id -u) gid=$gid library=pytorch type=single executor=slurm time_limit_ms=5400000 class=unknown"
big="cpus_milli=7500 memory_bytes=17179869184 gpus=2 gpu_type=a100 cpus_asked_milli=7500 gpus_asked=2 cpu_held_ms=27000000 gpu_held_ms=7200000"
small="cpus_milli=1000 memory_bytes=1048577 gpus=0 cpus_asked_milli=1000 gpus_asked=0 cpu_held_ms=3600000 gpu_held_ms=0"
a=train-1m80000000001 b=eval-1m80000000002 c=other-1m80000000003
{
    line 2026-10-31 23:00:00 $a 1 $mine $big name=train queue=gpu scheduler=4711 outcome=failed reason=Exited exit_code=139 node='"n[1-2]"' nodes=2 \
        cpu_used_ms=13500000 memory_peak_bytes=8589934592 deadline=2026-11-01T12:00:00.000Z
} >"$spool/history/usage/2026-10"
{
    line 2026-11-01 10:00:00 $a 2 $mine $big name=train queue=gpu outcome=succeeded exit_code=0 node=n1 nodes=1 \
        deadline=2026-11-01T12:00:00.000Z met=yes
    line 2026-11-01 10:00:00 $a 2 $mine $big name=train queue=gpu outcome=succeeded exit_code=0 node=n1 nodes=1
    line 2026-11-01 11:00:00 $b 1 $mine $small name='"two\u001b|\nlines"' outcome=failed reason=Killed exit_code=-1 \
        deadline=2026-11-01T10:30:00.000Z met=no
    line 2026-11-02 12:00:00 $c 1 user=nobody uid=65534 gid=65534 $small name=other outcome=failed reason=TimeLimit exit_code=137 node=n3 nodes=1
    line 2026-11-02 12:00:00 $c 2 user=nobody uid=65534 | cut -c 1-200
} >"$spool/history/usage/2026-11"
since=(--starttime 2026-10-01)

# As Open XDMoD asks: its 26 fields, in its order.
fields=jobid,jobidraw,cluster,partition,qos,account,group,gid,user,uid,submit,eligible,start,end,elapsed,exitcode,state,nnodes,ncpus,reqcpus,reqmem,reqtres,alloctres,timelimit,nodelist,jobname
dlspool acct --allusers --parsable2 --noheader --allocations --duplicates --clusters dl --format $fields \
    --starttime 1970-01-02T00:00:00 --endtime 2026-12-01T00:00:00 >"$scratch/xdmod"
group=$(id -gn)
is "$(wc -l <"$scratch/xdmod")" 4 "each attempt is one line, one that is there twice or is cut short too"
is "$(awk -F'|' '{print NF}' "$scratch/xdmod" | sort -u)" 26 "of 26 fields, whatever is in them"
is "$(sed -n 1p "$scratch/xdmod" | cut -d'|' -f3-)" \
    "dl|gpu|0|$group|$group|$gid|$me|$(id -u)|2026-10-31T21:30:00|2026-10-31T21:45:00|2026-10-31T22:00:00|2026-10-31T23:00:00|00:59:59|0:11|FAILED|2|8|8|16384M|cpu=8,gres/gpu=2,gres/gpu:a100=2,mem=16384M,node=2|cpu=8,gres/gpu=2,gres/gpu:a100=2,mem=16384M,node=2|01:30:00|n[1-2]|train" \
    "in sacct's form"
is "$(cut -d'|' -f17 "$scratch/xdmod" | xargs)" "FAILED COMPLETED CANCELLED TIMEOUT" "states are sacct's"
is "$(cut -d'|' -f18,25 "$scratch/xdmod" | xargs)" "2|n[1-2] 1|n1 0|unknown 1|n3" "nodes that are not known are not made up"
is "$(sed -n 3p "$scratch/xdmod" | cut -d'|' -f26)" 'two\u001b\u007c\u000alines' "what would break a line is escaped"
# The reader takes numbers alone, which no two attempts have here, and no point, which is a job step's.
is "$(cut -d'|' -f1 "$scratch/xdmod" | grep -cE '^[1-9][0-9]{0,9}$')" 4 "JobID is a number"
is "$(cut -d'|' -f1 "$scratch/xdmod" | sort -u | wc -l)" 4 "of its own for each attempt"

# What else sacct tells, and what it does not.
acct() { dlspool acct --all --parsable2 --noheader "${since[@]}" "$@"; }
is "$(acct -o id,attempt,restarts,reason,totalcpu,maxrss,gpuseconds,deadline,met | head -n 3)" \
"$a|1|0|Exited|03:45:00|8388608K|7200|2026-11-01T12:00:00|
$a|2|1|None|unknown|unknown|7200|2026-11-01T12:00:00|yes
$b|1|0|Killed|unknown|unknown|0|2026-11-01T10:30:00|no" "time, memory, GPUs and deadlines, unknown where they are"
is "$(acct --state timeout,CANCELLED -o ID | xargs)" "$b $c" "by state"
is "$(acct --user nobody -o ID)" "$c" "by user"
is "$(acct --user 65534,x -o ID)" "$c" "by number"
is "$(acct -S 2026-11-01T11:00 -E 2026-11-02T12:00:00 -o ID)" "$b" "by the time of the end, the first included, the last not"
is "$(acct -o ID,Attempt $a | xargs)" "$a|1 $a|2" "by job"
is "$(dlspool acct -a "${since[@]}" -o 'ID%-6,GPUs%5' | head -n 3)" "$(printf 'ID      GPUs\n------ -----\ntrain+     2')" "in columns of a width"
like "$(dlspool acct --helpformat | xargs)" '^JobID .*JobName .*Met' "the fields are listed"
is "$(acct --json | jq -c '.[0] | [.id, .attempt, .state, .exit_code, .cpus, .memory_peak, .gpu_held_seconds, .cpu_used_seconds, .met]')" \
    "[\"$a\",1,\"FAILED\",139,7.5,8589934592,7200,13500,null]" "as JSON"
is "$(dlspool acct --json -S now)" "[]" "none is an empty list"
# refused WORDS PATTERN
refused() {
    output=$(dlspool acct $1 2>&1)
    is $? 2 "acct $1 is refused"
    like "$output" "$2" "and why"
}
refused "--format id,jobnmae" 'found jobnmae.*did you mean jobname'
refused "--format id%x" 'expected a width'
refused "--state FALED" 'did you mean FAILED'
refused "--starttime tomorrow" '--starttime: found "tomorrow"'

# Sums.
report() { dlspool report "$1" --all --parsable2 "${since[@]}" "${@:2}"; }
is "$(report users)" "USER|ATTEMPTS|SUCCEEDED|WAIT-HOURS|CPU-HOURS|CPU-USED|GPU-HOURS
$me|3|33%|0.25|16.0|50%|4.0
nobody|1|0%|0.25|1.0|-|0.0" "by user"
is "$(report queues | cut -d'|' -f1,2,7)" "QUEUE|ATTEMPTS|GPU-HOURS
gpu|2|4.0
-|2|0.0" "by queue"
is "$(report groups | tail -n +2 | cut -d'|' -f1,2)" "$group|3
$(id -gn nobody)|1" "by group"
is "$(report sizes | cut -d'|' -f1,2)" "GPUS|ATTEMPTS
no GPU|2
2 GPUs|2" "by size"
is "$(report deadlines)" "USER|JOBS|MET|MISSED|OPEN|MET-OF-ENDED
$me|2|1|1|0|50%" "by deadline, each job once"
is "$(report deadlines -E 2026-11-01)" "USER|JOBS|MET|MISSED|OPEN|MET-OF-ENDED
$me|1|0|0|1|-" "one that may still meet it is open"
printf '2026-11-02T00:00:00.000Z capacity cpus=10000 cpus_free=0 gpus=4 gpus_free=0\n' >"$spool/capacity"
is "$(report utilization)" "DAY|ATTEMPTS|CPU-HOURS|OF-CPUS|GPU-HOURS|OF-GPUS
2026-10-31|1|7.5|3%|2.0|2%
2026-11-01|2|8.5|4%|2.0|2%
2026-11-02|1|1.0|0%|0.0|0%" "by day, of what there is"
# Half of what runs over midnight is of the day before.
line 2026-11-04 02:30:00 $c 7 user=nobody uid=65534 $big outcome=succeeded | sed 's/started=[^ ]*/started=2026-11-03T21:30:00.000Z/' >>"$spool/history/usage/2026-11"
is "$(report utilization -S 2026-11-03 | cut -d'|' -f1-3,5)" "DAY|ATTEMPTS|CPU-HOURS|GPU-HOURS
2026-11-03|0|3.8|1.0
2026-11-04|1|3.8|1.0" "a day has what was held on it"
line 2026-11-03 12:00:00 $b 2 $mine $small outcome=failed reason=Exited exit_code=1 deadline=2026-11-01T10:30:00.000Z met=no >>"$spool/history/usage/2026-11"
is "$(report deadlines | tail -n 1)" "$me|2|1|1|0|50%" "another attempt of a job that has missed its deadline does not count again"
is "$(report users -E 2026-11-03 --json | jq -c '[.report, (.rows[0] | .of, .attempts, .gpu_held_hours, .met)]')" "[\"users\",\"$me\",3,4,1]" "as JSON"
like "$(dlspool report usres 2>&1)" 'did you mean users' "another word is refused"

# Whoever is no administrator gets their own without asking; all, as far as the files may be read.
if [ "$(id -u)" = 0 ]; then
    chmod 755 "$scratch"
    as_nobody() { setpriv --reuid 65534 --regid 65534 --clear-groups "$DLSPOOL" -s "$spool" "$@"; }
    is "$(as_nobody acct "${since[@]}" -P --noheader -o user | sort -u)" nobody "a user gets their own"
    is "$(as_nobody acct "${since[@]}" -a -P --noheader -o user | sort -u | wc -l)" 2 "and all with --all"
    chmod 750 "$spool/history/usage"
    output=$(as_nobody acct "${since[@]}" 2>&1)
    is $? 1 "where the files are not for them, that is said"
    like "$output" 'history/usage/ could not be opened: Permission denied' "with the name"
    chmod 755 "$spool/history/usage"
fi
rm -r "$spool/history"
is "$(dlspool acct -P)" "$(dlspool acct -P -a)" "without accounts there is only the heading"

done_testing
