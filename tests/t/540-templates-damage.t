#!/usr/bin/env bash
# templates.git in the middle of a push, pushed by force, damaged, owned by somebody else, or gone:
# never half a template; the last good commit serves; the reason is logged and does not fill the log;
# jobs go on, or wait until it is mended.
. "$(dirname "$0")/lib.bash"
# Each push has all templates checked, and one is what it is about.
others=$(cd "$top/templates" && ls -d local/* | grep -v /any)
new_spool null && without_templates kubernetes slurm $others || exit 1
set_setting sync none
git=$spool/templates.git
log=$scratch/daemon.log
branch=$(git -C "$git" symbolic-ref HEAD)
job() { printf 'name: %s\nlibrary: any\ntype: single\nscript: "#!/bin/sh"\n' "$1" | drop "$1.yaml"; }
commit_of() { sed -n 's/^template_commit: "\(.*\)"/\1/p' "$(job_dir "$1")/job.yaml"; }
head_of() { git -C "$git" rev-parse HEAD; }
# served_by NAME COMMIT WHAT: a job dropped now ends well, by that commit.
served_by() {
    job "$1"
    ok "$3: a job goes on" wait_for 20 in_state "$1" "done"
    is "$(commit_of "$1")" "$2" "$3: by the commit that is good"
}
since() { # what is logged from here on is told by said
    at=$(($(wc -l <"$log") + 1))
    began=$SECONDS
}
# said PATTERN WHAT: at least once, and not for each job or look: a process says the like three times a minute.
said() {
    local lines most
    ok "$2: the reason is logged" wait_for 10 sh -c "tail -n +$at '$log' | grep -Eq '$1'"
    lines=$(tail -n +$at "$log" | grep -E 'warning.*(templates|commit)' |
        sed -E 's/.*dlspool(\[([a-z]*)\])?: warning.*/process \2/' | sort | uniq -c | sort -rn)
    set -- "$2" $lines
    most=$((3 * ((SECONDS - began) / 60 + 1)))
    is "$(($2 <= most))" 1 "$1: and not again and again ($2 times by ${4:-the supervisor})"
}

start_daemon
good=$(head_of)
served_by first "$good" "at first"
git clone -q "$git" "$scratch/work" 2>/dev/null
work=$scratch/work
change() { # TEXT: a commit in the clone; its id on standard output
    printf '# %s\n' "$1" >>"$work/local/any/single.yaml"
    git -C "$work" commit -qam "$1" && git -C "$work" rev-parse HEAD
}

# In the middle of a push: the branch names a commit, whose objects arrive one after another.
new=$(change "arrives slowly")
since
objects=$(git -C "$work" rev-list --objects "$new" "^$good" | cut -d' ' -f1)
n=0
echo "$new" >"$git/$branch"
for object in $objects; do
    n=$((n + 1))
    served_by "mid$n" "$good" "mid-push, $((n - 1)) of $(echo "$objects" | wc -l) objects there"
    mkdir -p "$git/objects/${object:0:2}"
    cp "$work/.git/objects/${object:0:2}/${object:2}" "$git/objects/${object:0:2}/.arriving"
    mv "$git/objects/${object:0:2}/.arriving" "$git/objects/${object:0:2}/${object:2}"
done
said "commit ${new:0:7} cannot be used.*commit ${good:0:7} goes on serving" "mid-push"
sleep 1.2                       # a commit that failed is looked at again after a second
served_by whole "$new" "when the push is whole"

# Pushed by force: another history, and the old commit is no longer there.
git -C "$git" config receive.denyNonFastForwards false
git -C "$work" checkout -q --orphan other && git -C "$work" commit -qm "another history"
printf '# other\n' >>"$work/local/any/single.yaml" && git -C "$work" commit -qam "other"
git -C "$work" push -qf origin "other:$branch" 2>/dev/null
git -C "$git" reflog expire --expire=now --all 2>/dev/null
git -C "$git" gc -q --prune=now 2>/dev/null
other=$(git -C "$work" rev-parse HEAD)
is "$(head_of)" "$other" "pushed by force"
served_by forced "$other" "pushed by force"

# HEAD names a branch that is not there, then a commit that is not there, then nothing at all.
cp "$git/HEAD" "$scratch/HEAD"
since
echo 'ref: refs/heads/nowhere' >"$git/HEAD"
for i in 1 2 3; do served_by "unborn$i" "$other" "HEAD at no branch"; done
said 'no commit on the branch' "HEAD at no branch"
since
echo 'ref: refs/heads/missing' >"$git/HEAD"
echo 0123456789012345678901234567890123456789 >"$git/refs/heads/missing"
for i in 1 2 3; do served_by "missing$i" "$other" "HEAD at a missing commit"; done
said 'commit 0123456 cannot be used' "HEAD at a missing commit"
since
echo 'rubbish' >"$git/HEAD"
for i in 1 2 3; do served_by "rubbish$i" "$other" "HEAD is rubbish"; done
said 'HEAD cannot be read' "HEAD is rubbish"
rm -f "$git/refs/heads/missing"
cp "$scratch/HEAD" "$git/HEAD"
served_by mended "$other" "HEAD is mended"

