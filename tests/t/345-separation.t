#!/usr/bin/env bash
# With `user:`, root believes nothing that the process which reads job files could have written: played here is
# that process after it was taken over, with all that its user may do to a spool.  Each forgery is refused with
# a sentence and nothing of it runs; honest jobs beside it do.
#
# Seen to fail with: tests/mutants/seal-believes-none.patch, verify-takes-any-manifest.patch,
# handover-believes-records.patch, approval-needs-no-seal.patch, handover-asks-for-no-approval.patch.
. "$(dirname "$0")/lib.bash"
[ "$(id -u)" = 0 ] || skip_all "root must serve, and be others: run it as root"
command -v setpriv >/dev/null || skip_all "there is no setpriv"

reader=games     # reads job files
victim=news      # never drops anything
as() { local user=$1; shift; setpriv --reuid "$user" --regid "$(id -g "$user")" --clear-groups -- "$@"; }
intake() { as "$reader" "$@"; }
# drop_as USER NAME: standard input becomes USER's incoming/NAME.
drop_as() {
    cat >"$scratch/as.tmp" && chown "$1:" "$scratch/as.tmp" && chmod 644 "$scratch/as.tmp" &&
        mv "$scratch/as.tmp" "$spool/incoming/$2"
}
name=0
# forge JOB NEW-NAME: a copy of that job's directory in .new/, under an id of its own, made by the reader; it is in $forged.
forge() {
    name=$((name + 1))
    forged=$spool/.new/$2-1m88000000${name}00
    intake mkdir "$forged"
    intake cp "$1"/{job.yaml,request.yaml,manifest.yaml} "$forged/"
    intake sh -c "head -n 1 '$1/log' >'$forged/log'"
    change "s/^id: .*/id: \"${forged##*/}\"/; /^sum:/d; /^failure:/,\$d"
}
change() { intake sed -i "$1" "$forged/job.yaml"; }
publish() { intake mv "$forged" "$spool/rendered/"; }
# refused NAME PATTERN WHAT
refused() {
    ok "$3: refused" wait_for 10 in_state "$1" failed
    like "$(cat "$(job_dir "$1")/why")" "$2" "$3: its why says so"
    unlike "$(cat "$(job_dir "$1")/log")" ' (intent|submitted|started) ' "$3: nothing of it ran"
}

"$DLSPOOL" init --executor null --user "$reader" "$spool" >/dev/null
set_setting scan_interval 500ms
set_setting quiet_time 500ms
set_setting poll_interval 100ms
is "$(stat -c %U "$spool" "$spool"/{dlspool.yaml,templates.git,submitted,"done"} | sort -u)" root \
    "what says what root does is root's"
is "$(stat -c %U "$spool"/{incoming,.claims,.new,rendered,failed,held} | sort -u)" "$reader" \
    "and the rest is the reader's"
ok "who can put nothing in the place of settings" eval '! intake mv "$spool/dlspool.yaml" "$spool/x" 2>/dev/null'
approver=mail
sed -i -e "s/^approvers: .*/approvers: [$approver]/" -e 's/^privileges: .*/privileges: {rdma: {capabilities: [IPC_LOCK]}}/' "$spool/dlspool.yaml"
start_daemon

printf 'name: honest\nscript: "true"\n' | drop_as nobody honest.yaml
printf 'name: kept\nhold: true\nscript: "true"\n' | drop_as nobody kept.yaml
must "an honest job is done" wait_for 10 in_state honest "done"
must "another is held" wait_for 10 in_state kept held
honest=$(job_dir honest) kept=$(job_dir kept)
is "$(stat -c '%U %a' "$spool/.seal-key")" "root 600" "the key is root's alone"
ok "and who reads job files cannot read it" eval '! intake cat "$spool/.seal-key" 2>/dev/null'
like "$(<"$honest/job.yaml")" '^seal: "[0-9a-f]{64}"' "what a root process saw of it is sealed"

forge "$honest" root
change 's/^uid: .*/uid: 0/; s/^gid: .*/gid: 0/; s/^owner: .*/owner: "root"/; s/^home: .*//'
publish
refused root 'not run: the seal in job.yaml is not' "uid 0"

