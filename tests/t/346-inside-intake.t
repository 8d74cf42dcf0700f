#!/usr/bin/env bash
# The intake that serves is taken over: it is made to try some ninety system calls, each of which fails, as root's and as
# another user's.  A process of root's that is not confined makes the same calls first, so that one which fails for
# another reason shows nothing.  (tests/unit/sandbox_test.c tries more, in processes of its own.)
#
# Seen to fail with: tests/mutants/intake-serves-unconfined.patch.
. "$(dirname "$0")/lib.bash"
[ "$(id -u)" = 0 ] || skip_all "root is needed to look into processes"
[ "$(uname -m)" = x86_64 ] || skip_all "the numbers of the system calls are those of x86-64"

victim=$scratch/prey/victim new=$scratch/prey/new
sleep 1000 & free=$! # not confined
sleep 1000 & prey=$!
disown $free $prey
at_exit 'kill -KILL $free $prey'

# NUMBER ARGUMENT...: those that no confined process may make, whatever their arguments are.  They do no harm where they
# are not refused: the test ends then, too.
calls() {
    local queued='\x1c\0\0\0\0\0\0\0\xff\xff\xff\xff' # SIGWINCH, by sigqueue()
    cat <<CALLS
59 /no/program 0 0
322 -100 /no/program 0 0 0
56 2048 0 0 0 0
435 0 0
62 $prey 0
62 -$prey 0
200 $prey 0
234 $prey $prey 0
129 $prey 28 '$queued'
297 $prey $prey 28 '$queued'
434 $prey 0
424 -1 0 0 0
101 16902 $prey 0 0
310 $prey 0 0 0 0 0
311 $prey 0 0 0 0 0
302 $prey 7 0 0
203 $prey 0 0
144 $prey 3 0
141 0 $prey 1
251 1 $prey 16391
109 $prey 0
90 $victim 438
268 -100 $victim 438
92 $victim 1007 1007
94 $victim 1007 1007
260 -100 $victim 1007 1007 0
76 $victim 7
188 $victim user.x y 1 0
189 $victim user.x y 1 0
191 $victim user.x 0 0
194 $victim 0 0
197 $victim user.y
132 $victim 0
235 $victim 0
280 -100 $victim 0 0
261 -100 $victim 0
2 $victim 0
85 $victim.made 420
437 -100 $victim 0 24
82 $victim $victim
86 $victim $victim.link
265 -100 $victim -100 $victim.linkat 0
88 /etc/shadow $victim.sym
266 /etc/shadow -100 $victim.sym2
87 $victim.other
83 $victim.mkdir 493
133 $victim.fifo 4516 0
259 -100 $victim.fifo2 4516 0
304 -1 0 0
303 -100 $victim 0 0 0
300 0 0
161 /no/directory
80 /
41 2 1 0
41 1 1 0
41 16 3 0
53 1 1 0 0
42 -1 0 0
43 -1 0 0
49 -1 0 0
50 -1 1
46 -1 0 0
165 0 0 0 0 0
166 /no/mount 0
428 -100 /no/tree 0
430 none 0
155 /no/root /no/root
272 0
308 -1 0
105 0
106 0
117 0 0 0
116 0 0
122 0
126 0 0
157 4 1 0 0 0
135 0
321 0 0 0
298 0 0 -1 -1 0
323 0
425 0 0
250 0 -3 0
248 user x y 1 -2
169 0 0 0 0
167 /no/swap 0
164 0 0
227 99 0
170 x -1
103 10 0 0
163 /no/accounts
319 x 0
CALLS
}
# What Landlock forbids, where the kernel has it: files outside, and what intake has no use for within.
paths() {
    cat <<CALLS
257 -100 $victim 0
257 -100 $victim 1
257 -100 $victim 512
257 -100 $new 193 384
257 -100 $scratch/prey 65536
257 -100 /etc/passwd 0
257 -100 /etc/shadow 0
257 -100 /root 65536
257 -100 / 65536
257 -100 /proc/$prey/environ 0
257 -100 /proc/$prey/mem 2
257 -100 /proc/self/maps 0
258 -100 $scratch/prey/made 493
263 -100 $victim.third 0
264 -100 $spool/incoming/.mine -100 $scratch/prey/out
264 -100 $scratch/prey/victim.dir -100 $spool/incoming/in
257 -100 $spool/dlspool.yaml 0
257 -100 $spool/dlspool.yaml 1
257 -100 $spool/.lease 1
263 -100 $spool/.left 0
257 -100 $spool/templates.git/x 193 420
257 -100 $spool/done/x 193 420
257 -100 $spool/x 193 420
258 -100 $spool/submitted/x 493
CALLS
}
lay_out() {
    rm -rf "$scratch/prey" "$spool"/{x,done/x,submitted/x,templates.git/x,incoming/in}
    mkdir -p "$victim.dir"
    printf 'victim\n' >"$victim"
    chmod 644 "$victim"
    touch "$victim".{other,third} "$spool/.left" "$spool/incoming/.mine" "$spool/.lease"
}
# tried PROCESS: what it was told when it made each call is in $scratch/results.
tried() {
    local i
    for ((i = 0; i < 100; i++)); do
        "$top/tests/inside" "$1" - <"$scratch/calls" >"$scratch/results" 2>"$scratch/error" && return
        grep -q 'not waiting in a system call' "$scratch/error" || break
    done
    fail "process $1 makes calls" "$(<"$scratch/error")"
}
refused='EPERM|EACCES|ENOSYS|EXDEV'
# which PATTERN: calls with such results.
which() { paste -d: "$scratch/calls" "$scratch/results" | grep -E ":($1)\$"; }
state() { find "$scratch/prey" "$spool"/{done,submitted,templates.git,incoming} -printf '%p %y %m %u %s %T@\n' | sort; stat -c '%n %U %a %s' "$spool"/{.left,dlspool.yaml}; }

"$DLSPOOL" init --executor null "$spool" >/dev/null
set_setting scan_interval 500ms
calls >"$scratch/calls"
[ "$(python3 -c 'import ctypes; print(ctypes.CDLL(None).syscall(444, 0, 0, 1))')" -lt 3 ] || paths >>"$scratch/calls"
lay_out
tried "$free"
is "$(which "$refused")" "" "a process that is not confined is refused none of $(wc -l <"$scratch/calls") calls"
rm "$spool/.lease"

# trial WHAT: the intake that serves is refused all of them, changes nothing, and serves.
trial() {
    local intake before
    start_daemon
    printf 'name: before\nscript: "true"\n' | drop before.yaml
    must "$1 serves" wait_for 20 in_state before "done"
    lay_out
    before=$(state)
    intake=$(pgrep -P "$daemon" -x intake)
    tried "$intake"
    is "$(paste -d: "$scratch/calls" "$scratch/results" | grep -vE ":($refused)\$")" "" "$1 is refused each of $(wc -l <"$scratch/results") calls"
    is "$(state)" "$before" "and has changed nothing"
    ok "nor ended another process" kill -0 $prey
    printf 'name: after\nscript: "true"\n' | drop after.yaml
    ok "$1 goes on" wait_for 20 in_state after "done"
    is "$(pgrep -P "$daemon" -x intake)" "$intake" "as the same process"
    stop_daemon
    rm -rf "$spool"/done/*
}
trial "root's intake"
chown -R games "$spool"
set_setting .user games
trial "another user's intake"
done_testing
