#!/usr/bin/env bash
# What a program finds on this machine: a network that leads out and not in, names that resolve, a working
# directory and a HOME that keep, and the owner's virtual environments.
#
# The daemon has a network and a /home of its own, with a name server, so that the world outside is known.
#
# The examples of docs/job-file.md are run by the user ann as they stand there.  Of the world outside they meet: pip's
# own index is a directory with one small module called torch; conda is a script that makes a directory of conda's form;
# example.org is a web server of this test, whose certificate ann's ~/.curlrc trusts.
. "$(dirname "$0")/lib.bash"
command -v podman >/dev/null || skip_all "podman is not installed"
command -v slirp4netns >/dev/null || skip_all "slirp4netns is not installed"
/usr/bin/python3 -c 'import ensurepip' 2>/dev/null || skip_all "python3-venv is not installed"
[ "$(id -u)" = 0 ] || skip_all "root is needed for a network and a /home of its own"
unshare -m -n true 2>/dev/null || skip_all "no namespaces can be made here"
new_spool local || exit 1
chmod 755 "$scratch"
set_setting cpus 4
set_setting memory 4Gi

cat >"$scratch/world.py" <<'P'
# A web server at one address, one that is for this machine only, and a name server that knows one name.
import http.server, os, socket, ssl, struct, sys, threading
class Page(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"a page of the world\n")
    def log_message(self, *words): pass
servers = [http.server.HTTPServer((a, 8000), Page) for a in ("198.51.100.1", "127.0.0.1")]
for server in servers:
    threading.Thread(target=server.serve_forever, daemon=True).start()
class Data(Page):
    def do_GET(self):
        self.send_response(200 if self.path == "/digits.tar.gz" else 404)
        self.end_headers()
        self.wfile.write(open(sys.argv[2] + "/digits.tar.gz", "rb").read())
        open(sys.argv[2] + "/fetched", "a").write(self.path + "\n")
secure = http.server.HTTPServer(("198.51.100.1", 443), Data)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(sys.argv[2] + "/certificate.pem", sys.argv[2] + "/key.pem")
secure.socket = context.wrap_socket(secure.socket, server_side=True)
threading.Thread(target=secure.serve_forever, daemon=True).start()
names = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
names.bind(("198.51.100.1", 53))
open(sys.argv[1], "w").close()
names.settimeout(0.5)
parent = os.getppid()
while os.getppid() == parent:
    try: query, peer = names.recvfrom(512)
    except TimeoutError: continue
    end = query.index(0, 12) + 5
    known = query[12:end - 4].lower() in (b"\5world\7example\0", b"\7example\3org\0") and query[end - 4:end - 2] == b"\0\1"
    answer = b"\xc0\x0c\0\1\0\1\0\0\0\x3c\0\4" + socket.inet_aton("198.51.100.1") if known else b""
    names.sendto(query[:2] + b"\x81\x80" + query[4:6] + struct.pack(">HHH", bool(known), 0, 0) + query[12:end] + answer, peer)
P
{ cat /etc/passwd; echo "spool-ann:x:54399:54399::/home/ann:/bin/sh"; echo "spool-bob:x:54398:54398::/home/ann:/bin/sh"; } >"$scratch/passwd"
echo "nameserver 198.51.100.1" >"$scratch/resolv.conf"
echo "spool-ann:200000:65536" | tee "$scratch/subuid" >"$scratch/subgid"
/usr/bin/python3 - "$scratch/index" <<'P'
import os, sys, zipfile
os.makedirs(sys.argv[1] + "/torch")
name = "torch-2.5-py3-none-any.whl"
with zipfile.ZipFile(sys.argv[1] + "/torch/" + name, "w") as wheel:
    wheel.writestr("torch.py", 'where = "in the virtual environment"\n')
    wheel.writestr("torch-2.5.dist-info/METADATA", "Metadata-Version: 2.1\nName: torch\nVersion: 2.5\n")
    wheel.writestr("torch-2.5.dist-info/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
    wheel.writestr("torch-2.5.dist-info/RECORD", "")
open(sys.argv[1] + "/torch/index.html", "w").write('<a href="%s">%s</a>' % (name, name))
P
cat >"$scratch/conda" <<'C'
#!/bin/bash
place=$HOME/miniconda3/envs
case "$1 $2" in
"create -n") mkdir -p "$place/$3/bin" "$place/$3/lib" && ln -s /usr/bin/python3 "$place/$3/bin/python" ;;
"env list") for one in "$place"/*; do echo "${one##*/}  $one"; done ;;
*) exit 2 ;;
esac
C
chmod 755 "$scratch/conda"
mkdir "$scratch/digits" && echo 5 >"$scratch/digits/five" && tar -czf "$scratch/digits.tar.gz" -C "$scratch/digits" five
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=example.org \
    -addext subjectAltName=DNS:example.org -keyout "$scratch/key.pem" -out "$scratch/certificate.pem" 2>/dev/null
