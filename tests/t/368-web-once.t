#!/usr/bin/env bash
# dlspool web: a job file that is sent again under its Idempotency-Key is one job, whoever was killed before the reply.
#
# Seen to fail with: tests/mutants/once-*.patch.
. "$(dirname "$0")/lib.bash"
. "$(dirname "$0")/web.bash"
own_spool "$@"
start_daemon
start_web --idle 60s
at_exit 'kill $web'

# post N KEY JOB-FILE: of user N.  $status and $body are of the reply.
post() {
    request "$1" /dlspool/v1/jobs -H "Idempotency-Key: $2" -H "Content-Type: ${4-application/yaml}" --data-binary "$3"
}
id() { jq -r .id <<<"$body"; }
count() { dlspool list --json | jq "[.[] | select(.name == \"$1\")] | length"; }

post 1 '"8e03978e-40d5"' $'name: once\nscript: "true"\n'
is "$status" 201 "a job file with a key becomes a job"
first=$(id)
post 1 8e03978e-40d5 $'name: once\nscript: "true"\n'
is "$status $(id)" "200 $first" "sent again it is that job, with or without quotes around the key"
post 1 8e03978e-40d5 $'name: other\nscript: "true"\n'
is "$status $(jq -r .title <<<"$body")" "422 Unprocessable Content" "another job file under the key is refused"
like "$body" "another job file was sent under this key less than a day ago" "and is told why"
post 1 8e03978e-40d5 '{"name": "once", "script": "true"}' application/json
is "$status" 422 "the same in other words is another"
post 2 8e03978e-40d5 $'name: once\nscript: "true"\n'
is "$status $(jq -r .owner <<<"$body")" "201 user2" "the key of another user is another key"
for key in 'two words' '""' "$(printf 'x%.0s' {1..256})"; do
    post 1 "$key" $'name: never\nscript: "true"\n'
    is "$status" 400 "no key: ${key:0:10}"
done
post 1 unnamed $'script: "true"\n'
like "$(id)" '^page-[0-9a-z]{13}$' "a job without a name has none of the key's"
is "$(count once)" 2 "each user has one job"

# Ten at once.
pids=()
for n in {1..10}; do
    run_as 1 curl -sS --max-time 30 --unix-socket "$socket" -w '%{http_code}\n' -H 'Idempotency-Key: ten' \
        -H 'Content-Type: application/yaml' --data-binary $'name: ten\nscript: "true"\n' http://localhost/dlspool/v1/jobs >"$scratch/at-once.$n" &
    pids+=($!)
done
wait "${pids[@]}"
is "$(cat "$scratch"/at-once.* | grep -c '^20[01]$') $(cat "$scratch"/at-once.* | grep '^{' | jq -r .id | sort -u | wc -l) $(count ten)" "10 1 1" "ten at once are one job"

# The reply is lost: the page is killed while the daemon stands still, and the daemon after it has taken the file.
pkill -STOP -P $daemon
post 1 lost $'name: lost\nscript: "true"\n'
is "$status" 202 "while nobody takes the file, it is in incoming/"
like "$body" '"source":"page-once-[0-9a-f]{64}.yaml"' "under a name that the key decides"
is "$(ls "$spool/incoming" | wc -l)" 1 "it is one file"
pkill -KILL -u 5001 -P $web
post 1 lost $'name: other\nscript: "true"\n'
is "$status" 422 "what waits under the key is known to the next page"
pkill -KILL -u 5001 -P $web
run_as 1 curl -sS --max-time 1 --unix-socket "$socket" -H 'Idempotency-Key: lost' -H 'Content-Type: application/yaml' \
    --data-binary $'name: lost\nscript: "true"\n' http://localhost/dlspool/v1/jobs >/dev/null 2>&1
is "$(ls "$spool/incoming" | wc -l)" 1 "sent again it is the same file"
pkill -CONT -P $daemon
pkill -KILL -P $daemon
ok "it becomes a job" wait_for 30 in_state lost "done"
post 1 lost $'name: lost\nscript: "true"\n'
is "$status $(id)" "200 $(basename "$(job_dir lost)")" "and is known as that"
is "$(count lost)" 1 "there is no other"

# What the page cannot see: the first is a claim, and is written down, and its job is not published yet.
uid=5001 key=$(printf '5001 claimed' | sha256sum | cut -d' ' -f1)
kill "$daemon" && wait "$daemon" 2>/dev/null
printf 'name: claimed\nscript: "true"\n...\n' >"$scratch/claimed"
install -o $uid -g $uid -m 644 "$scratch/claimed" "$spool/.claims/0123456789abc.page-once-$key.yaml"
printf 'claimed-0123456789abc %s\n' "$(sha256sum <"$scratch/claimed" | cut -d' ' -f1)" >"$spool/keys/$uid-$key"
install -o $uid -g $uid -m 644 "$scratch/claimed" "$spool/incoming/page-once-$key.yaml"
start_daemon
ok "the claim becomes a job" wait_for 20 test -d "$spool/done/$(date -u +%F)/claimed-0123456789abc"
ok "and what was sent again none" wait_for 20 sh -c "! ls $spool/incoming/* $spool/.claims/* 2>/dev/null"
is "$(count claimed)" 1 "there is one job"
rm -r "$spool/done/$(date -u +%F)/claimed-0123456789abc"
post 1 claimed "$(<"$scratch/claimed")"$'\n'
is "$status" 201 "when its job has been removed, it can be sent anew"

done_testing
