#!/usr/bin/env bash
# The pages of dlspool web, by what they say: a job and its attempts, a new one by a form, the cluster, the plan, usage, a
# user's own; each is held against tests/web/look.
#
# Seen to fail with: tests/mutants/page-*.patch.
. "$(dirname "$0")/lib.bash"
. "$(dirname "$0")/web.bash"
own_spool "$@"
sed -i -e 's/^  rows: \[\]/  rows: [{user: "*", running: 3}, {user: user2, gpus: 7}, {queue: night, running: 2}]/' \
    -e 's/^  weights: \[\]/  weights: [{user: user1, weight: 2}]/' "$spool/dlspool.yaml"
approvers_are '[user2]' '{hostnet: {host_network: true}}'
start_daemon
start_web --idle 5s

# as N PATH CURL-OPTION...: what that user is shown.
# Lines are joined, but of the API.
as() {
    local user=$1 path=$2
    shift 2
    ask "$user" "$path" "$@" | if [[ $path == /dlspool/* || $path == *.csv* || $path == *.js ]]; then cat; else tr '\n' ' '; fi
}
ask() {
    local user=$1 path=$2
    shift 2
    run_as "$user" curl -sS --max-time 30 --unix-socket "$socket" \
        -H 'Origin: http://localhost' "$@" "http://localhost$path" 2>&1
}
looks_good() { is "$("$top/tests/web/look" "$1" <<<"${2/#<!DOCTYPE html> /<!DOCTYPE html>$'\n'}" 2>&1)" "" "$1 can be read by everybody"; }

printf 'name: one\nqueue: night\nscript: "echo"\n' >"$scratch/one.yaml"
as 1 /dlspool/v1/jobs -H 'Content-Type: application/yaml' --data-binary @"$scratch/one.yaml" >"$scratch/said"
id=$(jq -r .id "$scratch/said")
must "a job has ended" wait_for 20 in_state one "done"

like "$(as 1 "/jobs/$id/difference")" 'would be rendered to the same manifest' "today's templates would change nothing"

# A job: its facts, and the output of each attempt.
dir=$(job_dir one)
mkdir -p "$dir/output" "$dir/output-1"
printf 'hello <b>\n' >"$dir/output/main-0.log"
printf 'the first try\n' >"$dir/output-1/main-0.log"
for n in 1 2 3 4 5 6 7 8 9 10; do echo "$n" >"$dir/output/worker-$n.log"; done
chown -R 5001 "$dir/output" "$dir/output-1"
sed -i -e '/^sum: /d' -e 's/^attempt: .*/attempt: 2/' "$dir/job.yaml"
page=$(as 1 "/jobs/$id")
looks_good "a job" "$page"
like "$page" '<dt>State</dt><dd><span class="state done">done</span>, exit code 0' "a job says how it has ended"
like "$page" 'hello &lt;b&gt;' "what it printed is text"
like "$page" "<a href=\"/jobs/$id\\?attempt=1#output\">1</a>.*aria-current=\"true\">2</a>" "it has two attempts"
like "$page" "<a href=\"/jobs/$id\\?task=worker-10.log#output\">worker-10.log</a></th><td class=\"number\">3 bytes" "what comes after six files is listed, by its number"
like "$(as 1 "/jobs/$id?attempt=1")" 'the first try' "the output of the first attempt is there"
is "$(as 1 "/dlspool/v1/jobs/$id/output/main-0.log?attempt=1")" "the first try" "in the API, too"
unlike "$(as 1 "/jobs/$id?attempt=1")" 'hello &lt;b' "and not the second's with it"
like "$(as 1 "/jobs/$id?attempt=..")" 'attempt: expected the number of an attempt' "other words are no attempt"
like "$(as 1 "/jobs/$id?task=worker-10.log")" '<pre tabindex="0" role="group" aria-label="worker-10.log"[^>]*>10' "a file can be shown alone"
like "$(as 2 "/jobs/$id")" 'You may not read this' "another user is told that they may not read it"

# Templates change, also those of a job that waits for an approval.
printf 'name: special\nscript: "echo"\nprivileged: [hostnet]\n' | as 1 /dlspool/v1/jobs -H 'Content-Type: application/yaml' --data-binary @- >"$scratch/said"
must "a job waits for an approval" wait_for 20 in_state special held
sum=$(sha256sum <"$(job_dir special)/request.yaml" | cut -d' ' -f1)
like "$(as 2 /approvals)" "job file with the SHA-256 <code>$sum</code>.*you may not read what its owner wrote.*can ask user1 for a copy" \
    "an approver who may not read the job file is told how to know a copy of it"
chmod 644 "$(job_dir special)"/{request.yaml,manifest.yaml}
unlike "$(as 2 /approvals)" 'would not count' "it can be approved"
git clone -q "$spool/templates.git" "$scratch/clone" 2>/dev/null
sed -i 's|^  \*  *\*  *\*  *\*  *host|  *  *  *  *  registry.example.org/other:1|; s|^  any .*host|  any  *  *  *  registry.example.org/other:1|' "$scratch/clone/images.txt"
git -C "$scratch/clone" -c user.name=x -c user.email=x@example.org commit -qam "another image" && git -C "$scratch/clone" push -q 2>/dev/null
page=$(as 1 "/jobs/$id/difference")
like "$page" '<dt>Image</dt><dd>[^<]* &rarr; registry.example.org/other:1' "a pushed image is a difference"
looks_good "a difference" "$page"
page=$(as 2 /approvals)
like "$page" 'registry.example.org/other:1.*An approval now would not count for that' "an approver sees what that changes, and what it means"
looks_good "approvals" "$page"
like "$(as 2 /approvals -d verb=refuse -d id=special -d 'reason=not so')" 'asked to refuse special' "and refuses it"
ok "which ends it" wait_for 20 in_state special failed
like "$(as 2 "/jobs/$id/difference")" 'Permission denied|may not' "another user does not see what was asked for"

# A new one: from another job, and by a form.
page=$(as 1 "/new?from=$id")
like "$page" '> ?name: one queue: night' "a new job begins with another one's request"
unlike "$(as 2 "/new?from=$id")" 'queue: night' "not with what one may not read"
page=$(as 1 "/new?kind=mxnet%2Fps")
looks_good "a form" "$page"
like "$page" '<option value="mxnet/ps" selected>mxnet, ps: MXNet, scheduler, servers and workers</option>' "the templates say what a type is"
like "$page" 'name="role0"[^>]*value="scheduler"' "a form begins with the roles of the type"
page=$(as 1 /new -d do=compose -d library=any -d type=single --data-urlencode $'name=two\nowner: root' -d role0=main -d count0=1 -d cpus0=0.5 -d memory0=1Gi --data-urlencode $'script=echo "a: b"\r\nexit 0')
like "$page" 'name: &quot;two\\nowner: root&quot;' "what is typed into a field stays in it"
like "$page" 'role="alert">request:1:7: name: ' "and is checked"
page=$(as 1 /new -d do=compose -d library=any -d type=single -d name=two -d role0=main -d count0=1 -d cpus0=lots -d memory0=1Gi -d deadline=soon -d script=true)
like "$page" 'name="cpus0"[^>]* value="lots" aria-invalid="true"> <span class="fault">found &quot;lots&quot;, expected a number of CPUs' \
    "what is wrong with a field of a role stands at it, and what was typed stays"
like "$page" 'name="deadline"[^>]* value="soon" aria-invalid="true"> <span class="fault">found &quot;soon&quot;' "and at any other"
unlike "$page" 'name="(name|memory0|count0|role0)"[^>]*aria-invalid' "and at no field that is good"
looks_good "a form with mistakes" "$page"
like "$(as 1 /new -d do=check -d 'job=kill: one')" 'found a control file, expected a job file' "what would not be submitted is not good"
page=$(as 1 /new -d do=compose -d library=any -d type=single -d name=two -d role0=main -d count0=1 -d cpus0=0.5 -d memory0=1Gi --data-urlencode $'script=echo "a: b"\r\nexit 0')
like "$page" 'This job file is good' "a form makes a good job file"
ask 1 /new -d do=compose -d library=any -d type=single -d name=two -d role0=main -d count0=1 -d cpus0=0.5 -d memory0=1Gi -d script=true |
    sed -n '/<textarea id="job"/,/<\/textarea>/p' | sed -e 's/<[^>]*>//g' -e 's/&quot;/"/g' | sed 1d >"$scratch/two.yaml"
is "$(dlspool render "$scratch/two.yaml" >/dev/null 2>"$scratch/said"; cat "$scratch/said")" "" "which renders"

# The others.
for path in /jobs /new /cluster /plan /approvals "/usage?by=users" /usage /me "/usage?since=now"; do
    looks_good "$path" "$(as 1 "$path")"
done
page=$(as 1 "/jobs?q=ONE-")
like "$page" "aria-label=\"$id\">" "a word finds a job by its id"
like "$page" 'name="q"[^>]* value="ONE-"' "and stays in its field"
like "$(as 1 "/jobs?q=nowhere")" 'There is no such job' "or finds none"
like "$(as 1 /jobs)" "aria-label=\"$id\">" "a box to tick says which job it is of"
like "$(as 1 /cluster)" '<h2>Queues</h2>.*No job runs or waits there' "nobody has anything"
like "$(as 1 /cluster)" '<th scope="row">user user2</th><td>gpus</td>' "all limits are there"
cat >>"$spool/capacity" <<EOF
2026-11-26T10:00:00.000Z node name=n1 state=ready word=IDLE cpus=8000 cpus_free=2000 memory=2147483648 memory_free=0 gpus=4 gpus_free=1
2026-11-26T10:00:00.000Z node_gpus node=n1 type=a100 count=4 free=1
2026-11-26T10:00:00.000Z node name=n2 state=drained reason="<b>a fan</b>" by=ann since=2026-11-26T09:00:00.000Z cpus=8000 cpus_free=8000 memory=0 memory_free=0 gpus=0 gpus_free=0 features=fast
EOF
page=$(as 1 /cluster)
looks_good "a page with nodes" "$page"
like "$page" '<th scope="row">n2</th><td>drained</td>.*&lt;b&gt;a fan&lt;/b&gt; [(]ann, 2026-11-26 .*<th scope="row">n1</th><td>ready</td><td class="number">6 of 8' \
    "nodes that take no jobs come first, with the reason"
like "$page" '<td class="number">3 of 4 a100</td>' "GPUs by type"
page=$(as 1 /me)
like "$page" '<dd>user1</dd>.*<dt>Number</dt><dd>5001</dd>.*<th scope="row">user each</th><td>running</td>' "users see who they are, and what they may"
token=$(setpriv --reuid 5001 --regid 5001 --clear-groups "$DLSPOOL" -s "$spool" token --scope read --name laptop 2>"$scratch/said")
page=$(as 1 /me)
looks_good "a page with a token" "$page"
like "$page" '<th scope="row">laptop</th><td>read</td>' "and which tokens they have"
unlike "$page$(as 2 /me)" "$token" "a token is shown to nobody"
unlike "$(as 2 /me)" 'laptop' "nor are others' names"
hash=$(printf %s "$token" | sha256sum | cut -d' ' -f1)
like "$(as 2 /me -d "token=$hash")" 'role="alert"' "another cannot revoke it"
like "$(as 1 /me -d "token=$hash")" 'role="status"' "its maker can"
revoked() { [[ $(as 1 /me) != *laptop* ]]; }
ok "and it goes" wait_for 10 revoked
unlike "$page" 'user user2' "and not what others may"
like "$(as 1 "/usage?by=queues")" '<th scope="row">night</th><td class="number">1</td><td class="number optional">1</td>' "usage by queue"
unlike "$(as 2 "/usage?by=queues")" 'night' "one's own"
like "$(as 2 "/usage?by=queues&whose=all")" 'night' "or everybody's"
is "$(as 1 "/usage.csv?by=queues" | tr -d '\r' | cut -d, -f1-3)" $'of,attempts,succeeded\n"night",1,1' "the same as CSV"
for day in 01 04; do
    echo "2026-10-${day}T11:00:00.000Z usage id=early-0123456789a$day attempt=1 user=user1 uid=5001 gid=5001 name=early executor=null" \
        "submitted=2026-10-${day}T10:00:00.000Z eligible=2026-10-${day}T10:00:00.000Z started=2026-10-${day}T10:00:00.000Z" \
        "ended=2026-10-${day}T11:00:00.000Z outcome=succeeded cpus_milli=1000 gpus=0 cpu_held_ms=3600000 gpu_held_ms=0 whole=1"
done >"$spool/history/usage/2026-10"
page=$(as 1 "/usage?since=2026-10-01&until=2026-10-10")
like "$page" '2026-10-01: 1\.00 CPU-hours.*2026-10-02: 0\.00 .*2026-10-03: 0\.00 .*2026-10-04: 1\.00 ' "a day on which nothing was used has its place in the picture"
unlike "$page" '2026-10-05' "up to the last on which something was"
like "$(as 1 "/usage?by=all")" 'by: found &quot;all&quot;, expected utilization' "a wrong word is told"

# The API says what the commands print, as the same user.  What passes with time is left out, or rounded.
same() {
    local user=$1 path=$2 but=$3 ours theirs
    shift 3
    ours=$(setpriv --reuid "500$user" --regid "500$user" --clear-groups "$DLSPOOL" -s "$spool" "$@" --json | jq -S "$but")
    theirs=$(as "$user" "/dlspool/v1/$path" | jq -S "$but")
    is "$theirs" "$ours" "GET /$path is what $1 --json prints"
}
like "$(as 1 /dlspool/v1/limits)" '"of":"queue","name":"night"' "limits have the queue"
same 1 limits . limits
same 1 nodes . nodes
same 1 share 'map(.gpu_seconds |= round | .share |= (. * 1000 | round))' share
like "$(as 1 /dlspool/v1/share)" '"name":"user1","group":null,"weight":2' "shares have the user"
for by in utilization users groups queues sizes deadlines; do
    same 1 "report?by=$by" 'del(.from, .until)' report $by
done
same 2 "report?by=users&all=true" 'del(.from, .until)' report users --all
same 1 acct . acct
same 1 "acct?state=completed&starttime=2d&id=one-" . acct --state completed --starttime 2d one-
same 2 acct . acct
same 2 "acct?user=user1" . acct --user user1
is "$(as 2 /dlspool/v1/acct)" "[]" "another has no accounts"
is "$(as 2 "/dlspool/v1/acct?all=true" | jq -r '.[].owner')" user1 "but sees everybody's who asks for them"
is "$(as 1 "/dlspool/v1/acct?state=gone" | jq -r .detail | cut -c1-40)" 'state: found "gone", expected COMPLETED,' "a wrong state is told by its name in the query"
file=$(find "$spool/history/usage" -type f | sort | tail -n 1)
cp -p "$file" "$scratch/usage"
perl -ne 'for my $n (1 .. 10000) { (my $line = $_) =~ s/ id=\S+/sprintf " id=many-%013d", $n/e; print $line }' "$scratch/usage" >>"$file"
is "$(as 1 "/dlspool/v1/acct?id=many-" | jq length)" 10000 "10,000 attempts are listed"
is "$(as 1 /dlspool/v1/acct | jq -r .status,.detail)" $'400\nthere are more than 10000 attempts; ask for those of less time' "and no more at once"
cp -p "$scratch/usage" "$file"

# A job that runs, and a plan: as the files have it; and one that has gone to an archive.
printf 'name: old\nscript: "echo"\n' | as 1 /dlspool/v1/jobs -H 'Content-Type: application/yaml' --data-binary @- >"$scratch/said"
old=$(jq -r .id "$scratch/said")
must "another job has ended" wait_for 20 in_state old "done"
stop_daemon
mkdir -p "$(job_dir old)/output" "$(job_dir old)/output-1" "$spool/done/2020-02-03"
seq -f 'line %.0f <b>' 20000 >"$(job_dir old)/output/main-0.log"
echo "the first try" >"$(job_dir old)/output-1/main-0.log"
for n in 1 2 3 4 5 6 7; do echo "$n" >"$(job_dir old)/output/worker-$n.log"; done
chgrp -R 5001 "$(job_dir old)"/output* && chmod 640 "$(job_dir old)"/output*/*
sed -i -e '/^sum: /d' -e 's/^attempt: .*/attempt: 2/' "$(job_dir old)/job.yaml"
mv "$(job_dir old)" "$spool/done/2020-02-03/"
sed -i 's/^  done: null/  done: 90d/' "$spool/dlspool.yaml"
dlspool prune >"$scratch/said" 2>&1
must "which is archived then" test -e "$spool/history/archive/2020-02-03.index"
unlike "$(as 1 /jobs)" "$old" "the list of jobs is of those in the spool"
page=$(as 1 "/jobs?archived=true&name=old")
looks_good "a list of archived jobs" "$page"
like "$page" "<a href=\"/jobs/$old\">" "and of those that are archived, when they are asked for"
is "$(as 2 "/dlspool/v1/jobs?archived=true" | jq -c '[.[] | [.id, .archived, .path]]')" "[[\"$old\",true,\"history/archive/2020-02-03.tar.zst\"]]" \
    "in the API, too"
is "$(as 2 "/dlspool/v1/jobs?archived=true&after=$old")$(as 2 "/dlspool/v1/jobs?archived=true&q=nothing" | jq -c .)" "[][]" "page by page, and by a word"
page=$(as 1 "/jobs/$old")
looks_good "an archived job" "$page"
like "$page" "It is archived, in history/archive/2020-02-03.tar.zst.*<span class=\"state done\">done</span>" "its page says so, and how it has ended"
like "$page" 'line 20000 &lt;b&gt;' "and the end of what it printed"
unlike "$page" 'line 15000 ' "which is not all"
like "$page" "\"/dlspool/v1/jobs/$old/output/main-0.log\">All of it; this is its end" "all is at another address"
like "$page" "jobs/$old\?task=worker-7.log#output\">worker-7.log</a></th><td class=\"number\">2 bytes" "files after six are listed"
like "$page" '<td>accepted</td>.*<h2>Request</h2>.*name: old.*<h2>Manifest</h2>.*kind: &quot;dlspool/local' "its log, its job file and its manifest are there"
like "$(as 1 "/jobs/$old?attempt=1")" 'aria-current="true">1</a>.*the first try' "an earlier attempt is, too"
is "$(as 1 "/dlspool/v1/jobs/$old/output/main-0.log" | sha256sum)" "$(seq -f 'line %.0f <b>' 20000 | sha256sum)" "the API has all of a file"
is "$(as 1 "/dlspool/v1/jobs/$old/output/main-0.log?from=288879")" "line 20000 <b>" "or from a byte on"
is "$(as 1 "/dlspool/v1/jobs/$old/output" | jq -r '.[] | select(.name == "main-0.log").size')" 288894 "and what there is"
is "$(as 1 "/dlspool/v1/jobs/$old/request")" $'name: old\nscript: "echo"' "the job file as it was"
like "$(as 1 "/dlspool/v1/jobs/$old/log")" ' accepted ' "and the log"
is "$(as 1 "/dlspool/v1/jobs/$old/output/none.log" | jq -r .status,.detail)" $'404\nthat job has no none.log' "what is not there is said"
is "$(as 2 "/dlspool/v1/jobs/$old/request" | jq -r .status,.detail)" $'403\nyou may not read request of that job' "another user reads no more of it than before"
page=$(as 2 "/jobs/$old")
like "$page" '<td>accepted</td>.*You may not read this' "which their page says"
unlike "$page" 'line 20000|name: old' "and shows nothing of"
like "$(as 1 "/new?from=$old")" '> ?name: old' "another one like it begins with its job file"
unlike "$page" '<button' "and offers nothing that could be asked of it"
like "$(as 1 /jobs -d verb=kill -d "id=$old")" 'role="alert">' "nor is that done"
mv "$dir" "$spool/submitted/"
sed -i '/ ended /,$d' "$spool/submitted/$id/log"
printf 'plan time=2026-11-22T11:05:00.000Z jobs=2\npool name=cpus capacity=4000 used=1000\njob id=%s pool=cpus standing="at risk" finish=2026-11-22T12:00:00.000Z late=2026-11-22T12:30:00.000Z deadline=2026-11-22T12:10:00.000Z amount=1000 reason="<i>"\njob id=other-0123456789abc pool=cpus standing="best effort" finish=2026-11-22T11:30:00.000Z amount=500\n' "$id" >"$spool/plan"
page=$(as 1 "/jobs/$id")
like "$page" "id=\"live\" data-job=\"$id\" data-state=\"[a-z]*\" data-attempt=\"2\" data-files=\"11\"" "a page of a job that runs goes on from what it shows"
like "$page" 'data-file="main-0.log" data-from="10">' "from that byte on"
page=$(as 1 /plan)
looks_good "a plan" "$page"
like "$page" '<td class="time">at risk</td>.*&lt;i&gt;' "the plan says how a job stands, and why"
like "$page" '<svg role="img" .*<line class="mark"' "and draws its deadline"
like "$page" 'aria-label="CPUs over time">.*<rect class="bar".*<rect class="second".*<line class="mark"' "and what the plan gives until when"
like "$page" '<td class="number">1</td><td class="number">0.5</td><td class="number">2.5</td></tr> <tr>.*<td class="number">1</td><td class="number">0</td><td class="number">3</td></tr>' "which stands in a table, too"
is "$(as 1 /page.js | head -n 1)" "$(head -n 1 "$top/web/page.js")" "the script is there"
kill $web && wait $web
is "$(cat "$scratch/web.err")" "" "nothing was complained of"
done_testing
