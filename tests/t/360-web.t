#!/usr/bin/env bash
# dlspool web: two users reach the spool over HTTP, each as themselves, at the socket and through ssh -L of a real sshd.
#
# Seen to fail with: tests/mutants/web-*.patch.
. "$(dirname "$0")/lib.bash"
. "$(dirname "$0")/web.bash"
own_spool "$@"
start_daemon
socket=$scratch/w.sock
(ulimit -Sn 64 && exec "$DLSPOOL" -s "$spool" web --socket "$socket" --idle 1s) >"$scratch/web.out" 2>"$scratch/web.err" &
web=$!
must "it says where it serves" wait_for 10 grep -q "serving at $socket; from elsewhere: ssh -L 8080:$socket " "$scratch/web.out"
is "$(stat -c %a "$socket")" 666 "everybody may connect"

# as N CURL-OPTION...: a request of that user; the body, then the status on a line of its own.
as() {
    local user=$1
    shift
    setpriv --reuid "500$user" --regid "500$user" --clear-groups \
        curl -sS --max-time 30 --unix-socket "$socket" -w '\n%{http_code}\n' "$@" 2>&1
}
api=http://localhost/dlspool/v1
status() { tail -n 1 <<<"$1"; }
body() { sed '$d' <<<"$1"; }

# Whose connection it is says the kernel.
said=$(curl -sS --unix-socket "$socket" $api/jobs 2>&1)
is "$said" "users below 1000 have no page here, and you are user 0" "root has no page"
said=$(as 1 -X POST -H 'Content-Type: application/yaml' --data-binary $'name: one\nscript: "echo"\n' $api/jobs)
is "$(status "$said")" 201 "a job file that is posted becomes a job"
is "$(body "$said" | jq -r '.owner, .uid, .name')" $'user1\n5001\none' "of the user who posted it"
id=$(body "$said" | jq -r .id)
is "$(as 2 $api/jobs/one | body "$(cat)" | jq -r .id)" "$id" "another user sees it"
wait_for 20 in_state one "done"
is "$(as 1 "$api/jobs?state=done&mine=true" | body "$(cat)" | jq -r '.[].id')" "$id" "a list has it"
is "$(as 2 "$api/jobs?mine=true" | body "$(cat)")" "[]" "but it is not another's own"
is "$(body "$(as 1 $api/jobs/one)" | jq -S 'del(.elapsed_seconds)')" "$(dlspool list --json | jq -S '.[0] | del(.elapsed_seconds)')" "a job is what list --json prints"
for file in log request manifest; do
    is "$(body "$(as 1 $api/jobs/one/$file)")" "$(cat "$(job_dir one)"/$file*)" "its owner reads the $file"
done
said=$(as 2 $api/jobs/one/request)
is "$(status "$said")" 403 "another does not read the request"
like "$said" 'request.yaml could not be read: Permission denied' "and hears why"

is "$(body "$(as 1 $api/status)" | jq -S 'del(.executor.reason, .executor.capacity_time)')" \
    "$(setpriv --reuid 5001 --regid 5001 --clear-groups "$DLSPOOL" -s "$spool" status --json | jq -S 'del(.executor.reason, .executor.capacity_time)')" "so is the status"
is "$(body "$(as 1 $api/plan?revision=HEAD)" | jq -S .)" "$(setpriv --reuid 5001 --regid 5001 --clear-groups "$DLSPOOL" -s "$spool" plan HEAD --json | jq -S .)" "and a plan"

