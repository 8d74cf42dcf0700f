#!/usr/bin/env bash
# Jobs of several users on a real Slurm: each is submitted with its owner's token, and runs as its owner.
# Tokens that are missing, expired, or somebody else's.  What a program finds: HOME, where it starts, the network.
[ "$(id -u)" != 0 ] || [ -n "$DLSPOOL_TEST_MOUNTS" ] || exec env DLSPOOL_TEST_MOUNTS=own unshare -m bash "$0" "$@"
. "$(dirname "$0")/lib.bash"
. "$(dirname "$0")/slurm.bash"
[ "$(id -u)" = 0 ] || skip_all "only root can run jobs as other users"
at_exit 'stop_daemon; stop_slurm'
# One of the users has a home.  Those of docs/slurm.md are there, and a /run of this script's own.
mkdir -p "$scratch/homes/games" && chown games: "$scratch/homes/games" && chmod 755 "$scratch" &&
    sed -E "s|^(games:.*):[^:]*:[^:]*|\\1:$scratch/homes/games:/bin/sh|; s|^(news:.*):[^:]*:[^:]*|\\1:/nonexistent:/bin/sh|" /etc/passwd >"$scratch/passwd" &&
    printf '%s:x:%d:65534::/nonexistent:/bin/sh\n' training 62901 slurmrestd 62902 >>"$scratch/passwd" &&
    mount --bind "$scratch/passwd" /etc/passwd && mount -t tmpfs -o mode=755 own /run || exit 1
start_slurm --users --jwt
new_spool slurm || exit 1
address=http://$(<"$slurm/address")
tokens=$scratch/tokens
mkdir -m 700 "$tokens"
set_setting address "$address"
set_setting token_directory "$tokens"
set_setting retry_first 500ms
set_setting retry_longest 2s
# token FILE USER [SECONDS]: FILE holds a token that slurmctld made for USER.
token() {
    cluster token "$2" "${3:-600}" >"$scratch/token.new" && chmod 600 "$scratch/token.new" && mv "$scratch/token.new" "$tokens/$1"
    cat "$tokens/$1" >>"$scratch/all-tokens"
}
mkdir -m 1777 "$scratch/shared"

token games games
token news news
start_daemon
dropper=games job hers "id -un; id -gn; echo hers >$scratch/shared/hers"
dropper=news job his "id -un; id -gn; echo his >$scratch/shared/his; sleep 1"
must "a job of one user is done" wait_for 40 in_state hers "done"
must "and one of another" wait_for 40 in_state his "done"
is "$(output_of hers)" $'games\n'"$(id -gn games)" "it ran as the one who dropped it"
is "$(output_of his)" $'news\n'"$(id -gn news)" "and so did the other"
is "$(stat -c %U "$scratch/shared/hers" "$scratch/shared/his" | tr '\n' ' ')" "games news " "what they wrote is theirs"
is "$(squeue -h -t all -o %u | sort | tr '\n' ' ')" "games news " "Slurm knows whose jobs they are"

# What docs/job-file.md says of a task, where no container is.
finds() { # finds USER NAME FIELDS
    { printf 'name: %s\n%s\n' "$2" "$3"; cat <<'J'; } >"$scratch/$2.yaml"
script: |
  #!/bin/sh
  echo "HOME $HOME in $(pwd) network $(readlink /proc/self/ns/net)"
  [ "$HOME" = /tmp ] || echo kept >~/"kept-$DLSPOOL_JOB_NAME"
  echo here >here
J
    chown "$1" "$scratch/$2.yaml" && mv "$scratch/$2.yaml" "$spool/incoming/"
}
mkdir -m 777 "$scratch/shared/results"
finds games homely ""
finds games resulting "output: $scratch/shared/results"
finds news homeless ""
for name in homely resulting homeless; do ok "$name is done" wait_for 40 in_state "$name" "done"; done
home=$scratch/homes/games
is "$(output_of homely)" "HOME $home in $home network $(readlink /proc/self/ns/net)" "HOME is the owner's, a task starts in it, and has the node's network"
is "$(cat "$home/kept-homely" "$home/here")" $'kept\nhere' "what it writes there is kept"
is "$(output_of resulting)" "HOME $home in $scratch/shared/results network $(readlink /proc/self/ns/net)" "with an output, it starts in that"
is "$(<"$scratch/shared/results/here")" here "where it can write"
like "$(output_of homeless)" "^HOME /tmp in .*/homeless-[^ ]*/job network" "who has no home has /tmp, and starts in a directory of the job"

# While a job runs, nobody else reads or writes where its output is collected.
dropper=games job private 'echo secret; sleep 3'
private() { find "$spool/.slurm" -name 'main-0.log' -size +0 2>/dev/null | grep private; }
ok "a job writes" wait_for 20 private
is "$(setpriv --reuid news --regid "$(id -g news)" --clear-groups cat "$(private | head -n 1)" 2>/dev/null)" "" \
    "what it prints cannot be read by others"

