#!/usr/bin/env bash
# The way of a job, with an executor that finishes everything at once: each dialect, the files of
# a job, and that ls, cat and grep answer what the commands answer.
. "$(dirname "$0")/lib.bash"
new_spool null || exit 1
start_daemon

cat >"$scratch/native.yaml" <<'JOB'
name: native
library: sklearn
type: single
script: |
  print("hello")
JOB
cat >"$scratch/native.json" <<'JOB'
{"name": "from-json", "library": "any", "type": "single", "script": "#!/bin/sh\necho hello\n"}
JOB
cat >"$scratch/batch.sh" <<'JOB'
#!/bin/sh
#DL name=batch
#DL library=any
#DL type=single
echo hello
JOB
cp "$scratch/native.yaml" "$scratch/native.json" "$scratch/batch.sh" "$spool/incoming/"
for name in native from-json batch; do
    ok "$name ends in done/" wait_for 20 in_state "$name" "done"
done
is "$(ls "$spool/incoming")" "" "incoming/ is empty again"
is "$(ls -A "$spool/.claims" "$spool/.new" | grep -v '^/' | grep -v ':$' | tr -d '\n')" "" \
    "no claim is left"

job=$(job_dir native)
id=$(basename "$job")
like "$(dirname "$job")" "/done/[0-9]{4}-[0-9]{2}-[0-9]{2}\$" "done/ is kept by days"
ok "the request is kept byte for byte" cmp "$scratch/native.yaml" "$job/request.yaml"
ok "a JSON request keeps its name" test -e "$(job_dir from-json)/request.json"
ok "a batch script keeps its name" test -e "$(job_dir batch)/request.sh"
is "$(stat -c %a "$job/request.yaml")" 640 "a request is not world-readable"
is "$(stat -c %a "$job/manifest.yaml")" 640 "nor is a manifest"

commit=$(git -C "$spool/templates.git" rev-parse HEAD)
like "$(<"$job/job.yaml")" "template_commit: \"$commit\"" "job.yaml names the commit"
like "$(<"$job/job.yaml")" "request_sha256: \"$(sha256sum <"$scratch/native.yaml" | cut -c1-64)\"" \
    "and the request's SHA-256"
like "$(<"$job/job.yaml")" "manifest_sha256: \"$(sha256sum <"$job/manifest.yaml" | cut -c1-64)\"" \
    "and the manifest's"
like "$(<"$job/job.yaml")" 'template_path: "local/sklearn/single.yaml"' "and the template"
like "$(<"$job/job.yaml")" 'image_line: [1-9]' "and the line of images.txt"
like "$(<"$job/job.yaml")" 'dlspool: "[0-9.]+"' "and the version of dlspool"

events=$(cut -d' ' -f2 "$job/log" | tr '\n' ' ')
like "$events" '^accepted rendered intent submitted (started )?(measured )?ended finished $' \
    "the log tells the way of the job"

# ls, cat and grep answer what the commands answer.
is "$(dlspool list --state done | awk '{print $1}' | sort)" \
    "$(ls "$spool"/done/* | sort)" "list --state done is ls done/*"
is "$(dlspool list --json | jq -r '.[] | select(.state == "done") | .path' | sort)" \
    "$(cd "$spool" && ls -d done/*/* | sort)" "list --json gives the same paths"
is "$(dlspool show --json "$id" | jq -r .commit)" \
    "$(grep '^template_commit:' "$job/job.yaml" | cut -d'"' -f2)" "show is grep in job.yaml"
is "$(dlspool show --json "$id" | jq -r '.log[].event')" "$(cut -d' ' -f2 "$job/log")" \
    "show has the events of log"
like "$(dlspool show native)" "$id" "the beginning of an id is enough"
ok "wait on a job that is done ends at once" dlspool wait "$id"

# Rendering it again gives the same bytes.
dlspool render "$id" >"$scratch/again"
ok "render ID gives manifest.yaml" cmp "$scratch/again" "$job/manifest.yaml"
dlspool render --id "$id" "$scratch/native.yaml" >"$scratch/again"
ok "render FILE is what was submitted" cmp "$scratch/again" "$job/manifest.yaml"
dlspool render --repeat 3 --id "$id" "$scratch/native.yaml" >"$scratch/again" 2>"$scratch/said"
ok "render --repeat prints it once" cmp "$scratch/again" "$job/manifest.yaml"
like "$(<"$scratch/said")" "^rendered 3 times, [0-9.]* us each$" "and says how long each of the others took"
ok "render touches nothing" test "$(ls "$spool/incoming" "$spool/rendered" | grep -vc ':$')" -le 1

