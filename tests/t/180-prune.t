#!/usr/bin/env bash
# An end for old jobs, by the daemon while it serves: what is old goes to archives, where its owner still finds it
# and others see no more of it than before; what is waited for stays.  What may end a pass is in
# tests/unit/prune_test.c.
#
# Seen to fail with: tests/mutants/prune-*.patch and tests/mutants/archived-*.patch.
. "$(dirname "$0")/lib.bash"
[ "$(id -u)" = 0 ] || skip_all "other users' files are made by root"
new_spool null || exit 1
chmod 1777 "$spool/incoming"
start_daemon

owner() { setpriv --reuid nobody --regid nogroup --clear-groups "$DLSPOOL" -s "$spool" "$@"; }
stranger() { setpriv --reuid daemon --regid daemon --clear-groups "$DLSPOOL" -s "$spool" "$@"; }

as nobody train
as nobody needed
as nobody wrong 'priority: 100'
for pair in train:done needed:done wrong:failed; do
    must "${pair%:*} is in ${pair#*:}/" wait_for 20 in_state "${pair%:*}" "${pair#*:}"
done
id=$(basename "$(job_dir train)") wrong=$(basename "$(job_dir wrong)")
# As if it had been in another year, and had printed something.  A job that is waited for is looked for from the day on
# that its id tells.
mv "$spool"/done/2[0-9]* "$spool/done/2020-02-03"
needed=needed-1e01k4t000000
mv "$(job_dir needed)" "$spool/done/2020-02-03/$needed"
sed -i -e '/^sum: /d' -e "s/^id: .*/id: \"$needed\"/" "$spool/done/2020-02-03/$needed/job.yaml"
as nobody waits "after: [$needed, comes-later]"
must "another one waits" wait_for 20 in_state waits held
mkdir "$spool/done/2020-02-03/$id/output"
echo "loss 0.125" >"$spool/done/2020-02-03/$id/output/main-0.log"
chown root:nogroup "$spool/done/2020-02-03/$id/output/main-0.log"
chmod 640 "$spool/done/2020-02-03/$id/output/main-0.log"
sed -i -e '/^sum: /d' -e 's/^  failed: .*/  failed: "2020-02-03T10:00:00.000Z"/' "$spool/failed/$wrong/job.yaml"

# What would go is said before, to anybody.
sed -i -e 's/^  done: null/  done: 90d/' -e 's/^  failed: null/  failed: 30d/' "$spool/dlspool.yaml"
said=$(stranger prune --dry-run 2>&1)
archive=$spool/history/archive
must "the daemon makes a pass when the rules change" wait_for 20 test -e "$archive/pruned"
seccomp() { sed -n 's/^Seccomp:\t//p' "/proc/$(pgrep -P "$daemon" -x prune)/status"; }
is "$(seccomp)" 2 "in a process that is confined"
like "$(<"$archive/pruned")" ' pass .* done=1 failed=1 output=0 size=0 waited_for=1 ' "of two jobs, while another is waited for"
like "$said" 'keep.done +(1 job  would be archived|0 jobs would)' "a dry run says what goes by which rule"
is "$(ls "$spool/done/2020-02-03")" "$needed" "what is waited for is there"
is "$(ls "$spool/failed")" "" "and nothing of what failed"
is "$(cd "$archive" && echo *.tar.zst *.index)" \
    "2020-02-03.group-65534.tar.zst 2020-02-03.tar.zst 2020-02-03.index" "what is archived is in the archives of its day"
is "$(cd "$archive" && stat -c '%a %G' 2020-02-03.tar.zst 2020-02-03.group-65534.tar.zst | xargs)" "644 root 640 nogroup" \
    "of which each belongs to those who could read what is in it"
is "$(zstd -qdc "$archive/2020-02-03.tar.zst" | tar -tf - | grep -c 'request\|manifest\|main-0')" 0 "everybody's has no secrets"
ok "its lines are found by grep" grep -q " id=$id name=train owner=nobody state=done " "$archive/2020-02-03.index"

# Its owner finds it.
mkdir -m 1777 "$scratch/unpacked"
export TMPDIR=$scratch/unpacked
is "$(owner list --archived --mine --format id,state,user | sort | tr -s ' ' | xargs)" \
    "$id done nobody $wrong failed nobody" "list --archived has both"
is "$(owner list --archived --state failed --format id)" "$wrong" "and filters them"
is "$(owner logs train)" "loss 0.125" "its owner reads what it printed, by its name"
is "$(owner logs --prefix "$id" main-0)" "main-0| loss 0.125" "with the options of logs"
said=$(owner show "$id")
like "$said" "^archive +$archive/2020-02-03.tar.zst" "show says where it is"
like "$said" '^ +output/main-0.log' "and what there is of output"
like "$said" '^  .* finished attempt=1' "and its log"
like "$(owner show wrong)" 'priority: found 100, expected' "of what failed, why"
is "$(owner show --json "$id" | jq -r '"\(.archived) \(.state) \(.path)"')" "true done history/archive/2020-02-03.tar.zst" \
    "so it is for programs"
is "$(ls -A "$TMPDIR")" "" "nothing of that is left"

# Others see what they saw.
like "$(stranger show "$id")" '^owner +nobody' "a stranger sees its facts"
said=$(stranger logs "$id" 2>&1)
is $? 1 "but not what it printed"
like "$said" "may be read by its owner and the owner's primary group only" "and is told who may"
said=$(owner retry "$wrong" 2>&1)
is $? 4 "what is archived cannot be retried"
like "$said" "$wrong has ended and is archived" "which is said"
like "$(owner wait "$wrong" 2>&1)" "$wrong has ended and is archived" "to who waits for it, too"
like "$(owner retry wrong 2>&1)" "$wrong has ended and is archived" "and to who calls it by its name"

# By hand, and output alone.
as nobody again
as root train
must "the daemon goes on" wait_for 20 in_state again "done"
must "with a job of the archived one's name" wait_for 20 in_state train "done"
like "$(owner show train)" "^directory +.*/$(basename "$(job_dir train)")" "which is shown, as it is in the spool"
like "$(stranger show t 2>&1)" "^id +$(basename "$(job_dir train)")" "also by the beginning of its id"
as nobody train
must "and with another one" wait_for 20 eval '[ "$(ls -d "$spool"/done/2*/train-* | wc -l)" = 2 ]'
like "$(stranger show train 2>&1)" "2 jobs have the name" "of two in the spool none is shown, nor the archived one"
stop_daemon
id=$(basename "$(job_dir again)")
mv "$(dirname "$(job_dir again)")" "$spool/done/2020-02-04"
sed -i -e 's/^  done: 90d/  done: null/' -e 's/^  output: null/  output: 30d/' "$spool/dlspool.yaml"
mkdir "$spool/done/2020-02-04/$id/output"
echo "loss 0.0625" >"$spool/done/2020-02-04/$id/output/main-0.log"
like "$(stranger prune 2>&1)" 'only|user' "who does not own the spool prunes nothing"
is "$(dlspool prune --json | jq -c '[.dry_run, .rules.output.jobs, .rules.done.jobs]')" "[false,1,0]" "by hand it goes at once"
is "$(ls "$spool/done/2020-02-04/$id" | grep output)" "" "output is removed"
ok "the rest is there" test -e "$spool/done/2020-02-04/$id/job.yaml"
like "$(dlspool logs again 2>&1)" "^dlspool logs: the output of $id was removed on 20.*keep.output" "and logs says why there is none"
like "$(dlspool show again)" ' pruned bytes=' "as does show"

done_testing
