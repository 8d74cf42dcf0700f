#!/usr/bin/env bash
# What a change of the templates does to jobs there were: `dlspool diff` for one, `dlspool plan` for
# those of the last days, and what git shows the pusher.  Nothing secret is in any of it.
. "$(dirname "$0")/lib.bash"
secret=hunter2-Xq7-Zz9
private=sesame-open-88

# ---- templates of our own, jobs, and the commands that show them ----

task='      {role: {$eval: task.role}, index: {$eval: task.index}, image: {$if: task.image, then: "${task.image}", else: "${image}"}, cpus: {$eval: task.cpus},
       memory: {$eval: task.memory}, command: ["sh", "-c", "true"],
       files: [{path: /job/words, content: {$if: task.script, then: "${task.script}", else: "${job.script}"}, mode: "0500"}],
       env: {$merge: [{LEVEL: one}, {$eval: job.env}]}}'
template() { # template: on standard output
    printf 'kind: dlspool/local/v1\nnetwork: private\ntasks:\n  $map: {$eval: job.tasks}\n  each(task):\n%s\n' "$task"
}
# commit MESSAGE, and push: what the terminal shows.
push() { git add -A && git commit -qm "$1" && git push 2>&1 | sed 's/ *$//'; }
# field NAME: of the plan in $json
field() { jq -r "$1" <<<"$json"; }

new_spool null || exit 1
git clone -q "$spool/templates.git" "$scratch/clone" 2>/dev/null
cd "$scratch/clone" || exit 1
git rm -qr local kubernetes slurm common
mkdir -p local/sklearn local/xgboost local/any
printf 'sklearn * * none host\nxgboost * * none host\nany * * none host\n' >images.txt
sed -i '/^openpai:/,/^  workdir/s|^  images: .*|  images: [org/]|' site.yaml
for kind in sklearn/single xgboost/single any/roles; do template >"local/$kind.yaml"; done
output=$(push "templates of this test")
like "$output" 'main -> main' "the templates of this test are pushed"
like "$output" '^remote: commit [0-9a-f]{10}, compared with [0-9a-f]{10}, for 0 jobs of the last 7 days$' \
    "the pusher is told that there are no jobs yet"
first=$(git rev-parse HEAD)

start_daemon
for name in ann bob cyd; do
    printf 'name: %s\nlibrary: sklearn\ntype: single\nscript: "x"\nenv: {HUSH: %s}\n' $name $private | drop $name.yaml
done
printf 'name: xgb\nlibrary: xgboost\ntype: single\nscript: "x"\n' | drop xgb.yaml
printf 'name: early\nlibrary: jax\ntype: distributed\nscript: "x"\n' | drop early.yaml
printf 'name: wrong\nbogus: 1\n' | drop wrong.yaml
cat <<F | drop covert.yaml
protocolVersion: 2
name: covert
type: job
prerequisites:
  - {type: dockerimage, name: image, uri: "org/train:1", auth: {username: bob, password: <% \$secrets.token %>, registryuri: r.example.org}}
secrets: {token: $secret}
taskRoles:
  main: {dockerImage: image, resourcePerInstance: {cpu: 1, memoryMB: 128, gpu: 0}, commands: ["echo <% \$secrets.token %>"]}
F
all_ended() {
    for name in ann bob cyd xgb covert; do in_state $name "done" || return 1; done
    has_ended early && has_ended wrong
}
must "all jobs have ended" wait_for 30 all_ended
like "$(<"$(job_dir early)/why")" 'there is no template' "one for want of a template"
for name in ann bob cyd xgb covert early wrong; do declare "$name=$(basename "$(job_dir $name)")"; done
like "$(<"$(job_dir covert)/manifest.yaml")" "$secret" "the secret is in the job's manifest"

output=$(dlspool diff "$ann")
is "$?:$output" "0:$ann would be rendered to the same manifest" "nothing has changed yet"
json=$(dlspool plan --json HEAD)
is "$(field '"\(.found) \(.same) \(.changed) \(.refused) \(.accepted) \(.refused_as_now)"')" "7 5 0 0 0 2" \
    "a plan of what is served: five jobs stay the same, two are refused as now"

