#!/usr/bin/env bash
# What a container mounts is what was looked at as its user: no exchange of a path between the look and the
# mount reaches what lies behind directories that shut the user out.  Real containers, and a user who tries.
#
# RACE_JOBS is how many of the user's jobs try it at least, RACE_SECONDS for how long at least: 500 and 600 for a
# release.  The more there are, the rarer a success may be and still be seen.
#
# Seen to fail with: podman told the resolved paths (tests/mutants/sources-tell-the-path.patch), by which about
# a quarter of the jobs succeeds.
. "$(dirname "$0")/lib.bash"
command -v podman >/dev/null || skip_all "podman is not installed"
[ "$(id -u)" = 0 ] || skip_all "without root all jobs are of one user"
${CC:-cc} -D_GNU_SOURCE -O1 -o "$scratch/flip" "$top/tests/flip.c" 2>"$scratch/cc.log" ||
    skip_all "no compiler: $(tail -n 1 "$scratch/cc.log")"
new_spool local || exit 1
set_setting cpus 16
set_setting memory 16Gi
set_setting backoff_first 1s
start_daemon
wanted=${RACE_JOBS:-24} seconds=${RACE_SECONDS:-0}
user=nobody group=$(id -gn nobody)
as_user=(setpriv --reuid "$user" --regid "$group" --clear-groups)
drop_as_user() { cat >"$scratch/drop.tmp" && chown "$user:$group" "$scratch/drop.tmp" && mv "$scratch/drop.tmp" "$spool/incoming/$1"; }
why() { cat "$(job_dir "$1")/why"; }

# ---- what may not be mounted by anybody ----

mkdir "$scratch/mine"
ln -s "$spool/.podman/root" "$scratch/mine/link"
refused() { # refused NAME PATH PATTERN
    printf 'name: %s\nlibrary: any\ntype: single\ndataset: %s\nscript: "#!/bin/sh"\n' "$1" "$2" | drop "$1.yaml"
    ok "$2 ends in failed/" wait_for 60 has_ended "$1"
    like "$(why "$1")" "$3" "why says what it is"
}
refused proc /proc '/proc lies on proc, a file system of the kernel, which shows all of the machine: expected'
refused sys /sys/kernel '/sys/kernel lies on sysfs, a file system of the kernel'
refused devices /dev '/dev (lies on devtmpfs|cannot be mounted: a file system of the kernel)'
mkdir -p "$scratch/mine/root/proc"
mount -t proc proc "$scratch/mine/root/proc"
refused below "$scratch/mine/root" 'mine/root cannot be mounted: a file system of the kernel \(proc\).* is mounted below it, at proc;'
like "$(why below)" '^Next: .*[Nn]ame another path' "and what to do"
umount "$scratch/mine/root/proc"
refused storage "$scratch/mine/link" "mine/link cannot be mounted: $spool/.podman/root is dlspool's own: expected a path outside of"
refused waiting "$spool/incoming" "$spool/incoming is dlspool's own: .*, or a job's output"

# ---- somebody's secret, in podman's files and behind a directory of theirs ----

cat <<'JOB' | drop victim.yaml
name: victim
library: any
type: single
env: {TOKEN: a-secret-of-the-victim}
tasks: {main: {cpus: 0.1, memory: 64Mi}}
script: |
  #!/bin/sh
  exec sleep 10000
