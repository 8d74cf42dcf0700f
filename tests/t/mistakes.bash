# mistakes.bash - for scripts that drop the mistakes of tests/mistakes/table; source it after lib.bash.
#
# read_table KIND...: the rows of these kinds, into the arrays numbers, kinds and files, and into
# $scratch/NUMBER/: the file, and `words`, one regular expression a line.  @ in the text of a `local` or `asroot` row is
# $scratch/user.
numbers=() kinds=() files=()
read_table() {
    local line row= wanted=" $* "
    while IFS= read -r line; do
        if [[ $line =~ ^==\ ([0-9]+[a-z]?)\ ([a-z]+)\ (.*)$ ]]; then
            row=${BASH_REMATCH[1]}
            [[ $wanted == *" ${BASH_REMATCH[2]} "* ]] || { row=; continue; }
            numbers+=("$row") kinds+=("${BASH_REMATCH[2]}") files+=("${BASH_REMATCH[3]}")
            mkdir "$scratch/$row"
            : >"$scratch/$row/words" >"$scratch/$row/text"
        elif [ -n "$row" ] && [[ $line == '>> '* ]]; then
            printf '%s\n' "${line#>> }" >>"$scratch/$row/words"
        elif [ -n "$row" ]; then
            [[ ${kinds[-1]} != @(local|asroot) ]] || line=${line//@/$scratch\/user}
            printf '%s\n' "$line" >>"$scratch/$row/text"
        fi
    done <"$top/tests/mistakes/table"
    local i
    for i in "${!numbers[@]}"; do
        row=${numbers[i]}
        [ "${kinds[i]}" != see ] || continue
        IFS= read -r line <"$scratch/$row/text"
        if [ "$line" = %b ]; then
            # Escapes, and no newline at the end.
            printf '%b' "$(tail -n +2 "$scratch/$row/text")" >"$scratch/$row/${files[i]}"
        else
            cp "$scratch/$row/text" "$scratch/$row/${files[i]}"
        fi
    done
}

# find_jobs: the directories of the jobs that incoming/mNUMBER-FILE became, into jobs[NUMBER]; false while
# some are not there.
declare -A jobs
find_jobs() {
    local log line
    jobs=()
    for log in "$spool"/{rendered,submitted,failed,held}/*/log "$spool"/done/*/*/log; do
        [ -e "$log" ] && IFS= read -r line <"$log" && [[ $line =~ \ file=\"?m([0-9]+[a-z]?)- ]] && jobs[${BASH_REMATCH[1]}]=${log%/log}
    done
    [ ${#jobs[@]} -eq ${#numbers[@]} ]
}
# all_settled: all have become jobs, of which none waits or runs.
all_settled() { find_jobs && [ -z "$(find "$spool/rendered" "$spool/submitted" -mindepth 1 -maxdepth 1 -print -quit)" ]; }
