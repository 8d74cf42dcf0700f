#!/usr/bin/env bash
# A file that is copied, not renamed, is never taken half-written, however slowly it comes.
#
# Seen to fail with: settle_judge() in watcher/settle.c returning SETTLE_READY at once (half a file
# is refused); CONTENT_CUT treated as CONTENT_PLAUSIBLE there (what is cut off is taken for a job,
# or refused for another reason).  Its question for writers may be left out: drop_read() asks again.
. "$(dirname "$0")/lib.bash"
new_spool null || exit 1
set_setting cut_off_time 3s
start_daemon

# A whole request is longer than each of its prefixes, many of which are requests too.
cat >"$scratch/slow.yaml" <<'JOB'
name: slow
library: any
type: single
script: |
  #!/bin/sh
  echo one
  echo two
priority: 7
JOB
# Written in pieces by one program that holds it open, with rests longer than the quiet time.
/usr/bin/python3 - "$scratch/slow.yaml" "$spool/incoming/slow.yaml" <<'PY' &
import sys, time
text = open(sys.argv[1], "rb").read()
with open(sys.argv[2], "wb", buffering=0) as out:
    for start in range(0, len(text), 30):
        out.write(text[start:start + 30])
        time.sleep(0.8)
PY
writer=$!
cp "$scratch/slow.yaml" "$spool/incoming/quick.yaml"
wait $writer
ok "the slow file is done" wait_for 20 sh -c "ls $spool/done/*/ | grep -q '^slow'"
for job in "$spool"/done/*/slow-*; do
    ok "what was taken is whole" cmp "$scratch/slow.yaml" "$job/request.yaml"
done
is "$(ls "$spool/failed")" "" "nothing was taken before"

# JSON that closes needs no quiet time; JSON that does not is refused in the end, with the reason.
printf '{"name": "closed", "library": "any", "type": "single", "script": "#!/bin/sh"}' >"$spool/incoming/closed.json"
ok "JSON that closes is taken" wait_for 10 in_state closed "done"
printf '{"name": "open", "library": "any", "type": "sing' >"$spool/incoming/open.json"
ok "JSON that does not close is refused" wait_for 20 has_ended open
like "$(cat "$(job_dir open)/why")" 'cut off' "because it is cut off"
ok "and not taken for a job" test -z "$(find "$spool/done" -name 'open-*')"
printf 'name: cut\nlibrary: any\ntype: single\nscript: ec' >"$spool/incoming/cut.yaml"
ok "YAML cut off in a line is refused" wait_for 20 in_state cut failed
like "$(cat "$(job_dir cut)/why")" 'cut off' "because it is cut off"

done_testing
