# web.bash - two users of a script, and their way to a page
#
# Source it after lib.bash.

# The users user1 and user2, numbers 5001 and 5002, whom only this script's processes know: the script starts again
# in a mount namespace of its own.  Call it first, with the script's words.
own_users() {
    local n
    if [ -z "${OWN_USERS:-}" ]; then
        rm -rf "$scratch"
        OWN_USERS=1 exec unshare -m -- "$0" "$@"
    fi
    { cat /etc/passwd; for n in 1 2; do echo "user$n:x:500$n:500$n::$scratch/home$n:/bin/sh"; done; } >"$scratch/passwd"
    { cat /etc/shadow; for n in 1 2; do echo "user$n:*:19000:0:99999:7:::"; done; } >"$scratch/shadow"
    chmod 644 "$scratch/passwd" && chmod 600 "$scratch/shadow"
    mount --bind "$scratch/passwd" /etc/passwd && mount --bind "$scratch/shadow" /etc/shadow || skip_all "nothing can be mounted here"
    for n in 1 2; do mkdir -p "$scratch/home$n"; chown "500$n" "$scratch/home$n"; done
}

# What a script about dlspool web needs of the machine.
need_web() {
    [ "$(id -u)" = 0 ] || skip_all "pages of several users are root's to start"
    [ -e /usr/lib/x86_64-linux-gnu/libmicrohttpd.so.12 ] || ldconfig -p | grep -q libmicrohttpd.so.12 || skip_all "libmicrohttpd12 is not installed"
    [ -x /usr/sbin/sshd ] && command -v ssh >/dev/null || skip_all "openssh-server or openssh-client is not installed"
}

# own_spool WORD...: what a script about pages begins with, its words: the users, and a spool into which they drop.
own_spool() {
    need_web
    own_users "$@"
    new_spool null || exit 1
    chmod 1777 "$spool/incoming"
}

# approvers_are USERS PRIVILEGES: who approves, and what needs it; before the daemon starts.
approvers_are() {
    sed -i -e '/^approvers:/d' -e '/^privileges: {}/d' "$spool/dlspool.yaml"
    printf 'approvers: %s\nprivileges: %s\n' "$1" "$2" >>"$spool/dlspool.yaml"
}

# start_web OPTION...: dlspool web at $socket.  $web is its process.
start_web() {
    socket=$scratch/w.sock
    "$DLSPOOL" -s "$spool" web --socket "$socket" "$@" >"$scratch/web.out" 2>"$scratch/web.err" &
    web=$!
    must "it says where it serves" wait_for 10 grep -q "serving at" "$scratch/web.out"
}

# run_as N COMMAND...: as user N.
run_as() { local user=$1; shift; setpriv --reuid "500$user" --regid "500$user" --clear-groups "$@"; }

# request N PATH CURL-OPTION...: of user N.  $status and $body are of the reply.
request() {
    local user=$1 path=$2
    shift 2
    status=$(run_as "$user" curl -sS --max-time 30 --unix-socket "$socket" -w '\n%{http_code}' "$@" "http://localhost$path" 2>&1)
    body=${status%$'\n'*}
    status=${status##*$'\n'}
}

free_port() { /usr/bin/python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }

# A real sshd, which lets all users in with $scratch/key.  $sshd is its process.
start_sshd() {
    ssh-keygen -q -t ed25519 -N '' -f "$scratch/host" && ssh-keygen -q -t ed25519 -N '' -f "$scratch/key"
    mkdir -p /run/sshd
    cat >"$scratch/sshd_config" <<CONFIG
ListenAddress 127.0.0.1
Port $(free_port)
HostKey $scratch/host
AuthorizedKeysFile $scratch/key.pub
UsePAM no
StrictModes no
PidFile $scratch/sshd.pid
CONFIG
    /usr/sbin/sshd -f "$scratch/sshd_config" -E "$scratch/sshd.log"
    wait_for 10 test -s "$scratch/sshd.pid"
    sshd=$(<"$scratch/sshd.pid")
}

# forward_as N SOCKET: a port of this machine leads to SOCKET as user N.  $forward is the port, $ssh the process.
forward_as() {
    forward=$(free_port)
    ssh -N -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o ExitOnForwardFailure=yes -i "$scratch/key" \
        -p "$(sed -n 's/^Port //p' "$scratch/sshd_config")" -L "127.0.0.1:$forward:$2" "user$1@127.0.0.1" 2>"$scratch/ssh.err" &
    ssh=$!
    must "ssh forwards a port for user$1" wait_for 10 curl -sf -o "$scratch/jobs.html" "http://localhost:$forward/jobs"
}
