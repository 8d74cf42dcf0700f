#!/usr/bin/env bash
# What an NFS server does to a spool: it is restarted in the middle of work, it answers late on a
# `soft` mount, its disk is full, it takes root for nobody; and templates that are pushed on another
# host.
. "$(dirname "$0")/nfs.bash"
finished() { find "$served/done" -mindepth 2 -maxdepth 2 2>/dev/null | wc -l; }
done_to() { [ "$(finished)" -ge "$1" ]; }
# drop_jobs NAME COUNT: from B, renamed into place and complete.
drop_jobs() {
    local i
    mkdir -p "$scratch/new"
    for i in $(seq "$2"); do { job "$1$i"; echo ...; } >"$scratch/new/$1$i.yaml"; done
    on B perl -MFile::Copy -e 'my $to = shift; for (@ARGV) { m|([^/]*)$|; copy($_, "$to/.$1") && rename("$to/.$1", "$to/$1") or die "$1: $!" }' \
        "$spool/incoming" "$scratch/new"/*
    rm -r "$scratch/new"
}
nothing_else() { [ "$(find "$served"/{incoming,rendered,submitted,failed,held,.claims,.new} -mindepth 1 | wc -l)" = 0 ]; }
clear_up() { stop_on A; detach A; detach B; rm -rf "$served" "$scratch"/A.log; }

# The server is restarted when jobs are under way: on an ordinary mount calls wait, on a soft one
# they fail.
restart() {
    attach A "$1" "$2" && attach B 3 || { fail "$3: mounted"; return; }
    must "$3: a spool is made" on A "$DLSPOOL" init --executor null "$spool"
    must "$3: settings are changed" change_settings 0 's|^takeover_time: .*|takeover_time: 4s|'
    start_on A
    drop_jobs a 20
    wait_for 20 done_to 1
    server_stop
    local until=$((SECONDS + ${4:-2}))
    wait_for 30 test $SECONDS -ge $until
    server_start
    drop_jobs b 10
    # A client waits up to a minute until it tries again what it sent while the server was away.
    ok "$3: all jobs are done" wait_for 120 done_to 30
    done_to 30 || { find "$served"/{incoming,rendered,submitted,failed,held,.claims,.new} -mindepth 1; tail -n 50 "$scratch/A.log"; } | sed 's/^/# /'
    # (What could not be noted, or made durable, is noted again: the same attempt twice in a log is one submission.)
    is "$(for log in "$served"/done/*/*/log; do grep -o ' submitted attempt=[0-9]*' "$log" | sort -u; done | wc -l)" 30 "$3: each once"
    # A name that could not be removed, as the server did not answer, is removed after the job has gone on.
    ok "$3: nothing is left, and nothing failed" wait_for 30 nothing_else
}
restart 4.2 "" "v4, restarted"
clear_up
restart 3 soft,timeo=10,retrans=1 "v3, soft, restarted" 6
like "$(<"$scratch/A.log")" 'file server|Input/output error|it is unknown whether|could not be renewed' "v3, soft: errors are said"
clear_up

# A full disk: an error that NFS may keep for close().
served=/run/export/small/spool
attach A 4.2 "" small && attach B 4.2 "" small
must "small: a spool is made" on A "$DLSPOOL" init --executor null "$spool"
must "small: settings are changed" change_settings 0 's/^free_percent: .*/free_percent: 0/'
start_on A
drop_jobs first 1
ok "small: a job is done" wait_for 15 done_to 1
{ job full; echo ...; } | on B sh -c 'cat >"$1/incoming/.full"' sh "$spool"
dd if=/dev/zero of=/run/export/small/fill bs=1k 2>/dev/null
truncate -s -3K /run/export/small/fill          # enough for a directory, not for a job
sync -f /run/export/small
on B mv "$spool/incoming/.full" "$spool/incoming/full.yaml"
ok "small: that the disk is full is said" wait_for 20 said_on A 'could not be .*No space left on device'
is "$(finished) $(served_dir full)" "1 " "small: there is no job of what could not be written"
is "$(ls "$served/.claims" "$served/incoming" | grep -c 'full.yaml')" 1 "small: and it is not lost"
rm /run/export/small/fill
ok "small: it is done when there is room" wait_for 20 done_to 2
ok "small: and once" wait_for 30 nothing_else
clear_up

# root_squash.
served=/run/export/squash/spool
attach A 4.2 "" squash && attach B 4.2 "" squash
like "$(on A "$DLSPOOL" init --executor null "$spool" 2>&1)" 'user 0 makes here belongs to user 65534.*root_squash' "squash: root cannot make a spool, and is told why"
mkdir -p "$served"
chown 1 "$served"
must "squash: an ordinary user can" on_user A 1 "$DLSPOOL" init --executor null "$spool"
like "$(on A "$DLSPOOL" -s "$spool" run 2>&1)" 'user 0 may not serve .*belongs to user 1.*root_squash' "squash: root cannot serve it, and is told why"
setsid "$RIG_FILES/on" A setpriv --reuid 1 --regid 1 --clear-groups -- "$DLSPOOL" -s "$spool" run -v 2>>"$scratch/A.log" &
daemon_A=$!
{ job mine; echo ...; } | on_user B 5 sh -c 'cat >"$1/incoming/.mine" && mv "$1/incoming/.mine" "$1/incoming/mine.yaml"' sh "$spool"
drop_jobs root 1
ok "squash: its user can, and jobs are done" wait_for 15 done_to 2
like "$(<"$(served_dir mine)/job.yaml")" '^owner: "games"' "squash: a user stays that user"
like "$(<"$(served_dir root1)/job.yaml")" '^owner: "nobody"' "squash: root on a client is nobody"
clear_up

# Templates, pushed on B while A renders.
served=/run/export/plain/spool
attach A 4.2 && attach B 4.2
must "push: a spool is made" on_user A 0 "$DLSPOOL" init --executor null "$spool"
start_on A
PATH=$(dirname "$DLSPOOL"):$PATH        # for the hook
ok "push: B clones the templates" on B git clone -q "$spool/templates.git" "$scratch/clone"
drop_jobs before 1
ok "push: A renders with the first ones" wait_for 15 done_to 1
echo "# a change" >>"$scratch/clone/images.txt"
git -C "$scratch/clone" commit -qam "a change"
drop_jobs during 3
ok "push: B pushes" on B git -C "$scratch/clone" push -q
drop_jobs after 1
ok "push: A renders" wait_for 20 served_in after1 "done"
like "$(<"$(served_dir after1)/job.yaml")" "$(git -C "$scratch/clone" rev-parse HEAD)" "push: with what was pushed just before"
ok "push: all jobs are done" wait_for 20 done_to 5
unlike "$(<"$scratch/A.log")" 'warning' "push: nothing was wrong in between"
clear_up
done_testing
