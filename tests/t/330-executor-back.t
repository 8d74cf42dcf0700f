#!/usr/bin/env bash
# A scheduler that is down for long, and comes back: one probe per interval whatever the backlog;
# then all jobs are submitted, each once, owners in turn and each owner's oldest first.  The
# scheduler is tests/stand-in/podman, through local.socket.
. "$(dirname "$0")/lib.bash"
new_spool local || exit 1
each=80
interval=1
set_setting local.socket "$scratch/podman.sock"
set_setting local.in_flight 1
set_setting cpus 100000
set_setting memory 1000000Gi
set_setting local.request_timeout 2s
set_setting probe_interval ${interval}s
for setting in cpus memory; do
    grep -Eq "^  $setting: 1000" "$spool/dlspool.yaml" || give_up "no setting $setting"
done

"$top/tests/stand-in/podman" --socket "$scratch/podman.sock" --control "$scratch/control" \
    --journal "$scratch/journal" &
stand_in=$!
at_exit 'kill $stand_in'
# order COMMAND: give the stand-in a command, print its reply.
order() {
    /usr/bin/python3 - "$scratch/control" "$1" <<'PY'
import socket, sys
control = socket.socket(socket.AF_UNIX)
control.connect(sys.argv[1])
control.sendall(sys.argv[2].encode() + b"\n")
print(control.makefile().readline().strip())
PY
}
must "the stand-in answers" wait_for 10 order runs
order 'order ping status 503 always' >/dev/null

# drop_many NAME OWNER COUNT: that many jobs, by that user where we are root.
drop_many() {
    local i
    mkdir "$scratch/$1"
    for ((i = 0; i < $3; i++)); do
        printf 'name: %s%03d\nlibrary: any\ntype: single\nscript: "#!/bin/sh"\n' "$1" $i
    done >"$scratch/$1/all"
    (cd "$scratch/$1" && split -l 4 -a 3 -d --additional-suffix=.yaml all "$1" && rm all)
    [ "$(id -u)" = 0 ] && chown -R "$2" "$scratch/$1"
    mv "$scratch/$1"/*.yaml "$spool/incoming/"
}
rendered() { [ "$(ls "$spool/rendered" | wc -l)" = "$1" ]; }
drop_many alice root $each
start_daemon
must "alice's jobs are rendered" wait_for 60 rendered $each
drop_many bob nobody $each
must "bob's as well" wait_for 60 rendered $((2 * each))

before=$(order 'count *')
begin=$SECONDS
sleep 6
requests=$(($(order 'count *') - before))
most=$(((SECONDS - begin) / interval + 2))
ok "one probe per interval: $requests requests in $((SECONDS - begin)) s, at most $most" test "$requests" -le $most
ok "and one there is: $requests" test "$requests" -ge 3
is "$(order 'count list')" 0 "nothing but probes"
rendered $((2 * each))
is $? 0 "the jobs wait in rendered/"

before=$(order 'count *')
order calm >/dev/null
back=$(date +%s%N)
submitted() { [ "$(ls "$spool/submitted" | wc -l)" = $((2 * each)) ]; }
ok "all are submitted when it is back" wait_for 60 submitted
milliseconds=$((($(date +%s%N) - back) / 1000000))
requests=$(($(order 'count *') - before))
echo "# $((2 * each)) jobs in $milliseconds ms after it was back"
ok "with a few requests for each: $requests" test $requests -le $((3 * 2 * each + 20))
is "$(ls "$spool/failed")" "" "failed/ is empty"
is "$(order complaints)" none "every request was as podman wants it"

first=$(awk '$1 == "run" {exit} $1 == "made" {n++} END {print n}' "$scratch/journal")
is "$first" 8 "the first batch was a small one"
runs=$(awk '$1 == "run" {print $2}' "$scratch/journal")
is "$(printf '%s\n' "$runs" | wc -l)" $((2 * each)) "each task ran"
is "$(printf '%s\n' "$runs" | sort -u | wc -l)" $((2 * each)) "and ran once"
# Ids, not names, tell the age: files of one moment are accepted in any order.
for owner in alice bob; do
    tokens=$(printf '%s\n' "$runs" | grep "^$owner" | sed 's/^[a-z0-9]*-//; s/-a1-main-0$//')
    is "$tokens" "$(printf '%s\n' "$tokens" | LC_ALL=C sort)" "$owner's oldest went first"
done
if [ "$(id -u)" = 0 ]; then
    lead=$(printf '%s\n' "$runs" | awk '/^alice/ {d++} /^bob/ {d--} {m = d > m ? d : (-d > m ? -d : m)} END {print m}')
    is "$lead" 1 "alice and bob took turns"
else
    pass "turns of two owners # SKIP wants root"
fi

# Gone and back while jobs run: nothing is submitted again.
order deaf >/dev/null
drop_many late root 5
ok "later jobs are rendered" wait_for 20 rendered 5
order hear >/dev/null
all_submitted() { [ "$(ls "$spool/submitted" | wc -l)" = $((2 * each + 5)) ]; }
ok "and submitted" wait_for 20 all_submitted
is "$(awk '$1 == "run" {print $2}' "$scratch/journal" | sort | uniq -d)" "" "nothing ran twice"
done_testing