# What is wrong is said with its place, and nothing is dropped.
said=$(as 1 -H 'Content-Type: application/yaml' --data-binary $'name: two\nscript: "echo"\ntaks: {}\n' "$api/jobs?check=1")
is "$(status "$said")" 400 "a faulty job file is refused"
is "$(body "$said" | jq -c .errors)" '[{"line":3,"field":"taks","text":"unknown field; did you mean tasks?"}]' "with line and field"
is "$(status "$(as 1 -H 'Content-Type: text/plain' --data-binary 'name: x' $api/jobs)")" 415 "a type that is no job file's"
is "$(status "$(head -c 1100000 /dev/zero | as 1 -H 'Content-Type: application/yaml' -H Expect: --data-binary @- $api/jobs)")" 413 "a body over 1 MiB"
is "$(ls -A "$spool/incoming")" "" "nothing was dropped"
is "$(status "$(as 1 $api/jobs/nobody)")" 404 "a job that is not there"
is "$(status "$(as 1 "$api/jobs?limit=0")")" 400 "a wrong limit"
is "$(status "$(as 1 "$api/jobs?state=gone")")" 400 "a wrong state"
is "$(status "$(as 1 --path-as-is $api/jobs/../../../etc/passwd)")" 404 "no way out of the spool"
is "$(status "$(as 1 --path-as-is "$api/jobs/one/output/..%2f..%2f..%2fdlspool.yaml")")" 404 "nor out of output/"

# What is asked of a job: its owner may, another may not.
printf 'name: waits\nscript: "echo"\nhold: true\n' >"$scratch/waits.yaml"
said=$(as 1 -H 'Content-Type: application/yaml' --data-binary @"$scratch/waits.yaml" $api/jobs)
wait_for 20 in_state waits held
said=$(as 2 -X POST $api/jobs/waits/release)
is "$(status "$said")" 403 "another may not release it"
like "$said" "belongs to user1; only its owner or an administrator may release it" "and hears why"
is "$(status "$(as 1 -X POST $api/jobs/waits/release)")" 202 "its owner may"
ok "it goes on" wait_for 20 in_state waits "done"
is "$(status "$(as 1 -X POST $api/jobs/waits/kill)")" 409 "what is done cannot be killed"

# Pages of other sites.
is "$(status "$(as 1 -H 'Host: evil.example' $api/jobs)")" 421 "a name that somebody else has made is refused"
is "$(status "$(as 1 -H 'Origin: http://evil.example' -X POST $api/jobs/one/retry)")" 403 "another site's page asks for nothing"

# A page offers what can be asked of the job.
printf 'name: offers\nscript: "echo"\nhold: true\n' >"$scratch/offers.yaml"
said=$(as 1 -H 'Content-Type: application/yaml' --data-binary @"$scratch/offers.yaml" $api/jobs)
offered() { as 1 "http://localhost/jobs/$1" | grep -o 'name="verb" value="[a-z]*"' | sed 's/.*value="\(.*\)"/\1/' | xargs; }
is "$(offered offers)" "kill release" "of a held job: to end it, or let it go on"
is "$(offered one)" "" "of one that is done: nothing"
is "$(as 2 http://localhost/jobs/offers | grep -c 'name="verb"')" 0 "and of another's: nothing"

# Approvals: another person's, never one's own.
sed -i -e '/^approvers:/d' "$spool/dlspool.yaml" && printf 'approvers: [user1, user2]\nprivileges: {hostnet: {host_network: true}}\n' >>"$spool/dlspool.yaml"
sed -i -e '0,/^privileges:.*{}/{/^privileges: {}/d}' "$spool/dlspool.yaml"
wait_for 20 grep -q 'dlspool.yaml has changed' "$scratch/daemon.log"
for name in special other; do
    as 1 -H 'Content-Type: application/yaml' --data-binary $'name: '$name$'\nscript: "true"\nprivileged: [hostnet]\n' $api/jobs >"$scratch/special"
    must "a job that asks for a privilege waits" wait_for 20 in_state $name held
