#!/usr/bin/env bash
# What a program finds on this machine: a network that leads out and not in, names that resolve, a working
# directory and a HOME that keep, and the owner's virtual environments.
#
# The daemon has a network and a /home of its own, with a name server, so that the world outside is known.
#
# Seen to fail with: a null workdir in common/workdir.yaml.
. "$(dirname "$0")/lib.bash"
command -v podman >/dev/null || skip_all "podman is not installed"
command -v slirp4netns >/dev/null || skip_all "slirp4netns is not installed"
[ "$(id -u)" = 0 ] || skip_all "root is needed for a network and a /home of its own"
unshare -m -n true 2>/dev/null || skip_all "no namespaces can be made here"
new_spool local || exit 1
chmod 755 "$scratch"
set_setting cpus 4
set_setting memory 4Gi

cat >"$scratch/world.py" <<'P'
# A web server at one address, one that is for this machine only, and a name server that knows one name.
import http.server, os, socket, struct, sys, threading
class Page(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"a page of the world\n")
    def log_message(self, *words): pass
servers = [http.server.HTTPServer((a, 8000), Page) for a in ("198.51.100.1", "127.0.0.1")]
for server in servers:
    threading.Thread(target=server.serve_forever, daemon=True).start()
names = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
names.bind(("198.51.100.1", 53))
open(sys.argv[1], "w").close()
names.settimeout(0.5)
parent = os.getppid()
while os.getppid() == parent:
    try: query, peer = names.recvfrom(512)
    except TimeoutError: continue
    end = query.index(0, 12) + 5
    known = query[12:end - 4].lower() == b"\5world\7example\0" and query[end - 4:end - 2] == b"\0\1"
    answer = b"\xc0\x0c\0\1\0\1\0\0\0\x3c\0\4" + socket.inet_aton("198.51.100.1") if known else b""
    names.sendto(query[:2] + b"\x81\x80" + query[4:6] + struct.pack(">HHH", bool(known), 0, 0) + query[12:end] + answer, peer)
P
{ cat /etc/passwd; echo "spool-ann:x:54399:54399::/home/ann:/bin/sh"; echo "spool-bob:x:54398:54398::/home/ann:/bin/sh"; } >"$scratch/passwd"
echo "nameserver 198.51.100.1" >"$scratch/resolv.conf"
cat >"$scratch/serve" <<'S'
set -e
mount --make-rprivate /
mount --bind "$1/passwd" /etc/passwd
mount --bind "$1/resolv.conf" /etc/resolv.conf
mount -t tmpfs none /home
ip link set lo up
ip address add 198.51.100.1/32 dev lo
/usr/bin/python3 "$1/world.py" "$1/world-is-there" >/dev/null &
mkdir -p /home/ann/digits /home/ann/miniconda3/envs/torch/bin /home/ann/miniconda3/envs/torch/lib /home/shared
/usr/bin/python3 -m venv --without-pip /home/ann/venv
echo 'here = "in the virtual environment"' >"$(echo /home/ann/venv/lib/python3*/site-packages)/of_venv.py"
ln -s /usr/bin/python3 /home/ann/miniconda3/envs/torch/bin/python
cat >/home/ann/digits/train.py <<'P'
import os, sys
try:
    import of_venv
    print("module", of_venv.here)
except ImportError:
    pass
print("prefix", sys.prefix, "executable", sys.executable)
open("model.pt", "w").write("a model")
print("home", os.environ["HOME"], "directory", os.getcwd())
open(os.path.expanduser("~/kept"), "w").write("kept")
P
echo common >/home/shared/train.sh
chown -R 54399:54399 /home/ann
chmod 700 /home/ann
exec "$DLSPOOL" -s "$2" run -v
S
unshare -m -n bash "$scratch/serve" "$scratch" "$spool" 2>>"$scratch/daemon.log" &
daemon=$!
must "the world is there" wait_for 20 test -e "$scratch/world-is-there"
home=/proc/$daemon/root/home/ann
job() { # job NAME USER: standard input is the job's other fields
    { printf 'name: %s\nlibrary: any\n' "$1"; cat; } >"$scratch/$1.yaml"
    chown "$2" "$scratch/$1.yaml" && mv "$scratch/$1.yaml" "$spool/incoming/"
}
output() { cat "$(job_dir "$1")/output/${2:-main-0}.log"; }
ends() { ok "$2" wait_for 60 in_state "$1" "done"; }

