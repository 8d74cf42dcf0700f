#!/usr/bin/env bash
# dlspool web over a network and behind a proxy: a token, or the proxy's word, says who asks, and nothing else does.
#
# Seen to fail with: tests/mutants/door-*.patch.
. "$(dirname "$0")/lib.bash"
. "$(dirname "$0")/web.bash"
own_spool "$@"
port=$(free_port)
sed -i '/^web:/,/^$/d' "$spool/dlspool.yaml"
cat >>"$spool/dlspool.yaml" <<SETTINGS
web:
  socket: $scratch/w.sock
  listen: 127.0.0.1:$port
  hosts: [jobs.example.org]
  proxies: [user2]
SETTINGS
start_daemon
"$DLSPOOL" -s "$spool" web >"$scratch/web.out" 2>"$scratch/web.err" &
web=$!
must "it says where it serves those who have a token" wait_for 10 grep -q "serving at http://127.0.0.1:$port/ those who have a token" "$scratch/web.out"
base=http://127.0.0.1:$port
api=$base/dlspool/v1

as() {
    local user=$1
    shift
    setpriv --reuid "500$user" --regid "500$user" --clear-groups env DLSPOOL_DIR="$spool" HOME="$scratch/home$user" "$@"
}
net() { curl -sS --max-time 20 -w '\n%{http_code}\n' "$@" 2>&1; }
status() { tail -n 1 <<<"$1"; }
body() { sed '$d' <<<"$1"; }
bearer() { echo "Authorization: Bearer $1"; }

# A token is made by its user, and only its SHA-256 is kept.
token=$(as 1 "$DLSPOOL" token --name laptop 2>"$scratch/said")
like "$token" '^dlspool_[0-9a-f]{64}$' "a token is printed"
like "$(<"$scratch/said")" 'it counts until .* for all that you may do; keep it, as it is shown only once' "and what it is for"
hash=$(printf %s "$token" | sha256sum | cut -d' ' -f1)
is "$(stat -c '%u %a' "$spool/tokens/$hash")" "5001 644" "its file is the user's own"
is "$(grep -rl "$token" "$spool")" "" "the token is nowhere in the spool"
like "$(as 1 "$DLSPOOL" token --list)" "^${hash:0:8}  all .* laptop$" "its owner lists it"
is "$(as 2 "$DLSPOOL" token --list)" "" "nobody else"
said=$(as 2 "$DLSPOOL" token --revoke laptop 2>&1)
like "$said" 'laptop: you have no such token' "nor revokes it"
printf 'revoke: %s\n' "$hash" >"$scratch/revoke.yaml" && chown 5002 "$scratch/revoke.yaml" && mv "$scratch/revoke.yaml" "$spool/incoming/"
ok "not by a file either" wait_for 20 sh -c "grep -qs \"the token is another user's\" $spool/failed/revoke-*/why"
printf 'token: %s all %s\n' "$hash" "$(date -u -d '+1 hour' +%FT%T.000Z)" >"$scratch/steal.yaml" && chown 5002 "$scratch/steal.yaml" && mv "$scratch/steal.yaml" "$spool/incoming/"
ok "a token that is there is not replaced" wait_for 20 sh -c "grep -qs 'there is one of this SHA-256 already' $spool/failed/steal-*/why"
like "$(as 1 "$DLSPOOL" token --for 400d 2>&1)" 'tokens count for 30 d at most here \(web.token_longest\)' "a token of more time than the site lets"
like "$(as 1 "$DLSPOOL" token --scope root 2>&1)" 'found "root", expected read, submit or all' "a scope that is none"

# Over the network a token says who it is.
said=$(net -H "$(bearer "$token")" -H 'Content-Type: application/yaml' --data-binary $'name: far\nscript: "echo"\n' "$api/jobs")
is "$(status "$said")" 201 "a job is submitted with it"
is "$(body "$said" | jq -r .owner)" user1 "by the user whose token it is"
wait_for 20 in_state far "done"
for wrong in '' 'Authorization: Basic dXNlcjE6eA==' "$(bearer "${token}0")" "$(bearer dlspool_0)" "Authorization: Bearer $token $token" 'X-Remote-User: user1' "$(bearer "$hash")"; do
    said=$(net -H "$wrong" "$api/jobs")
    is "$(status "$said")" 401 "not with \"${wrong:0:30}\""
