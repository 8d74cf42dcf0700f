#!/usr/bin/env bash
# The disk is full, of bytes or of inodes, or a quota is used up, at every place a job may be in:
# nothing is lost, nothing is there twice, the daemon neither ends nor fills its log, incoming/ waits
# below free_percent and is served again within 60 s of there being space.  A quota cannot be seen
# beforehand (statvfs does not tell of it): what was dropped waits all the same, and is tried again
# ever more seldom.  A daemon that is started where nothing can be written says so and waits.
# Seen to fail with: tests/mutants/log-leaves-nothing-out.patch, intake-never-waits.patch,
# new-job-takes-errors-for-success.patch and supervisor-ends-on-a-full-disk.patch.
. "$(dirname "$0")/lib.bash"
[ "$(id -u)" = 0 ] || skip_all "only root may mount the small file systems this needs"
mkdir "$scratch/probe"
mount -t tmpfs -o size=1m tmpfs "$scratch/probe" 2>/dev/null || skip_all "nothing may be mounted here"
umount "$scratch/probe"

log=$scratch/daemon.log
running() { kill -0 "$daemon" 2>/dev/null; }
# fill_disk: to the last byte.  Free it again with `rm "$spool"/filler*`.
fill_disk() {
    local size
    for size in 1M 64k 4k 1k; do
        dd if=/dev/zero of="$spool/filler-$size" bs=$size status=none 2>/dev/null
    done
    sync -f "$spool" 2>/dev/null
    for size in 4k 1k; do
        dd if=/dev/zero of="$spool/filler2-$size" bs=$size status=none 2>/dev/null
    done
    true
}
# leave_free KIBIBYTES: fill it but for so much.
leave_free() {
    local free
    if [ -n "$quota" ]; then
        set_quota $(($(quota_used) + $1 * 1024))
        return
    fi
    free=$(df --output=avail -k "$spool" | tail -n 1)
    fallocate -l $((free - $1))K "$spool/filler-most"
}
fill_inodes() {
    mkdir -p "$spool/filler"
    local i=0
    while : 2>/dev/null >"$spool/filler/$i"; do i=$((i + 1)); done 2>/dev/null
    true
}
make_room() {
    [ -z "$quota" ] || set_quota none # beyond a quota btrfs may refuse to remove a file, too
    rm -rf "$spool"/filler*
    [ -z "$quota" ] || { set_quota "$quota"; sync -f "$spool"; }
}
# The quota of a btrfs subvolume, which is what the spool lies in then.
quota=                          # bytes; empty: there is none
set_quota() { btrfs qgroup limit "$1" "$spool" && sync -f "$spool"; }
quota_used() { sync -f "$spool"; btrfs qgroup show --raw -f "$spool" | awk '$1 ~ /^0\/[0-9]+$/ { used = $2 } END { print used + 0 }'; }
# processor_time: of the daemon and its stages, in ticks.
processor_time() { cat "/proc/$daemon/stat" $(pgrep -P "$daemon" | sed 's|.*|/proc/&/stat|') 2>/dev/null | awk '{ sum += $14 + $15 } END { print sum + 0 }'; }
job() { printf 'name: %s\nlibrary: any\ntype: single\nscript: "#!/bin/sh"\n' "$1"; }
bad() { printf 'name: %s\nlibary: any\ntype: single\nscript: "#!/bin/sh"\n' "$1"; }
# drop_jobs PREFIX FIRST LAST: from a directory on the same file system, so that it needs no space.
prepare_jobs() { mkdir -p "$spool/.made"; for i in $(seq -w "$2" "$3"); do job "$1$i" >"$spool/.made/$1$i.yaml"; done; }
drop_prepared() { mv "$spool/.made/$1"*.yaml "$spool/incoming/" 2>/dev/null; }
count() { find "$spool"/{rendered,submitted,failed,done} -maxdepth 2 -type d -name "$1*-?????????????" | wc -l; }
names() { find "$spool"/{rendered,submitted,failed,done} -maxdepth 2 -type d -name "$1*-?????????????" -printf '%f\n' | sed 's/-.............$//' | sort -u | wc -l; }
# in_all PREFIX N: N jobs are in done/.
in_done() { [ "$(find "$spool/done" -mindepth 2 -maxdepth 2 -name "$1*" | wc -l)" = "$2" ]; }
# where_are PREFIX: those that are not in done/, and what the daemon last said.
where_are() {
    (cd "$spool" && find . -path ./done -prune -o -name "$1*" -print -o -path "./.claims/*" -print) | sed 's/^/# /'
    tail -n 15 "$log" | sed 's/^/# /'
}
# check_whole PREFIX N: each job once, in done/, submitted once, with all its files.
check_whole() {
    local since=$SECONDS
    ok "$1: all $2 are done" wait_for 60 in_done "$1" "$2"
    echo "# $1: $((SECONDS - since)) s after there was space"
    in_done "$1" "$2" || where_are "$1"
    is "$(count "$1") $(names "$1")" "$2 $2" "$1: each is there once"
    is "$(cat "$spool"/done/*/"$1"*/log | grep -c ' finished ')" "$2" "$1: each finished once"
    is "$(ls "$spool"/done/*/"$1"*/{request.yaml,manifest.yaml,job.yaml} | wc -l)" $(($2 * 3)) "$1: with all files"
    is "$(cat "$spool"/done/*/"$1"*/request.yaml | grep -c '^name: ')" "$2" "$1: and the whole request"
    is "$(ls -A "$spool/.claims" "$spool/.new" | grep -v '^/' | grep -v ':$' | grep -v '^$')" "" "$1: no claim is left"
}
log_is_short() { # SINCE MOST WHAT
    local lines
    lines=$(tail -n +"$(($1 + 1))" "$log" | grep -c 'warning')
    is "$((lines <= $2))" 1 "$3: the log is not filled ($lines warnings)"
    [ "$lines" -le "$2" ] || tail -n +"$(($1 + 1))" "$log" | head -n 40 | sed 's/^/# /'
}
lines_of_log() { wc -l <"$log"; }

