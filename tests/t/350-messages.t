#!/usr/bin/env bash
# Owners are told of their jobs: by mail through a real server, also while that is away, slow, or the stage is killed between
# sending and noting; by a webhook; and not at all where nobody asks for it.
. "$(dirname "$0")/lib.bash"
command -v msmtp >/dev/null && /usr/bin/python3 -c 'import aiosmtpd' 2>/dev/null ||
    skip_all "msmtp and python3-aiosmtpd are not installed"
mails=$scratch/mail
server=
start_server() {
    rm -f "$mails/port"
    "$top/tests/mail/server" "$mails" ${port:+"$port"} >>"$scratch/server.log" 2>&1 &
    server=$!
}
listens() { wait_for 10 test -s "$mails/port"; }
stop_server() { [ -z "$server" ] || { kill "$server"; wait "$server"; }; server=; } 2>/dev/null
at_exit 'stop_server'
mkdir "$mails"
start_server
must "a mail server listens" listens
port=$(<"$mails/port")
cat >"$scratch/msmtprc" <<RC
defaults
auth off
tls off
account default
host 127.0.0.1
port $port
from dlspool@example.org
RC
chmod 600 "$scratch/msmtprc"

# job NAME [LINE]...: drop a job.
job() {
    local name=$1
    shift
    printf '%s\n' "name: $name" 'library: any' 'type: single' 'script: "#!/bin/sh"' "$@" ... | drop "$name.yaml"
}
is_done() { in_state "$1" "done"; }
# mails_of NAME [EVENT]: the files of mails about that job.
mails_of() { grep -ls "^X-Dlspool-Job: $1-" "$mails"/mails/* | xargs -r grep -l "^X-Dlspool-Event: ${2:-}"; }
count_of() { mails_of "$@" | wc -l; }
has_mails() { [ "$(count_of "$2" "${3:-}")" = "$1" ]; }

new_spool null || exit 1
start_daemon
stages() { pgrep -P "$daemon" -x "$1"; }
job silent 'notify: end'
must "a job goes through a spool that sends no messages" wait_for 10 is_done silent
like "$(cat "$(job_dir silent)/log")" 'note field=notify text="no effect: this site sends no messages' "its owner is told so"
printf 'name: silent\nscript: x\nnotify: end\n' >"$scratch/silent.yaml"
like "$(dlspool submit --dry-run "$scratch/silent.yaml" 2>&1)" '^note: notify: no effect: this site sends no messages' "as one is who asks before"
is "$(stages notify)$(ls -d "$spool/messages" 2>/dev/null)$(grep -F "[notify]" "$scratch/daemon.log")" "" "there is neither process nor directory for it"

set_setting command "[$(command -v msmtp), -C, $scratch/msmtprc, -t]" domain example.org retry 100ms
must "a process that tells owners is started" wait_for 10 stages notify
job plain
job first 'notify: {events: [begin, end], mail: bob@example.net}'
must "a job is done" wait_for 10 is_done first
must "and its owner has two mails" wait_for 10 has_mails 2 first
owner=$(id -un)
mail=$(cat "$(mails_of first end)")
like "$mail" "^X-Rcpt: $owner@example.org$" "they went to the owner's own address"
like "$(cat "$(job_dir first)/log")" "note field=notify.mail text=.no effect: messages go to $owner@example.org" "and to no other, which is noted"
like "$mail" '^Subject: \[dlspool\] first \(first-.*\) ended: succeeded$' "the subject says what has become of it"
like "$mail" "^    dlspool -s $spool show first-" "and the text how to see more"
gone() { ! ls "$spool/messages" | grep -qv '^refused-'; } # which may be tried again
ok "of a job that is done nothing stays in messages/" wait_for 10 gone
is "$(count_of plain)" 0 "of a job that does not ask for it there is no mail"


printf '%s\n' 'name: sweep' 'library: any' 'type: array' 'script: "#!/bin/sh"' 'array: 0-4' 'notify: all' ... | drop sweep.yaml
ok "of an array there is one mail for each event" wait_for 10 has_mails 2 sweep

job refused 'image: some/image' 'notify: [fail, end]'
ok "a refusal is told, once" wait_for 10 has_mails 1 refused
like "$(cat "$(mails_of refused fail)")" '^Subject: \[dlspool\] refused .* failed: image "some/image" may not be asked for' "with its reason"

printf 'name: crafty\nscript: x\nnotify: {events: end, mail: "a@b.org\\nBcc: c@d.org"}\n...\n' | drop crafty.yaml
ok "an address with a line end is refused" wait_for 10 has_ended crafty
like "$(head -n 1 "$(job_dir crafty)/why")" 'crafty.yaml:3:29: notify.mail: found .* expected an address such as' "with file, line and field"

# Away: jobs go on.
stop_server
for i in 1 2 3; do job "away$i" 'notify: [begin, end]'; done
for i in 1 2 3; do ok "without a mail server a job is done ($i)" wait_for 10 is_done "away$i"; done
ok "the log says that nothing could be sent" wait_for 10 grep -q 'notify.*could not be sent: msmtp: .*tried again' "$scratch/daemon.log"
is "$(ls "$spool/messages" | grep -c '^away')" 3 "what is to be told is kept"
start_server
must "the mail server comes back" listens
for i in 1 2 3; do ok "and all is told ($i)" wait_for 20 has_mails 2 "away$i"; done
ok "and noted" wait_for 10 grep -q 'notify.*messages are sent again' "$scratch/daemon.log"

# Slow, and then killed between sending and noting.
touch "$mails/hold"
job slow 'notify: end'
ok "a mail is at a server that does not answer" wait_for 10 has_mails 1 slow
job beside
ok "meanwhile jobs are done" wait_for 10 is_done beside
before=$(stages notify)
kill -9 "$before"
another() { [ -n "$(stages notify)" ] && [ "$(stages notify)" != "$before" ]; }
ok "the stage is killed before it knows, and started again" wait_for 10 another
rm "$mails/hold"
ok "it sends the mail once more" wait_for 10 has_mails 2 slow
is "$(grep -h '^Message-ID:' $(mails_of slow) | sort -u | wc -l)" 1 "under the same Message-ID"
ok "all is told" wait_for 10 gone

stop_daemon
: >"$scratch/daemon.log"
start_daemon
job last 'notify: end'
ok "after a restart owners are told" wait_for 10 has_mails 1 last
for name in first:2 sweep:2 refused:1 away1:2 slow:2; do
    is "$(count_of "${name%:*}")" "${name#*:}" "and of ${name%:*} nothing again"
done

set_setting command '[]' webhook "http://127.0.0.1:$(<"$mails/web-port")/hook"
ok "the settings change to a webhook" wait_for 10 grep -q 'dlspool.yaml has changed and is good' "$scratch/daemon.log"
job hooked 'notify: end'
posted() { grep -qs '"event":"end".*"name":"hooked"' "$mails"/posts/*; }
ok "a message is posted as JSON" wait_for 10 posted
like "$(cat "$mails"/posts/*)" '^Idempotency-Key: hooked-.*\.end\.1\.0$' "with a key by which it is known again"
is "$(count_of hooked)" 0 "and not mailed"
unlike "$(cat "$scratch/daemon.log")" 'warning' "nothing is wrong"
done_testing
