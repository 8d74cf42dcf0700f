#!/usr/bin/env bash
# In systemd's journal messages have the job, its owner and the stage as fields, also those of confined stages; where the
# journal cannot be reached they are lines of standard error, as before.  There is no systemd here: a socket stands in for its.
. "$(dirname "$0")/lib.bash"
[ "$(id -u)" = 0 ] && unshare --mount true 2>/dev/null || skip_all "it takes a mount namespace of its own"
new_spool null || exit 1
cat >"$scratch/journald" <<'PYTHON'
"""What journald receives, a JSON object for each datagram, by the format of the native protocol."""
import json, os, socket, struct, sys
server = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
server.bind("/run/systemd/journal/socket")
open(sys.argv[2], "w").write(str(os.getpid()))
with open(sys.argv[1], "a") as out:
    while True:
        data, fields = server.recv(1 << 20), {}
        while data:
            line, _, rest = data.partition(b"\n")
            name, equals, value = line.partition(b"=")
            if not equals:
                size = struct.unpack("<Q", rest[:8])[0]
                value, rest = rest[8:8 + size], rest[9 + size:]
            fields[name.decode()] = value.decode()
            data = rest
        out.write(json.dumps(fields) + "\n")
        out.flush()
PYTHON
cat >"$scratch/inside" <<'INSIDE'
mount -t tmpfs tmpfs /run && mkdir -p /run/systemd/journal || exit 1
/usr/bin/python3 "$1/journald" "$1/entries" "$1/journald.pid" &
until [ -s "$1/journald.pid" ]; do read -rt 0.05 <> <(:); done
exec 2>>"$1/stderr"
JOURNAL_STREAM=$(stat -L -c %d:%i /proc/self/fd/2) exec "$DLSPOOL" -s "$1/spool" run -v
INSIDE
export DLSPOOL
at_exit 'kill "$(<"$scratch/journald.pid")" 2>/dev/null'
start() { rm -f "$scratch/journald.pid"; unshare --mount bash "$scratch/inside" "$scratch" & daemon=$!; }
start
printf '#!/bin/sh\n#DL name=good\n#DL library=any\n#DL type=single\n#DL tasks.main={cpus: 1, memory: 64Mi}\ntrue\n' | drop good.sh
printf 'name: bad\nlibrary: any\ntype: nosuch\n' | drop bad.yaml
must "jobs come to an end" wait_for 10 has_ended good
must "and another" wait_for 10 has_ended bad
good=$(basename "$(job_dir good)")
bad=$(basename "$(job_dir bad)")
entries() { jq -c "select($1)" "$scratch/entries"; }
said() { [ -n "$(entries "$1")" ]; }
ok "a message has the job, its owner and the stage" wait_for 10 said \
    ".DLSPOOL_JOB == \"$good\" and .DLSPOOL_OWNER == \"$(id -un)\" and .DLSPOOL_STAGE == \"track\" and .PRIORITY == \"6\" and .SYSLOG_IDENTIFIER == \"dlspool\""
like "$(entries ".DLSPOOL_JOB == \"$good\" and .DLSPOOL_STAGE == \"track\"" | jq -r .MESSAGE)" "^dlspool\[track\]: $good: owner=.* state=done" "and is the line that it always was"
ok "so do those of a confined stage" wait_for 10 said ".DLSPOOL_JOB == \"$bad\" and .DLSPOOL_STAGE == \"intake\""
ok "details have another priority" said ".DLSPOOL_JOB == \"$good\" and .PRIORITY == \"7\""
is "$(entries '.DLSPOOL_JOB == null' | jq -r .MESSAGE | grep -cE '[a-z]-[0-9a-z]{13}:')" 0 "each message about a job has it"
is "$(cat "$scratch/stderr")" "" "and none is said twice"
stop_daemon
ok "what is of no job has none" said '.DLSPOOL_JOB == null and .DLSPOOL_STAGE == null and (.MESSAGE | test("stopping"))'

# The journal is gone: nothing is lost.
kill "$(<"$scratch/journald.pid")"
start
must "it listens again" wait_for 10 test -s "$scratch/journald.pid"
wait_for 10 pgrep -P "$daemon" track >/dev/null
kill "$(<"$scratch/journald.pid")"
printf 'name: worse\nlibrary: any\ntype: nosuch\n' | drop worse.yaml
must "a job ends" wait_for 10 has_ended worse
ok "without the journal it is a line with its level" wait_for 10 grep -q '^<6>dlspool\[intake\]: worse-.*state=failed' "$scratch/stderr"

done_testing
