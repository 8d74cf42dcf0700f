#!/usr/bin/env bash
# What a job printed does not reach a terminal as orders to it, and reaches anything else as it is.
. "$(dirname "$0")/lib.bash"
command -v script >/dev/null || give_up "script(1) is missing (package bsdutils)"
new_spool null || exit 1
on_terminal() { script -qec "$(printf '%q ' "$DLSPOOL" -s "$spool" "$@")" /dev/null </dev/null | tr -d '\r'; }

id=nasty-1m82000000001
job=$spool/done/2026-11-22/$id
mkdir -p "$job/output"
printf 'format: 1\nid: "%s"\nname: "nasty"\nowner: "root"\nuid: %s\ngid: 0\naccepted: "2026-11-22T10:00:00.000Z"\n' "$id" "$(id -u)" >"$job/job.yaml"
printf 'library: "any"\ntype: "single"\nexecutor: "null"\nattempt: 1\ndlspool: "1"\nsource: "nasty.yaml"\n' >>"$job/job.yaml"
echo '2026-11-22T10:00:00.000Z accepted' >"$job/log"
printf 'hello\n\033]0;mine\007\033[2J caf\303\251 \302\2332J\377\n\t10%%\n' >"$job/output/main-0.log"
shown=$(printf 'hello\n^[]0;mine^G^[[2J caf\303\251 \\u009b2J\\xff\n\t10%%')
is "$(on_terminal logs "$id")" "$shown" "logs shows control characters on a terminal"
is "$(on_terminal logs --tail 2 --prefix "$id" | head -n 1)" "main-0| $(sed -n 2p <<<"$shown")" "with --prefix too"
is "$(on_terminal logs --raw "$id" | od -c)" "$(tr -d '\r' <"$job/output/main-0.log" | od -c)" "not with --raw"
is "$(on_terminal logs --raw --prefix "$id" | sed -n 2p | od -c)" "$(sed -n '2s/^/main-0| /p' "$job/output/main-0.log" | od -c)" \
    "nor with both"
is "$(dlspool logs "$id" | od -c)" "$(od -c "$job/output/main-0.log")" "in a pipe the bytes are those of the job"
is "$(on_terminal logs --json "$id" | sed -n 2p)" '{"task":"main-0","line":"\u001b]0;mine\u0007\u001b[2J café \u009b2J�"}' \
    "as JSON there is none either"
printf '10%%\r20%%\r' >"$job/output/main-0.log"
is "$(script -qec "$DLSPOOL -s $spool logs $id" /dev/null </dev/null | od -An -c | tr -d ' \n')" '10%\r20%\r' "progress bars stay on their line"

# Followed, a character may come in two parts: the job is held open by its state, and ends when it is moved.
mkdir "$spool/submitted/turn"
mv "$job" "$spool/submitted/$id"
rmdir "$spool/submitted/turn"
log=$spool/submitted/$id/output/main-0.log
printf 'one\ncaf\303' >"$log"
script -qefc "$DLSPOOL -s $spool logs -f $id" /dev/null </dev/null >"$scratch/followed" &
follower=$!
ok "the first part is printed" wait_for 10 grep -q caf "$scratch/followed"
printf '\251 \033' >>"$log"
ok "the second makes the character whole" wait_for 10 grep -q $'caf\303\251 ^' "$scratch/followed"
printf '[m\342\202' >>"$log"
mkdir -p "$spool/done/2026-11-22" && mv "$spool/submitted/$id" "$job"
wait "$follower"
is "$(tr -d '\r' <"$scratch/followed")" "$(printf 'one\ncaf\303\251 ^[[m\\xe2\\x82')" "and one that never is, is shown as bytes"

# What else prints text of others.
printf '\033]0;mine\007 out of luck \302\233\n' >"$job/why"
printf '2026-11-22T10:00:01.000Z note field=env text="\033]0;mine\007"\n' >>"$job/log"
for verb in show "show --json" list "list --json" "history --json"; do
    # shellcheck disable=SC2086
    unlike "$(on_terminal $verb "$id" | tr -d '\n')" $'\033|\302\233|\007' "$verb prints none on a terminal"
done
printf 'name: nasty\nlibrary: any\ntype: roles\nenv: {A: "\\e]0;mine\\a\\u00a0\\u009b"}\ntasks: {w: {command: [echo, "\\e[2J"]}}\n' >"$scratch/nasty.yaml"
for verb in render "render --json" convert "convert --json"; do
    # shellcheck disable=SC2086
    unlike "$(on_terminal $verb "$scratch/nasty.yaml" | tr -d '\n')" $'\033|\302\233|\007' "$verb prints none on a terminal"
    # shellcheck disable=SC2086
    like "$(on_terminal $verb "$scratch/nasty.yaml")" 'mine' "and something"
done

# What the name of a dropped file holds is one line of `show`.
sed -i 's|^source: .*|source: "a\\e[2J\\nowner           forged\\u202e.yaml"|' "$job/job.yaml"
like "$(dlspool show "$id" | cat -v)" '^file            a\\x1b\[2J\\x0aowner           forged\\xe2\\x80\\xae.yaml$' "show quotes the name of a file"
done_testing