# An object of the next commit is damaged.
new=$(change "will be damaged")
git -C "$work" push -q origin "other:$branch" 2>/dev/null
served_by before "$new" "a good push"
last=$new
new=$(change "damaged")
blob=$(git -C "$work" rev-parse "$new:local/any/single.yaml")
path=objects/${blob:0:2}/${blob:2}
git -C "$work" push -q origin "other:refs/heads/later" 2>/dev/null
git -C "$git" unpack-objects -q <"$(ls "$git"/objects/pack/*.pack 2>/dev/null | head -n 1)" 2>/dev/null
must "the object is a file of its own" test -e "$git/$path"
cp "$git/$path" "$scratch/blob"
chmod u+w "$git/$path"
printf 'XXXX' | dd of="$git/$path" bs=1 seek=20 conv=notrunc status=none
since
echo "$new" >"$git/$branch"
for i in 1 2 3; do served_by "damaged$i" "$last" "a damaged object"; done
said 'local/any/single.yaml cannot be read.*goes on serving' "a damaged object"
cp "$scratch/blob" "$git/$path"
sleep 1.2
served_by repaired "$new" "when it is repaired"
last=$new

# Somebody else's: what they push is not served.
if [ "$(id -u)" = 0 ]; then
    new=$(change "by a stranger")
    git -C "$work" push -q origin "other:$branch" 2>/dev/null
    served_by own "$new" "a push of our own"
    last=$new
    chown nobody "$git"
    new=$(change "by the new owner")
    cp -r "$work/.git/objects/." "$git/objects/"
    since
    echo "$new" >"$git/$branch"
    for i in 1 2 3; do served_by "stranger$i" "$last" "owned by somebody else"; done
    said 'belongs to user' "owned by somebody else"
    # It is not started with it; jobs wait in incoming/.
    stop_daemon
    job waits
    like "$(timeout 60 "$DLSPOOL" -s "$spool" run --drain 2>&1)" "templates.git belongs to nobody.*chown root" "not started with a repository of somebody else"
    ok "the job waits in incoming/" test -e "$spool/incoming/waits.yaml"
    chown root "$git"
    start_daemon
    ok "and goes on when it is ours again" wait_for 40 in_state waits "done"
    is "$(commit_of waits)" "$new" "by the newest commit"
    last=$new
fi

# An object of the commit to serve cannot be read when the daemon starts: nothing has failed, jobs wait,
# and what is asked for by control files is done.
# Seen to fail with: tests/mutants/new-job-blames-the-job-for-the-templates.patch.
{ echo 'hold: true'; printf 'name: sleeper\nlibrary: any\ntype: single\nscript: "#!/bin/sh"\n'; } | drop sleeper.yaml
ok "a job is held" wait_for 10 in_state sleeper held
stop_daemon
blob=$(git -C "$git" rev-parse HEAD:images.txt)
path=objects/${blob:0:2}/${blob:2}
for pack in "$git"/objects/pack/*.pack; do
    [ ! -e "$pack" ] || { mv "$pack" "$scratch" && git -C "$git" unpack-objects -q <"$scratch/${pack##*/}"; }
done
must "the object of images.txt is a file of its own" test -e "$git/$path"
mv "$git/$path" "$scratch/blob"
start_daemon
printf 'name: patient\nlibrary: any\ntype: single\nscript: "#!/bin/sh"\n' >"$scratch/patient.yaml"
like "$("$DLSPOOL" -s "$spool" submit --patience 2s "$scratch/patient.yaml" 2>&1)" 'has not become a job yet: templates repository .*images.txt' "unreadable at the start: submit says why there is no job yet"
like "$("$DLSPOOL" -s "$spool" status)" '^incoming +1$' "unreadable at the start: status counts the file"
like "$("$DLSPOOL" -s "$spool" status)" '^templates +cannot be read.*images.txt' "unreadable at the start: and says why it waits"
printf 'release: %s\n' "$(basename "$(job_dir sleeper)")" | drop release.yaml
ok "unreadable at the start: a control file is taken" wait_for 10 eval '! ls -A "$spool/incoming" "$spool/.claims" | grep -q release'
is "$(ls "$spool/failed" | wc -l)" 0 "unreadable at the start: nothing has failed"
mv "$scratch/blob" "$git/$path"
ok "unreadable at the start: the job is done when it can be read" wait_for 20 in_state patient "done"
ok "and so is what the control file asked for" wait_for 20 in_state sleeper "done"
is "$(ls "$spool/failed" | wc -l)" 0 "and has not failed in between"

# Gone altogether, and restored.
since
mv "$git" "$scratch/aside.git"
for i in 1 2 3; do served_by "gone$i" "$last" "removed"; done
said 'templates' "removed"
mv "$scratch/aside.git" "$git"
sleep 1.2
new=$(change "after it was restored")
git -C "$work" push -q origin "other:$branch" 2>/dev/null
served_by restored "$new" "restored"

is "$(find "$spool/failed" "$spool/rendered" "$spool/submitted" -mindepth 1)" "" "no job failed on the way"
is "$(for job in "$spool"/done/*/*; do
    git -C "$work" cat-file -e "$(sed -n 's/^template_commit: "\(.*\)"/\1/p' "$job/job.yaml")^{commit}" 2>/dev/null || echo "$job"
done)" "" "each job names a whole commit"
stop_daemon
is $? 0 "the daemon stops as it should"
done_testing