# put_back NUMBER STATE: have a job that is done wait in rendered/ or submitted/ again.  btrfs counts what is
# about to be written until it has been, and says of less than the quota that it is exceeded: sync, and again.
put_back() {
    local log id
    id=$(ls -d "$spool"/done/*/mid*"$1"-* | head -n 1)
    log=$(sed '/ started \| ended \| finished /d' "$id/log")
    [ "$2" = rendered ] && log=$(sed '/ intent \| submitted /d' <<<"$log")
    echo "$log" >"$scratch/log" && cp "$scratch/log" "$id/log.new" && mv "$id/log.new" "$id/log" && mv "$id" "$spool/$2/" && return
    sync -f "$spool"
    false
}

run_on() { # KIND: all of it, on the file system that is mounted at $spool
    local kind=$1 since
    : >"$log"
    new_spool null && without_templates local/mxnet/ps.yaml local/any/ps.yaml kubernetes slurm || exit 1
    set_setting retry_first 300ms
    start_daemon
    job first | drop first.yaml
    must "$kind: a first job is done" wait_for 20 in_state first "done"

    # Full while files wait in incoming/: it waits, says so once, and goes on.
    prepare_jobs "in" 01 60
    since=$(lines_of_log)
    fill_disk
    [ -n "$quota" ] || wait_for 15 grep -q 'incoming/ waits' "$log"
    drop_prepared "in"          # mv itself may be told that there is no space
    # A cp that is told that there is no space: what it left is never taken for a job.
    { job cut; head -c 400000 /dev/zero | tr '\0' '#'; } >"$scratch/cut.yaml"
    cp "$scratch/cut.yaml" "$spool/incoming/cut.yaml" 2>/dev/null
    is "$(($? != 0))" 1 "$kind: cp itself is told that there is no space"
    sleep 2
    ok "$kind: the daemon goes on running" running
    if [ -z "$quota" ]; then
        is "$(tail -n +"$((since + 1))" "$log" | grep -c 'incoming/ waits')" 1 "$kind: it says once that incoming/ waits"
        is "$(ls "$spool/incoming" "$spool/.made" | grep -c '^in..\.')" 60 "$kind: incoming/ waits"
    fi
    log_is_short "$since" 10 "$kind: incoming/"
    make_room
    drop_prepared "in"
    check_whole "in" 60
    [ -e "$spool/incoming/cut.yaml" ] && rm -f "$spool/incoming/cut.yaml"
    is "$(find "$spool"/{rendered,submitted,done} -name 'cut-*' | wc -l)" 0 "$kind: the cut file is no job"
    [ -n "$quota" ] || ok "$kind: it says that incoming/ is served again" grep -q 'incoming/ is served' "$log"

    # Full while jobs are being made, submitted and ended.  free_percent is out of the way, so that
    # every step meets the full disk.
    set_setting free_percent 0
    prepare_jobs mid 001 300
    since=$(lines_of_log)
    leave_free 1500
    drop_prepared mid
    sleep 3
    fill_disk
    sleep 1
    ok "$kind: the daemon goes on running with a disk that fills up" running
    echo "# $kind: full with $(find "$spool/.claims" -type f | wc -l) claims, $(ls "$spool/rendered" | wc -l) rendered," \
        "$(ls "$spool/submitted" | wc -l) submitted, $(find "$spool/done" -mindepth 2 -maxdepth 2 -name 'mid*' | wc -l) done"
    # Four processes, each of which says three things of each kind a minute, of some thirty kinds.
    log_is_short "$since" 120 "$kind: in the middle"
    make_room
    drop_prepared mid           # what mv could not move
    check_whole mid 300

    # Full while jobs wait in rendered/ and in submitted/: what is there when a daemon starts.
    stop_daemon
    local n
    for n in 01 02 03 04 05 06 07 08 09 10; do
        must "$kind: job $n waits again" wait_for 20 put_back "$n" "$([ $((10#$n % 2)) = 0 ] && echo rendered || echo submitted)"
    done
    fill_disk
    since=$(lines_of_log)
    start_daemon
    sleep 3
    ok "$kind: the daemon runs when it is started on a full disk" running
    local before
    before=$(processor_time)
    sleep 3
    before=$(($(processor_time) - before))
    is "$((before < 75))" 1 "$kind: and does not spin ($((before * 10)) ms of processor time in 3 s)"
    echo "# $kind: $(ls "$spool/rendered" | wc -l) rendered, $(ls "$spool/submitted" | wc -l) submitted of 10 while full"
    log_is_short "$since" 30 "$kind: rendered/ and submitted/"
    make_room
    check_whole mid 300

    # Full while jobs wait in failed/, and somebody asks for one to be tried again.
    bad broken >"$spool/.made/broken.yaml" && mv "$spool/.made/broken.yaml" "$spool/incoming/"
    printf 'name: waiting\nlibrary: mxnet\ntype: ps\nscript: "#!/bin/sh"\n' | drop waiting.yaml
    wait_for 20 has_ended broken
    must "$kind: a job waits in failed/" wait_for 20 has_ended waiting
    git clone -q "$spool/templates.git" "$scratch/work" 2>/dev/null
    mkdir -p "$scratch/work/local/mxnet"
    cp "$scratch/work/local/any/single.yaml" "$scratch/work/local/mxnet/ps.yaml"
    sed -i '$ a mxnet * * * host' "$scratch/work/images.txt"
    git -C "$scratch/work" add . && git -C "$scratch/work" commit -qm more
    stop_daemon
    git -C "$scratch/work" push -q 2>/dev/null
    fill_disk
    since=$(lines_of_log)
    start_daemon
    sleep 3
    ok "$kind: the daemon runs with failed jobs that cannot be written" running
    log_is_short "$since" 30 "$kind: failed/"
    make_room
    ok "$kind: the job that waited goes on" wait_for 60 in_state waiting "done"
    is "$(count waiting)" 1 "$kind: and is there once"
    ok "$kind: the broken one is where it was" in_state broken failed
    rm -rf "$scratch/work"
    stop_daemon
    is $? 0 "$kind: the daemon stops as it should"
}

# read_only KIND: the spool is mounted read-only when the daemon starts, for a while.
read_only() {
    : >"$log"
    mount -o remount,ro "$spool" || { pass "$1: mounted read-only # SKIP it cannot be"; return; }
    start_daemon
    ok "$1: mounted read-only: it says what it waits for" wait_for 10 grep -q 'Read-only.*; waiting until' "$log"
    sleep 3
    ok "$1: and runs" running
    is "$(grep -c . "$log")" 1 "$1: with one line"
    mount -o remount,rw "$spool"
    job late | drop late.yaml
    ok "$1: and goes on when it can be written" wait_for 60 in_state late "done"
    stop_daemon
}

mkdir "$spool"
mount -t tmpfs -o size=24m,mode=755 tmpfs "$spool"
run_on tmpfs
read_only tmpfs
umount -l "$spool"

# Inodes, which end while there is space.
mount -t tmpfs -o size=64m,nr_inodes=4000,mode=755 tmpfs "$spool"
: >"$log"
new_spool null || exit 1
start_daemon
job first | drop first.yaml
must "inodes: a first job is done" wait_for 20 in_state first "done"
prepare_jobs "in" 01 60
fill_inodes
ok "inodes: incoming/ waits when they end" wait_for 20 grep -q 'inodes.*incoming/ waits' "$log"
since=$(lines_of_log)
drop_prepared "in"
sleep 2
is "$(ls "$spool/incoming" | wc -l)" 60 "inodes: nothing is taken meanwhile"
ok "inodes: the daemon goes on running" running
make_room
check_whole "in" 60
set_setting free_percent 0
prepare_jobs mid 001 200
since=$(lines_of_log)
# Inodes for some of the jobs: six for each.
mkdir "$spool/filler"
left=$(df --output=iavail "$spool" | tail -n 1)
(cd "$spool/filler" && seq $((left - 500)) | xargs touch)
drop_prepared mid
sleep 3
echo "# inodes: $(df --output=iavail "$spool" | tail -n 1) left, $(find "$spool/.claims" -type f | wc -l) claims"
ok "inodes: the daemon goes on running when they end in the middle" running
log_is_short "$since" 30 "inodes"
make_room
check_whole mid 200
stop_daemon
umount -l "$spool"

# A journaled file system, where space is given out late and a sync may be what fails.
truncate -s 48M "$scratch/ext4.img"
if mkfs.ext4 -q -F -m 0 -N 6000 "$scratch/ext4.img" 2>/dev/null &&
    mount -o loop "$scratch/ext4.img" "$spool" 2>/dev/null; then
    rmdir "$spool/lost+found"
    run_on ext4
    read_only ext4
    umount -l "$spool"

    # One user's quota: that user's cp fails, nobody else notices.
    if command -v setquota quotaon >/dev/null && mkfs.ext4 -q -F -m 0 -N 6000 -O quota "$scratch/ext4.img" 2>/dev/null &&
        mount -o loop,usrquota "$scratch/ext4.img" "$spool" 2>/dev/null && setquota -u nobody 8 8 0 0 "$spool" 2>/dev/null; then
        : >"$log"
        new_spool null
        start_daemon
        { job over; head -c 100000 /dev/zero | tr '\0' '#'; } >"$scratch/over.yaml"
        setpriv --reuid nobody --clear-groups cp "$scratch/over.yaml" "$spool/incoming/over.yaml" 2>/dev/null
        job fine | drop fine.yaml
        ok "quota: another's job is done" wait_for 20 in_state fine "done"
        is "$(find "$spool"/{rendered,submitted,done} -name 'over-*' | wc -l)" 0 "quota: the cut file is no job"
        stop_daemon
    else
        pass "one user's quota # SKIP ext4 has none here: that needs the package quota and a kernel with CONFIG_QFMT_V2"
    fi
else
    pass "a journaled file system # SKIP no loop devices here"
fi

# A quota, of which statvfs says nothing.
quota=$((64 * 1024 * 1024))
truncate -s 512M "$scratch/btrfs.img"
mkdir "$scratch/volume"
if command -v mkfs.btrfs >/dev/null && mkfs.btrfs -q -f "$scratch/btrfs.img" >/dev/null 2>&1 &&
    mount -o loop "$scratch/btrfs.img" "$scratch/volume" 2>/dev/null &&
    btrfs quota enable "$scratch/volume" 2>/dev/null &&
    btrfs subvolume create "$scratch/volume/spool" >/dev/null; then
    chmod 755 "$scratch/volume/spool"
    spool=$scratch/volume/spool
    set_quota "$quota"
    run_on quota
    spool=$scratch/spool
    umount -l "$scratch/volume"
else
    pass "a quota # SKIP no btrfs here with quotas (the package btrfs-progs, and a kernel with btrfs)"
fi
done_testing
