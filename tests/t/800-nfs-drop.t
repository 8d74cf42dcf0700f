#!/usr/bin/env bash
# A spool on NFS, v4.2 (with NFS_MORE=1, which make check-long sets, v3 as well) at default mount options: the daemon runs on host A, and what users do
# on host B is noticed.  Job files and control files, names that A's kernel has believed missing,
# owners, files that somebody holds open, and what `dlspool` shows on B.
. "$(dirname "$0")/nfs.bash"

# id_of NAME, and log_of NAME: as the server has it.
id_of() { basename "$(served_dir "$1")"; }
has_event() { grep -q " $2" "$(served_dir "$1")/log"; }
owner_of() { sed -n 's/^owner: "\(.*\)"$/\1/p' "$(served_dir "$1")/job.yaml"; }
user_drop() { on_user "$1" "$2" sh -c 'cat >"$1/incoming/.$2" && mv "$1/incoming/.$2" "$1/incoming/$2"' drop "$spool" "$3"; }

# Another daemon, which takes only what is known to be complete.
check_only_complete() {
    local uid=$1
    must "strict: settings are changed" change_settings "$uid" 's/^only_complete:.*/only_complete: true/; s/^cut_off_time:.*/cut_off_time: 8s/'
    setsid "$RIG_FILES/on" A setpriv --reuid "$uid" --regid "$uid" --clear-groups -- "$DLSPOOL" -s "$spool" run -v 2>>"$scratch/A.log" &
    daemon_A=$!
    job silent | tee "$scratch/silent.yaml" >/dev/null
    { job marked; echo '...'; } | tee "$scratch/marked.yaml" >/dev/null
    on_user B 5 cp "$scratch/silent.yaml" "$scratch/marked.yaml" "$spool/incoming"
    like "$(on_user B 5 "$DLSPOOL" -s "$spool" submit "$scratch/paused.sh")" '^paused-' "strict: submit gives an id, and its file needs no mark"
    ok "strict: a file that says that it is complete is taken" wait_for 15 served_in marked "done"
    like "$(<"$(served_dir marked)/log")" 'complete=end-mark' "strict: for its mark"
    ok "strict: one that does not is refused" wait_for 30 served_in silent failed
    like "$(<"$(served_dir silent)/why")" 'does not say that it is complete.*dlspool submit' "strict: with what to do about it"
    ok "strict: and kept" cmp "$scratch/silent.yaml" "$(served_dir silent)/dropped"
    stop_on A
    is $? 0 "strict: the daemon stops"
}