# ---- pushes ----

echo "what this is for" >README.md
output=$(push "a file that is no template")
like "$output" '^remote:   5 would be rendered the same$' "a push that changes nothing says so"
unlike "$output" 'would change|would be refused: ' "and tells of no change"

sed -i 's/LEVEL: one/LEVEL: two/' local/sklearn/single.yaml
output=$(push "another level")
like "$output" '^remote:   3 would change: local/sklearn/single\.yaml: tasks\[\]\.env\.LEVEL "one" -> "two" \(([a-z]+-[0-9a-z]{13}(, |\)$)){3}' \
    "a push that changes a template says what, for how many jobs, and for which"
like "$output" '^remote:   2 would be rendered the same$' "and how many stay the same"
like "$output" '^remote:   2 would be refused, as now$' "and how many are refused anyway"
second=$(git rev-parse HEAD)
like "$output" "^remote:   .dlspool diff --revision ${second:0:10} ID." "and how to see more"

sed -i 's/^xgboost.*/xgboost * * none debian:13/' images.txt
output=$(push "another image")
like "$output" "^remote:   1 would change: local/xgboost/single\.yaml: image host -> debian:13 \($xgb\)\$" \
    "a push of another image says which"

sed -i 's/LEVEL: two/LEVEL: two, NEW: "${job.owner}"/
    s/{$eval: job.env}\]/{$let: {old: {$eval: job.env}}, in: {$map: {$eval: old}, "each(one)": {"${one.key}": "${one.val}!"}}}]/' \
    local/sklearn/single.yaml
output=$(push "what a user wrote is changed")
like "$output" '3 would change: .*tasks\[\]\.env\.HUSH changed' "of a user's own text only the name of the field is told"
like "$output" 'tasks\[\]\.env\.NEW added' "and what is added"
unlike "$output" "$private" "and not the text"
like "$(dlspool diff "$bob")" "^\+.*HUSH: \"$private!\"" "which diff shows to those who may read it"

printf '$if: job.name == "bob"\nthen: {$eval: %s}\nelse:\n' "'refuse(\"no job of this name today\")'" >local/sklearn/new
sed 's/^/  /' local/sklearn/single.yaml >>local/sklearn/new && mv local/sklearn/new local/sklearn/single.yaml
output=$(push "refuses a job")
like "$output" "^remote:   1 would be refused: .*no job of this name today.* \($bob\)\$" \
    "a push that a job would be refused by says so"
output=$(dlspool diff "$bob" 2>&1)
is $? 1 "diff of such a job ends with status 1"
like "$output" "refuses $bob: .*no job of this name today" "and with the sentence"
is "$(dlspool diff --json "$bob" 2>/dev/null | jq -r '"\(.changed) \(.after) \(.diff)"')" "true null null" "in JSON, too"

git rm -q --cached local/sklearn/single.yaml
git show "$second:local/sklearn/single.yaml" >local/sklearn/single.yaml
mkdir -p local/jax && template | sed 's/LEVEL: one/ATTEMPT: "${job.attempt}"/' >local/jax/distributed.yaml
echo 'jax * * none host' >>images.txt
stop_daemon                     # which would run what waits for it
output=$(push "takes both")
like "$output" "^remote:   1 is refused now, and would be rendered: .*no job of this name.* \($bob\)\$" \
    "a push that ends a refusal says so"
like "$output" "^remote:   1 is refused now, and would be rendered: there is no template .*jax.* \($early\)\$" \
    "and one that a failed job waits for"

# ---- diff ----

