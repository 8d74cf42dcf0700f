#!/usr/bin/env bash
# dlspool web under attack: what OnDemand's security log tells of, requests that end in two places, slow and huge ones,
# thousands of connections, and a page that somebody has taken over.
#
# Seen to fail with: tests/mutants/web-overlooks-late-headers.patch, tests/mutants/framing-*.patch.
. "$(dirname "$0")/lib.bash"
. "$(dirname "$0")/web.bash"
own_spool "$@"
approvers_are '[user2]' '{"true": {host_network: true}}'
start_daemon
SECRET_OF_ROOT=hidden start_web --idle 60s

# as N PATH CURL-OPTION...: a request of that user.  $status and $body are of the reply.
as() { request "$@"; }
# raw N BYTES: sends them as they are, as of printf; $codes are the statuses of the replies, and whether the server hung up.
raw() {
    codes=$(run_as "$1" perl -MIO::Socket::UNIX -e '
        my $s = IO::Socket::UNIX->new(Peer => $ARGV[0]) or die "no connection\n";
        $SIG{PIPE} = "IGNORE"; binmode STDIN; local $/; print $s scalar <STDIN>; $s->flush;
        my ($all, $hung) = ("", "open"); local $SIG{ALRM} = sub { die "time\n" }; alarm 2;
        eval { while (1) { my $n = sysread $s, my $part, 65536; $hung = "closed", last unless $n; $all .= $part; alarm 1 if $all } };
        print join " ", (map { substr $_, 0, 3 } grep { length } $all =~ m{(?:^|\n|\})HTTP/1.1 (\d+)}g), $hung' "$socket" 2>&1)
}
send() { raw 1 < <(printf "$1"); }

# ---- a connection that says nothing, until it is closed: 30 s, looked at last ----
run_as 1 perl -MIO::Socket::UNIX -e 'my $s = IO::Socket::UNIX->new(Peer => $ARGV[0]); print $s "GET /jobs HTTP/1.1\r\nHost:"; $s->flush; exit !(sysread($s, my $x, 1) == 0)' "$socket" &
slow=$!

# ---- markup in every field of a job, file names, output, errors and addresses ----
mark='<img src=x onerror=zzz><script>zzz</script>"'"'zzz"
jq -n --arg mark "$mark" '{jobName: $mark, userName: "user1", cmd: $mark, image: "x/y:1", vcName: $mark, isPrivileged: true,
    envs: [{name: "A", value: $mark}], logDir: $mark}' >"$scratch/marked.json"
as 1 /dlws/PostJob -H 'Content-Type: application/json' --data-binary @"$scratch/marked.json"
[ "$status" = 200 ] || echo "# $body"
is "$status" 200 "a job whose fields are markup is taken"
id=$(jq -r .jobId <<<"$body")
wait_for 20 test -d "$spool/held/$id"
mkdir -p "$spool/held/$id/output" && printf '%s\n' "$mark" >"$spool/held/$id/output/${mark//\//|}.log"
chown -R 5001 "$spool/held/$id/output"
printf '%s\n' "$mark" >"$spool/held/$id/why"
marked() { is "$("$top/tests/web/markup" zzz <<<"$body" 2>&1)" "" "$1"; }
as 1 /jobs
marked "the list has it as text"
as 1 "/jobs/$id"
marked "its page has it as text: fields, why, names of files, output"
as 2 "/jobs/$id"
marked "for another user, too"
as 2 /approvals
marked "so do approvals"
encoded=$(jq -rn --arg mark "$mark" '$mark | @uri')
for field in owner name state since queue after limit; do
    as 1 "/jobs?$field=$encoded"
    if [[ $body == *zzz* ]]; then marked "what the address says of $field is text"; fi
done
as 1 /new -H 'Origin: http://localhost' --data-urlencode "job=name: $mark" -d do=check
marked "an error and the job file above it are text"
as 1 "/jobs/${encoded//%2F/|}"
marked "a job's name that is not there is text"
as 1 "/$encoded"
like "$status $(jq -r .status <<<"$body")" "^404 404$" "an address that is not there is JSON"
as 1 "/dlspool/v1/jobs/$id/output" -I
for header in "X-Content-Type-Options: nosniff" "Content-Security-Policy: default-src 'none'" "Content-Type: application/json"; do
    like "$(tr -d '\r' <<<"$body")" "$header" "replies say $header"