done
unlike "$(as 1 http://localhost/approvals)" special- "its owner is not asked"
page=$(as 2 http://localhost/approvals)
special=$(basename "$(job_dir special)")
sha256=$(sed -n 's/^first_manifest_sha256: "\(.*\)"/\1/p' "$(job_dir special)/job.yaml")
like "$(tr '\n' ' ' <<<"$page")" "special-.*<dd>user1</dd>.*privilege hostnet.*<code>$sha256</code>" "an approver sees who asks for what, and what an approval binds"
like "$page" 'you may not read what its owner wrote' "and is told what they may not read"
unlike "$(grep 'name="reason"' <<<"$page")" 'value="approve"' "a key in the field of the reason does not approve"
chmod 644 "$(job_dir special)"/{request.yaml,manifest.yaml}
page=$(as 2 http://localhost/approvals)
like "$page" 'aria-label="request.yaml">name: special$' "who may read the job file sees it"
like "$page" 'would be rendered to the same manifest' "and that today's templates change nothing"
like "$(as 2 "http://localhost/jobs/$special")" "<code>$sha256</code>" "the job's page has the same for an approver"
unlike "$(as 1 "http://localhost/jobs/$special")" '<h2>Approval</h2>' "and nothing for its owner"
page=$(as 2 -H 'Origin: http://localhost' -d "verb=refuse&id=$special" --data-urlencode $'reason=a "\nb' http://localhost/approvals)
like "$page" 'aria-describedby="fault" autofocus' "a reason that is none is told at its field"
like "$page" 'id="fault">Why not: found several lines, expected one that says why' "with what is wrong"
is "$(grep -c 'id="fault"' <<<"$page")" 1 "there alone"
like "$(tr '\n' ' ' <<<"$page")" 'value="a &quot; b" aria-invalid' "and what was typed stays"
is "$(status "$(as 1 -X POST $api/jobs/special/approve)")" 403 "the owner does not approve it"
is "$(status "$(as 2 -X POST $api/jobs/other/refuse)")" 400 "a refusal says why"
is "$(status "$(as 2 -X POST "$api/jobs/other/refuse?reason=not%20today")")" 202 "and with words is taken"
ok "they are in why" wait_for 20 sh -c "grep -q 'not today' $spool/failed/other-*/why"
decide() { as 2 -H 'Origin: http://localhost' -d "verb=approve&id=special&manifest=$1" http://localhost/approvals; }
like "$(decide 0000)" "is another job now than the one that the page showed" "what was not shown is not approved"
like "$(decide "$sha256")" 'asked to approve special' "what was shown is"
ok "and it goes on" wait_for 20 in_state special "done"

# The pages, through ssh -L.
start_sshd
forward_as 2 "$socket"
page=http://localhost:$forward
like "$(<"$scratch/jobs.html")" "<a href=\"/jobs/$id\">$id</a>" "the page lists the jobs"
said=$(curl -sS -o /dev/null -w '%{http_code} %{redirect_url}' -H "Origin: $page" --data-urlencode 'job=name: pasted
script: "echo"' -d do=submit "$page/new")
like "$said" "^303 $page/jobs/pasted-" "a job file that is pasted becomes a job"
is "$(curl -sS "$page/dlspool/v1/jobs/pasted" | jq -r .owner)" user2 "of who has signed in by ssh"
like "$(curl -sS -H "Origin: $page" --data-urlencode 'job=name: x
taks: 1' -d do=check "$page/new")" 'role="alert">request:2:1: taks: unknown field; did you mean tasks\?' "a mistake is shown above the file"
like "$(curl -sS -H "Origin: $page" -d verb=kill -d "id=$id" "$page/jobs")" 'role="alert">'"$id has finished already" "what cannot be asked is said"
is "$(curl -sS -o /dev/null -w '%{http_code}' -d verb=kill -d "id=$id" "$page/jobs")" 403 "a form from nowhere is refused"
like "$(curl -sSi "$page/jobs" | tr -d '\r')" "^Content-Security-Policy: default-src 'none';" "a page loads nothing from elsewhere"

# Every path and status that openapi.yaml describes, through the same port.
said=$(curl -sS -X POST -H "Origin: $page" -H 'Content-Type: application/yaml' --data-binary $'name: mine\nscript: "echo"\nhold: true\n' "$page/dlspool/v1/jobs")
mine=$(jq -r .id <<<"$said")
wait_for 20 in_state mine held
mkdir -p "$(job_dir one)/output" "$(job_dir mine)/output" && echo hello >"$(job_dir mine)/output/main-0.log"
chown -R 5002 "$(job_dir mine)/output"
install -m 600 /dev/null "$(job_dir mine)/output/secret.log"
chmod 700 "$(job_dir one)/output"
cat >"$scratch/table" <<TABLE
200 GET /openapi.yaml
200 GET /jobs
200 GET /jobs query=limit=1&mine=true
200 GET /jobs query=q=MINE
200 GET /jobs query=archived=true
304 GET /jobs query=q=nothing-has-this header=If-None-Match:*
400 GET /jobs query=since=tomorrow-ish
421 GET /jobs header=Host:evil.example
200 POST /jobs query=check=1 type=application/yaml body=script:%20echo
201 POST /jobs type=application/json body={"name":"json","script":"echo"}
200 POST /jobs type=application/json header=Idempotency-Key:sent body={"name":"sent","script":"echo"}
422 POST /jobs type=application/json header=Idempotency-Key:sent body={"name":"other","script":"echo"}
400 POST /jobs type=application/yaml body=scirpt:%20echo
403 POST /jobs header=Origin:http://evil.example type=application/yaml body=script:%20echo
413 POST /jobs type=application/yaml body=large
415 POST /jobs type=text/html body=x
200 GET /jobs/{id} id=$mine
404 GET /jobs/{id} id=nothing
405 PUT /jobs/{id} id=$mine
200 GET /jobs/{id}/log id=$mine
404 GET /jobs/{id}/log id=nothing
200 GET /jobs/{id}/why id=$mine
404 GET /jobs/{id}/why id=nothing
200 GET /jobs/{id}/events id=pasted
400 GET /jobs/{id}/events id=pasted query=from=x
404 GET /jobs/{id}/events id=nothing
200 GET /jobs/{id}/request id=$mine
403 GET /jobs/{id}/request id=$id
404 GET /jobs/{id}/request id=nothing
200 GET /jobs/{id}/manifest id=$mine
403 GET /jobs/{id}/manifest id=$id
404 GET /jobs/{id}/manifest id=nothing
200 GET /jobs/{id}/output id=$mine
400 GET /jobs/{id}/output id=$mine query=attempt=x
403 GET /jobs/{id}/output id=$id
404 GET /jobs/{id}/output id=nothing
200 GET /jobs/{id}/output/{file} id=$mine file=main-0.log
200 GET /jobs/{id}/output/{file} id=$mine file=main-0.log query=from=2
400 GET /jobs/{id}/output/{file} id=$mine file=main-0.log query=from=x
403 GET /jobs/{id}/output/{file} id=$mine file=secret.log
404 GET /jobs/{id}/output/{file} id=$mine file=none
202 POST /jobs/{id}/hold id=$mine
202 POST /jobs/{id}/kill id=$mine
403 POST /jobs/{id}/kill id=offers
404 POST /jobs/{id}/kill id=nothing
409 POST /jobs/{id}/kill id=pasted
202 POST /jobs/{id}/retry id=faulty
403 POST /jobs/{id}/retry id=$id
404 POST /jobs/{id}/retry id=nothing
409 POST /jobs/{id}/retry id=pasted
403 POST /jobs/{id}/hold id=offers
404 POST /jobs/{id}/hold id=nothing
409 POST /jobs/{id}/hold id=pasted
202 POST /jobs/{id}/release id=$mine
403 POST /jobs/{id}/release id=offers
404 POST /jobs/{id}/release id=nothing
409 POST /jobs/{id}/release id=pasted
202 POST /jobs/{id}/priority id=ordered query=value=-3
400 POST /jobs/{id}/priority id=ordered query=value=a:b
403 POST /jobs/{id}/priority id=offers query=value=-3
404 POST /jobs/{id}/priority id=nothing query=value=-3
409 POST /jobs/{id}/priority id=pasted query=value=-3
409 POST /jobs/{id}/hold id=$mine query=keep_memory=true
200 GET /acct query=all=true
400 GET /acct query=starttime=tomorrow-ish
200 GET /report query=by=queues&all=true
400 GET /report
200 GET /nodes
200 GET /status
200 GET /plan query=revision=HEAD&within=5s
400 GET /plan
200 GET /limits
200 GET /share
200 GET /tokens
202 POST /tokens/{token}/revoke token=drives
404 POST /tokens/{token}/revoke token=nothing
202 POST /jobs/{id}/top id=ordered
403 POST /jobs/{id}/top id=offers
404 POST /jobs/{id}/top id=nothing
409 POST /jobs/{id}/top id=pasted
202 POST /jobs/{id}/approve id=wanted
403 POST /jobs/{id}/approve id=offers
404 POST /jobs/{id}/approve id=nothing
202 POST /jobs/{id}/refuse id=unwanted query=reason=no
400 POST /jobs/{id}/refuse id=unwanted
403 POST /jobs/{id}/refuse id=offers query=reason=no
404 POST /jobs/{id}/refuse id=nothing query=reason=no
! pkill -STOP -P $daemon
! mkdir $spool/incoming/page-once-$(printf '5002 taken' | sha256sum | cut -d' ' -f1).sh
409 POST /jobs type=application/json header=Idempotency-Key:taken body={"name":"taken","script":"echo"}
202 POST /jobs type=application/yaml body=script:%20echo
! mv $spool/capacity $scratch/capacity
404 GET /nodes
! mv $scratch/capacity $spool/capacity
! pkill -CONT -P $daemon
TABLE
printf 'name: faulty\nscirpt: x\n' >"$scratch/faulty.yaml" && chown 5002:5002 "$scratch/faulty.yaml" && mv "$scratch/faulty.yaml" "$spool/incoming/"
wait_for 20 in_state faulty failed
for name in wanted unwanted; do
    as 1 -H 'Content-Type: application/yaml' --data-binary $'name: '"$name"$'\nscript: "true"\nprivileged: [hostnet]\n' $api/jobs >"$scratch/$name"
    wait_for 20 in_state $name held
done
printf 'name: ordered\nscript: "true"\nhold: true\n' >"$scratch/ordered.yaml" && chown 5002:5002 "$scratch/ordered.yaml" && mv "$scratch/ordered.yaml" "$spool/incoming/"
wait_for 20 in_state ordered held
setpriv --reuid 5002 --regid 5002 --clear-groups "$DLSPOOL" -s "$spool" token --name drives >"$scratch/drives" 2>&1
curl -sS -o /dev/null -H "Origin: $page" -H 'Content-Type: application/json' -H 'Idempotency-Key: sent' --data-binary '{"name":"sent","script":"echo"}' "$page/dlspool/v1/jobs"
# A job is followed from its first event to its end: its log, and its output as it grows.
said=$(curl -sS -X POST -H "Origin: $page" -H 'Content-Type: application/yaml' --data-binary $'name: watched\nscript: "echo"\nhold: true\n' "$page/dlspool/v1/jobs")
wait_for 20 in_state watched held
curl -sSN --max-time 60 "$page/dlspool/v1/jobs/watched/events" >"$scratch/events" &
events=$!
must "what has happened is told" wait_for 20 grep -q '^data: {"id":"watched-.*"state":"held"}' "$scratch/events"
mkdir -p "$(job_dir watched)/output" && printf 'one\n' >"$(job_dir watched)/output/main-0.log" && chown -R 5002 "$(job_dir watched)/output"
ok "what its tasks print is told" wait_for 20 grep -qF 'data: {"file":"main-0.log","from":0,"text":"one\n"}' "$scratch/events"
printf 'caf\303' >>"$(job_dir watched)/output/main-0.log"
ok "and what they print on" wait_for 20 grep -qF '"from":4,"text":"caf"' "$scratch/events"
printf '\251\n' >>"$(job_dir watched)/output/main-0.log"
ok "in whole characters" wait_for 20 grep -qF '"from":7,"text":"é\n"' "$scratch/events"
curl -sS -o /dev/null -X POST -H "Origin: $page" "$page/dlspool/v1/jobs/watched/release"
ok "until it ends" wait_for 20 grep -q '^event: end' "$scratch/events"
wait $events
is "$?" 0 "then the reply ends"
is "$(grep -c '^event: log' "$scratch/events")" "$(wc -l <"$(job_dir watched)/log")" "each line of the log is an event"
like "$(<"$scratch/events")" '"state":"done"' "and the state in which it ended"
last=$(sed -n 's/^id: //p' "$scratch/events" | tail -n 1)
is "$(curl -sSN --max-time 20 -H "Last-Event-ID: $last" "$page/dlspool/v1/jobs/watched/events" | grep -c '^event: log')" 0 "who connects again is told the rest only"
is "$("$top/tests/web/drive" "$top/web/openapi.yaml" "$page" "$scratch/table" 2>&1)" "" "every path and status is as openapi.yaml says"
kill $ssh && wait $ssh 2>/dev/null
kill "$sshd"

# Names that look like markup stay names.
dir=$(job_dir one)
mkdir -p "$dir/output" && echo hello >"$dir/output/<script>x.log"
chown -R 5001 "$dir/output"
like "$(as 1 http://localhost/jobs/one)" '<h3>&lt;script&gt;x.log</h3>' "a file's name is text"
echo '6 1' >"$dir/output/.main-0.log.times" && chown 5001 "$dir/output/.main-0.log.times"
is "$(body "$(as 1 $api/jobs/one/output)" | jq -c '[.[].name]')" '["<script>x.log"]' "and notes of when it was printed are no output"

# A user stops pages of theirs, and sends them more than they take; each tells the porter before that it ends.
cat >"$scratch/stop-pages" <<'PERL'
use IO::Socket::UNIX;
my ($socket, $porter) = @ARGV;
$SIG{PIPE} = 'IGNORE';
END { print "$_\n" for keys %stopped }
for my $round (1 .. 4) {
    my ($page, $copy);
    for (1 .. 200) { # a connection may yet go to the page before
        IO::Socket::UNIX->new(Peer => $socket);
        ($page) = grep { !$stopped{$_} } split ' ', `pgrep -u $< -P $porter -f page`;
        last if $page;
        select undef, undef, undef, 0.05;
    }
    $page or die "round $round: no page\n";
    kill STOP => $page;
    $stopped{$page} = 1;
    IO::Socket::UNIX->new(Peer => $socket) for 1 .. 100;
    my $handle = syscall 434, int $page, 0; # pidfd_open
    $copy = syscall 438, $handle, 3, 0;     # pidfd_getfd
    $copy >= 0 or print("none\n"), last;
    syscall 1, $copy, my $end = "e", 1;
}
PERL
chmod 644 "$scratch/stop-pages"
wait_for 20 sh -c '! pgrep -P '$web
stopped=$(setpriv --reuid 5001 --regid 5001 --clear-groups perl "$scratch/stop-pages" "$socket" $web 2>&1)
is "$(status "$(as 2 $api/jobs/one)")" 200 "another user's page is served while one has stopped theirs, with connections that nobody takes"
too_many() { as 1 --max-time 2 $api/jobs | grep -q '^4 pages of yours do not end'; }
[[ $stopped == *none* ]] || ok "nobody gets more than four that do not end" wait_for 3 too_many
# shellcheck disable=SC2046 # words
kill -KILL $(grep -x '[0-9]*' <<<"$stopped")

# A page ends when nobody uses it, and comes back.
ok "pages end when they are not used" wait_for 20 sh -c '! pgrep -P '$web
is "$(status "$(as 1 $api/jobs/one)")" 200 "and start again"
kill $web && wait $web
is "$?" 0 "it ends when it is told to"
ok "and takes its socket with it" test ! -e "$socket"

# Root's terminal, where somebody has started it by hand, is no page's: not to read from, and not to type to.
socket=$scratch/terminal.sock
script -qfec "exec '$DLSPOOL' -s '$spool' web --socket '$socket' --idle 1m" "$scratch/terminal" </dev/null >/dev/null 2>&1 &
terminal=$!
wait_for 10 test -S "$socket"
porter=$(pgrep -f "web --socket $socket")
as 1 $api/jobs/one >/dev/null
page=$(pgrep -u 5001 -P "$porter")
is "$(readlink /proc/"$porter"/fd/2 | cut -d/ -f1-3)" /dev/pts "the porter says what it does on the terminal"
is "$(readlink /proc/"$page"/fd/{0,1,2} | sort -u)" /dev/null "a page has nothing of it open"
is "$(cut -d' ' -f7 "/proc/$page/stat")" 0 "and is in no session of it"
kill "$porter" && wait $terminal
is "$(sed -e '/a connection was refused/d' -e '/ warnings were left out/d' -e '/a page has ended with signal 9/d' "$scratch/web.err")" "" "it had nothing else to say"
done_testing