done
like "$(net -i -H "$(bearer dlspool_0)" "$api/jobs")" 'nobody has made this token, or it was revoked' "and hears why"
is "$(status "$(net -H "$(bearer "$token")" -H 'Host: evil.example' "$api/jobs")")" 421 "the name of another host is refused with a token, too"
is "$(status "$(net -H "$(bearer "$token")" -H 'Host: jobs.example.org' "$api/jobs")")" 200 "web.hosts has more names"
is "$(body "$(net "$base/healthz")")" ok "whether it serves needs no user"

# One request a connection: what follows is of nobody.
requests() { printf '%s' "$1" | timeout 10 bash -c "exec 3<>/dev/tcp/127.0.0.1/$port; cat >&3; cat <&3"; }
line=$'GET /dlspool/v1/jobs?limit=1 HTTP/1.1\r\nHost: localhost\r\n'
said=$(requests "$line$(bearer "$token")"$'\r\n\r\n'"$line"$'\r\n')
is "$(grep -c '^HTTP/1.1 200' <<<"$said")" 1 "a second request on the connection is not answered"
for head in "$line$(bearer "$token")"$'\r\n'"$(bearer "$token")"$'\r\n\r\n' "$line$(bearer "$token")"$'\n\n' \
    "$line"$'Authorization : Bearer x\r\n\r\n' "$line"$' Authorization: Bearer x\r\n\r\n' \
    "$line"$'Content-Length: 1\r\nContent-Length: 2\r\n\r\n' "$line"$'Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n' \
    "$line$(printf 'X: %020000d' 1)"$'\r\n\r\n'; do
    like "$(requests "$head")" '^HTTP/1.1 400' "a head that two readers might take differently"
done

# Scopes.
for scope in read submit; do
    as 1 "$DLSPOOL" token --scope $scope --name $scope >"$scratch/$scope" 2>/dev/null
done
submit() { status "$(net -H "$(bearer "$(<"$scratch/$1")")" -H 'Content-Type: application/yaml' --data-binary $'name: '"$1"$'\nscript: "echo"\nhold: true\n' "$api/jobs")"; }
is "$(status "$(net -H "$(bearer "$(<"$scratch/read")")" "$api/jobs")")" 200 "a token for reading reads"
is "$(submit read)" 403 "and submits nothing"
is "$(submit submit)" 201 "one for submitting does"
said=$(net -X POST -H "$(bearer "$(<"$scratch/submit")")" "$api/jobs/submit/kill")
is "$(status "$said")" 403 "but kills nothing"
like "$said" 'this token is for reading and submitting; that takes one of scope all' "and hears why"

# Its owner may write to the file, where it was open: to the effect of making another, and no more.
printf 'token: %s all 2999-01-01T00:00:00.000Z\n' "$(printf %s "$(<"$scratch/read")" | sha256sum | cut -d' ' -f1)" >"$scratch/longer"
file=$spool/tokens/$(printf %s "$(<"$scratch/read")" | sha256sum | cut -d' ' -f1)
cat "$scratch/longer" >"$file"
made=$(as 1 "$DLSPOOL" token --list --json | jq -r '.[] | select(.name == null) | .expires')
ok "no token counts for longer than the site lets it" test "$(date -d "$made" +%s)" -le "$(date -d '+30 days +1 minute' +%s)"
chmod 666 "$file"
is "$(status "$(net -H "$(bearer "$(<"$scratch/read")")" "$api/jobs")")" 401 "a token to whose file others may write is none"

