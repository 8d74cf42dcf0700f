#!/usr/bin/env bash
# dlspool init makes a whole spool, and never overwrites one.
. "$(dirname "$0")/lib.bash"

ok "init succeeds" "$DLSPOOL" init --executor null "$spool"
for directory in incoming rendered submitted failed held done; do
    ok "$directory/ is there" test -d "$spool/$directory"
done
is "$(stat -c %a "$spool/incoming")" 3777 "incoming/ is sticky and set-gid, and open to all"
is "$(stat -c %a "$spool/.claims")" 700 "the claims are private"
like "$(<"$spool/dlspool.yaml")" '^executor: "null"$' "the executor is the one asked for"

# Every setting the program knows stands in dlspool.yaml, and dlspool.yaml names no other.
known=$(sed -n 's/^    {"\([a-z_]*\)", [.S].*/\1/p' "$top/spool/settings.c" | sort)
written=$(sed -n 's/^\([a-z_]*\):.*/\1/p' "$spool/dlspool.yaml" | sort)
is "$written" "$known" "dlspool.yaml has every setting"

is "$(git -C "$spool/templates.git" rev-list --count HEAD)" 1 "templates.git has one commit"
files=$(git -C "$spool/templates.git" ls-tree -r --name-only HEAD)
for file in images.txt site.yaml retry.txt local/any/single.yaml; do
    like "$files" "^$file\$" "the first commit holds $file"
done
ok "the hook is there and can be run" test -x "$spool/templates.git/hooks/pre-receive"
sed -i 's|^  command: .*|  command: [/no/such/mailer, -t]|' "$spool/dlspool.yaml"
sed -i 's|^privileges: .*|privileges: {fuse: {devices: [/dev/fuse]}}|' "$spool/dlspool.yaml"
sed -i 's|^  file: .*|  file: /no/such/directory/dlspool.prom|' "$spool/dlspool.yaml"
output=$(dlspool check 2>"$scratch/warned")
is $? 0 "what is committed first passes the check"
is "$(head -n 1 "$scratch/warned")" "notify.command: warning: /no/such/mailer: No such file or directory; no messages can be sent" \
    "which warns of a program that is not there yet"
is "$(sed -n 2p "$scratch/warned")" "metrics.file: warning: /no/such/directory: No such file or directory; no counts can be written before it is there" \
    "of a directory that is missing for the metrics"
is "$(sed 1,2d "$scratch/warned")" "approvers: warning: nobody is named, so jobs that want approval (privileges, limits.rows) wait until somebody is" \
    "and of approvals that nobody can give"
sed -i 's|^privileges: .*|privileges: {fuse: {devices: [/dev/fuse], approve: no}}|' "$spool/dlspool.yaml"
like "$output" '^executor null takes jobs: ' "which asks the executor"
dlspool init --executor kubernetes "$scratch/cluster" >/dev/null
sed -i 's|^privileges: .*|privileges: {lock: {capabilities: [IPC_LOCK], approve: no}, net: {host_network: true, approve: no}, fuse: {devices: [/dev/fuse], approve: no}}|' \
    "$scratch/cluster/dlspool.yaml"
output=$("$DLSPOOL" -s "$scratch/cluster" check 2>&1 | grep '^privileges')
like "$output" "^privileges.fuse: warning: a cluster of Kubernetes gives no device by its path .*; jobs that ask for it are refused" \
    "and says which privileges its executor gives to no job"
like "$output" "^privileges.lock: warning: the executor kubernetes gives it to root's jobs alone; others that ask for it are refused" "or to root's alone"
unlike "$output" "privileges.net" "and nothing of one that can be had"
sed -i 's/^  pids: .*/  pids: 0/' "$spool/dlspool.yaml"
like "$(dlspool check 2>&1)" '^dlspool.yaml:[0-9]+(:[0-9]+)?: local.pids: found 0, expected a whole number from 1' \
    "and reads the settings of the executors that are not used"