# check_version VERSION UID: everything, with a daemon that is that user.
check_version() {
    local version=$1 uid=$2 v=v${1%%.*} id
    attach A "$version" && attach B "$version" || { fail "$v: mounted"; return; }
    mkdir -p "$served" && chown "$uid" "$served"
    must "$v: a spool is made on A" on_user A "$uid" "$DLSPOOL" init --executor null "$spool"
    must "$v: settings are changed" change_settings "$uid" 's/^doubtful_time:.*/doubtful_time: 12s/; s/^approvers:.*/approvers: [6]/; s/^privileges:.*/privileges: {rdma: {capabilities: [IPC_LOCK]}}/'
    setsid "$RIG_FILES/on" A setpriv --reuid "$uid" --regid "$uid" --clear-groups -- "$DLSPOOL" -s "$spool" run -v 2>>"$scratch/A.log" &
    daemon_A=$!

    # A script whose writer rests at the end of a line, and what `dlspool submit` drops meanwhile.
    { printf '#!/bin/sh\n#DL name=paused\n'; for i in $(seq 200); do echo "echo line $i"; done; } | tee "$scratch/paused.sh" >/dev/null
    on_user B 5 perl -MIO::Handle -MTime::HiRes=sleep -e '
        open my $in, "<", $ARGV[0] or die; open my $out, ">", $ARGV[1] or die; my @lines = <$in>;
        print $out @lines[0 .. 99]; $out->flush; $out->sync; sleep 8; print $out @lines[100 .. $#lines]; close $out or die;
        ' "$scratch/paused.sh" "$spool/incoming/paused.sh" &
    local resting=$!
    # A has looked for these names, and believes that they are not there.
    on A sh -c 'stat "$1"/renamed.yaml "$1"/copied.yaml; ls "$1"' sh "$spool/incoming" >/dev/null 2>&1
    sleep 3
    job copied | tee "$scratch/copied.yaml" >/dev/null
    job renamed | user_drop B 5 renamed.yaml
    on_user B 5 cp "$scratch/copied.yaml" "$spool/incoming/copied.yaml"
    on A bash -c 'until { exec 7<"$1"; } 2>/dev/null; do ls "${1%/*}" >/dev/null; done; : >"$2"; exec sleep 1000' \
        bash "$spool/incoming/copied.yaml" "$scratch/holding" &
    local holder=$!
    wait_for 5 test -e "$scratch/holding"
    { echo 'name: told'; echo 'library: any'; echo 'type: single'; echo 'script: "#!/bin/sh"'; echo '...'; } | user_drop B 1234 told.yaml
    for name in held killed; do { job "$name"; echo 'hold: true'; } | user_drop B 5 $name.yaml; done
    { job asks; echo 'privileged: rdma'; } | user_drop B 5 asks.yaml
    printf 'name: bad\nlibary: any\n' | user_drop B 5 bad.yaml
    ok "$v: a file that was renamed into place on B is picked up" wait_for 15 served_in renamed "done"
    ok "$v: one that was copied there, too" wait_for 15 served_in copied "done"
    like "$(ls -A "$served/.claims")" '^\.nfs' "$v: and somebody on A still holds it open"
    is "$(owner_of renamed)" games "$v: its owner is who the server says it is"
    is "$(owner_of told)" 1234 "$v: also when nobody here knows them"
    ok "$v: a bad one is refused" wait_for 15 served_in bad failed
    ok "$v: one is held" wait_for 15 served_in held held
    ok "$v: and another" wait_for 15 served_in killed held

    # What B has seen before is not believed.
    id=$(id_of held)
    like "$(on_user B 5 "$DLSPOOL" -s "$spool" show "$id" 2>&1)" 'held' "$v: B sees it held"
    # Somebody on A reads what is going to be replaced, and the dropped file that is going to be removed.
    on A sh -c 'exec 8<"$1" 9<"$2"; : >"$3"; exec sleep 60' sh "$spool/held/$id/job.yaml" "$spool/held/$id/log" "$scratch/reading" &
    local reader=$!
    wait_for 5 test -e "$scratch/reading"
    ok "$v: B releases it" on_user B 5 "$DLSPOOL" -s "$spool" release "$id"
    ok "$v: it is released" wait_for 15 served_in held "done"
    like "$(on_user B 5 "$DLSPOOL" -s "$spool" show "$id" 2>&1)" 'done' "$v: B sees it done at once"
    ok "$v: and has nothing to wait for" on_user B 5 "$DLSPOOL" -s "$spool" wait --timeout 5s "$id"
    like "$(ls -A "$(served_dir held)")" '^\.nfs' "$v: what A reads is there under another name"
    id=$(id_of killed)
    on_user B 6 "$DLSPOOL" -s "$spool" kill "$id" >/dev/null 2>&1   # somebody else's: not done
    ok "$v: B kills the other" on_user B 5 "$DLSPOOL" -s "$spool" kill "$id"
    ok "$v: it is killed" wait_for 15 served_in killed failed
    ok "$v: by its owner, not by another" grep -q ' kill .*by=games' "$(served_dir killed)/log"
    ok "$v: one waits for an approval" wait_for 15 served_in asks held
    id=$(id_of asks)
    on_user B 5 "$DLSPOOL" -s "$spool" approve "$id" >/dev/null 2>&1   # its owner: not done
    like "$(on_user B 6 "$DLSPOOL" -s "$spool" list --approvals 2>&1)" "$id" "$v: an approver on B sees it"
    ok "$v: and approves it" on_user B 6 "$DLSPOOL" -s "$spool" approve "$id"
    ok "$v: it goes on" wait_for 15 served_in asks "done"
    ok "$v: by the approver's word, not its owner's" grep -q ' approve .*uid=6 ' "$(served_dir asks)/log"
    id=$(id_of bad)
    ok "$v: B asks for another try" on_user B 5 "$DLSPOOL" -s "$spool" retry "$id"
    ok "$v: it is tried" wait_for 15 has_event bad retry
    job given | tee "$scratch/given.yaml" >/dev/null
    like "$(on_user B 5 "$DLSPOOL" -s "$spool" submit "$scratch/given.yaml")" '^given-' "$v: submit on B gives an id"
    ok "$v: it is done" wait_for 15 served_in given "done"    # its directory moves no more
    like "$(<"$(served_dir given)/log")" 'complete=rename' "$v: for it is known that it was renamed"
    wait $resting
    is $? 0 "$v: somebody on B wrote a script, with a rest of 8 s"
    ok "$v: it is taken" wait_for 60 served_in paused "done"
    served_in paused "done" || { ls -al --full-time "$served"/{incoming,.claims}; on A ls -al --full-time "$spool/incoming"
        on A grep _time "$spool/dlspool.yaml"; date; tail -n 30 "$scratch/A.log"; } | sed 's/^/# /'
    ok "$v: all of it" cmp "$scratch/paused.sh" "$(served_dir paused)/request.sh"
    like "$(<"$(served_dir paused)/log")" 'complete=quiet' "$v: for it was quiet"
    kill $reader $holder
    wait $reader $holder 2>/dev/null
    is "$(find "$served/done" "$served/failed" -mindepth 1 -type d -name '[a-z]*-*' | wc -l)" 9 "$v: there are as many jobs as files"
    is "$(ls -A "$served/.claims" "$served/.new" | grep -vc -e : -e '^$' -e '^\.nfs')" 0 "$v: nothing is left of them"
    stop_on A
    is $? 0 "$v: the daemon stops"
    [ $v = v3 ] || check_only_complete "$uid"
    detach A
    detach B
    rm -rf "$served" "${scratch:?}"/*
}
check_version 4.2 1
[ -z "${NFS_MORE:-}" ] || check_version 3 0
done_testing