job net 54399 <<'J'
type: distributed
tasks: {worker: {count: 2, cpus: 0.5, memory: 128Mi}}
script: |
  #!/bin/sh
  cat >"look-$DLSPOOL_INDEX.py" <<'P'
  import os, socket, time, urllib.request as u
  port, index = int(os.environ["DLSPOOL_PORT"]), os.environ["DLSPOOL_INDEX"]
  print(u.urlopen("http://198.51.100.1:8000/").read().decode().strip(), "by address")
  print(u.urlopen("http://world.example:8000/").read().decode().strip(), "by name")
  for place in "10.0.2.2", "127.0.0.1":
      try: u.urlopen("http://%s:8000/" % place, timeout=5); print(place, "is reached")
      except OSError: print(place, "is not reached")
  if index == "0":
      with socket.create_server(("0.0.0.0", port)) as server: server.accept()[0].send(b"from the first task")
  else:
      for _ in range(600):
          try:
              print(socket.create_connection(("worker-0", port)).recv(100).decode())
              break
          except OSError: time.sleep(0.05)
  P
  exec python3 -u "look-$DLSPOOL_INDEX.py"
J
job venv 54399 <<'J'
type: single
program: /home/ann/digits
tasks: {main: {cpus: 0.5, memory: 128Mi, command: [/home/ann/venv/bin/python, train.py]}}
J
ends net "a job that reaches out is done"
for task in worker-0 worker-1; do
    like "$(output net $task)" "^a page of the world by address" "$task reaches an address outside"
    like "$(output net $task)" "^a page of the world by name" "names are resolved for it"
    like "$(output net $task)" "^10.0.2.2 is not reached" "what is for this machine alone is not reached by $task"
    like "$(output net $task)" "^127.0.0.1 is not reached" "whose own 127.0.0.1 is the job's"
done
like "$(output net worker-1)" "^from the first task" "tasks reach one another, by name"
ok "a script starts in the owner's home" test -e "$home/look-1.py"

ends venv "a program in a virtual environment is done"
like "$(output venv)" "^module in the virtual environment" "with that environment's modules"
like "$(output venv)" "^prefix /home/ann/venv " "as Python sees it"
like "$(output venv)" "^home /home/ann directory /job/program" "its HOME is the owner's, and it starts in its program"
is "$(cat "$home/digits/model.pt")" "a model" "what it wrote there is kept"
is "$(stat -c %u "$home/digits/model.pt")" 54399 "and is the owner's"
is "$(cat "$home/kept")" kept "what it wrote to HOME is kept"

# A directory as conda makes it; it names itself by its path.  (No conda is at hand for this test.)
job conda 54399 <<'J'
type: single
program: /home/ann/digits
tasks: {main: {cpus: 0.5, memory: 128Mi, command: [/home/ann/miniconda3/envs/torch/bin/python, train.py]}}
J
# Who may only read a program runs it all the same, and changes nothing; somebody else's home is none.
job guest 54398 <<'J'
type: single
program: /home/shared
tasks: {main: {cpus: 0.5, memory: 128Mi, command: [sh, -c, 'echo x 2>&1 >>train.sh; echo "home $HOME"; ls /home/ann; exit 0']}}
J
ends conda "so is one in an environment of conda's form"
like "$(output conda)" "executable /home/ann/miniconda3/envs/torch/bin/python" "with its Python"
ends guest "a program that its user may only read runs"
is "$(cat "/proc/$daemon/root/home/shared/train.sh")" common "and stays as it is"
like "$(output guest)" "Read-only|Permission denied|cannot create" "the program is told"
like "$(output guest)" "^home /tmp" "a home of somebody else is none"

# The site says otherwise.
git clone -q "$spool/templates.git" "$scratch/templates" 2>/dev/null
(cd "$scratch/templates" && sed -i 's/^  home: user/  home: none/; s/^  network: outgoing/  network: private/' site.yaml &&
    git commit -qam closed && git push -q) 2>/dev/null
job closed 54399 <<'J'
type: single
tasks: {main: {cpus: 0.5, memory: 128Mi}}
script: |
  #!/bin/sh
  echo "home $HOME in $(pwd)"; ls -A /home; cat /proc/net/dev
J
ok "where the site says otherwise" wait_for 60 in_state closed "done"
like "$(output closed)" "^home /tmp in /tmp" "HOME is /tmp"
unlike "$(output closed)" "^ann" "the owner's home is not there"
unlike "$(output closed)" "tap0" "and there is no network"
is "$(pgrep -c -f "slirp4netns.*$spool" || true)" 0 "nothing of the networks is left"
done_testing