# submit: drop, and say which job it became.
id=$(dlspool submit --wait "$scratch/native.yaml" | head -n 1)
ok "submit prints the id of a job" test -d "$(echo "$spool"/*/*/"$id")"
output=$(printf 'name: x\nlibrary: sklern\ntype: single\nscript: "a"\n' | dlspool submit - 2>&1)
is $? 1 "submit of a wrong file ends with status 1"
like "$output" 'line|:2:' "and says where"
like "$output" 'sklearn' "and names the nearest library"

stop_daemon
is $? 0 "run ends with status 0 when told to stop"

# No id without a status that says why: nobody serves, or nobody took the file in time.
sed 's/^name: .*/name: unserved/' "$scratch/native.yaml" >"$scratch/unserved.yaml"
dlspool submit --patience 50ms "$scratch/unserved.yaml" >"$scratch/ids" 2>"$scratch/unserved"
is $? 3 "submit ends with status 3 when no daemon serves"
is "$(<"$scratch/ids")" "" "and prints no id"
like "$(<"$scratch/unserved")" "unserved.yaml is in incoming/ as unserved-.*\.yaml, but no daemon serves $spool" "and says so"
before=$(ls "$spool/incoming" | wc -l)
dlspool submit "$scratch/native.yaml" "$scratch/batch.sh" >"$scratch/ids" 2>"$scratch/unserved" &
submitter=$!
dropped() { [ "$(ls "$spool/incoming" | wc -l)" -gt "$before" ]; }
ok "submit drops the file" wait_for 10 dropped
start_daemon
wait "$submitter"
is "$? $(wc -l <"$scratch/ids") $(<"$scratch/unserved")" "0 2 " "a daemon that is just starting is waited for"
intake=$(pgrep -P "$daemon" -x intake)
kill -STOP "$intake"
dlspool submit --patience 50ms "$scratch/native.yaml" >"$scratch/ids" 2>"$scratch/untaken"
is "$? $(<"$scratch/ids")" "5 " "submit ends with status 5 when the file is not taken in time"
like "$(<"$scratch/untaken")" "has not become a job yet" "and says so"
kill -CONT "$intake"
taken() { [ -z "$(ls "$spool/incoming")" ]; }
ok "all of these become jobs" wait_for 20 taken
stop_daemon

# --drain works until nothing is left to do.
for i in 1 2 3 4 5; do sed "s/native/drain$i/" "$scratch/native.yaml" >"$spool/incoming/drain$i.yaml"; done
timeout 180 "$DLSPOOL" -s "$spool" run --drain 2>"$scratch/drain.log"
is $? 0 "run --drain ends by itself"
is "$(grep -cE "track\]: drain[1-5]-[a-z0-9]{13}: owner=$(id -un) state=done elapsed=[0-9.]+s attempt=1\$" "$scratch/drain.log")" 5 \
    "one line of the service's log for each job that is done"
is "$(wc -l <"$scratch/drain.log")" 5 "and no other"
is "$(ls -d "$spool"/done/*/drain* | wc -l)" 5 "and all jobs are done"

# Jobs that an older version failed, because there was no room or the executor was away, come back.
was_failed() { # was_failed NAME REASON RETRY: a job that is done, as one of those
    local job
    job=$(job_dir "$1")
    sed -i '/^sum:/d' "$job/job.yaml"
    cat >>"$job/job.yaml" <<END

failure:
  retry: "$3"
  reason: "$2"
  class: "transient"
  exit_code: -1
  failed: "2026-01-01T12:00:00.000Z"
  next: "2026-01-01T12:00:00.001Z"
  delay_ms: 1
END
    echo "2026-01-01T12:00:00.000Z failed reason=$2 class=transient retry=$3" >>"$job/log"
    mv "$job" "$spool/failed/"
}
was_failed drain1 NoRoom room
was_failed drain2 ExecutorUnavailable executor
timeout 180 "$DLSPOOL" -s "$spool" run --drain 2>>"$scratch/drain.log"
is "$(ls -d "$spool"/done/*/drain* | wc -l)" 5 "old jobs that wait in failed/ for room or the executor come back"
like "$(grep -h ' requeued ' "$(job_dir drain1)/log")" ' cause=room ' "the one for room"
like "$(grep -h ' requeued ' "$(job_dir drain2)/log")" ' cause=executor ' "the other for the executor"

done_testing
