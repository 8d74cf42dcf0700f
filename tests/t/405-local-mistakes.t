#!/usr/bin/env bash
# The mistakes of tests/mistakes/table that only show when a job is started: what `why` says of each.
# All of them are dropped at once, as an ordinary user where the test is root.
. "$(dirname "$0")/lib.bash"
command -v podman >/dev/null || skip_all "podman is not installed"
new_spool local || exit 1
set_setting cpus 8
set_setting memory 8Gi
chmod 755 "$scratch" "$spool"
. "$(dirname "$0")/mistakes.bash"
mkdir -p "$scratch/user/prog" "$scratch/user/private"
echo 'print("hello")' >"$scratch/user/prog/train.py"
printf '#!/bin/sh\necho hello\n' >"$scratch/user/prog/run"
echo 'open("model.pt", "w").write("x")' >"$scratch/user/prog/write.py"
chmod 700 "$scratch/user/private"
user=() more=
[ "$(id -u)" != 0 ] || { user=(setpriv --reuid nobody --regid nogroup --clear-groups); more=asroot; }
read_table local $more
start_daemon
for i in "${!numbers[@]}"; do
    chmod 755 "$scratch/${numbers[i]}"
    "${user[@]}" cp "$scratch/${numbers[i]}/${files[i]}" "$spool/incoming/m${numbers[i]}-${files[i]}"
done
ok "all files become jobs, and end" wait_for 120 all_settled
find_jobs
for i in "${!numbers[@]}"; do
    row=${numbers[i]} job=${jobs[${numbers[i]}]}
    like "$job" '/failed/' "$row: ${files[i]} fails"
    while IFS= read -r words; do
        like "$(<"$job/why")" "$words" "$row: and why says so"
    done <"$scratch/$row/words"
done
done_testing
