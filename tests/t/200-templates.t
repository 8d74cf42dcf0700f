#!/usr/bin/env bash
# git push changes the templates: a bad push is refused in the pusher's terminal with file and
# line, a good one takes effect for the next job.
. "$(dirname "$0")/lib.bash"
# Each push has all templates checked: it is about few of them.
others=$(cd "$top/templates" && ls -d local/* | grep -v '/any\|/sklearn')
new_spool null && without_templates kubernetes slurm $others || exit 1
start_daemon
git clone -q "$spool/templates.git" "$scratch/clone" 2>/dev/null
cd "$scratch/clone" || exit 1

# refused DESCRIPTION PATTERN: committing and pushing what is in the work tree fails with it.
refused() {
    local before
    before=$(git -C "$spool/templates.git" rev-parse HEAD)
    git add -A
    git commit -qm "$1"
    output=$(git push 2>&1)
    is "$(($? != 0))" 1 "$1 is refused"
    like "$output" "$2" "$1: the terminal shows file and line"
    is "$(git -C "$spool/templates.git" rev-parse HEAD)" "$before" "$1: templates.git is as it was"
    git reset -q --hard origin/main
}
printf 'kind: [\n' >local/sklearn/single.yaml
refused "a template that is not YAML" 'local/sklearn/single.yaml:[0-9]+'
printf 'kind: dlspool/local/v1\nnetwork: ${nowhere}\ntasks: []\n' >local/sklearn/single.yaml
refused "an unknown variable" 'local/sklearn/single.yaml:2:.*nowhere'
printf 'kind: dlspool/local/v1\nnetwork: {$eval: "1 +"}\ntasks: []\n' >local/sklearn/single.yaml
refused "an expression that does not parse" 'local/sklearn/single.yaml:2'
printf '$include: common/nowhere.yaml\n' >local/sklearn/single.yaml
refused "an include that is not there" 'nowhere.yaml'
printf 'kind: dlspool/local/v1\nbogus: 1\ntasks: []\n' >local/sklearn/single.yaml
refused "a manifest the executor would refuse" 'local/sklearn/single.yaml.*'
echo 'mxnet * single none' >>images.txt
refused "a row of images.txt with a missing column" "images.txt:$(wc -l <images.txt)"
echo 'exit maybe transient' >>retry.txt
refused "a line of retry.txt that makes no sense" "retry.txt:$(wc -l <retry.txt)"
echo 'a: [' >>site.yaml
refused "a site.yaml that is not YAML" 'site.yaml:[0-9]+'

# Names that nobody knows, all of them at once; a name that a template reads is the site's own.
{ echo 'torch * * * host'; echo 'pytorch * distribued * host'; echo 'pytorch * * nnone host'; } >>images.txt
last=$(wc -l <images.txt)
sed -i 's/^  priority_classes:/  mine: 7\n  priority_clases:/' site.yaml
printf 'locall: {}\nours: {x: 1}\nyours: 1\n' >>site.yaml
printf '# ${site.ours} and {$if: "mine" in site.kubernetes}\n' >>local/sklearn/single.yaml
refused "unknown names in images.txt and site.yaml" \
    "images.txt:$((last - 2)): the library \"torch\" is not known; did you mean pytorch\?"
for line in "images.txt:$((last - 1)): the job type \"distribued\" is not known; did you mean distributed\?" \
    "images.txt:$last: warning: the accelerator \"nnone\" is not known; did you mean none\?" \
    'site.yaml:[0-9]+:1: locall: not known, and no template reads it; did you mean local\?' \
    'site.yaml:[0-9]+:1: yours: not known, and no template reads it' \
    'site.yaml:[0-9]+:3: kubernetes.priority_clases: not known, and no template reads it; did you mean priority_classes\?'; do
    like "$output" "$line" "the same push: $line"
done
unlike "$output" ' (kubernetes.mine|ours): ' "but not the names that a template reads"

output=$(git push origin :main 2>&1)
like "$output" 'cannot be deleted' "the served branch cannot be deleted"

# A good push takes effect for the next job, which names the commit.
job() { printf 'name: %s\nlibrary: sklearn\ntype: single\nscript: "x"\n' "$1" | drop "$1.yaml"; }
job before
ok "a job before" wait_for 20 in_state before "done"
old=$(git rev-parse HEAD)
echo "# a comment" >>local/sklearn/single.yaml
git commit -qam "a comment"
ok "a good push is let in" git push -q
new=$(git rev-parse HEAD)
job later
ok "a job after" wait_for 20 in_state later "done"
like "$(<"$(job_dir before)/job.yaml")" "$old" "the job before names the old commit"
like "$(<"$(job_dir later)/job.yaml")" "$new" "the job after names the new commit"
dlspool render "$(basename "$(job_dir before)")" >"$scratch/again"
ok "the old job is still rendered with its commit" cmp "$scratch/again" "$(job_dir before)/manifest.yaml"

# A version that is named: refused where no row has it, however many rows of * there are, and told beside an
# image of the user's own, which nobody looks into.
sed -i 's/^  allow_user: false/  allow_user: true/' site.yaml
printf 'mxnet * * * docker.io/site/mxnet:any\n' >images.txt
git checkout -q -b users && git commit -qam "images of users" && git push -q origin users
versioned() { printf 'name: versioned\nlibrary: mxnet\nversion: "1.9"\nscript: x\n%s\n' "$@" >"$scratch/versioned.yaml"; dlspool render -r users "$scratch/versioned.yaml" 2>&1; }
like "$(versioned)" 'version 1.9,.* leave version out to get that of line 1' "a row of * serves no job that names a version, and the line is told"
like "$(versioned 'image: docker.io/x/y:1')" 'version: not checked' "a version beside an image of the user's own is not checked, and that is told"
git checkout -q main

# Templates that are older than fields of the job file: what they do not read is told.
job_of() { printf 'name: older\nlibrary: any\nscript: x\ntasks: {main: {shm: 1Gi}}\n%s\n' "$@" >"$scratch/older.yaml"; dlspool render -r older "$scratch/older.yaml" 2>&1; }
git checkout -q -b older && sed -i 's/{\$eval: job.features}/[]/' common/local/job.yaml && sed -i 's/task\.shm/task.memory/' common/local/task.yaml && git commit -qam "no features" && git push -q origin older
like "$(job_of 'features: [a100]')" 'features: the template local/any/single.yaml of templates.git does not read it' "features that the template does not read are refused"
output=$(job_of 'debug: 10m')
like "$output" 'note: tasks.main.shm: no effect: the template local/any/single.yaml .* does not read it' "the size of /dev/shm that it does not read is noted"
like "$output" 'note: debug: no effect here' "and that nothing is kept to look at"
git checkout -q main

# Another branch is nobody's business.
git checkout -q -b draft && echo 'x: [' >broken.yaml && git add -A && git commit -qm draft
ok "a push to another branch is not checked" git push -q origin draft

# check by hand
output=$(dlspool check draft 2>&1)
is $? 1 "check finds what is wrong on another branch"
like "$output" 'broken.yaml:[12]:' "with file and line"
ok "check of the served branch" dlspool check

done_testing