output=$(dlspool diff "$ann")
is $? 0 "diff of a job that would change ends with status 0"
like "$output" "^commit     $first -> $(git rev-parse HEAD)\$" "it begins with the facts"
like "$output" "^--- done/[0-9-]+/$ann/manifest\.yaml\$" "then come lines as diff has them"
is "$(grep -E '^[-+] ' <<<"$output" | tr -s ' ' | xargs)" '- LEVEL: one + LEVEL: two' "which are those that changed"
unlike "$output" $'\033' "without colours where it is no terminal"
like "$(script -qec "env TERM=xterm NO_COLOR= '$DLSPOOL' -s '$spool' diff $ann" /dev/null 2>/dev/null </dev/null)" $'\033\\[31m-' "with colours where it is one"
unlike "$(script -qec "env TERM=xterm NO_COLOR=1 '$DLSPOOL' -s '$spool' diff $ann" /dev/null 2>/dev/null </dev/null)" $'\033' \
    "but when they are not wanted"
(cd "$scratch" && mkdir -p patched/"$(dirname "$(dlspool show --json "$ann" | jq -r .path)")"/"$ann" &&
    cp "$(job_dir ann)/manifest.yaml" patched/done/*/"$ann"/ && cd patched && patch -sp0 <<<"$output")
is "$(cat "$scratch"/patched/done/*/"$ann"/manifest.yaml)" "$(dlspool render --revision HEAD "$ann")" \
    "applied to the manifest they give what it would be"
like "$(dlspool diff "$xgb")" '^image      host \(line 2 of images\.txt\) -> debian:13 \(line 2 of images\.txt\)$' \
    "another image is a fact"
dlspool diff --exit-code "$ann" >/dev/null
is $? 1 "--exit-code tells of a change"
ok "and of none" dlspool diff --exit-code --revision "$first" "$ann"
is "$(dlspool diff --json "$ann" | jq -r '"\(.id) \(.changed) \(.before.commit) \(.after.template) \(.refused)"')" \
    "$ann true $first local/sklearn/single.yaml null" "and it is told as JSON"
sed -i '/^sum:/d; s/^attempt: .*/attempt: 0/' "$(job_dir early)/job.yaml"
output=$(dlspool diff "$early")
like "$output" '^template   - -> local/jax/distributed\.yaml$' "a job that was never rendered is compared with nothing"
like "$output" '^--- /dev/null$' "as diff has it"
like "$output" '^\+ +ATTEMPT: "1"$' "and its first attempt is still to come"
output=$(dlspool diff "$wrong" 2>&1)
is $? 1 "one that cannot be understood"
like "$output" "refuses $wrong: wrong\.yaml:2:1: bogus" "is refused with the sentence"
output=$(dlspool diff nobody-0000000000000 2>&1)
is $? 4 "a job that is not there ends with status 4"
like "$output" 'there is no job' "and a sentence"
output=$(dlspool diff --revision nowhere "$ann" 2>&1)
is $? 1 "a revision that is not there ends with status 1"
like "$output" 'names no commit' "and a sentence"
sed -i 's/^executor: .*/executor: kubernetes/' "$spool/dlspool.yaml"
output=$(dlspool diff "$ann" 2>&1)
like "$output" 'there is no template kubernetes/sklearn/single\.yaml' "the executor is that of today"
sed -i 's/^executor: .*/executor: "null"/' "$spool/dlspool.yaml"

# ---- plan ----

json=$(dlspool plan --json --against "$first" "$second")
is "$(field '"\(.found) \(.same) \(.changed) \(.refused) \(.accepted) \(.refused_as_now)"')" "7 2 3 0 0 2" \
    "a plan of any two commits"
is "$(field '.groups[] | "\(.kind) \(.jobs) \(.template) \(.fields[0] | "\(.path) \(.change) \(.before) \(.after)")"')" \
    'changed 3 local/sklearn/single.yaml tasks[].env.LEVEL changed "one" "two"' "and its group"
sed -i 's/LEVEL: two/LEVEL: three/' local/sklearn/single.yaml
git commit -qam "not pushed yet"
like "$(dlspool plan --repository "$scratch/clone/.git" HEAD)" '3 would change: .*LEVEL "two" -> "three"' \
    "a plan of what is in a clone only"
output=$(dlspool plan HEAD~99 2>&1)
is $? 1 "a revision that is not there ends with status 1"
like "$output" 'names no commit' "with a sentence"
dlspool plan --limit 0 HEAD 2>/dev/null
is $? 2 "to look at no job is wrong usage"
like "$(dlspool plan --limit 2 HEAD)" ', for the newest 2 of 7 jobs of the last 7 days:$' "it says when there are more jobs than looked at"

