#!/usr/bin/env bash
# Root serves a spool only if nobody else could have written what it believes: settings, templates, jobs' directories.
. "$(dirname "$0")/lib.bash"
[ "$(id -u)" = 0 ] || skip_all "root is needed to be asked to serve what others own"
new_spool null || exit 1
other=65533 # no user of this machine
# starts: does the daemon serve the spool?  It ends when there is nothing to do.
starts() { output=$(timeout 60 "$DLSPOOL" -s "$spool" run --drain 2>&1); }
refused() { # PATTERN WHAT: it does not
    if starts; then fail "$2 is not served" "it is"; else like "$output" "$1" "$2 is not served"; fi
}
without_templates kubernetes slurm local/{pytorch,tensorflow,horovod,deepspeed,mxnet,paddle,jax,mindspore,sklearn} 2>/dev/null
ok "a spool as init makes it is served" starts
unlike "$(dlspool check --quiet 2>&1)" "written to by|belongs to" "and nothing is said of it"

for part in "" /dlspool.yaml /rendered /submitted /failed /held /done /.claims /.new /templates.git /templates.git/config /templates.git/refs/heads; do
    mode=$(stat -c %a "$spool$part")
    chmod o+w "$spool$part"
    refused "$spool$part may be written to by other users .*chmod go-w $spool$part," "${part:-a spool} that everybody may write to"
    chmod "$mode" "$spool$part"
done
chmod o+w "$spool/failed"
like "$(dlspool check --quiet 2>&1)" "$spool/failed may be written to by other users" "check says the same"
chmod o-w "$spool/failed"
like "$(chmod 777 "$spool"; dlspool status 2>&1; chmod 755 "$spool")" "root will not serve this spool: $spool may be written to" "status notes it"

chown $other "$spool/dlspool.yaml"
refused "dlspool.yaml belongs to $other.*chown root $spool/dlspool.yaml" "dlspool.yaml of a stranger"
chown 0 "$spool/dlspool.yaml"
chown $other "$spool"
like "$(starts; echo "$output")" "$spool belongs to $other.*chown root $spool," "a stranger's spool is not served"
like "$(setpriv --reuid $other --clear-groups "$DLSPOOL" -s "$spool" check --quiet 2>&1)" "^" "they can check it"
chown 0 "$spool"
chmod g+w "$spool/dlspool.yaml"
ok "root's own group may write" starts
chgrp 4711 "$spool/dlspool.yaml"
refused "dlspool.yaml may be written to by the members of group 4711" "dlspool.yaml of a group"
chgrp 0 "$spool/dlspool.yaml"
chmod g-w "$spool/dlspool.yaml"
# An access control list, as setfacl -m u:65533:rw (or r) writes it.
give() {
    python3 -c 'import os, struct, sys
os.setxattr(sys.argv[1], "system.posix_acl_access", struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *e) for e in (
    (1, 6, 2**32 - 1), (2, int(sys.argv[2]), 65533), (4, 4, 2**32 - 1), (16, 6, 2**32 - 1), (32, 4, 2**32 - 1))))' "$spool/dlspool.yaml" "$1" 2>/dev/null
}
if give 6; then
    refused "setfacl -b $spool/dlspool.yaml" "dlspool.yaml with an access control list"
    give 4
    ok "one that only lets read is served" starts
    python3 -c 'import os, sys; os.removexattr(sys.argv[1], "system.posix_acl_access")' "$spool/dlspool.yaml"
    chmod 644 "$spool/dlspool.yaml"
else
    echo "# no access control lists on this file system"
fi

# The directories above the spool.
mkdir -p "$scratch/of/stranger"
mv "$scratch/spool" "$scratch/of/stranger/spool"
spool=$scratch/of/stranger/spool
ok "a spool below root's directories is served" starts
chown $other "$scratch/of"
refused "$scratch/of, above the spool, belongs to user $other.*chown root $scratch/of$" "a spool below a directory of somebody's"
like "$(dlspool check --quiet 2>&1)" "$scratch/of, above the spool, belongs to user $other" "check says the same"
chown 0 "$scratch/of"
chmod o+w "$scratch/of/stranger"
refused "$scratch/of/stranger, above the spool, may be written to by others.*chmod go-w $scratch/of/stranger," "a spool in a directory that everybody may write to"
chmod +t "$scratch/of/stranger"
ok "but for one with the sticky bit" starts
mkdir -p "$scratch/space/of"
chown $other "$scratch/space"
cp "$spool/dlspool.yaml" "$scratch/settings"
sed -i "s|^executor:.*|executor: local|; s|^  storage:.*|  storage: $scratch/space/of/storage|" "$spool/dlspool.yaml"
like "$(dlspool check --quiet 2>&1)" "$scratch/space, above local.storage, belongs to user $other" "podman's files below a directory of somebody's"
cp "$scratch/settings" "$spool/dlspool.yaml"
mv "$spool" "$scratch/spool"
spool=$scratch/spool

# A group that pushes templates, as docs/administrator.md lets it in.
chgrp -R 4711 "$spool/templates.git"
chmod -R g+w "$spool/templates.git"
refused "templates.git may be written to by the members of group 4711 .*core.sharedRepository group" "templates of a group"
git -C "$spool/templates.git" config core.sharedRepository group
ok "a group that core.sharedRepository lets in is believed" starts
chown $other "$spool/templates.git/HEAD"
ok "so are the files that its members leave" starts
chmod g+w "$spool/failed"
chgrp 4711 "$spool/failed"
refused "$spool/failed may be written to by the members of group 4711" "what that group may write elsewhere"
chgrp 0 "$spool/failed"
chmod g-w "$spool/failed"

# A spool of the user as whom the stages run that read users' files.
"$DLSPOOL" init --executor null --user daemon "$scratch/theirs" >/dev/null
spool=$scratch/theirs
ok "a spool of user: is served" starts
chmod g+w "$spool"
ok "also where their own group may write" starts
chmod o+w "$spool/rendered"
refused "rendered may be written to by other users" "directories of theirs that are open"
chmod o-w "$spool/rendered"

# While it is served, settings that others could have written do not come into force.
spool=$scratch/spool
start_daemon
said() { grep -q "$1" "$scratch/daemon.log"; }
served() { dlspool status 2>/dev/null | grep -q '^daemon .*process'; }
must "the daemon serves" wait_for 20 served
chmod o+w "$spool/dlspool.yaml"
echo '# by a stranger' >>"$spool/dlspool.yaml"
ok "changed settings that others may write to are left alone" wait_for 20 said "dlspool.yaml may be written to by other users.*the settings before it stay in force"
chmod o-w "$spool/dlspool.yaml"
echo '# by root' >>"$spool/dlspool.yaml"
ok "until nobody else may" wait_for 20 said "dlspool.yaml has changed and is good"

# Who may read a file may lock it: the locks of the stages are nobody else's.
as_other() { setpriv --reuid $other --regid $other --clear-groups "$@"; }
chmod 644 "$spool/.resubmit.lock" # as an older version made it
is_private() { [ "$(stat -c %a "$spool/$1")" = 600 ]; }
ok ".resubmit.lock is for nobody else" wait_for 20 is_private .resubmit.lock
ok ".lock neither" is_private .lock
like "$(as_other "$DLSPOOL" -s "$spool" status 2>&1)" '^daemon .*process' "others are told that the spool is served all the same"
kill -KILL "$daemon" $(pgrep -P "$daemon")
wait "$daemon" 2>/dev/null
daemon=
like "$(as_other "$DLSPOOL" -s "$spool" status 2>&1)" '^daemon +not running' "and when it is not any more"
done_testing