# No token, somebody else's, an expired one
dropper=nobody job nobodys 'id -un'
waits() { in_state "$1" rendered && [ -e "$(job_dir "$1")/why" ]; }
ok "a job of one without a token waits" wait_for 20 waits nobodys
like "$(why nobodys)" 'nobody' "and why says whose token is missing"
token news games
dropper=news job forged 'id -un'
token games games 1
sleep 2 # a token that was good for a second
dropper=games job late 'id -un'
refused() { grep -q 'token' "$scratch/daemon.log" "$(job_dir "$1")"/{log,why} 2>/dev/null; }
ok "somebody else's token does not make a job run" wait_for 20 refused forged
ok "nor does an expired one" wait_for 20 refused late
is "$(squeue -h -t all -o %j | grep -cE '^(forged|late)')" 0 "neither is at Slurm"
token games games
token news news
ok "with a new token the job runs" wait_for 40 in_state late "done"
is "$(output_of late)" games "as its owner"
dlspool retry "$(basename "$(job_dir forged)")" >/dev/null 2>&1
ok "and so does the other" wait_for 40 in_state forged "done"
is "$(output_of forged)" news "as its owner"

# One token for all: that of SlurmUser, which may act for others
stop_daemon
rm -f "$tokens"/*
token all slurm
set_setting token_directory '""'
set_setting token_file "$tokens/all"
start_daemon
dropper=games job one 'id -un'
dropper=news job other 'id -un'
ok "with the token of SlurmUser a job is done" wait_for 40 in_state one "done"
ok "and another's" wait_for 40 in_state other "done"
is "$(output_of one) $(output_of other)" "games news" "each ran as its owner"

# What docs/slurm.md says to set up, as it stands there: its units, as systemd starts them, its settings, its token.
# block LANGUAGE WORD: the first block of that language that has the word.
block() {
    awk -v fence="^ *[\`]{3}$1\$" -v word="$2" '
        $0 ~ fence { inside = 1; text = ""; next }
        inside && /^ *```$/ { inside = 0; if (index(text, word)) { printf "%s", text; exit } }
        inside { sub(/^   /, ""); text = text $0 "\n" }' "$top/docs/slurm.md"
}
unit_starts() { # WORD: the unit that has it, until it listens
    local unit user directory environment command
    unit=$(block ini "$1")
    user=$(sed -n 's/^User=//p' <<<"$unit") directory=/run/$(sed -n 's/^RuntimeDirectory=//p' <<<"$unit")
    environment=$(sed -n 's/^Environment=//p' <<<"$unit") command=$(sed -n 's/^ExecStart=//p' <<<"$unit")
    install -d -m 755 -o "$user" "$directory"
    setpriv --reuid "$user" --regid 65534 --clear-groups env ${environment:+"$environment"} $command >"$scratch/${directory##*/}.log" 2>&1 &
    echo $! >>"$scratch/units"
    wait_for 20 test -S "${command##*unix:}"
}
# The lines of a part of dlspool.yaml get the values that the block has.
take_settings() {
    local key value
    while IFS=: read -r key value; do
        [[ $key = ' '* ]] || continue
        sed -i -E "/^slurm:/,/^[a-z]/s|^  ${key// /}: .*|  ${key// /}:${value%%  *}|" "$spool/dlspool.yaml"
    done < <(block yaml "$1")
}
says_status() { dlspool status 2>&1 | grep -q -- "$1"; }
stop_units() { [ ! -e "$scratch/units" ] || { xargs kill -KILL <"$scratch/units"; rm "$scratch/units"; } 2>/dev/null; }
at_exit 'stop_daemon; stop_units; stop_slurm'
stop_daemon
must "documented: slurmrestd with tokens starts" unit_starts rest_auth/jwt
must "documented: and without" unit_starts rest_auth/local
must "documented: root makes a token" bash -c "$(block sh 'scontrol token')"
cat /run/dlspool-token/slurm >>"$scratch/all-tokens"
take_settings token_file:
start_daemon
dropper=games job documented 'id -un'
ok "documented: with tokens a job is done" wait_for 40 in_state documented "done"
is "$(output_of documented)" games "documented: as its owner"
like "$(dlspool status)" 'takes jobs' "documented: status says that it works"
stop_daemon
set_setting token_file '""'
take_settings 'user: training'
start_daemon
dropper=games job documented-too 'id -un'
ok "documented: without tokens, too" wait_for 40 in_state documented-too "done"
is "$(output_of documented-too)" training "documented: as the one who slurmrestd is"
# What is down is named.
stop_units
ok "slurmrestd that ended is named" wait_for 20 says_status 'nobody listens at this socket'

stop_daemon
is "$(grep -rlFf <(sort -u "$scratch/all-tokens") "$spool" "$scratch/daemon.log" | wc -l)" 0 "no file and no message has a token"
unlike "$(<"$scratch/daemon.log")" 'stage .* (died|ended)' "no stage died"

done_testing