# One without templates: rendering them all takes seconds.
bare=$(git -C "$spool/templates.git" ls-tree HEAD | grep -v '	[a-z]*$' | git -C "$spool/templates.git" mktree)
bare=$(git -C "$spool/templates.git" -c user.name=t -c user.email=t commit-tree -m bare "$bare")
ok "but not for a revision" dlspool check "$bare"
sed -i 's/^  pids: .*/  pids: 4096/' "$spool/dlspool.yaml"
dlspool status >"$scratch/status"
is $? 3 "status ends with 3 while nobody serves"
like "$(<"$scratch/status")" '^daemon +not running' "and says so"

is "$(git -C "$spool/templates.git" rev-parse vendor)" "$(git -C "$spool/templates.git" rev-parse main)" \
    "the branch vendor begins with the same commit"
ok "init --upgrade with the same version" dlspool init --upgrade
is "$(git -C "$spool/templates.git" rev-list --count vendor)" 1 "adds nothing to it"

# A spool of an older version, whose retry.txt lacks its last line, and a site that has changed images.txt.
git clone -q "$spool/templates.git" "$scratch/site" 2>/dev/null
(cd "$scratch/site" && sed -i '$d' retry.txt && git commit -qa --amend -m 'the version before' &&
    git push -qf "$spool/templates.git" HEAD:refs/heads/vendor &&
    git -C "$spool/templates.git" update-ref refs/heads/main vendor &&
    sed -i '1i # ours' images.txt && git commit -qam 'ours' &&
    git -C "$spool/templates.git" fetch -q "$scratch/site" +HEAD:refs/heads/main) 2>"$scratch/site.log"
served=$(git -C "$spool/templates.git" rev-parse main)
ok "init --upgrade with a newer version" dlspool init --upgrade
is "$(git -C "$spool/templates.git" rev-list --count vendor)" 2 "adds a commit to vendor"
is "$(git -C "$spool/templates.git" rev-parse main)" "$served" "and leaves alone what is served"
ok "git merge origin/vendor takes what is new" \
    git -C "$scratch/site" -c core.editor=true pull -q --no-rebase origin vendor
is "$(head -n 1 "$scratch/site/images.txt")" "# ours" "keeps what the site has changed"
ok "and has the new line" cmp "$scratch/site/retry.txt" "$top/templates/retry.txt"
ok "the merge can be pushed" git -C "$scratch/site" push -q
git -C "$spool/templates.git" update-ref -d refs/heads/vendor
ok "a spool without the branch" dlspool init --upgrade
is "$(git -C "$spool/templates.git" rev-list --count vendor)" 2 "gets it, after the first commit of what is served"
commits=$(git -C "$spool/templates.git" rev-list --count HEAD)

echo "# mine" >>"$spool/dlspool.yaml"
ok "init again succeeds" "$DLSPOOL" init --executor local "$spool"
like "$(tail -n 1 "$spool/dlspool.yaml")" '^# mine$' "and leaves dlspool.yaml alone"
is "$(git -C "$spool/templates.git" rev-list --count HEAD)" "$commits" "and templates.git too"

output=$("$DLSPOOL" init --executor podmn "$scratch/other" 2>&1)
is $? 2 "an unknown executor is wrong usage"
ok "and nothing was made" test ! -e "$scratch/other"
output=$("$DLSPOOL" init --user no-such-user "$scratch/other" 2>&1)
is $? 1 "a user who does not exist ends with status 1"
like "$output" ' knows no user "no-such-user"; make it, and run this again: useradd --system .* no-such-user$' \
    "and with the command that makes them"
ok "nothing was made either" test ! -e "$scratch/other"
output=$("$DLSPOOL" init --user '$(id);x' "$scratch/other" 2>&1)
like "$output" ' knows no user "[^"]*"$' "a name that no user can have is in no command"
output=$("$DLSPOOL" init /proc/nowhere 2>&1)
is $? 1 "a directory that cannot be made ends with status 1"
like "$output" "/proc/nowhere" "and is named"


start_daemon
served() { [ "$(dlspool status --json | jq -r .daemon)" != null ]; }
ok "a daemon serves" wait_for 10 served
ok "status then ends with 0" dlspool status
stop_daemon

done_testing
