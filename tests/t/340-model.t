#!/usr/bin/env bash
# The protocol in Promela, tests/model/: every order of steps of two daemons, an executor and a user.  The protocol as it
# is holds; as it was, and with each of its protections taken out, spin finds what goes wrong.
#
# MODEL_MORE=1 (make check-long) tries more kills, takeovers and lost answers together.
. "$(dirname "$0")/lib.bash"
command -v spin >/dev/null && command -v gcc >/dev/null || skip_all "spin and gcc are not here"

# check MODEL OPTION...: what spin says of it, in $said, and how much it looked at, in $size.
check() {
    local model=$1
    shift
    rm -rf "$scratch/model" && mkdir "$scratch/model" && cd "$scratch/model" || exit 1
    { spin -a "$@" "$top/tests/model/$model.pml" && gcc $optimise -w -DSAFETY -DMEMLIM=6000 -o pan pan.c &&
        timeout "${MODEL_LIMIT:-1800}" ./pan -E -m100000 -w"$table"; } >said 2>&1
    said=$(cat said)
    size="$(sed -n 's/ *\([0-9]*\) states, stored.*/\1/p' said) states, depth $(sed -n 's/.*depth reached \([0-9]*\).*/\1/p' said)"
}
table=20 # the binary logarithm of how many places its table of states has
holds() { optimise="-O1 ${dense:-}" check "$@"; like "$said" '^State-vector.*errors: 0$' "$*: holds in $size"; unlike "$said" 'Search not completed|max search depth too small' "... all of them"; }
finds() { optimise=-O0 check "$@"; like "$said" 'assertion violated' "$*: found wrong after $size"; }

same=-DSAME_HOST few="-DPATIENCE -DKILLS=1 -DSTEPS=1" kills="-DKILLS=2 -DSTEPS=0"
holds serve $same $kills
holds serve $same $few
holds serve $few
finds serve $same -DKILLS=1 -DSTEPS=0 -DOLD
for without in NO_LOOK KEEPS_OWN KEEPS_CLAIM FREES_NUMBER OVERLOOKS_CLAIMS; do finds serve $few -D$without; done
for without in ANY_LOCK KEEPS_LOCK; do finds serve $same $few -D$without; done
finds serve $same $kills -DUNLOCKED_FIRST

killed="-DKILLS=1 -DTAKEOVERS=0 -DLOSSES=0" taken="-DKILLS=0 -DTAKEOVERS=1 -DLOSSES=0" lost="-DKILLS=0 -DTAKEOVERS=0 -DLOSSES=2"
holds job -DKILLS=1 -DTAKEOVERS=0 -DLOSSES=2 -DUSER
holds job $taken
for without in NO_SEARCH NO_END; do finds job $killed -D$without; done
for without in NO_TOKEN NO_INTENT BELIEVES_AWAY; do finds job $lost -DUSER -D$without; done
for without in NO_FENCE MOVES_UNSEEN SHARED_NEW; do finds job $taken -D$without; done
finds job $taken -DLATE

if [ "${MODEL_MORE:-}" ]; then
    holds serve $same -DPATIENCE -DKILLS=2 -DSTEPS=1
    holds serve -DPATIENCE -DKILLS=2 -DSTEPS=1
    holds job $taken -DUSER
    holds job $taken -DLATE -DKEEPS
    holds job -DKILLS=0 -DTAKEOVERS=1 -DLOSSES=1
    # A kill and a takeover together: parts of a state are kept once, in 1 GB.
    dense=-DCOLLAPSE table=25
    holds job -DKILLS=1 -DTAKEOVERS=1 -DLOSSES=0
    holds job -DKILLS=1 -DTAKEOVERS=1 -DLOSSES=1
fi
done_testing
