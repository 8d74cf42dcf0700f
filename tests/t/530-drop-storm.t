#!/usr/bin/env bash
# A user who drops 4,000 files that are no jobs delays nobody else: not while they come, and not when
# they lie there at the start.  Files that are copied over, written slowly, renamed into place by
# editors and by rsync are taken whole; what a killed writer left is no job.
# STORM sets the number; make check-long takes 30,000.
. "$(dirname "$0")/lib.bash"
in=$spool/incoming
storm=${STORM:-4000}
user=0
[ "$(id -u)" = 0 ] && user=$(id -u nobody)
job() { printf 'name: %s\nlibrary: any\ntype: single\nscript: "#!/bin/sh"\n' "$1"; }
# now: the digits of an id's token for this moment, milliseconds to the base 32 (spool/id.h).
now() {
    local digits=0123456789abcdefghjkmnpqrstvwxyz time=${EPOCHREALTIME/[.,]/} i
    token=
    for ((i = 0, time /= 1000; i < 9; i++, time >>= 5)); do token=${digits:time & 31:1}$token; done
}
is_done() { ls "$spool"/done/* 2>/dev/null | grep -q "^$1-"; }
# taken_before NAME FROM: how many of failed/ were taken between that token and that job, by the tokens of their ids.
taken_before() {
    local id
    id=$(ls "$spool"/done/* | grep "^$1-")
    ls -U "$spool/failed" | sed 's/.*-//' |
        LC_ALL=C awk -v from="$2" -v token="${id##*-}" 'from "" <= $0 "" && $0 "" < token ""' | wc -l
}
make_spool() {
    new_spool null || exit 1
    set_setting cut_off_time 3s
    set_setting retry_interval 5s
    set_setting scan_interval 5s
    chmod 1777 "$in"
}

cat >"$scratch/storm.py" <<'PY'
import os, sys
directory, count, user = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
if user:
    os.setgroups([])
    os.setuid(user)
for i in range(count):
    with open(f"{directory}/storm{i:06}.yaml", "w") as file:
        file.write("x\n")
PY
# storm_on KIND: bad files of one user, and six good ones of another among them.
storm_on() {
    start_daemon
    /usr/bin/python3 "$scratch/storm.py" "$in" "$storm" "$user" &
    local storming=$! token taken most=0 i
    sleep 1
    for i in 1 2 3 4 5 6; do
        job "good$i" >"$scratch/good.yaml"
        now
        mv "$scratch/good.yaml" "$in/good$i.yaml"
        wait_for 90 is_done "good$i"
        taken=$(taken_before "good$i" "$token")
        echo "# $1: good file $i: $taken taken before it, $(ls -U "$in" | wc -l) in incoming/"
        [ "$taken" -gt $most ] && most=$taken
    done
    is "$((most < storm / 3))" 1 "$1: a good file waits for few of the storm: at most $most of $storm"
    wait "$storming"
    all_refused() { [ "$(ls -U "$spool/failed" | wc -l)" -ge "$storm" ]; }
    ok "$1: each of the $storm is refused with a job in failed/" wait_for 300 all_refused
    is "$(ls -U "$spool/failed" | cut -c1-11 | sort -u | wc -l)" "$storm" "$1: and each once"
    [ "$user" = 0 ] || is "$(cat "$spool/failed/storm000007"-*/job.yaml | grep '^owner')" 'owner: "nobody"' "$1: in the name of who dropped them"
    is "$(ls -A "$in")" "" "$1: incoming/ is empty"
    stop_daemon
}

# On a disk, with a journal, everything synced.
if [ "$(id -u)" = 0 ] && mkdir "$spool" && truncate -s 3G "$scratch/ext4.img" &&
    mkfs.ext4 -q -F -N 400000 "$scratch/ext4.img" 2>/dev/null && mount -o loop "$scratch/ext4.img" "$spool" 2>/dev/null; then
    rmdir "$spool/lost+found"
    make_spool
    storm_on ext4
    umount -l "$spool"
    rm -f "$scratch/ext4.img"
else
    pass "ext4: a storm on a disk # SKIP no loop devices here"
fi
mkdir -p "$spool"
[ "$(id -u)" = 0 ] && mount -t tmpfs -o mode=755,nr_inodes=1000000 tmpfs "$spool" 2>/dev/null &&
    echo "# the spool is in memory"
make_spool
set_setting sync none

# The same, twice as many, when they lie there at the start.
rm -rf "$spool/failed" && mkdir "$spool/failed"
/usr/bin/python3 "$scratch/storm.py" "$in" $((storm * 2)) "$user"
for i in 1 2 3 4 5 6; do job "there$i" >"$in/there$i.yaml"; done
all_there() { [ "$(ls "$spool"/done/* | grep -c '^there')" = 6 ]; }
start_daemon
wait_for 90 all_there
waiting=$(ls -U "$in" | wc -l)
is "$((waiting > storm / 2))" 1 "good files that lie there at the start are done while $waiting of $((storm * 2)) wait"
stop_daemon
find "$in" -mindepth 1 -delete
find "$spool/failed" "$spool/.claims" "$spool/.new" -mindepth 1 -maxdepth 1 -exec rm -rf {} +
set_setting retry_interval 200ms
start_daemon