done
name=$(jq -rn --arg name "${mark//\//|}.log" '$name | @uri')
like "$(run_as 1 curl -sSi --unix-socket "$socket" "http://localhost/dlspool/v1/jobs/$id/output/$name" | tr -d '\r')" "Content-Type: text/plain" "output is never HTML"

# ---- foreign files through links in output/, and directories put in its place ----
install -o 5002 -m 600 <(echo "secret of user2") "$scratch/secret"
out=$spool/held/$id/output
ln -s "$scratch/secret" "$out/link.log" && ln -s "$spool/dlspool.yaml" "$out/own.log" && mkfifo "$out/pipe.log" && mkdir "$out/directory.log"
for file in link own pipe directory; do
    as 1 "/dlspool/v1/jobs/$id/output/$file.log"
    like "$status" '^(404|409|403)$' "a $file in output/ is not shown"
done
mv "$out" "$out.aside" && ln -s /etc "$out"
as 1 "/dlspool/v1/jobs/$id/output/passwd"
like "$status" '^(404|409|403)$' "nor what a link in the place of output/ leads to"
rm "$out" && mv "$out.aside" "$out"

# ---- requests that end in two places ----
second='GET /dlspool/v1/jobs HTTP/1.1\r\nHost: localhost\r\n\r\n'
post='POST /jobs HTTP/1.1\r\nHost: localhost\r\n'
while IFS='|' read -r what bytes; do
    send "$bytes"
    is "$codes" "400 closed" "refused: $what"
done <<TABLE
a length and chunks|${post}Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n$second
chunks and a length|${post}Transfer-Encoding: chunked\r\nContent-Length: 0\r\n\r\n0\r\n\r\n$second
two lengths|${post}Content-Length: 0\r\nContent-Length: 52\r\n\r\n$second
a coding that is not chunked|${post}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n$second
a list of codings|${post}Transfer-Encoding: identity, chunked\r\n\r\n0\r\n\r\n$second
a blank before the colon|${post}Transfer-Encoding : chunked\r\nContent-Length: 57\r\n\r\n0\r\n\r\n$second
two hosts|GET /jobs HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n
a negative chunk|${post}Transfer-Encoding: chunked\r\n\r\n-1\r\n$second
TABLE
for length in '0, 52' +5 -1 0x2; do
    send "${post}Content-Length: $length\r\n\r\n$second"
    like "$codes" '^400 .*closed$' "refused: a length of $length"
done
send "$second$second"
is "$codes" "200 200 open" "two requests, one after the other, are two"

# ---- huge heads, and what stands behind many headers ----
raw 1 < <(printf 'GET /jobs HTTP/1.1\r\nHost: localhost\r\nX: %060000d\r\n\r\n' 0)
like "$codes" '^431 ' "a header of 60 kB"
raw 1 < <(printf 'POST /jobs HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n'; for i in {1..150}; do printf 'X%d: 1\r\n' "$i"; done; printf 'Origin: http://evil.example\r\n\r\n')
is "$codes" "431 closed" "no Origin hides behind 150 headers"

# ---- other sites, and names that somebody else has made ----
for host in evil.example localhost.evil.example 127.0.0.1.evil.example localhost:x 'localhost@evil.example'; do
    as 1 /dlspool/v1/jobs -H "Host: $host"
    is "$status" 421 "the host $host is not ours"
done
for origin in http://evil.example null http://localhost.evil.example http://localhost:81 file://; do
    as 1 "/dlspool/v1/jobs/$id/release" -X POST -H "Origin: $origin"
    is "$status" 403 "a page of $origin asks for nothing"
done
as 1 "/dlspool/v1/jobs/$id/release" -X POST -H 'Sec-Fetch-Site: same-site'
is "$status" 403 "nor one of the same site under another name"
unlike "$(run_as 1 curl -sSi --unix-socket "$socket" -H 'Origin: http://evil.example' http://localhost/dlspool/v1/jobs)" 'Access-Control-Allow' "no other site may read a reply"

