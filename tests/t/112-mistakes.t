#!/usr/bin/env bash
# The mistakes of tests/mistakes/table: what each is told, by cp as by submit, in one spool.
. "$(dirname "$0")/lib.bash"
new_spool null || exit 1
start_daemon

. "$(dirname "$0")/mistakes.bash"
is "$(sed -n 's/^== \([0-9]*\) .*/\1/p' "$top/tests/mistakes/table" | tr '\n' ' ')" "$(seq -s ' ' 118) " "each mistake has its row"
read_table see
for i in "${!numbers[@]}"; do
    ok "${numbers[i]}: ${files[i]} shows it" grep -qF -f "$scratch/${numbers[i]}/words" "$top/${files[i]}"
done
numbers=() kinds=() files=()
read_table refused taken noted cp place

# All are copied at once, under names that tell them apart, and submitted while those are looked at.
for i in "${!numbers[@]}"; do
    to=$spool/incoming/m${numbers[i]}-${files[i]}
    if [ "${kinds[i]}" = place ]; then
        eval "$(sed "s|@|'$to'|" "$scratch/${numbers[i]}/text")"
    else
        cp "$scratch/${numbers[i]}/${files[i]}" "$to"
    fi
done
for i in "${!numbers[@]}"; do
    [[ ${kinds[i]} = @(cp|place) ]] && continue
    dlspool submit "$scratch/${numbers[i]}/${files[i]}" >"$scratch/${numbers[i]}/id" 2>"$scratch/${numbers[i]}/said"
    echo $? >"$scratch/${numbers[i]}/status"
done
ok "all files that were copied become jobs, and the good ones are done" wait_for 30 all_settled
find_jobs

for i in "${!numbers[@]}"; do
    row=${numbers[i]} job=${jobs[${numbers[i]}]}
    if [ "${kinds[i]}" = taken ]; then
        like "$job" '/done/' "$row: ${files[i]} is a job, by cp"
        is "$(<"$scratch/$row/status")" 0 "$row: and by submit"
        continue
    fi
    if [ "${kinds[i]}" = noted ]; then
        like "$job" '/done/' "$row: ${files[i]} is a job"
        while IFS= read -r words; do
            like "$(<"$job/log")" "$words" "$row: whose log has a note"
            like "$(<"$scratch/$row/said")" "$words" "$row: which submit prints"
        done <"$scratch/$row/words"
        continue
    fi
    like "$job" '/failed/' "$row: ${files[i]} is refused"
    while IFS= read -r words; do
        like "$(<"$job/why")" "$words" "$row: and cp is told so"
        [[ ${kinds[i]} = @(cp|place) ]] || like "$(<"$scratch/$row/said")" "$words" "$row: as is submit"
    done <"$scratch/$row/words"
    [[ ${kinds[i]} = @(cp|place) ]] || is "$(<"$scratch/$row/status")$(<"$scratch/$row/id")" 1 "$row: which drops nothing"
done
done_testing
