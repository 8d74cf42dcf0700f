#!/usr/bin/env bash
# Two daemons on two hosts, one spool on NFS, and a cluster that counts: one works and one stands by.
# The first is killed, stopped and woken up, and cut off from the network; the second takes over,
# nothing is lost, and nothing runs twice.  With v4.2, and with v3 where every host has locks of its own
# (`nolock`), so that only the lease tells them apart.
. "$(dirname "$0")/nfs.bash"
. "$(dirname "$0")/kubernetes.bash"
api=/run/home/api
start_cluster --address $beside --set run_seconds=0.5 || give_up "the stand-in starts"
at_exit 'signal_on A KILL; signal_on B KILL; stop_cluster'
jobs=0
drop_jobs() {
    local i
    for i in $(seq "$2"); do
        jobs=$((jobs + 1))
        printf 'name: j%03d\nlibrary: any\ntype: single\ntasks:\n  main: {command: [work]}\n...\n' $jobs >"$scratch/new/j$jobs.yaml"
    done
    on "$1" perl -e 'use File::Copy; my $to = shift; for (@ARGV) { m|([^/]*)$|; copy($_, "$to/.$1") && rename("$to/.$1", "$to/$1") or die "$1: $!" }' "$spool/incoming" "$scratch/new"/*
    rm "$scratch/new"/*
}
finished() { find "$served/done" -mindepth 2 -maxdepth 2 -name 'j*' | wc -l; }
done_to() { [ "$(finished)" -ge "$1" ]; }
submitted() { find "$served/submitted" -mindepth 1 -maxdepth 1 | grep -q .; }

# check_version VERSION [OPTIONS]: A is stopped and woken up, then B is cut off and comes back, then A is killed.
check_version() {
    local v=v${1%%.*}
    attach A "$1" "${2:-}" && attach B "$1" "${2:-}" || { fail "$v: mounted"; return; }
    mkdir -p "$scratch/new"
    on A "$DLSPOOL" init --executor kubernetes "$spool" >/dev/null
    must "$v: settings are changed" change_settings 0 "s|^takeover_time: .*|takeover_time: 4s|
        s|^( *)kubeconfig: .*|\1kubeconfig: $api/kubeconfig|; s|^scan_interval.*|scan_interval: 1s|"
    start_on A
    drop_jobs A 5
    ok "$v: A serves" wait_for 20 done_to 5
    start_on B
    ok "$v: B stands by" wait_for 10 said_on B 'standing by'

    # A stops, with jobs under way.
    drop_jobs A 10
    ok "$v: jobs are under way" wait_for 15 submitted
    signal_on A STOP
    drop_jobs B 5
    ok "$v: A is stopped, B takes over" wait_for 20 said_on B 'taking over'
    signal_on A CONT
    ok "$v: A sees that when it wakes up" wait_for 20 said_on A 'another daemon has taken over'
    ok "$v: and stands by" wait_for 10 said_on A 'standing by'
    is "$(cut -d' ' -f1,2 "$served/.lease")" "2 B" "$v: B serves"
    ok "$v: all jobs are done" wait_for 30 done_to 20

    # B's network goes, with jobs under way, and comes back.
    : >"$scratch/A.log"
    : >"$scratch/B.log"
    drop_jobs A 10
    ok "$v: jobs are under way at B" wait_for 15 submitted
    unplug B
    drop_jobs A 5
    ok "$v: B is cut off, A takes over" wait_for 30 said_on A 'taking over'
    ok "$v: all jobs are done, too" wait_for 30 done_to 35
    plug B
    ok "$v: B sees that when it is back" wait_for 30 said_on B 'another daemon has taken over'
    ok "$v: and stands by" wait_for 40 said_on B 'standing by'

    # A is killed.
    : >"$scratch/B.log"
    drop_jobs B 10
    ok "$v: jobs are under way at A" wait_for 15 submitted
    signal_on A KILL
    ok "$v: A is killed, B takes over" wait_for 20 said_on B 'taking over'
    ok "$v: all jobs are done in the end" wait_for 30 done_to 45
    is "$(find "$served"/{incoming,rendered,submitted,failed,held,.claims,.new} -mindepth 1 | wc -l)" 0 "$v: nothing is anywhere else"
    stop_on B
    detach A
    detach B
    mv "$served" "$served$v"
    rm -f "$scratch"/?.log
}
check_version 4.2
check_version 3 nolock
# One that took over says it again where the other was killed between saying it and moving the job.
said=$(for log in "$served"v*/done/*/j*/log; do sed -n 's/.* submitted \(attempt=[0-9]*\).*/\1/p' "$log" | sort -u; done)
is "$(wc -l <<<"$said")" $jobs "each job was submitted in one attempt, as it says"
created=$(order '{"order": "dump", "what": "creations", "kind": "jobs"}' | jq -r '.creations[].name')
is "$(wc -l <<<"$created")" $jobs "and as the cluster says"
is "$(sort <<<"$created" | uniq -d | wc -l)" 0 "none was created twice"
is "$(grep -vc -- '-a1$' <<<"$created")" 0 "each in its first attempt"
ran=$(order '{"order": "dump", "what": "pods"}' | jq -r '.pods[].name' | sed -E 's/-[a-z0-9]{5}$//')
is "$(sort <<<"$ran" | uniq -d | wc -l)" 0 "no task ran twice"
is "$(wc -l <<<"$ran")" $jobs "every task ran"
done_testing