cat >"$scratch/serve" <<'S'
set -e
mount --make-rprivate /
mount --bind "$1/passwd" /etc/passwd
mount --bind "$1/resolv.conf" /etc/resolv.conf
mount -t tmpfs none /home
# What a machine has for podman without root.
for file in subuid subgid; do mount --bind "$1/$file" "/etc/$file"; done
mkdir -p /home/devices /home/run && mknod -m 666 /home/devices/tun c 10 200 && mknod -m 666 /home/devices/fuse c 10 229
[ ! -e /dev/net/tun ] || mount --bind /home/devices/tun /dev/net/tun
[ ! -e /dev/fuse ] || mount --bind /home/devices/fuse /dev/fuse
chown 54399:54399 /home/run && chmod 700 /home/run
ip link set lo up
ip address add 198.51.100.1/32 dev lo
/usr/bin/python3 "$1/world.py" "$1/world-is-there" "$1" >/dev/null &
mkdir -p /home/ann/digits /home/ann/results /home/ann/.config/pip /home/ann/miniconda3/bin /home/shared
printf '[global]\nindex-url = file://%s/index\ndisable-pip-version-check = true\n' "$1" >/home/ann/.config/pip/pip.conf
echo "cacert = $1/certificate.pem" >/home/ann/.curlrc
cp "$1/conda" /home/ann/miniconda3/bin/
cat >/home/ann/digits/train.py <<'P'
import os, shutil, sys
try:
    import torch
    print("module", torch.where)
except (ImportError, AttributeError):
    pass
print("prefix", sys.prefix, "executable", sys.executable, "python", shutil.which("python"))
if sys.argv[1:2] == ["--data"]:
    print("data", sorted(os.listdir(sys.argv[2])))
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
ends net "a job that reaches out is done"
for task in worker-0 worker-1; do
    like "$(output net $task)" "^a page of the world by address" "$task reaches an address outside"
    like "$(output net $task)" "^a page of the world by name" "names are resolved for it"
    like "$(output net $task)" "^10.0.2.2 is not reached" "what is for this machine alone is not reached by $task"
    like "$(output net $task)" "^127.0.0.1 is not reached" "whose own 127.0.0.1 is the job's"
done
like "$(output net worker-1)" "^from the first task" "tasks reach one another, by name"
ok "a script starts in the owner's home" test -e "$home/look-1.py"

