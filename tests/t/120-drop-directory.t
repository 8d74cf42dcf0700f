#!/usr/bin/env bash
# What strangers drop: nothing blocks, nothing is followed, nothing is lost, everything that cannot
# be a job is refused with a reason, and others are not delayed.
. "$(dirname "$0")/lib.bash"
new_spool null || exit 1
set_setting cut_off_time 2s
start_daemon
in=$spool/incoming
good() { printf 'name: %s\nlibrary: any\ntype: single\nscript: "#!/bin/sh"\n' "$1"; }

mkfifo "$in/pipe.yaml"
ln -s /etc/passwd "$in/link.yaml"
mkdir "$in/directory.yaml" && echo x >"$in/directory.yaml/inner"
good hard >"$scratch/hard" && ln "$scratch/hard" "$in/hard.yaml"
truncate -s 1T "$in/sparse.yaml" 2>/dev/null || truncate -s 100G "$in/sparse.yaml"
: >"$in/empty.yaml"
head -c 10485760 /dev/zero | tr '\0' 'x' >"$scratch/big" && mv "$scratch/big" "$in/big.yaml"
good "x" >"$in"/$'new\nline.yaml'
good "x" >"$in"/$'bad\xffutf8.yaml'
good "x" >"$in/$(printf 'n%.0s' $(seq 250)).yaml"
[ "$(id -u)" = 0 ] && mknod "$in/device.yaml" c 1 3
good fine | drop fine.yaml

ok "a good file among them is done" wait_for 10 in_state fine "done"
for name in pipe link directory hard sparse empty big; do
    ok "$name is refused" wait_for 20 has_ended "$name"
    like "$(cat "$(job_dir "$name")/why")" '^The file cannot be a job: .+' "$name has a reason"
done
[ "$(id -u)" = 0 ] && ok "a device is refused" wait_for 20 has_ended device
ok "what was dropped is kept" test -p "$(job_dir pipe)/dropped"
ok "a link is kept, not followed" test -L "$(job_dir link)/dropped"
ok "a directory is kept with what is in it" test -e "$(job_dir directory)/dropped/inner"
is "$(cat /etc/passwd | wc -l)" "$(wc -l </etc/passwd)" "and its target is as it was"
like "$(<"$(job_dir hard)/why")" 'link' "a hard link is named"
ok "odd names become jobs or reasons too" \
    wait_for 20 test -z "$(find "$in" -maxdepth 1 -type f ! -name '.*' ! -name 'new*' ! -name 'bad*' ! -name 'nnn*' | head -n 1)"
ok "incoming/ is empty in the end" wait_for 20 sh -c "[ -z \"\$(ls '$in')\" ]"

# Work in progress is left alone.
for name in .hidden.yaml work.yaml~ work.tmp work.part work.swp work.filepart; do good wip >"$in/$name"; done
good after | drop after.yaml
ok "a later job is done" wait_for 10 in_state after "done"
is "$(ls -A "$in" | wc -l)" 6 "names of work in progress are not taken"

# Whose word a file is: not its owner's when others could have written it.
if [ "$(id -u)" = 0 ]; then
    put() { good "$1" >"$scratch/word" && chown "$2" "$scratch/word" && chmod "$3" "$scratch/word" && mv "$scratch/word" "$in/$1.yaml"; }
    put everybodys 1:1 646
    put strangers 1:2 664
    put own-group 1:1 664
    chgrp 3 "$in"
    put of-incoming 1:3 664
    printf 'kill: own-group\n' >"$scratch/word" && chown 1:2 "$scratch/word" && chmod 664 "$scratch/word" && mv "$scratch/word" "$in/word.yaml"
    for name in everybodys strangers word; do ok "$name: what others may write to is refused" wait_for 20 has_ended $name; done
    like "$(<"$(job_dir everybodys)/why")" 'may be written to by everybody, .*chmod go-w' "with what to do"
    like "$(<"$(job_dir strangers)/why")" 'may be written to by the members of group 2 .* what daemon wrote; chmod g-w' "and who could have"
    ok "what the owner's own group may write to is not" wait_for 20 in_state own-group "done"
    ok "nor what that of incoming/ may" wait_for 20 in_state of-incoming "done"
    chgrp 0 "$in"

    # A file that waits for somebody to copy theirs into it.
    exec 7>"$in/theirs.yaml"
    chown 1:1 "$in/theirs.yaml" && chmod 666 "$in/theirs.yaml"
    gone() { [ ! -e "$in/theirs.yaml" ]; }
    ok "an empty file that all may write to is taken away, although it is held open" wait_for 5 gone
    good theirs >"$scratch/theirs.yaml" && cp "$scratch/theirs.yaml" "$in/theirs.yaml"
    theirs_is_done() { grep -q '^owner: "root"' "$spool"/done/*/theirs-*/job.yaml; }
    ok "who copies theirs there gets their job, in their name" wait_for 20 theirs_is_done
    exec 7>&-
fi

# An unreadable file: refused with the chmod to use, by a daemon that is not root.
if [ "$(id -u)" = 0 ]; then
    stop_daemon
    chown -R nobody "$spool"
    chmod 755 "$scratch"
    setpriv --reuid nobody --regid nogroup --clear-groups "$DLSPOOL" -s "$spool" run -v 2>>"$scratch/daemon.log" &
    daemon=$!
    good unreadable >"$scratch/unreadable" && chmod 000 "$scratch/unreadable" && mv "$scratch/unreadable" "$in/unreadable.yaml"
    ok "a file that the daemon may not read is refused" wait_for 20 has_ended unreadable
    like "$(<"$(job_dir unreadable)/why")" 'chmod' "with the chmod to use"
    good mine | drop mine.yaml
    ok "an unprivileged daemon serves others' files" wait_for 20 in_state mine "done"
fi

done_testing