forge "$honest" bare
change '/^seal: /d'
publish
refused bare 'no seal: nothing shows whose job' "without a seal"
like "$(<"$(job_dir bare)/why")" 'dlspool submit failed/bare-' "and it says what its owner can do"
ok "asking for it again does not help" dlspool retry "$(basename "$(job_dir bare)")"
wait_for 10 test ! -e "$(job_dir bare)/retry"
wait_for 10 in_state bare failed
unlike "$(<"$(job_dir bare)/log")" ' (intent|submitted|started) ' "and nothing of it ran"

forge "$honest" other
change "s/^uid: .*/uid: $(id -u "$victim")/; s/^owner: .*/owner: \"$victim\"/"
publish
refused other 'the seal in job.yaml is not' "another user's uid"

forge "$honest" bytes
intake sh -c "printf 'name: bytes\nscript: id\n' >'$forged/request.yaml'"
change "s/^request_sha256: .*/request_sha256: \"$(sha256sum "$forged/request.yaml" | cut -c 1-64)\"/"
publish
refused bytes 'the seal in job.yaml is not' "another request"

forge "$honest" replayed
publish
refused replayed 'the seal in job.yaml is not' "a seal of another id"

# A job whose seal fits, which waits, gets another manifest and the record to go with it.
id=${kept##*/} forged=$kept
intake sh -c "printf 'mounts:\n  - {source: /, target: /machine}\n' >>'$kept/manifest.yaml'"
change "/^sum:/d; s/^manifest_sha256: .*/manifest_sha256: \"$(sha256sum "$kept/manifest.yaml" | cut -c 1-64)\"/"
intake rm -f "$kept/hold"
publish
refused kept 'not run as it is: manifest.yaml is not what the request is rendered to' "a mount of /"
like "$(<"$(job_dir kept)/why")" 'retried by itself at' "and it is to be rendered again"
dlspool retry "$id"
ok "then it runs as its owner meant it" wait_for 10 in_state kept "done"
unlike "$(<"$(job_dir kept)/manifest.yaml")" machine "with no more mounts"

# An approval that nobody gave, and one of another job's.
printf 'name: wants\nprivileged: rdma\nscript: "true"\n' | drop_as nobody wants.yaml
printf 'name: given\nprivileged: rdma\nscript: "true"\n' | drop_as nobody given.yaml
wait_for 10 in_state wants held && wait_for 10 in_state given held
wants=$(job_dir wants) id=$(basename "$(job_dir wants)")
printf '{"approve": "%s"}\n' "$(basename "$(job_dir given)")" | drop_as "$approver" json.yaml
refused json 'where jobs are sealed, an approval is written as approve: given-' "an approval in another form"
printf 'approve: %s\n' "$(basename "$(job_dir given)")" | drop_as "$approver" yes.yaml
ok "an honest approval has its job run" wait_for 10 in_state given "done"
like "$(<"$(job_dir given)/log")" ' approve by=mail .* seal=[0-9a-f]{64}$' "with a seal"
# made_up LINE: as `approve` of the job that waits; it goes on to submit, which looks.
made_up() {
    intake sh -c "printf '%s\n' '$1' >'$spool/.new/made-up'"
    intake mv "$spool/.new/made-up" "$wants/approve"
    intake touch "$wants"
}
# waits_again TIMES: so often it has come to held/, and nothing there says that it is approved.
waits_again() { [ "$(grep -c ' held cause=approval ' "$wants/log")" -ge "$1" ] && in_state wants held && [ ! -e "$wants/approve" ]; }
line=$(sed -n "s/^[^ ]* approve/$(date -u +%Y-%m-%dT%H:%M:%S.000Z) approve/p" "$(job_dir given)/log")
digest() { sed -n "s/^$1: \"\(.*\)\"/\1/p" "$wants/job.yaml"; }
line=$(sed "s/request=[0-9a-f]*/request=$(digest request_sha256)/; s/manifest=[0-9a-f]*/manifest=$(digest first_manifest_sha256)/" <<<"$line")
made_up "$line"
ok "an approval with the seal of another job's does not count" wait_for 10 waits_again 2
like "$(<"$scratch/daemon.log")" "$id: an approval does not count: nothing shows that mail has approved it" "and the log warns of it"
made_up "${line% seal=*}"
ok "nor does one without" wait_for 10 waits_again 3
unlike "$(<"$wants/log")" ' (intent|submitted|started) ' "and nothing of it ran"
forged=$wants
change '/^sum:/d; /^wants:/d; /^first_manifest_sha256:/d'
intake mv "$wants" "$spool/rendered/"
ok "a record that wants nothing is given nothing" wait_for 10 eval 'in_state wants held && grep -q "^wants: .*rdma" "$wants/job.yaml"'
unlike "$(<"$wants/log")" ' (intent|submitted|started) ' "and does not run either"
dlspool kill "$id"

# A record that gives the machine's network, and a manifest that fits it.
printf 'name: network\nhold: true\nscript: "true"\n' | drop_as nobody network.yaml
wait_for 10 in_state network held
forged=$spool/.new/$(basename "$(job_dir network)")
intake mv "$(job_dir network)" "$forged" # where nobody looks
intake sed -i 's/^network: .*/network: "host"/' "$forged/manifest.yaml"
change "/^sum:/d; s/^manifest_sha256: .*/manifest_sha256: \"$(sha256sum "$forged/manifest.yaml" | cut -c 1-64)\"/; \$a host_network: 1"
intake rm -f "$forged/hold"
publish
refused network 'not run as it is: job.yaml and dlspool.yaml differ in whether it has the machine' "the machine's network"
dlspool kill "$(basename "$(job_dir network)")"

# Claims: what is no claim of its owner's.
printf 'name: mine\nscript: "true"\n' | intake tee "$spool/.claims/1m88000000a00.mine.yaml" >/dev/null
printf 'name: theirs\nscript: "true"\n' >"$scratch/theirs.yaml"
chown "$victim:" "$scratch/theirs.yaml"
intake ln -s "$scratch/theirs.yaml" "$spool/.claims/1m88000000b00.theirs.yaml"
refused mine 'belongs to the user that reads job files' "a file of the reader's own"
refused theirs 'symbolic link' "a link to another user's file"

# A file of root's, moved to incoming/, would be root's word.
is "$(find "$spool"/{rendered,failed,held} -type f -user root)" "" "root leaves no file of its own where the reader can move it"

printf 'name: after\nscript: "true"\n' | drop_as nobody after.yaml
ok "honest jobs go on" wait_for 10 in_state after "done"
is "$(ls "$spool"/done/* | sed 's/-[^-]*$//' | sort | tr '\n' ' ')" "after given honest kept " "and nothing else was done"

# What was known before a restart is known after it; another key makes all of that nobody's word.
printf 'name: late\nhold: true\nscript: "true"\n' | drop_as nobody late.yaml
printf 'name: lost\nhold: true\nscript: "true"\n' | drop_as nobody lost.yaml
wait_for 10 in_state late held
wait_for 10 in_state lost held
stop_daemon
chown "$reader" "$spool/dlspool.yaml"
: >"$scratch/daemon.log"
start_daemon
ok "settings of the reader's are warned of" wait_for 10 \
    grep -q "warning: .*dlspool.yaml belongs to $reader, .*chown -h root" "$scratch/daemon.log"
chown root "$spool/dlspool.yaml"
dlspool release "$(basename "$(job_dir late)")"
ok "seals outlive the daemon" wait_for 10 in_state late "done"
stop_daemon
rm "$spool/.seal-key"
start_daemon
dlspool release "$(basename "$(job_dir lost)")"
refused lost 'the seal in job.yaml is not' "a job of before the key"

# The same in a container, which shows as whom it ran.
if command -v podman >/dev/null; then
    stop_daemon
    spool=$scratch/real
    "$DLSPOOL" init --executor local --user "$reader" "$spool" >/dev/null
    set_setting scan_interval 500ms
    start_daemon
    printf 'name: who\nscript: |\n  #!/bin/sh\n  id -u\n' | drop_as nobody who.yaml
    must "a container has run" wait_for 60 in_state who "done"
    is "$(<"$(job_dir who)/output/main-0.log")" "$(id -u nobody)" "as the user who dropped the job"
    forge "$(job_dir who)" nobody
    change 's/^uid: .*/uid: 0/; s/^gid: .*/gid: 0/; s/^owner: .*/owner: "root"/; s/^home: .*//'
    publish
    refused nobody 'the seal in job.yaml is not' "the same as root"
else
    pass "containers # SKIP podman is not installed"
fi
done_testing
