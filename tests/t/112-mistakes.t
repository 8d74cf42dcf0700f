#!/usr/bin/env bash
# The mistakes of tests/mistakes/table: what each is told, by cp as by submit, in one spool.
#
# Seen to fail with: any sentence of the table said in other words.
. "$(dirname "$0")/lib.bash"
new_spool null || exit 1
start_daemon

numbers=() kinds=() files=()
row=
while IFS= read -r line; do
    if [[ $line =~ ^==\ ([0-9]+[a-z]?)\ ([a-z]+)\ (.*)$ ]]; then
        row=${BASH_REMATCH[1]}
        numbers+=("$row") kinds+=("${BASH_REMATCH[2]}") files+=("${BASH_REMATCH[3]}")
        mkdir "$scratch/$row"
        : >"$scratch/$row/words" >"$scratch/$row/text"
    elif [ -n "$row" ] && [[ $line == '>> '* ]]; then
        printf '%s\n' "${line#>> }" >>"$scratch/$row/words"
    elif [ -n "$row" ]; then
        printf '%s\n' "$line" >>"$scratch/$row/text"
    fi
done <"$top/tests/mistakes/table"

# All are copied at once, under names that tell them apart, and submitted while those are looked at.
for i in "${!numbers[@]}"; do
    row=${numbers[i]} file=$scratch/${numbers[i]}/${files[i]}
    if [ "$(head -n 1 "$scratch/$row/text")" = %b ]; then
        # Escapes, and no newline at the end.
        printf '%b' "$(tail -n +2 "$scratch/$row/text")" >"$file"
    else
        cp "$scratch/$row/text" "$file"
    fi
    cp "$file" "$spool/incoming/m$row-${files[i]}"
done
for i in "${!numbers[@]}"; do
    [ "${kinds[i]}" = cp ] && continue
    dlspool submit "$scratch/${numbers[i]}/${files[i]}" >"$scratch/${numbers[i]}/id" 2>"$scratch/${numbers[i]}/said"
    echo $? >"$scratch/${numbers[i]}/status"
done
ok "all files that were copied are taken" wait_for 30 sh -c '! ls -A "$1" | grep -q ^m' sh "$spool/incoming"

# job_of ROW FILE: the directory of the job that the copied file became.
declare -A jobs
find_jobs() {
    local log
    for log in "$spool"/{rendered,submitted,failed,held}/*/log "$spool"/done/*/*/log; do
        [ -e "$log" ] && [[ $(head -n 1 "$log") =~ \ file=\"?m([0-9]+[a-z]?)- ]] && jobs[${BASH_REMATCH[1]}]=${log%/log}
    done
    [ ${#jobs[@]} -eq ${#numbers[@]} ]
}
ok "each has become a job" wait_for 20 find_jobs

# The jobs that are good end in done/, all of them.
settled() { [ -z "$(find "$spool/rendered" "$spool/submitted" -mindepth 1 -maxdepth 1 -print -quit)" ]; }
wait_for 30 settled
jobs=()
find_jobs

for i in "${!numbers[@]}"; do
    row=${numbers[i]} job=${jobs[${numbers[i]}]}
    if [ "${kinds[i]}" = taken ]; then
        like "$job" '/done/' "$row: ${files[i]} is a job, by cp"
        is "$(cat "$scratch/$row/status")" 0 "$row: and by submit"
        continue
    fi
    if [ "${kinds[i]}" = noted ]; then
        like "$job" '/done/' "$row: ${files[i]} is a job"
        while IFS= read -r words; do
            like "$(cat "$job/log")" "$words" "$row: whose log has a note"
            like "$(cat "$scratch/$row/said")" "$words" "$row: which submit prints"
        done <"$scratch/$row/words"
        continue
    fi
    like "$job" '/failed/' "$row: ${files[i]} is refused"
    while IFS= read -r words; do
        like "$(cat "$job/why")" "$words" "$row: and cp is told so"
        [ "${kinds[i]}" = cp ] || like "$(cat "$scratch/$row/said")" "$words" "$row: as is submit"
    done <"$scratch/$row/words"
    [ "${kinds[i]}" = cp ] || is "$(cat "$scratch/$row/status")$(cat "$scratch/$row/id")" 1 "$row: which drops nothing"
done
done_testing