# ---- secrets ----
as 1 /rest-server/api/v1/token -d 'username=user1&password=hunter2zzz'
as 1 '/dlspool/v1/jobs?password=hunter2zzz' -H 'Authorization: Bearer hunter2zzz'
is "$(grep -rl hunter2zzz "$scratch/web.out" "$scratch/web.err" "$scratch/daemon.log" "$spool" 2>/dev/null)" "" "no password gets into a log"
page=$(pgrep -u 5001 -P $web | head -1)
is "$(tr '\0' '\n' <"/proc/$page/environ" | cut -d= -f1 | sort | xargs)" "$(echo PATH ${TZ:+TZ})" "a page has nothing of root's environment"

# ---- thousands of connections of one user ----
run_as 1 perl -MIO::Socket::UNIX -e '$SIG{PIPE} = "IGNORE"; my @s; for (1 .. 3000) { my $s = IO::Socket::UNIX->new(Peer => $ARGV[0], Timeout => 1) or last; push @s, $s if @s < 900 } print "held\n"; close STDOUT; <STDIN>' "$socket" \
    >"$scratch/held" < <(wait_for 60 test -e "$scratch/done") &
wait_for 30 grep -q held "$scratch/held"
served() { as "${1-1}" /dlspool/v1/jobs; [ "$status" = 200 ]; }
ok "another user is served beside them" wait_for 10 served 2
touch "$scratch/done"
ok "and they themselves when they have gone" wait_for 60 served
ok "the log has few lines of it" test "$(wc -l <"$scratch/web.err")" -lt 40

# ---- a page that somebody has taken over makes system calls of its own (x86-64) ----
as 2 /dlspool/v1/jobs -H 'Content-Type: application/yaml' --data-binary $'name: theirs\nscript: "echo secret"\nhold: true\n'
wait_for 20 in_state theirs held
theirs=$(job_dir theirs)
install -o 5001 -m 600 <(echo own) "$scratch/home1/own"
install -o 5002 -g 5002 -m 600 <(echo secret) "$spool/incoming/.theirs"
# inside CALL ARGUMENT...: what becomes of it in a page of user1.
inside() {
    served
    "$top/tests/inside" "$(pgrep -u 5001 -P $web | head -1)" "$@" 2>&1
}
if [ "$(uname -m)" = x86_64 ] && [ "$(inside 39)" = "$(pgrep -u 5001 -P $web | head -1)" ]; then
    open=257
    no='^(EACCES|EPERM|ENOSYS|killed|ENOENT)$'
    like "$(inside $open -100 "$(job_dir theirs)/job.yaml" 0)" '^[0-9]+$' "it reads what its user may read"
    like "$(inside $open -100 "$spool/incoming/.mine" 193 420)" '^[0-9]+$' "it drops files"
    is "$(stat -c %u "$spool/incoming/.mine")" 5001 "of its user"
    like "$(inside $open -100 "$theirs/request.yaml" 0)" "$no" "another's job file it does not read"
    like "$(inside $open -100 "$spool/incoming/.theirs" 0)" "$no" "nor what they have dropped"
    like "$(inside 87 "$spool/incoming/.theirs")" "$no" "which it does not remove"
    like "$(inside $open -100 "$theirs/job.yaml" 1)" "$no" "it writes to no job"
    like "$(inside $open -100 "$spool/rendered/x" 193 420)" "$no" "and makes none past incoming/"
    like "$(inside $open -100 "$scratch/home1/x" 193 420)" "$no" "it writes nothing of its user's own elsewhere"
    like "$(inside $open -100 "$scratch/home1/own" 0)" "$no" "nor reads that"
    like "$(inside $open -100 /etc/shadow 0)" "$no" "it reads no passwords"
    like "$(inside 105 0)" "$no" "it does not become root"
    like "$(inside 105 5002)" "$no" "nor another user"
    like "$(inside 59 /bin/true 0 0)" "$no" "it executes nothing"
    like "$(inside 62 $web 9)" "$no" "it does not end the porter"
    like "$(inside 62 "$(pgrep -u 5002 -P $web | head -1)" 9)" "$no|ESRCH" "nor another's page"
    like "$(inside 101 16 $web 0 0)" "$no" "nor looks into it"
    as 2 /dlspool/v1/jobs
    is "$status" 200 "others are served as before"
fi

# ---- the slow one ----
wait "$slow"
is "$?" 0 "a request that does not go on is ended"
kill $web && wait $web
is "$(grep -v -e 'a connection was refused' -e 'warnings were left out' -e 'a page has ended with signal' "$scratch/web.err")" "" "it had nothing else to say"
done_testing
