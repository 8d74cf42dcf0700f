#!/usr/bin/env bash
# Every verb explains itself; a mistyped word names the nearest one; statuses are 0, 1 and 2.
. "$(dirname "$0")/lib.bash"

verbs="init run submit list show logs wait kill retry hold release approve refuse top priority resubmit prune render convert diff plan check eval history acct report nodes limits share metrics pause resume simulate web token version"

like "$("$DLSPOOL" --help)" 'usage: dlspool' "--help shows the usage"
for verb in $verbs; do
    output=$("$DLSPOOL" "$verb" --help 2>&1)
    is $? 0 "$verb --help ends with status 0"
    like "$output" "usage: dlspool .*$verb" "$verb --help shows the usage"
    like "$("$DLSPOOL" --help)" "^  $verb " "--help lists $verb"
done
like "$("$DLSPOOL" version)" '^dlspool [0-9]+\.[0-9]+' "version prints the version"

output=$("$DLSPOOL" sumbit 2>&1)
is $? 2 "a mistyped verb ends with status 2"
like "$output" 'did you mean submit\?' "a mistyped verb names the nearest one"
is "$("$DLSPOOL" help list)" "$("$DLSPOOL" list --help)" "help VERB is VERB --help"
like "$("$DLSPOOL" help)" 'Verbs:' "and help alone lists the verbs"
is "$("$DLSPOOL" help | sed -n '/^Verbs:/,/^$/s/^  \(eval\|init\|submit\|kill\) .*/\1/p' | xargs)" "submit kill" \
    "those of users first, by themselves"
is "$("$DLSPOOL" help | sed -n '/^For administrators:/,/^$/s/^  \(web\|simulate\|metrics\) .*/\1/p' | xargs)" "metrics web" \
    "then those of administrators"
for pair in cancel:kill delete:kill ps:list queue:list squeue:list get:list describe:show why:show requeue:retry; do
    like "$("$DLSPOOL" "${pair%:*}" 2>&1)" "did you mean ${pair#*:}" "${pair%:*} of other systems is ${pair#*:}"
done
unlike "$("$DLSPOOL" bogus 2>&1)" 'did you mean' "what is like no verb is not answered with one"
output=$("$DLSPOOL" list --jsno 2>&1)
is $? 2 "a mistyped option ends with status 2"
like "$output" 'did you mean --json\?' "a mistyped option names the nearest one"
output=$("$DLSPOOL" token list 2>&1)
like "$output" 'expected none; did you mean --list\?; usage: dlspool token$' "an option without its hyphens names it, too"
unlike "$("$DLSPOOL" token bogus 2>&1)" 'did you mean' "a word that is like no option is not answered with one"
# One name for a thing: a letter stands for the same word wherever it is, and a word has the same value.
options=$(for verb in $verbs status; do "$DLSPOOL" "$verb" --help; done | grep -E '^  (-|    --)' | sort -u)
like "$options" '-t, --state STATE' "options are listed"
is "$(sed -nE 's/^  -(.), --([a-z-]+).*/\1 \2/p' <<<"$options" | sort -u | cut -d' ' -f1 | uniq -d)" "" "a letter means one option"
is "$(grep -oE -- '--[a-z-]+ [A-Z]+' <<<"$options" | sort -u | cut -d' ' -f1 | uniq -d)" "" "an option has one kind of value"
"$DLSPOOL" wait -t 1s 2>/dev/null
is $? 2 "what earlier versions called it is still understood, but for the missing operand"
like "$("$DLSPOOL" wait -t 1s 2>&1)" 'operands' "which is what is said"
output=$("$DLSPOOL" list --state dnoe 2>&1)
is $? 2 "a mistyped state ends with status 2"
like "$output" 'did you mean done\?' "a mistyped state names the nearest one"
"$DLSPOOL" >/dev/null 2>&1
is $? 2 "no verb at all ends with status 2"
"$DLSPOOL" show >/dev/null 2>&1
is $? 2 "a missing operand ends with status 2"
output=$("$DLSPOOL" -s "$scratch/nowhere" list 2>&1)
is $? 1 "a spool that is not there ends with status 1"
like "$output" "nowhere" "and the sentence names it"
output=$("$DLSPOOL" -s "$scratch" list 2>&1)
like "$output" "is not a spool" "a directory that is no spool is told so"

# Completion for bash: what the program's help says, and ids.
new_spool null || exit 1
start_daemon
id=$(printf "name: digits\nlibrary: any\ntype: single\nscript: \"#!/bin/sh\"\n" | dlspool submit -)
stop_daemon
# complete WORD...: what the last word may become.
complete_words() {
    bash -c '. "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _dlspool 2>/dev/null; echo "${COMPREPLY[@]}"' \
        "$top/etc/dlspool.bash-completion" "$DLSPOOL" "$@"
}
is "$(complete_words ki)" kill "a verb is completed"
is "$(complete_words '' | tr ' ' '\n' | sort | tr '\n' ' ')" \
    "$(printf '%s\n' $verbs help status | sort | tr '\n' ' ')" "all verbs are offered"
like "$(complete_words list --)" '--state.*--json' "options are"
is "$(complete_words list --state he)" held "states are"
is "$(complete_words -s "$spool" show dig)" "$id" "and the jobs of the spool"

done_testing