# over LINES NAME: a script that is longer than what is written at a time, and tells whole from cut.
long_job() {
    printf 'name: %s\nlibrary: any\ntype: single\nscript: |\n' "$1"
    seq -f '  line %g of a program' 2000
    printf '  # the end of %s\n' "$1"
}
# whole NAME: its job has the whole request.
whole() { cmp -s "$scratch/$1.yaml" "$(job_dir "$1")"/request.yaml; }

# Copies over the same name, before, during and after the claim: each job is one of the versions.
for i in $(seq 60); do
    long_job over >"$scratch/version"
    printf '  # version %d\n' "$i" >>"$scratch/version"
    sha256sum <"$scratch/version" >>"$scratch/versions"
    cp "$scratch/version" "$in/over.yaml"
    sleep "0.0$((i % 7))"
done
nothing_waits() { [ -z "$(ls "$in" "$spool/.claims" | grep -v ':$')" ]; }
ok "copies over the same name are all taken" wait_for 30 nothing_waits
taken=$(ls "$spool"/done/* "$spool/failed" "$spool/rendered" "$spool/submitted" | grep -c '^over-')
echo "# 60 copies over the same name became $taken jobs"
is "$((taken > 0 && taken <= 60))" 1 "they are one job or more, not more than copies"
bad=0
for request in "$spool"/{done/*,failed,submitted,rendered}/over-*/request.yaml; do
    [ -e "$request" ] && { sha256sum <"$request" | grep -qxFf - "$scratch/versions" || bad=$((bad + 1)); }
done
is $bad 0 "and each is one of the versions, whole"
ok "the last of them is among them" wait_for 20 sh -c "grep -q 'version 60\$' '$spool'/done/*/over-*/request.yaml"

# Ways to write a file.
for way in rsync scp vim cat append partial; do long_job $way >"$scratch/$way.yaml"; done
if command -v rsync >/dev/null; then
    rsync -a "$scratch/rsync.yaml" "$in/"
else
    cp "$scratch/rsync.yaml" "$in/.rsync.yaml.Xy12Za" && mv "$in/.rsync.yaml.Xy12Za" "$in/rsync.yaml"
fi
# scp writes in place, in pieces, through one descriptor.
{ for part in $(seq 0 7); do
    dd if="$scratch/scp.yaml" bs=8192 skip="$part" count=1 status=none
    sleep 0.15
done; } >"$in/scp.yaml" &
# vim: a swap file beside it, and a rename away and back.
: >"$in/.vim.yaml.swp"
cp "$scratch/vim.yaml" "$in/4913.tmp" && mv "$in/4913.tmp" "$in/vim.yaml"
rm -f "$in/.vim.yaml.swp"
# cat > with pauses much longer than quiet_time.
{ head -n 500 "$scratch/cat.yaml"; sleep 2; tail -n +501 "$scratch/cat.yaml" | head -n 500; sleep 2; tail -n +1001 "$scratch/cat.yaml"; } >"$in/cat.yaml" &
# A .part that is renamed when it is whole.
cp "$scratch/partial.yaml" "$in/partial.yaml.part"; sleep 1; mv "$in/partial.yaml.part" "$in/partial.yaml"
for way in rsync scp vim cat partial; do
    ok "$way: the job is done" wait_for 30 is_done $way
    ok "$way: and was taken whole" whole $way
    is "$(ls "$spool"/{rendered,submitted,failed,done/*} | grep -c "^$way-")" 1 "$way: once"
done

# Writers that are killed in the middle of a line: nothing of theirs is submitted.
for i in $(seq 10); do
    { long_job "killed$i" | head -c $((1000 + i * 1013)); sleep 30; } >"$in/killed$i.yaml" &
    writers[i]=$!
done
sleep 1
is "$(find "$spool"/{rendered,submitted,done} -name 'killed*' | wc -l)" 0 "files that are being written are left alone"
for i in $(seq 10); do
    kill -KILL $(pgrep -P "${writers[i]}") "${writers[i]}"
done 2>/dev/null
wait "${writers[@]}" 2>/dev/null
# Those that were cut at the end of a line cannot be told from whole ones; the others can.
refused() { [ "$(ls "$spool/failed" | grep -c '^killed')" -ge "$cut" ]; }
cut=0
for i in $(seq 10); do [ -n "$(long_job "killed$i" | head -c $((1000 + i * 1013)) | tail -c 1)" ] && cut=$((cut + 1)); done
ok "the $cut of 10 that end in mid-line are refused" wait_for 30 refused
is "$(find "$spool"/{rendered,submitted,done} -maxdepth 2 -name 'killed*' | wc -l)" $((10 - cut)) "and none of them is submitted"
like "$(cat "$spool/failed"/killed*/why | head -n 1)" 'cannot be a job' "with a reason"
stop_daemon
is $? 0 "the daemon stops as it should"
lines=$(grep -c warning "$scratch/daemon.log")
is "$((lines < 60))" 1 "the log is not filled: $lines warnings"
done_testing