# Expired, and revoked.
short=$(as 1 "$DLSPOOL" token --for 1s 2>/dev/null)
expired() { net -H "$(bearer "$short")" "$api/jobs" | grep -q 'this token has expired; dlspool token makes another'; }
ok "a token expires" wait_for 20 expired
net -H "$(bearer "$token")" -H 'Content-Type: application/yaml' --data-binary $'name: waits\nhold: true\nscript: "echo"\n' "$api/jobs" >"$scratch/said"
curl -sN --max-time 120 -H "$(bearer "$token")" "$api/jobs/waits/events" >"$scratch/stream" &
stream=$!
must "who has a token follows a job" wait_for 20 grep -q '"state":"held"' "$scratch/stream"
is "$(as 1 "$DLSPOOL" token --revoke "${hash:0:8}")" "asked to revoke ${hash:0:8}" "its owner revokes a token"
ok "it is gone" wait_for 20 test ! -e "$spool/tokens/$hash"
is "$(status "$(net -H "$(bearer "$token")" "$api/jobs")")" 401 "and counts no more"
gone() { ! kill -0 "$stream" 2>/dev/null; }
ok "nor for what is open" wait_for 20 gone
unlike "$(<"$scratch/stream")" 'event: end' "which has not come to its end"

# A browser signs in by a form, and sends a cookie then.
token=$(as 1 "$DLSPOOL" token 2>/dev/null)
like "$(net -H 'Accept: text/html' "$base/jobs")" '<form method="post" action="/sign-in">' "a page that needs a user asks for a token"
said=$(net -i -H "Origin: $base" -d "token=$token" "$base/sign-in" | tr -d '\r')
like "$said" "^Set-Cookie: dlspool=$token; Path=/; HttpOnly; SameSite=Strict$" "a token makes a cookie that scripts and other sites cannot use"
is "$(status "$(net -b "dlspool=$token" "$base/jobs")")" 200 "which shows the page"
is "$(status "$(net -H 'Origin: null' -H 'Sec-Fetch-Site: same-origin' -d "token=$token" "$base/sign-in")")" 303 "also where the browser hides the origin"
is "$(status "$(net -H 'Origin: null' -H 'Sec-Fetch-Site: cross-site' -d "token=$token" "$base/sign-in")")" 403 "a page of another site signs nobody in"
is "$(status "$(net -d "token=$token" "$base/sign-in")")" 403 "a form of another page signs nobody in"
like "$(net -i -X POST -H "Origin: $base" -b "dlspool=$token" "$base/sign-out" | tr -d '\r')" 'Set-Cookie: dlspool=; .*Max-Age=0' "signing out removes it"

# OpenPAI's clients sign in with a token as the password.
pai=$base/rest-server/api
is "$(body "$(net "$pai/v2/info")" | jq -r '.launcherType, .authnMethod')" $'k8s\nbasic' "before that they learn how"
is "$(body "$(net "$pai/v2/jobs")" | jq -r .code)" UnauthorizedUserError "without a token nothing else, in their words"
said=$(net "$pai/v1/token" -d "username=user1&password=$token&expiration=4000")
is "$(status "$said") $(body "$said" | jq -r '.user, .token' | xargs)" "200 user1 $token" "a token as the password, in a form"
said=$(net "$pai/v2/authn/basic/login" -H 'Content-Type: application/json' -d "{\"username\": \"user1\", \"password\": \"$token\"}")
is "$(status "$said") $(body "$said" | jq -r .token)" "200 $token" "or in JSON"
is "$(status "$(net -H "$(bearer "$token")" "$pai/v2/jobs")")" 200 "is what later requests send"
said=$(net "$pai/v1/token" -d "username=user2&password=$token")
is "$(status "$said") $(body "$said" | jq -r .code)" "400 NoUserError" "it is nobody else's"
said=$(net "$pai/v1/token" -d "username=user1&password=dlspool_$(printf '0%.0s' {1..64})")
is "$(status "$said") $(body "$said" | jq -r .code)" "401 UnauthorizedUserError" "a token that does not count is refused"
is "$(status "$(net "$pai/v1/token" -H "$(bearer "$token")" -d 'username=user1&password=secret1')")" 401 "a password that is none says nothing, whatever else does"