JOB
target() { grep -l a-secret-of-the-victim "$spool"/.podman/root/overlay-containers/*/userdata/config.json; }
must "the victim's job runs" wait_for 60 target
target=$(target)
mkdir -m 700 "$scratch/closed" && mkdir -m 777 "$scratch/closed/open" && chmod 777 "$scratch/closed/open"
is "$("${as_user[@]}" cat "$target" 2>&1 | grep -c secret)" 0 "the user cannot read it"

race=$scratch/race
mkdir -m 755 "$race" "$race/real" "$race/out"
echo harmless >"$race/real/config.json"
ln -s "$(dirname "$target")" "$race/evil"
ln -s "$scratch/closed/open" "$race/elsewhere"
chown -hR "$user:$group" "$race"
"${as_user[@]}" "$scratch/flip" "$race/real" "$race/evil" 40000 2>"$scratch/flip.1" & flips=$!
"${as_user[@]}" "$scratch/flip" "$race/out" "$race/elsewhere" 40000 2>"$scratch/flip.2" & flips="$flips $!"

# ---- the user's jobs ----

# The first kind reads, the second writes, and the third is an array, the tasks of which start one after another.
reads() {
    cat <<JOB
name: race-$1
library: any
type: single
dataset: $race/real/config.json
tasks: {main: {cpus: 0.1, memory: 64Mi}}
script: |
  #!/bin/sh
  cat "\$DLSPOOL_DATASET"
JOB
}
writes() {
    cat <<JOB
name: race-$1
library: any
type: single
output: $race/out
tasks: {main: {cpus: 0.1, memory: 64Mi}}
script: |
  #!/bin/sh
  echo harmless
  touch "\$DLSPOOL_OUTPUT/written"
JOB
}
array() { reads "$1" | sed 's/^type: single/type: array\narray: {indexes: 0-3, at_once: 1}/; s/{main:/{task:/'; }
settled() { # settled FIRST LAST
    local i
    for ((i = $1; i <= $2; i++)); do has_ended "race-$i" || return 1; done
}
logs() { find "$spool" -path "*/race-*/output/*.log" "$@" 2>/dev/null; }
count_what_was_met() {
    harmless=$(logs -exec grep -lx harmless {} + | wc -l)
    refusals=$(grep -l -e 'may not enter the directory' "$spool"/failed/race-*/why 2>/dev/null | wc -l)
}
both_were_met() { count_what_was_met && [ "$harmless" -gt 0 ] && [ "$refusals" -gt 0 ]; }
# Which of the two paths a job meets is chance: there are more of them until both were met, up to a limit.
begin=$SECONDS given=0 round=24 most=$((wanted + 240))
while [ $given -lt "$wanted" ] || [ $((SECONDS - begin)) -lt "$seconds" ] || { [ $given -lt $most ] && ! both_were_met; }; do
    first=$((given + 1))
    for ((i = 0; i < round; i++)); do
        given=$((given + 1))
        case $((given % 6)) in 0) array $given ;; 2 | 4) writes $given ;; *) reads $given ;; esac | drop_as_user "race-$given.yaml"
    done
    must "jobs $first to $given of $wanted have ended" wait_for 120 settled $first $given
done
disclosed=$(logs -exec grep -l -e a-secret-of -e '"env"' {} + | wc -l)
written=$(find "$scratch/closed/open" -mindepth 1 | wc -l)
count_what_was_met
unusable=$(grep -l -e 'job file cannot be used' "$spool"/failed/race-*/why 2>/dev/null | wc -l)
echo "# $given jobs in $((SECONDS - begin)) s: $harmless tasks saw what was theirs, $refusals jobs were refused, $disclosed tasks" \
    "saw the secret, $written files were written elsewhere"
is "$disclosed" 0 "no task has printed what its user could not read"
is "$written" 0 "none has written where its user could not"
ok "some saw what was theirs" [ "$harmless" -gt 0 ]
ok "some were refused: the paths were exchanged" [ "$refusals" -gt 0 ]
[ "$refusals" -gt 0 ] || cat "$spool"/failed/race-*/why | sed 's/race-[0-9a-z-]*/JOB/g; s/^/# /' | sort | uniq -c
is "$unusable" 0 "every job file was one that can be used"
ok "the paths were exchanged until the end" kill -0 $flips
is "$(cat "$scratch/flip.1" "$scratch/flip.2")" "" "without an error"
is "$(findmnt -rno TARGET | grep -c "^$spool/.podman/mounts")" 0 "no mount that was held for a container is left"
is "$(ls "$spool/.podman/mounts")" "" "nor a place for one"
kill $flips && wait $flips 2>/dev/null
dlspool kill victim >/dev/null
ok "the victim's job ends" wait_for 60 has_ended victim
done_testing
