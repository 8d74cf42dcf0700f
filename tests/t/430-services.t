#!/usr/bin/env bash
# Jobs that others connect to, on this machine: a server at its port, two that want the same one, and a
# notebook (a real Jupyter) with its token and its end.
. "$(dirname "$0")/lib.bash"
command -v podman >/dev/null || skip_all "podman is not installed"
command -v curl >/dev/null || skip_all "curl is not installed"
command -v jupyter-notebook >/dev/null || skip_all "jupyter-notebook is not installed"
new_spool local || exit 1
port_of() { sed -n '/^"\{0,1\}listen/,/^"\{0,1\}[a-z]*"\{0,1\}: *[^-]/s/^ *- *//p' "$(job_dir "$1")/manifest.yaml" | head -n 1; }
said() { cat "$(job_dir "$1")/output/$2.log" 2>/dev/null; }
answers() { curl -sf -m 5 "http://127.0.0.1:$1/$2"; }

cat >"$scratch/server.yaml" <<'JOB'
name: server
library: any
type: serving
script: |
  #!/bin/sh
  cd /tmp && echo "from the job" >answer && exec python3 -m http.server "$PORT"
...
JOB

start_daemon
cp "$scratch/server.yaml" "$spool/incoming/"
must "the server runs" wait_for 60 in_state server submitted
port=$(port_of server)
like "$port" '^[0-9]+$' "its port stands in the manifest"
must "it answers there" wait_for 60 answers "$port" answer
is "$(answers "$port" answer)" "from the job" "with what it has"
has_said() { said server main-0 | grep -q "dlspool: to be reached at port $port of $(hostname)"; }
ok "the output says where it is" wait_for 20 has_said
like "$(dlspool show server)" "address +$(hostname):$port"$'\n' "show says where it is, too"
ok "kill" dlspool kill server
ok "it ends" wait_for 30 in_state server failed
silent() { ! answers "$port" answer; }
ok "and answers no more" wait_for 10 silent

# Somebody else takes its port; it is tried again.
python3 -c '
import socket, sys, time
with socket.socket() as taker:
    taker.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    taker.bind(("", int(sys.argv[1])))
    taker.listen()
    print("taken", flush=True)
    time.sleep(600)' "$port" >"$scratch/taker" &
taker=$!
wait_for 10 grep -q taken "$scratch/taker"
ok "retry" dlspool retry server
refused() { in_state server rendered && grep -q "^Waiting for resources: .*port $port" "$(job_dir server)/why"; }
ok "while somebody else has its port it waits, and why names the port" wait_for 30 refused
kill $taker; wait $taker 2>/dev/null
ok "when the port is free, it answers again" wait_for 60 answers "$port" answer
ok "kill" dlspool kill server

# A notebook: real, with a token of its own.  Jupyter does not like to run as root.
as_nobody() { [ "$(id -u)" != 0 ] || chown nobody "$1"; mv "$1" "$spool/incoming/$2"; }
cat >"$scratch/notebook.yaml" <<'JOB'
name: lab
library: sklearn
type: notebook
time_limit: 1h
...
JOB
cp "$scratch/notebook.yaml" "$scratch/lab.yaml"
as_nobody "$scratch/lab.yaml" lab.yaml
must "the notebook runs" wait_for 60 in_state lab submitted
port=$(port_of lab)
token() { said lab main-0 | grep -o 'token=[0-9a-f]*' | head -n 1; }
has_token() { [ -n "$(token)" ]; }
must "its output has an address with a token" wait_for 90 has_token
like "$(said lab main-0)" ":$port/\?token=" "and the job's port"
log=$(job_dir lab)/output/main-0.log
is "$(stat -c %a "$log")" 640 "which not everybody may read"
status() { curl -s -m 5 -o /dev/null -w '%{http_code}' "http://127.0.0.1:$port/api/contents?$1"; }
is "$(status "$(token)")" 200 "with the token it answers"
is "$(status token=0)" 403 "and without it does not"
like "$(dlspool show lab)" "open +http://$(hostname):$port/\S*token=\S+"$'\n' "show has the address to open, for whom the output is"
opens() { curl -sfL -m 5 -o /dev/null "$(dlspool show lab | sed -n 's/^open  *//p' | sed "s/$(hostname):/127.0.0.1:/")"; }
ok "and it opens" opens
is "$(dlspool show --json lab | jq -c '[.addresses, .url]')" "[[\"$(hostname):$port\"],\"http://$(hostname):$port/\"]" "and --json the address without the token"
if [ "$(id -u)" = 0 ]; then
    other() { setpriv --reuid=2 --regid=2 --clear-groups "$DLSPOOL" -s "$spool" show "$@"; }
    like "$(other lab)" "state +running" "somebody else sees that it runs"
    unlike "$(other lab; other --json lab)" "$(token)" "and no token"
fi
unlike "$(cat "$(job_dir lab)/log" "$(job_dir lab)/job.yaml")" "$(token)" "the token is in no other file of the job"
ok "kill" dlspool kill lab
ok "it is killed" wait_for 30 in_state lab failed

sed "s/^name: lab/name: short/; s/^time_limit.*/time_limit: 22s/" "$scratch/notebook.yaml" >"$scratch/short.yaml"
as_nobody "$scratch/short.yaml" short.yaml
ok "a notebook whose time is over is done" wait_for 90 in_state short "done"
like "$(said short main-0)" 'dlspool: the time of 12 s is over' "and says so"

# One that is slow to end is killed for it; its time was over all the same.
printf 'name: slow\nlibrary: any\ntype: notebook\ntime_limit: 12s\ntasks: {main: {command: [sh, -c, "trap : TERM; while :; do sleep 1; done"]}}\n' |
    drop slow.yaml
ok "one that does not end when it is told to is done, too" wait_for 60 in_state slow "done"

done_testing
