#!/usr/bin/env bash
# The pages as two people use them: a real Chromium, which reaches dlspool web through a real sshd as each of them,
# and jobs in real containers.  PICTURES=DIRECTORY keeps a picture of each page.
#
# Seen to fail with: tests/mutants/browser-*.patch.
. "$(dirname "$0")/lib.bash"
. "$(dirname "$0")/web.bash"
need_web
command -v podman >/dev/null || skip_all "podman is not installed"
command -v chromium >/dev/null && command -v node >/dev/null || skip_all "chromium or nodejs is not installed"
packages=${NPM_PACKAGES:-$top/build/npm}
playwright=$(echo "$packages"/playwright-core-*/index.js) axe=$(echo "$packages"/axe-core-*/axe.min.js)
[ -e "$playwright" ] && [ -e "$axe" ] || skip_all "$packages has no playwright-core and axe-core: tests/web/fetch-packages $packages"
own_users "$@"
new_spool local || exit 1
chmod 1777 "$spool/incoming"
set_setting tick 200ms
approvers_are '[user1, user2]' '{hostnet: {host_network: true}}'
start_daemon

# A job of last month, which prune has archived.
printf 'name: lastmonth\nlibrary: any\ntype: single\nscript: echo what it printed\ntasks: {main: {cpus: 0.1, memory: 64Mi}}\n' >"$scratch/lastmonth.yaml"
run_as 1 "$DLSPOOL" -s "$spool" submit "$scratch/lastmonth.yaml" >"$scratch/said" 2>&1
must "a job is done" wait_for 60 in_state lastmonth "done"
stop_daemon
day=$(date -u -d '40 days ago' +%F)
mkdir "$spool/done/$day" && mv "$(job_dir lastmonth)" "$spool/done/$day/"
set_setting done 30d
dlspool prune >"$scratch/said" 2>&1
must "which is archived then" test -e "$spool/history/archive/$day.index"
start_daemon
door=127.0.0.1:$(free_port)
start_web --listen "$door"
token=$(run_as 1 env HOME="$scratch/home1" "$DLSPOOL" -s "$spool" token --scope read 2>"$scratch/said")
start_sshd
forward_as 1 "$socket"
page1=http://localhost:$forward forwards=$ssh
forward_as 2 "$socket"
page2=http://localhost:$forward forwards="$forwards $ssh"

mkdir "$scratch/browser"
HOME=$scratch/browser TMPDIR=$scratch/browser XDG_CONFIG_HOME=$scratch/browser \
    TOKEN=$token node "$top/tests/web/people.mjs" "$playwright" "$axe" "$page1" "$page2" "http://$door" ${PICTURES:+"$PICTURES"} >"$scratch/people" 2>&1
ended=$?
while read -r line; do
    case $line in
    "ok "*) pass "${line#ok }" ;;
    "not ok "*) fail "${line#not ok }" ;;
    *) echo "# $line" ;;
    esac
done <"$scratch/people"
is "$ended" 0 "both have done what they wanted to"
kill $forwards "$sshd" $web
wait $web
is "$?" 0 "dlspool web ends when it is told to"
is "$(grep -v 'a connection was refused: nobody has made this token' "$scratch/web.err")" "" "and had nothing to say but of a token that is none"
done_testing