# What the executor would not take.
git checkout -qb draft
sed -i "s/^network: .*/network: {\$if: 'job.name == \"ann\"', then: none of these, else: private}/" local/sklearn/single.yaml
git commit -qam "for one name only"
sed -i 's/^executor: .*/executor: local/' "$spool/dlspool.yaml"
output=$(dlspool plan --repository "$scratch/clone/.git" draft)
like "$output" "1 would be refused: the executor local would not take it: .*network.* \($ann\)\$" \
    "a job that the executor would no longer take would be refused"
like "$output" "2 would change: .*LEVEL" "and others change"
sed -i 's/^executor: .*/executor: "null"/' "$spool/dlspool.yaml"
git checkout -q main

# By the day on which a job ended.
move_day() { # move_day ID DAYS-AGO
    local to
    to=$spool/done/$(date -u -d "$2 days ago" +%F)
    mkdir -p "$to" && mv "$spool"/done/*/"$1" "$to"
}
found() { dlspool plan --json --days "$1" HEAD | jq .found; }
move_day "$ann" 3
move_day "$bob" 31
is "$(found 1) $(found 3) $(found 7) $(found 31)" "5 6 6 7" "--days counts by the day on which a job ended"
cp -r "$(job_dir xgb)" "$spool/submitted/"
is "$(found 7)" 6 "and a job that is met in two places, as it may be while it moves, is one"
rm -r "$spool/submitted/$xgb"

# ---- secrets ----

sed -i 's/LEVEL: one/LEVEL: two/' local/any/roles.yaml
output=$(push "of the job with secrets")
like "$output" "1 would change: local/any/roles\.yaml: tasks\[\]\.env\.LEVEL" "a job with secrets changes"
shown=$output$(dlspool plan --against "$first" HEAD; dlspool plan --json --against "$first" HEAD; dlspool diff "$covert" 2>&1; dlspool diff --json "$covert" 2>&1)
like "$shown" '^\+ .*LEVEL: "two"' "which diff shows"
output=$(dlspool diff "$covert" 2>&1)
unlike "$output" 'warning' "from the commit that it was rendered with"
is "$(grep -cE '^[-+] ' <<<"$output")" 2 "and no other line"
# A change beside the secret has it in the lines around.
sed -i 's|mode: "0500"|mode: "0700"|; s|path: /job/words, content|path: /job/word, content|' local/any/roles.yaml
shown+=$(push "beside the secret")$(dlspool diff "$covert" 2>&1)
like "$shown" '^[- +].*content: .*\*\*\*\*\*\*' "what is secret is shown as asterisks"
record=$(job_dir covert)/job.yaml
cp "$record" "$scratch/record"
sed -i "/^sum:/d; s/$first/0123456789012345678901234567890123456789/" "$record"
output=$(dlspool diff "$covert" 2>&1)
is $? 0 "when the commit it was rendered with is gone"
like "$output" 'warning: .*holds secrets' "that is said"
like "$output" "^$covert would be rendered to another manifest\$" "and no more than that it would change"
shown+=$output$(dlspool diff --json "$covert" 2>&1)
cp "$scratch/record" "$record"
unlike "$shown" "$secret" "the secret is in nothing that was shown"

# ---- what cannot be read ----

path=$(job_dir cyd)/request.yaml
cp "$path" "$scratch/request"
echo '# more' >>"$path"
output=$(dlspool diff "$cyd" 2>&1)
is $? 1 "diff of a job whose request is damaged ends with status 1"
like "$output" 'request\.yaml: found SHA-256' "and says so"
like "$(dlspool plan HEAD)" '^  1 not looked at: job\.yaml or the request is damaged' "and plan counts it"
rm "$path"
output=$(dlspool diff "$cyd" 2>&1)
is $? 1 "and one without its request"
like "$output" 'request\.yaml could not be opened' "with another sentence"
cp "$scratch/request" "$path"
echo '# more' >>"$(job_dir cyd)/manifest.yaml"
like "$(dlspool diff "$cyd" 2>&1)" 'manifest\.yaml: found SHA-256' "or whose manifest is damaged"
if setpriv --reuid=65534 --regid=65534 --clear-groups true 2>/dev/null; then
    nobody() { setpriv --reuid=65534 --regid=65534 --clear-groups "$DLSPOOL" -s "$spool" "$@" 2>&1; }
    chmod o+rx "$scratch" && chmod 640 "$spool"/done/*/*/request.yaml
    output=$(nobody diff "$ann")
    is $? 1 "who may not read a job's request is refused a diff"
    like "$output" 'you may not read what its owner wrote' "with a sentence"
    output=$(nobody plan HEAD)
    is $? 0 "and is given a plan"
    like "$output" '^  6 not looked at: you may not read' "that says how many were not looked at"
else
    pass "another user # SKIP not root"
fi

# A plan that fails is no reason to refuse a push.
cp "$spool/dlspool.yaml" "$scratch/settings"
echo 'bogus: [' >>"$spool/dlspool.yaml"
echo "more" >>README.md
output=$(push "with settings that cannot be read")
like "$output" 'the push goes on' "a plan that fails says so"
is "$(git -C "$spool/templates.git" rev-parse HEAD)" "$(git rev-parse HEAD)" "and the push is let in"
cp "$scratch/settings" "$spool/dlspool.yaml"

# ---- many ----

job=$(job_dir xgb)
day=$(dirname "$job")
perl -e 'my ($job, $day, $stem) = @ARGV;
    for my $file (qw(job.yaml request.yaml manifest.yaml)) {
        my $text = do { local $/; open my $from, "<", "$job/$file" or die "$job/$file: $!"; <$from> };
        for my $number (0 .. 1999) {
            my $id = sprintf "%s%04d", $stem, $number;
            -d "$day/$id" or mkdir "$day/$id" or die "$id: $!";
            my $own = $text;
            if ($file eq "job.yaml") { $own =~ s/^id: .*/id: "$id"/m; $own =~ s/^sum:.*\n//m }
            open my $to, ">", "$day/$id/$file" or die "$id: $!";
            print $to $own;
        }
    }
    printf "%s%04d\n", $stem, $_ for 0 .. 1999;' "$job" "$day" "many-${xgb:4:9}" >"$scratch/ids" || fail "jobs could not be copied"
sed -i 's/LEVEL: one/LEVEL: many/' local/xgboost/single.yaml
git commit -qam "for many jobs"
start=$(date +%s%N)
output=$(git push 2>&1)
echo "# a push with 2000 jobs takes $((($(date +%s%N) - start) / 1000000)) ms, check and all"
like "$output" 'for the newest (2000 of 200[0-9] jobs of the last 7 days:|[0-9]+ of .*too long)' "the hook looks at the newest 2000 jobs"
like "$output" '^remote:   [0-9]{3,4} would change: local/xgboost/single\.yaml: tasks\[\]\.env\.LEVEL "one" -> "many" \([^ ]*, [^ ]*, [^ ]*, \.\.\.\)' \
    "and has one line for what changes for all"
start=$(date +%s%N)
json=$(dlspool plan --json --against HEAD~1 HEAD)
echo "# a plan of $(field .looked_at) jobs takes $((($(date +%s%N) - start) / 1000000)) ms"
is "$(field '.groups[0].jobs')" 2001 "a plan without a limit looks at all"
is "$(dlspool plan --json --limit 10 --against HEAD~1 HEAD | jq -r '.groups[0].examples | join(" ")')" \
    "$(echo "$xgb" | cat - "$scratch/ids" | sort -t - -k 2 -r | head -n 3 | xargs)" "a limit leaves the newest"
like "$(dlspool plan --within 1ms HEAD)" 'for the newest [0-9]+ of 200[0-9] jobs of the last 7 days \(to look at all would take too long\)' \
    "it stops when the time is up"

done_testing