# The examples: what stands below a heading of docs/job-file.md, in a block of that language.
block() { # block HEADING LANGUAGE
    awk -v heading="### $1" -v fence='```'"$2" '/^#/ { here = $0 == heading } /^```$/ { on = 0 }
        on { print } here && $0 == fence { on = 1 }' "$top/docs/job-file.md"
}
cp "$DLSPOOL" "$scratch/dlspool"
as_ann() {
    nsenter -t "$daemon" -m -n setpriv --reuid 54399 --regid 54399 --clear-groups \
        env -i HOME=/home/ann PATH=/home/ann/miniconda3/bin:/usr/bin:/bin DLSPOOL_DIR="$spool" "$@"
}
example() { # example HEADING: what she types, and the job file that she submits; sets id
    block "$1" bash >"$scratch/typed" && block "$1" yaml >"$scratch/example.yaml"
    as_ann bash -e "$scratch/typed" >"$scratch/printed" 2>&1
    is $? 0 "$1: what is typed before works" || sed 's/^/# /' "$scratch/printed"
    id=$(as_ann "$scratch/dlspool" submit "$scratch/example.yaml" 2>>"$scratch/printed")
    ok "$1: the job is done" as_ann timeout 300 "$scratch/dlspool" wait "$id"
}
printed() { cat "$spool"/done/*/"$id/output/main-0.log"; }
example "With a virtual environment"
like "$(printed)" "^module in the virtual environment" "with what was installed there"
like "$(printed)" "^prefix /home/ann/venv executable /home/ann/venv/bin/python" "as Python sees it"
like "$(printed)" "^home /home/ann directory /job/program" "its HOME is the owner's, and it starts in its program"
is "$(<"$home/digits/model.pt")" "a model" "what it wrote there is kept"
is "$(stat -c %u "$home/digits/model.pt")" 54399 "and is the owner's"
is "$(<"$home/kept")" kept "what it wrote to HOME is kept"

example "With conda"
like "$(<"$scratch/printed")" "  /home/ann/miniconda3/envs/torch\$" "conda says the path that the document has"
like "$(printed)" "executable /home/ann/miniconda3/envs/torch/bin/python python /home/ann/miniconda3/envs/torch/bin/python" \
    "that environment's Python runs, and is what others find in PATH"

example "With a data set that is downloaded"
like "$(printed)" "^data \['complete', 'five'\]" "the program has the data"
id=$(as_ann "$scratch/dlspool" submit "$scratch/example.yaml" 2>/dev/null)
ok "so has the next job" as_ann timeout 300 "$scratch/dlspool" wait "$id"
like "$(printed)" "^data \['complete', 'five'\]" "with the same data"
is "$(<"$scratch/fetched")" "/digits.tar.gz" "which was fetched once"

# A notebook that names nothing keeps what is saved in HOME, and says so (docs/libraries.md).
if command -v jupyter-notebook >/dev/null; then
    job book 54399 <<<$'type: notebook\ntasks: {main: {cpus: 1, memory: 512Mi}}'
    address() { output book 2>/dev/null | grep -oE "http://127.0.0.1:[0-9]+/[a-z]*\?token=[0-9a-f]+" | tail -n 1; }
    listens() { [ -n "$(address)" ] && ask "" >/dev/null; }
    ask() { as_ann curl -fsS -H "Authorization: token $(address | sed 's/.*=//')" "$(address | sed 's|[a-z]*?.*||')api/contents/$1" "${@:2}"; }
    ok "a notebook can be connected to" wait_for 60 listens 2>/dev/null
    ask kept.ipynb -X PUT -d '{"type": "notebook", "format": "json", "content": {"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}}' >/dev/null
    ok "what is saved is in HOME" test -s "$home/kept.ipynb"
    like "$(output book)" "^dlspool: notebooks are kept in /home/ann\$" "as its output says"
    as_ann "$scratch/dlspool" kill "$(basename "$(job_dir book)")" >/dev/null
    ok "it is killed" wait_for 30 has_ended book
else
    pass "a notebook # SKIP jupyter-notebook is not installed"
fi

# Who may only read a program runs it all the same, and changes nothing; somebody else's home is none.
job guest 54398 <<'J'
type: single
program: /home/shared
tasks: {main: {cpus: 0.5, memory: 128Mi, command: [sh, -c, 'echo x 2>&1 >>train.sh; echo "home $HOME"; ls /home/ann; exit 0']}}
J
ends guest "a program that its user may only read runs"
is "$(<"/proc/$daemon/root/home/shared/train.sh")" common "and stays as it is"
like "$(output guest)" "Read-only|Permission denied|cannot create" "the program is told"
like "$(output guest)" "^home /tmp" "a home of somebody else is none"

# A daemon without root: its jobs have the same network; where that cannot be had, a private one and a note.
cat >"$scratch/out.yaml" <<'J'
script: |
  #!/usr/bin/python3
  import urllib.request as u
  print(open("/proc/net/dev").read())
  print(u.urlopen("http://world.example:8000/", timeout=5).read().decode().strip())
J
own=/home/ann/spool
own_job() { # one of the daemon without root; sets id
    id=$(as_ann "$scratch/dlspool" -s $own submit "$scratch/out.yaml" 2>/dev/null)
    as_ann timeout 300 "$scratch/dlspool" -s $own wait "$id" >/dev/null
}
if command -v fuse-overlayfs >/dev/null && [ -e /dev/fuse ] && [ -e /dev/net/tun ] && as_ann unshare -Ur true 2>/dev/null; then
    as_ann "$scratch/dlspool" -s $own init >/dev/null
    (as_ann env XDG_RUNTIME_DIR=/home/run PATH=/usr/bin:/bin:/usr/sbin:/sbin "$scratch/dlspool" -s $own run) 2>"$scratch/own.log" &
    rootless=$!
    own_job
    is $? 0 "without root a job reaches out"
    like "$(as_ann "$scratch/dlspool" -s $own logs "$id")" "^a page of the world" "to an address by its name"
    chmod 600 "/proc/$daemon/root/home/devices/tun"
    own_job
    is $? 6 "without /dev/net/tun it does not"
    like "$(as_ann "$scratch/dlspool" -s $own show "$id")" 'note="no network to the outside: /dev/net/tun cannot be opened' "and its log says why"
    unlike "$(as_ann "$scratch/dlspool" -s $own logs "$id")" "tap0" "as its network is private"
    # The first process of its podman service may end before the one that serves, in a user namespace.
    kill -9 "$(cut -d' ' -f1 "/proc/$daemon/root$own/.podman/service.pid")"
    kill "$(pgrep -P "$rootless" || echo "$rootless")"
    wait "$rootless"
    is "$(pgrep -c -f "system service.*$own" || true)" 0 "its podman service ends with it, in and out of its user namespace"
else
    pass "jobs of a daemon without root # SKIP no fuse-overlayfs, devices or user namespaces"
fi

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