# A proxy, by its user at the socket, names the user; others who try are who they are.
proxied() { as "$1" curl -sS --max-time 20 --unix-socket "$scratch/w.sock" -w '\n%{http_code}\n' -H "X-Remote-User: $2" -H 'Host: jobs.example.org' "${@:3}" http://x/dlspool/v1/jobs 2>&1; }
said=$(proxied 2 user1 -H 'Content-Type: application/yaml' --data-binary $'name: proxied\nscript: "echo"\n')
is "$(status "$said")" 201 "a proxy submits for a user"
is "$(body "$said" | jq -r .owner)" user1 "as that user"
is "$(status "$(proxied 2 nosuchuser)")" 403 "not for a user who is not known"
is "$(status "$(proxied 2 root)")" 403 "nor for root"
is "$(status "$(proxied 2 user1 -H 'X-Remote-User: user2')")" 400 "nor for two"
is "$(status "$(as 2 curl -sS --unix-socket "$scratch/w.sock" -w '\n%{http_code}\n' http://localhost/dlspool/v1/jobs)")" 401 "without a name it is nobody"
is "$(status "$(as 2 curl -sS --unix-socket "$scratch/w.sock" -w '\n%{http_code}\n' -H "$(bearer "$token")" http://localhost/dlspool/v1/jobs)")" 200 "but passes tokens on"
is "$(body "$(proxied 1 user2 -H 'Content-Type: application/yaml' --data-binary $'name: own\nscript: "echo"\n')" | jq -r .owner)" user1 "who is no proxy is who the kernel says"
said=$(proxied 2 user1 -i -X POST -H 'X-Forwarded-Proto: https' -H 'Origin: https://jobs.example.org')
like "$(as 2 curl -sSi --unix-socket "$scratch/w.sock" -H 'X-Forwarded-Proto: https' -H 'Host: jobs.example.org' -H 'Origin: https://jobs.example.org' -d "token=$token" http://x/sign-in)" "Set-Cookie: __Host-dlspool=$token; .*; Secure" "behind TLS the cookie is for TLS only"

# Connections that say nothing keep nobody out, and end.
perl -MIO::Socket::INET -e 'my @open = map { IO::Socket::INET->new(PeerAddr => "127.0.0.1:'"$port"'") } 1 .. 100; print "open\n"; $| = 1; sleep 60' >"$scratch/slow" &
slow=$!
wait_for 20 grep -q open "$scratch/slow"
is "$(status "$(net -H "$(bearer "$token")" "$api/jobs")")" 200 "100 connections that say nothing keep nobody out"
ok "and at most 64 processes wait for them" test "$(pgrep -c -P $web -f -- --door)" -le 64
door_user=$(getent passwd dlspool-web nobody | head -n 1 | cut -d: -f1)
door=$(pgrep -o -P $web -f -- --door)
is "$(ps -o user:20= -p "$door")" "$door_user" "they are of a user who owns nothing"
like "$(setpriv --reuid "$door_user" --regid nogroup --clear-groups ls "/proc/$door/fd" 2>&1)" 'Permission denied' "of whom another process cannot look into them"
kill $slow
ok "no door stays" wait_for 20 sh -c '! pgrep -P '$web' -f -- --door'
kill $web && wait $web
is "$?" 0 "it ends when it is told to"
is "$(sed -e '/a connection was refused/d' -e '/ warnings were left out/d' "$scratch/web.err")" "" "it had nothing else to say"
# The socket that systemd holds.
if command -v systemd-socket-activate >/dev/null; then
    held=$scratch/held.sock port=$(free_port)
    systemd-socket-activate -l "$held" -l "127.0.0.1:$port" "$DLSPOOL" -s "$spool" web --socket "$scratch/unused.sock" \
        >"$scratch/held.out" 2>"$scratch/held.err" &
    web=$!
    wait_for 10 test -S "$held" && chmod 666 "$held"
    is "$(run_as 1 curl -sS --max-time 20 --unix-socket "$held" http://localhost/dlspool/v1/tokens -o /dev/null -w '%{http_code}')" 200 "the first connection to systemd's socket starts the porter"
    is "$(run_as 2 curl -sS --max-time 20 -o /dev/null -w '%{http_code}' --unix-socket "$held" http://localhost/dlspool/v1/jobs)" 401 "and who that is, here a proxy, says the kernel still"
    like "$(<"$scratch/held.out")" "^serving at $held;" "it says where it serves"
    ok "it makes no socket of its own" test ! -e "$scratch/unused.sock"
    is "$(curl -sS --max-time 20 -o /dev/null -w '%{http_code}' "http://127.0.0.1:$port/dlspool/v1/jobs")" 401 "at systemd's port a token is asked for"
    kill $web && wait $web
    ok "and the socket stays where systemd has put it" test -S "$held"
fi
done_testing
